/* What compilers are told of the CUDA target's kernels: how many blocks of reductions by warps there are to be on a multiprocessor, and how much of the optimizer a kernel is worth. */
#include "codegen/cuda.h"

/* Whether it takes longer to find where elements lie than to load them: several of them, one at a time. */
static bool finds_places(const krf__emitter *e) {
    int loads = 0;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        loads += krf__cuda_in_domain(e, i, KRF__load) && !e->k->operands[i].counts;
    }
    return e->k->vector == 1 && loads > 1;
}

/* Sums of all elements, vectors of halves or bytes: ptxas 13.0 spills with the option (sums of squared differences of bf16 1.02 times as fast without, sums of f16, bf16 and i8 1.01; what finds where the largest element is 0.97,
 * of rows 0.87), and takes as long. What begins anywhere asks of each element whether it is there: it does not spill, and compiles in 143 ms, not 169 (f16), for 1.03 times the time. */
static bool sums_narrow_vectors(const krf__emitter *e) {
    bool narrow = e->k->schedule == KRF__REDUCE_ALL && !e->k->drifts && e->k->n_reductions == 1 && krf__reduction(e, 0)->op == KRF__sum;
    for (uint32_t i = 0; i < e->k->n_operands && narrow; i++) {
        narrow = !krf__cuda_in_domain(e, i, KRF__load) || (krf__cuda_vectored(e, i) && krf_dtype_size((krf_dtype)e->k->operands[i].dtype) <= 2);
    }
    return narrow;
}

/* Vectors of integers of 8 bits of which several results are found, or of 16 bits: ptxas 13.0 spills with the option (least and largest of 64M u8 0.0341 -> 0.0173 ms of an H200, largest of 32M i16 0.0182 -> 0.0167); of 16 bits
 * and three results it does so either way (0.0205 with it, 0.0270 without). */
static bool folds_narrow_integers(const krf__emitter *e) {
    bool narrow = e->k->schedule == KRF__REDUCE_ALL && e->k->vector > 1 && krf__any_order(e->k) && !e->k->drifts;
    size_t size = 2;
    for (uint32_t r = 0; r < e->k->n_reductions && narrow; r++) {
        const krf__op op = (krf__op)krf__reduction(e, r)->op;
        const krf_dtype dtype = (krf_dtype)krf__reduction(e, r)->dtype;
        narrow = (op == KRF__max || op == KRF__min || op == KRF__sum) && !krf__is_half(dtype);
    }
    for (uint32_t i = 0; i < e->k->n_operands && narrow; i++) {
        const size_t bytes = krf__cuda_in_domain(e, i, KRF__load) ? krf_dtype_size((krf_dtype)e->k->operands[i].dtype) : size;
        narrow = bytes <= 2;
        size = bytes < size ? bytes : size;
    }
    return narrow && (size == 2 ? e->k->n_reductions <= 2 : e->k->n_reductions > 1);
}

/* Whether threads store elements and load many at once. */
static bool streams(const krf__emitter *e) { return e->k->team > 1 && krf__stores_elements(e->k) && krf__cuda_quads(e) > 8; }

/* Once the loops are written out, most of the compile time is an optimizer that finds nothing to do, but for long chains of dependent operations to mix, and places to share. What stores elements as well spills with the
 * option, or waits for all loads of a turn before the first store (value, mean and maximum of 64M 0.71 of a copy's speed, without it 0.99; of 32M i32 0.41 and 0.92, of 4M 0.62 and 0.76). */
static bool reduces_straight(const krf__emitter *e) { return !(krf__costly_domain(e->k) || finds_places(e) || sums_narrow_vectors(e) || folds_narrow_integers(e) || krf__stores_elements(e->k)); }

/* Whether rows take exponentials and the like of each element. (Others, as variances, spill with the option.) */
static bool has_costly_rounds(const krf__kernel *k) {
    bool costly = false;
    for (uint32_t r = 0; r < krf__kernel_rounds(k); r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        costly |= krf__costly_domain(&round);
    }
    return costly;
}

static bool draws(const krf__kernel *k) {
    bool any = false;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        any |= k->instrs[i].op == KRF__philox;
    }
    return any;
}

/* Whether a kernel is as fast with the option as without, or faster, on an H200: rows of f32 that a cluster has in registers 1.0 to 1.019, random numbers 1.006 to 1.029.
 * What else was measured is slower: maps of functions of f64 0.73 to 0.88, stencils 0.95, transposes 0.82, columns 0.75 to 0.98, scans 0.93 to 0.97, rows side by side 0.8 to 1.0, other rows 0.72 to 0.99. */
static bool by_short_optimizer(const krf__emitter *e) {
    switch (e->k->schedule) {
    case KRF__REDUCE_ALL: return e->k->lines == 1 && reduces_straight(e);
    case KRF__ROW: return e->k->cluster > 1 && !krf__holds_rows(e->k) && krf__narrowest(e->k) == 4 && has_costly_rounds(e->k);
    case KRF__MAP: return draws(e->k);
    default: return false;
    }
}

static void option(krf__emitter *e, krf__str *out) { krf__str_put(out, by_short_optimizer(e) ? "// NVRTC option: --Ofast-compile=min\n" : ""); }

/* Whether rows are of vectors of halves of several operands: in 64 registers ptxas 13.0 spills some of these (dot products of rows 1.04 times as fast with 72; of all elements 0.97 to 0.99, where blocks are as many as the grid
 * has). */
static bool has_many_halves(const krf__emitter *e) {
    int loads = 0;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        loads += krf__cuda_in_domain(e, i, KRF__load) && krf__is_half((krf_dtype)e->k->operands[i].dtype) && krf__cuda_vectored(e, i);
    }
    return e->k->schedule == KRF__REDUCE_ROW && loads > 1;
}

/* Whether elements that are stored as well need more than 64 registers. */
static bool stores_much(const krf__kernel *k) {
    enum { ONE = 4, MOST_BYTES = 8 };
    size_t bytes = 0;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const size_t size = k->instrs[i].op == KRF__store ? krf_dtype_size((krf_dtype)k->instrs[i].dtype) : 0;
        bytes += size > ONE ? 2 * size : size;
    }
    return bytes > MOST_BYTES;
}

/* As many blocks as the grid has for a multiprocessor; half of them, where accumulators need the registers. Teams are told how many registers they may have: left alone ptxas 13.0
 * takes 64 and spills. */
static void bounds(krf__emitter *e, krf__str *out) {
    size_t bytes = 0;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        bytes += krf__cuda_accumulator_bytes(e, r);
    }
    int words = 8; /* of loads, where each has several */
    for (uint32_t i = 0; i < e->k->n_operands && e->k->vector == 1; i++) {
        words += krf__cuda_in_domain(e, i, KRF__load) ? krf__cuda_quads(e) * (int)((krf_dtype_size((krf_dtype)e->k->operands[i].dtype) + 3) / 4) : 0;
    }
    if (e->k->relay) {
        krf__str_printf(out, "1024, %d", krf__relay_blocks(e->k));
    } else if (e->k->team > 1) {
        krf__str_put(out, streams(e) || stores_much(e->k) ? "256, 2" : bytes <= 8 ? "256, 4" : bytes <= 24 ? "256, 3" : "256, 2");
    } else if (krf__costly_domain(e->k) || (krf__any_order(e->k) && !krf__sums_narrow(e, 0))) {
        krf__str_put(out, krf__costly_domain(e->k) ? "256" : "256, 4"); /* bytes: the largest of 128M 0.0374 -> 0.0345 ms, as ptxas 13.0 loads by and by where it is told nothing */
    } else {
        krf__str_put(out, has_many_halves(e) ? "256, 3" : bytes <= 8 && words <= 48 && !stores_much(e->k) ? "256, 4" : "256, 2");
    }
}

/* Told that 40 registers are not too many ptxas 13.0 loads a row at once; left alone by and by (sums of rows of 1,001 bf16 0.0362 and 0.0317 ms), but for two vectors, of bytes that drift (means of 1,000 u8 0.0320 and 0.0350). */
static void rows_bounds(krf__emitter *e, krf__str *out) {
    const bool alone = !e->k->once || (e->k->drifts && e->k->vector == 16);
    krf__str_put(out, alone ? "256" : krf__accumulator_bytes(e->k) <= 8 ? "256, 6" : "256, 4");
}

const krf__hole krf__cuda_option_holes[] = {{"REDUCE_BOUNDS", bounds}, {"ROWS_BOUNDS", rows_bounds}, {"OPTION", option}, {NULL, NULL}};
