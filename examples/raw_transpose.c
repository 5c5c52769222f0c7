/* A kernel of one's own as a node of a graph: a transposition by tiles in shared memory, between operations that fuse.
 *
 *     raw_transpose [rows columns]
 */
#include "example.h"

/* Line by line, as it would stand in a file: compilers' messages name these lines. The inner 33 keeps a tile's columns in different banks. */
static const char cuda[] = "extern \"C\" __global__ void transpose(const float *x, float *y, int rows, int columns) {\n"
                           "    __shared__ float tile[32][33];\n"
                           "    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;\n"
                           "    for (int i = 0; i < 32; i += 8)\n"
                           "        if (row + i < rows && column < columns) tile[threadIdx.y + i][threadIdx.x] = x[(long long)(row + i) * columns + column];\n"
                           "    __syncthreads();\n"
                           "    column = blockIdx.y * 32 + threadIdx.x;\n"
                           "    row = blockIdx.x * 32 + threadIdx.y;\n"
                           "    for (int i = 0; i < 32; i += 8)\n"
                           "        if (row + i < columns && column < rows) y[(long long)(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];\n"
                           "}\n";
static const char c[] = "void transpose(const float *x, float *y, int rows, int columns) {\n"
                        "    for (int i = 0; i < rows; i += 32)\n"
                        "        for (int j = 0; j < columns; j++)\n"
                        "            for (int k = i; k < rows && k < i + 32; k++) y[(long long)j * rows + k] = x[(long long)k * columns + j];\n"
                        "}\n";

int main(int argc, char **argv) {
    const int64_t rows = argc > 2 ? atoll(argv[1]) : 4000, columns = argc > 2 ? atoll(argv[2]) : 3000;
    krf_context *ctx = open_device();
    krf_raw_kernel *transpose = NULL;
    check(krf_kernel_define(ctx,
                            &(krf_kernel_description){.size = sizeof(krf_kernel_description),
                                                      .name = "transpose",
                                                      .parameters = "in f32 x[rows, columns], out f32 y[columns, rows], i32 rows, i32 columns",
                                                      .cuda = cuda,
                                                      .c = c,
                                                      .grid = "(columns + 31) / 32, (rows + 31) / 32",
                                                      .block = "32, 8"},
                            &transpose));
    float *data = malloc(sizeof *data * (size_t)(rows * columns));
    for (int64_t i = 0; i < rows * columns; i++) {
        data[i] = (float)(i % 1000);
    }
    krf_array *x = NULL, *out = NULL;
    check(krf_array_from_host(ctx, KRF_F32, 2, (int64_t[]){rows, columns}, data, &x));

    krf_graph *g = krf_graph_create(ctx);
    krf_expr in = krf_multiply(krf_input(g, x), krf_real(g, 3)), y; /* its consumer is no expression: stored */
    krf_kernel_call(transpose, g, 1, &in, NULL, NULL, &y);
    krf_expr result = krf_add(y, krf_real(g, 1));
    krf_plan *plan = NULL;
    check(krf_compile(g, 1, &result, NULL, &plan));
    const double best = time_plan(ctx, plan, &out);
    printf("(%lld, %lld): %d kernels, %.3g ms, %.3g GB/s\n", (long long)rows, (long long)columns, krf_plan_kernels(plan), best * 1e3, 6 * bytes_of(x) / best * 1e-9);

    float *got = malloc(sizeof *got * (size_t)(rows * columns));
    check(krf_array_to_host(out, got, sizeof *got * (size_t)(rows * columns)));
    int64_t wrong = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            wrong += got[j * rows + i] != data[i * columns + j] * 3 + 1;
        }
    }
    printf("%lld of %lld elements are wrong\n", (long long)wrong, (long long)(rows * columns));
    free(data);
    free(got);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_kernel_release(transpose);
    krf_array_release(x);
    krf_array_release(out);
    krf_context_destroy(ctx);
    return wrong != 0;
}
