/* Reductions on a GPU with a handful of results beside one another become as many of one result each: means of points, squares of a Gram matrix. Threads side by side, a column each, would load for each result what
 * several are made of, and many of them none (means of 16M x 3 f32 0.61 of the copy bandwidth, sums of nine products 0.19; so 0.93). A thread has an element of all results, and loads that once. */
#include "plan/schedule.h"
#include "plan/vector.h"

#include "base/fail.h"
#include "base/mem.h"

#include <string.h>

#define MOST_RESULTS KRF__SPREAD_RESULTS
#define MOST_INSTRS 128
#define MOST_OPERANDS 32
#define MOST_REDUCTIONS 9
#define MOST_BYTES 48  /* of an element's accumulators, of which a thread holds 8 */

/* What a kernel becomes, and where its instructions are in that, for each result. */
typedef struct spreading {
    const krf__kernel *of;
    krf__kernel *made;
    uint32_t instr_of[MOST_RESULTS][MOST_INSTRS];
    uint32_t first_instr, first_operand; /* of the part that is being added: parts share nothing */
} spreading;

/* An operand at a result, numbered with the last dimension fastest; the results' dimensions are one of one element. */
static krf__operand operand_at(const krf__kernel *k, uint32_t operand, int64_t result) {
    const krf__operand *all = &k->operands[operand];
    krf__operand o = {.dtype = all->dtype, .store = all->store, .counts = all->counts, .gathered = all->gathered, .half = all->half, .buffer = all->buffer, .offset = all->offset};
    for (int d = k->n_kept - 1; d >= 0; d--) {
        o.offset += result % k->extents[d] * all->strides[d];
        result /= k->extents[d];
    }
    memcpy(o.strides + 1, all->strides + k->n_kept, (size_t)k->n_reduced * sizeof *o.strides);
    return o;
}

static bool same_operand(const krf__operand *a, const krf__operand *b) {
    return a->dtype == b->dtype && a->store == b->store && a->counts == b->counts && a->gathered == b->gathered && a->half == b->half && a->buffer == b->buffer && a->offset == b->offset &&
           memcmp(a->strides, b->strides, sizeof a->strides) == 0;
}

/* UINT32_MAX: there is no room. */
static uint32_t add_operand(spreading *s, const krf__operand *o) {
    uint32_t i = s->first_operand;
    while (i < s->made->n_operands && !same_operand(&s->made->operands[i], o)) {
        i++;
    }
    if (i == MOST_OPERANDS) {
        return UINT32_MAX;
    }
    s->made->operands[i] = *o;
    s->made->n_operands = i == s->made->n_operands ? i + 1 : s->made->n_operands;
    return i;
}

/* Products and sums are the same either way round. */
static bool same_instr(const krf__instr *a, const krf__instr *b, int arity) {
    const bool turned = (a->op == KRF__multiply || a->op == KRF__add) && a->args[0] == b->args[1] && a->args[1] == b->args[0];
    return a->op == b->op && a->dtype == b->dtype && a->from == b->from && a->slot == b->slot && a->value == b->value && (turned || memcmp(a->args, b->args, (size_t)arity * sizeof *a->args) == 0);
}

/* False: there is no room. */
static bool add_instr(spreading *s, uint32_t instr, int64_t result) {
    krf__instr i = s->of->instrs[instr];
    const int arity = krf__op_info_of((krf__op)i.op)->arity;
    uint32_t n = s->first_instr;
    for (int a = 0; a < arity; a++) {
        i.args[a] = s->instr_of[result][i.args[a]];
    }
    if (i.op == KRF__load || i.op == KRF__fetch || i.op == KRF__store) {
        const krf__operand o = operand_at(s->of, i.slot, result);
        i.slot = add_operand(s, &o);
    }
    while (n < s->made->n_instrs && !same_instr(&s->made->instrs[n], &i, arity)) {
        n++;
    }
    if (n == MOST_INSTRS || i.slot == UINT32_MAX) {
        return false;
    }
    s->made->instrs[n] = i;
    s->made->n_instrs = n == s->made->n_instrs ? n + 1 : s->made->n_instrs;
    s->instr_of[result][instr] = n;
    return true;
}

/* Instructions [from, to) for every result. */
static bool add_part(spreading *s, uint32_t from, uint32_t to) {
    bool room = true;
    s->first_instr = s->made->n_instrs;
    s->first_operand = s->made->n_operands;
    for (int64_t result = 0; result < s->of->kept_size; result++) {
        for (uint32_t i = from; i < to && room; i++) {
            room = add_instr(s, i, result);
        }
    }
    return room;
}

/* Loads of what moves along the reduced dimensions. */
static int64_t loads_of(const krf__kernel *k) {
    int64_t n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        n += krf__along_rows(k, i);
    }
    return n;
}

static bool spread(spreading *s) {
    const krf__kernel *k = s->of;
    krf__kernel *made = s->made;
    bool room = add_part(s, 0, k->n_domain);
    made->n_domain = made->n_instrs;
    room = room && add_part(s, k->n_domain, k->n_domain + k->n_reductions);
    made->n_reductions = made->n_instrs - made->n_domain;
    room = room && add_part(s, k->n_domain + k->n_reductions, k->n_instrs);
    if (!room || made->n_reductions > MOST_REDUCTIONS || krf__accumulator_bytes(made) > MOST_BYTES) {
        return false;
    }
    made->n_kept = 1;
    made->kept_size = made->extents[0] = 1;
    memmove(made->extents + 1, k->extents + k->n_kept, (size_t)k->n_reduced * sizeof *made->extents);
    made->spread = true;
    return k->schedule == KRF__REDUCE_COL || 2 * loads_of(made) <= k->kept_size * loads_of(k); /* rows are read as fast one by one, unless they share what they read */
}

/* Vectors of 4 bytes, of narrow columns, are as little. */
static bool by_vectors(const krf__kernel *k) { return k->vector > 1 && k->vector * krf__widest_element(k) > 4; }

static bool gains(const krf__kernel *k, const krf__limits *limits) {
    const bool apart = (k->schedule == KRF__REDUCE_COL && !by_vectors(k)) || (k->schedule == KRF__REDUCE_ALL && k->lines == 1 && !krf__costly_domain(k));
    return limits->many_threads && limits->spread != 0 && apart && !krf__stores_elements(k) && k->kept_size > 1 && k->kept_size <= MOST_RESULTS && k->reduced_size >= limits->spread && k->n_instrs <= MOST_INSTRS;
}

krf_status krf__kernel_spread(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    krf__kernel made = *k;
    spreading s = {.of = k, .made = &made};
    if (!gains(k, limits)) {
        return KRF_OK;
    }
    made.n_instrs = made.n_operands = 0;
    made.instrs = krf__calloc(MOST_INSTRS, sizeof *made.instrs);
    made.operands = krf__calloc(MOST_OPERANDS, sizeof *made.operands);
    const bool memory = made.instrs != NULL && made.operands != NULL, done = memory && spread(&s);
    krf__mem_free(done ? k->instrs : made.instrs);
    krf__mem_free(done ? k->operands : made.operands);
    if (done) {
        *k = made;
        krf__kernel_schedule(k, unaligned, limits);
    }
    return memory ? KRF_OK : krf__fail_memory();
}
