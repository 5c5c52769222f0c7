/* The steps that compute. See steps.h; expected values come from plain loops in C. */
#include "failures/steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

krf_status scene_eval(scene *s, krf_expr x, krf_array **out) {
    krf_array *before = *out;
    krf_status status = krf_eval(x, out);
    if (status != KRF_OK && *out != before) {
        scene_wrong(s, "krf_eval failed and changed its output");
    }
    return status;
}

krf_status scene_upload(scene *s, int rank, const int64_t *shape, const float *data, krf_array **out) {
    krf_status status = krf_array_from_host(s->context, KRF_F32, rank, shape, data, out);
    if (status != KRF_OK && *out != NULL) {
        scene_wrong(s, "krf_array_from_host failed and left an array");
    }
    return status;
}

/* What the caller gave is his again when a call has failed: nothing may write to it any more. */
static void check_untouched(scene *s, float *got, size_t bytes) {
    unsigned char *at = (unsigned char *)got;
    memset(at, 0xee, bytes);
    usleep(2000);
    for (size_t i = 0; i < bytes; i++) {
        if (at[i] != 0xee) {
            scene_wrong(s, "krf_array_to_host failed, and wrote to the caller's memory afterwards");
            break;
        }
    }
}

krf_status scene_check(scene *s, const char *what, krf_array *array, int64_t n, const float *expected, float error) {
    static float got[100000]; /* not from malloc: a lost device may still be writing to it */
    if (n > (int64_t)(sizeof got / sizeof *got) || krf_array_size(array) != n || krf_array_dtype(array) != KRF_F32) {
        scene_wrong(s, "%s: %lld elements", what, (long long)krf_array_size(array));
        return KRF_OK;
    }
    krf_status status = krf_array_to_host(array, got, (size_t)n * sizeof *got);
    if (status != KRF_OK && status != KRF_E_LOST && strcmp(s->device, "cuda") == 0) {
        check_untouched(s, got, (size_t)n * sizeof *got);
    }
    for (int64_t i = 0; status == KRF_OK && i < n; i++) {
        if (!(fabsf(got[i] - expected[i]) <= error * fabsf(expected[i]))) {
            scene_wrong(s, "%s: element %lld is %g, not %g", what, (long long)i, (double)got[i], (double)expected[i]);
            break;
        }
    }
    return status;
}

krf_status scene_evaluate(scene *s) {
    enum { N = 300 };
    static float data[N];
    float expected[N];
    double sum = 0;
    for (int i = 0; i < N; i++) {
        data[i] = (float)(i - N / 2) * 0.25f;
        expected[i] = (float)(fmax((double)data[i], 0) + log1p(exp(-fabs((double)data[i]))));
        sum += (double)data[i];
    }
    krf_array *a = NULL, *y = NULL, *total = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_status status;
    TRY(scene_upload(s, 1, (int64_t[]){N}, data, &a));
    krf_expr x = krf_input(g, a);
    krf_expr sp = krf_add(krf_maximum(x, krf_int(g, 0)), krf_log1p(krf_exp(krf_negative(krf_abs(x)))));
    TRY(scene_eval(s, sp, &y));
    TRY(scene_check(s, "softplus", y, N, expected, 1e-6f));
    TRY(scene_eval(s, krf_sum(x, 0, NULL, false), &total));
    TRY(scene_check(s, "sum", total, 1, &(float){(float)sum}, 0));
    TRY(krf_context_synchronize(s->context));
done:
    if (status == KRF_OK && krf_graph_status(g) != KRF_OK) {
        scene_wrong(s, "all is well, and the graph says %s", krf_graph_error(g));
    }
    krf_graph_destroy(g);
    krf_array_release(a);
    krf_array_release(y);
    krf_array_release(total);
    return status;
}

/* Rows and columns of a small matrix that counts up. */
enum { ROWS = 6, COLUMNS = 8, CELLS = ROWS * COLUMNS };

static void count_up(float *data, int n) {
    for (int i = 0; i < n; i++) {
        data[i] = (float)i;
    }
}

/* x[1:] = x[:-1] + 1 in one array: the plan reads what it writes, so that the result goes through new memory. */
static krf_status shift_in_place(scene *s, krf_array *base) {
    float expected[CELLS] = {0};
    for (int i = 1; i < CELLS; i++) {
        expected[i] = (float)(i - 1) + 1;
    }
    krf_array *from = NULL, *to = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_status status;
    TRY(krf_array_view(base, 1, (int64_t[]){CELLS - 1}, NULL, 0, &from));
    TRY(krf_array_view(base, 1, (int64_t[]){CELLS - 1}, NULL, 1, &to));
    TRY(scene_eval(s, krf_add(krf_input(g, from), krf_int(g, 1)), &to));
    TRY(scene_check(s, "shift in place", base, CELLS, expected, 0));
done:
    krf_graph_destroy(g);
    krf_array_release(from);
    krf_array_release(to);
    return status;
}

krf_status scene_many(scene *s) {
    static float data[CELLS];
    float plus[CELLS], twice[CELLS], rows[ROWS] = {0}, mean = 0;
    count_up(data, CELLS);
    for (int i = 0; i < CELLS; i++) {
        plus[i] = data[i] + 1;
        twice[i] = data[i] * 2;
        rows[i / COLUMNS] += data[i];
        mean += data[i] / CELLS;
    }
    krf_array *a = NULL, *block = NULL, *out[4] = {0};
    krf_graph *g = krf_graph_create(s->context);
    krf_status status;
    TRY(scene_upload(s, 2, (int64_t[]){ROWS, COLUMNS}, data, &a));
    TRY(krf_array_create(s->context, KRF_F32, 2, (int64_t[]){ROWS, COLUMNS}, &out[0]));
    TRY(krf_array_create(s->context, KRF_F32, 1, (int64_t[]){CELLS * 2}, &block));
    TRY(krf_array_view(block, 2, (int64_t[]){ROWS, COLUMNS}, (int64_t[]){1, 2 * ROWS}, 3, &out[2])); /* strided */
    krf_expr x = krf_input(g, a);
    krf_expr xs[4] = {krf_add(x, krf_int(g, 1)), krf_sum(x, 1, (int[]){1}, false), krf_multiply(x, krf_int(g, 2)),
                      krf_mean(x, 0, NULL, false)};
    status = krf_eval_many(4, xs, out);
    if (status != KRF_OK && (out[1] != NULL || out[3] != NULL)) {
        scene_wrong(s, "krf_eval_many failed and left outputs");
    }
    TRY(status);
    TRY(scene_check(s, "x + 1", out[0], CELLS, plus, 0));
    TRY(scene_check(s, "sum(x, axis=1)", out[1], ROWS, rows, 0));
    TRY(scene_check(s, "x * 2", out[2], CELLS, twice, 0));
    TRY(scene_check(s, "mean(x)", out[3], 1, &mean, 1e-6f));
    TRY(scene_eval(s, krf_multiply(x, krf_int(g, 2)), &a)); /* in place: x = x * 2 */
    TRY(scene_check(s, "x *= 2", a, CELLS, twice, 0));
    krf_array_release(out[1]);
    out[1] = NULL;
    TRY(scene_upload(s, 1, (int64_t[]){CELLS}, data, &out[1]));
    TRY(shift_in_place(s, out[1]));
done:
    krf_graph_destroy(g);
    krf_array_release(a);
    krf_array_release(block);
    for (int k = 0; k < 4; k++) {
        krf_array_release(out[k]);
    }
    return status;
}

krf_status scene_parse(scene *s) {
    static float data[CELLS];
    float squares = 0, less[CELLS];
    count_up(data, CELLS);
    for (int i = 0; i < CELLS; i++) {
        squares += data[i] * data[i];
        less[i] = (data[i] - 1) * 2;
    }
    const char *text = "z: f32[n, 8]\nk: float\n# a comment\nd = (z - 1) * k\nreturn sum(z * z), d.T[::-1]";
    krf_array *a = NULL, *out[2] = {0};
    krf_expr results[2], none;
    int count = 0;
    krf_graph *g = krf_graph_create(s->context);
    krf_status status;
    TRY(scene_upload(s, 2, (int64_t[]){ROWS, COLUMNS}, data, &a));
    krf_binding bindings[2] = {krf_bind_array("z", a), krf_bind_real("k", 2)};
    TRY(krf_parse_many(g, text, bindings, 2, 2, results, &count));
    TRY(krf_eval_many(2, results, out));
    TRY(scene_check(s, "sum(z * z)", out[0], 1, &squares, 0));
    float turned[CELLS]; /* transposed, last column first */
    for (int c = 0; c < COLUMNS; c++) {
        for (int r = 0; r < ROWS; r++) {
            turned[c * ROWS + r] = less[r * COLUMNS + COLUMNS - 1 - c];
        }
    }
    TRY(scene_check(s, "d.T[::-1]", out[1], CELLS, turned, 0));
    status = krf_parse(g, "z: f32[4]\nreturn z +* 2", NULL, 0, &none);
    if (status == KRF_E_PARSE && none.id == 0 && strstr(krf_error_message(), "line 2") != NULL) {
        status = KRF_OK;
    } else if (status == KRF_OK || status == KRF_E_PARSE) {
        scene_wrong(s, "text that does not parse: %s: %s", krf_status_name(status), krf_error_message());
    }
done:
    krf_graph_destroy(g);
    krf_array_release(a);
    krf_array_release(out[0]);
    krf_array_release(out[1]);
    return status;
}

/* y = x * k + shift[0], twice with other scalars. */
static krf_status run_plan(scene *s, krf_plan *plan, krf_array *x, int offset, krf_array *given) {
    krf_status status = KRF_OK;
    krf_array *out[2] = {given, NULL};
    for (int round = 0; status == KRF_OK && round < 2; round++) {
        float expected[30], k = (float)(round + 2), total = 0;
        for (int i = 0; i < 30; i++) {
            expected[i] = (float)(i + offset) * k + 0.5f;
            total += expected[i];
        }
        krf_binding b[3] = {krf_bind_real("shift", 0.5), krf_bind_real("k", (double)k), krf_bind_array("x", x)};
        if (round == 1) { /* by position: in the order in which they were made */
            b[0] = krf_bind_array(NULL, x);
            b[1] = krf_bind_real(NULL, (double)k);
            b[2] = krf_bind_real(NULL, 0.5);
        }
        out[1] = NULL;
        status = krf_plan_run(plan, NULL, 3, b, out);
        if (status != KRF_OK && (out[0] != given || out[1] != NULL)) {
            scene_wrong(s, "krf_plan_run failed and left outputs");
        }
        status = status == KRF_OK ? scene_check(s, "plan: y", out[0], 30, expected, 0) : status;
        status = status == KRF_OK ? scene_check(s, "plan: sum", out[1], 1, &total, 1e-6f) : status;
        krf_array_release(out[1]);
        if (given == NULL) {
            krf_array_release(out[0]);
            out[0] = NULL;
        }
    }
    return status;
}

krf_status scene_plan(scene *s) {
    static float data[64];
    count_up(data, 64);
    krf_array *a = NULL, *x = NULL, *odd = NULL, *y = NULL;
    krf_plan *plan = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_expr px = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){30}), pk = krf_placeholder_weak(g, "k", KRF_F64);
    krf_expr v = krf_add(krf_multiply(px, pk), krf_placeholder(g, "shift", KRF_F32, 0, NULL));
    krf_expr outputs[2] = {v, krf_sum(v, 0, NULL, false)};
    krf_status status = krf_compile(g, 2, outputs, NULL, &plan);
    krf_graph_destroy(g); /* plans outlive graphs */
    if (status != KRF_OK && plan != NULL) {
        scene_wrong(s, "krf_compile failed and left a plan");
    }
    TRY(status);
    TRY(scene_upload(s, 1, (int64_t[]){64}, data, &a));
    TRY(krf_array_view(a, 1, (int64_t[]){30}, NULL, 0, &x));
    TRY(krf_array_view(a, 1, (int64_t[]){30}, NULL, 1, &odd)); /* not on a border of 16 bytes */
    TRY(krf_array_create(s->context, KRF_F32, 1, (int64_t[]){30}, &y));
    TRY(run_plan(s, plan, x, 0, NULL));
    TRY(run_plan(s, plan, odd, 1, NULL));
    TRY(run_plan(s, plan, x, 0, y));
done:
    krf_plan_release(plan);
    krf_array_release(a);
    krf_array_release(x);
    krf_array_release(odd);
    krf_array_release(y);
    return status;
}

krf_status scene_views(scene *s) {
    static float data[CELLS];
    float turned[CELLS];
    count_up(data, CELLS);
    for (int i = 0; i < CELLS; i++) {
        turned[i] = data[i % ROWS * COLUMNS + i / ROWS];
    }
    krf_array *a = NULL, *t = NULL, *copy = NULL, *empty = NULL;
    krf_status status;
    TRY(scene_upload(s, 2, (int64_t[]){ROWS, COLUMNS}, data, &a));
    TRY(krf_array_view(a, 2, (int64_t[]){COLUMNS, ROWS}, (int64_t[]){1, COLUMNS}, 0, &t));
    TRY(scene_check(s, "transposed", t, CELLS, turned, 0));
    TRY(krf_array_create(s->context, KRF_F32, 2, (int64_t[]){COLUMNS, ROWS}, &copy));
    TRY(krf_array_copy(copy, t));
    TRY(scene_check(s, "copy of a transposed one", copy, CELLS, turned, 0));
    TRY(krf_array_copy(t, copy));
    TRY(scene_check(s, "copied back", a, CELLS, data, 0));
    TRY(krf_array_create(s->context, KRF_F32, 2, (int64_t[]){0, 3}, &empty));
    TRY(krf_array_to_host(empty, NULL, 0));
done:
    krf_array_release(a);
    krf_array_release(t);
    krf_array_release(copy);
    krf_array_release(empty);
    return status;
}

/* 21 operations on 100,000 elements: 2.1 million, from where on the automatic tier compiles at once. */
static krf_status large_on(scene *s, krf_context *context) {
    enum { N = 100000, DEEP = 10 };
    float *data = malloc(2 * N * sizeof *data), *expected = data + N;
    krf_array *a = NULL, *y = NULL;
    krf_graph *g = krf_graph_create(context);
    krf_status status = data != NULL ? KRF_OK : KRF_E_MEMORY;
    for (int i = 0; status == KRF_OK && i < N; i++) {
        float x = data[i] = (float)(i % 1000) * 0.125f, v = x;
        for (int k = 0; k < DEEP; k++) {
            v = v * 0.5f + x;
        }
        expected[i] = v < 3 ? 3 : v;
    }
    TRY(status);
    TRY(krf_array_from_host(context, KRF_F32, 1, (int64_t[]){N}, data, &a));
    krf_expr x = krf_input(g, a), v = x;
    for (int k = 0; k < DEEP; k++) {
        v = krf_add(krf_multiply(v, krf_real(g, 0.5)), x);
    }
    TRY(scene_eval(s, krf_maximum(v, krf_int(g, 3)), &y));
    TRY(scene_check(s, "large", y, N, expected, 0));
done:
    krf_graph_destroy(g);
    krf_array_release(a);
    krf_array_release(y);
    free(data);
    return status;
}

krf_status scene_large(scene *s) { return large_on(s, s->context); }

krf_status scene_reopen(scene *s) {
    krf_context_options o = scene_options(s);
    krf_context *context = NULL;
    krf_status status = krf_context_create(&o, &context);
    if (status == KRF_OK) {
        status = large_on(s, context);
        s->again = (krf_cache_stats){.size = sizeof s->again};
        krf_status asked = krf_context_cache_stats(context, &s->again);
        status = status == KRF_OK ? asked : status;
    }
    krf_context_destroy(context);
    return status;
}
