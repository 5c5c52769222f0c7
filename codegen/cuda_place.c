/* The CUDA target's places of the largest or smallest byte or half of rows (krf__kernel.places). A key for each element takes six or seven instructions; of two at once a thread compares the values alone, and
 * remembers in how many vectors from its first they were: of bytes beside them in a word, of halves in a word of its own. Keys are made of what was found. */
#include "codegen/cuda.h"

/* How two are compared with two: what finds the larger, and of halves what tells where they are; and what two are of which nothing is known. */
typedef struct compared {
    krf_dtype dtype;
    bool smallest;
    const char *larger, *above, *nothing;
} compared;

static const compared all[] = {
    {KRF_F16, false, "krf_max_f16x2", "krf_above_f16x2", "0xfc00fc00u"},
    {KRF_F16, true, "krf_min_f16x2", "krf_below_f16x2", "0x7c007c00u"},
    {KRF_BF16, false, "krf_max_bf16x2", "krf_above_bf16x2", "0xff80ff80u"},
    {KRF_BF16, true, "krf_min_bf16x2", "krf_below_bf16x2", "0x7f807f80u"},
    {KRF_U8, false, "__vmaxu2", "", "0u"},
    {KRF_U8, true, "__vminu2", "", "~0u"},
    {KRF_I8, false, "__vmaxs2", "", "0x80008000u"},
    {KRF_I8, true, "__vmins2", "", "0x7fff7fffu"},
};

static const krf__instr *load_of(const krf__emitter *e) { return &e->k->instrs[krf__place_of(e->k).load]; }
static bool of_halves(const krf__emitter *e) { return krf__is_half((krf_dtype)load_of(e)->dtype); }

static const compared *compared_of(const krf__emitter *e) {
    const krf_dtype dtype = (krf_dtype)load_of(e)->dtype;
    size_t i = 0;
    while (all[i].dtype != dtype || all[i].smallest != krf__place_of(e->k).smallest) {
        i++; /* plan/place.c takes no others */
    }
    return &all[i];
}

int krf__cuda_place_elements(const krf__emitter *e) { return of_halves(e) ? 2 : 4; }

void krf__cuda_put_place_counts(const krf__emitter *e, krf__str *out) {
    const char *nothing = compared_of(e)->nothing;
    if (of_halves(e)) {
        krf__str_printf(out, "unsigned best = %s, turn = 0;\n", nothing);
    } else {
        krf__str_printf(out, "unsigned best = %s, best_upper = %s;\n", nothing, nothing);
    }
}

/* Pairs of a thread are numbered as it takes them; and bytes, so that of equal ones the first has the larger word, or the smaller. */
void krf__cuda_put_place_taken(const krf__emitter *e, krf__str *out) {
    const compared *c = compared_of(e);
    const char *name = e->operand_names[load_of(e)->slot];
    const unsigned v = (unsigned)e->k->vector;
    krf__str_put(out, "if (valid) {\n");
    if (of_halves(e)) {
        krf__str_printf(out, "    krf_take_place<%s, %s>(best, turn, v_%s[q].pair[k], ((unsigned)(p - first) / 64u + q * %u + k) * 0x10001u);\n", c->larger, c->above, name, v / 2);
    } else {
        krf__str_printf(out, "    const unsigned now = ((unsigned)(p - first) / 32u + q * %u + 4 * k) * 0x01010101u;\n", v);
        krf__str_printf(out, "    krf_take_place_of_bytes<%s>(best, best_upper, v_%s[q].four[k], %s);\n", c->larger, name, c->smallest ? "0x03020100u + now" : "0xfcfdfeffu - now");
    }
    krf__str_put(out, "}\n");
}

/* The key of element p_k to the accumulator: loaded anew, or its value is known. */
static void put_key(krf__emitter *e, const char *value, krf__str *out) {
    const uint32_t load = krf__place_of(e->k).load;
    krf__str position = {0};
    krf__emit_position(e, KRF__PART_REDUCED, "p_k", &position);
    krf__cuda_put_lines(out, "        ", position.data);
    e->mode = 3;
    krf__cuda_put_statements(e, 0, value != NULL ? load : load + 1, "        ", out);
    if (value != NULL) {
        krf__str_printf(out, "        const %s t%u = %s;\n", of_halves(e) ? "float" : krf__storage_type(load_of(e)->dtype), load, value);
    }
    krf__cuda_put_statements(e, load + 1, e->k->n_domain, "        ", out);
    e->mode = 0;
    krf__str_put(out, "        acc0[0] = red0(acc0[0], ");
    krf__cuda_put_summand(e, 0, out);
    krf__str_put(out, ");\n");
    out->failed |= position.failed;
    krf__str_free(&position);
}

static void put_halves_keys(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e), *dtype = krf_dtype_name((krf_dtype)load_of(e)->dtype);
    const int v = e->k->vector;
    krf__str value = {0};
    krf__str_printf(&value, "k == 0 ? krf_low_%s(best) : krf_high_%s(best)", dtype, dtype);
    krf__str_printf(out, "    #pragma unroll\n    for (int k = 0; k < 2; k++) {\n        const %s number = (%s)(turn >> 16 * k & 65535u), p_k = first + (number / %d * 32 + thread) * %d + number %% %d * 2 + k;\n", type, type, v / 2, v,
                    v / 2);
    put_key(e, value.data != NULL ? value.data : "", out);
    krf__str_put(out, "    }\n");
    out->failed |= value.failed;
    krf__str_free(&value);
}

static void put_bytes_key(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e), *storage = krf__storage_type(load_of(e)->dtype);
    const compared *c = compared_of(e);
    const int v = e->k->vector;
    krf__str value = {0};
    krf__str_printf(&value, "(%s)(best >> 8)", storage);
    krf__str_printf(out, "    best = %s(best, best_upper);\n    best = %s(best, best >> 16 | best << 16);\n    const %s number = (%s)(%s & 255u), p_k = first + (number / %d * 32 + thread) * %d + number %% %d;\n    {\n", c->larger, c->larger, type, type,
                    c->smallest ? "best" : "~best", v, v, v);
    put_key(e, value.data != NULL ? value.data : "", out);
    krf__str_put(out, "    }\n");
    out->failed |= value.failed;
    krf__str_free(&value);
}

/* A thread whose first vector is beyond the last has found nothing. Where there is a NaN nobody knows its place: the row is gone over again. */
void krf__cuda_put_place_keys(krf__emitter *e, krf__str *out) {
    const bool halves = of_halves(e);
    if (halves) {
        krf__str_printf(out, "if (__any_sync(0xffffffffu, krf_any_nan_%s(best))) {\n    #pragma unroll 1\n    for (%s p_k = first + thread; p_k < last; p_k += 32) {\n", krf_dtype_name((krf_dtype)load_of(e)->dtype),
                        krf__index_type(e));
        put_key(e, NULL, out);
        krf__str_put(out, "    }\n} else ");
    }
    krf__str_printf(out, "if ((thread + 1) * %d <= last - first) {\n", e->k->vector);
    (halves ? put_halves_keys : put_bytes_key)(e, out);
    krf__str_put(out, "}\n");
}
