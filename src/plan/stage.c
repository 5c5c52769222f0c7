/* On a GPU: short rows that pass through shared memory (krf__kernel.staged), and those of bytes that are folded four at once. */
#include "plan/schedule.h"
#include "plan/vector.h"

#define STAGED_FROM 16 /* bytes of a row: of shorter ones threads have whole rows; */
#define STAGED_MOST 448 /* longer ones are as fast in vectors of four bytes, where what rows share is loaded too (rows of 250 bf16 by weights 0.0427 and 0.0479 ms) */

#define STAGED_ALONE 33 /* elements of rows of several rounds, of which one operand is loaded; */
#define STAGED_BESIDE 31 /* several; */
#define SUMS_OF_PAIRS 64 /* that are only reduced, of two; */
#define SUMS_OF_MORE 24
#define STAGED_ROWS 64 /* threads of a block of them */

/* Bytes that are loaded for an element of the domain; what all results read comes from caches. */
size_t krf__loaded_bytes(const krf__kernel *k) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        bytes += krf__along_rows(k, i) && !(k->kept_size > 1 && krf__same_for_rows(k, o)) ? krf_dtype_size((krf_dtype)o->dtype) : 0;
    }
    return bytes;
}

/* Whether vectors of four bytes or fewer are all that threads would load at once, of one operand. Of eight, and of two operands, memory delivers as much, but where bytes are folded by four (rows of 188 bf16
 * 0.92 and 0.74 of an H200's copy bandwidth, of 90 0.56 and 0.82). */
static bool short_vectors(const krf__kernel *k) {
    const int64_t bytes = (int64_t)krf__loaded_bytes(k), row = k->reduced_size * bytes;
    int loads = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        loads += krf__along_rows(k, i) && !krf__same_for_rows(k, &k->operands[i]);
    }
    const bool narrow = k->vector * bytes <= 4 ? row > STAGED_FROM && row <= STAGED_MOST : k->fours && k->vector == 8 && row > 2 * STAGED_FROM;
    return k->schedule == KRF__REDUCE_SHORT && k->vector > 1 && loads == 1 && narrow;
}

/* Whether an operand's rows of the two dimensions follow one another. */
static bool rows_follow(const krf__kernel *k, const krf__operand *o) {
    return k->n_kept == 1 && k->n_reduced == 1 && k->reduced_size > 1 && o->strides[0] == k->reduced_size && o->strides[1] == 1 && !o->counts && !o->gathered && !o->half && o->inner == 0;
}

/* The operands that are loaded along rows, what all rows share among them. */
static int loads_along(const krf__kernel *k) {
    int loads = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        loads += !o->store && !o->counts && o->inner == 0 && o->strides[k->n_kept] != 0;
    }
    return loads;
}

/* Whether rows have so few vectors, two or an odd number, that threads which have some each leave gaps between what they read at once, or store (x / sum(x) of rows of 12 f32 0.0592 -> 0.0349 ms of an H200, of 8 0.0466 -> 0.0350,
 * of 44 0.0437 -> 0.0349, of 16 bf16 0.0434 -> 0.0341, of 6 f64 0.0536 -> 0.0347): up to five, of f32 eleven where nothing else is loaded along rows; of halves two, or then three. Of more, threads that share a row leave few. */
static bool gaps(const krf__kernel *k) {
    const int64_t vectors = k->schedule == KRF__ROW_SHORT && k->vector > 1 ? k->reduced_size / k->vector : 0;
    const bool alone = vectors > 0 && loads_along(k) == 1, odd = vectors > 2 && vectors % 2 == 1;
    const int most = k->vector == 8 ? (alone ? 3 : 2) : k->vector == 4 && alone && vectors != 7 ? 11 : 5;
    return (vectors == 2 || odd) && vectors <= most && k->vector <= 8;
}

/* Whether rows whose length is text are so short that blocks stage all that there is of them: others only what leaves room for as many elements as blocks have that know no length (x / sum(x) of rows of 7 f64 0.1041 -> 0.0350 ms, of 21
 * 0.0559 -> 0.0369, of 101 0.0362 and 0.0388; sum(a * b) of rows of 9 f64 0.0423 -> 0.0183, of three operands of 21 0.0511 -> 0.0338, of 31 0.0366 and 0.0418; of four of 8 bytes as fast either way). */
static bool stages_all(const krf__kernel *k, const krf__limits *limits) {
    const int loads = loads_along(k);
    if (k->reduced_size == 0 || k->n_reduced != 1 || k->reduced_size > limits->literal) {
        return false;
    }
    if (k->schedule == KRF__ROW_SHORT) {
        return k->reduced_size <= (loads == 1 ? STAGED_ALONE : STAGED_BESIDE);
    }
    const bool many = k->schedule == KRF__REDUCE_SHORT && k->kept_size >= limits->literal_from / k->reduced_size, wide = loads > 3 && krf__narrowest(k) == 8;
    return many && !wide && k->reduced_size <= (loads <= 2 ? SUMS_OF_PAIRS : SUMS_OF_MORE);
}

/* What an operand's elements take, at most: all that there is, of what is only reduced a row for each thread of a block, or for two of them. */
static size_t staged_bytes(const krf__kernel *k, size_t size, bool all) {
    const size_t rows = k->schedule == KRF__ROW_SHORT ? 0 : STAGED_ROWS / (k->reduced_size > 32 ? 2u : 1u) * (size_t)k->reduced_size * size;
    const size_t known = rows > 2 * KRF__STAGED_LITERAL_BYTES ? rows : 2 * KRF__STAGED_LITERAL_BYTES, any = KRF__STAGED_ELEMENTS * size;
    return all && known < any ? known : any;
}

/* Short rows that do not come in vectors: threads would read memory with gaps. A block fetches its rows as one stretch of memory instead, and stores elements likewise. */
void krf__stage_rows(krf__kernel *k, const krf__limits *limits) {
    const bool may = limits->vectors != 0 && (k->schedule == KRF__REDUCE_SHORT || k->schedule == KRF__ROW_SHORT) && (k->vector == 1 || k->parted || short_vectors(k) || gaps(k));
    const bool all = may && stages_all(k, limits);
    size_t bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        o->staged = may && rows_follow(k, o);
        bytes += o->staged ? staged_bytes(k, krf_dtype_size((krf_dtype)o->dtype), all) : 0;
    }
    k->staged = bytes > 0 && bytes <= KRF__STAGED_MOST_BYTES;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].staged &= k->staged;
    }
}

/* On a GPU: whether bytes that lie along rows are folded, and nothing else. */
bool krf__folds_rows_of_bytes(const krf__kernel *k, const krf__limits *limits) {
    bool all = limits->many_threads && k->schedule == KRF__REDUCE_SHORT && krf__folds_bytes(k);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        all &= !krf__loads(k, i) || k->operands[i].strides[k->n_kept + k->n_reduced - 1] == 1;
    }
    return all;
}

/* Whether short rows of bytes, of one operand, that do not come in words of four are staged and taken by such all the same. */
bool krf__parts_rows(const krf__kernel *k, const krf__limits *limits) {
    bool all = limits->vectors != 0 && k->vector < 4 && k->reduced_size > 2 * STAGED_FROM && krf__folds_rows_of_bytes(k, limits);
    int loads = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        loads += krf__loads(k, i);
        all &= !krf__loads(k, i) || rows_follow(k, &k->operands[i]);
    }
    return all && loads == 1;
}
