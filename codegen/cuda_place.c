/* The CUDA target's places of the largest or smallest element of rows (krf__kernel.places). A key for each takes six to eight instructions: a thread compares the values alone, of halves and bytes two at once, and remembers
 * which of its own it was: of bytes beside them in a word, of others in one of its own. Keys are made of what was found. */
#include "codegen/cuda.h"

/* How elements are compared: what finds the larger, and of halves what tells which they are; and what they are where nothing is known. */
typedef struct compared {
    krf_dtype dtype;
    bool smallest;
    const char *type, *larger, *above, *nothing;
} compared;

static const compared all[] = {
    {KRF_F16, false, "unsigned", "krf_max_f16x2", "krf_above_f16x2", "0xfc00fc00u"},
    {KRF_F16, true, "unsigned", "krf_min_f16x2", "krf_below_f16x2", "0x7c007c00u"},
    {KRF_BF16, false, "unsigned", "krf_max_bf16x2", "krf_above_bf16x2", "0xff80ff80u"},
    {KRF_BF16, true, "unsigned", "krf_min_bf16x2", "krf_below_bf16x2", "0x7f807f80u"},
    {KRF_U8, false, "unsigned", "__vmaxu2", "", "0u"},
    {KRF_U8, true, "unsigned", "__vminu2", "", "~0u"},
    {KRF_I8, false, "unsigned", "__vmaxs2", "", "0x80008000u"},
    {KRF_I8, true, "unsigned", "__vmins2", "", "0x7fff7fffu"},
    {KRF_F32, false, "float", "krf_maximum_f32", ">", "krf_pre_unbits_f32(0xff800000u)"},
    {KRF_F32, true, "float", "krf_minimum_f32", "<", "krf_pre_unbits_f32(0x7f800000u)"},
    {KRF_I32, false, "int", "krf_larger<int>", ">", "-2147483647 - 1"},
    {KRF_I32, true, "int", "krf_smaller<int>", "<", "2147483647"},
    {KRF_U32, false, "unsigned", "krf_larger<unsigned>", ">", "0u"},
    {KRF_U32, true, "unsigned", "krf_smaller<unsigned>", "<", "~0u"},
};

static const krf__instr *load_of(const krf__emitter *e) { return &e->k->instrs[krf__place_of(e->k).load]; }
static int bytes_of(const krf__emitter *e) { return (int)krf_dtype_size((krf_dtype)load_of(e)->dtype); }

static const compared *compared_of(const krf__emitter *e) {
    const krf__place place = krf__place_of(e->k);
    const krf_dtype dtype = (krf_dtype)e->k->instrs[place.load].dtype;
    size_t i = 0;
    while (all[i].dtype != dtype || all[i].smallest != place.smallest) {
        i++; /* plan/place.c takes no others */
    }
    return &all[i];
}

int krf__cuda_place_elements(const krf__emitter *e) { return 4 / bytes_of(e); }

void krf__cuda_put_place_counts(const krf__emitter *e, krf__str *out) {
    const compared *c = compared_of(e);
    if (bytes_of(e) == 1) {
        krf__str_printf(out, "unsigned best = %s, best_upper = %s;\n", c->nothing, c->nothing);
    } else {
        krf__str_printf(out, "%s best = %s;\nunsigned turn = 0;\n", c->type, c->nothing);
    }
}

/* Where a thread's first vector of a row begins; where rows drift that is before them. */
static const char *origin(const krf__emitter *e) { return e->k->drifts ? "(first - drift)" : "first"; }

static void put_taken_halves(const krf__emitter *e, const compared *c, krf__str *out) {
    const char *name = e->operand_names[load_of(e)->slot];
    krf__str_printf(out, "const unsigned now = ((unsigned)(p - %s) / 64u + q * %d + k) * 0x10001u", origin(e), e->k->vector / 2);
    krf__str_printf(out, e->k->drifts ? ", pair = (there >> 2 * k & 3u) == 3u ? v_%s[q].pair[k] : krf_pair_or(v_%s[q].pair[k], there >> 2 * k, %s);\n" : ", pair = v_%s[q].pair[k];\n", name, name, c->nothing);
    krf__str_printf(out, "krf_take_place<%s, %s>(best, turn, pair, now);\n", c->larger, c->above);
}

/* Bytes are numbered so that of equal ones the first has the larger word, or the smaller. */
static void put_taken_bytes(const krf__emitter *e, const compared *c, krf__str *out) {
    const char *name = e->operand_names[load_of(e)->slot];
    krf__str_printf(out, "const unsigned now = ((unsigned)(p - %s) / 32u + q * %d + 4 * k) * 0x01010101u, order = %s;\n", origin(e), e->k->vector, c->smallest ? "0x03020100u + now" : "0xfcfdfeffu - now");
    if (e->k->drifts) {
        krf__str_printf(out, "if ((there >> 4 * k & 15u) != 15u) {\n    krf_take_place_of_bytes_there<%s>(best, best_upper, (unsigned)v_%s[q].four[k], order, there >> 4 * k, %s);\n} else ", c->larger, name, c->nothing);
    }
    krf__str_printf(out, "krf_take_place_of_bytes<%s>(best, best_upper, (unsigned)v_%s[q].four[k], order);\n", c->larger, name);
}

static void put_taken_word(const krf__emitter *e, const compared *c, krf__str *out) {
    const uint32_t slot = load_of(e)->slot;
    const char *name = e->operand_names[slot];
    krf__str_printf(out, krf__cuda_vectored(e, slot) ? "const %s x = v_%s[q].at[k];\n" : "const %s x = v_%s[q];\n", c->type, name);
    krf__str_put(out, e->k->drifts ? "if ((there >> k & 1u) != 0) {\n    " : "");
    krf__str_printf(out, "krf_take_place_of_one<%s>(best, turn, x, (unsigned)(p - %s) / 32u + q * %d + k, x %s best);\n", c->larger, origin(e), e->k->vector, c->above);
    krf__str_put(out, e->k->drifts ? "}\n" : "");
}

/* A thread's own elements, and pairs, are numbered as it takes them. */
void krf__cuda_put_place_taken(const krf__emitter *e, krf__str *out) {
    const compared *c = compared_of(e);
    krf__str lines = {0};
    (bytes_of(e) == 1 ? put_taken_bytes : bytes_of(e) == 2 ? put_taken_halves : put_taken_word)(e, c, &lines);
    krf__str_put(out, "if (valid) {\n");
    krf__cuda_put_lines(out, "    ", lines.data);
    krf__str_put(out, "}\n");
    out->failed |= lines.failed;
    krf__str_free(&lines);
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
        krf__str_printf(out, "        const %s t%u = %s;\n", bytes_of(e) == 2 ? "float" : krf__storage_type(load_of(e)->dtype), load, value);
    }
    krf__cuda_put_statements(e, load + 1, e->k->n_domain, "        ", out);
    e->mode = 0;
    krf__str_put(out, "        acc0[0] = red0(acc0[0], ");
    krf__cuda_put_summand(e, 0, out);
    krf__str_put(out, ");\n");
    out->failed |= position.failed;
    krf__str_free(&position);
}

/* How many threads have a row. */
static const char *threads_of(const krf__emitter *e) { return e->k->schedule == KRF__REDUCE_SHORT ? "threads" : "32"; }

/* "p_k": the place of a thread's own element of so high a number. */
static void put_place(const krf__emitter *e, const char *number, krf__str *out) {
    const char *type = krf__index_type(e);
    const int v = e->k->vector;
    krf__str_printf(out, "        const %s number = (%s)(%s), p_k = %s + (number / %d * %s + thread) * %d + number %% %d;\n", type, type, number, origin(e), v, threads_of(e), v, v);
}

/* Two of halves, which were never compared with one another. */
static void put_halves_keys(krf__emitter *e, krf__str *out) {
    const char *dtype = krf_dtype_name((krf_dtype)load_of(e)->dtype);
    krf__str value = {0};
    krf__str_printf(&value, "k == 0 ? krf_low_%s(best) : krf_high_%s(best)", dtype, dtype);
    krf__str_put(out, "    #pragma unroll\n    for (int k = 0; k < 2; k++) {\n");
    if (e->k->drifts) {
        krf__str_printf(out, "        if ((best >> 16 * k & 65535u) != (%s & 65535u)) {\n", compared_of(e)->nothing);
    }
    put_place(e, "(turn >> 16 * k & 65535u) * 2u + k", out);
    put_key(e, value.data != NULL ? value.data : "", out);
    krf__str_put(out, e->k->drifts ? "        }\n    }\n" : "    }\n");
    out->failed |= value.failed;
    krf__str_free(&value);
}

static void put_one_key(krf__emitter *e, krf__str *out) {
    const bool bytes = bytes_of(e) == 1;
    krf__str value = {0};
    krf__str_printf(&value, bytes ? "(%s)(best >> 8)" : "best", krf__storage_type(load_of(e)->dtype));
    krf__str_put(out, "    {\n");
    put_place(e, !bytes ? "turn" : compared_of(e)->smallest ? "best & 255u" : "~best & 255u", out);
    put_key(e, value.data != NULL ? value.data : "", out);
    krf__str_put(out, "    }\n");
    out->failed |= value.failed;
    krf__str_free(&value);
}

/* Whether a thread has met a NaN. */
static void put_nan(const krf__emitter *e, krf__str *out) {
    if (bytes_of(e) == 2) {
        krf__str_printf(out, "krf_any_nan_%s(best)", krf_dtype_name((krf_dtype)load_of(e)->dtype));
    } else {
        krf__str_put(out, load_of(e)->dtype == KRF_F32 ? "best != best" : "false");
    }
}

/* Whether it has found something: where rows drift, what does not belong to them is as if nothing were known of it. */
static void put_found(const krf__emitter *e, krf__str *out) {
    if (!e->k->drifts) {
        krf__str_printf(out, "(thread + 1) * %d <= last - first", e->k->vector);
    } else {
        krf__str_printf(out, bytes_of(e) == 1 ? "(best & 65535u) != (%s & 65535u)" : "best != %s", compared_of(e)->nothing);
    }
}

/* The row is gone over again, element by element, where there is a NaN, whose place nobody knows, or all that belongs to it is what is taken for nothing. */
void krf__cuda_put_place_keys(krf__emitter *e, krf__str *out) {
    const compared *c = compared_of(e);
    if (bytes_of(e) == 1) {
        krf__str_printf(out, "best = %s(best, best_upper);\nbest = %s(best, best >> 16 | best << 16);\n", c->larger, c->larger);
    }
    krf__str_put(out, "const bool found = ");
    put_found(e, out);
    krf__str_put(out, ";\n");
    if (e->k->drifts || krf__is_real((krf_dtype)load_of(e)->dtype)) {
        krf__str_put(out, "if (__any_sync(0xffffffffu, ");
        put_nan(e, out);
        krf__str_put(out, e->k->drifts ? ") || !__any_sync(0xffffffffu, found)" : ")");
        krf__str_printf(out, ") {\n    #pragma unroll 1\n    for (%s p_k = first + thread; p_k < last; p_k += %s) {\n", krf__index_type(e), threads_of(e));
        put_key(e, NULL, out);
        krf__str_put(out, "    }\n} else ");
    }
    krf__str_put(out, "if (found) {\n");
    (bytes_of(e) == 2 ? put_halves_keys : put_one_key)(e, out);
    krf__str_put(out, "}\n");
}
