/* Functions of single elements. Their values are computed in double and rounded to f32 after each operation where the text computes in float: of + - * / and sqrt that is the
 * same. */
#include "fuzz/user.h"

static double r(bool narrow, double x) { return narrow ? nearest_float(x) : x; }

static value library(const char *name, krf_dtype dtype, value a, value b) { return op_value(op_find(name), dtype, dtype, (value[3]){a, b, b}); }
static value real_of(krf_dtype dtype, double x) { return (value){.dtype = dtype, .f = x}; }

static bool positive(value v) { return is_real(v.dtype) ? v.f > 0 : wide_of(v) > 0; }

static void far_value(bool narrow, const value *x, value *y) {
    double d = r(narrow, x[0].f - x[1].f);
    d = d < 0 ? -d : d;
    y[0].f = d > 0.5 ? r(narrow, d * 0.5) : r(narrow, x[0].f + x[1].f);
}

static void both_ways(bool narrow, const value *x, value *y) {
    y[0].f = r(narrow, x[0].f + x[1].f);
    y[1].f = r(narrow, x[0].f - x[1].f);
}

static void nested(bool narrow, const value *x, value *y) {
    value pair[2] = {{0}}, z = {0};
    both_ways(narrow, x, pair);
    far_value(narrow, pair, &z);
    y[0].f = r(narrow, z.f * 0.25);
}

static void bits(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0].i = x[0].i & x[1].i;
    y[1].i = __builtin_popcountll((uint64_t)(x[0].i ^ x[1].i) & 255);
}

static void polynomial(bool narrow, const value *x, value *y) {
    (void)narrow;
    double sum = 1;
    for (int64_t i = x[2].i & 3; i > 0; i--) {
        sum = sum * x[0].f + x[1].f;
    }
    y[0].f = sum;
}

static void gate(bool narrow, const value *x, value *y) {
    const bool floats = x[1].dtype != KRF_F64; /* F is f32 or less, even where another operand makes numbers double */
    y[0].f = positive(x[0]) ? r(narrow, x[1].f * (narrow ? (double)0.1f : 0.1)) : r(floats, -x[2].f);
}

static void root(bool narrow, const value *x, value *y) {
    y[0].f = r(narrow, sqrt(fabs(x[0].f)));
    y[1].i = x[0].f < 0 ? -1 : x[0].f > 0;
}

static const char *wave(krf_dtype f, int k, const value *x, value *inner) {
    value t = library("maximum", f, x[0], real_of(f, -x[1].f));
    *inner = k == 0 ? t : real_of(f, -fabs(t.f));
    return k == 0 ? "tanh" : "exp";
}

static void five(bool narrow, const value *x, value *y) {
    const krf_dtype f = narrow ? KRF_F32 : KRF_F64;
    value w[4];
    for (int i = 0; i < 4; i++) {
        w[i] = real_of(f, x[i].f);
    }
    y[0].f = r(narrow, r(narrow, r(narrow, x[0].f * x[1].f) - x[2].f) + r(narrow, x[3].f * x[4].f));
    y[1].f = library("maximum", f, library("minimum", f, w[0], w[1]), library("minimum", f, w[2], w[3])).f;
}

static void collatz(bool narrow, const value *x, value *y) {
    (void)narrow;
    for (uint32_t n = (uint32_t)x[0].i & 1023; n > 1; n = n % 2 != 0 ? 3 * n + 1 : n / 2) {
        y[0].i++;
    }
}

static void either(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0].i = x[0].i | x[1].i;
}

static void choose(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0] = x[2].i != 0 ? x[0] : x[1];
}

static void parts(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0].i = x[0].i & 255;
    y[1].f = (double)((x[0].i >> 3) & 1023) * 0.5;
    y[2].i = x[0].i & 1;
}

static void numbers(bool narrow, const value *x, value *y) {
    y[0].f = narrow ? r(true, r(true, x[0].f * (double)0.1f) + r(true, x[1].f * (double)2.718281828459045f)) : x[0].f * 0.1 + x[1].f * 2.718281828459045;
}

static void halves(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0].f = r(true, r(true, x[0].f * x[1].f) + (double)0.1f);
}

static void rank_of(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0].i = 0;
    for (int i = 1; i < 4; i++) {
        y[0].i += is_real(x[0].dtype) ? x[i].f < x[0].f : wide_of(x[i]) < wide_of(x[0]);
    }
}

const user_op user_ops[] = {
    {"u_far", "F x, F y", "F z", "F d = x - y;\nif (d < 0) {\n    d = -d;\n}\nz = d > 0.5 ? d * 0.5 : x + y;",
     "dz/dx = where(abs(x - y) > 0.5, where(x < y, -0.5, 0.5), 1); dz/dy = where(abs(x - y) > 0.5, where(x < y, 0.5, -0.5), 1)", TAKES_ANY, far_value, NULL},
    {"u_both", "F x, F y", "F s, F d", "s = x + y;\nd = x - y; // two results", "ds/dx = 1; ds/dy = 1\ndd/dx = 1; dd/dy = -1", TAKES_ANY, both_ways, NULL},
    {"u_nested", "F x, F y", "F z", "F s, d;\nu_both(x, y, &s, &d);\nz = u_far(s, d) * 0.25;", "dz/dx = where(abs(2 * y) > 0.5, 0, 0.5); dz/dy = u_far(z, y) * 0.5", TAKES_ANY, nested, NULL},
    {"u_bits", "T a, T b", "T m, i32 n", "T v = a ^ b;\nfor (int k = 0; k < 8; k++) {\n    n += (int)((v >> k) & 1);\n}\nm = a & b;", NULL, TAKES_INTEGERS, bits, NULL},
    {"u_polynomial", "f64 x, f32 c, i32 n", "f64 y", "y = 1;\nfor (int i = n & 3; i > 0; i--) y = y * x + c;", "dy/dx = c * 2; dy/dc = where(n > 2, x, 1)", TAKES_ANY, polynomial, NULL},
    {"u_gate", "T c, F x, F y", "F z", "if (c > 0) { z = x * 0.1; return; }\nz = -y;", NULL, TAKES_ANY, gate, NULL},
    {"u_root", "F x", "F y, i8 sign", "y = sqrt(abs(x));\nsign = x < 0 ? -1 : x > 0;", "dy/dx = 0.5 * sign / y", TAKES_ANY, root, NULL},
    {"u_wave", "F x, F y", "F t, F e", "F m = maximum(x, -y);\nt = tanh(m);\ne = exp(-abs(m));",
     "dt/dx = where(x >= -y, 1 - t * t, 0); dt/dy = where(x >= -y, 0, t * t - 1); de/dx = where(x >= -y, -e, 0); de/dy = e", TAKES_ANY, NULL, wave},
    {"u_five", "F a, F b, F c, F d, F e", "F y, F z", "F w[4] = {a, b, c, d};\ny = (w[0] * w[1] - w[2]) + w[3] * e;\nz = max(min(a, b), min(c, d));",
     "dy/da = b; dy/db = a; dy/dc = -1; dy/dd = e; dy/de = d; dz/da = 0; dz/db = where(z == b, 1, 0); dz/dc = 0; dz/dd = 1; dz/de = 0", TAKES_ANY, five, NULL},
    {"u_collatz", "u32 n", "i32 steps", "n = n & 1023;\nwhile (n > 1) {\n    n = n % 2 == 0 ? n / 2 : 3 * n + 1;\n    steps++;\n}", NULL, TAKES_ANY, collatz, NULL},
    {"u_either", "T a, T b", "T c", "return a | b;", NULL, TAKES_INTEGERS, either, NULL},
    {"u_choose", "T a, T b, bool c", "T z", "z = c ? a : b;", "dz/da = where(c, 1, 0); dz/db = where(c, 0, 1)", TAKES_ANY, choose, NULL},
    {"u_parts", "i64 n", "u8 low, f32 half_n, bool odd", "low = n & 255;\nhalf_n = (f32)((n >> 3) & 1023) * 0.5;\nodd = (n & 1) != 0;", NULL, TAKES_ANY, parts, NULL},
    {"u_numbers", "F p, F q", "F y", "y = p * 0.1 + q * M_E;", "dy/dp = 0.1; dy/dq = 2.5", TAKES_ANY, numbers, NULL},
    {"u_halves", "f16 x, bf16 y", "f32 z", "z = x * y + 0.1;", "dz/dx = y; dz/dy = x", TAKES_ANY, halves, NULL},
    {"u_rank", "T a, T b, T c, T d", "u16 n", "T w[3] = {b, c, d};\nfor (int i = 0; i < 3; i++) {\n    n += w[i] < a;\n}", NULL, TAKES_ANY, rank_of, NULL},
};
const int user_ops_count = sizeof user_ops / sizeof *user_ops;
