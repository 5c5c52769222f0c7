/* A kernel of one's own, launched on arrays: a product of matrices by tiles in dynamic shared memory.
 *
 *     raw_matmul [n]
 */
#include "example.h"

static const char cuda[] = "extern \"C\" __global__ void matmul(const float *a, const float *b, float *c, int m, int n, int p) {\n"
                           "    extern __shared__ float tiles[]; /* two of TILE by TILE */\n"
                           "    float *left = tiles, *right = tiles + TILE * TILE;\n"
                           "    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;\n"
                           "    float sum = 0;\n"
                           "    for (int k = 0; k < n; k += TILE) {\n"
                           "        left[y * TILE + x] = row < m && k + x < n ? a[(long long)row * n + k + x] : 0;\n"
                           "        right[y * TILE + x] = k + y < n && column < p ? b[(long long)(k + y) * p + column] : 0;\n"
                           "        __syncthreads();\n"
                           "        for (int i = 0; i < TILE; i++) sum += left[y * TILE + i] * right[i * TILE + x];\n"
                           "        __syncthreads();\n"
                           "    }\n"
                           "    if (row < m && column < p) c[(long long)row * p + column] = sum;\n"
                           "}\n";
static const char c_source[] = "void matmul(const float *a, const float *b, float *c, int m, int n, int p) {\n"
                               "    for (int i = 0; i < m; i++) {\n"
                               "        for (int j = 0; j < p; j++) c[(long long)i * p + j] = 0;\n"
                               "        for (int k = 0; k < n; k++)\n"
                               "            for (int j = 0; j < p; j++) c[(long long)i * p + j] += a[(long long)i * n + k] * b[(long long)k * p + j];\n"
                               "    }\n"
                               "}\n";

int main(int argc, char **argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 1000, m = n + 5, p = n + 13;
    krf_context *ctx = open_device();
    krf_raw_kernel *matmul = NULL;
    check(krf_kernel_define(ctx,
                            &(krf_kernel_description){.size = sizeof(krf_kernel_description),
                                                      .name = "matmul",
                                                      .parameters = "in f32 a[m, n], in f32 b[n, p], out f32 c[m, p], i32 m, i32 n, i32 p",
                                                      .cuda = cuda,
                                                      .c = c_source,
                                                      .grid = "(p + 15) / 16, (m + 15) / 16",
                                                      .block = "16, 16",
                                                      .shared = "2 * 16 * 16 * 4",
                                                      .options = "-DTILE=16 --fmad=true"},
                            &matmul));
    /* Small integers: sums are exact in any order. */
    float *a = malloc(sizeof *a * (size_t)(m * n)), *b = malloc(sizeof *b * (size_t)(n * p)), *c = malloc(sizeof *c * (size_t)(m * p));
    for (int64_t i = 0; i < m * n; i++) {
        a[i] = (float)(i * 7 % 11 - 5);
    }
    for (int64_t i = 0; i < n * p; i++) {
        b[i] = (float)(i * 5 % 13 - 6);
    }
    krf_array *xa = NULL, *xb = NULL, *xc = NULL;
    check(krf_array_from_host(ctx, KRF_F32, 2, (int64_t[]){m, n}, a, &xa));
    check(krf_array_from_host(ctx, KRF_F32, 2, (int64_t[]){n, p}, b, &xb));
    check(krf_array_create(ctx, KRF_F32, 2, (int64_t[]){m, p}, &xc));
    krf_binding arguments[] = {krf_bind_array("a", xa), krf_bind_array("b", xb), krf_bind_array("c", xc)};
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        const double start = seconds();
        check(krf_kernel_launch(matmul, NULL, 3, arguments, NULL));
        check(krf_context_synchronize(ctx));
        best = fmin(best, seconds() - start);
    }
    printf("(%lld, %lld) times (%lld, %lld): %.3g ms, %.3g GFLOP/s\n", (long long)m, (long long)n, (long long)n, (long long)p, best * 1e3, 2e-9 * (double)(m * n * p) / best);

    check(krf_array_to_host(xc, c, sizeof *c * (size_t)(m * p)));
    int64_t wrong = 0;
    for (int64_t i = 0; i < m; i += 1 + m / 64) { /* some of the rows: the host is slow */
        for (int64_t j = 0; j < p; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++) {
                sum += (double)a[i * n + k] * (double)b[k * p + j];
            }
            wrong += (double)c[i * p + j] != sum;
        }
    }
    printf("%lld elements are wrong\n", (long long)wrong);
    free(a);
    free(b);
    free(c);
    krf_kernel_release(matmul);
    krf_array_release(xa);
    krf_array_release(xb);
    krf_array_release(xc);
    krf_context_destroy(ctx);
    return wrong != 0;
}
