/* Bytes of vectors that become floats: a word of four has each of them put below the exponent of 2^23, by one instruction, and that is subtracted. A GPU has few units that convert, and a byte must be taken out of its
 * word first (row means of 268 MB of u8 0.093 -> 0.081 ms of an H200). */
#include "codegen/cuda.h"

#include <string.h>

/* Whether a load is "v_in0[q].at[k]". */
static bool is_of_vector(const krf__emitter *e, const krf__instr *load) {
    const krf__operand *o = &e->k->operands[load->slot];
    return load->op == KRF__load && krf__cuda_vectored(e, load->slot) && o->inner == 0 && o->record == 0 && !o->staged && !o->held && e->k->schedule != KRF__TILE && e->mode == 0 && !e->in_turn;
}

bool krf__cuda_put_converted(const krf__emitter *e, const krf__instr *cast, krf__str *out) {
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
