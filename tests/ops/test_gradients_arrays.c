/* Gradients through views, movement, reductions and scans against difference quotients; conventions where a function has several derivatives, zeros in
 * products, complex numbers; how many kernels value and gradients take; errors. */
#include "helpers.h"
#include "ops/common.h"

#include "ir/graph.h"

enum { ROWS = 3, COLUMNS = 4, N = ROWS * COLUMNS, SOME = 4 /* what is compiled: every fourth */ };

static runs all;
static krf_context *interpreter;

/* Of x, (3, 4); y is (4,), i and k are places. No element is 0, no two are equal or near. */
static const char *const forms[] = {
    "x[::-1]", "x[1:, ::2]", "x[:, -1]", "x[2:0:-1, 3:0:-2]", "x[None, ..., 1]", "x.T", "transpose(x[None], (2, 0, 1))", "x.reshape(2, 6)", "x.reshape(-1)",
    "broadcast_to(x, (2, 3, 4))", "broadcast_to(x[:, :1], (3, 5))", "x[0] + x", "flip(x)", "expand_dims(x, 1) * y", "squeeze(x[:1]) * y", "diagonal(x)", "diagonal(x, 1)",
    "diagonal(x, -2)", "diagonal(x, 9)", "diagonal(stack((x, x * x)), 1, axis1=2, axis2=1)", "trace(x)", "sliding_window_view(x, 2, axis=1)", "sliding_window_view(x, (2, 3))",
    "max(sliding_window_view(x, (2, 2)), axis=(2, 3))", "sliding_window_view(x, 4, axis=1)", "roll(x, 1)", "roll(x, (1, -2), (0, 1))", "roll(x, 5, axis=1)", "repeat(x, 3, axis=0)",
    "repeat(x, 2, axis=1)[:, 1:6]", "tile(x, (2, 3))", "tile(x, 2)[:, 1:7]", "pad(x, 1)", "pad(x, ((1, 2), (0, 3)))[1:, 1:]", "pad(x, 2, 'edge')", "pad(x, 2, 'reflect')",
    "pad(x, 5, 'wrap')", "concatenate((x, 2 * x, x * x), axis=0)", "concatenate((x, y[None]), axis=0)[1:]", "stack((x, sin(x)), axis=1)", "split(x, 2, axis=1)[1]", "diff(x, axis=1)",
    "diff(x, n=2, axis=0)", "x.at[1:, ::2].set(x[:2, :2] * 3)", "x.at[::2, ::-1].add(y)", "x.at[1].multiply(x[0])", "x.at[0].min(0.1)", "take(x, i, axis=0)", "take(x, i, axis=1)", "x[:, i]",
    "x[i, k[0, :4]]", "take(x, arange(4)[::-1], axis=1)", "take(x, 2 * arange(3) - 3, axis=1)", "take(x, 7 - 3 * arange(5), axis=0)", "take(x, abs(arange(7) - 3), axis=1)",
    "take(x, (arange(9) - 2) // 3, axis=1)", "take(x, (arange(9) - 4) % 3, axis=0)", "take(x, minimum(arange(6), 2), axis=1)", "take(x, maximum(arange(3), 9), axis=1)", "take(x, -arange(4), axis=0)",
    "take(x, 0 * arange(4), axis=0)", "take(x, 5000 * arange(3), axis=0)", "take(x, arange(5) // 1000000, axis=1)", "take(x, (arange(5) - 2) // 1000000000000, axis=1)", "take(x, (arange(5) - 1) % 1000000000000, axis=0)",
    "take(x, 1000000000000000000 * arange(3), axis=1)", "take(x, arange(3) + 1000000000000000000, axis=1)", "take(x, arange(9) - 4, axis=0)", "take(x, arange(0), axis=0)", "x[1, 2]", "take_along_axis(x, k, axis=1)", "take_along_axis(x[:, :1], k % 1, axis=1)",
    "take_along_axis(x[:1], k, axis=1)", "moveaxis(x[None], 0, -1)", "swapaxes(x, 0, 1)", "triu(x)", "tril(x, -1)", "outer(x, x[0])", "dot(x[0], x[1])", "average(x, axis=1, weights=y)",
    "sum(x, axis=0)", "sum(x)", "sum(x, axis=(0, 1), keepdims=True)", "mean(x, axis=1)", "prod(x)", "prod(x, axis=0)", "prod(x, axis=1, keepdims=True)", "prod(x[:, :1], axis=1)", "max(x)",
    "max(x, axis=0)", "min(x, axis=1)", "var(x)", "var(x, axis=0, ddof=1)", "std(x, axis=1)", "ptp(x)", "logsumexp(x)", "logsumexp(x, axis=1)", "norm(x)", "norm(x, axis=0)", "norm1(x)",
    "norminf(x, axis=1)", "nansum(where(x > 1, nan, x))", "nanmean(x, axis=0)", "nanmax(x)", "nanprod(x)", "exp(x) / sum(exp(x), axis=1, keepdims=True)", "cumsum(x, axis=0)", "cumsum(x, axis=1)",
    "cumsum(x)", "cumprod(x, axis=1)", "cumprod(x)", "cummax(x, axis=0)", "cummax(x)", "cummin(x, axis=1)", "where(x > 0.5, x, x * x)", "f64(f32(x)) * 0 + x", "x ** 3 + x ** y", "x % 0.3", "x // 0.3",
    "x * stop_gradient(3.0)", "sum(x, axis=0)[None] * x", "(x - mean(x)) / std(x)", "real(conj(complex(x, 2)) * complex(x, x))", "abs(complex(x, 1))", "angle(complex(x, x * x))", "imag(exp(complex(x, x)))",
    "real(sum(sqrt(complex(x, 1)), axis=0))", "real(prod(complex(x, 1), axis=0))", "real(cumsum(complex(x, x), axis=1) ** 2)", "real(complex(x, 1) / complex(2, x))",
};
enum { FORMS = sizeof forms / sizeof *forms };

static double x_values[N];

typedef struct names {
    krf_expr x;
    krf_binding bindings[4];
} names;

static names inputs(krf_graph *g, krf_context *context, const double *x) {
    static const double y[COLUMNS] = {0.7, -1.2, 0.4, 1.9};
    static const int64_t i[] = {2, 0, -1, 2}, k[N] = {0, 1, 1, 3, -2, 0, 2, 2, 3, -4, 9, 1};
    names n = {.x = host_input(g, context, KRF_F64, 2, (int64_t[]){ROWS, COLUMNS}, x)};
    n.bindings[0] = krf_bind_expr("x", n.x);
    n.bindings[1] = krf_bind_expr("y", host_input(g, context, KRF_F64, 1, (int64_t[]){COLUMNS}, y));
    n.bindings[2] = krf_bind_expr("i", host_input(g, context, KRF_I64, 1, (int64_t[]){4}, i));
    n.bindings[3] = krf_bind_expr("k", host_input(g, context, KRF_I64, 2, (int64_t[]){ROWS, COLUMNS}, k));
    return n;
}

static krf_expr parsed(krf_graph *g, const names *n, const char *text) {
    krf_expr y;
    if (krf_parse(g, text, n->bindings, 4, &y) != KRF_OK) {
        fail_msg("%s: %s", text, krf_graph_error(g));
    }
    return y;
}

/* A number that weighs every element otherwise. */
static krf_expr loss_of(krf_expr f) {
    krf_graph *g = f.graph;
    int rank = krf_expr_rank(f);
    int64_t shape[KRF_MAX_RANK], size = 1;
    for (int i = 0; i < rank; i++) {
        shape[i] = krf_expr_shape(f)[i];
        size *= shape[i];
    }
    krf_expr w = krf_reshape(krf_cast(krf_arange(g, 0, size, 1), KRF_F64), rank, shape);
    return krf_sum(krf_multiply(f, krf_sin(krf_add(w, krf_scalar(g, 1.5)))), 0, NULL, false);
}

/* Derivative number `order` of a form's loss: the second is of the first's loss. */
static krf_expr derivative(const names *n, krf_expr f, int order) {
    krf_expr y = loss_of(f);
    for (int k = 0; k < order; k++) {
        krf_grad(k == 0 ? y : loss_of(y), 1, &n->x, &y);
    }
    return y;
}

static void evaluate(int n, krf_expr *ys, double (*out)[N]) {
    if (n == 0) {
        return;
    }
    krf_array **results = calloc((size_t)n, sizeof *results);
    assert_non_null(results);
    if (krf_eval_many(n, ys, results) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    for (int k = 0; k < n; k++) {
        assert_true(krf_array_size(results[k]) <= N);
        assert_int_equal(krf_array_to_host(results[k], out[k], (size_t)krf_array_size(results[k]) * sizeof(double)), KRF_OK);
        krf_array_release(results[k]);
    }
    free(results);
}

static int chosen[FORMS], n_chosen; /* forms whose turn it is: of each SOME all or none, as one of those is compiled */
static double quotients[2][FORMS][N];

/* Difference quotients by each element of x: of the chosen forms' losses, and of their gradients' losses. */
static void measure(void) {
    static double above[2 * FORMS][N], below[2 * FORMS][N];
    static krf_expr ys[2 * FORMS];
    const double h = 1e-5;
    for (int at = 0; at < N; at++) {
        for (int side = 0; side < 2; side++) {
            double x[N];
            memcpy(x, x_values, sizeof x);
            x[at] += side == 0 ? h : -h;
            krf_graph *g = krf_graph_create(interpreter);
            names n = inputs(g, interpreter, x);
            for (int k = 0; k < n_chosen; k++) {
                krf_expr y = parsed(g, &n, forms[chosen[k]]);
                ys[2 * k] = loss_of(y);
                ys[2 * k + 1] = loss_of(derivative(&n, y, 1));
                if (!krf_expr_ok(ys[2 * k + 1])) {
                    fail_msg("%s: %s", forms[chosen[k]], krf_graph_error(g));
                }
            }
            evaluate(2 * n_chosen, ys, side == 0 ? above : below);
            krf_graph_destroy(g);
        }
        for (int k = 0; k < 2 * n_chosen; k++) {
            quotients[k % 2][chosen[k / 2]][at] = (above[k][0] - below[k][0]) / (2 * h);
        }
    }
}

static void compare(const char *label, const char *what, int f, const double *got, const double *want) {
    double scale = 0.01;
    for (int i = 0; i < N; i++) {
        scale = fmax(scale, fabs(want[i]));
    }
    for (int i = 0; i < N; i++) {
        if (!(fabs(got[i] - want[i]) <= 1e-6 * scale)) {
            COMPLAIN("%s: %s of %s at %d: %.12g, not %.12g", label, what, forms[f], i, got[i], want[i]);
        }
    }
}

static void test_forms(void **unused) {
    (void)unused;
    static double got[2 * FORMS][N], forward[FORMS][N];
    static krf_expr ys[2 * FORMS], tangents[FORMS];
    for (int f = 0; f < FORMS; f++) {
        if (in_shard(f / SOME)) {
            chosen[n_chosen++] = f;
        }
    }
    measure();
    for (int c = 0; c < all.n; c++) {
        krf_graph *g = krf_graph_create(all.run[c].context);
        names n = inputs(g, all.run[c].context, x_values);
        double tangent[N];
        for (int i = 0; i < N; i++) {
            tangent[i] = cos(i);
        }
        krf_expr t = host_input(g, all.run[c].context, KRF_F64, 2, (int64_t[]){ROWS, COLUMNS}, tangent);
        const bool every = c == 0 && !all.cuda; /* elsewhere hundreds of kernels would be compiled */
        int list[FORMS], n_list = 0;
        for (int k = 0; k < n_chosen; k++) {
            if (every || chosen[k] % SOME == 0) {
                list[n_list++] = chosen[k];
            }
        }
        for (int k = 0; k < n_list; k++) {
            krf_expr y = parsed(g, &n, forms[list[k]]);
            ys[k] = derivative(&n, y, 1);
            ys[n_list + k] = derivative(&n, y, 2);
            tangents[k] = krf_jvp(loss_of(y), 1, &n.x, &t);
        }
        evaluate(every ? 2 * n_list : n_list, ys, got);
        evaluate(every ? n_list : 0, tangents, forward);
        for (int k = 0; k < n_list; k++) {
            const int f = list[k];
            compare(all.run[c].label, "gradient", f, got[k], quotients[0][f]);
            if (!every) {
                continue;
            }
            compare(all.run[c].label, "second derivative", f, got[n_list + k], quotients[1][f]);
            double want = 0, magnitude = 1;
            for (int i = 0; i < N; i++) {
                want += tangent[i] * got[k][i];
                magnitude += fabs(got[k][i]);
            }
            if (!(fabs(forward[k][0] - want) <= 1e-12 * magnitude)) {
                COMPLAIN("%s: jvp of %s: %.15g, not %.15g", all.run[c].label, forms[f], forward[k][0], want);
            }
        }
        krf_graph_destroy(g);
    }
    assert_int_equal(failures, 0);
}

/* ---- values that are known ---- */

typedef struct exact {
    const char *program;
    int n;
    double values[N];
} exact;

/* Of small programs; the sources of the numbers are what docs/gradients.md says. */
static const exact known[] = {
    {"x = f64(4) + 0 * y[0]; grad(5 * x ** 2 + 3 * x - 2, x)", 1, {43}},
    {"x = f64(4) + 0 * y[0]; f = 5 * x ** 2 + 3 * x - 2; v, d = value_and_grad(f, x); v", 1, {90}},
    {"a = y[0]; b = y[1]; grad(5 * a ** 2 + 3 * b - 2, a) / a", 1, {10}},
    {"a = y[0]; b = y[1]; p, q = grad(5 * a ** 2 + 3 * b - 2, a, b); q", 1, {3}},
    {"a = y[0]; b = y[1]; p, q = grad(sum(f64(arange(4)) * (a - b)), a, b); q", 1, {-6}},
    {"a = y[0]; b = y[1]; c = a - b; d = c + a; p, q = grad(sum(f64(arange(4)) * -d * c), a, b); q / (c + d)", 1, {6}}, /* -6 (a - b) (2 a - b) */
    {"a = y[0]; p, q = grad(sum(f64(arange(4)) + a), a, y); p + q[0]", 1, {8}},
    {"grad(sum(y), x)", N, {0}},
    {"a = f64(arange(4)); grad(sum(maximum(a, 2.0)), a)", 4, {0, 0, 0.5, 1}},
    {"a = f64(arange(4)); grad(sum(minimum(2.0, a)), a)", 4, {1, 1, 0.5, 0}},
    {"a = f64(arange(4)); grad(sum(fmax(a, 2)), a)", 4, {0, 0, 0.5, 1}},
    {"a = f64(arange(4)); grad(sum(clip(a, 1, 2)), a)", 4, {0, 0.5, 0.5, 0}},
    {"a = f64(arange(3)) - 1; grad(sum(relu(a)), a)", 3, {0, 0, 1}},
    {"a = f64(arange(3)) - 1; grad(sum(abs(a)), a)", 3, {-1, 0, 1}},
    {"a = f64(arange(4)) // 2; grad(max(a), a)", 4, {0, 0, 0.5, 0.5}},
    {"a = f64(arange(4)) // 2; grad(min(a), a)", 4, {0.5, 0.5, 0, 0}},
    {"a = f64(arange(4)) // 2; grad(sum(cummax(a)), a)", 4, {2, 0, 2, 0}},
    {"a = f64(arange(4)); grad(prod(a), a)", 4, {6, 0, 0, 0}},
    {"a = f64(arange(4)); grad(prod(a * (a - 1)), a)", 4, {0, 0, 0, 0}},
    {"a = f64(arange(3)) * (f64(arange(3)) - 1); grad(grad(prod(a), a)[0], a)", 3, {0, 2, 0}}, /* a b 2 at a = b = 0 */
    {"a = f64(arange(4)) - 1; grad(sum(cumprod(a)), a)", 4, {1 + 0, -1 - 1 - 2, 0, 0}},
    {"a = f64(arange(4)); grad(sum(sqrt(a) * 0 + a ** 0.0), a)[1:]", 3, {0, 0, 0}},
    {"a = f64(arange(3)); b = f64(2) + 0 * y[0]; grad(sum(a ** b), b) - (4 * log(2.0))", 1, {0}},
    {"a = f64(arange(2)); grad(sum(sinc(a)), a)", 2, {0, -1}},
    {"a = f64(arange(1)); grad(sum(grad(sum(sinc(a)), a)), a) + pi ** 2 / 3", 1, {0}},
    {"a = f64(arange(3)); grad(sum(f32(a)), a)", 3, {1, 1, 1}},
    {"a = f64(arange(3)); grad(sum(f64(i64(a))), a)", 3, {0, 0, 0}},
    {"a = f64(arange(3)); grad(sum(stop_gradient(a) * a), a)", 3, {0, 1, 2}},
    {"a = f64(arange(4)); b = a * 2; grad(sum(b * b), b)", 4, {0, 4, 8, 12}}, /* by what is on the way */
    {"a = f64(arange(4)); b = a * 2; p, q = grad(sum(b * a), a, b); p", 4, {0, 4, 8, 12}},
    {"a = complex(3.0, 4.0) + 0 * y[0]; real(grad(abs(a), a)) * 10", 1, {6}}, /* x / |z| - i y / |z| */
    {"a = complex(3.0, 4.0) + 0 * y[0]; imag(grad(abs(a), a)) * 10", 1, {-8}},
    {"a = complex(3.0, 4.0) + 0 * y[0]; imag(grad(real(a * a), a))", 1, {8}}, /* 2 z: nothing is conjugated */
    {"a = complex(3.0, 4.0) + 0 * y[0]; imag(grad(real(a * conj(a)), a))", 1, {-8}},
    {"a = complex(0.0, 0.0) + 0 * y[0]; abs(grad(abs(a), a))", 1, {0}},
    {"a = f32(arange(3)); f64(grad(sum(a * a), a))", 3, {0, 2, 4}},
    {"a = f16(arange(3)); f64(grad(sum(a * a * a), a))", 3, {0, 3, 12}},
    {"a = y[:0]; grad(sum(a * a), a)", 0, {0}},
    {"a = y[:0]; grad(prod(a), a)", 0, {0}},
};

static void test_known(void **unused) {
    (void)unused;
    enum { KNOWN = sizeof known / sizeof *known };
    static double got[KNOWN][N];
    krf_expr ys[KNOWN];
    for (int c = 0; c < all.n; c++) {
        krf_graph *g = krf_graph_create(all.run[c].context);
        names n = inputs(g, all.run[c].context, x_values);
        int list[KNOWN], n_list = 0;
        for (int k = 0; k < KNOWN; k++) {
            if (in_shard(k)) {
                ys[n_list] = parsed(g, &n, known[k].program);
                assert_int_equal(krf_expr_dtype(ys[n_list]), KRF_F64);
                list[n_list++] = k;
            }
        }
        evaluate(n_list, ys, got);
        for (int k = 0; k < n_list; k++) {
            const exact *want = &known[list[k]];
            for (int i = 0; i < want->n; i++) {
                if (!(fabs(got[k][i] - want->values[i]) <= 1e-14 * fmax(1, fabs(want->values[i])))) {
                    COMPLAIN("%s: %s at %d: %.17g, not %.17g", all.run[c].label, want->program, i, got[k][i], want->values[i]);
                }
            }
        }
        krf_graph_destroy(g);
    }
    assert_int_equal(failures, 0);
}

/* ---- kernels ---- */

static void kernels(const char *program, int n, int64_t bytes) {
    krf_graph *g = krf_graph_create(all.run[0].context);
    krf_expr ys[8];
    int count;
    krf_plan *plan = NULL;
    if (krf_parse_many(g, program, NULL, 0, 8, ys, &count) != KRF_OK || krf_compile(g, count, ys, NULL, &plan) != KRF_OK) {
        fail_msg("%s: %s", program, krf_error_message());
    }
    int64_t read = 0;
    for (int k = 0; k < krf_plan_kernels(plan); k++) {
        krf_kernel_info info = {.size = sizeof info};
        assert_int_equal(krf_plan_kernel(plan, k, &info), KRF_OK);
        read += info.bytes_read;
    }
    if (krf_plan_kernels(plan) != n || (bytes >= 0 && read != bytes)) {
        COMPLAIN("%s: %d kernels read %" PRId64 " bytes, not %d and %" PRId64, program, krf_plan_kernels(plan), read, n, bytes);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

static void test_kernels(void **unused) {
    (void)unused;
    kernels("x: f64[1000000]; a: float; b: float; m: float; s: float; nll = -sum(log(a * exp(-0.5 * ((x - m) / s) ** 2) / s + b))\n"
            "return value_and_grad(nll, a, b, m, s)", 1, 8000000);
    kernels("gauss(x, mu, s) = exp(-0.5 * ((x - mu) / s) ** 2) / (s * sqrt(2 * pi))\n"
            "x: f64[1000000]; f: f64; m1: f64; s1: f64; m2: f64; s2: f64; nll = -sum(log(f * gauss(x, m1, s1) + (1 - f) * gauss(x, m2, s2)))\n"
            "return value_and_grad(nll, f, m1, s1, m2, s2)", 1, 8000000);
    kernels("x: f32[1000]; y: f32[1000]; return grad(sum(sin(x) * y), x, y)", 1, 8000);
    kernels("x: f32[100, 64]; w: f32[100, 64]; return value_and_grad(sum(w * (x - logsumexp(x, axis=1, keepdims=True))), x)", 2, -1); /* the gradient, and the sum */
    kernels("x: f32[100, 64]; w: f32[100, 64]; return grad(sum(w * exp(x - logsumexp(x, axis=1, keepdims=True))), x)", 1, 51200);
    /* movement alone: no sums */
    kernels("x: f32[1000]; w: f32[1002]; return grad(sum(w * pad(x, 1)), x)", 1, -1);
    kernels("x: f32[30, 40]; w: f32[32, 42]; return grad(sum(w * pad(x, 1)), x)", 1, -1);
    kernels("x: f32[1000]; w: f32[1000]; return grad(sum(w * roll(x, 3)), x)", 1, -1);
    kernels("x: f32[1000]; y: f32[500]; w: f32[1500]; return grad(sum(w * concatenate((x, y), axis=0)), x)", 1, -1);
    kernels("x: f32[1000]; w: f32[1000]; return grad(sum(w * x.at[1:-1].set(0)), x)", 1, -1);
    kernels("x: f32[1000]; w: f32[500]; return grad(sum(w * x[::2]), x)", 1, -1);
    kernels("x: f32[1000]; w: f32[1000]; return grad(sum(w * cumsum(x)), x)", 2, -1); /* and turned round */
    assert_int_equal(failures, 0);
}

/* ---- errors ---- */

static void refused(krf_status status, const char *program, const char *part) {
    krf_graph *g = krf_graph_create(interpreter);
    krf_expr ys[4];
    int n;
    const krf_status got = krf_parse_many(g, program, NULL, 0, 4, ys, &n);
    if (got != status || strstr(krf_graph_error(g), part) == NULL) {
        COMPLAIN("%s: %s: %s; not %s: %s", program, krf_status_name(got), krf_graph_error(g), krf_status_name(status), part);
    }
    krf_graph_destroy(g);
}

static void test_errors(void **unused) {
    (void)unused;
    refused(KRF_E_SHAPE, "x: f32[3]; grad(x, x)", "grad: what is differentiated has shape (3,)");
    refused(KRF_E_DTYPE, "x: f32[3]; grad(sum(i32(x)), x)", "is i64; a gradient is of a real number");
    refused(KRF_E_DTYPE, "x: c64[3]; grad(sum(x), x)", "take its real part");
    refused(KRF_E_DTYPE, "x: i32[3]; grad(sum(sin(x)), x)", "variable 1 is i32");
    refused(KRF_E_ARGUMENT, "x: f32[3]; a = 2.0; grad(sum(x * a), x, a)", "variable 2 is a constant");
    refused(KRF_E_ARGUMENT, "x: f32[3]; grad(sum(digamma(x)), x)", "the derivative of digamma is not known: trigamma");
    refused(KRF_E_ARGUMENT, "x: f32[3]; grad(sum(i0(x)), x)", "the derivative of i0 is not known");
    refused(KRF_E_ARGUMENT, "x: f32[3]; grad(sum(grad(sum(lgamma(x)), x)), x)", "the derivative of digamma is not known");
    refused(KRF_E_ARGUMENT, "x: f64[1000000]; i: i64[1000000]; grad(sum(x[i]), x)", "grad: take: the gradients of 1000000 elements");
    refused(KRF_E_SHAPE, "x: f64[3]; t: f64[4]; jvp(sin(x), x, t)", "jvp: tangent 1 has shape (4,), the variable (3,)");
    refused(KRF_E_DTYPE, "x: f64[3]; jvp(sin(x), x, 2j)", "jvp: tangent 1 is c128, variable 1 is f64");
    refused(KRF_E_PARSE, "x: f64[3]; grad(sum(x))", "grad takes what is differentiated, then the variables");
    refused(KRF_E_PARSE, "x: f64[3]; jvp(x, x)", "pairs of a variable and its tangent");
    refused(KRF_E_PARSE, "x: f64[3]; y: f64; 1 + grad(sum(x * y), x, y)", "grad gives 2 values");
    assert_int_equal(failures, 0);
}

static void test_c(void **unused) {
    (void)unused;
    krf_graph *g = krf_graph_create(interpreter), *other = krf_graph_create(interpreter);
    krf_expr x = krf_real(g, 4), gradient[3];
    krf_expr f = krf_subtract(krf_add(krf_multiply(krf_scalar(g, 5), krf_multiply(x, x)), krf_multiply(krf_scalar(g, 3), x)), krf_scalar(g, 2));
    double values[2][N];
    krf_value_and_grad(f, 1, &x, gradient);
    evaluate(2, gradient, values);
    assert_true(values[0][0] == 90 && values[1][0] == 43);
    krf_grad(f, 0, NULL, NULL);
    assert_int_equal(krf_graph_status(g), KRF_OK);
    krf_expr foreign = krf_real(other, 1);
    krf_grad(f, 1, &foreign, gradient);
    assert_false(krf_expr_ok(gradient[0]));
    assert_non_null(strstr(krf_graph_error(g), "different graphs"));
    krf_value_and_grad(f, 1, &x, gradient);
    assert_false(krf_expr_ok(gradient[0]) || krf_expr_ok(gradient[1]));
    krf_graph_reset(g);
    krf_expr one = krf_real(g, 3), nothing = {g, 0};
    krf_grad(one, 1, &nothing, gradient);
    assert_false(krf_expr_ok(gradient[0]));
    assert_int_equal(krf_graph_status(g), KRF_E_ARGUMENT);
    krf_graph_reset(g);
    one = krf_real(g, 3);
    krf_grad(one, 1, NULL, gradient);
    assert_int_equal(krf_graph_status(g), KRF_E_ARGUMENT);
    krf_graph_destroy(g);
    krf_graph_destroy(other);
}

/* A chain of 100,000 operations, and one value used 100,000 times: a gradient is a small multiple of the graph. */
static void test_large(void **unused) {
    (void)unused;
    enum { LONG = 100000 };
    krf_graph *g = krf_graph_create(interpreter);
    krf_expr x = krf_placeholder(g, "x", KRF_F64, 0, NULL), y = x, gradient;
    for (int k = 0; k < LONG; k++) {
        y = k % 2 == 0 ? krf_sin(y) : krf_add(y, x);
    }
    const size_t before = g->n_nodes;
    krf_grad(y, 1, &x, &gradient);
    assert_true(krf_expr_ok(gradient));
    assert_true(g->n_nodes < 4 * before);
    krf_graph_destroy(g);
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    interpreter = open_or_skip(&options);
    for (int i = 0; i < N; i++) {
        x_values[i] = 0.2 + 0.13 * (7 * i % N) + 0.011 * i;
    }
    const int failed = run_on(open_runs(&all, false),
                              TESTS(cmocka_unit_test(test_forms), cmocka_unit_test(test_known), cmocka_unit_test(test_kernels), cmocka_unit_test(test_errors), cmocka_unit_test(test_c),
                                    cmocka_unit_test(test_large)));
    krf_context_destroy(interpreter);
    return failed;
}
