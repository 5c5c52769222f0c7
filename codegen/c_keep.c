/* The C target's rows of several rounds: values that take long and that a later round wants again stay in a block, a row long. The exponentials of a softmax are
 * computed once. */
#include "codegen/emitter.h"

enum { MOST_BYTES = 64 << 10, MOST_BESIDE = 128 << 10, MOST_BLOCKS = 4, LEFT_OUT = -1 }; /* of a thread's stack, and of its caches: of a row, and of rows side by side */

static bool computed(const krf__emitter *e, uint32_t instr) { return e->kept[instr] == 0 || e->kept[instr] == (int32_t)instr + 1; }

/* An instruction of a round before round r, by its number in the whole kernel, with the value of instruction j there; UINT32_MAX: none. */
static uint32_t counterpart(const krf__emitter *e, uint32_t r, uint32_t j) {
    const krf__kernel b = krf__kernel_round(e->kernel, r);
    for (uint32_t before = 0; before < r; before++) {
        const krf__kernel a = krf__kernel_round(e->kernel, before);
        for (uint32_t i = 0; i < a.n_domain; i++) {
            krf__match m = {.a = &a, .b = &b, .slot = KRF__ANY_SLOT};
            if (computed(e, e->kernel->rounds[before].first + i) && krf__same_value(&m, i, j)) {
                return e->kernel->rounds[before].first + i;
            }
        }
    }
    return UINT32_MAX;
}

/* Marks what of the domain part the rest of the round uses. */
static void mark_used(const krf__kernel *k, bool *used) {
    for (uint32_t n = 0; n < k->n_domain; n++) {
        used[n] = k->instrs[n].op == KRF__store;
    }
    for (uint32_t n = k->n_domain; n < k->n_instrs; n++) {
        for (int a = 0; a < krf__op_info_of((krf__op)k->instrs[n].op)->arity; a++) {
            if (k->instrs[n].args[a] < k->n_domain) {
                used[k->instrs[n].args[a]] = true;
            }
        }
    }
}

/* Of the whole kernel: which values stay, in blocks of `length` elements. */
static void find_kept(krf__emitter *e, int length) {
    const krf__kernel *whole = e->kernel;
    const int most = whole->schedule == KRF__ROW_COL ? MOST_BESIDE : MOST_BYTES;
    int bytes = 0, blocks = 0;
    for (uint32_t r = 0; r < whole->n_rounds; r++) {
        const krf__kernel k = krf__kernel_round(whole, r);
        int32_t *const kept = e->kept + whole->rounds[r].first;
        mark_used(&k, e->needed);
        for (uint32_t j = k.n_domain; j-- > 0;) {
            const krf__instr *i = &k.instrs[j];
            const uint32_t source = e->needed[j] && krf__dear(i) ? counterpart(e, r, j) : UINT32_MAX;
            const int more = source == UINT32_MAX || e->kept[source] != 0 ? 0 : length * krf__value_bytes((krf_dtype)i->dtype);
            kept[j] = e->needed[j] || i->op == KRF__bind ? 0 : LEFT_OUT;
            if (source != UINT32_MAX && bytes + more <= most && blocks + (more > 0) <= MOST_BLOCKS) {
                bytes += more;
                blocks += more > 0;
                kept[j] = e->kept[source] = (int32_t)source + 1;
                continue;
            }
            for (uint32_t n = 0; n < j && e->needed[j]; n++) {
                e->needed[n] |= krf__instr_uses(&k, j, n);
            }
        }
    }
}

static int32_t kept_of(const krf__emitter *e, uint32_t instr) { return e->kept[(e->k->instrs - e->kernel->instrs) + instr]; }
static bool is_source(const krf__emitter *e, uint32_t instr) { return kept_of(e, instr) == (int32_t)((e->k->instrs - e->kernel->instrs) + instr) + 1; }

bool krf__c_left_out(const krf__emitter *e, uint32_t instr) { return kept_of(e, instr) == LEFT_OUT; }
bool krf__c_is_there(const krf__emitter *e, uint32_t instr) { return kept_of(e, instr) > 0 && !is_source(e, instr); }
bool krf__c_passed_over(const krf__emitter *e, uint32_t instr) { return krf__c_left_out(e, instr) || krf__c_is_there(e, instr); }

void krf__c_put_kept_blocks(krf__emitter *e, int rows, int length, krf__str *out) {
    krf__emitter of_whole = *e;
    of_whole.k = e->kernel;
    find_kept(e, rows * length);
    for (uint32_t n = 0; n < e->kernel->n_instrs; n++) {
        if (e->kept[n] == (int32_t)n + 1) {
            krf__str_printf(out, "_Alignas(64) %s kept%u", krf__instr_type(&of_whole, n), n);
            if (rows > 1) {
                krf__str_printf(out, "[%d]", rows);
            }
            krf__str_printf(out, "[%d];\n", length);
        }
    }
}

static void put_place(const krf__emitter *e, uint32_t instr, krf__str *out) {
    if (kept_of(e, instr) == KRF__KEPT_PERIOD) {
        krf__str_printf(out, "p_period%u[j + k]", instr);
        return;
    }
    krf__str_printf(out, e->side_by_side ? "kept%d[p][at + k]" : e->together ? "kept%d[before + p + k]" : "kept%d[p + k]", kept_of(e, instr) - 1);
}

void krf__c_put_kept(const krf__emitter *e, uint32_t instr, krf__str *out) {
    krf__str_printf(out, "const %s t%u = ", krf__instr_type(e, instr), instr);
    put_place(e, instr, out);
    krf__str_put(out, ";\n");
}

void krf__c_keep(const krf__emitter *e, uint32_t instr, krf__str *out) {
    if (is_source(e, instr)) {
        krf__str_put(out, "    ");
        put_place(e, instr, out);
        krf__str_printf(out, " = t%u;\n", instr);
    }
}
