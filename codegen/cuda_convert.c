/* Conversions for which a GPU has few units. Bytes of vectors that become floats: a word of four has each of them put below the exponent of 2^23, by one instruction, and that is subtracted, for it must be taken out of its
 * word first anyway (row means of 268 MB of u8 0.093 -> 0.081 ms of an H200). And floats that are rounded and become bytes, or 16 bits: where 2^23 and half of it are added, the sum's lower bits are the whole number. */
#include "codegen/cuda.h"

#include <math.h>
#include <string.h>

/* Whether a load is "v_in0[q].at[k]". */
static bool is_of_vector(const krf__emitter *e, const krf__instr *load) {
    const krf__operand *o = &e->k->operands[load->slot];
    return load->op == KRF__load && krf__cuda_vectored(e, load->slot) && o->inner == 0 && o->record == 0 && !o->staged && !o->held && e->k->schedule != KRF__TILE && e->mode == 0 && !e->in_turn;
}

typedef struct range {
    double low, high;
} range;

static bool is_whole(const krf__instr *i, double *value) {
    *value = i->op == KRF__constant && krf__is_real((krf_dtype)i->dtype) ? krf__bits_to_f64((krf_dtype)i->dtype, i->value) : NAN;
    return floor(*value) == *value;
}

/* The instruction that rounds an f32, of which no more than `depth` minima and maxima with whole numbers make what it is within; NULL: none does. */
static const krf__instr *rounded_from(const krf__emitter *e, const krf__instr *i, int depth, range *within) {
    const krf__instr *of = e->k->instrs;
    double number = 0;
    if (i->op == KRF__round) {
        *within = (range){-INFINITY, INFINITY};
        return i;
    }
    if ((i->op != KRF__minimum && i->op != KRF__maximum) || depth == 0) {
        return NULL;
    }
    const int x = is_whole(&of[i->args[1]], &number) ? 0 : 1;
    const krf__instr *found = is_whole(&of[i->args[1 - x]], &number) ? rounded_from(e, &of[i->args[x]], depth - 1, within) : NULL;
    const bool least = i->op == KRF__minimum;
    within->low = (within->low < number) == least ? within->low : number;
    within->high = (within->high < number) == least ? within->high : number;
    return found;
}

static double kept_in(double low, double high, double x) { return x < low ? low : x > high ? high : x; }

static bool put_rounded(const krf__emitter *e, const krf__instr *cast, krf__str *out) {
    enum { DEPTH = 4 };
    const krf__dtype_info *to = krf__dtype((krf_dtype)cast->dtype);
    range within = {0, 0};
    const bool narrow = cast->from == KRF_F32 && krf_dtype_size((krf_dtype)cast->dtype) <= 2 && (to->kind == KRF__KIND_SINT || to->kind == KRF__KIND_UINT);
    const krf__instr *rounded = narrow && e->lane != 3 ? rounded_from(e, &e->k->instrs[cast->args[0]], DEPTH, &within) : NULL;
    if (rounded == NULL) {
        return false;
    }
    const int bits = 8 * (int)krf_dtype_size((krf_dtype)cast->dtype) - (to->kind == KRF__KIND_SINT);
    const double most = ldexp(1, bits) - 1, least = to->kind == KRF__KIND_SINT ? -most - 1 : 0;
    krf__str_put(out, "krf_rounded_f32(");
    krf__emit_value(e, rounded->args[0], out);
    krf__str_printf(out, ", %.1ff, %.1ff)", kept_in(least, most, within.low), kept_in(least, most, within.high));
    return true;
}

bool krf__cuda_put_converted(const krf__emitter *e, const krf__instr *cast, krf__str *out) {
    if (put_rounded(e, cast, out)) {
        return true;
    }
    const krf__instr *load = &e->k->instrs[cast->args[0]];
    const bool becomes_float = cast->dtype == KRF_F32 || krf__is_half((krf_dtype)cast->dtype);
    if (!becomes_float || e->lane == 3 || !is_of_vector(e, load) || !krf__cuda_has_fours(e, load->slot)) {
        return false;
    }
    const char *element = krf__cuda_element(e);
    krf__str vector = {0};
    e->target->load(e, load, &vector);
    const int name = vector.data != NULL ? (int)strcspn(vector.data, ".") : 0;
    krf__str_printf(out, "krf_float_of_%s(%.*s.four[(%s) / 4], (%s) %% 4)", krf_dtype_name((krf_dtype)cast->from), name, vector.data != NULL ? vector.data : "", element, element);
    out->failed |= vector.failed;
    krf__str_free(&vector);
    return true;
}
