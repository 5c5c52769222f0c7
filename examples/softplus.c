/* First lesson: an expression made by calls, compiled once, run many times.
 *
 *     softplus [x.npy]        without a file: 10 million samples
 *
 * softplus(x) = log(1 + exp(x)), written so that it never overflows: five operations, one kernel. */
#include "example.h"

int main(int argc, char **argv) {
    krf_context *ctx = open_device();
    krf_array *x = load_or_make(ctx, argc > 1 ? argv[1] : NULL, 7919);

    /* A graph owns the expressions made in it. Nothing is computed here: v is "the elements of x". */
    krf_graph *g = krf_graph_create(ctx);
    krf_expr v = krf_input(g, x);
    krf_expr softplus = krf_add(krf_maximum(v, krf_scalar(g, 0)), krf_log1p(krf_exp(krf_negative(krf_abs(v)))));

    /* A plan is the fused kernels, compiled. Calls that build expressions cannot fail on the spot; this one tells. */
    krf_plan *plan = NULL;
    check(krf_compile(g, 1, &softplus, NULL, &plan));
    printf("softplus of %lld %s: %d kernel(s)\n", (long long)krf_array_size(x), krf_dtype_name(krf_array_dtype(x)),
           krf_plan_kernels(plan));

    krf_array *y = NULL;
    double time = time_plan(ctx, plan, &y); /* the first run makes y, the others write into it */
    double speed = (bytes_of(x) + bytes_of(y)) / time;

    /* The same in plain C. */
    double *in = as_doubles(v), *out = as_doubles(krf_input(g, y)), difference = 0;
    for (int64_t i = 0; i < krf_array_size(x); i++) {
        double expected = fmax(in[i], 0) + log1p(exp(-fabs(in[i])));
        difference = fmax(difference, fabs(out[i] - expected));
    }
    printf("largest difference from a plain C loop in double: %.3g\n", difference);
    printf("warm run: %.3f ms, %.1f GB/s; copy: %.1f GB/s\n", time * 1e3, speed * 1e-9, copy_bandwidth(ctx, x) * 1e-9);

    free(in);
    free(out);
    krf_array_release(x);
    krf_array_release(y);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}
