/* The code of an operation that serves better than its own where more is known of the operands, with the same bits: of quotients by what many elements share, and functions of numbers
 * that lie in a part of their range; and with about as many digits, powers whose exponent is a literal. */
#include "codegen/emitter.h"

#include <math.h>
#include <string.h>

/* Whether an instruction of the domain has one value for all elements that a thread takes one after the other. */
static bool shared(const krf__emitter *e, uint32_t instr, int depth) {
    const krf__kernel *k = e->k;
    const krf__instr *i = &k->instrs[instr];
    const bool vectors = k->schedule == KRF__MAP ? k->vector > 1 : k->schedule != KRF__TILE && k->schedule != KRF__REDUCE_COL;
    if (krf__instr_free(i)) {
        return true;
    }
    if (i->op == KRF__load) {
        const krf__operand *o = &k->operands[i->slot];
        return o->inner != 0 || (vectors && !o->counts && krf__stride_class(k, o, k->n_kept + k->n_reduced - 1) == 0);
    }
    bool all = (krf__op_info_of(i->op)->class_ == KRF__CLASS_ELEMENTWISE || i->op == KRF__cast) && depth > 0;
    for (int a = 0; all && a < krf__op_info_of(i->op)->arity; a++) {
        all = shared(e, i->args[a], depth - 1);
    }
    return all;
}

static bool is_power_of_two(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0xfffffffffffffu) == 0;
}

/* Whether a branch for each f32 that is divided takes longer than products in f64: of rows that lie side by side, or of which a thread has few elements, it does not; nor
 * where all threads of a multiprocessor divide at once what only they read, but for what is kept from an earlier round, whose operands are done with; nor where elements wait for other operands one by one. Measured (bench/results); for 0, which most of a
 * masked softmax is, CUDA's division calls a function. */
static bool divides_by_products(const krf__emitter *e, const krf__instr *quotient) {
    const krf__kernel *k = e->kernel;
    int loads = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        loads += !o->store && !o->counts && o->inner == 0;
    }
    if (k->schedule == KRF__ROW_SHORT) {
        return k->staged && !(krf__literal_rows(k) && k->reduced_size < 8);
    }
    return k->schedule == KRF__ROW && (loads == 1 || quotient->args[0] == e->replaced ? krf__row_threads(k) < KRF__ROW_THREADS : k->vector > 1);
}

#define PRODUCTS "H(opaque)(N(quotient)(A, B))"

/* How an f32 is divided; NULL: by a division. For a literal there is krf_over_f32, if none of the results that are subnormal lies in the middle of two numbers: maps that compute 1.05 times as fast on an H200, sums of rows and columns
 * 1.04 to 1.09; sums of all, where an element's steps wait for each other, 0.98. */
static const char *single_quotient(const krf__emitter *e, const krf__instr *quotient) {
    const krf__instr *by = &e->k->instrs[quotient->args[1]];
    const krf__schedule schedule = e->kernel->schedule;
    if (by->op == KRF__constant && schedule != KRF__REDUCE_ALL) {
        const double size = fabs(krf__bits_to_f64((krf_dtype)by->dtype, by->value));
        if (size >= 0x1p-100 && fmod(size, 2) != 0) {
            return "H(opaque)(H(over)(A, B))";
        }
        if (schedule == KRF__MAP || schedule == KRF__REDUCE_ROW) {
            return PRODUCTS;
        }
    }
    return divides_by_products(e, quotient) ? PRODUCTS : NULL;
}

/* The code of a quotient whose divisor's reciprocal serves many elements; NULL: a division serves, as by powers of 2, of which compilers make products. */
static const char *shared_quotient(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr], *by = &e->k->instrs[i->args[1]];
    if (e->mode != 0 || instr >= e->k->n_domain || !shared(e, i->args[1], 4) || shared(e, i->args[0], 4) ||
        (by->op == KRF__constant && is_power_of_two(krf__bits_to_f64((krf_dtype)by->dtype, by->value)))) {
        return NULL;
    }
    return krf__is_half((krf_dtype)i->from) ? PRODUCTS : e->k->fast ? "H(opaque)(H(fast_quotient)(A, B))" : i->from == KRF_F32 ? single_quotient(e, i) : NULL;
}

static bool at_least_zero(const krf__kernel *k, uint32_t instr) {
    const krf__instr *i = &k->instrs[instr];
    return i->op == KRF__abs || i->op == KRF__exp || (i->op == KRF__multiply && i->args[0] == i->args[1]);
}

static bool at_most_zero(const krf__kernel *k, uint32_t instr) {
    const krf__instr *i = &k->instrs[instr];
    bool any = i->op == KRF__negative && at_least_zero(k, i->args[0]);
    for (int a = 0; a < 2 && !any; a++) {
        const krf__instr *c = i->op == KRF__multiply || i->op == KRF__minimum ? &k->instrs[i->args[a]] : NULL;
        const double value = c != NULL && c->op == KRF__constant ? krf__bits_to_f64((krf_dtype)c->dtype, c->value) : 1;
        any = value <= 0 && (i->op == KRF__minimum || at_least_zero(k, i->args[1 - a]));
    }
    return any;
}

/* The code of a function whose argument is known to lie where it takes fewer steps, with the same bits; NULL: it is not. Of exp of what is 0 or below, as in softplus. */
static const char *of_known_range(const krf__emitter *e, const krf__instr *i) {
    const krf__instr *of = &e->k->instrs[i->args[0]];
    const bool unit = (i->from == KRF_F32 || i->from == KRF_F64) && of->op == KRF__exp && of->from == i->from && at_most_zero(e->k, of->args[0]);
    return unit ? "H(log1p_unit)(A)" : NULL;
}

/* The code of a power of f32 whose exponent is a literal of moderate size: 42 instructions an element for 48 (sm_90). NULL: it is none. */
static const char *near_power(const krf__emitter *e, const krf__instr *i) {
    const krf__instr *y = &e->k->instrs[i->args[1]];
    return i->from == KRF_F32 && y->op == KRF__constant && fabs(krf__bits_to_f64((krf_dtype)y->dtype, y->value)) <= 16 ? "H(pow_near)(A, B)" : NULL;
}

const char *krf__quicker_code(const krf__emitter *e, uint32_t instr) {
    const krf__instr *i = &e->k->instrs[instr];
    return !e->target->approximates ? NULL : i->op == KRF__divide ? shared_quotient(e, instr) : i->op == KRF__log1p ? of_known_range(e, i) : i->op == KRF__power ? near_power(e, i) : NULL;
}
