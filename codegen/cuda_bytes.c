/* The CUDA target's sums of bytes as they are loaded, and the largest and smallest of them: a GPU takes four of them at once. Integers, for which no order matters. */
#include "codegen/cuda.h"

#include <stdio.h>

/* What a reduction does with bytes, and the load of these. */
static krf__bytes_fold bytes_of(const krf__emitter *e, uint32_t r, const krf__instr **load) {
    const krf__bytes_fold fold = krf__bytes_fold_of(e->k, r, load);
    const bool taken = fold == KRF__BYTES_TOP || (fold != KRF__BYTES_OTHER && krf__sums_narrow(e, r));
    return taken && krf__cuda_vectored(e, (*load)->slot) ? fold : KRF__BYTES_OTHER;
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

bool krf__cuda_by_fours(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    const krf__instr *load;
    bool all = k->vector == 16 && k->n_reductions > 0, squares = false;
    for (uint32_t r = 0; all && r < k->n_reductions; r++) {
        all = bytes_of(e, r, &load) != KRF__BYTES_OTHER;
        squares |= bytes_of(e, r, &load) == KRF__BYTES_SQUARES;
    }
    for (uint32_t n = 0; all && n < k->n_domain; n++) {
        all = k->instrs[n].op == KRF__load || k->instrs[n].op == KRF__cast || (squares && k->instrs[n].op == KRF__multiply);
    }
    return all;
}

static bool finds_top(const krf__emitter *e, uint32_t r) {
    const krf__instr *load;
    return krf__cuda_by_fours(e) && krf__bytes_fold_of(e->k, r, &load) == KRF__BYTES_TOP;
}

bool krf__cuda_has_top(const krf__emitter *e, uint32_t r) { return e->k->schedule != KRF__REDUCE_COL && finds_top(e, r); }
bool krf__cuda_has_column_tops(const krf__emitter *e, uint32_t r) { return e->k->schedule == KRF__REDUCE_COL && finds_top(e, r); }

/* A product of four bytes with four others, added to an accumulator. */
static void put_product(const krf__instr *load, uint32_t r, const char *word, const char *by, krf__str *out) {
    krf__str_printf(out, load->dtype == KRF_I8 ? "acc%u[k] = __dp4a(%s, (int)(%s), acc%u[k]);\n" : "acc%u[k] = (int)__dp4a((unsigned)%s, (unsigned)(%s), (unsigned)acc%u[k]);\n", r, word, by, r);
}

static void put_sum(const krf__emitter *e, uint32_t r, bool squares, const krf__instr *load, krf__str *out) {
    char word[48];
    snprintf(word, sizeof word, "v_%s[q].four[k]", e->operand_names[load->slot]);
    if (e->k->drifts) {
        krf__str_printf(out, "%s &= krf_bytes_there(there >> 4 * k);\n", word);
    }
    krf__str_put(out, "if (valid) {\n    ");
    put_product(load, r, word, squares ? word : "0x01010101", out);
    krf__str_put(out, "}\n");
}

static void put_top(const krf__emitter *e, uint32_t r, const krf__instr *load, krf__str *out) {
    const top *t = top_of(e, r);
    krf__str_printf(out, "if (valid) {\n    krf_take_%s<krf_%s_tops>(top%u[2 * k], top%u[2 * k + 1], ", t->of, t->name, r, r);
    krf__str_printf(out, e->k->drifts ? "krf_bytes_or((unsigned)v_%s[q].four[k], there >> 4 * k, %s));\n}\n" : "(unsigned)v_%s[q].four[k]);\n}\n", e->operand_names[load->slot], t->nothing);
}

void krf__cuda_put_fours(const krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const krf__instr *load;
        const krf__bytes_fold fold = bytes_of(e, r, &load);
        if (fold == KRF__BYTES_TOP) {
            put_top(e, r, load, out);
        } else {
            put_sum(e, r, fold == KRF__BYTES_SQUARES, load, out);
        }
    }
}

/* Two for each word of a vector. */
void krf__cuda_put_tops(const krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "unsigned top%u[8];\n#pragma unroll\nfor (int n = 0; n < 8; n++) {\n    top%u[n] = %s;\n}\n", r, r, top_of(e, r)->nothing);
}

void krf__cuda_put_top_of_one(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, "top%u[0] = krf_%s_tops(top%u[0], (unsigned)(unsigned char)", r, top_of(e, r)->name, r);
    krf__cuda_put_summand(e, r, out);
    krf__str_put(out, " * 0x01010101u);\n");
}

void krf__cuda_put_top_tree(const krf__emitter *e, uint32_t r, bool written, krf__str *out) {
    const char *name = top_of(e, r)->name, *type = krf__reduction_type(e, r);
    krf__str_printf(out, "#pragma unroll\nfor (int n = 1; n < 8; n++) {\n    top%u[0] = krf_%s_tops(top%u[0], top%u[n]);\n}\n", r, name, r, r);
    krf__str_put(out, written ? "#pragma unroll\n" : "#pragma unroll 1\n");
    krf__str_printf(out, "for (int d = 16; d > 0; d /= 2) {\n    top%u[0] = krf_%s_tops(top%u[0], __shfl_down_sync(0xffffffffu, top%u[0], d));\n}\n", r, name, r, r);
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
        const krf__instr *load;
        const krf__bytes_fold fold = bytes_of(e, r, &load);
        char word[48], by[64];
        snprintf(word, sizeof word, "v_%s[g].four[k / 4]", e->operand_names[load->slot]);
        if (fold == KRF__BYTES_TOP) {
            krf__str_printf(out, "if (k %% 4 == 0) {\n    four%u[k / 4] = %s(four%u[k / 4], (unsigned)%s);\n}\n", r, top_of(e, r)->each, r, word);
        } else {
            snprintf(by, sizeof by, fold == KRF__BYTES_SQUARES ? "%s & 255u << k %% 4 * 8" : "1 << k %% 4 * 8", word);
            put_product(load, r, word, by, out);
        }
    }
}
