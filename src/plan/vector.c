/* How many elements threads of a GPU move at once, and which operands lie in memory by such vectors. */
#include "plan/vector.h"

#define ROW_OF_BYTES 8
#define MOST_OF_PAIRS 40 /* bytes of accumulators of two columns of halves */
#define MOST_LOOSE 2 /* loads of a map that begin anywhere */
#define CACHED_BYTES 64 /* of a thread, of an operand that comes from the caches */
#define ENOUGH_BYTES 32 /* of a thread, that go to and from memory: longer vectors of what comes from the caches lie further apart than that is worth (rotary embeddings 0.068 and 0.070 ms) */
#define MOST_WRITTEN 512 /* statements */
#define MOST_IN_VECTORS 32 /* instructions of a reduction by columns: of longer ones, threads hold one column */

bool krf__in_vectors(const krf__kernel *k, const krf__operand *o, int fast, int v) {
    bool whole = o->offset % v == 0;
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        whole &= d == fast || o->strides[d] % v == 0;
    }
    return whole;
}

/* Whether all do. */
static bool has_vectors(const krf__kernel *k, int fast, bool domain_only, int v) {
    bool whole = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        whole &= o->strides[fast] != 1 || (domain_only && o->store) || o->counts || o->gathered || krf__in_vectors(k, o, fast, v);
    }
    return whole;
}

/* Elements of a 16-byte access along dimension `fast` when every operand there is contiguous or constant, and starts on a border in every other dimension. Reductions of narrow elements,
 * one of which at a time is little, else move 8 bytes, or 4; those of columns of bytes gain nothing by it. Maps move less at once, too, where rows have no whole vectors, but not where views begin elsewhere: there they would lose. */
int krf__vector_length(const krf__kernel *k, int fast, bool domain_only, bool unaligned, const krf__limits *limits) {
    int bytes = 1;
    bool gathers = false, streams = false;
    if (limits->vectors == 0) {
        return 1;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        gathers |= o->gathered;
        if ((domain_only && o->store) || o->counts || o->gathered) {
            continue;
        }
        streams |= o->strides[fast] == 1;
        if (krf__stride_class(k, o, fast) >= 2) {
            return 1;
        }
        int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        bytes = o->strides[fast] == 1 && size > bytes ? size : bytes;
    }
    if ((gathers && !streams) || (streams && unaligned)) {
        return 1; /* of gathers alone: neighbouring threads read neighbouring places more often than not */
    }
    int v = 16 / bytes;
    const bool rows = k->n_reduced == 0 && k->n_kept > 1 && k->extents[fast] % v != 0 && bytes <= 2;
    const bool shorter = rows || (k->n_reduced > 0 && k->n_rounds == 0 && (fast < k->n_kept ? bytes == 2 : bytes <= 2));
    while (shorter && v * bytes > (rows ? 4 * bytes : 4) && (!has_vectors(k, fast, domain_only, v) || (rows && k->extents[fast] % v != 0))) {
        v /= 2;
    }
    return has_vectors(k, fast, domain_only, v) ? v : 1;
}

/* Elements of a 16-byte access of an operand, or of a thread's vector if that is shorter. */
static int own_vector(const krf__kernel *k, const krf__operand *o) {
    const int most = 16 / (int)krf_dtype_size((krf_dtype)o->dtype);
    return k->vector < most ? k->vector : most;
}

/* Whether an operand is the same for many rows: it comes from the caches. */
static bool is_cached(const krf__kernel *k, const krf__operand *o) {
    bool same = false;
    for (int d = 0; d < k->n_kept - 1; d++) {
        same |= o->strides[d] == 0 && k->extents[d] > 1;
    }
    return same && !o->store;
}

/* What comes from the caches may take several accesses: what comes from memory, and goes there, decides then (bf16 with an f32 bias, of which a thread had eight bytes). Long bodies are not written out that often. */
int krf__cached_vector(const krf__kernel *k) {
    const int fast = k->n_kept - 1;
    int bytes = 1, most = 1, moved = 0;
    bool fits = k->n_kept > 1 && k->vector > 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        fits &= !o->gathered && !o->half && krf__stride_class(k, o, fast) <= 1;
        if (!o->counts && o->strides[fast] == 1) {
            int *widest = is_cached(k, o) ? &most : &bytes;
            *widest = size > *widest ? size : *widest;
            moved += is_cached(k, o) ? 0 : size * k->vector;
        }
    }
    fits &= moved < ENOUGH_BYTES;
    int v = fits ? 16 / bytes : 1;
    while (v > k->vector && (v * most > CACHED_BYTES || (uint32_t)v * k->n_domain > MOST_WRITTEN || k->extents[fast] % v != 0)) {
        v /= 2;
    }
    for (uint32_t i = 0; i < k->n_operands && v > k->vector; i++) {
        const krf__operand *o = &k->operands[i];
        const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        fits &= o->strides[fast] != 1 || o->counts || krf__in_vectors(k, o, fast, v * size > 16 ? 16 / size : v);
    }
    return fits && v > k->vector ? v : k->vector;
}

/* A store of 16 bytes is worth four loads of 4 (views one element further on 0.87 to 0.96 of the copy bandwidth on an H200), but not those of a stencil. */
int krf__loose_vector(const krf__kernel *k) {
    const int fast = k->n_kept - 1;
    int bytes = 1, loose = 0;
    bool fits = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const int size = (int)krf_dtype_size((krf_dtype)o->dtype);
        fits &= !o->gathered && (o->store ? o->strides[fast] == 1 : krf__stride_class(k, o, fast) <= 1);
        bytes = !o->counts && o->strides[fast] == 1 && size > bytes ? size : bytes;
    }
    for (uint32_t i = 0; i < k->n_operands && fits; i++) {
        const krf__operand *o = &k->operands[i];
        const bool whole = o->strides[fast] != 1 || o->counts || krf__in_vectors(k, o, fast, 16 / bytes);
        fits &= whole || !o->store;
        loose += !whole;
    }
    return fits && loose <= MOST_LOOSE && (k->n_kept == 1 || k->extents[fast] % (16 / bytes) == 0) ? 16 / bytes : 1;
}

/* Two elements of a row share what its place takes to compute, which is most of the work; of wide ones looked up at several places as much would be under way as registers hold (joined rows of f32 0.141 and 0.147 ms). */
int krf__pair_vector(const krf__kernel *k) {
    const int fast = k->n_kept - 1;
    const int looked_up = krf__fetches(k);
    int bytes = 0;
    bool fits = k->extents[fast] % 2 == 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const bool along = o->strides[fast] == 1 && !o->counts && !o->gathered;
        const int size = along ? (int)krf_dtype_size((krf_dtype)o->dtype) : 0;
        bytes = size > bytes ? size : bytes;
        fits &= krf__stride_class(k, o, fast) <= 1 && (along || !o->store) && (!along || krf__in_vectors(k, o, fast, 2));
    }
    return fits && looked_up > 0 && bytes <= (looked_up > 1 ? 2 : 4) ? 2 : 1;
}

/* ---- columns ---- */

/* Whether all reductions take bytes as they are loaded, and add them, or their squares, up, or find the largest or smallest. */
static bool takes_bytes(const krf__kernel *k) {
    bool all = k->n_reductions > 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        const krf__instr *loads[2];
        const krf__bytes_fold fold = krf__bytes_fold_of(k, r, loads);
        all &= fold == KRF__BYTES_SUM || fold == KRF__BYTES_PRODUCTS || fold == KRF__BYTES_TOP;
    }
    return all;
}

/* Whether vectors may begin anywhere, taken out of two: those of bytes (the largest of each of 1,000 columns of u8 0.122 -> 0.037 ms), others gain nothing. Of columns that do not come in whole ones the last thread's begin in those before. */
static bool may_begin_anywhere(const krf__kernel *k, int fast, const krf__limits *limits) {
    bool may = limits->loose > 0 && limits->vectors != 0 && k->n_kept == 1 && k->extents[fast] >= 16 && takes_bytes(k);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        may &= k->operands[i].store || (!k->operands[i].gathered && !k->operands[i].counts && k->operands[i].strides[fast] == 1);
    }
    return may;
}

/* Whether all that is loaded takes two bytes: threads then have two columns, whatever they add up of them, as copies to shared memory (codegen/cuda_column_ahead.c) are of four bytes at least. */
static bool loads_halves(const krf__kernel *k) {
    bool all = true;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        all &= !krf__loads(k, i) || krf_dtype_size((krf_dtype)k->operands[i].dtype) == 2;
    }
    return all;
}

/* Whether columns are eight of bytes, a word of a thread in each row (large arrays have two rows at once, pass/widen.c): a reduction for each (plan/spread.c) would spill (the largest of [16M, 8] u8 1.16 -> 0.048 ms of an H200, their means 0.083 -> 0.047). */
static bool takes_rows_of_bytes(const krf__kernel *k, int fast) { return k->extents[fast] == ROW_OF_BYTES && takes_bytes(k) && has_vectors(k, fast, true, ROW_OF_BYTES); }

/* It has accumulators of several lanes of each; or, where any order will do, of each alone. */
int krf__column_vector(const krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const int fast = k->n_kept - 1;
    const size_t most = krf__any_order(k) ? 64 : 16;
    const bool long_body = krf__stores_elements(k) || k->n_instrs > MOST_IN_VECTORS;
    int v = long_body ? 1 : krf__vector_length(k, fast, true, unaligned, limits);
    v = k->extents[fast] % v != 0 ? 1 : v;
    v = v == 1 && !long_body && !unaligned && limits->vectors != 0 && takes_rows_of_bytes(k, fast) ? ROW_OF_BYTES : v;
    v = v == 1 && !long_body && may_begin_anywhere(k, fast, limits) ? 16 : v;
    const bool pairs = v > 1 && loads_halves(k) && 2 * krf__accumulator_bytes(k) <= MOST_OF_PAIRS;
    while (v > 1 && (size_t)v * krf__accumulator_bytes(k) > most) {
        v /= 2;
    }
    return v == 1 && pairs ? 2 : v;
}

/* ---- rows that begin anywhere ---- */

static bool streams(const krf__operand *o, int fast) { return o->strides[fast] == 1 && !o->counts; }

bool krf__goes_with(const krf__kernel *k, const krf__operand *a, const krf__operand *b, int v) {
    bool same = (a->offset - b->offset) % v == 0;
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        same &= (a->strides[d] - b->strides[d]) % v == 0;
    }
    return same;
}

bool krf__commutes(const krf__kernel *k) {
    bool all = true;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        all &= !krf__op_is_fold((krf__op)k->instrs[i].op);
    }
    return all;
}

bool krf__takes_anything(const krf__kernel *k) {
    bool all = true;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        const krf__op op = (krf__op)k->instrs[i].op;
        all &= op != KRF__call && op != KRF__fold_map && !krf__op_is_fold(op);
    }
    return all;
}

/* Bytes of which something is computed take longer than their loads. */
int krf__drifting_vector(const krf__kernel *k, bool unaligned, const krf__limits *limits) {
    const int fast = k->n_kept;
    const krf__operand *first = NULL;
    bool may = k->n_reduced == 1 && k->reduced_size > KRF__LANES && limits->vectors != 0 && krf__commutes(k) && krf__takes_anything(k) && !krf__stores_elements(k);
    int bytes = 1, n = 0, v;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const int size = streams(o, fast) ? (int)krf_dtype_size((krf_dtype)o->dtype) : 1;
        may &= !o->gathered && (o->counts || krf__stride_class(k, o, fast) <= 1);
        bytes = size > bytes ? size : bytes;
        first = first == NULL && streams(o, fast) ? o : first;
        n += streams(o, fast);
    }
    v = 16 / bytes;
    for (uint32_t i = 0; i < k->n_operands && first != NULL; i++) {
        may &= !streams(&k->operands[i], fast) || krf__goes_with(k, &k->operands[i], first, v);
    }
    return may && first != NULL && v > 1 && (uint32_t)bytes <= limits->loose && (bytes > 1 || takes_bytes(k) || (k->schedule == KRF__REDUCE_ROW && k->chunks == 1 && krf__place_of(k).found)) && (!unaligned || n == 1) ? v : 1;
}

/* ---- */

/* Whether numbers are drawn: those of neighbouring places come from one block of words. */
static bool draws(const krf__kernel *k) {
    bool found = false;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        found |= k->instrs[i].op == KRF__philox;
    }
    return found;
}

/* Vectors of places: only drawing gains by what their text then says. */
static bool starts_vectors(const krf__kernel *k, const krf__operand *o, int fast) {
    bool whole = o->offset % k->vector == 0 && draws(k);
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        whole &= d == fast || o->strides[d] % k->vector == 0;
    }
    return whole;
}

void krf__mark_vectors(krf__kernel *k, int fast, bool unaligned) {
    const bool columns = k->schedule == KRF__REDUCE_COL;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        krf__operand *o = &k->operands[i];
        const bool vectors = k->strip > 0 ? o->store : o->strides[fast] == 1 || (k->schedule == KRF__TILE && krf__tile_crosses(k, o));
        o->aligned = k->vector > 1 && vectors && !o->gathered && (!o->counts || starts_vectors(k, o, fast));
        o->loose = (k->schedule == KRF__MAP || columns) && o->aligned && !o->counts && (!krf__in_vectors(k, o, fast, k->schedule == KRF__MAP ? own_vector(k, o) : k->vector) || (columns && (unaligned || k->extents[fast] % k->vector != 0)));
        o->turned = false; /* plan/flat.c says what is */
        o->loose |= k->words && o->aligned && !o->store && k->kept_size > 1 && krf__same_for_rows(k, o); /* of one row all begins alike (plan/row.c) */
    }
}
