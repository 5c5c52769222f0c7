/* The CUDA target's sums of bytes as they are loaded, or of their products, and the largest and smallest of them: a GPU takes four of them at once. Integers, for which no order matters. */
#include "codegen/cuda.h"

#include <stdio.h>

/* What a reduction does with bytes, and the loads of these. Where vectors drift, each product's bytes are of one. */
static krf__bytes_fold bytes_of(const krf__emitter *e, uint32_t r, const krf__instr *loads[2]) {
    const krf__bytes_fold fold = krf__bytes_fold_of(e->k, r, loads);
    const bool taken = fold == KRF__BYTES_TOP || (fold != KRF__BYTES_OTHER && krf__sums_narrow(e, r));
    return taken && (loads[0] == loads[1] || !e->k->drifts) && krf__cuda_vectored(e, loads[0]->slot) && krf__cuda_vectored(e, loads[1]->slot) ? fold : KRF__BYTES_OTHER;
}

/* What finds the largest or smallest of two, which functions take and tell it, what four bytes beyond the row are to be, and what compares four with four, each by itself. */
typedef struct top {
    krf__op op;
    krf_dtype dtype;
    const char *name, *of, *nothing, *each;
} top;

static const top tops[] = {
    {KRF__max, KRF_U8, "max_u8", "bytes", "0u", "krf_max_u8x4"},
    {KRF__min, KRF_U8, "min_u8", "bytes", "~0u", "krf_min_u8x4"},
    {KRF__max, KRF_I8, "max_i8", "bytes", "0x80808080u", "krf_max_i8x4"},
    {KRF__min, KRF_I8, "min_i8", "bytes", "0x7f7f7f7fu", "krf_min_i8x4"},
    {KRF__max, KRF_BOOL, "any", "bools", "0u", "krf_any_tops"},
    {KRF__any, KRF_BOOL, "any", "bools", "0u", "krf_any_tops"},
    {KRF__min, KRF_BOOL, "all", "bools", "0x01010101u", "krf_all_tops"},
    {KRF__all, KRF_BOOL, "all", "bools", "0x01010101u", "krf_all_tops"},
};

static const top *top_of(const krf__emitter *e, uint32_t r) {
    const krf__instr *i = krf__reduction(e, r);
    for (size_t t = 0; t < sizeof tops / sizeof *tops; t++) {
        if (tops[t].op == (krf__op)i->op && tops[t].dtype == (krf_dtype)i->dtype) {
            return &tops[t];
        }
    }
    return NULL;
}

uint32_t krf__cuda_folded_byte(const krf__emitter *e, uint32_t r) {
    const krf__instr *i = krf__reduction(e, r), *value = &e->k->instrs[i->args[0]];
    const bool sums = krf__sums_narrow(e, r);
    const uint32_t byte = sums ? value->args[0] : i->args[0];
    const krf__instr *of = &e->k->instrs[byte];
    return krf_dtype_size((krf_dtype)of->dtype) == 1 && (sums || (top_of(e, r) != NULL && of->dtype == i->dtype)) ? byte : UINT32_MAX;
}

bool krf__cuda_by_fours(const krf__emitter *e) {
    const krf__instr *loads[2];
    bool all = (e->k->vector == 16 || e->k->fours) && krf__folds_bytes(e->k);
    for (uint32_t r = 0; all && r < e->k->n_reductions; r++) {
        all = bytes_of(e, r, loads) != KRF__BYTES_OTHER;
    }
    return all;
}

static bool finds_top(const krf__emitter *e, uint32_t r) {
    const krf__instr *loads[2];
    return e->bytes4 ? !krf__sums_narrow(e, r) : krf__cuda_by_fours(e) && krf__bytes_fold_of(e->k, r, loads) == KRF__BYTES_TOP;
}

bool krf__cuda_has_top(const krf__emitter *e, uint32_t r) { return e->k->schedule != KRF__REDUCE_COL && finds_top(e, r); }
bool krf__cuda_has_column_tops(const krf__emitter *e, uint32_t r) { return e->k->schedule == KRF__REDUCE_COL && finds_top(e, r); }

/* Products of four bytes with four others, added to an accumulator. */
static void put_product(const krf__instr *const loads[2], uint32_t r, const char *word, const char *by, krf__str *out) {
    const bool sign = loads[0]->dtype == KRF_I8, by_sign = loads[1]->dtype == KRF_I8;
    if (sign != by_sign) {
        krf__str_printf(out, "acc%u[k] = krf_dot_u8i8x4((unsigned)(%s), (int)(%s), acc%u[k]);\n", r, sign ? by : word, sign ? word : by, r);
    } else {
        krf__str_printf(out, sign ? "acc%u[k] = __dp4a((int)%s, (int)(%s), acc%u[k]);\n" : "acc%u[k] = (int)__dp4a((unsigned)%s, (unsigned)(%s), (unsigned)acc%u[k]);\n", r, word, by, r);
    }
}

/* Four bytes as they are loaded, or of an instruction. */
static void name_word(const krf__emitter *e, const krf__instr *byte, char word[48]) {
    if (e->bytes4) {
        snprintf(word, 48, "p%u", (unsigned)(byte - e->k->instrs));
    } else {
        snprintf(word, 48, "v_%s[q].four[k]", e->operand_names[byte->slot]);
    }
}

/* Whether what words hold beside the row is masked. */
static bool masks(const krf__emitter *e) { return e->k->drifts || e->k->parted; }

static void put_sum(const krf__emitter *e, uint32_t r, bool products, const krf__instr *const loads[2], krf__str *out) {
    char word[48], by[48];
    name_word(e, loads[0], word);
    name_word(e, loads[1], by);
    if (masks(e)) {
        krf__str_printf(out, "%s &= krf_bytes_there(there >> 4 * k);\n", word);
    }
    krf__str_put(out, "if (valid) {\n    ");
    put_product(loads, r, word, products ? by : "0x01010101", out);
    krf__str_put(out, "}\n");
}

static void put_top(const krf__emitter *e, uint32_t r, const krf__instr *load, krf__str *out) {
    const top *t = top_of(e, r);
    char word[48];
    name_word(e, load, word);
    krf__str_printf(out, "if (valid) {\n    krf_take_%s<krf_%s_tops>(top%u[2 * k], top%u[2 * k + 1], ", t->of, t->name, r, r);
    krf__str_printf(out, masks(e) ? "krf_bytes_or((unsigned)%s, there >> 4 * k, %s));\n}\n" : "(unsigned)%s);\n}\n", word, t->nothing);
}

void krf__cuda_put_fours(const krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const krf__instr *loads[2];
        const krf__bytes_fold of_loads = bytes_of(e, r, loads), fold = !e->bytes4 ? of_loads : krf__sums_narrow(e, r) ? KRF__BYTES_SUM : KRF__BYTES_TOP;
        if (e->bytes4) {
            loads[0] = loads[1] = &e->k->instrs[krf__cuda_folded_byte(e, r)];
        }
        if (fold == KRF__BYTES_TOP) {
            put_top(e, r, loads[0], out);
        } else {
            put_sum(e, r, fold == KRF__BYTES_PRODUCTS, loads, out);
        }
    }
}

/* Two for each word of a vector. */
void krf__cuda_put_tops(const krf__emitter *e, uint32_t r, krf__str *out) {
    const int n = e->k->vector / 2;
    krf__str_printf(out, "unsigned top%u[%d];\n#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    top%u[n] = %s;\n}\n", r, n, n, r, top_of(e, r)->nothing);
}

void krf__cuda_put_top_of_one(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "top%u[0] = krf_%s_tops(top%u[0], (unsigned)(unsigned char)", r, top_of(e, r)->name, r);
    krf__cuda_put_summand(e, r, out);
    krf__str_put(out, " * 0x01010101u);\n");
}

void krf__cuda_put_top_tree(const krf__emitter *e, uint32_t r, const char *farthest, bool written, krf__str *out) {
    const char *name = top_of(e, r)->name, *type = krf__reduction_type(e, r);
    krf__str_printf(out, "#pragma unroll\nfor (int n = 1; n < %d; n++) {\n    top%u[0] = krf_%s_tops(top%u[0], top%u[n]);\n}\n", e->k->vector / 2, r, name, r, r);
    krf__str_put(out, written ? "#pragma unroll\n" : "#pragma unroll 1\n");
    krf__str_printf(out, "for (int d = %s; d > 0; d /= 2) {\n    top%u[0] = krf_%s_tops(top%u[0], __shfl_down_sync(0xffffffffu, top%u[0], d));\n}\n", farthest, r, name, r, r);
    krf__str_printf(out, "%s r%u = (%s)krf_top_of_%s<krf_%s_tops>(top%u[0]);\n", type, r, type, top_of(e, r)->of, name, r);
}

void krf__cuda_put_column_tops(const krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "unsigned four%u[4];\n#pragma unroll\nfor (int k = 0; k < 4; k++) {\n    four%u[k] = %s;\n}\n", r, r, top_of(e, r)->nothing);
}

void krf__cuda_put_column_tops_apart(const krf__emitter *e, uint32_t r, krf__str *out) {
    const char *type = krf__reduction_type(e, r);
    krf__str_printf(out, "%s acc%u[16];\n#pragma unroll\nfor (int k = 0; k < 16; k++) {\n    acc%u[k] = (%s)(four%u[k / 4] >> k %% 4 * 8 & 255u);\n}\n", type, r, r, type, r);
}

/* Of columns: a byte of the four to an accumulator of its own; those that are compared to that of the four. */
void krf__cuda_put_one_of_four(const krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const krf__instr *loads[2];
        const krf__bytes_fold fold = bytes_of(e, r, loads);
        char word[48], by[80];
        snprintf(word, sizeof word, "v_%s[g].four[k / 4]", e->operand_names[loads[0]->slot]);
        if (fold == KRF__BYTES_TOP) {
            krf__str_printf(out, "if (k %% 4 == 0) {\n    four%u[k / 4] = %s(four%u[k / 4], (unsigned)%s);\n}\n", r, top_of(e, r)->each, r, word);
        } else {
            if (fold == KRF__BYTES_PRODUCTS) {
                snprintf(by, sizeof by, "v_%s[g].four[k / 4] & 255u << k %% 4 * 8", e->operand_names[loads[1]->slot]);
            } else {
                snprintf(by, sizeof by, "1 << k %% 4 * 8");
            }
            put_product(loads, r, word, by, out);
        }
    }
}
