/* What users define: values against the host's C library and closed forms, on every tier and device; calls of all functions of the library from a body have the bits
 * of the functions themselves; nothing depends on fusion; errors name the user's lines. */
#include "helpers.h"
#include "ops/common.h"

#include "ir/build.h"

enum { N = 1000 };

static runs all;
static krf_context *split[2]; /* contexts that fuse little */

static krf_op *define(krf_context *context, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives) {
    krf_op *op = NULL;
    if (krf_op_define(context, name, parameters, results, body, derivatives, &op) != KRF_OK) {
        fail_msg("%s: %s", name, krf_error_message());
    }
    return op;
}

static krf_expr vector(krf_graph *g, krf_context *context, const double *data, int64_t n) {
    return host_input(g, context, KRF_F64, 1, &n, data);
}

static void assert_near(double x, double expected, double relative, const char *what) {
    if (!(fabs(x - expected) <= relative * (fabs(expected) > 1e-300 ? fabs(expected) : 1))) {
        fail_msg("%s: %.17g, expected %.17g", what, x, expected);
    }
}

static int kernels_of(krf_expr x) {
    krf_plan *plan = NULL;
    assert_int_equal(krf_compile(x.graph, 1, &x, NULL, &plan), KRF_OK);
    const int n = krf_plan_kernels(plan);
    krf_plan_release(plan);
    return n;
}

static const char gauss_body[] = "F z = (x - mu) / s; // a comment\n"
                                 "y = exp(-0.5 * z * z) /* another\none */ / (s * sqrt(2.0 * M_PI));\n";
static const char gauss_slopes[] = "dy/dx = -y * (x - mu) / s**2; dy/dmu = y * (x - mu) / s**2\ndy/ds = y * ((x - mu)**2 / s**3 - 1 / s)";

static double gauss(double x, double mu, double s) { return exp(-0.5 * (x - mu) * (x - mu) / (s * s)) / (s * sqrt(2 * 3.14159265358979323846)); }

/* ---- values ---- */

static void test_values(void **state) {
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        krf_graph *g = krf_graph_create(c);
        double xs[N], ys[N], out[N];
        float narrow[N], single[N];
        for (int i = 0; i < N; i++) {
            xs[i] = (i - 500) * 0.013;
            ys[i] = (i % 37 - 18) * 0.11;
            narrow[i] = (float)xs[i];
        }
        krf_op *pdf = define(c, "gauss", "F x, F mu, F s", "F y", gauss_body, gauss_slopes);
        krf_op *polar = define(c, "polar", "F x, F y", "F r, F phi", "r = hypot(x, y);\nphi = atan2(y, x);", NULL);
        krf_op *distance = define(c, "distance", "F x, F y, F u, F v", "F d",
                                  "F r, phi, q, psi;\npolar(x, y, &r, &phi);\npolar(u, v, &q, &psi);\n"
                                  "if (r == q && phi == psi) { d = 0; return; }\nd = sqrt(max(r * r + q * q - 2 * r * q * cos(phi - psi), F(0)));",
                                  NULL);
        krf_op *collatz = define(c, "collatz", "i64 n", "i32 steps", "while (n > 1) {\n n = n % 2 == 0 ? n / 2 : 3 * n + 1;\n steps++;\n}", NULL);
        krf_op *powers = define(c, "powers", "F p, F q, F r, F s", "F y", "return sqrt(p * p + q * q * q + r * r * r * r + s * s * s * s * s);", NULL);
        krf_expr x = vector(g, c, xs, N), y = vector(g, c, ys, N);

        eval_into(krf_op_apply(pdf, x, krf_real(g, 0.25), krf_int(g, 2)), out, sizeof out);
        for (int i = 0; i < N; i++) {
            assert_near(out[i], gauss(xs[i], 0.25, 2), 1e-14, "gauss, f64");
        }
        eval_into(krf_op_apply(pdf, host_input(g, c, KRF_F32, 1, (int64_t[]){N}, narrow), krf_real(g, 0.25), krf_int(g, 2)), single, sizeof single);
        for (int i = 0; i < N; i++) {
            assert_near((double)single[i], gauss((double)narrow[i], 0.25, 2), 2e-6, "gauss, f32");
        }

        krf_expr both[2];
        krf_op_call(polar, 2, (krf_expr[]){x, y}, both);
        assert_int_equal(kernels_of(krf_add(both[0], both[1])), 1);
        eval_into(krf_subtract(both[0], both[1]), out, sizeof out);
        for (int i = 0; i < N; i++) {
            assert_near(out[i], hypot(xs[i], ys[i]) - atan2(ys[i], xs[i]), 1e-13, "polar");
        }
        eval_into(krf_op_apply(distance, x, y, krf_real(g, 1.5), krf_real(g, -0.5)), out, sizeof out);
        for (int i = 0; i < N; i++) {
            assert_near(out[i], hypot(xs[i] - 1.5, ys[i] + 0.5), 1e-7, "distance");
        }
        int32_t steps[N];
        eval_into(krf_op_apply(collatz, krf_arange(g, 0, N, 1)), steps, sizeof steps);
        assert_int_equal(steps[1], 0);
        assert_int_equal(steps[27], 111); /* OEIS A006577 */
        assert_int_equal(steps[97], 118);
        assert_int_equal(steps[871], 178);
        eval_into(krf_op_apply(powers, krf_abs(x), krf_abs(y), x, krf_abs(y)), out, sizeof out);
        for (int i = 0; i < N; i++) {
            const double q = fabs(ys[i]);
            assert_near(out[i], sqrt(pow(xs[i], 2) + pow(q, 3) + pow(xs[i], 4) + pow(q, 5)), 1e-14, "powers");
        }
        krf_op_release(pdf);
        krf_op_release(polar);
        krf_op_release(distance);
        krf_op_release(collatz);
        krf_op_release(powers);
        krf_graph_destroy(g);
    }
}

/* Sizes beyond which a square overflows: hypot by scaling, written by the user. */
static void test_hypot(void **state) {
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        krf_graph *g = krf_graph_create(c);
        krf_op *op = define(c, "safe_hypot", "F x, F y", "F h", "F a = max(fabs(x), fabs(y)), b = min(fabs(x), fabs(y));\nF t = a > 0 ? b / a : F(0);\nh = a * sqrt(1 + t * t);", NULL);
        const double x[4] = {3e200, 0, -5e-320, 1e308}, y[4] = {4e200, 0, 12e-320, 1e308};
        double out[4];
        eval_into(krf_op_apply(op, vector(g, c, x, 4), vector(g, c, y, 4)), out, sizeof out);
        assert_near(out[0], 5e200, 1e-15, "hypot");
        assert_true(out[1] == 0);
        assert_near(out[2], 13e-320, 1e-3, "hypot, subnormal");
        assert_near(out[3], 1.4142135623730951e308, 1e-15, "hypot");
        krf_op_release(op);
        krf_graph_destroy(g);
    }
}

/* ---- dtypes ---- */

/* A bool of a body is C's: what is not 0 becomes 1, whatever it is computed of, and so for all that reads it. */
static void test_bools(void **state) {
    (void)state;
    static const struct {
        const char *parameters, *results, *body;
        unsigned char expected[4]; /* of x 0, 1, 1, 256, which is true in bool, and of y 0, 0, 1, 256 */
    } cases[] = {
        {"bool x, bool y", "bool z", "z = x + y;", {0, 1, 1, 1}},
        {"T x, T y", "T z", "T sum = x + y; z = sum - 1;", {1, 0, 0, 0}},
        {"bool x, bool y", "bool z", "z = x; z += y; z *= 2;", {0, 1, 1, 1}},
        {"bool x, bool y", "bool z", "return x ? 256 : 0.5 * y;", {0, 1, 1, 1}},
        {"bool x, bool y", "bool z", "bool half = 0.5; z = y & half;", {0, 0, 1, 1}},
        {"i32 x, i32 y", "bool z", "z = (bool)x && bool(y);", {0, 0, 1, 1}},
        {"i32 x, i32 y", "bool z", "z = y;", {0, 0, 1, 1}},
        {"bool x, bool y", "u8 z", "bool two = x + y; z = two;", {0, 1, 1, 1}},
        {"bool x, bool y", "bool z, bool w", "z = x + y + 255 * (x & y); w = 256 * y;", {0, 1, 1, 1}},
    };
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (!in_shard((int64_t)i)) {
                continue;
            }
            krf_op *op = define(c, "flag", cases[i].parameters, cases[i].results, cases[i].body, NULL);
            krf_graph *g = krf_graph_create(c);
            const int64_t n = 4, xs[4] = {0, 1, 1, 256}, ys[4] = {0, 0, 1, 256};
            const bool whole = *cases[i].parameters == 'i';
            krf_expr operands[2] = {krf_cast(host_input(g, c, KRF_I64, 1, &n, xs), whole ? KRF_I32 : KRF_BOOL), krf_cast(host_input(g, c, KRF_I64, 1, &n, ys), whole ? KRF_I32 : KRF_BOOL)}, z[2];
            unsigned char got[4];
            int64_t counted = 0, want = 0;
            krf_op_call(op, 2, operands, z);
            eval_into(z[0], got, sizeof got);
            assert_memory_equal(got, cases[i].expected, sizeof got);
            eval_into(krf_cast(krf_sum(z[0], 0, NULL, false), KRF_I64), &counted, sizeof counted); /* in the kernel that calls it */
            for (int k = 0; k < 4; k++) {
                want += cases[i].expected[k];
            }
            assert_int_equal(counted, want);
            krf_op_release(op);
            assert_int_equal(krf_op_undefine(c, "flag"), KRF_OK);
            krf_graph_destroy(g);
        }
    }
}

static void test_dtypes(void **state) {
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        krf_graph *g = krf_graph_create(c);
        krf_op *generic = define(c, "generic", "T x, T y", "T z", "z = x * y + x;", NULL), *floats = define(c, "floats", "F x", "F y", "y = x / 2;", NULL);
        krf_op *mixed = define(c, "mixed", "float32 x, i64 n, U u", "f64 a, U b, bool c", "a = (f64)x * n;\nb = u + 1;\nc = x > 0.5;", NULL);
        const int64_t n = 3;
        const float xs[3] = {1.5f, -2.5f, 3.25f};
        const signed char small[3] = {100, -100, 7};
        const int64_t large[3] = {4000000000, 5, -6};
        krf_expr x = host_input(g, c, KRF_F32, 1, &n, xs), s = host_input(g, c, KRF_I8, 1, &n, small), l = host_input(g, c, KRF_I64, 1, &n, large);

        assert_int_equal(krf_expr_dtype(krf_op_apply(generic, x, l)), KRF_F32);
        assert_int_equal(krf_expr_dtype(krf_op_apply(generic, s, krf_int(g, 3))), KRF_I8);
        assert_int_equal(krf_expr_dtype(krf_op_apply(generic, krf_int(g, 3), krf_int(g, 3))), KRF_I64);
        assert_int_equal(krf_expr_dtype(krf_op_apply(generic, s, krf_real(g, 3))), KRF_F32);
        assert_int_equal(krf_expr_dtype(krf_op_apply(floats, s)), KRF_F32);
        assert_int_equal(krf_expr_dtype(krf_op_apply(floats, l)), KRF_F64);

        signed char wrapped[3];
        eval_into(krf_op_apply(generic, s, s), wrapped, sizeof wrapped);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(wrapped[i], (int8_t)(uint8_t)(small[i] * small[i] + small[i]));
        }
        krf_expr three[3];
        double a[3];
        signed char b[3];
        unsigned char flags[3];
        krf_op_call(mixed, 3, (krf_expr[]){x, l, s}, three);
        assert_int_equal(krf_expr_dtype(three[0]), KRF_F64);
        assert_int_equal(krf_expr_dtype(three[1]), KRF_I8);
        assert_int_equal(krf_expr_dtype(three[2]), KRF_BOOL);
        eval_into(three[0], a, sizeof a);
        eval_into(three[1], b, sizeof b);
        eval_into(three[2], flags, sizeof flags);
        for (int i = 0; i < 3; i++) {
            assert_true(a[i] == (double)xs[i] * (double)large[i]);
            assert_int_equal(b[i], small[i] + 1);
            assert_int_equal(flags[i], xs[i] > 0.5f);
        }
        /* halves: f32 within, rounded once. 1/3 of f16 1.0 by way of three operations that f16 would round each */
        krf_op *third = define(c, "third", "T x", "T y", "T a = x / 3;\nT b = a * 3;\ny = b - a * 2;", NULL);
        float back[3];
        eval_into(krf_cast(krf_op_apply(third, krf_cast(x, KRF_F16)), KRF_F32), back, sizeof back);
        for (int i = 0; i < 3; i++) {
            const float t = xs[i] / 3, whole = t * 3;
            assert_true(back[i] == (float)round_to(KRF_F16, (long double)(whole - t * 2)));
        }
        krf_op_release(generic);
        krf_op_release(floats);
        krf_op_release(mixed);
        krf_op_release(third);
        krf_graph_destroy(g);
    }
}

/* 0.1 is the nearest f32 where all is f32, an f64 where the body says so. */
static void test_numbers(void **state) {
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        krf_graph *g = krf_graph_create(c);
        krf_op *op = define(c, "tenths", "T x", "T a, T b, f32 c", "a = x + 0.1;\nb = (T)(x + f64(0.1));\nc = x * 1e-1f;", NULL);
        const float one = 1e7f;
        float out;
        krf_expr three[3], x = host_input(g, c, KRF_F32, 0, NULL, &one);
        krf_op_call(op, 1, &x, three);
        eval_into(three[0], &out, sizeof out);
        assert_true(out == one + 0.1f);
        eval_into(three[1], &out, sizeof out);
        assert_true(out == (float)((double)one + 0.1));
        eval_into(three[2], &out, sizeof out);
        assert_true(out == one * 0.1f);
        krf_op_release(op);
        krf_graph_destroy(g);
    }
}

/* ---- functions of the library, called from a body ---- */

typedef struct op_row {
    const char *name;
    int arity;
    krf__op op;
} op_row;

#define NODE(...)
#define OP(name, arity, ...) {#name, arity, KRF__##name},
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
static const op_row rows[] = {
#include "ir/ops.def"
};
#include "ir/ops_undef.h"
enum { ROWS = sizeof rows / sizeof *rows, TOGETHER = 8 };

/* Bits must be equal: it is the same code. */
static void compare_functions(krf_context *c, const char *label, const op_row *const *list, int n, krf_dtype dtype) {
    char body[2048] = "", results[256] = "";
    double xs[64], ys[64];
    krf_graph *g = krf_graph_create(c);
    for (int i = 0; i < n; i++) {
        static const char *const operands[] = {"x", "x, y", "x, y, x"};
        const char *second = list[i]->op == KRF__where ? "x > y, x, y" : operands[list[i]->arity - 1];
        snprintf(body + strlen(body), sizeof body - strlen(body), "r%d = %s(%s);\n", i, list[i]->name, second);
        snprintf(results + strlen(results), sizeof results - strlen(results), "%s%s r%d", i > 0 ? ", " : "", krf__op_gives_bool(list[i]->op) ? "bool" : list[i]->op == KRF__order_key ? (dtype == KRF_F64 ? "i64" : "i32") : "T", i);
    }
    for (int i = 0; i < 64; i++) {
        xs[i] = (i - 20) * 0.37;
        ys[i] = (i % 7) * 0.51 - 1.2;
    }
    krf_op *op = define(c, "several", "T x, T y", results, body, NULL);
    krf_expr x = krf_cast(vector(g, c, xs, 64), dtype), y = krf_cast(vector(g, c, ys, 64), dtype), made[TOGETHER], known[TOGETHER];
    krf_array *outputs[2 * TOGETHER] = {NULL};
    krf_op_call(op, 2, (krf_expr[]){x, y}, made);
    for (int i = 0; i < n; i++) {
        const bool where = list[i]->op == KRF__where;
        const uint32_t args[3] = {where ? krf_greater(x, y).id : x.id, where ? x.id : y.id, where ? y.id : x.id};
        known[i] = (krf_expr){g, krf__build(g, list[i]->op, list[i]->arity, args)};
    }
    krf_expr both[2 * TOGETHER];
    memcpy(both, made, sizeof *both * (size_t)n);
    memcpy(both + n, known, sizeof *both * (size_t)n);
    if (krf_graph_status(g) != KRF_OK || krf_eval_many(2 * n, both, outputs) != KRF_OK) {
        fail_msg("%s: %s\n%s", label, krf_error_message(), body);
    }
    for (int i = 0; i < n; i++) {
        unsigned char a[64 * 8], b[64 * 8];
        const size_t bytes = 64 * krf_dtype_size(krf_expr_dtype(known[i]));
        assert_int_equal(krf_expr_dtype(made[i]), krf_expr_dtype(known[i]));
        assert_int_equal(krf_array_to_host(outputs[i], a, bytes), KRF_OK);
        assert_int_equal(krf_array_to_host(outputs[n + i], b, bytes), KRF_OK);
        for (int k = 0; k < 64; k++) {
            if (!same(get(a, krf_expr_dtype(made[i]), k), get(b, krf_expr_dtype(made[i]), k))) {
                fail_msg("%s: %s of %s: element %d differs", label, list[i]->name, name_of(dtype), k);
            }
        }
    }
    for (int i = 0; i < 2 * n; i++) {
        krf_array_release(outputs[i]);
    }
    krf_op_release(op);
    assert_int_equal(krf_op_undefine(c, "several"), KRF_OK);
    krf_graph_destroy(g);
}

static void test_functions(void **state) {
    (void)state;
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_I32, KRF_U64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        const op_row *list[ROWS];
        int n = 0;
        for (int i = 0; i < (int)ROWS; i++) {
            const krf__kind kind = dtypes[d] == KRF_I32 ? KRF__KIND_SINT : dtypes[d] == KRF_U64 ? KRF__KIND_UINT : KRF__KIND_REAL;
            const krf__rule rule = krf__op_info_of(rows[i].op)->rule;
            const bool logic = rule == KRF__RULE_LOGIC || (rule == KRF__RULE_REAL && kind != KRF__KIND_REAL);
            if (krf__op_code(rows[i].op, kind, false) != NULL && !logic) {
                list[n++] = &rows[i];
            }
        }
        assert_true(n > 10);
        for (int first = 0; first < n; first += TOGETHER) {
            if (in_shard(first / TOGETHER)) {
                compare_functions(all.run[all.n - 1].context, all.run[all.n - 1].label, list + first, n - first < TOGETHER ? n - first : TOGETHER, dtypes[d]);
            }
        }
    }
}

/* expf is exp of f32, whatever the rest is; integers become the body's float. */
static void test_names(void **state) {
    (void)state;
    krf_context *c = all.run[0].context;
    krf_graph *g = krf_graph_create(c);
    krf_op *op = define(c, "names", "f64 x", "f64 a, f64 b, f64 c, i32 d", "a = expf(x);\nb = sqrt(2);\nc = pow(x, 2) + fmodf(x, 1) + arctan2(x, 1);\nint i = -3;\nd = abs(i) + max(i, 1);", NULL);
    const double one = 0.3;
    double out;
    int32_t whole;
    krf_expr x = host_input(g, c, KRF_F64, 0, NULL, &one), four[4];
    krf_op_call(op, 1, &x, four);
    eval_into(four[0], &out, sizeof out);
    assert_true(out == (double)(float)out);
    assert_near(out, exp(0.3), 1e-6, "expf");
    eval_into(four[1], &out, sizeof out);
    assert_true(out == sqrt(2.0));
    eval_into(four[2], &out, sizeof out);
    assert_near(out, 0.09 + (double)0.3f + atan2(0.3, 1), 1e-7, "pow, fmodf, arctan2");
    eval_into(four[3], &whole, sizeof whole);
    assert_int_equal(whole, 4);
    krf_op_release(op);
    krf_graph_destroy(g);
}

/* ---- shapes, views, fusion ---- */

/* The same expressions where everything fuses and where nothing does: the same bits. */
static krf_expr tangle(krf_graph *g, krf_context *c, const krf_op *two, const krf_op *one) {
    double rows_[6], table[24];
    for (int i = 0; i < 24; i++) {
        table[i] = sin(i * 1.7);
        rows_[i % 6] = cos(i * 0.3);
    }
    krf_expr column = host_input(g, c, KRF_F64, 2, (int64_t[]){6, 1}, rows_), row = host_input(g, c, KRF_F64, 1, (int64_t[]){4}, table);
    krf_expr matrix = host_input(g, c, KRF_F64, 2, (int64_t[]){6, 4}, table), results[2], more[2];
    krf_op_call(two, 3, (krf_expr[]){matrix, krf_sqrt(krf_abs(column)), krf_real(g, 0.7)}, results);
    krf_expr mean = krf_mean(results[0], 1, (int[]){1}, true);
    krf_op_call(two, 3, (krf_expr[]){krf_subtract(results[0], mean), krf_abs(results[1]), row}, more); /* rows: reduced and back */
    krf_expr turned = krf_transpose(krf_transpose(more[0], NULL), NULL);
    krf_expr part = krf_slice(more[1], 2, (krf_range[]){{KRF_NONE, KRF_NONE, -1}, {1, 3, 1}});
    krf_expr sums = krf_op_apply(one, krf_sum(turned, 1, (int[]){0}, false), krf_max(matrix, 1, (int[]){0}, false)); /* over results */
    krf_expr scan = krf_cumsum(krf_op_apply(one, turned, matrix), 1);
    krf_expr small = krf_sum(krf_multiply(part, part), 1, (int[]){1}, true);
    return krf_add(krf_add(krf_multiply(sums, scan), small), krf_op_apply(one, krf_sum(turned, 0, NULL, false), krf_real(g, 0.5)));
}

static void test_fusion(void **state) {
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *contexts[3] = {all.run[r].context, split[0], split[1]};
        double out[3][24];
        for (int k = 0; k < (r == 0 ? 3 : 1); k++) {
            krf_context *c = contexts[k];
            krf_graph *g = krf_graph_create(c);
            krf_op *two = define(c, "two", "T x, T y, T z", "T a, T b", "a = x * y + z;\nb = sqrt(fabs(x)) - y * z;", NULL);
            krf_op *one = define(c, "one", "T x, T y", "T a", "a = x > y ? x - y : x + 2 * y;", NULL);
            eval_into(tangle(g, c, two, one), out[k], sizeof out[k]);
            krf_op_release(two);
            krf_op_release(one);
            assert_int_equal(krf_op_undefine(c, "two"), KRF_OK);
            assert_int_equal(krf_op_undefine(c, "one"), KRF_OK);
            krf_graph_destroy(g);
            assert_memory_equal(out[k], out[0], sizeof out[0]);
        }
        static double first[24];
        if (r == 0) {
            memcpy(first, out[0], sizeof first);
        }
        assert_memory_equal(out[0], first, sizeof first);
    }
}

static void test_one_kernel(void **state) {
    (void)state;
    krf_context *c = all.run[0].context;
    krf_graph *g = krf_graph_create(c);
    krf_op *op = define(c, "nll", "f64 x, f64 mu, f64 s", "f64 y", "f64 z = (x - mu) / s;\ny = -0.5 * z * z - log(s);", NULL);
    double xs[N], whole;
    for (int i = 0; i < N; i++) {
        xs[i] = cos(i);
    }
    krf_expr x = vector(g, c, xs, N), total = krf_negative(krf_sum(krf_op_apply(op, krf_multiply(x, krf_real(g, 1.5)), krf_real(g, 0.1), krf_real(g, 1.25)), 0, NULL, false));
    assert_int_equal(kernels_of(total), 1);
    eval_into(total, &whole, sizeof whole);
    long double sum = 0;
    for (int i = 0; i < N; i++) {
        const long double z = ((long double)(xs[i] * 1.5) - 0.1L) / 1.25L;
        sum += 0.5L * z * z + logl(1.25L);
    }
    assert_near(whole, (double)sum, 1e-13, "nll");
    krf_op_release(op);
    krf_graph_destroy(g);
}

/* ---- derivatives ---- */

static void test_derivatives(void **state) {
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        krf_graph *g = krf_graph_create(c);
        krf_op *square = define(c, "parabola", "F x", "F y", "y = 5 * x * x + 3 * x - 2;", "dy/dx = 10 * x + 3");
        krf_op *polar = define(c, "polar2", "F x, F y", "F r, F phi", "r = hypot(x, y);\nphi = atan2(y, x);",
                               "dr/dx = x / r; dr/dy = y / r; dphi/dx = -y / r**2; dphi/dy = x / r**2");
        krf_op *fixed = define(c, "fixed", "F x, i64 k", "F y", "y = x * k;", "dy/dx = k");
        double four = 4, out;
        krf_expr x = host_input(g, c, KRF_F64, 0, NULL, &four), y = krf_op_apply(square, x), slope, second;
        eval_into(y, &out, sizeof out);
        assert_true(out == 90);
        krf_grad(y, 1, &x, &slope);
        eval_into(slope, &out, sizeof out);
        assert_true(out == 43);
        krf_grad(slope, 1, &x, &second);
        eval_into(second, &out, sizeof out);
        assert_true(out == 10);
        krf_expr tangent = krf_real(g, 2);
        eval_into(krf_jvp(y, 1, &x, &tangent), &out, sizeof out);
        assert_true(out == 86);

        /* a derivative that calls another definition means that one, whatever its name means now and here */
        krf_op *cube = define(c, "cube", "F x", "F y", "y = x * x * x;", "dy/dx = parabola(x) - 2 * x**2 - 3 * x + 2");
        krf_op *other = NULL;
        krf_context *apart = all.run[(r + 1) % all.n].context;
        assert_int_equal(krf_op_undefine(c, "parabola"), KRF_OK);
        assert_int_equal(krf_op_define(c, "parabola", "F x", "F y", "y = x;", NULL, &other), KRF_OK);
        for (int k = 0; k < 2; k++) {
            krf_graph *h = krf_graph_create(k == 0 ? c : apart);
            krf_expr z = host_input(h, k == 0 ? c : apart, KRF_F64, 0, NULL, &four), dz;
            krf_grad(krf_op_apply(cube, z), 1, &z, &dz);
            eval_into(dz, &out, sizeof out);
            assert_true(out == 48);
            krf_graph_destroy(h);
        }
        krf_op_release(other);
        krf_op_release(cube);
        assert_int_equal(krf_op_undefine(c, "cube"), KRF_OK);

        /* sum(r * phi) by x, y: phi x / r - r y / r^2 and phi y / r + r x / r^2; y broadcasts */
        const double xs[3] = {0.5, -1.25, 2}, ys[1] = {0.75};
        double gx[3], gy[1], expected = 0;
        krf_expr vx = vector(g, c, xs, 3), vy = vector(g, c, ys, 1), two[2], by[2];
        krf_op_call(polar, 2, (krf_expr[]){vx, vy}, two);
        krf_grad(krf_sum(krf_multiply(two[0], two[1]), 0, NULL, false), 2, (krf_expr[]){vx, vy}, by);
        eval_into(by[0], gx, sizeof gx);
        eval_into(by[1], gy, sizeof gy);
        for (int i = 0; i < 3; i++) {
            const double radius = hypot(xs[i], ys[0]), phi = atan2(ys[0], xs[i]);
            assert_near(gx[i], phi * xs[i] / radius - ys[0] / radius, 1e-13, "d/dx");
            expected += phi * ys[0] / radius + xs[i] / radius;
        }
        assert_near(gy[0], expected, 1e-13, "d/dy");
        krf_expr linear = krf_op_apply(fixed, x, krf_int(g, 7));
        krf_grad(linear, 1, &x, &slope);
        eval_into(slope, &out, sizeof out);
        assert_true(out == 7);
        krf_op_release(square);
        krf_op_release(polar);
        krf_op_release(fixed);
        krf_graph_destroy(g);
    }
}

/* ---- the text form ---- */

static void test_text(void **state) {
    (void)state;
    krf_context *c = all.run[0].context;
    krf_op *op = define(c, "turn", "F x, F y, F a", "F u, F v", "u = cos(a) * x - sin(a) * y;\nv = sin(a) * x + cos(a) * y;", NULL);
    krf_graph *g = krf_graph_create(c), *again = krf_graph_create(c);
    krf_expr y, z;
    const char text[] = "x: f64[3]\ny: f32[2, 1]\nf(p) = turn(p, p, 1, result=0) * 2\nu, v = turn(x, y, 0.5)\nreturn u + f(v) + turn(u, v, x, result=1)";
    if (krf_parse(g, text, NULL, 0, &y) != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    char *printed = NULL, *printed_again = NULL;
    size_t size;
    assert_int_equal(krf_dump(g, 1, &y, KRF_DUMP_GRAPH, NULL, NULL, &printed, &size), KRF_OK);
    if (krf_parse(again, printed, NULL, 0, &z) != KRF_OK) {
        fail_msg("%s\n%s", krf_error_message(), printed);
    }
    assert_int_equal(krf_dump(again, 1, &z, KRF_DUMP_GRAPH, NULL, NULL, &printed_again, &size), KRF_OK);
    assert_string_equal(printed, printed_again);
    assert_non_null(strstr(printed, "turn("));
    krf_free(printed);
    krf_free(printed_again);
    krf_graph_destroy(again);

    static const struct {
        const char *text, *message;
    } faults[] = {{"x: f64[3]\nturn(x, x)", "turn takes 3 operands, not 2"},       {"x: f64[3]\nturn(x, x, x, x)", "turn takes 3 operands, not more"},
                  {"x: f64[3]\nturn(x, x, 1) + 1", "turn gives 2 values"},         {"x: f64[3]\nturn(x, x, 1, result=2)", "turn has results 0 to 1"},
                  {"x: f64[3]\nturn(x, x, 1, axis=2)", "takes no keyword axis"},   {"x: f64[3]; y: f64[4]\nturn(x, y, 1, result=0)", "turn: shapes (3,) and (4,) do not broadcast"},
                  {"x: c64[3]\nturn(x, x, 1, result=0)", "operand x is c64"},      {"x: f64[3]\ntorn(x, x, 1)", "torn"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        krf_graph *h = krf_graph_create(c);
        assert_int_not_equal(krf_parse(h, faults[i].text, NULL, 0, &z), KRF_OK);
        if (strstr(krf_error_message(), faults[i].message) == NULL) {
            fail_msg("%s: %s", faults[i].text, krf_error_message());
        }
        krf_graph_destroy(h);
    }
    krf_op_release(op);
    krf_graph_destroy(g);
}

/* ---- errors ---- */

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *name, *parameters, *results, *body, *derivatives, *message;
    } faults[] = {
        {"exp", "T x", "T y", "y = x;", NULL, "exp is a function of the library"},
        {"a-b", "T x", "T y", "y = x;", NULL, "\"a-b\" cannot be the name of a function"},
        {"while", "T x", "T y", "y = x;", NULL, "cannot be the name of a function"},
        {"krf_f", "T x", "T y", "y = x;", NULL, "cannot be the name of a function"},
        {"f", "T x", "U y", "y = x;", NULL, "no parameter is of type U"},
        {"f", "f99 x", "f32 y", "y = x;", NULL, "\"f99\" is no type"},
        {"f", "c64 x", "f32 y", "y = x;", NULL, "a body works on real numbers"},
        {"f", "T x, T x", "T y", "y = x;", NULL, "the name x is taken"},
        {"f", "T x", "T x", "x = x;", NULL, "the name x is taken"},
        {"f", "T x T z", "T y", "y = x;", NULL, "',' is wanted behind parameter x"},
        {"f", "T 1x", "T y", "y = x;", NULL, "cannot be the name of a parameter"},
        {"f", "T int", "T y", "y = x;", NULL, "cannot be the name of a parameter"},
        {"f", "T M_PI", "T y", "y = 2 * M_PI;", NULL, "\"M_PI\" cannot be the name of a parameter"},
        {"f", "T NAN", "T y", "y = NAN;", NULL, "\"NAN\" cannot be the name of a parameter"},
        {"f", "T INFINITY", "T y", "y = INFINITY;", NULL, "\"INFINITY\" cannot be the name of a parameter"},
        {"f", "T x", "T M_E", "M_E = x;", NULL, "\"M_E\" cannot be the name of a result"},
        {"f", "T compl", "T y", "y = compl;", NULL, "\"compl\" cannot be the name of a parameter"},
        {"f", "", "T y", "y = 1;", NULL, "f needs a parameter"},
        {"f", "T x", "", "y = 1;", NULL, "f needs a result"},
        {"f", "T x", "T y, T z", "y = x;", NULL, "never assigns the result z"},
        {"f", "T x", "T y", "int a = x;\nif (x == y) a = 2;", NULL, "never assigns the result y"},
        {"f", "T x", "T y", "y = 1;\ny = f(x);", NULL, "f, line 2: f calls itself"},
        {"f", "T x", "T y", "y = 1;\n\ny = unheard(x);", NULL, "f, line 3: a body calls functions of the text form and definitions made before; there is no unheard"},
        {"f", "T x", "T y", "y = square(x);", NULL, "f, line 1: what is made of other functions"},
        {"f", "T x", "T y", "y = (x;\n", NULL, "opened on line 1 is not closed: ')'"},
        {"f", "T x", "T y", "y = x;\n}", NULL, "f, line 2: nothing is open that would be closed by }"},
        {"f", "T x", "T y", "y = x;\nif (x) {", NULL, "opened on line 2 is not closed"},
        {"f", "T x", "T y", "y = x;\n#define A", NULL, "f, line 2: a body has no lines for the preprocessor"},
        {"f", "T x", "T y", "y = x; /* and", NULL, "does not end"},
        {"f", "T x", "T y", "y = krf_exp(x);", NULL, "are the library's"},
        {"f", "T x", "T y", "y = x * x;", "dy/dx = 2 * q", "q is not defined"},
        {"f", "T x", "T y", "y = x * x;", "dy/dq = 2 * x", "is no derivative"},
        {"f", "T x, T z", "T y", "y = x * z;", "dy/dx = z", "dy/dz is missing"},
        {"f", "T x", "T y", "y = x * x;", "dy/dx = x; dy/dx = x", "given twice"},
        {"known", "T x", "T y", "y = x;", NULL, "known is defined already"},
    };
    krf_context *c = all.run[0].context;
    krf_op *known = define(c, "known", "T x, f32 w", "T y", "y = x;", NULL), *op = NULL;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (krf_op_define(c, faults[i].name, faults[i].parameters, faults[i].results, faults[i].body, faults[i].derivatives, &op) == KRF_OK) {
            fail_msg("%s was taken: %s", faults[i].body, faults[i].message);
        }
        assert_null(op);
        if (strstr(krf_error_message(), faults[i].message) == NULL) {
            fail_msg("\"%s\" is not in: %s", faults[i].message, krf_error_message());
        }
    }
    assert_int_equal(krf_op_undefine(c, "unheard"), KRF_E_ARGUMENT);
    assert_int_equal(krf_op_define(NULL, "f", "T x", "T y", "y = x;", NULL, &op), KRF_E_ARGUMENT);

    krf_graph *g = krf_graph_create(c);
    const double one = 1;
    assert_false(krf_expr_ok(krf_op_apply(known, host_input(g, c, KRF_F64, 0, NULL, &one))));
    assert_non_null(strstr(krf_graph_error(g), "known: takes 2 operands, not 1"));
    krf_graph_reset(g);
    krf_expr x = host_input(g, c, KRF_F64, 0, NULL, &one);
    assert_false(krf_expr_ok(krf_op_apply(known, x, x)));
    assert_non_null(strstr(krf_graph_error(g), "known: operand w is f64, and f32 was declared: cast it"));
    krf_graph_reset(g);
    x = host_input(g, c, KRF_F64, 0, NULL, &one);
    krf_expr y = krf_op_apply(known, x, krf_real(g, 0.1)), slope;
    assert_true(krf_expr_ok(y));
    krf_grad(y, 1, &x, &slope);
    assert_non_null(strstr(krf_graph_error(g), "known was defined without derivatives"));
    krf_graph_reset(g);
    krf_op *low = define(c, "low", "u8 n", "u8 y", "y = n;", NULL); /* a number has no sign of its own */
    assert_true(krf_expr_ok(krf_op_apply(low, krf_int(g, 200))));
    assert_false(krf_expr_ok(krf_op_apply(low, krf_int(g, 256))));
    assert_non_null(strstr(krf_graph_error(g), "low: the integer 256 is out of the range of u8"));
    krf_graph_reset(g);
    assert_false(krf_expr_ok(krf_op_apply(low, krf_real(g, 2.0))));
    krf_op_release(low);
    assert_int_equal(krf_op_undefine(c, "low"), KRF_OK);
    krf_op_release(known);
    krf_graph_destroy(g);
}

/* What the compiler says, with the body's line; then a correct definition of the same name works. */
static void test_compiler_errors(void **state) {
    (void)state;
    for (int r = 0; r < all.n; r++) {
        krf_context *c = all.run[r].context;
        krf_graph *g = krf_graph_create(c);
        const double one = 3;
        double out = 0;
        krf_array *array = NULL;
        krf_op *op = define(c, "wrong", "T x", "T y", "T a = x;\nT b = a * 2;\ny = a + bee;\n", NULL), *outer = define(c, "wrapping", "T x", "T y", "y = wrong(x);", NULL);
        krf_expr x = host_input(g, c, KRF_F64, 0, NULL, &one);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(krf_eval(krf_op_apply(k == 0 ? op : outer, x), &array), KRF_E_COMPILE);
            assert_null(array);
            if (strstr(krf_error_message(), "wrong, line 3: error: ") == NULL || strstr(krf_error_message(), "y = a + bee;") == NULL ||
                strstr(krf_error_message(), "bee") == NULL) {
                fail_msg("%s: %s", all.run[r].label, krf_error_message());
            }
        }
        krf_op_release(op);
        krf_op_release(outer);
        assert_int_equal(krf_op_undefine(c, "wrong"), KRF_OK);
        op = define(c, "wrong", "T x", "T y", "y = x + 1;", NULL);
        eval_into(krf_op_apply(op, x), &out, sizeof out);
        assert_true(out == 4);
        krf_op_release(op);
        krf_graph_destroy(g);
    }
}

/* ---- life ---- */

static int64_t compiled(krf_context *c) {
    krf_cache_stats stats = {.size = sizeof stats};
    assert_int_equal(krf_context_cache_stats(c, &stats), KRF_OK);
    return stats.compiled + stats.disk_hits;
}

static void test_life(void **state) {
    (void)state;
    krf_context *c = all.run[0].context;
    const double one = 3;
    double out = 0;
    krf_graph *g = krf_graph_create(c);
    krf_expr x = host_input(g, c, KRF_F64, 0, NULL, &one);
    krf_op *op = define(c, "life", "T x", "T y", "y = x + 11;", NULL);
    krf_expr old = krf_op_apply(op, x);
    eval_into(old, &out, sizeof out);
    const int64_t before = compiled(c);
    krf_op_release(op);
    assert_int_equal(krf_op_undefine(c, "life"), KRF_OK);
    assert_int_equal(krf_op_undefine(c, "life"), KRF_E_ARGUMENT);
    op = define(c, "life", "T x", "T y", "y = x + 11;", NULL); /* the same text: the same kernel */
    eval_into(krf_op_apply(op, x), &out, sizeof out);
    assert_true(out == 14 && compiled(c) == before);
    krf_op_release(op);
    assert_int_equal(krf_op_undefine(c, "life"), KRF_OK);
    op = define(c, "life", "T x", "T y", "y = x + 12;", NULL); /* another text, the old one goes on working */
    krf_expr both = krf_multiply(old, krf_op_apply(op, x));
    eval_into(both, &out, sizeof out);
    assert_true(out == 14 * 15);
    assert_ptr_equal(krf_op_retain(op), op);
    assert_string_equal(krf_op_name(op), "life");
    assert_int_equal(krf_op_parameters(op), 1);
    assert_int_equal(krf_op_results(op), 1);
    krf_op_release(op);
    krf_op_release(op);
    krf_op_release(NULL);
    krf_graph_destroy(g);
}

/* Without a compiler there is no way to run a body, and the message says what to install. */
static void test_no_compiler(void **state) {
    (void)state;
    if (all.cuda) {
        return;
    }
    krf_context_options options = krf_context_options_default();
    krf_context *c = NULL;
    options.device = "cpu";
    options.compiler = "/nonexistent/cc";
    options.cache = KRF_CACHE_OFF;
    assert_int_equal(krf_context_create(&options, &c), KRF_OK);
    krf_graph *g = krf_graph_create(c);
    const double one = 1;
    krf_array *array = NULL;
    krf_op *op = define(c, "needs", "T x", "T y", "y = x;", NULL);
    assert_int_equal(krf_eval(krf_op_apply(op, host_input(g, c, KRF_F64, 0, NULL, &one)), &array), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "the body of needs is C, and there is no C compiler"));
    assert_non_null(strstr(krf_error_message(), "apt install gcc"));
    krf_op_release(op);
    krf_graph_destroy(g);
    krf_context_destroy(c);
}

static void open_all(void) {
    open_runs(&all, true);
    static const char *const fusions[2] = {"off", "operations=3,results=1,repeated=2"};
    for (int k = 0; k < 2; k++) {
        krf_context_options options = krf_context_options_default();
        options.device = asked_device();
        options.fusion = fusions[k];
        split[k] = open_or_skip(&options);
    }
}

int main(void) {
    open_all();
    const int failed = run_whole(TESTS(cmocka_unit_test(test_values), cmocka_unit_test(test_hypot), cmocka_unit_test(test_dtypes), cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_functions), cmocka_unit_test(test_names), cmocka_unit_test(test_fusion), cmocka_unit_test(test_one_kernel),
                                       cmocka_unit_test(test_derivatives), cmocka_unit_test(test_text), cmocka_unit_test(test_errors), cmocka_unit_test(test_compiler_errors),
                                       cmocka_unit_test(test_life), cmocka_unit_test(test_no_compiler), cmocka_unit_test(test_bools)));
    krf_context_destroy(split[0]);
    krf_context_destroy(split[1]);
    destroy_runs(&all);
    return failed;
}
