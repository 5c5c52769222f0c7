/* Maps of bytes alone, integers of 8 bits and bools, and sums and extremes of what is computed of bytes: they take four elements at once, "p7" in one word, by instructions for words (codegen/math/byte4.h). One by one each is taken out of its word, cut to 8 bits
 * after what is done with it, and put into another. */
#include "codegen/cuda.h"

enum { BOOLS = 1, UNSIGNED = 2, SIGNED = 4, INTEGERS = UNSIGNED | SIGNED, BYTES = BOOLS | INTEGERS };

/* What is done with words, by the kind that operands are of (where: of B and C). */
static const struct {
    krf__op op;
    int kinds;
    const char *code;
} rows[] = {
    {KRF__add, INTEGERS, "krf_add_u8x4(A, B)"},
    {KRF__subtract, INTEGERS, "krf_subtract_u8x4(A, B)"},
    {KRF__negative, INTEGERS, "krf_subtract_u8x4(0u, A)"},
    {KRF__abs, SIGNED, "krf_abs_i8x4(A)"},
    {KRF__logical_and, BOOLS, "A & B"},
    {KRF__logical_or, BOOLS, "A | B"},
    {KRF__logical_xor, BOOLS, "A ^ B"},
    {KRF__logical_not, BOOLS, "A ^ 0x01010101u"},
    {KRF__bitwise_and, BYTES, "A & B"},
    {KRF__bitwise_or, BYTES, "A | B"},
    {KRF__bitwise_xor, BYTES, "A ^ B"},
    {KRF__invert, BOOLS, "A ^ 0x01010101u"},
    {KRF__invert, INTEGERS, "~A"},
    {KRF__minimum, BOOLS, "A & B"},
    {KRF__minimum, UNSIGNED, "krf_min_u8x4(A, B)"},
    {KRF__minimum, SIGNED, "krf_min_i8x4(A, B)"},
    {KRF__maximum, BOOLS, "A | B"},
    {KRF__maximum, UNSIGNED, "krf_max_u8x4(A, B)"},
    {KRF__maximum, SIGNED, "krf_max_i8x4(A, B)"},
    {KRF__equal, BOOLS, "A ^ B ^ 0x01010101u"},
    {KRF__equal, INTEGERS, "krf_zero_u8x4(A ^ B)"},
    {KRF__not_equal, BOOLS, "A ^ B"},
    {KRF__not_equal, INTEGERS, "krf_not_zero_u8x4(A ^ B)"},
    {KRF__less, BOOLS, "~A & B"},
    {KRF__less, UNSIGNED, "krf_less_u8x4(A, B)"},
    {KRF__less, SIGNED, "krf_less_i8x4(A, B)"},
    {KRF__greater, BOOLS, "A & ~B"},
    {KRF__greater, UNSIGNED, "krf_less_u8x4(B, A)"},
    {KRF__greater, SIGNED, "krf_less_i8x4(B, A)"},
    {KRF__less_equal, BOOLS, "(A ^ 0x01010101u) | B"},
    {KRF__less_equal, UNSIGNED, "krf_less_u8x4(B, A) ^ 0x01010101u"},
    {KRF__less_equal, SIGNED, "krf_less_i8x4(B, A) ^ 0x01010101u"},
    {KRF__greater_equal, BOOLS, "A | (B ^ 0x01010101u)"},
    {KRF__greater_equal, UNSIGNED, "krf_less_u8x4(A, B) ^ 0x01010101u"},
    {KRF__greater_equal, SIGNED, "krf_less_i8x4(A, B) ^ 0x01010101u"},
    {KRF__where, BYTES, "krf_where_u8x4(A, B, C)"},
};

static bool is_byte(int dtype) { return krf_dtype_size((krf_dtype)dtype) == 1; }

static int kind_of(int dtype) {
    const krf__kind kind = krf__dtype((krf_dtype)dtype)->kind;
    return kind == KRF__KIND_BOOL ? BOOLS : kind == KRF__KIND_UINT ? UNSIGNED : SIGNED;
}

/* NULL: nothing. */
static const char *code_of(const krf__instr *i) {
    if (i->op == KRF__cast) {
        return i->dtype == KRF_BOOL && i->from != KRF_BOOL ? "krf_not_zero_u8x4(A)" : "A";
    }
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (rows[r].op == (krf__op)i->op && (rows[r].kinds & kind_of(i->from)) != 0) {
            return rows[r].code;
        }
    }
    return NULL;
}

static bool is_taken(const krf__emitter *e, uint32_t instr) { return !krf__instr_free(&e->k->instrs[instr]) && e->taint[instr]; }

static bool has_words(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    const krf__operand *o = &e->k->operands[i->slot];
    switch ((krf__op)i->op) {
    case KRF__load: return !o->counts && o->record == 0;
    case KRF__fetch: return i->value != 0;
    case KRF__store: return krf__cuda_vectored(e, i->slot) && o->record == 0;
    default: return is_byte(i->from) && code_of(i) != NULL;
    }
}

/* Marks what is taken by words: what is stored and what that is computed of, but for places. */
static bool mark(krf__emitter *e) {
    const krf__kernel *k = e->k;
    bool all = true;
    for (uint32_t n = k->n_domain; n-- > 0 && all;) {
        const krf__instr *i = &k->instrs[n];
        e->forms[n] |= i->op == KRF__store;
        if (e->forms[n] == 0) {
            continue;
        }
        all = is_byte(i->dtype) && (!is_taken(e, n) || has_words(e, n));
        for (int a = 0; a < krf__op_info_of((krf__op)i->op)->arity && i->op != KRF__fetch && (is_taken(e, n) || i->op == KRF__store); a++) {
            e->forms[i->args[a]] = 1;
        }
    }
    return all;
}

/* Whether vectors are loaded, and all reductions take bytes, which are computed of these: those that are loaded have a way of their own (cuda_bytes.c). */
static bool may_fold(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    bool all = (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW) && k->vector == 16 && k->team == 1 && k->lines == 1 && !k->outer && !k->drifts && !k->places && !krf__stores_elements(k) && !krf__cuda_by_fours(e);
    for (uint32_t n = 0; n < k->n_domain && all; n++) {
        const krf__instr *i = &k->instrs[n];
        all = i->op != KRF__fetch && (i->op != KRF__load || krf__cuda_vectored(e, i->slot));
    }
    for (uint32_t r = 0; r < k->n_reductions && all; r++) {
        const uint32_t byte = krf__cuda_folded_byte(e, r);
        all = byte != UINT32_MAX && e->taint[byte];
    }
    return all;
}

void krf__cuda_by_byte4(krf__emitter *e) {
    const krf__kernel *k = e->k;
    const bool map = k->schedule == KRF__MAP && k->vector % 4 == 0 && !krf__flat_apart(k) && !k->spans && !k->across, may = !e->twos && (map || may_fold(e));
    e->bytes4 = false;
    for (uint32_t n = 0; n < k->n_domain && may; n++) {
        e->forms[n] = 0;
    }
    for (uint32_t r = 0; r < k->n_reductions && may; r++) {
        e->forms[krf__cuda_folded_byte(e, r)] = 1;
    }
    e->bytes4 = may && mark(e);
}

/* Four elements of an instruction in a word. */
static void put_word(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    if (i->op == KRF__constant) {
        krf__str_printf(out, "0x%08xu", (unsigned)(i->value & 0xffu) * 0x01010101u);
    } else if (is_taken(e, instr)) {
        krf__str_printf(out, "p%u", instr);
    } else {
        krf__str_put(out, "krf_fourfold((unsigned char)");
        krf__emit_value(e, instr, out);
        krf__str_put(out, ")");
    }
}

static void put_loaded(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    if (i->op == KRF__fetch) {
        krf__cuda_put_fetched_word(e, instr, "four", "krf_fourfold", out);
    } else if (krf__cuda_vectored(e, i->slot)) {
        krf__str_printf(out, krf__is_map(e->k) ? "v_%s.four[k]" : "v_%s[q].four[k]", e->operand_names[i->slot]);
    } else {
        krf__str_printf(out, "krf_fourfold((unsigned char)v_%s)", e->operand_names[i->slot]);
    }
}

void krf__cuda_put_byte4(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    krf__str words[3] = {{0}};
    const char *texts[3] = {"", "", ""};
    if (e->forms[instr] == 0 || !is_taken(e, instr) || i->op == KRF__store) {
        return;
    }
    krf__str_printf(out, "const unsigned p%u = ", instr);
    if (i->op == KRF__load || i->op == KRF__fetch) {
        put_loaded(e, instr, out);
    } else {
        for (int a = 0; a < krf__op_info_of((krf__op)i->op)->arity; a++) {
            put_word(e, i->args[a], &words[a]);
            texts[a] = words[a].data != NULL ? words[a].data : "";
        }
        krf__emit_code(e, code_of(i), (krf_dtype)i->from, texts, out);
    }
    krf__str_put(out, ";\n");
    for (int a = 0; a < 3; a++) {
        out->failed |= words[a].failed;
        krf__str_free(&words[a]);
    }
}

void krf__cuda_put_taken_byte4(const krf__emitter *e, uint32_t store, krf__str *out) {
    const krf__instr *s = &e->k->instrs[store];
    krf__str_printf(out, "v_%s.four[k] = ", e->operand_names[s->slot]);
    put_word(e, s->args[0], out);
    krf__str_put(out, ";\n");
}
