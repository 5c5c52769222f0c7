/* Second lesson: an expression in text, with two results from one pass over memory.
 *
 *     squared_diff [x.npy y.npy]        without files: 10 million samples each
 *
 * The squares of the differences as an array, and their sum as a scalar. */
#include "example.h"

int main(int argc, char **argv) {
    krf_context *ctx = open_device();
    krf_array *x = load_or_make(ctx, argc > 2 ? argv[1] : NULL, 7919);
    krf_array *y = load_or_make(ctx, argc > 2 ? argv[2] : NULL, 104729);

    /* What krf_subtract, krf_multiply and krf_sum say can be said in text as well. Names are bound to arrays. */
    krf_graph *g = krf_graph_create(ctx);
    krf_binding names[] = {krf_bind_array("x", x), krf_bind_array("y", y)};
    krf_expr results[2];
    int count = 0;
    check(krf_parse_many(g, "squares = (x - y) * (x - y); return squares, sum(squares)", names, 2, 2, results, &count));

    krf_plan *plan = NULL;
    check(krf_compile(g, count, results, NULL, &plan));
    krf_array *outputs[2] = {NULL, NULL};
    double time = time_plan(ctx, plan, outputs);
    double speed = (bytes_of(x) + bytes_of(y) + bytes_of(outputs[0])) / time;
    printf("squared differences of %lld %s and their sum: %d kernel(s)\n", (long long)krf_array_size(outputs[0]),
           krf_dtype_name(krf_array_dtype(outputs[0])), krf_plan_kernels(plan));

    /* The same in plain C. The operands may broadcast: they take the result's shape first. */
    int rank = krf_array_rank(outputs[0]);
    const int64_t *shape = krf_array_shape(outputs[0]);
    double *a = as_doubles(krf_broadcast_to(krf_input(g, x), rank, shape));
    double *b = as_doubles(krf_broadcast_to(krf_input(g, y), rank, shape));
    double *squares = as_doubles(krf_input(g, outputs[0])), *sum = as_doubles(krf_input(g, outputs[1])), difference = 0;
    long double expected_sum = 0;
    for (int64_t i = 0; i < krf_array_size(outputs[0]); i++) {
        double expected = (a[i] - b[i]) * (a[i] - b[i]);
        difference = fmax(difference, fabs(squares[i] - expected));
        expected_sum += expected;
    }
    printf("largest difference from a plain C loop in double: %.3g; of the sum, relative: %.3g\n", difference,
           fabs((double)(*sum / expected_sum - 1)));
    printf("warm run: %.3f ms, %.1f GB/s; copy: %.1f GB/s\n", time * 1e3, speed * 1e-9, copy_bandwidth(ctx, x) * 1e-9);

    free(a);
    free(b);
    free(squares);
    free(sum);
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(outputs[0]);
    krf_array_release(outputs[1]);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
}
