/* Unit tests of the block interpreter. Kernels are built by hand or at random and run next to a naive implementation
 * (naive_kernel.h). Every kernel runs in one piece, cut at odd places, and backwards; all must give the same bytes.
 * test_loops compares the tables of all instruction sets. */
#include "backend/cpu/interpret.h"
#include "backend/cpu/loops.h"
#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shard.h"
#include "tests/unit/naive_kernel.h"

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static bool is_nan(const char *p, int dtype) {
    uint16_t half = 0;
    if (size_of(dtype) == sizeof half) {
        memcpy(&half, p, sizeof half);
    }
    switch (dtype) {
    case KRF_F16: return (half & 0x7fff) > 0x7c00;
    case KRF_BF16: return (half & 0x7fff) > 0x7f80;
    case KRF_F32:
    case KRF_F64: return isnan(read_value(p, dtype).f);
    default: return false;
    }
}

/* The same bits, or both NaN. */
static void assert_same(const void *a, const void *b, int dtype, size_t bytes, const char *name) {
    for (size_t i = 0; i < bytes; i += (size_t)size_of(dtype)) {
        const char *x = (const char *)a + i, *y = (const char *)b + i;
        if (!(is_nan(x, dtype) && is_nan(y, dtype)) && memcmp(x, y, (size_t)size_of(dtype)) != 0) {
            fail_msg("%s: byte %zu differs", name, i);
        }
    }
}

/* A copy of every operand's memory; shared memory stays shared. */
static void copy_memory(const builder *b, char **memory, void **pointers) {
    for (uint32_t o = 0; o < b->k.n_operands; o++) {
        if (b->shared[o] >= 0) {
            memory[o] = memory[b->shared[o]];
        } else {
            memory[o] = malloc(b->bytes[o]);
            memcpy(memory[o], b->memory[o], b->bytes[o]);
        }
        pointers[o] = memory[o] + ((char *)b->pointers[o] - b->memory[o]);
    }
}

static void free_memory(const builder *b, char **memory) {
    for (uint32_t o = 0; o < b->k.n_operands; o++) {
        if (b->shared[o] < 0) {
            free(memory[o]);
        }
    }
}

/* Runs [0, n) in pieces of at most `piece` units, from the end when backwards. */
static void run_pieces(builder *b, bool last_part, int64_t n, int64_t piece, bool backwards, void *const *pointers,
                       void *scratch) {
    for (int64_t done = 0; done < n;) {
        int64_t left = n - done, take = piece > left ? left : piece, lo = backwards ? left - take : done;
        krf_status status =
            (last_part ? krf__interpret_finish : krf__interpret)(&b->k, pointers, b->scalars, scratch, lo, lo + take);
        assert_int_equal(status, KRF_OK);
        done += take;
    }
}

static void check(builder *b) {
    static const int64_t pieces[] = {INT64_MAX, 1000, 37, 1};
    static int64_t kernels_so_far;
    if (!in_shard(kernels_so_far++)) {
        finish(b);
        return;
    }
    char *expected[MAX_OPERANDS], *got[MAX_OPERANDS];
    void *expected_pointers[MAX_OPERANDS], *got_pointers[MAX_OPERANDS];
    if (b->k.schedule == KRF__MAP) {
        b->k.n_domain = b->k.n_instrs;
    }
    copy_memory(b, expected, expected_pointers);
    naive_run(b, b->pointers, expected_pointers);
    for (size_t p = 0; p < 8; p++) {
        const int64_t units = krf__interpret_units(&b->k);
        if (p >= 6 && units > 3000) {
            continue;
        }
        copy_memory(b, got, got_pointers);
        const size_t slots = (size_t)(b->k.kept_size * b->k.chunks) * b->k.n_reductions;
        uint64_t *scratch = malloc((slots + 1) * 8);
        run_pieces(b, false, units, pieces[p / 2], p % 2, got_pointers, b->k.chunks > 1 ? scratch : NULL);
        if (b->k.chunks > 1) {
            run_pieces(b, true, b->k.kept_size, pieces[p / 2], p % 2, got_pointers, scratch);
        }
        for (uint32_t o = 0; o < b->k.n_operands; o++) {
            assert_same(expected[o], got[o], b->operands[o].dtype, b->bytes[o], "kernel");
        }
        free(scratch);
        free_memory(b, got);
    }
    free_memory(b, expected);
    finish(b);
}

#define S(...) ((const int64_t[]){__VA_ARGS__})

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static void test_map(void **state) {
    static const int64_t sizes[] = {0, 1, 2, 255, 256, 257, 511, 512, 513, 5000, 40000};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int which = 0; which < NAIVE_NUMBERS; which++) {
            const int dtype = naive_dtypes[which];
            builder *b = begin(KRF__MAP, 1, 0, S(sizes[s]));
            uint32_t x = load(b, dtype, S(1)), y = load(b, dtype, S(1)), z = load(b, dtype, S(0));
            uint32_t t = op(b, KRF__add, op(b, KRF__multiply, x, number(b, dtype, 3)), op(b, KRF__subtract, y, z));
            uint32_t u = op(b, KRF__maximum, op(b, KRF__add, t, scalar(b, dtype, 7)), x);
            store(b, u, S(1));
            store(b, t, S(-2));
            store(b, u, S(1));
            store(b, op(b, KRF__less, x, y), S(1));
            store(b, op(b, KRF__negative, z, z), S(3));
            store(b, x, S(2));
            check(b);
        }
    }
}

static void test_map_strided(void **state) {
    (void)state;
    static const int64_t shapes[][3] = {{5, 7, 11}, {3, 300, 2}, {2, 3, 700}, {1, 1, 1}, {600, 1, 3}, {4, 0, 5}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int64_t *e = shapes[s], f = e[1], g = e[2];
        builder *b = begin(KRF__MAP, 3, 0, e);
        uint32_t c_order = load(b, KRF_F64, S(f * g, g, 1)), transposed = load(b, KRF_F64, S(1, e[0], e[0] * f));
        uint32_t flipped = load(b, KRF_F64, S(-f * g, g, -1)), row = load(b, KRF_F64, S(0, 0, 1));
        uint32_t column = load(b, KRF_F64, S(1, 0, 0)), padded = load(b, KRF_F64, S(f * (g + 3), g + 3, 1));
        uint32_t t = op(b, KRF__add, op(b, KRF__multiply, c_order, row), op(b, KRF__subtract, transposed, flipped));
        t = where(b, op(b, KRF__less, padded, column), t, row);
        store(b, t, S(f * g, g, 1));
        store(b, cast(b, t, KRF_I32), S(1, e[0], -e[0] * f));
        store(b, cast(b, t, KRF_BOOL), S(f * (g + 1), g + 1, 1));
        store(b, cast(b, cast(b, t, KRF_F32), KRF_I64), S(2 * f * g, -2 * g, 2));
        check(b);
    }
}

static void test_casts(void **state) {
    (void)state;
    for (int pair = 0; pair < NAIVE_DTYPES * NAIVE_DTYPES; pair++) {
        const int from = naive_dtypes[pair / NAIVE_DTYPES], to = naive_dtypes[pair % NAIVE_DTYPES];
        builder *b = begin(KRF__MAP, 1, 0, S(777));
        uint32_t x = load(b, from, S(1));
        if (from == KRF_F64) {
            double *d = b->pointers[0];
            const double odd[] = {NAN,          INFINITY,      -INFINITY, 1e300,  -1e300,
                                  2147483647.5, -2147483648.5, 0x1p63,    -0x1p63};
            memcpy(d + 100, odd, sizeof odd);
            if (to == KRF_F32) { /* a NaN's payload is not promised */
                d[100] = 0;
            }
        }
        store(b, cast(b, x, to), S(1));
        check(b);
    }
}

/* x += y; x, y = y, x; x[i] stored while a later instruction loads x; broadcast operands; rank 0. */
static void test_in_place(void **state) {
    (void)state;
    for (int stride = -1; stride <= 2; stride++) {
        const int64_t n = stride == 0 ? 1 : 1000;
        builder *b = begin(KRF__MAP, 1, 0, S(n));
        uint32_t x = load(b, KRF_F32, S(stride)), y = load(b, KRF_F32, S(stride));
        store_shared(b, op(b, KRF__add, x, y), S(stride), 0);
        check(b);

        b = begin(KRF__MAP, 1, 0, S(n));
        x = load(b, KRF_F64, S(stride));
        uint32_t y_operand = operand(b, KRF_F64, false, S(stride), -1);
        y = load_from(b, y_operand);
        store_shared(b, y, S(stride), 0);
        uint32_t again = load_from(b, 0); /* the old x */
        store_shared(b, again, S(stride), (int)y_operand);
        uint32_t late = load_from(b, y_operand);
        store(b, op(b, KRF__multiply, late, x), S(1));
        check(b);
    }
}

static void test_long_kernel(void **state) {
    (void)state;
    builder *b = begin(KRF__MAP, 1, 0, S(600));
    uint32_t t[1000];
    for (int i = 0; i < 1000; i++) { /* all alive until the end */
        t[i] = i < 8 ? load(b, KRF_F64, S(i % 3)) : op(b, KRF__subtract, t[i - 1], t[i / 2]);
    }
    uint32_t sum = t[0];
    for (int i = 1; i < 1000; i++) {
        sum = op(b, KRF__add, sum, op(b, KRF__minimum, t[i], number(b, KRF_F64, i)));
    }
    store(b, sum, S(1));
    check(b);
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

static void test_reduce_all(void **state) {
    static const int64_t sizes[] = {0, 1, 2, 31, 33, 255, 256, 257, 300, 1024, 1025, 5000, 300 * 1024 + 17};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int which = 0; which < NAIVE_NUMBERS; which++) {
            const int dtype = naive_dtypes[which];
            builder *b = begin(KRF__REDUCE_ALL, 1, 1, S(1, sizes[s]));
            uint32_t x = load(b, dtype, S(0, 1)), y = load(b, dtype, S(0, -2)), one = number(b, dtype, 1);
            uint32_t d = op(b, KRF__subtract, x, y), square = op(b, KRF__multiply, d, d);
            uint32_t test = op(b, KRF__less, x, y);
            uint32_t shifted = op(b, KRF__add, op(b, KRF__multiply, x, number(b, dtype, 0)), one);
            end_domain(b);
            uint32_t sum = reduce(b, KRF__sum, square), product = reduce(b, KRF__prod, shifted);
            uint32_t any = reduce(b, KRF__any, test), all = reduce(b, KRF__all, test);
            uint32_t ones = reduce(b, KRF__sum, one);
            uint32_t largest = sizes[s] > 0 ? reduce(b, KRF__max, x) : sum,
                     least = sizes[s] > 0 ? reduce(b, KRF__min, y) : sum;
            uint32_t t = op(b, KRF__multiply, op(b, KRF__add, sum, load(b, dtype, S(0, 0))), one);
            store(b, t, S(0, 0));
            store(b, product, S(0, 0));
            store(b, any, S(1, 0));
            store(b, all, S(0, 0));
            store(b, op(b, KRF__add, ones, largest), S(0, 0));
            store(b, least, S(0, 0));
            check(b);
        }
    }
}

static void test_reduce_row(void **state) {
    static const int64_t shapes[][2] = {{1, 1},   {3, 2},    {700, 3}, {600, 32}, {300, 33},
                                        {5, 300}, {4, 2500}, {0, 5},   {9, 0}};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int64_t n = shapes[s][1];
        for (int which = 1; which <= 2; which++) {
            const int dtype = naive_dtypes[which];
            builder *b = begin(KRF__REDUCE_ROW, 1, 1, shapes[s]);
            uint32_t x = load(b, dtype, S(n, 1)), mean = load(b, dtype, S(-3, 0)), weight = load(b, dtype, S(0, 2));
            uint32_t shift = op(b, KRF__add, mean, scalar(b, dtype, 2));
            uint32_t t = op(b, KRF__multiply, op(b, KRF__subtract, x, shift), weight);
            store(b, t, S(n, 1));
            end_domain(b);
            uint32_t sum = reduce(b, KRF__sum, t), other = reduce(b, KRF__sum, shift);
            store(b, op(b, KRF__subtract, sum, op(b, KRF__multiply, other, load(b, dtype, S(2, 0)))), S(1, 0));
            store(b, sum, S(-2, 0));
            check(b);
        }
    }
}

static void test_reduce_col(void **state) {
    static const int64_t shapes[][2] = {{1, 1},     {700, 3},    {256, 256}, {257, 300},
                                        {30, 1000}, {513, 2500}, {2, 5000},  {300, 0}};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int64_t m = shapes[s][0];
        builder *b = begin(KRF__REDUCE_COL, 1, 1, shapes[s]);
        uint32_t x = load(b, KRF_F32, S(1, m)), weight = load(b, KRF_F32, S(0, -1)), y = load(b, KRF_F64, S(1, m + 2));
        uint32_t t = op(b, KRF__multiply, x, weight);
        end_domain(b);
        uint32_t sum = reduce(b, KRF__sum, t), wide = reduce(b, KRF__sum, y);
        uint32_t root = op(b, KRF__sqrt, op(b, KRF__maximum, sum, number(b, KRF_F32, 0)), sum);
        store(b, op(b, KRF__divide, cast(b, root, KRF_F64), op(b, KRF__add, wide, number(b, KRF_F64, 1e6))), S(1, 0));
        store(b, sum, S(2, 0));
        check(b);
    }
}

/* Kernels of random schedule, rank, extents, strides, dtypes and body. */
static void test_random(void **state) {
    static const krf__op binary[] = {KRF__add, KRF__subtract, KRF__multiply, KRF__maximum, KRF__minimum};
    (void)state;
    for (int round = 0; round < 400; round++) {
        const krf__schedule schedule = (krf__schedule)random_below(KRF__SCAN); /* scans have a test of their own */
        const int n_kept = 1 + (int)random_below(3), n_reduced = schedule == KRF__MAP ? 0 : 1 + (int)random_below(3);
        int64_t extents[6], strides[6], budget = 20000;
        for (int d = 0; d < n_kept + n_reduced; d++) {
            int64_t most = random_below(4) == 0 ? 600 : 9;
            extents[d] =
                schedule == KRF__REDUCE_ALL && d < n_kept ? 1 : 1 + random_below(most < budget ? most : budget);
            budget /= extents[d];
        }
        builder *b = begin(schedule, n_kept, n_reduced, extents);
        b->k.chunk = INT64_C(1) << random_below(12);
        b->k.chunks = (b->k.reduced_size + b->k.chunk - 1) / b->k.chunk;
        const int dtype = naive_dtypes[random_below(NAIVE_NUMBERS)];
        for (int part = 0; part < 2; part++) {
            const uint32_t start = part == 0 ? 0 : b->k.n_domain;
            const int loads = part == 0 ? 1 + (int)random_below(4) : (int)random_below(3);
            for (int l = 0; l < loads; l++) {
                int64_t next = random_below(2) ? 1 : 2; /* of a dense layout with dimensions in random places */
                for (int d = n_kept + n_reduced - 1; d >= 0; d--) {
                    const bool absent = random_below(5) == 0 || (part == 1 && d >= n_kept);
                    strides[d] = absent ? 0 : random_below(4) == 0 ? -next : next;
                    next *= absent ? 1 : extents[d] + random_below(2);
                }
                load(b, dtype, strides);
            }
            if (random_below(2)) {
                number(b, dtype, 0.5);
                scalar(b, dtype, 3);
            }
            const int length = 1 + (int)random_below(12);
            for (int i = 0; i < length; i++) {
                uint32_t x = start + (uint32_t)random_below(b->k.n_instrs - start);
                uint32_t y = start + (uint32_t)random_below(b->k.n_instrs - start);
                op(b, binary[random_below(5)], x, y);
            }
            const uint32_t last = b->k.n_instrs - 1;
            for (int i = 0; i < 2; i++) {
                int64_t next = 1 + random_below(2);
                for (int d = n_kept + (part == 0 ? n_reduced : 0) - 1; d >= 0; d--) {
                    strides[d] = random_below(3) == 0 ? -next : next;
                    next *= extents[d] + (random_below(3) == 0);
                }
                for (int d = n_kept; part == 1 && d < n_kept + n_reduced; d++) {
                    strides[d] = 0;
                }
                if (part == 1 || schedule == KRF__MAP || i == 1) {
                    store(b, last - (uint32_t)random_below(2) * (last > start), strides);
                }
            }
            if (schedule == KRF__MAP) {
                break;
            }
            if (part == 0) {
                end_domain(b);
                static const krf__op reductions[] = {KRF__sum, KRF__prod, KRF__max, KRF__min};
                const int count = 1 + (int)random_below(3);
                for (int i = 0; i < count; i++) {
                    reduce(b, reductions[random_below(4)], last - (uint32_t)random_below(last + 1));
                }
            }
        }
        check(b);
    }
}

/* Negative zeros, NaN, infinities. */
static void test_special_sums(void **state) {
    (void)state;
    for (int64_t n = 1; n < 2000; n += 333) {
        builder *b = begin(KRF__REDUCE_ALL, 1, 1, S(1, n));
        uint32_t x = load(b, KRF_F64, S(0, 1));
        for (int64_t i = 0; i < n; i++) {
            ((double *)b->pointers[0])[i] = -0.0;
        }
        end_domain(b);
        uint32_t sum = reduce(b, KRF__sum, x), least = reduce(b, KRF__min, x), most = reduce(b, KRF__max, x);
        store(b, sum, S(0, 0));
        store(b, least, S(0, 0));
        store(b, most, S(0, 0));
        double out[3];
        void *pointers[] = {b->pointers[0], &out[0], &out[1], &out[2]};
        uint64_t scratch[64];
        double *data = b->pointers[0];
        for (int round = 0; round < 2; round++) {
            assert_int_equal(krf__interpret(&b->k, pointers, NULL, scratch, 0, b->k.chunks), KRF_OK);
            if (b->k.chunks > 1) {
                assert_int_equal(krf__interpret_finish(&b->k, pointers, NULL, scratch, 0, 1), KRF_OK);
            }
            for (int i = 0; i < 3; i++) {
                assert_true(round == 0 ? out[i] == 0 && signbit(out[i]) : isnan(out[i]));
            }
            data[n - 1] = NAN;
        }
        finish(b);
    }
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void test_failures(void **state) {
    (void)state;
    builder *b = begin(KRF__MAP, 1, 0, S(100));
    uint32_t x = load(b, KRF_F32, S(1)), t = op(b, KRF__add, x, x);
    store(b, t, S(1));
    b->k.n_domain = b->k.n_instrs;
    int failed = 0;
    for (long n = 1; n < 20; n++) {
        krf__mem_fail_at(n);
        krf_status status = krf__interpret(&b->k, b->pointers, b->scalars, NULL, 0, 100);
        krf__mem_fail_at(0);
        assert_true(status == KRF_OK || status == KRF_E_MEMORY);
        failed += status == KRF_E_MEMORY;
    }
    assert_in_range(failed, 1, 18);

    const krf__instr wrong[] = {
        {.op = KRF__add, .dtype = KRF_BOOL, .from = KRF_BOOL, .args = {0, 0}},  /* no such loop, wrong operands */
        {.op = KRF__add, .dtype = KRF_F32, .from = KRF_F32, .args = {0, 1}},    /* its own operand */
        {.op = KRF__add, .dtype = KRF_F64, .from = KRF_F64, .args = {0, 0}},    /* operands of another dtype */
        {.op = KRF__transpose, .dtype = KRF_F32, .from = KRF_F32, .args = {0}}, /* a graph's node */
        {.op = KRF__load, .dtype = KRF_F32, .from = KRF_F32, .slot = 9},
        {.op = KRF__sum, .dtype = KRF_F32, .from = KRF_F32, .args = {0}}, /* outside its part */
        {.op = 60000, .dtype = KRF_F32, .from = KRF_F32},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        b->instrs[t] = wrong[i];
        assert_int_equal(krf__interpret(&b->k, b->pointers, b->scalars, NULL, 0, 100), KRF_E_INTERNAL);
    }
    finish(b);
}

/* ---- all instruction sets ---------------------------------------------------------------------------------------- */

enum { LOOP_LENGTH = 1021 };

static void random_operand(void *memory, int dtype) {
    static const double odd[] = {0,         -0.0,   1,    -1,     0.5, -2.5, NAN,  INFINITY,
                                 -INFINITY, 1e-310, 3e38, -1e308, 88,  710,  -745, 31};
    char *to = memory;
    for (int i = 0; i < LOOP_LENGTH; i++, to += size_of(dtype)) {
        value v = {(int64_t)random_bits(), odd[random_bits() % 16]};
        v.i = random_below(2) ? v.i >> (random_bits() % 64) : v.i;
        if (random_below(3)) {
            v.f = ldexp((double)random_below(1 << 24) - (1 << 23), (int)random_below(60) - 50);
        }
        v.i = dtype == KRF_BOOL ? v.i & 1 : v.i;
        write_value(to, dtype, v);
    }
}

static void test_loops(void **state) {
    (void)state;
    static double a[LOOP_LENGTH], b[LOOP_LENGTH], c[LOOP_LENGTH], mask[LOOP_LENGTH], x[LOOP_LENGTH], y[LOOP_LENGTH];
    const krf__loops *base = &krf__loops_base;
    int compared = 0;
    for (const krf__loops *const *table = krf__loops_usable(); *table != NULL; table++) {
        for (int d = 0; d < KRF__KERNEL_DTYPE_COUNT; d++) {
            random_operand(a, d), random_operand(b, d), random_operand(c, d), random_operand(mask, KRF_BOOL);
            for (int o = 0; o < KRF__OP_COUNT; o++) {
                assert_int_equal(base->elementwise[d][o] == NULL, (*table)->elementwise[d][o] == NULL);
                if (base->elementwise[d][o] != NULL) {
                    const void *first = o == KRF__where ? mask : a;
                    base->elementwise[d][o](LOOP_LENGTH, first, b, c, x);
                    (*table)->elementwise[d][o](LOOP_LENGTH, first, b, c, y);
                    const int result = (int)krf__op_result((krf__op)o, (krf_dtype)d);
                    assert_same(x, y, result, LOOP_LENGTH * (size_t)size_of(result), krf__op_info_of((krf__op)o)->name);
                    /* An element's bits do not depend on where it stands. */
                    (*table)->elementwise[d][o](1, first, b, c, y);
                    memcpy(y, x, (size_t)size_of(result));
                    assert_same(x, y, result, LOOP_LENGTH * (size_t)size_of(result), krf__op_info_of((krf__op)o)->name);
                    compared++;
                }
                if (base->combine[d][o] != NULL) {
                    memcpy(x, c, sizeof x), memcpy(y, c, sizeof y);
                    base->combine[d][o](LOOP_LENGTH, a, x);
                    (*table)->combine[d][o](LOOP_LENGTH, a, y);
                    assert_same(x, y, d, LOOP_LENGTH * (size_t)size_of(d), krf__op_info_of((krf__op)o)->name);
                }
            }
            for (int to = 0; to < KRF__KERNEL_DTYPE_COUNT; to++) {
                base->cast[d][to](LOOP_LENGTH, a, NULL, NULL, x);
                (*table)->cast[d][to](LOOP_LENGTH, a, NULL, NULL, y);
                assert_same(x, y, to, LOOP_LENGTH * (size_t)size_of(to), "cast");
            }
        }
    }
    assert_true(compared > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),          cmocka_unit_test(test_map_strided), cmocka_unit_test(test_casts),
        cmocka_unit_test(test_in_place),     cmocka_unit_test(test_long_kernel), cmocka_unit_test(test_reduce_all),
        cmocka_unit_test(test_reduce_row),   cmocka_unit_test(test_reduce_col),  cmocka_unit_test(test_random),
        cmocka_unit_test(test_special_sums), cmocka_unit_test(test_failures),    cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests_name("interpret", tests, NULL, NULL);
}
