/* Which elements that a map gathers lie in memory as whole vectors, and which maps look up several vectors a thread instead. */
#include "pass/run.h"
#include "plan/vector.h"

#define LEAST_BYTES 4
#define MOST_BYTES 32 /* two words */
#define MOST_LOOSE 2   /* bytes of elements that are taken out of the words in which they lie: wider ones are as fast one by one */
#define MOST_WINDOW 16 /* and of their vectors */
#define MOST_STORED 8  /* bytes of a vector, of which a thread has several */
#define MOST_PLACES 2  /* at which elements of vectors of four are looked up then */

static int vector_bytes(const krf__kernel *k, const krf__instr *i) { return k->vector * (int)krf_dtype_size((krf_dtype)i->dtype); }

/* By places that follow one another in a row; or of rows, each from one place on. */
static bool is_run(const krf__kernel *k, const krf__instr *i) {
    const krf__operand *o = &k->operands[i->slot];
    const int fast = k->n_kept - 1, bytes = vector_bytes(k, i);
    const bool rows = (i->value & KRF__RUN_ROWS) != 0;
    return k->schedule == KRF__MAP && k->vector > 1 && k->n_kept > 1 && !k->across && o->strides[fast] == rows && !o->half && bytes >= LEAST_BYTES && bytes <= MOST_BYTES && (i->value & KRF__RUN_BLOCK) % (uint64_t)k->vector == 0
           && krf__in_vectors(k, o, fast, k->vector);
}

/* By places that follow one another from anywhere on, but at ends. */
static bool begins_anywhere(const krf__kernel *k, const krf__instr *i, const krf__limits *limits) {
    const size_t size = krf_dtype_size((krf_dtype)i->dtype);
    const int bytes = vector_bytes(k, i);
    return k->schedule == KRF__MAP && k->vector > 1 && !k->across && k->operands[i->slot].strides[k->n_kept - 1] == 0 && (i->value & KRF__RUN_ALONG) != 0 && size <= MOST_LOOSE && size <= limits->loose && bytes >= LEAST_BYTES
           && bytes <= MOST_WINDOW;
}

static uint64_t vectors_of(const krf__kernel *k, const krf__instr *i, bool unaligned, const krf__limits *limits) {
    if (!unaligned && is_run(k, i)) {
        return (i->value & KRF__RUN_ROWS) != 0 ? KRF__FETCH_ROWS : KRF__FETCH_STEPS;
    }
    return begins_anywhere(k, i, limits) ? KRF__FETCH_WINDOWS : 0;
}

/* On the CPU: strips of places that follow one another, or come several times each. */
static uint64_t strip_of(const krf__kernel *k, const krf__instr *i) {
    const krf__operand *o = &k->operands[i->slot];
    const uint64_t times = i->value >> KRF__RUN_DIVISOR;
    if (k->schedule != KRF__MAP || k->narrow || o->strides[k->n_kept - 1] != 0 || o->half) {
        return 0;
    }
    return times > 0 ? KRF__FETCH_REPEATS + times : (i->value & KRF__RUN_ALONG) != 0 ? KRF__FETCH_STEPS : 0;
}

/* Whether two elements of a row lie apart in memory, as fields of records do, which are marked later: they are no word of it. */
static bool lies_apart(const krf__kernel *k, const krf__operand *o) { return !o->counts && !o->gathered && krf__stride_class(k, o, k->n_kept - 1) > 1; }

/* Whether a thread has several vectors and computes the place of each element: of two elements, which are hardly one; and of four narrow ones, unless these lie in memory as such, or are looked up at many places
 * (four neighbours in rolled rows of bf16 0.116 and 0.138 ms of an H200; elements around those of [.., 56, 56] bf16 0.119 and 0.077). */
static bool takes_several(const krf__kernel *k, bool unaligned) {
    bool all = k->schedule == KRF__MAP && !k->across && !k->flat && !k->spans && (k->vector == 2 || k->vector == 4) && k->extents[k->n_kept - 1] % k->vector == 0; /* none hangs over the end */
    const int looked_up = krf__fetches(k);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        all &= !lies_apart(k, o) && !o->loose && !o->half && (!o->store || (o->aligned && k->vector * (int)krf_dtype_size((krf_dtype)o->dtype) <= MOST_STORED));
    }
    for (uint32_t n = 0; n < k->n_instrs && k->vector > 2 && !unaligned; n++) {
        all &= k->instrs[n].op != KRF__fetch || !is_run(k, &k->instrs[n]);
    }
    return all && looked_up > 0 && (k->vector == 2 || looked_up <= MOST_PLACES);
}

void krf__kernel_runs(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    k->several = limits->many_threads && takes_several(k, unaligned);
    k->several &= krf__map_each(k) > 1;
    for (uint32_t n = 0; n < k->n_instrs; n++) {
        if (k->instrs[n].op == KRF__fetch) {
            k->instrs[n].value = k->several ? 0 : limits->many_threads ? vectors_of(k, &k->instrs[n], unaligned, limits) : strip_of(k, &k->instrs[n]);
        }
    }
}
