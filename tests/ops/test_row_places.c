/* argmax and argmin of bytes and halves over as many rows as a GPU has warps for, each of which then has a row to itself: few values that stand at many places, NaN, zeros of both signs, rows of the lowest
 * and of the highest value alone, lengths with and without whole vectors, views that begin elsewhere; against a loop. */
#include "ops/common.h"

static runs all_runs;

static value drawn(krf_dtype dtype, int64_t row, uint64_t bits) {
    static const double reals[] = {-0.0, 0.0, 1.5, -1, 3, -0x1p-14, 0x1p-24, 2};
    static const int64_t whole[] = {0, 1, -1, 7, 127, -128, 100, 3};
    const int lot = (int)(row % 8);
    if (is_real(dtype)) {
        const double ends = lot == 1 ? -(double)INFINITY : (double)INFINITY;
        const bool nan = lot == 3 && (bits >> 20) % 61 == 0;
        return (value){.dtype = dtype, .f = nan || (lot == 4 && (bits >> 20) % 509 == 0) ? (double)NAN : lot == 1 || lot == 2 ? ends : lot == 5 ? -fabs(reals[bits & 7]) : reals[bits & 7]};
    }
    if (dtype == KRF_BOOL) {
        return (value){.dtype = dtype, .i = lot == 1 ? 0 : lot == 2 ? 1 : bits % 700 == 0};
    }
    const int64_t lowest = facts_of(dtype)->is_unsigned ? 0 : -128, highest = lowest + 255;
    const int64_t any = (int64_t)(bits >> 8 & 255) + lowest;
    return (value){.dtype = dtype, .i = lot == 1 ? lowest : lot == 2 ? highest : lot == 3 ? any : lot == 6 ? lowest + (any & 63) : lot == 7 ? highest - (any & 63) : convert((value){.dtype = KRF_I64, .i = whole[bits & 7]}, dtype).i};
}

static bool beats(value a, value b, bool smallest) {
    if (is_real(a.dtype)) {
        return !isnan(b.f) && (isnan(a.f) || (smallest ? a.f < b.f : a.f > b.f));
    }
    return smallest ? a.i < b.i : a.i > b.i;
}

static int64_t place_of(const char *memory, krf_dtype dtype, int64_t first, int64_t n, bool smallest) {
    int64_t best = 0;
    value found = get(memory, dtype, first);
    for (int64_t k = 1; k < n; k++) {
        const value v = get(memory, dtype, first + k);
        if (beats(v, found, smallest)) {
            best = k;
            found = v;
        }
    }
    return best;
}

/* Columns from `from` on, of n + from. */
static void check(krf_dtype dtype, int64_t rows, int64_t n, int64_t from) {
    const int64_t shape[2] = {rows, n + from};
    char *memory = malloc((size_t)(rows * (n + from)) * bytes_of(dtype));
    uint64_t seed = (uint64_t)(n * 16 + (int)dtype);
    assert_non_null(memory);
    for (int64_t i = 0; i < rows * (n + from); i++) {
        put(memory, i, drawn(dtype, i / (n + from), next_random(&seed)));
    }
    for (int r = 0; r < 2 * all_runs.n; r++) {
        const run *now = &all_runs.run[r / 2];
        const bool smallest = r % 2 == 1;
        if (passed_over(now)) {
            continue;
        }
        krf_array *in = NULL, *out = NULL;
        krf_graph *g = krf_graph_create(now->context);
        assert_int_equal(krf_array_from_host(now->context, dtype, 2, shape, memory, &in), KRF_OK);
        const krf_expr x = krf_slice(krf_input(g, in), 2, (const krf_range[2]){{KRF_NONE, KRF_NONE, 1}, {from, KRF_NONE, 1}});
        const int axes[1] = {1};
        if (krf_eval(smallest ? krf_argmin(x, 1, axes, false) : krf_argmax(x, 1, axes, false), &out) != KRF_OK) {
            fail_msg("%s: %s", now->label, krf_error_message());
        }
        void *got = collecting ? NULL : to_host(out, KRF_I64, 1, shape, "places");
        for (int64_t k = 0; got != NULL && k < rows; k++) {
            const int64_t want = place_of(memory, dtype, k * (n + from) + from, n, smallest);
            if (get(got, KRF_I64, k).i != want) {
                COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 "] from %" PRId64 " on, on %s: result %" PRId64 " is %" PRId64 ", not %" PRId64, smallest ? "argmin" : "argmax", name_of(dtype), rows, n, from, now->label, k,
                         get(got, KRF_I64, k).i, want);
                break;
            }
        }
        free(got);
        krf_array_release(out);
        krf_array_release(in);
        krf_graph_destroy(g);
    }
    free(memory);
}

static void test_rows(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_I8, KRF_F16, KRF_BF16, KRF_I16, KRF_BOOL, KRF_F32, KRF_I32, KRF_U32};
    static const int64_t shapes[][3] = {{4099, 1500, 0}, {300, 1000, 0}, {100, 264, 0}, {100, 1001, 0}, {200, 1024, 8}, {100, 1020, 4}};
    (void)unused;
    failures = 0;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            check(dtypes[d], shapes[i][0], shapes[i][1], shapes[i][2]);
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all_runs, false), TESTS(noted_test(test_rows))); }
