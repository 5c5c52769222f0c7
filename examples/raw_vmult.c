/* A kernel of one's own that changes an array in place: x *= y for vectors of complex numbers.
 *
 *     raw_vmult [n]
 */
#include "example.h"

static const char cuda[] = "extern \"C\" __global__ void vmult(float2 *x, const float2 *y, long long n) {\n"
                           "    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {\n"
                           "        float2 a = x[i], b = y[i];\n"
                           "        x[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);\n"
                           "    }\n"
                           "}\n";
static const char c[] = "void vmult(float *x, const float *y, long long n) { /* pairs */\n"
                        "    for (long long i = 0; i < n; i++) {\n"
                        "        float re = x[2 * i] * y[2 * i] - x[2 * i + 1] * y[2 * i + 1];\n"
                        "        x[2 * i + 1] = x[2 * i] * y[2 * i + 1] + x[2 * i + 1] * y[2 * i];\n"
                        "        x[2 * i] = re;\n"
                        "    }\n"
                        "}\n";

int main(int argc, char **argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 10000000;
    krf_context *ctx = open_device();
    krf_raw_kernel *vmult = NULL;
    check(krf_kernel_define(ctx,
                            &(krf_kernel_description){.size = sizeof(krf_kernel_description),
                                                      .name = "vmult",
                                                      .parameters = "inout c64 x[n], in c64 y[n], i64 n",
                                                      .cuda = cuda,
                                                      .c = c,
                                                      .grid = "min(4096, (n + 255) / 256)",
                                                      .block = "256"},
                            &vmult));
    float(*x)[2] = malloc(sizeof *x * (size_t)n), (*y)[2] = malloc(sizeof *y * (size_t)n), (*z)[2] = malloc(sizeof *z * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        x[i][0] = (float)(i % 17), x[i][1] = (float)(i % 5 - 2), y[i][0] = (float)(i % 3 - 1), y[i][1] = (float)(i % 7);
    }
    krf_array *ax = NULL, *ay = NULL, *product = NULL;
    check(krf_array_from_host(ctx, KRF_C64, 1, &n, x, &ax));
    check(krf_array_from_host(ctx, KRF_C64, 1, &n, y, &ay));

    /* In a graph the input stays as it is. */
    krf_graph *g = krf_graph_create(ctx);
    krf_expr result;
    krf_kernel_call(vmult, g, 2, (krf_expr[]){krf_input(g, ax), krf_input(g, ay)}, NULL, NULL, &result);
    check(krf_eval(result, &product));
    check(krf_array_to_host(product, z, sizeof *z * (size_t)n));
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        wrong += z[i][0] != x[i][0] * y[i][0] - x[i][1] * y[i][1] || z[i][1] != x[i][0] * y[i][1] + x[i][1] * y[i][0];
    }
    /* Launched, the kernel changes it. */
    const double start = seconds();
    check(krf_kernel_launch(vmult, NULL, 2, (krf_binding[]){krf_bind_array("x", ax), krf_bind_array("y", ay)}, NULL));
    check(krf_context_synchronize(ctx));
    printf("%lld complex numbers: %.3g GB/s\n", (long long)n, 3 * bytes_of(ax) / (seconds() - start) * 1e-9);
    float(*changed)[2] = y;
    check(krf_array_to_host(ax, changed, sizeof *changed * (size_t)n));
    for (int64_t i = 0; i < n; i++) {
        wrong += changed[i][0] != z[i][0] || changed[i][1] != z[i][1];
    }
    printf("%lld elements are wrong\n", (long long)wrong);
    free(x);
    free(y);
    free(z);
    krf_graph_destroy(g);
    krf_kernel_release(vmult);
    krf_array_release(ax);
    krf_array_release(ay);
    krf_array_release(product);
    krf_context_destroy(ctx);
    return wrong != 0;
}
