/* Bodies that take elements of f16 and bf16 by twos, "p7" in one word: a GPU adds, subtracts, multiplies and rounds two at once. What else there is, is done for each,
 * "t7a" and "t7b". */
#include "codegen/cuda.h"

enum { PAIR = 1, LANES = 2, UNUSED = 4 }; /* what there is of an instruction: a word of both values, each as a number; or that no element needs it */

static bool half(const krf__instr *i) { return krf__is_half((krf_dtype)i->dtype); }

/* The name of what a GPU does with both elements at once; else NULL. */
static const char *at_once(const krf__emitter *e, const krf__instr *i) {
    if (!half(i) || i->from != i->dtype || !krf__rounds(e, i)) {
        return NULL;
    }
    switch (i->op) {
    case KRF__add: return "add";
    case KRF__subtract: return "subtract";
    case KRF__multiply: return "multiply";
    default: return NULL;
    }
}

static bool varies(const krf__emitter *e, uint32_t instr) { return !krf__instr_free(&e->k->instrs[instr]) && e->taint[instr]; }

/* Of maps: what is stored needs, but for the places of vectors that are gathered whole, which are there before. */
static void mark_unused(krf__emitter *e) {
    const krf__kernel *k = e->k;
    for (uint32_t n = 0; n < k->n_domain; n++) {
        e->forms[n] = k->schedule == KRF__MAP && k->instrs[n].op != KRF__store ? UNUSED : 0;
    }
    for (uint32_t n = k->n_domain; n-- > 0;) {
        const krf__instr *i = &k->instrs[n];
        const bool whole = i->op == KRF__fetch && i->value != 0;
        for (int a = 0; a < krf__op_info_of((krf__op)i->op)->arity && !whole && e->forms[n] == 0; a++) {
            e->forms[i->args[a]] = 0;
        }
    }
}

/* Whether something is rounded, if only where it is stored, and everything has a form of two elements. */
static bool by_twos(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    const bool vectors = k->schedule == KRF__MAP || k->strip > 0 || k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW || k->schedule == KRF__ROW || krf__short_rows(k);
    bool any = false;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        any |= krf__cuda_compares_pairs(e, r);
    }
    if (!vectors || krf__flat_apart(k) || k->vector % 2 != 0) {
        return false;
    }
    for (uint32_t n = 0; n < k->n_domain; n++) {
        const krf__instr *i = &k->instrs[n];
        if ((e->forms[n] & UNUSED) != 0) {
            continue;
        }
        if (i->op == KRF__call || i->op == KRF__fold_map || (i->op == KRF__fetch && i->value == 0) || (i->op == KRF__load && k->operands[i->slot].counts) || (i->op == KRF__store && half(i) && !krf__cuda_vectored(e, i->slot))) {
            return false;
        }
        any |= varies(e, n) && (krf__rounds(e, i) || (i->op == KRF__store && half(i) && k->instrs[i->args[0]].op != KRF__load));
    }
    return any;
}

/* Whether an instruction takes its operands by twos. */
static bool takes_pairs(const krf__emitter *e, const krf__instr *i) { return at_once(e, i) != NULL || (i->op == KRF__store && half(i)); }

void krf__cuda_by_twos(krf__emitter *e) {
    const krf__kernel *k = e->k;
    mark_unused(e);
    e->twos = by_twos(e);
    for (uint32_t n = 0; n < k->n_domain && e->twos; n++) {
        const krf__op op = (krf__op)k->instrs[n].op;
        e->forms[n] |= krf__rounds(e, &k->instrs[n]) ? PAIR : op == KRF__load || op == KRF__fetch ? 0 : LANES;
    }
    for (uint32_t n = 0; n < k->n_domain + k->n_reductions && e->twos; n++) {
        const krf__instr *i = &k->instrs[n];
        const bool takes = !takes_pairs(e, i) && !(n >= k->n_domain && krf__cuda_has_pairs(e, n - k->n_domain)) && (n >= k->n_domain || (i->op != KRF__fetch && (e->forms[n] & UNUSED) == 0));
        for (int a = 0; a < krf__op_info_of((krf__op)i->op)->arity && takes; a++) {
            e->forms[i->args[a]] |= LANES;
        }
    }
}

/* Whether both elements are loaded as one word, or are there as one, kept by an earlier round. */
static bool loaded(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    return half(i) && (instr == e->replaced || i->op == KRF__fetch || (i->op == KRF__load && e->k->operands[i->slot].inner == 0 && (krf__cuda_vectored(e, i->slot) || krf__strip_by_words(e->k, i->slot))));
}

/* That word; where there is none, the element at hand. */
static void put_word(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    if (i->op == KRF__fetch) {
        krf__cuda_put_fetched_word(e, instr, "pair", "krf_twin", out);
        return;
    }
    const krf__instr load = {.op = KRF__load, .dtype = i->dtype, .from = i->dtype, .slot = i->op == KRF__load ? i->slot : e->kept_slot};
    e->lane = 3;
    e->target->load(e, &load, out);
    e->lane = 0;
}

/* Both values of an instruction in one word. */
static void put_pair(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    const char *dtype = krf_dtype_name((krf_dtype)i->dtype);
    if (i->op == KRF__constant) {
        krf__str_printf(out, "0x%04x%04xu", (unsigned)i->value & 0xffffu, (unsigned)i->value & 0xffffu);
    } else if (i->op == KRF__scalar) {
        krf__str_printf(out, "krf_twin(%ss%u)", e->target->arguments, i->slot);
    } else if (loaded(e, instr)) {
        put_word(e, instr, out);
    } else if (i->op == KRF__load) {
        krf__str_put(out, "krf_twin(");
        put_word(e, instr, out);
        krf__str_put(out, ")");
    } else if (varies(e, instr) && (e->forms[instr] & PAIR) != 0) {
        krf__str_printf(out, "p%u", instr);
    } else {
        krf__str_printf(out, "krf_pack_%s(", dtype);
        e->lane = 1;
        krf__emit_value(e, instr, out);
        krf__str_put(out, ", ");
        e->lane = 2;
        krf__emit_value(e, instr, out);
        e->lane = 0;
        krf__str_put(out, ")");
    }
}

static void put_lanes(krf__emitter *e, uint32_t instr, krf__str *out) {
    const char *dtype = krf_dtype_name((krf_dtype)e->k->instrs[instr].dtype);
    if ((e->forms[instr] & LANES) != 0) {
        krf__str_printf(out, "const float t%ua = krf_low_%s(", instr, dtype);
        put_pair(e, instr, out);
        krf__str_printf(out, "), t%ub = krf_high_%s(", instr, dtype);
        put_pair(e, instr, out);
        krf__str_put(out, ");\n");
    }
}

void krf__cuda_put_each(krf__emitter *e, void (*print)(krf__emitter *e, uint32_t n, krf__str *out), uint32_t n, krf__str *out) {
    for (e->lane = e->twos; e->lane <= (e->twos ? 2 : 0); e->lane++) {
        print(e, n, out);
    }
    e->lane = 0;
}

const char *krf__cuda_element(const krf__emitter *e) { return e->in_turn ? "h" : e->lane == 0 ? "k" : e->lane == 1 ? "2 * k" : "2 * k + 1"; }

static void put_statement(krf__emitter *e, uint32_t instr, krf__str *out) { krf__emit_statement(e, instr, out); }

void krf__cuda_put_twos(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    const char *dtype = krf_dtype_name((krf_dtype)i->dtype), *operation = at_once(e, i);
    if (krf__instr_free(i) || i->op == KRF__store || (e->forms[instr] & UNUSED) != 0) {
        return;
    }
    if (loaded(e, instr)) {
        put_lanes(e, instr, out);
        return;
    }
    if (instr == e->replaced) {
        krf__cuda_put_each(e, krf__cuda_put_kept, instr, out);
        return;
    }
    if (operation != NULL) {
        krf__str_printf(out, "const unsigned p%u = krf_%s_%sx2(", instr, operation, dtype);
        put_pair(e, i->args[0], out);
        krf__str_put(out, ", ");
        put_pair(e, i->args[1], out);
        krf__str_put(out, ");\n");
    } else {
        krf__cuda_put_each(e, put_statement, instr, out);
        if ((e->forms[instr] & PAIR) != 0) {
            krf__str_printf(out, "const unsigned p%u = krf_pack_%s(u%ua, u%ub);\n", instr, dtype, instr, instr);
        }
    }
    if ((e->forms[instr] & PAIR) != 0) {
        put_lanes(e, instr, out);
    }
    if (instr == e->saved && half(i)) {
        put_word(e, instr, out);
        krf__str_put(out, " = ");
        put_pair(e, instr, out);
        krf__str_put(out, ";\n");
    } else if (instr == e->saved) {
        krf__cuda_put_each(e, krf__cuda_put_kept, instr, out);
    }
}

void krf__cuda_put_taken_twos(krf__emitter *e, uint32_t store, krf__str *out) {
    const krf__instr *s = &e->k->instrs[store];
    krf__str_printf(out, "v_%s.pair[k] = ", e->operand_names[s->slot]);
    put_pair(e, s->args[0], out);
    krf__str_put(out, ";\n");
}
