/* Whether threads of a map take strips of it: some elements that follow one another along a dimension that is not the last, for which rows of an array, as far as their neighbours need
 * them too, are loaded once. A stencil's thread would else load each of them for every element: what the caches of a multiprocessor deliver, not memory, is then the limit. */
#include "plan/schedule.h"
#include "plan/vector.h"

#define LONG_STRIP 8
#define SHORT_STRIP 4
#define MOST_REGISTERS 48 /* of a thread, for the rows of all operands */
#define MOST_WORD_REGISTERS 72 /* the same where it loads words; of short strips: */
#define MOST_SHORT_REGISTERS 112
#define MOST_STATEMENTS 640
#define MOST_ROWS 8       /* of an array, that an element needs */
#define MOST_ELEMENTS 8   /* of words: so far from one another lie views that share them */
#define WORD_BYTES 16
#define MOST_OUTER 8      /* elements of words of masks */
#define SHORT_BODY 12     /* instructions, loads and stores among them */

/* Whether both are views of one array that differ by where they begin alone, and go on along dimension d. */
static bool are_views(const krf__kernel *k, const krf__operand *a, const krf__operand *b, int d) {
    bool same = !a->store && !a->counts && !b->store && !b->counts && a->buffer == b->buffer && a->dtype == b->dtype && a->strides[d] != 0;
    for (int i = 0; i < k->n_kept; i++) {
        same &= a->strides[i] == b->strides[i];
    }
    return same;
}

/* How far operand o lies behind another view of the same array, in steps of dimension d, and elements of words, if it is that alone by which they differ; else false. */
static bool lies_behind(const krf__kernel *k, const krf__operand *o, const krf__operand *other, int d, int64_t *steps, int64_t *elements) {
    if (!are_views(k, o, other, d)) {
        return false;
    }
    const int64_t step = o->strides[d], distance = o->offset - other->offset, half = (step < 0 ? -step : step) / 2, most = krf__strip_vector(k, o) > 1 ? MOST_ELEMENTS : 1;
    *steps = (distance + (distance < 0 ? -half : half)) / step;
    *elements = distance - *steps * step;
    return *steps < MOST_ROWS && -*steps < MOST_ROWS && *elements < most && -*elements < most;
}

/* The operand that the others which share rows with operand i lie behind: the first of them in dimension d. */
static uint32_t first_of(const krf__kernel *k, uint32_t i, int d) {
    uint32_t first = i;
    int64_t least = 0, steps, elements;
    for (uint32_t j = 0; j < k->n_operands; j++) {
        if (j != i && lies_behind(k, &k->operands[j], &k->operands[i], d, &steps, &elements) && (steps < least || (steps == least && j < first))) {
            least = steps;
            first = j;
        }
    }
    return first;
}

/* Who reads whose rows, and where. Rows further apart than MOST_ROWS have an operand each. */
static void mark_rows(krf__kernel *k, int d) {
    int64_t steps, elements;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        const uint32_t first = o->store || o->counts ? i : first_of(k, i, d);
        const bool shares = first != i && first_of(k, first, d) == first && lies_behind(k, o, &k->operands[first], d, &steps, &elements);
        const int64_t v = krf__strip_vector(k, o), start = shares ? k->operands[first].offset : o->offset;
        o->rows_of = (uint16_t)(shares ? first + 1 : 0);
        o->row = (uint16_t)(shares ? steps : 0);
        o->element = (int16_t)(krf__strip_apart(k, o) ? 0 : (start % v + v) % v + (shares ? elements : 0));
    }
}

/* What a thread loads for so many elements along dimension d, of what is not the same for all of them, and the registers of all; marks who reads whose. */
static int loads_by_strips(krf__kernel *k, int d, int strip, int *registers) {
    int loads = 0;
    *registers = 0;
    mark_rows(k, d);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->store || o->counts || o->rows_of != 0) {
            continue;
        }
        const int n = (o->strides[d] == 0 ? 1 : strip + krf__strip_span(k, i)) * krf__strip_words(k, i), bytes = (int)krf_dtype_size((krf_dtype)o->dtype) * krf__strip_vector(k, o);
        loads += o->strides[d] == 0 ? 0 : n;
        *registers += n * (bytes > 4 ? bytes / 4 : 1);
    }
    return loads;
}

static void forget(krf__kernel *k) {
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].rows_of = k->operands[i].row = 0;
        k->operands[i].element = 0;
    }
}

static bool may_have_strips(const krf__kernel *k) {
    bool may = k->n_kept > 1 && k->extents[k->n_kept - 1] >= KRF__TILE_LEAST && !krf__costly_domain(k); /* else the caches wait for the body */
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        may &= !o->gathered && !o->half && (!o->store || o->strides[k->n_kept - 1] == 1);
    }
    return may;
}

/* Whether what lies along the last dimension does so in words of v elements; loads of them may begin anywhere within one. Of what strips along dimension d have once the elements may lie apart. */
static bool has_words(const krf__kernel *k, int v, int d) {
    const int fast = k->n_kept - 1;
    bool may = k->extents[fast] % v == 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const bool once = !o->store && !o->counts && o->strides[d] == 0;
        may &= o->strides[fast] == 0 || v == 1 || once || (!o->counts && o->strides[fast] == 1 && (!o->store || o->offset % v == 0));
        for (int n = 0; n < fast && o->strides[fast] != 0 && !(once && krf__strip_apart(k, o)); n++) {
            may &= o->strides[n] % v == 0;
        }
    }
    return may;
}

/* How a map goes: by strips along dimension dim, of words of v elements, loading so often for so many elements; dim -1: by no strips, of which `whole` have memory in one piece, or vectors. */
typedef struct choice {
    int dim, strip, v, loads, elements;
    bool whole;
} choice;

static int loads_of(const krf__kernel *k, int d) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        n += !k->operands[i].store && !k->operands[i].counts && (d < 0 || k->operands[i].strides[d] != 0);
    }
    return n;
}

static bool shares_rows(const krf__kernel *k) {
    bool shares = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        shares |= k->operands[i].rows_of != 0;
    }
    return shares;
}

/* Whether each operand is the same along dimension d, or for all of a row: next to nothing is read of memory. */
static bool is_outer(const krf__kernel *k, int d) {
    bool outer = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        outer &= k->operands[i].store || (!k->operands[i].counts && (k->operands[i].strides[d] == 0 || k->operands[i].strides[k->n_kept - 1] == 0));
    }
    return outer;
}

/* Whether words of v elements may be more than one of memory: what a row of a mask is compared with is loaded once. Of short bodies: long ones are arithmetic. */
static bool may_be_wide(const krf__kernel *k, int d) {
    bool may = is_outer(k, d) && k->n_domain <= SHORT_BODY;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        may &= k->operands[i].store || !krf__strip_apart(k, &k->operands[i]);
    }
    return may;
}

/* Whether what is stored is far narrower than what is loaded, so that a vector of this stores little at a time (masks; of half as wide ones krf__cached_vector is as good). */
static bool narrows(const krf__kernel *k) {
    size_t loaded = 0, stored = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const size_t size = krf_dtype_size((krf_dtype)k->operands[i].dtype);
        size_t *widest = k->operands[i].store ? &stored : &loaded;
        *widest = size > *widest ? size : *widest;
    }
    return 2 * stored < loaded;
}

/* Whether strips are worth it: they save a sixth of the loads at least; words a fifth of what there would be without them; and two fifths where maps have vectors, or memory in one piece,
 * of rows that views share: what is the same for all rows, or for a row, caches deliver as fast (bench/results). An element that memory has nothing of waits for all its loads. */
static bool saves(const krf__kernel *k, int d, int strip, int loads, const choice *without) {
    const bool outer = is_outer(k, d);
    const int all = loads_of(k, outer ? -1 : d) * strip, once = outer ? loads_of(k, -1) - loads_of(k, d) : 0;
    if (without->whole && outer && narrows(k) && k->n_domain <= SHORT_BODY) { /* a thread loads a vector for all rows of its strip, rather than several words for each (0.042 and 0.077 ms for 134M bools; of 26 operations 0.074 and 0.062) */
        return k->vector > 1;
    }
    if (without->whole) {
        return shares_rows(k) && 5 * loads * without->elements <= 3 * without->loads * strip * k->vector;
    }
    return k->vector == 1 ? 6 * (all - loads - once) >= all : 5 * loads * without->elements <= 4 * without->loads * strip * k->vector;
}

/* The longest strips of words of v elements that a thread has registers for, along the dimension where they save most; false if none do. */
static bool choose(krf__kernel *k, int v, const choice *without, choice *c) {
    bool found = false;
    k->vector = v;
    for (int strip = LONG_STRIP; strip >= SHORT_STRIP && !found; strip /= 2) {
        const int most = v == 1 ? MOST_REGISTERS : strip > SHORT_STRIP ? MOST_WORD_REGISTERS : MOST_SHORT_REGISTERS;
        for (int d = k->n_kept - 2; d >= 0 && strip * v * (int)k->n_domain <= MOST_STATEMENTS; d--) {
            int registers;
            if (v * krf__widest_element(k) > WORD_BYTES && !may_be_wide(k, d)) {
                continue;
            }
            const int loads = loads_by_strips(k, d, strip, &registers), saved = loads_of(k, d) * strip - loads;
            if (k->extents[d] >= KRF__TILE_LEAST && registers <= most && has_words(k, v, d) && saves(k, d, strip, loads, without) && (!found || saved > loads_of(k, c->dim) * strip - c->loads)) {
                *c = (choice){.dim = d, .strip = strip, .v = v, .loads = loads, .elements = strip * v};
                found = true;
            }
        }
    }
    return found;
}

/* Whether some views of one array lie a step or two apart along dimension d. */
static bool steps_along(const krf__kernel *k, int d) {
    bool found = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const krf__operand *a = &k->operands[i], *b = &k->operands[j];
            const int64_t step = a->strides[d] < 0 ? -a->strides[d] : a->strides[d], distance = a->offset < b->offset ? b->offset - a->offset : a->offset - b->offset;
            found |= are_views(k, a, b, d) && 2 * distance > step && 2 * distance < 5 * step;
        }
    }
    return found;
}

/* Strips of two places along such a dimension share what they read: of seven points in three dimensions a block then reads 20 rows for 8, not 26 (H200, 512 each way: 0.310 -> 0.293 ms). */
static int layer_of(const krf__kernel *k) {
    int found = 0;
    for (int d = 0; d < k->n_kept - 1; d++) {
        found = d != k->tile && k->extents[d] > 1 && steps_along(k, d) ? d + 1 : found;
    }
    return found;
}

void krf__kernel_strips(krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const int vector = k->vector, most = limits->vectors == 0 || unaligned ? 1 : WORD_BYTES / krf__widest_element(k);
    const bool loose = vector == 1 && most > 1 && krf__loose_vector(k) > 1; /* as good as words that nobody shares */
    const int64_t row = loose ? 0 : krf__part_rows(k);
    const choice map = {.dim = -1, .v = vector, .loads = loads_of(k, -1), .elements = vector, .whole = vector > 1 || row > 0};
    choice c = map;
    if (may_have_strips(k) && vector == 1) {
        choose(k, 1, &map, &c);
    }
    const choice without = c;
    const int widest = most > 1 && most < MOST_OUTER && narrows(k) ? MOST_OUTER : most;
    for (int v = may_have_strips(k) ? widest : 1; v > 1 && !choose(k, v, &without, &c); v /= 2) {
    }
    k->vector = c.v;
    if (c.dim >= 0) {
        mark_rows(k, c.dim);
    }
    if (c.dim >= 0 && (!loose || shares_rows(k))) {
        k->schedule = KRF__TILE;
        k->tile = c.dim;
        k->strip = c.strip;
        k->layer = shares_rows(k) ? layer_of(k) : 0;
    } else {
        k->vector = vector;
        forget(k);
        krf__join_rows(k, row);
    }
}
