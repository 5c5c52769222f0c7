/* Raw kernels: defined, called in graphs, launched on arrays; their errors. Expected values are computed here, element by element.
 * KRF_TEST_DEVICE */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static krf_context *ctx;
static bool cuda;

static krf_array *floats(int rank, const int64_t *shape, float first) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) {
        n *= shape[i];
    }
    float *data = malloc((size_t)(n > 0 ? n : 1) * sizeof *data);
    for (int64_t i = 0; i < n; i++) {
        data[i] = first + (float)i;
    }
    krf_array *a = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_F32, rank, shape, data, &a));
    free(data);
    return a;
}

static void read_array(krf_array *a, void *data) { assert_ok(krf_array_to_host(a, data, (size_t)krf_array_size(a) * krf_dtype_size(krf_array_dtype(a)))); }

/* ---- sources ---- */

static const char transpose_cuda[] = "extern \"C\" __global__ void transpose(const float *x, float *y, int m, int n) {\n"
                                     "    __shared__ float tile[8][9];\n"
                                     "    int j = blockIdx.x * 8 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;\n"
                                     "    if (i < m && j < n) tile[threadIdx.y][threadIdx.x] = x[i * n + j];\n"
                                     "    __syncthreads();\n"
                                     "    j = blockIdx.y * 8 + threadIdx.x;\n"
                                     "    i = blockIdx.x * 8 + threadIdx.y;\n"
                                     "    if (i < n && j < m) y[i * m + j] = tile[threadIdx.x][threadIdx.y];\n"
                                     "}\n";
static const char transpose_c[] = "void transpose(const float *x, float *y, int m, int n) {\n"
                                  "    for (int i = 0; i < m; i++)\n"
                                  "        for (int j = 0; j < n; j++) y[j * m + i] = x[i * n + j];\n"
                                  "}\n";

static krf_kernel_description transpose_description(void) {
    return (krf_kernel_description){.size = sizeof(krf_kernel_description), .name = "transpose", .parameters = "in f32 x[m, n], out f32 y[n, m], i32 m, i32 n", .cuda = transpose_cuda,
                                    .c = transpose_c, .grid = "(n + 7) / 8, (m + 7) / 8", .block = "8, 8"};
}

static krf_raw_kernel *define(krf_kernel_description d) {
    krf_raw_kernel *k = NULL;
    assert_ok(krf_kernel_define(ctx, &d, &k));
    return k;
}

/* y = a x + b of any shape; and how many elements were counted, with atomics. */
static const char axpb_cuda[] = "extern \"C\" __global__ void axpb(float a, const float *x, double b, float *y, unsigned *count, long long n) {\n"
                                "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
                                "    if (i < n) { y[i] = (float)(a * x[i] + b); if (y[i] > 0) atomicAdd(count, 1u); }\n"
                                "}\n";
static const char axpb_c[] = "void axpb(float a, const float *x, double b, float *y, unsigned *count, long long n) {\n"
                             "    for (long long i = 0; i < n; i++) { y[i] = (float)(a * x[i] + b); *count += y[i] > 0; }\n"
                             "}\n";

static krf_raw_kernel *define_axpb(void) {
    return define((krf_kernel_description){.size = sizeof(krf_kernel_description), .name = "axpb", .parameters = "f32 a, in f32 x, f64 b, out f32 y, inout u32 count[], i64 n = x.size", .cuda = axpb_cuda,
                                           .c = axpb_c, .grid = "max(1, (x.size + 63) / 64)", .block = "64"});
}

/* ---- in graphs ---- */

enum { M = 21, N = 13 };

static void is_a_node(void **state) {
    (void)state;
    krf_raw_kernel *k = define(transpose_description());
    krf_array *x = floats(2, (int64_t[]){M, N}, 0), *out = NULL;
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y, in = krf_add(krf_multiply(krf_input(g, x), krf_real(g, 3)), krf_real(g, 1));
    krf_kernel_call(k, g, 1, &in, NULL, NULL, &y);
    assert_true(krf_expr_ok(y));
    assert_int_equal(krf_expr_rank(y), 2);
    assert_int_equal(krf_expr_shape(y)[0], N);
    assert_int_equal(krf_expr_dtype(y), KRF_F32);
    krf_expr all = krf_sum(krf_sqrt(y), 1, (int[]){1}, false);
    float whole[N * M], sums[N];
    krf_array *outputs[2] = {NULL, NULL};
    assert_ok(krf_eval_many(2, (krf_expr[]){y, all}, outputs));
    read_array(outputs[0], whole);
    read_array(outputs[1], sums);
    for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int i = 0; i < M; i++) {
            const float want = (float)(i * N + j) * 3 + 1;
            assert_true(whole[j * M + i] == want);
            sum += sqrt(want);
        }
        assert_true(fabs(sums[j] - sum) < 1e-4 * sum);
    }
    krf_array_release(outputs[0]);
    krf_array_release(outputs[1]);
    /* a view is copied, a transposed one too; results of one kernel are another's operands */
    krf_expr cut = krf_slice(krf_input(g, x), 2, (krf_range[]){{1, KRF_NONE, 2}, {KRF_NONE, KRF_NONE, -1}}), back;
    krf_kernel_call(k, g, 1, &cut, NULL, NULL, &y);
    krf_kernel_call(k, g, 1, &y, NULL, NULL, &back);
    assert_ok(krf_eval(krf_subtract(back, cut), &out));
    float difference[M / 2 * N];
    read_array(out, difference);
    for (int i = 0; i < M / 2 * N; i++) {
        assert_true(difference[i] == 0);
    }
    krf_array_release(out);
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(x);
}

static void inout_is_functional(void **state) {
    (void)state;
    krf_raw_kernel *k = define_axpb();
    krf_array *x = floats(1, (int64_t[]){100}, -50), *outputs[3] = {NULL};
    const unsigned ten = 10;
    krf_array *start = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_U32, 0, NULL, &ten, &start));
    krf_graph *g = krf_graph_create(ctx);
    krf_expr count = krf_input(g, start), y[2];
    krf_expr inputs[] = {krf_real(g, 2.5), krf_input(g, x), krf_int(g, 7), count};
    const int64_t shape[] = {100};
    krf_kernel_call(k, g, 4, inputs, (krf_result_shape[]){{1, shape}}, NULL, y);
    if (krf_graph_status(g) != KRF_OK) {
        fail_msg("%s", krf_graph_error(g));
    }
    assert_ok(krf_eval_many(3, (krf_expr[]){y[0], y[1], krf_add(y[1], count)}, outputs));
    float data[100];
    unsigned counted, more, before;
    read_array(outputs[0], data);
    read_array(outputs[1], &counted);
    read_array(outputs[2], &more);
    read_array(start, &before);
    unsigned want = 10;
    for (int i = 0; i < 100; i++) {
        assert_true(data[i] == 2.5f * (float)(i - 50) + 7);
        want += data[i] > 0;
    }
    assert_int_equal(counted, want);
    assert_int_equal(more, want + 10);
    assert_int_equal(before, 10);
    for (int i = 0; i < 3; i++) {
        krf_array_release(outputs[i]);
    }
    krf_graph_destroy(g);
    krf_array_release(x);
    krf_array_release(start);
    krf_kernel_release(k);
}

/* A plan that runs often is replayed; placeholders and scalars change. */
static void plans_run_often(void **state) {
    (void)state;
    krf_raw_kernel *k = define_axpb();
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y[2], inputs[] = {krf_placeholder(g, "a", KRF_F32, 0, NULL), krf_negative(krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){70})), krf_placeholder_weak(g, "b", KRF_F64),
                               krf_cast(krf_int(g, 0), KRF_U32)};
    const int64_t shape[] = {7, 10};
    krf_kernel_call(k, g, 4, inputs, (krf_result_shape[]){{2, shape}}, NULL, y);
    krf_plan *plan = NULL;
    assert_ok(krf_compile(g, 2, (krf_expr[]){krf_multiply(y[0], krf_real(g, 2)), y[1]}, NULL, &plan));
    krf_graph_destroy(g);
    krf_kernel_release(k);
    assert_int_equal(krf_plan_kernels(plan), cuda ? 4 : 4); /* the copy of the counter, -x, the kernel, times 2 */
    bool raw = false;
    for (int i = 0; i < krf_plan_kernels(plan); i++) {
        krf_kernel_info info = {.size = sizeof info};
        assert_ok(krf_plan_kernel(plan, i, &info));
        if (strcmp(info.schedule, "raw") == 0) {
            raw = true;
            assert_non_null(strstr(info.source, "y[i] = (float)(a * x[i] + b)"));
            assert_int_equal(info.bytes_read, 70 * 4 + 4);
            assert_int_equal(info.bytes_written, 70 * 4 + 4);
        }
    }
    assert_true(raw);
    for (int round = 0; round < 7; round++) {
        krf_array *x = floats(1, (int64_t[]){70}, (float)round), *outputs[2] = {NULL, NULL};
        assert_ok(krf_plan_run(plan, NULL, 3, (krf_binding[]){krf_bind_real("a", round - 2.0), krf_bind_array("x", x), krf_bind_real("b", 0.25)}, outputs));
        float data[70];
        unsigned count, want = 0;
        read_array(outputs[0], data);
        read_array(outputs[1], &count);
        assert_int_equal(krf_array_rank(outputs[0]), 2);
        for (int i = 0; i < 70; i++) {
            const float value = (float)(round - 2) * -(float)(round + i) + 0.25f;
            assert_true(data[i] == 2 * value);
            want += value > 0;
        }
        assert_int_equal(count, want);
        krf_array_release(outputs[0]);
        krf_array_release(outputs[1]);
        krf_array_release(x);
    }
    krf_plan_release(plan);
}

/* One result twice, in given memory of another order, as a view, and not at all; an operand that another launch goes on with; given memory that is an input. */
static void results_of_all_kinds(void **state) {
    (void)state;
    krf_raw_kernel *k = define((krf_kernel_description){.size = sizeof(krf_kernel_description), .name = "split", .parameters = "in f32 x[m, n], out f32 whole[m, n], out i32 part[m, n], inout f32 sum[m, n], i32 n = m * n",
                                                        .cuda = "extern \"C\" __global__ void split(const float *x, float *whole, int *part, float *sum, int n) {\n"
                                                                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                                                "    if (i < n) { part[i] = (int)x[i] % 3; whole[i] = x[i] - part[i]; sum[i] += x[i]; }\n"
                                                                "}\n",
                                                        .c = "void split(const float *x, float *whole, int *part, float *sum, int n) {\n"
                                                             "    for (int i = 0; i < n; i++) { part[i] = (int)x[i] % 3; whole[i] = x[i] - part[i]; sum[i] += x[i]; }\n"
                                                             "}\n",
                                                        .grid = "(m * n + 31) / 32", .block = "32"});
    krf_array *x = floats(2, (int64_t[]){M, N}, 0), *start = floats(2, (int64_t[]){M, N}, 1000), *memory = NULL, *turned = NULL;
    assert_ok(krf_array_create(ctx, KRF_F32, 2, (int64_t[]){N, M}, &memory));
    assert_ok(krf_array_view(memory, 2, (int64_t[]){M, N}, (int64_t[]){1, M}, 0, &turned));
    krf_graph *g = krf_graph_create(ctx);
    krf_expr a = krf_input(g, x), r[3], s[3];
    krf_kernel_call(k, g, 2, (krf_expr[]){a, krf_input(g, start)}, NULL, NULL, r);
    krf_kernel_call(k, g, 2, (krf_expr[]){r[2], r[0]}, NULL, NULL, s); /* x is sum, sum is whole */
    if (krf_graph_status(g) != KRF_OK) {
        fail_msg("%s", krf_graph_error(g));
    }
    krf_array *outputs[] = {NULL, turned, NULL, NULL, x, NULL};
    krf_expr wanted[] = {r[0], r[0], krf_transpose(r[0], NULL), s[2], r[2], r[2]};
    assert_ok(krf_eval_many(6, wanted, outputs));
    float got[6][M * N];
    for (int i = 0; i < 6; i++) {
        assert_int_equal(krf_array_size(outputs[i]), M * N);
        read_array(outputs[i], got[i]);
    }
    for (int i = 0; i < M * N; i++) {
        const float whole = (float)(i - i % 3), sum = (float)(1000 + 2 * i);
        assert_true(got[0][i] == whole && got[1][i] == whole && got[2][i % N * M + i / N] == whole);
        assert_true(got[3][i] == whole + sum && got[4][i] == sum && got[5][i] == sum);
    }
    read_array(start, got[0]);
    assert_true(got[0][5] == 1005); /* functional: only what was given as output has changed */
    for (int i = 0; i < 6; i++) {
        if (outputs[i] != turned && outputs[i] != x) {
            krf_array_release(outputs[i]);
        }
    }
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(x);
    krf_array_release(start);
    krf_array_release(memory);
    krf_array_release(turned);
}

/* Launches that begin alike: each goes on with a copy of its own. Equal ones are one. */
static void launches_share_no_copy(void **state) {
    (void)state;
    krf_raw_kernel *k = define((krf_kernel_description){.size = sizeof(krf_kernel_description), .name = "gather", .parameters = "inout f32 s[n], in f32 x[n], i32 n",
                                                        .cuda = "extern \"C\" __global__ void gather(float *s, const float *x, int n) { if (threadIdx.x < n) s[threadIdx.x] += x[threadIdx.x]; }",
                                                        .c = "void gather(float *s, const float *x, int n) { for (int i = 0; i < n; i++) s[i] += x[i]; }", .grid = "1", .block = "32"});
    krf_array *x = floats(1, (int64_t[]){N}, 0), *y = floats(1, (int64_t[]){N}, 100), *outputs[3] = {NULL, NULL, NULL};
    krf_graph *g = krf_graph_create(ctx);
    krf_expr a = krf_input(g, x), b = krf_input(g, y), r[3];
    krf_kernel_call(k, g, 2, (krf_expr[]){a, a}, NULL, NULL, &r[0]);
    krf_kernel_call(k, g, 2, (krf_expr[]){a, b}, NULL, NULL, &r[1]);
    krf_kernel_call(k, g, 2, (krf_expr[]){a, a}, NULL, NULL, &r[2]);
    assert_int_equal(r[0].id, r[2].id);
    assert_ok(krf_eval_many(3, r, outputs));
    for (int k2 = 0; k2 < 3; k2++) {
        float got[N];
        read_array(outputs[k2], got);
        for (int i = 0; i < N; i++) {
            assert_true(got[i] == (float)(k2 == 1 ? 2 * i + 100 : 2 * i));
        }
        krf_array_release(outputs[k2]);
    }
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(x);
    krf_array_release(y);
}

/* Kernels of several rounds keep what nobody else reads: a raw kernel does. */
static void reads_what_rounds_hand_on(void **state) {
    (void)state;
    krf_raw_kernel *k = define(transpose_description());
    krf_array *x = floats(2, (int64_t[]){M, N}, 0), *outputs[2] = {NULL, NULL};
    krf_graph *g = krf_graph_create(ctx);
    krf_expr in = krf_input(g, x), mean = krf_mean(in, 1, (int[]){1}, true), y;
    krf_kernel_call(k, g, 1, &mean, NULL, NULL, &y);
    assert_ok(krf_eval_many(2, (krf_expr[]){krf_subtract(in, mean), y}, outputs));
    float centred[M * N], means[M];
    read_array(outputs[0], centred);
    read_array(outputs[1], means);
    for (int i = 0; i < M; i++) {
        assert_true(means[i] == (float)(i * N + N / 2)); /* the middle one */
        for (int j = 0; j < N; j++) {
            assert_true(centred[i * N + j] == (float)(j - N / 2));
        }
    }
    krf_array_release(outputs[0]);
    krf_array_release(outputs[1]);
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(x);
}

/* ---- complex numbers, in place ---- */

static const char vmult_cuda[] = "extern \"C\" __global__ void vmult(float2 *x, const float2 *y, float2 f, int n) {\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < n) {\n"
                                 "        float2 a = x[i], b = y[i], c = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);\n"
                                 "        x[i] = make_float2(c.x * f.x - c.y * f.y, c.x * f.y + c.y * f.x);\n"
                                 "    }\n"
                                 "}\n";
static const char vmult_c[] = "void vmult(float _Complex *x, const float _Complex *y, float _Complex f, int n) {\n"
                              "    for (int i = 0; i < n; i++) x[i] *= y[i] * f;\n"
                              "}\n";

static void complex_in_place(void **state) {
    (void)state;
    krf_raw_kernel *k = define((krf_kernel_description){.size = sizeof(krf_kernel_description), .name = "vmult", .parameters = "inout c64 x[n], in c64 y[n], c64 f, i32 n", .cuda = vmult_cuda, .c = vmult_c,
                                                        .grid = "(n + 31) / 32", .block = "32"});
    enum { COUNT = 77 };
    float x[COUNT][2], y[COUNT][2], got[COUNT][2];
    for (int i = 0; i < COUNT; i++) {
        x[i][0] = (float)i, x[i][1] = (float)(3 - i), y[i][0] = (float)(i % 7), y[i][1] = (float)(i % 5 - 2);
    }
    krf_array *ax = NULL, *ay = NULL, *out = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_C64, 1, (int64_t[]){COUNT}, x, &ax));
    assert_ok(krf_array_from_host(ctx, KRF_C64, 1, (int64_t[]){COUNT}, y, &ay));
    krf_graph *g = krf_graph_create(ctx);
    krf_expr r, inputs[] = {krf_input(g, ax), krf_input(g, ay), krf_complex(g, 2, -1)};
    krf_kernel_call(k, g, 3, inputs, NULL, NULL, &r);
    krf_array *outputs[2] = {NULL, NULL};
    assert_ok(krf_eval_many(2, (krf_expr[]){r, krf_real_part(krf_multiply(r, r))}, outputs));
    read_array(outputs[0], got);
    float squares[COUNT];
    read_array(outputs[1], squares);
    for (int i = 0; i < COUNT; i++) {
        const float re = x[i][0] * y[i][0] - x[i][1] * y[i][1], im = x[i][0] * y[i][1] + x[i][1] * y[i][0];
        assert_true(got[i][0] == re * 2 + im && got[i][1] == im * 2 - re); /* small integers */
        assert_true(squares[i] == got[i][0] * got[i][0] - got[i][1] * got[i][1]);
    }
    read_array(ax, got);
    assert_memory_equal(got, x, sizeof x);
    /* the same, launched: twice in place */
    for (int round = 0; round < 2; round++) {
        assert_ok(krf_kernel_launch(k, NULL, 3, (krf_binding[]){krf_bind_array("x", ax), krf_bind_array("y", ay), krf_bind_complex("f", 0, 1)}, NULL));
    }
    read_array(ax, got);
    for (int i = 0; i < COUNT; i++) {
        float re = x[i][0], im = x[i][1];
        for (int round = 0; round < 2; round++) {
            const float a = re * y[i][0] - im * y[i][1], b = re * y[i][1] + im * y[i][0];
            re = -b, im = a;
        }
        assert_true(got[i][0] == re && got[i][1] == im);
    }
    krf_array_release(out);
    krf_array_release(outputs[0]);
    krf_array_release(outputs[1]);
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(ax);
    krf_array_release(ay);
}

/* ---- launched on arrays, strides, dynamic shared memory ---- */

static void launched(void **state) {
    (void)state;
    krf_raw_kernel *k = define(transpose_description());
    krf_array *x = floats(2, (int64_t[]){M, N}, 5), *y = NULL, *row = NULL;
    assert_ok(krf_array_create(ctx, KRF_F32, 2, (int64_t[]){N, M}, &y));
    assert_ok(krf_kernel_launch(k, NULL, 2, (krf_binding[]){krf_bind_array(NULL, x), krf_bind_array(NULL, y)}, NULL));
    float got[N * M];
    read_array(y, got);
    for (int i = 0; i < M * N; i++) {
        assert_true(got[i % N * M + i / N] == 5 + (float)i);
    }
    /* what is not in C order is refused, unless strides are asked for */
    assert_ok(krf_array_view(x, 2, (int64_t[]){N, M}, (int64_t[]){1, N}, 0, &row));
    assert_int_equal(krf_kernel_launch(k, NULL, 2, (krf_binding[]){krf_bind_array("x", row), krf_bind_array("y", y)}, NULL), KRF_E_SHAPE);
    krf_kernel_release(k);
    k = define((krf_kernel_description){.size = sizeof(krf_kernel_description), .name = "gather", .parameters = "in f32 x[m, n], out f32 y[m, n], i64 s0 = x.strides[0], i64 s1 = x.strides[1], u32 n",
                                        .cuda = "extern \"C\" __global__ void gather(const float *x, float *y, long long s0, long long s1, unsigned n) {\n"
                                                "    y[blockIdx.x * n + threadIdx.x] = x[blockIdx.x * s0 + threadIdx.x * s1];\n}\n",
                                        .c = "void gather(const float *x, float *y, long long s0, long long s1, unsigned n) {\n"
                                             "    for (unsigned i = 0; i < 13 * 21u; i++) y[i] = x[i / n * s0 + i % n * s1];\n}\n",
                                        .grid = "m", .block = "n"});
    assert_ok(krf_kernel_launch(k, NULL, 2, (krf_binding[]){krf_bind_array("x", row), krf_bind_array("y", y)}, NULL));
    float again[N * M];
    read_array(y, again);
    assert_memory_equal(got, again, sizeof got);
    krf_graph *g = krf_graph_create(ctx); /* in a graph the view is passed as it is, and nothing is copied */
    krf_expr r, in = krf_transpose(krf_input(g, x), NULL);
    krf_kernel_call(k, g, 1, &in, NULL, NULL, &r);
    krf_plan *plan = NULL;
    assert_ok(krf_compile(g, 1, &r, NULL, &plan));
    assert_int_equal(krf_plan_kernels(plan), 1);
    krf_array *out = NULL;
    assert_ok(krf_plan_run(plan, NULL, 0, NULL, &out));
    read_array(out, again);
    assert_memory_equal(got, again, sizeof got);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(out);
    krf_array_release(row);
    krf_array_release(x);
    krf_array_release(y);
}

static void dynamic_shared_memory(void **state) {
    (void)state;
    krf_raw_kernel *k = define((krf_kernel_description){.size = sizeof(krf_kernel_description), .name = "reverse", .parameters = "in f64 x[n], out f64 y[n], i32 n",
                                                        .cuda = "extern \"C\" __global__ void reverse(const double *x, double *y, int n) {\n"
                                                                "    extern __shared__ double s[];\n"
                                                                "    for (int i = threadIdx.x; i < n; i += WIDTH) s[i] = x[i];\n"
                                                                "    __syncthreads();\n"
                                                                "    for (int i = threadIdx.x; i < n; i += WIDTH) y[i] = s[n - 1 - i];\n"
                                                                "}\n",
                                                        .c = "void reverse(const double *x, double *y, int n) { for (int i = 0; i < n; i++) y[i] = x[n - 1 - i]; }\n", .grid = "1", .block = "32",
                                                        .shared = "8 * n", .options = "-DWIDTH=32 --fmad=true"});
    const int64_t sizes[] = {5, 1000, 20000}; /* the last needs more than 48 KiB */
    for (int s = 0; s < 3; s++) {
        const int64_t n = sizes[s];
        double *data = malloc((size_t)n * sizeof *data), *got = malloc((size_t)n * sizeof *got);
        for (int64_t i = 0; i < n; i++) {
            data[i] = (double)i / 3;
        }
        krf_array *x = NULL, *y = NULL;
        assert_ok(krf_array_from_host(ctx, KRF_F64, 1, &n, data, &x));
        assert_ok(krf_array_create(ctx, KRF_F64, 1, &n, &y));
        assert_ok(krf_kernel_launch(k, NULL, 2, (krf_binding[]){krf_bind_array("y", y), krf_bind_array("x", x)}, NULL));
        read_array(y, got);
        for (int64_t i = 0; i < n; i++) {
            assert_true(got[i] == data[n - 1 - i]);
        }
        krf_array_release(x);
        krf_array_release(y);
        free(data);
        free(got);
    }
    krf_kernel_release(k);
}

/* An option that takes the place of another takes no room, however often it stands there. */
static void options_again(void **state) {
    (void)state;
    char options[60 * 12 + 32] = "";
    for (int i = 0; i < 60; i++) {
        strcat(options, i % 2 == 0 ? "--fmad=true " : "--std=c++17 ");
    }
    strcat(options, "-DVALUE=7");
    krf_raw_kernel *k = define((krf_kernel_description){.size = sizeof(krf_kernel_description), .name = "set_value", .parameters = "inout i32 x[n], i32 n",
                                                        .cuda = "extern \"C\" __global__ void set_value(int *x, int n) { for (int i = threadIdx.x; i < n; i += 32) x[i] += VALUE; }\n",
                                                        .c = "void set_value(int *x, int n) { for (int i = 0; i < n; i++) x[i] += 7; }\n", .grid = "1", .block = "32", .options = options});
    const int64_t n = 3;
    const int data[] = {1, 20, 300};
    int got[3];
    krf_array *x = NULL;
    assert_ok(krf_array_from_host(ctx, KRF_I32, 1, &n, data, &x));
    assert_ok(krf_kernel_launch(k, NULL, 1, (krf_binding[]){krf_bind_array("x", x)}, NULL));
    read_array(x, got);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(got[i], data[i] + 7);
    }
    krf_array_release(x);
    krf_kernel_release(k);
}

/* ---- errors ---- */

static void wrong_definition(krf_status status, const char *word, krf_kernel_description d) {
    krf_raw_kernel *k = (krf_raw_kernel *)&d;
    krf_status found = krf_kernel_define(ctx, &d, &k);
    if (found != status || strstr(krf_error_message(), word) == NULL || k != NULL) {
        fail_msg("%s: %s instead of %s with '%s'", krf_error_message(), krf_status_name(found), krf_status_name(status), word);
    }
}

static void wrong_definitions(void **state) {
    (void)state;
    krf_kernel_description d = transpose_description();
    krf_raw_kernel *k = NULL;
    assert_int_equal(krf_kernel_define(NULL, &d, &k), KRF_E_ARGUMENT);
    assert_int_equal(krf_kernel_define(ctx, NULL, &k), KRF_E_ARGUMENT);
    assert_int_equal(krf_kernel_define(ctx, &d, NULL), KRF_E_ARGUMENT);
#define WRONG(status, word, ...) \
    do { \
        d = transpose_description(); \
        __VA_ARGS__; \
        wrong_definition(status, word, d); \
    } while (0)
    WRONG(KRF_E_ARGUMENT, "size", d.size = 0);
    WRONG(KRF_E_ARGUMENT, "name is NULL", d.name = NULL);
    WRONG(KRF_E_ARGUMENT, "not one of a function", d.name = "a b");
    WRONG(KRF_E_ARGUMENT, "parameters are NULL", d.parameters = NULL);
    WRONG(KRF_E_ARGUMENT, "no source", d.cuda = d.c = NULL);
    WRONG(KRF_E_ARGUMENT, "extern", d.cuda = "__global__ void transpose() {}");
    WRONG(KRF_E_ARGUMENT, "CUDA source has no function", d.name = "transpos");
    WRONG(KRF_E_ARGUMENT, "C source has no function", d.c = "void f(void) {}");
    WRONG(KRF_E_DTYPE, "'f31' is no dtype", d.parameters = "in f31 x[m, n], out f32 y[n, m]");
    WRONG(KRF_E_DTYPE, "'input' is no dtype", d.parameters = "input f32 x");
    WRONG(KRF_E_ARGUMENT, "has no name", d.parameters = "in f32");
    WRONG(KRF_E_ARGUMENT, "lacks a ']'", d.parameters = "in f32 x[m");
    WRONG(KRF_E_ARGUMENT, "say in, out or inout", d.parameters = "f32 x[m]");
    WRONG(KRF_E_ARGUMENT, "name of an earlier", d.parameters = "in f32 x, out f32 x");
    WRONG(KRF_E_ARGUMENT, "no result", d.parameters = "in f32 x[m, n]");
    WRONG(KRF_E_ARGUMENT, "must be an integer", d.parameters = "in f32 x[m, n], out f32 y[n, m], f32 a = m");
    WRONG(KRF_E_ARGUMENT, "k is no size", d.grid = "k");
    WRONG(KRF_E_ARGUMENT, "k is no size", d.parameters = "in f32 x[m, n], out f32 y[k + 1, m]", d.grid = "1");
    WRONG(KRF_E_ARGUMENT, "no array whose shape is known", d.grid = "z.size");
    WRONG(KRF_E_ARGUMENT, "more than three", d.block = "1, 2, 3, 4");
    WRONG(KRF_E_ARGUMENT, "lacks a ')'", d.grid = "(n + 3");
    WRONG(KRF_E_ARGUMENT, "not made of integers", d.grid = "n + 1.5");
    WRONG(KRF_E_ARGUMENT, "goes on", d.grid = "n m");
    WRONG(KRF_E_ARGUMENT, "arrays have not", d.shared = "x.length");
    WRONG(KRF_E_ARGUMENT, "too deeply",
          d.grid = "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((n))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))");
}

/* In a graph of its own: the message of the call. */
static void wrong_call(krf_raw_kernel *k, krf_status status, const char *word, int n, krf_expr (*make)(krf_graph *g, int i), const krf_result_shape *shapes, const krf_launch_shape *launch) {
    krf_graph *g = krf_graph_create(ctx);
    krf_expr inputs[8], outputs[8];
    for (int i = 0; i < n; i++) {
        inputs[i] = make(g, i);
    }
    krf_kernel_call(k, g, n, inputs, shapes, launch, outputs);
    if (krf_graph_status(g) != status || strstr(krf_graph_error(g), word) == NULL || krf_expr_ok(outputs[0])) {
        fail_msg("%s: %s instead of %s with '%s'", krf_graph_error(g), krf_status_name(krf_graph_status(g)), krf_status_name(status), word);
    }
    krf_graph_destroy(g);
}

static krf_array *matrix;
static krf_expr a_matrix(krf_graph *g, int i) { return (void)i, krf_input(g, matrix); }
static krf_expr a_double(krf_graph *g, int i) { return (void)i, krf_cast(krf_input(g, matrix), KRF_F64); }
static krf_expr a_row(krf_graph *g, int i) { return (void)i, krf_reshape(krf_input(g, matrix), 1, (int64_t[]){-1}); }
static krf_expr nothing(krf_graph *g, int i) { return (void)i, krf_slice(krf_input(g, matrix), 1, (krf_range[]){{0, 0, 1}}); }
static krf_expr axpb_inputs(krf_graph *g, int i) { return i == 1 ? krf_input(g, matrix) : i == 3 ? krf_cast(krf_int(g, 0), KRF_U32) : krf_real(g, 3); }
static krf_expr axpb_computed(krf_graph *g, int i) { return i == 0 ? krf_sum(krf_input(g, matrix), 0, NULL, false) : axpb_inputs(g, i); }

static void wrong_calls(void **state) {
    (void)state;
    matrix = floats(2, (int64_t[]){M, N}, 0);
    krf_raw_kernel *k = define(transpose_description());
    wrong_call(k, KRF_E_ARGUMENT, "takes 1 input", 2, a_matrix, NULL, NULL);
    wrong_call(k, KRF_E_ARGUMENT, "takes 1 input", 0, a_matrix, NULL, NULL);
    wrong_call(k, KRF_E_DTYPE, "x is f64, and f32 was declared", 1, a_double, NULL, NULL);
    wrong_call(k, KRF_E_SHAPE, "(273,), and the parameter is [m, n]", 1, a_row, NULL, NULL);
    wrong_call(k, KRF_E_UNSUPPORTED, "1 to 1024 threads", 1, a_matrix, NULL, &(krf_launch_shape){.block = {64, 32, 1}});
    wrong_call(k, KRF_E_ARGUMENT, "65535 along y", 1, a_matrix, NULL, &(krf_launch_shape){.grid = {1, 70000, 1}});
    wrong_call(k, KRF_E_UNSUPPORTED, "no device has so much", 1, a_matrix, NULL, &(krf_launch_shape){.shared = 1u << 30});
    krf_kernel_release(k);
    krf_kernel_description d = transpose_description();
    d.grid = "n / 100";
    k = define(d);
    wrong_call(k, KRF_E_ARGUMENT, "the grid is (0, 1, 1), for m = 21, n = 13", 1, a_matrix, NULL, NULL);
    krf_kernel_release(k);
    d.grid = "x.shape[2]";
    k = define(d);
    wrong_call(k, KRF_E_ARGUMENT, "in 'x.shape[2]', axis 2 is out of range: x has rank 2 (m = 21, n = 13)", 1, a_matrix, NULL, NULL);
    krf_kernel_release(k);
    d.grid = NULL;
    k = define(d);
    wrong_call(k, KRF_E_ARGUMENT, "there is no grid", 1, a_matrix, NULL, NULL);
    krf_kernel_release(k);
    k = define_axpb();
    wrong_call(k, KRF_E_ARGUMENT, "has no brackets", 4, axpb_inputs, NULL, NULL);
    wrong_call(k, KRF_E_ARGUMENT, "a is passed by value", 4, axpb_computed, (krf_result_shape[]){{0, NULL}}, NULL);
    krf_kernel_release(k);
    krf_array_release(matrix);
}

/* All extents 0: nothing is launched, and the result is there. */
static void empty(void **state) {
    (void)state;
    matrix = floats(2, (int64_t[]){M, N}, 0);
    krf_raw_kernel *k = define(transpose_description());
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y, x = nothing(g, 0);
    krf_array *out = NULL;
    krf_kernel_call(k, g, 1, &x, NULL, NULL, &y);
    assert_ok(krf_eval(y, &out));
    assert_int_equal(krf_array_size(out), 0);
    assert_int_equal(krf_array_shape(out)[0], N);
    krf_graph_destroy(g);
    krf_array_release(out);
    krf_kernel_release(k);
    krf_array_release(matrix);
}

static void wrong_sources(void **state) {
    (void)state;
    matrix = floats(2, (int64_t[]){4, 4}, 0);
    krf_array *out = NULL;
    struct {
        const char *cuda, *c, *words[3];
        krf_status status;
    } sources[] = {
        {"extern \"C\" __global__ void transpose(const float *x, float *y, int m, int n) {\n    int i = 0;\n    y[i] = undeclared;\n}\n",
         "void transpose(const float *x, float *y, int m, int n) {\n    int i = 0;\n    y[i] = undeclared;\n}\n",
         {"transpose.c", "3", "undeclared"},
         KRF_E_COMPILE},
        {"extern \"C\" __global__ void transpose(const float *x, float *y, int m) { y[0] = x[0]; }\n", "void transpose(const float *x, float *y, int m) { y[0] = x[0]; }\n",
         {"transpose", "definition", "arguments"}, KRF_E_COMPILE},
        {"extern \"C\" __global__ void transpose(const double *x, float *y, int m, int n) { y[0] = x[0]; }\n",
         "void transpose(const double *x, float *y, int m, int n) { y[0] = x[0]; }\n",
         {"transpose", "definition", "incompatible"}, KRF_E_COMPILE},
        {cuda ? NULL : transpose_cuda, cuda ? transpose_c : NULL, {"has no", cuda ? "CUDA source" : "C source", "give"}, KRF_E_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        krf_kernel_description d = transpose_description();
        d.cuda = sources[i].cuda;
        d.c = sources[i].c;
        krf_raw_kernel *k = define(d);
        krf_graph *g = krf_graph_create(ctx);
        krf_expr y, x = krf_input(g, matrix);
        krf_kernel_call(k, g, 1, &x, NULL, NULL, &y);
        for (int way = 0; way < 2; way++) {
            krf_array *to = NULL;
            assert_ok(krf_array_create(ctx, KRF_F32, 2, (int64_t[]){4, 4}, &to));
            krf_status status = way == 0 ? krf_eval(y, &out) : krf_kernel_launch(k, NULL, 2, (krf_binding[]){krf_bind_array("x", matrix), krf_bind_array("y", to)}, NULL);
            const char *said = krf_error_message();
            bool all = status == sources[i].status && strstr(said, sources[i].words[0]) != NULL && strstr(said, sources[i].words[1]) != NULL;
            all &= (cuda && i > 0) || strstr(said, sources[i].words[2]) != NULL;
            if (!all) {
                fail_msg("source %zu: %s: %s", i, krf_status_name(status), said);
            }
            krf_array_release(to);
        }
        krf_graph_destroy(g);
        krf_kernel_release(k);
    }
    krf_array_release(matrix);
}

static void cannot_be_differentiated(void **state) {
    (void)state;
    matrix = floats(2, (int64_t[]){4, 4}, 0);
    krf_raw_kernel *k = define(transpose_description());
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y, x = krf_input(g, matrix), d;
    krf_kernel_call(k, g, 1, &x, NULL, NULL, &y);
    krf_expr constant = krf_sum(krf_multiply(krf_stop_gradient(y), x), 0, NULL, false);
    krf_grad(constant, 1, &x, &d);
    assert_true(krf_expr_ok(d));
    krf_grad(krf_sum(krf_multiply(y, y), 0, NULL, false), 1, &x, &d);
    assert_false(krf_expr_ok(d));
    assert_non_null(strstr(krf_graph_error(g), "raw kernel transpose"));
    krf_graph_destroy(g);
    g = krf_graph_create(ctx);
    x = krf_input(g, matrix);
    krf_kernel_call(k, g, 1, &x, NULL, NULL, &y);
    d = krf_jvp(y, 1, &x, &x);
    assert_false(krf_expr_ok(d));
    assert_non_null(strstr(krf_graph_error(g), "raw kernel transpose"));
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(matrix);
}

static void dumps(void **state) {
    (void)state;
    matrix = floats(2, (int64_t[]){M, N}, 0);
    krf_raw_kernel *k = define(transpose_description());
    krf_graph *g = krf_graph_create(ctx);
    krf_expr y, x = krf_exp(krf_input(g, matrix));
    krf_kernel_call(k, g, 1, &x, NULL, NULL, &y);
    char *text = NULL;
    size_t size = 0;
    const struct {
        krf_dump_kind kind;
        const char *target, *words[3];
    } kinds[] = {{KRF_DUMP_GRAPH, NULL, {"# raw kernel transpose(in f32 x[m, n]", "transpose(exp(x0))", ".y"}},
                 {KRF_DUMP_PLAN, NULL, {" raw\n", "computes transpose(", "cut: a raw kernel"}},
                 {KRF_DUMP_SOURCE, "cuda", {"#line 1 \"transpose.cu\"", "__shared__ float tile[8][9];", "exp"}},
                 {KRF_DUMP_SOURCE, "c", {"#line 1 \"transpose.c\"", "y[j * m + i] = x[i * n + j];", "exp"}}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_ok(krf_dump(g, 1, &y, kinds[i].kind, kinds[i].target, NULL, &text, &size));
        for (int w = 0; w < 3; w++) {
            if (strstr(text, kinds[i].words[w]) == NULL) {
                fail_msg("no '%s' in\n%s", kinds[i].words[w], text);
            }
        }
        krf_free(text);
    }
    /* NVRTC needs no GPU; where there is none, the test on a GPU compiles. */
    krf_status status = krf_dump(g, 1, &y, KRF_DUMP_PTX, "cuda", "sm_90", &text, &size);
    if (status == KRF_OK) {
        assert_non_null(strstr(text, "transpose"));
        krf_free(text);
    } else if (strstr(krf_error_message(), "libnvrtc") == NULL) {
        fail_msg("%s", krf_error_message());
    }
    krf_graph_destroy(g);
    krf_kernel_release(k);
    krf_array_release(matrix);
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    options.device = asked_device();
    cuda = strcmp(options.device, "cpu") != 0;
    ctx = open_or_skip(&options);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_node), cmocka_unit_test(inout_is_functional), cmocka_unit_test(plans_run_often), cmocka_unit_test(results_of_all_kinds), cmocka_unit_test(reads_what_rounds_hand_on), cmocka_unit_test(launches_share_no_copy), cmocka_unit_test(complex_in_place), cmocka_unit_test(launched), cmocka_unit_test(dynamic_shared_memory), cmocka_unit_test(options_again),
        cmocka_unit_test(wrong_definitions), cmocka_unit_test(wrong_calls), cmocka_unit_test(empty), cmocka_unit_test(wrong_sources), cmocka_unit_test(cannot_be_differentiated), cmocka_unit_test(dumps),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_context_destroy(ctx);
    return failed;
}
