/* A generalised function: the products of 4 million pairs of 2 by 2 matrices, and of all of them with one matrix.
 *
 *     batch_matmul [count]
 */
#include "example.h"

int main(int argc, char **argv) {
    const int64_t count = argc > 1 ? atoll(argv[1]) : 4000000, shape[] = {count, 2, 2};
    krf_context *ctx = open_device();
    krf_gufunc *matmul = NULL;
    check(krf_gufunc_define(ctx,
                            &(krf_gufunc_description){.size = sizeof(krf_gufunc_description),
                                                      .name = "matmul",
                                                      .signature = "(m,n),(n,p)->(m,p)",
                                                      .parameters = "T a, T b, T c",
                                                      .body = "for (int i = 0; i < m; i++)\n"
                                                              "    for (int j = 0; j < p; j++) {\n"
                                                              "        T sum = 0;\n"
                                                              "        for (int k = 0; k < n; k++) sum += a(i, k) * b(k, j);\n"
                                                              "        c(i, j) = sum;\n"
                                                              "    }\n"},
                            &matmul));
    float *x = malloc(sizeof *x * 4 * (size_t)count), *y = malloc(sizeof *y * 4 * (size_t)count), *z = malloc(sizeof *z * 4 * (size_t)count);
    for (int64_t i = 0; i < 4 * count; i++) {
        x[i] = (float)(i % 19 - 9);
        y[i] = (float)(i % 23 - 11);
    }
    krf_array *ax = NULL, *ay = NULL, *outputs[2] = {NULL, NULL};
    check(krf_array_from_host(ctx, KRF_F32, 3, shape, x, &ax));
    check(krf_array_from_host(ctx, KRF_F32, 3, shape, y, &ay));
    krf_graph *g = krf_graph_create(ctx);
    krf_expr products[2], a = krf_input(g, ax), b = krf_input(g, ay), first = krf_slice(b, 1, (krf_range[]){{0, 1, 1}});
    krf_gufunc_call(matmul, g, 2, (krf_expr[]){a, b}, &products[0]);
    krf_gufunc_call(matmul, g, 2, (krf_expr[]){a, first}, &products[1]); /* broadcasts */
    krf_plan *plan = NULL;
    int64_t wrong = 0;
    for (int p = 0; p < 2; p++) {
        check(krf_compile(g, 1, &products[p], NULL, &plan));
        const double best = time_plan(ctx, plan, &outputs[p]);
        printf("%s: %.3g ms, %.3g GB/s\n", p == 0 ? "pairs" : "with one", best * 1e3, (p == 0 ? 3 : 2) * bytes_of(ax) / best * 1e-9);
        krf_plan_release(plan);
        check(krf_array_to_host(outputs[p], z, sizeof *z * 4 * (size_t)count));
        for (int64_t u = 0; u < count; u++) {
            for (int e = 0; e < 4; e++) {
                const float *l = x + 4 * u + e / 2 * 2, *r = y + (p == 0 ? 4 * u : 0) + e % 2;
                wrong += z[4 * u + e] != l[0] * r[0] + l[1] * r[2];
            }
        }
        krf_array_release(outputs[p]);
    }
    printf("%lld elements are wrong\n", (long long)wrong);
    free(x);
    free(y);
    free(z);
    krf_graph_destroy(g);
    krf_gufunc_release(matmul);
    krf_array_release(ax);
    krf_array_release(ay);
    krf_context_destroy(ctx);
    return wrong != 0;
}
