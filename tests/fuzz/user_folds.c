/* Reductions and scans. The identities change nothing, whatever the elements are. */
#include "fuzz/user.h"

static double r(bool narrow, double x) { return narrow ? nearest_float(x) : x; }
static bool below(value a, value b) { return is_real(a.dtype) ? a.f < b.f : wide_of(a) < wide_of(b); }
static bool equal(value a, value b) { return is_real(a.dtype) ? a.f == b.f : a.i == b.i; }

static void square(bool narrow, const value *x, value *y) { y[0].f = r(narrow, x[0].f * x[0].f); }
static void product(bool narrow, const value *x, value *y) { y[0].f = r(narrow, x[0].f * x[1].f); }
static void add(bool narrow, const value *a, const value *b, value *y) { y[0].f = r(narrow, a[0].f + b[0].f); }
static void subtract(bool narrow, const value *a, const value *b, value *y) {
    y[0].f = r(narrow, a[0].f - b[0].f);
    y[0].i = (int64_t)((uint64_t)a[0].i - (uint64_t)b[0].i);
}
static void root(bool narrow, const value *x, value *y) { y[0].f = r(narrow, sqrt(x[0].f)); }

static void least_map(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0] = x[0];
    y[0].f = isnan(x[0].f) || x[0].f == 0 ? 0 : x[0].f;
    y[1] = x[1];
}

static void least(bool narrow, const value *a, const value *b, value *y) {
    (void)narrow;
    memcpy(y, below(b[0], a[0]) || (equal(a[0], b[0]) && b[1].i < a[1].i) ? b : a, 2 * sizeof *y);
}

static void one_of(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0].f = 1;
    y[1] = x[0];
    y[2].f = 0;
}

static void welford(bool narrow, const value *a, const value *b, value *y) {
    if (a[0].f == 0 || b[0].f == 0) {
        memcpy(y, a[0].f == 0 ? b : a, 3 * sizeof *y);
        return;
    }
    const double n = r(narrow, a[0].f + b[0].f), d = r(narrow, b[1].f - a[1].f), f = r(narrow, b[0].f / n);
    y[0].f = n;
    y[1].f = r(narrow, a[1].f + r(narrow, d * f));
    y[2].f = r(narrow, r(narrow, a[2].f + b[2].f) + r(narrow, r(narrow, r(narrow, d * d) * a[0].f) * f));
}

static void moments(bool narrow, const value *x, value *y) {
    y[0].f = x[1].f;
    y[1].f = r(narrow, x[2].f / x[0].f);
}

static void copy(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0] = x[0];
}

static void exclusive(bool narrow, const value *a, const value *b, value *y) {
    (void)narrow;
    y[0].i = a[0].i ^ b[0].i;
}

/* What is zero is +0, as the identity: an element of -0 alone would be told from one behind the identity. */
static void latest_map(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0] = x[0];
    y[0].f = x[0].f == 0 ? 0 : x[0].f;
}

static void latest(bool narrow, const value *a, const value *b, value *y) {
    (void)narrow;
    y[0] = (is_real(b[0].dtype) ? b[0].f != 0 : b[0].i != 0) ? b[0] : a[0];
}

static void ends(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0] = x[0];
    y[0].f = isnan(x[0].f) ? 0 : x[0].f;
    y[1] = y[0];
}

static void outer_ends(bool narrow, const value *a, const value *b, value *y) {
    (void)narrow;
    y[0] = b[0].f < a[0].f ? b[0] : a[0];
    y[1] = b[1].f > a[1].f ? b[1] : a[1];
}

static void width(bool narrow, const value *x, value *y) {
    y[0].f = r(narrow, x[1].f - x[0].f);
    y[1].i = x[1].f > 1;
}

static void tally_map(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0].i = x[0].i;
    y[1].i = x[0].i != 0 ? x[1].i : 0;
}

static void tally(bool narrow, const value *a, const value *b, value *y) {
    (void)narrow;
    y[0].i = a[0].i + b[0].i;
    y[1].i = a[1].i > b[1].i ? a[1].i : b[1].i;
}

static void lse_map(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0] = x[0];
}

/* As far as the sum and its steps may be off; of what overflows, all. */
static bool near_lse(krf_dtype f, const value *const *x, int64_t n, value got) {
    const krf_dtype within = f == KRF_F64 ? KRF_F64 : KRF_F32;
    const double eps = ldexp(1, 1 - facts_of(within)->digits), coarse = ldexp(1, 1 - facts_of(f)->digits);
    long double top = -(long double)INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[0][i].f)) {
            return true;
        }
        top = (long double)x[0][i].f > top ? (long double)x[0][i].f : top;
    }
    for (int64_t i = 0; i < n; i++) {
        sum += expl((long double)x[0][i].f - top);
    }
    const double want = n == 0 ? -(double)INFINITY : (double)(top + logl(sum)), size = fmax(1, fabs(want));
    return n == 0 ? got.f == want : !isfinite(round_to(f, (long double)want)) || fabs(got.f - want) <= 200 * eps * size + coarse * fmax(fabs(want), ldexp(1, facts_of(f)->lowest));
}

static void through(const char *name, const value *a, const value *b, value *y) {
    const krf_dtype dtype = a[0].dtype;
    y[0] = op_value(op_find(name), dtype, dtype, (value[3]){a[0], b[0], b[0]});
}

static void gcd(bool narrow, const value *a, const value *b, value *y) {
    (void)narrow;
    through("gcd", a, b, y);
}

static void either(bool narrow, const value *a, const value *b, value *y) {
    (void)narrow;
    y[0].i = a[0].i | b[0].i;
}

/* A function without an identity: a second field says whether there was an element. */
static void first_map(bool narrow, const value *x, value *y) {
    (void)narrow;
    y[0] = x[0];
    y[1].i = 1;
}

static void if_any(void (*f)(bool, const value *, const value *, value *), bool narrow, const value *a, const value *b, value *y) {
    if (a[1].i != 0 && b[1].i != 0) {
        f(narrow, a, b, y);
    } else {
        y[0] = a[1].i != 0 ? a[0] : b[0];
    }
    y[1].i = a[1].i | b[1].i;
}
static void differences(bool narrow, const value *a, const value *b, value *y) { if_any(subtract, narrow, a, b, y); }
static void any_either(bool narrow, const value *a, const value *b, value *y) { if_any(either, narrow, a, b, y); }

static const char welford_text[] = "if (a_n == 0) { n = b_n; mean = b_mean; m2 = b_m2; return; }\nif (b_n == 0) { n = a_n; mean = a_mean; m2 = a_m2; return; }\n"
                                   "n = a_n + b_n;\nF d = b_mean - a_mean, f = b_n / n;\nmean = a_mean + d * f;\nm2 = a_m2 + b_m2 + d * d * a_n * f;";

const user_fold user_folds[] = {
    {"u_norm", "F x", "F s", "0", "s = x * x;", "s = a_s + b_s;", "F norm", "norm = sqrt(s);", NULL, TAKES_ANY, {0}, square, root, add, NULL},
    {"u_dot", "F x, F y", "F s", "-0.0", "s = x * y;", "s = a_s + b_s;", NULL, NULL, NULL, TAKES_ANY, {-0.0}, product, NULL, add, NULL},
    {"u_least", "T v, i64 i", "T low, i64 at", "inf, inf", "low = (v == v ? v : 0) + 0;\nat = i;", "bool b = b_low < a_low || (b_low == a_low && b_at < a_at);\nlow = b ? b_low : a_low;\nat = b ? b_at : a_at;",
     NULL, NULL, NULL, TAKES_NUMBERS, {INFINITY, INFINITY}, least_map, NULL, least, NULL},
    {"u_welford", "F x", "F n, F mean, F m2", "0, 0, 0", "n = 1;\nmean = x;\nm2 = 0;", welford_text, "F average, F variance", "average = mean;\nvariance = m2 / n;", NULL, TAKES_ANY, {0}, one_of,
     moments, welford, NULL},
    {"u_xor", "T x", "T v", "0", "v = x;", "v = a_v ^ b_v;", NULL, NULL, NULL, TAKES_INTEGERS, {0}, copy, NULL, exclusive, NULL},
    {"u_width", "F x", "F low, F high", "inf, -inf", "low = x == x ? x : 0;\nhigh = low;", "low = b_low < a_low ? b_low : a_low;\nhigh = b_high > a_high ? b_high : a_high;", "F width, bool above",
     "width = high - low;\nabove = high > 1;", NULL, TAKES_ANY, {INFINITY, -INFINITY}, ends, width, outer_ends, NULL},
    {"u_tally", "bool c, u8 k", "i64 n, u8 m", "0, 0", "n = c;\nm = c ? k : 0;", "n = a_n + b_n;\nm = a_m > b_m ? a_m : b_m;", NULL, NULL, NULL, TAKES_ANY, {0}, tally_map, NULL, tally, NULL},
    {"u_lse", "F x", "F top, F rest", "-inf, 0", "top = x;\nrest = 1;",
     "top = max(a_top, b_top);\nrest = top > -INFINITY ? a_rest * exp(a_top - top) + b_rest * exp(b_top - top) : F(0);", "F y", "y = log(rest) + top;", NULL, TAKES_ANY, {-INFINITY}, lse_map, NULL,
     NULL, near_lse},
    {"u_latest", "T x", "T v", "0", "v = x != 0 ? x : T(0);", "v = b_v != 0 ? b_v : a_v;", NULL, NULL, NULL, TAKES_ANY, {0}, latest_map, NULL, latest, NULL}, /* associative, not commutative */
    {"gcd", "T x", "T v", NULL, NULL, NULL, NULL, NULL, "gcd", TAKES_INTEGERS, {0}, copy, NULL, gcd, NULL},
    {"bitwise_xor", "T x", "T v", NULL, NULL, NULL, NULL, NULL, "bitwise_xor", TAKES_INTEGERS, {0}, copy, NULL, exclusive, NULL},
    {"subtract", "T x", "T v, bool any", NULL, NULL, NULL, "T r", NULL, "subtract", TAKES_NUMBERS, {0}, first_map, copy, differences, NULL},
    {"u_either", "T x", "T v, bool any", NULL, NULL, NULL, "T r", NULL, "u_either", TAKES_INTEGERS, {0}, first_map, copy, any_either, NULL},
};
const int user_folds_count = sizeof user_folds / sizeof *user_folds;
