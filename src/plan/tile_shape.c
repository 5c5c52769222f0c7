/* Facts that follow from a map that goes by squares or strips: what a block of a GPU takes, its threads and its shared memory; and the CPU's tiles. */
#include "plan/kernel.h"

#define STRIP_THREADS 256 /* of a block, where maps go by strips; */
#define SHORT_BODY 12     /* of so few instructions twice as many; */
#define LARGE (1 << 20)   /* elements: blocks enough even so */
#define STRIP_SIDE 64     /* of them beside one another, at least, if they have words of several elements; of rows of so few words: */
#define STRIP_SHORT 16
#define STRIP_LEAST 4
#define STRIP_BYTES 1024
#define LAYERS 2

int krf__widest_element(const krf__kernel *k) {
    int widest = 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const int bytes = k->operands[i].counts ? 1 : (int)krf_dtype_size((krf_dtype)k->operands[i].dtype);
        widest = bytes > widest ? bytes : widest;
    }
    return widest;
}

/* Elements from a row of a square to the next: one word more than a row has, so that columns lie in different banks. */
static int pitch_of(int side, int bytes) { return side + (bytes < 4 ? 4 / bytes : 1); }

/* Squares of `side` in shared memory. */
static int64_t bytes_of_tiles(const krf__kernel *k, int side) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const int size = (int)krf_dtype_size((krf_dtype)k->operands[i].dtype);
        bytes += krf__tile_crosses(k, &k->operands[i]) ? (int64_t)side * (k->vector > 1 ? side : pitch_of(side, size)) * size : 0;
    }
    return bytes;
}

/* Threads of a block beside one another: a kilobyte of memory, where the array has so much. A quarter of that took 2 % longer, of bf16 whose rows are 16 KiB apart 17 %. */
static int strip_side(const krf__kernel *k) {
    const int64_t across = k->extents[k->n_kept - 1] / k->vector;
    int side = STRIP_BYTES / (k->vector * krf__widest_element(k));
    side = side > STRIP_THREADS ? STRIP_THREADS : side;
    side /= krf__tile_layers(k);
    side = side < STRIP_SIDE ? STRIP_SIDE : side;
    while (side > (k->vector > 1 && across > STRIP_SHORT ? STRIP_SIDE : STRIP_LEAST) && side / 2 >= across) {
        side /= 2;
    }
    return side;
}

/* Twice the threads have half the rows above and below them that other blocks read too: a stencil of five neighbours 1.01 times as fast, of bf16 1.015. What computes for longer is better off in smaller blocks (25 neighbours
 * 0.965), and so are bytes (0.96), short rows ([1M, 64] 0.9) and several layers (0.95). */
static int strip_threads(const krf__kernel *k) {
    const bool wide = krf__widest_element(k) > 1 && 2 * strip_side(k) >= STRIP_THREADS;
    return wide && k->layer == 0 && k->n_domain <= SHORT_BODY && k->kept_size >= LARGE ? 2 * STRIP_THREADS : STRIP_THREADS;
}

/* Of narrow elements 32 are half a line of memory; of those of 4 bytes 64 are two lines side by side, which memory delivers faster. So are 64 words of 2 elements. */
int krf__tile_side(const krf__kernel *k) {
    if (k->strip > 0) {
        return strip_side(k) * k->vector;
    }
    if (k->vector > 1) {
        return bytes_of_tiles(k, 128) <= KRF__TILE_MOST_BYTES ? 128 : 32 * k->vector;
    }
    const bool large = k->extents[k->tile] > 32 && k->extents[k->n_kept - 1] > 32;
    return large && krf__widest_element(k) <= 4 && bytes_of_tiles(k, 64) <= KRF__TILE_MOST_BYTES ? 64 : 32;
}

static int loads_of(const krf__kernel *k) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        n += !k->operands[i].store;
    }
    return n;
}

/* 32 bytes of an operand are under way for each; by words, but of four bytes, and with several operands to wait for, 64. */
int krf__tile_threads(const krf__kernel *k) {
    if (k->strip > 0) {
        return strip_threads(k);
    }
    const int side = krf__tile_side(k), widest = krf__widest_element(k);
    if (k->vector > 1) {
        return side * side / k->vector / (loads_of(k) > 1 ? 16 : widest == 4 ? 4 : 8);
    }
    return side * side / (widest > 4 ? 4 : widest == 4 || side == 32 ? 8 : 16);
}

int krf__strip_span(const krf__kernel *k, uint32_t operand) {
    int span = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        span = k->operands[i].rows_of == operand + 1 && k->operands[i].row > span ? k->operands[i].row : span;
    }
    return span;
}

int krf__strip_vector(const krf__kernel *k, const krf__operand *o) { return o->strides[k->n_kept - 1] == 0 ? 1 : k->vector; }

bool krf__strip_by_words(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    return k->strip > 0 && !o->store && !o->counts && krf__strip_vector(k, o) > 1;
}

bool krf__strip_apart(const krf__kernel *k, const krf__operand *o) {
    const int64_t stride = o->strides[k->n_kept - 1];
    return k->vector > 1 && stride != 0 && stride != 1;
}

static bool shares(const krf__kernel *k, uint32_t i, uint32_t operand) { return i == operand || k->operands[i].rows_of == operand + 1; }

/* The word in which element `from` lies, words of v elements being counted from that of element 0 on. */
static int word_of(int from, int v) { return (from < 0 ? from - v + 1 : from) / v; }

int krf__strip_first(const krf__kernel *k, uint32_t operand) {
    const int v = krf__strip_vector(k, &k->operands[operand]);
    int first = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const int word = word_of(k->operands[i].element, v);
        first = shares(k, i, operand) && word < first ? word : first;
    }
    return first;
}

int krf__strip_words(const krf__kernel *k, uint32_t operand) {
    const int v = krf__strip_vector(k, &k->operands[operand]);
    int last = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const int word = word_of(k->operands[i].element + v - 1, v);
        last = shares(k, i, operand) && word > last ? word : last;
    }
    return last - krf__strip_first(k, operand) + 1;
}

int krf__strip_reach(const krf__kernel *k, uint32_t operand, int row, int word, int each) {
    const int v = krf__strip_vector(k, &k->operands[operand]), n = v / each, at = krf__strip_first(k, operand) * each + word;
    int reach = -1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const bool needed = shares(k, i, operand) && word_of(o->element, n) <= at && at <= word_of(o->element + v - 1, n) && o->row <= row && row < o->row + k->strip;
        reach = needed && o->row > reach ? o->row : reach;
    }
    return reach;
}

int krf__tile_layers(const krf__kernel *k) { return k->layer > 0 ? LAYERS : 1; }

int krf__tile_down(const krf__kernel *k) { return k->strip > 0 ? strip_threads(k) / strip_side(k) / krf__tile_layers(k) * k->strip : krf__tile_side(k); }

/* Whether elements lie side by side along a dimension, or the halves of such that are complex. */
static bool lies_along(const krf__operand *o, int dim) { return o->strides[dim] == (o->half ? 2 : 1); }

bool krf__tile_crosses(const krf__kernel *k, const krf__operand *o) {
    return !o->store && !o->counts && lies_along(o, k->tile) && !lies_along(o, k->n_kept - 1) && krf__stride_class(k, o, k->n_kept - 1) >= 2;
}

int krf__tile_pitch(const krf__kernel *k, const krf__operand *o) { return pitch_of(krf__tile_side(k), (int)krf_dtype_size((krf_dtype)o->dtype)); }

int64_t krf__tile_bytes(const krf__kernel *k) { return bytes_of_tiles(k, krf__tile_side(k)); }

int64_t krf__tile_units(const krf__kernel *k) {
    int64_t down = k->extents[k->tile], across = k->extents[k->n_kept - 1];
    return k->kept_size / down / across * ((down + KRF__TILE_ROWS - 1) / KRF__TILE_ROWS) * ((across + KRF__TILE_COLUMNS - 1) / KRF__TILE_COLUMNS);
}
