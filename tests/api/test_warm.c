/* What is warm allocates nothing on the host: plans of one kernel and of many, with reductions and scans, into arrays that are there.
 * Device: KRF_TEST_DEVICE (default "cpu"). */
#include "base/mem.h"
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 3000, SETS = 2, WARM = 12, RUNS = 4 };

typedef struct program {
    const char *text;
    const char *fusion; /* NULL: all */
    int n_results;
} program;

static const program programs[] = {
    {"x: f32[3000]; y: f32[3000]; s: float\nreturn x * y + s", NULL, 1},
    {"x: f32[3000]; y: f32[3000]; s: float\nreturn sum(x * y) + s, max(x)", NULL, 2},
    {"x: f32[3000]; y: f32[3000]; s: float\nreturn cumsum(x * y) + s", NULL, 1},
    {"x: f32[3000]; y: f32[3000]; s: float\na = x + s; b = y * a; c = a - b; d = abs(c); return maximum(d, y * 2), sum(d * d), cumsum(c)", "off", 3},
    {"x: f32[3000]; y: f32[3000]; s: float\nm = reshape(x + y, (30, 100)); return m / sum(m, axis=1, keepdims=True) + s, sum(m, axis=0)", "off", 2},
};

static krf_context *open_context(const char *fusion) {
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_COMPILE; /* the interpreter makes its program for each launch */
    o.fusion = fusion;
    return open_or_skip(&o);
}

static krf_array *ramp(krf_context *context, int set) {
    static float data[N];
    krf_array *a = NULL;
    for (int i = 0; i < N; i++) {
        data[i] = (float)((i + 7 * set) % 13 + 1);
    }
    assert_ok(krf_array_from_host(context, KRF_F32, 1, (int64_t[]){N}, data, &a));
    return a;
}

static void run(krf_plan *plan, krf_array *const in[SETS], krf_array *const *out, int turn) {
    krf_array *results[3] = {out[0], out[1], out[2]};
    const krf_binding b[] = {krf_bind_array("x", in[turn % SETS]), krf_bind_array("y", in[(turn + 1) % SETS]), krf_bind_real("s", turn % 3)};
    assert_ok(krf_plan_run(plan, NULL, 3, b, results));
}

static void warm_runs(void **unused) {
    (void)unused;
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        krf_context *context = open_context(programs[p].fusion);
        krf_graph *g = krf_graph_create(context);
        krf_expr results[3];
        krf_plan *plan = NULL;
        krf_array *in[SETS], *out[SETS][3] = {{NULL}};
        int n = 0;
        assert_ok(krf_parse_many(g, programs[p].text, NULL, 0, 3, results, &n));
        assert_int_equal(n, programs[p].n_results);
        assert_ok(krf_compile(g, n, results, NULL, &plan));
        assert_true(programs[p].fusion == NULL ? krf_plan_kernels(plan) == 1 : krf_plan_kernels(plan) > 3);
        for (int k = 0; k < SETS; k++) {
            in[k] = ramp(context, k);
            krf_binding b[] = {krf_bind_array("x", in[k]), krf_bind_array("y", in[k]), krf_bind_real("s", 0)};
            assert_ok(krf_plan_run(plan, NULL, 3, b, out[k]));
        }
        for (int turn = 0; turn < WARM; turn++) {
            run(plan, in, out[turn % SETS], turn);
        }
        krf__mem_fail_at(2); /* pending as long as none was made */
        for (int turn = WARM; turn < WARM + RUNS; turn++) {
            run(plan, in, out[turn % SETS], turn);
        }
        const krf_status status = krf_context_synchronize(context);
        const bool none = krf__mem_pending();
        krf__mem_fail_at(0);
        assert_int_equal(status, KRF_OK);
        if (!none) {
            fail_msg("a warm run of \"%s\" allocates", programs[p].text);
        }
        for (int k = 0; k < SETS; k++) {
            krf_array_release(in[k]);
            for (int i = 0; i < n; i++) {
                krf_array_release(out[k][i]);
            }
        }
        krf_plan_release(plan);
        krf_graph_destroy(g);
        krf_context_destroy(context);
    }
}

int main(void) {
    krf_context_destroy(open_context(NULL));
    const struct CMUnitTest tests[] = {cmocka_unit_test(warm_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
