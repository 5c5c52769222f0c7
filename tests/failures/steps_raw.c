/* Raw kernels: defined, in a graph between kernels that fuse, in a plan that runs often, launched; and definitions that are wrong. See steps.h. */
#include "failures/steps.h"

#include <string.h>

enum { N = 90, ROUNDS = 5 };

static krf_kernel_description description(void) {
    return (krf_kernel_description){.size = sizeof(krf_kernel_description),
                                    .name = "twice",
                                    .parameters = "in f32 x[n], f32 a, inout f32 sum[n], out f32 y[n + 1], i32 n",
                                    .cuda = "extern \"C\" __global__ void twice(const float *x, float a, float *sum, float *y, int n) {\n"
                                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                            "    if (i < n) { y[i] = a * x[i]; sum[i] += x[i]; }\n"
                                            "    if (i == 0) y[n] = a;\n"
                                            "}\n",
                                    .c = "void twice(const float *x, float a, float *sum, float *y, int n) {\n"
                                         "    for (int i = 0; i < n; i++) { y[i] = a * x[i]; sum[i] += x[i]; }\n"
                                         "    y[n] = a;\n"
                                         "}\n",
                                    .grid = "(n + 31) / 32",
                                    .block = "32",
                                    .shared = "50000"}; /* more than every launch may have */
}

static krf_status define(scene *s, const krf_kernel_description *d, krf_raw_kernel **k) {
    *k = (krf_raw_kernel *)s;
    krf_status status = krf_kernel_define(s->context, d, k);
    if (status != KRF_OK && *k != NULL) {
        scene_wrong(s, "krf_kernel_define failed and left a kernel");
    }
    *k = status == KRF_OK ? *k : NULL;
    return status;
}

static krf_status wrong(scene *s) {
    krf_kernel_description d = description();
    krf_raw_kernel *k;
    d.grid = "(n + 31) / m";
    krf_status status = define(s, &d, &k);
    if (status == KRF_OK) {
        scene_wrong(s, "a grid over a name that nobody knows");
        krf_kernel_release(k);
    }
    return status == KRF_E_ARGUMENT && strstr(krf_error_message(), "m is no size") != NULL ? KRF_OK : status;
}

krf_status scene_raw(scene *s) {
    float x[N], twice[N + 1], sums[N], plus[N + 1];
    krf_kernel_description d = description();
    krf_raw_kernel *k = NULL;
    krf_plan *plan = NULL;
    krf_array *a = NULL, *outputs[3] = {NULL}, *y = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_status status;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        twice[i] = (float)(2 * (i + 1));
        sums[i] = (float)(2 * i + 1);
        plus[i] = twice[i] + 1;
    }
    twice[N] = 2;
    plus[N] = 3;
    TRY(wrong(s));
    TRY(define(s, &d, &k));
    TRY(scene_upload(s, 1, (int64_t[]){N}, x, &a));
    krf_expr in = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), results[2];
    krf_kernel_call(k, g, 3, (krf_expr[]){krf_add(in, krf_int(g, 1)), krf_placeholder_weak(g, "a", KRF_F64), in}, NULL, NULL, results);
    TRY(krf_compile(g, 3, (krf_expr[]){results[0], results[1], krf_add(results[1], krf_int(g, 1))}, NULL, &plan));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 3; i++) {
            krf_array_release(outputs[i]);
            outputs[i] = NULL;
        }
        TRY(krf_plan_run(plan, NULL, 2, (krf_binding[]){krf_bind_array("x", a), krf_bind_int("a", 2)}, outputs));
        TRY(scene_check(s, "inout", outputs[0], N, sums, 0));
        TRY(scene_check(s, "out", outputs[1], N + 1, twice, 0));
        TRY(scene_check(s, "after it", outputs[2], N + 1, plus, 0));
    }
    TRY(krf_array_create(s->context, KRF_F32, 1, (int64_t[]){N + 1}, &y));
    TRY(krf_kernel_launch(k, NULL, 4, (krf_binding[]){krf_bind_array("x", a), krf_bind_int("a", 2), krf_bind_array("sum", outputs[0]), krf_bind_array("y", y)}, NULL));
    for (int i = 0; i < N; i++) {
        sums[i] += x[i];
    }
    TRY(scene_check(s, "launched", outputs[0], N, sums, 0));
done:
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(a);
    krf_array_release(y);
    for (int i = 0; i < 3; i++) {
        krf_array_release(outputs[i]);
    }
    return status;
}
