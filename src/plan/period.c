/* Maps on a GPU whose rows no whole vectors end with, beside what is the same in all rows, or along each: vectors lie as memory does, over the ends of rows, and after as many of them as make whole rows their
 * elements have the same columns again. A thread goes from one such vector to the next, and keeps what it has of columns (krf__kernel.period). */
#include "plan/schedule.h"
#include "plan/vector.h"

#define WORD 16
#define MOST_WORDS 2        /* of memory, that a vector of what is loaded is made of */
#define MOST_STATEMENTS 640
#define MOST_KEPT 128       /* bytes of columns, of a thread */
#define LEAST_PERIOD 256    /* vectors: fewer are several periods, so that a warp has neighbours; */
#define EVEN 32             /* where there are enough of them as many periods as make whole lines of memory */
#define LEAST_THREADS (1 << 18) /* that a GPU has at work; with krf__limits.recur 0 small arrays have several periods, too */
#define PERIODS 4           /* of a thread */
#define FEW_PERIODS 2
#define FEW_ROWS 2          /* operands that rows have something of; more are what short rows are made of, as fields are chosen from */
#define LONG_ROW 8          /* vectors */
#define SHORT_BODY 6        /* instructions: two loads, what is done with them, and a store */

/* What there is of each kind, and the bytes of elements. */
typedef struct sizes {
    int loaded, stored, narrowest, narrowest_stored; /* the widest that is loaded (0: none is), and stored; the narrowest of both, and that is stored */
    int kept, widest_kept;                           /* all that stays of a column, and the widest of it */
    int shared, rows;                                /* operands that are the same in all rows, or for all of one; those of the latter */
    bool counts, may;                                /* whether some count; whether there is nothing else */
} sizes;

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

static sizes sizes_of(const krf__kernel *k) {
    sizes s = {.narrowest = WORD, .narrowest_stored = WORD, .may = true};
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const krf__in_period kind = krf__period_of(k, o);
        const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        s.may &= !o->gathered && !o->half && size <= 8 && (kind == KRF__OF_ELEMENT ? krf__lies_flat(k, o) : !o->store);
        if (kind != KRF__OF_ELEMENT) {
            s.shared++;
            s.rows += kind == KRF__OF_ROW;
            s.counts |= kind == KRF__COUNTS;
            s.kept += kind == KRF__OF_COLUMN ? size : 0;
            s.widest_kept = kind == KRF__OF_COLUMN ? most(s.widest_kept, size) : s.widest_kept;
            continue;
        }
        s.narrowest = least(s.narrowest, size);
        s.narrowest_stored = o->store ? least(s.narrowest_stored, size) : s.narrowest_stored;
        s.stored = o->store ? most(s.stored, size) : s.stored;
        s.loaded = o->store ? s.loaded : most(s.loaded, size);
    }
    return s;
}

/* As many elements as words of memory have of what is stored that is narrowest, or as two have of what is loaded. */
static int vector_of(const krf__kernel *k, const sizes *s) {
    int v = WORD / s->narrowest_stored;
    while (v > 1 && (v * s->stored > WORD || v * s->loaded > MOST_WORDS * WORD || v * s->kept > MOST_KEPT || v * (int)k->n_domain > MOST_STATEMENTS)) {
        v /= 2;
    }
    const bool halves = (s->rows > 0 || s->counts) && s->stored <= 2 && s->widest_kept <= s->stored; /* for an element's row is one of two */
    return halves && v > k->extents[k->n_kept - 1] ? v / 2 : v;
}

/* Whether that is faster than a map whose elements find each its own place, or than strips (bench/results): of elements of four bytes where something is narrower, or rows have something, and of eight not once memory has some to load; nor masks
 * of wide elements whose rows have words of four; nor rows that vectors have several of, whole, or that are short and made of what belongs to rows. */
static bool gains(const krf__kernel *k, const sizes *s, int v) {
    const int widest = most(s->loaded, s->stored);
    const int64_t row = k->extents[k->n_kept - 1];
    if (k->kept_size > INT32_MAX / 2 && (s->rows > 0 || s->counts)) { /* rows are found by dividing 64 bits */
        return false;
    }
    if ((s->rows > FEW_ROWS && row < LONG_ROW * v) || (row < v && v % row == 0) || (row < 2 * v && widest == 2 && s->shared == 1 && s->loaded > 0)) {
        return false;
    }
    if (s->loaded == 0) {
        return s->stored > 1 || s->widest_kept < 4 || row % 4 != 0;
    }
    return widest <= 2 || (widest == 4 && (s->rows > 0 || (s->narrowest < 4 && s->loaded != s->stored)));
}

static bool begin_with_vectors(const krf__kernel *k, int v) {
    bool all = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        all &= krf__period_of(k, &k->operands[i]) != KRF__OF_ELEMENT || k->operands[i].offset % v == 0;
    }
    return all;
}

static bool does(const krf__kernel *k, krf__op op) {
    bool found = false;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        found |= k->instrs[i].op == op;
    }
    return found;
}

/* How many periods a thread has at most. Of more of these what is kept is loaded less often; of fewer there are more threads, and memory goes by more evenly: what only moves elements has two, what loads none as many as a vector has elements. */
static int most_periods(const krf__kernel *k, const sizes *s, int v) {
    const bool even = s->narrowest == most(s->loaded, s->stored), moves = even && (s->narrowest == 4 || (s->narrowest == 2 && s->shared == 1 && k->n_domain <= SHORT_BODY && !does(k, KRF__divide)));
    return s->loaded == 0 ? most(v, PERIODS) : moves ? FEW_PERIODS : PERIODS;
}

static void set_period(krf__kernel *k, int v, int most_of_all, int64_t threads) {
    const int64_t row = k->extents[k->n_kept - 1], shortest = row / krf__common_divisor(row, v), all = k->kept_size / v;
    int64_t times = 1;
    int periods = most_of_all;
    while (times < EVEN && (times * shortest < LEAST_PERIOD ? 4 * times * shortest <= all : 16 * most_of_all * times * shortest <= all)) {
        times *= 2;
    }
    while (periods > 1 && (all < periods * threads || 2 * times * shortest * periods > all)) {
        periods /= 2;
    }
    k->period = 2 * times * shortest <= all ? times * shortest : 0;
    k->periods = periods;
}

int krf__period_vector(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    if (!limits->many_threads || limits->vectors == 0 || unaligned || k->n_kept < 2 || k->kept_size < limits->recur) {
        return 1;
    }
    const sizes s = sizes_of(k);
    const bool may = s.may && s.shared > 0 && !does(k, KRF__philox); /* whose numbers are drawn by vectors of places */
    const int v = may ? vector_of(k, &s) : 1;
    const int64_t row = k->extents[k->n_kept - 1];
    if (v > 1 && gains(k, &s, v) && (v <= row || (s.rows == 0 && !s.counts)) && row % v != 0 && begin_with_vectors(k, v)) {
        set_period(k, v, most_periods(k, &s, v), limits->recur > 0 ? LEAST_THREADS : 1);
    }
    return k->period > 0 ? v : 1;
}
