/* Maps of windows along memory (plan/span.c): a thread of a GPU takes the taps of all its elements out of the words in which they lie. Windows of 5 to 31 taps, of which all are read or some, from arrays that begin
 * anywhere in a word and end anywhere; against plain loops over whole numbers. */
#include "ops/common.h"

static runs all;

enum { MOST = 9000, FACTOR = 3 };

/* Of the window of so many elements that begins at x. */
typedef int formula(const int *x, int taps);

static int largest(const int *x, int taps) {
    int most = x[0];
    for (int i = 1; i < taps; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

static int total(const int *x, int taps) {
    int sum = 0;
    for (int i = 0; i < taps; i++) {
        sum += x[i];
    }
    return sum;
}

static int weighted(const int *x, int taps) {
    int sum = 0;
    for (int i = 0; i < taps; i++) {
        sum += x[i] * (i % FACTOR);
    }
    return sum;
}

static int some(const int *x, int taps) { return (void)taps, x[0] + x[9] + 2 * x[3] + x[4] + x[7] + 3 * x[6]; }

static const struct {
    const char *program; /* T: how many taps */
    formula *formula;
    bool weights;
} cases[] = {
    {"max(sliding_window_view(x, T), axis=1)", largest, false},
    {"sum(sliding_window_view(x, T), axis=1).astype(D)", total, false},
    {"sum(sliding_window_view(x, T) * w, axis=1).astype(D)", weighted, true},
    {"x[:-9] + x[9:] + x[3:-6] * 2 + x[4:-5] + x[7:-2] + x[6:-3] * 3", some, false},
};

static void write_program(const char *program, krf_dtype dtype, int taps, char *text) {
    for (; *program != 0; program++) {
        text += *program == 'T' ? sprintf(text, "%d", taps) : *program == 'D' ? sprintf(text, "%s", krf_dtype_name(dtype)) : sprintf(text, "%c", *program);
    }
}

/* Small enough for every dtype to hold what is made of them. */
static int number(int64_t i) { return (int)(i * 7 % 3); }

static krf_array *numbers(krf_context *context, krf_dtype dtype, int64_t n, int64_t before, int64_t others) {
    static char data[MOST * 8];
    const int64_t size = n + before, stride = 1;
    krf_array *base = NULL, *view = NULL;
    for (int64_t i = 0; i < size; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = i < before + others ? 9 : number(i - before - others)}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, 1, &n, &stride, before, &view), KRF_OK);
    krf_array_release(base);
    return view;
}

static krf_array *weights_of(krf_context *context, krf_dtype dtype, int taps) {
    char data[64 * 8];
    const int64_t n = taps;
    krf_array *w = NULL;
    for (int i = 0; i < taps; i++) {
        put(data, i, convert((value){.dtype = KRF_I64, .i = i % FACTOR}, dtype));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &n, data, &w), KRF_OK);
    return w;
}

/* Results [first, first + n) of what a run makes of x, in `given`, are those of the formula. */
static void compare(size_t k, const char *data, krf_dtype given, int taps, int64_t n, const char *what) {
    static int x[MOST];
    char a[64], b[64];
    for (int64_t i = 0; i < n + taps; i++) {
        x[i] = number(i);
    }
    for (int64_t i = 0; i < n; i++) {
        const value want = convert((value){.dtype = KRF_I64, .i = cases[k].formula(x + i, taps)}, given), found = get(data, given, i);
        if (!same(found, want)) {
            COMPLAIN("%s: element %" PRId64 " is %s, not %s", what, i, show(found, a, sizeof a), show(want, b, sizeof b));
            return;
        }
    }
}

/* From an array that begins so many elements further on, or, where it is cut, from its element `before` on. */
static void check(size_t k, const run *r, krf_dtype dtype, int taps, int64_t n, int64_t before, bool cut) {
    krf_array *x = numbers(r->context, dtype, n + taps - 1 + (cut ? before : 0), cut ? 0 : before, cut ? before : 0), *w = weights_of(r->context, dtype, taps), *got = NULL;
    const krf_binding bindings[] = {krf_bind_array("x", x), krf_bind_array("w", w)};
    krf_graph *graph = krf_graph_create(r->context);
    krf_plan *plan = NULL;
    krf_expr result;
    krf_kernel_info info = {.size = sizeof info};
    static char data[MOST * 8];
    char text[300], what[500];
    write_program(cases[k].program, dtype, taps, text + sprintf(text, "x = x[%" PRId64 ":]\nreturn ", cut ? before : 0));
    snprintf(what, sizeof what, "%s, %s, %s of %" PRId64 " from %" PRId64, text, r->label, krf_dtype_name(dtype), n, before);
    krf_status status = krf_parse(graph, text, bindings, cases[k].weights ? 2 : 1, &result);
    status = status == KRF_OK ? krf_compile(graph, 1, &result, NULL, &plan) : status;
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 0, NULL, &got) : status;
    if (status != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    assert_int_equal(krf_plan_kernels(plan), 1);
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    const bool spans = taps >= 6 && n >= 1024 && krf_dtype_size(dtype) < 16;
    if (all.cuda && info.source != NULL && (strstr(info.source, "; } r_in") != NULL) != spans) {
        COMPLAIN("%s: the kernel should%s have words of windows", what, spans ? "" : " not");
    }
    if (krf_array_to_host(got, data, (size_t)n * krf_dtype_size(dtype)) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    compare(k, data, dtype, taps, n, what);
    krf_array_release(got);
    krf_plan_release(plan);
    krf_graph_destroy(graph);
    krf_array_release(x);
    krf_array_release(w);
}

static void test_windows(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_U8, KRF_BF16, KRF_F64, KRF_I16, KRF_F16, KRF_I32, KRF_I8};
    static const int lengths[] = {5, 6, 7, 9, 16, 31};
    static const int64_t sizes[] = {1024, 1027, 4099, 1023, 8190}, befores[] = {0, 1, 4, 7, 16, 3};
    (void)unused;
    int turn = 0;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
                const size_t d = (k * 3 + l) % 8;
                for (size_t more = 0; more < 2 && in_shard(turn); more++) {
                    const int taps = cases[k].formula == some ? 10 : lengths[l];
                    check(k, &all.run[r], dtypes[(d + 5 * more) % 8], taps, sizes[(k + l + more) % 5], befores[(k + l + 2 * more) % 6], true);
                    check(k, &all.run[r], dtypes[(d + 5 * more) % 8], taps, sizes[(k + l + more + 2) % 5], befores[(k + l + 2 * more + 1) % 6], true);
                    check(k, &all.run[r], dtypes[(d + 5 * more) % 8], taps, sizes[(k + l + more) % 5], befores[(k + l + more) % 6], false);
                }
                turn++;
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_on(open_runs(&all, false), TESTS(cmocka_unit_test(test_windows))); }
