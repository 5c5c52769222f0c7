/* Complex functions against the C library's in long double, or MPFR where that loses digits: within 8 units in the last place of the norm, and with
 * the same bits on both tiers. Each function over numbers of all sizes, near the unit circle and on the axes. */
#include "ops/common.h"
#include "ops/complex_reference.h"

#include <mpfr.h>

enum { N = 4096, BITS = 2400, POWER_BITS = 400 };

static runs all_runs;

/* ---- references ---- */

static mpfr_t x_, y_, u_, v_;

/* log of the modulus of x + 1 (where more is set) + i y. */
static long double log_modulus(cx z, bool more) {
    mpfr_set_ld(x_, creall(z), MPFR_RNDN);
    mpfr_set_ld(y_, cimagl(z), MPFR_RNDN);
    mpfr_add_ui(x_, x_, more ? 1 : 0, MPFR_RNDN);
    mpfr_hypot(u_, x_, y_, MPFR_RNDN);
    mpfr_log(u_, u_, MPFR_RNDN);
    return mpfr_get_ld(u_, MPFR_RNDN);
}

static cx exact_expm1(cx z, cx w) {
    (void)w;
    mpfr_set_ld(x_, creall(z), MPFR_RNDN);
    mpfr_set_ld(y_, cimagl(z), MPFR_RNDN);
    mpfr_exp(u_, x_, MPFR_RNDN);
    mpfr_sin_cos(x_, v_, y_, MPFR_RNDN);
    mpfr_mul(v_, v_, u_, MPFR_RNDN);
    mpfr_sub_ui(v_, v_, 1, MPFR_RNDN);
    mpfr_mul(x_, x_, u_, MPFR_RNDN);
    return make(mpfr_get_ld(v_, MPFR_RNDN), mpfr_get_ld(x_, MPFR_RNDN));
}

static cx exact_log(cx z, cx w) {
    (void)w;
    return make(log_modulus(z, false), cargl(z));
}
static cx exact_log2(cx z, cx w) { return exact_log(z, w) * 1.44269504088896340735992468100189214L; }
static cx exact_log10(cx z, cx w) { return exact_log(z, w) * 0.434294481903251827651128918916605082L; }
static cx exact_log1p(cx z, cx w) {
    (void)w;
    return make(log_modulus(z, true), cargl(1 + z));
}

/* Of finite numbers. */
static cx exact_power(cx z, cx w) {
    if (z == 0 || !finite_complex(z) || !finite_complex(w)) {
        return ref_power(z, w);
    }
    mpfr_t re, im, size, angle, a, b;
    mpfr_inits2(POWER_BITS, re, im, size, angle, a, b, (mpfr_ptr)0);
    mpfr_set_ld(re, creall(z), MPFR_RNDN);
    mpfr_set_ld(im, cimagl(z), MPFR_RNDN);
    mpfr_hypot(size, re, im, MPFR_RNDN);
    mpfr_log(size, size, MPFR_RNDN);
    mpfr_atan2(angle, im, re, MPFR_RNDN);
    mpfr_set_ld(a, creall(w), MPFR_RNDN);
    mpfr_set_ld(b, cimagl(w), MPFR_RNDN);
    mpfr_fmms(re, a, size, b, angle, MPFR_RNDN);
    mpfr_fmma(im, a, angle, b, size, MPFR_RNDN);
    mpfr_exp(size, re, MPFR_RNDN);
    mpfr_sin_cos(b, a, im, MPFR_RNDN);
    mpfr_mul(a, a, size, MPFR_RNDN);
    mpfr_mul(b, b, size, MPFR_RNDN);
    cx y = make(mpfr_get_ld(a, MPFR_RNDN), mpfr_get_ld(b, MPFR_RNDN));
    mpfr_clears(re, im, size, angle, a, b, (mpfr_ptr)0);
    return y;
}

typedef struct tested {
    const char *text; /* over z and w */
    complex_reference *exact;
    bool grows;       /* power: beyond a limit the error grows with the exponent of e */
} tested;

static const tested functions[] = {
    {"-z", ref_negative, false},
    {"conj(z)", ref_conj, false},
    {"square(z)", ref_square, false},
    {"reciprocal(z)", ref_reciprocal, false},
    {"sign(z)", ref_sign, false},
    {"abs(z)", ref_abs, false},
    {"angle(z)", ref_angle, false},
    {"sqrt(z)", ref_sqrt, false},
    {"exp(z)", ref_exp, false},
    {"expm1(z)", exact_expm1, false},
    {"log(z)", exact_log, false},
    {"log2(z)", exact_log2, false},
    {"log10(z)", exact_log10, false},
    {"log1p(z)", exact_log1p, false},
    {"sin(z)", ref_sin, false},
    {"cos(z)", ref_cos, false},
    {"tan(z)", ref_tan, false},
    {"asin(z)", ref_asin, false},
    {"acos(z)", ref_acos, false},
    {"atan(z)", ref_atan, false},
    {"sinh(z)", ref_sinh, false},
    {"cosh(z)", ref_cosh, false},
    {"tanh(z)", ref_tanh, false},
    {"asinh(z)", ref_asinh, false},
    {"acosh(z)", ref_acosh, false},
    {"atanh(z)", ref_atanh, false},
    {"z + w", ref_add, false},
    {"z - w", ref_subtract, false},
    {"z * w", ref_multiply, false},
    {"z / w", ref_divide, false},
    {"z ** w", exact_power, true},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- operands ---- */

static double of_size(uint64_t *state, double least, double most) {
    double size = exp2(least + (most - least) * random_unit(state));
    return (next_random(state) & 1) != 0 ? -size : size;
}

/* One part of a number of dtype f32 or f64. */
static double any_part(uint64_t *state, bool single) {
    static const double marked[] = {0.0, -0.0, 1, -1, 0.5, 2, 1.5707963267948966, 3.141592653589793};
    switch (random_below(state, 6)) {
    case 0: return marked[random_below(state, 8)];
    case 1: return of_size(state, single ? -149 : -1074, single ? 127 : 1023);
    case 2: return of_size(state, -30, 30);
    default: return of_size(state, -4, 4);
    }
}

static void fill(uint64_t *state, bool single, double *parts) {
    for (int i = 0; i < N; i++) {
        double re = any_part(state, single), im = any_part(state, single);
        if (i % 5 == 0) { /* near the unit circle, 1 among it */
            double angle = i % 10 == 0 ? of_size(state, -40, 2) : 0, more = of_size(state, -40, -1);
            re = cos(angle) + more;
            im = sin(angle) + (angle == 0 ? of_size(state, -60, -1) : 0);
        }
        if (i % 11 == 0) { /* subnormal both */
            re = of_size(state, single ? -149 : -1074, single ? -127 : -1023);
            im = of_size(state, single ? -149 : -1074, single ? -127 : -1023);
        }
        parts[2 * i] = single ? nearest_float(re) : re;
        parts[2 * i + 1] = single ? nearest_float(im) : im;
    }
}

static krf_array *upload(krf_context *context, bool single, const double *parts) {
    float *narrow = malloc(2 * N * sizeof *narrow);
    krf_array *array = NULL;
    for (int i = 0; i < 2 * N; i++) {
        narrow[i] = (float)parts[i];
    }
    krf_status status = krf_array_from_host(context, single ? KRF_C64 : KRF_C128, 1, (int64_t[]){N}, single ? (void *)narrow : (void *)parts, &array);
    assert_int_equal(status, KRF_OK);
    free(narrow);
    return array;
}

/* The results as pairs of doubles; real ones have imaginary parts of 0. */
static double *evaluate(run *r, const char *text, bool single, const double *z, const double *w, bool *real) {
    krf_graph *g = krf_graph_create(r->context);
    krf_array *arrays[2] = {upload(r->context, single, z), upload(r->context, single, w)}, *out = NULL;
    krf_binding names[2] = {krf_bind_array("z", arrays[0]), krf_bind_array("w", arrays[1])};
    krf_expr y;
    if (krf_parse(g, text, names, 2, &y) != KRF_OK || krf_eval(y, &out) != KRF_OK) {
        fail_msg("%s: %s: %s", r->label, text, krf_error_message());
    }
    krf_dtype dtype = krf_array_dtype(out);
    *real = dtype == KRF_F32 || dtype == KRF_F64;
    assert_true(*real ? dtype == (single ? KRF_F32 : KRF_F64) : dtype == (single ? KRF_C64 : KRF_C128));
    size_t bytes = N * krf_dtype_size(dtype);
    double *parts = calloc(2 * N, sizeof *parts);
    char *data = malloc(bytes);
    assert_int_equal(krf_array_to_host(out, data, bytes), KRF_OK);
    for (int i = 0; i < (*real ? 1 : 2) * N; i++) {
        float narrow;
        double full;
        memcpy(&narrow, data + 4 * (single ? i : 0), sizeof narrow);
        memcpy(&full, data + 8 * (single ? 0 : i), sizeof full);
        parts[*real ? 2 * i : i] = single ? (double)narrow : full;
    }
    free(data);
    krf_array_release(arrays[0]);
    krf_array_release(arrays[1]);
    krf_array_release(out);
    krf_graph_destroy(g);
    return parts;
}

/* The distance in units in the last place of the norm; 0 where the norm overflows. */
static double distance(cx want, double re, double im, bool single) {
    long double norm = cabsl(want), most = single ? 0x1p127L : 0x1p1023L, least = single ? 0x1p-126L : 0x1p-1022L;
    int digits = single ? 24 : 53;
    if (!(norm < most)) {
        return 0;
    }
    long double unit = ldexpl(1, ilogbl(norm > least ? norm : least) - digits + 1);
    long double off = hypotl(creall(want) - (long double)re, cimagl(want) - (long double)im);
    return isnan(off) ? INFINITY : (double)(off / unit);
}

/* The exponents of e up to which powers keep to the bound: what f64 says of c64's, and a pair of numbers of c128's. */
static long double largest_exponent(bool single) { return single ? 0x1p26L : 0x1p50L; }

static void check(const tested *f, bool single, const double *z, const double *w) {
    double *first = NULL;
    bool real;
    for (int r = 0; r < all_runs.n && collecting; r++) {
        if (!passed_over(&all_runs.run[r])) {
            free(evaluate(&all_runs.run[r], f->text, single, z, w, &real));
        }
    }
    for (int r = 0; r < all_runs.n && !collecting; r++) {
        double *got = evaluate(&all_runs.run[r], f->text, single, z, w, &real), worst = 0;
        int at = 0;
        for (int i = 0; i < N; i++) {
            cx a = make((long double)z[2 * i], (long double)z[2 * i + 1]), b = make((long double)w[2 * i], (long double)w[2 * i + 1]);
            cx want = f->exact(a, b);
            if (f->exact == ref_multiply && !(cabsl(a) * cabsl(b) < (single ? 0x1p127L : 0x1p1023L))) {
                continue; /* may overflow in between */
            }
            double off = distance(want, got[2 * i], got[2 * i + 1], single);
            double more = f->grows ? (double)(cabsl(b * clogl(a)) / largest_exponent(single)) : 0;
            off = more > 1 && off < INFINITY ? off / more : off;
            if (off > worst) {
                worst = off;
                at = i;
            }
        }
        if (worst > 8) {
            cx a = make((long double)z[2 * at], (long double)z[2 * at + 1]), b = make((long double)w[2 * at], (long double)w[2 * at + 1]);
            cx want = f->exact(a, b);
            COMPLAIN("%s: %s in %s: %.3g units off at z = (%.17g, %.17g), w = (%.17g, %.17g): (%.17g, %.17g), not (%.17Lg, %.17Lg)",
                     all_runs.run[r].label, f->text, single ? "c64" : "c128", worst, z[2 * at], z[2 * at + 1], w[2 * at], w[2 * at + 1],
                     got[2 * at], got[2 * at + 1], creall(want), cimagl(want));
        } else if (r == 0) {
            printf("%-14s %s %.2f\n", f->text, single ? "c64 " : "c128", worst);
        }
        for (int i = 0; r > 0 && i < 2 * N; i++) {
            bool same = got[i] == first[i] ? signbit(got[i]) == signbit(first[i]) : isnan(got[i]) && isnan(first[i]);
            if (!same) {
                COMPLAIN("%s: %s in %s: element %d is not that of %s", all_runs.run[r].label, f->text, single ? "c64" : "c128", i / 2, all_runs.run[0].label);
                break;
            }
        }
        if (r == 0) {
            first = got;
        } else {
            free(got);
        }
    }
    free(first);
}

static void test_functions(void **unused) {
    (void)unused;
    double *z = malloc(2 * N * sizeof *z), *w = malloc(2 * N * sizeof *w);
    mpfr_inits2(BITS, x_, y_, u_, v_, (mpfr_ptr)0);
    for (int f = 0; f < FUNCTIONS; f++) {
        for (int single = in_shard(f) ? 1 : -1; single >= 0; single--) {
            uint64_t state = 7 + (uint64_t)single;
            fill(&state, single, z);
            fill(&state, single, w);
            check(&functions[f], single, z, w);
        }
    }
    free(z);
    free(w);
    mpfr_clears(x_, y_, u_, v_, (mpfr_ptr)0);
    assert_int_equal(failures, 0);
}

/* Powers whose exponent of e is large and whose value is none the less a number: z of all sizes, near the unit circle, near the axes and next to 1, and w
 * such that w log(z) has a real part up to 700 (80) and an imaginary one up to the limit. */
static void fill_powers(uint64_t *state, bool single, double *z, double *w) {
    const double most = single ? 80 : 700, end = log2((double)largest_exponent(single)), decades = single ? 36 : 300;
    for (int i = 0; i < N; i++) {
        cx exponent;
        do {
            const double angle = (random_unit(state) - 0.5) * 2 * M_PI, size = pow(10, (2 * random_unit(state) - 1) * decades);
            double *part = &z[2 * i];
            part[0] = cos(angle) * size, part[1] = sin(angle) * size;
            if (i % 6 == 1) {
                part[0] = cos(angle) + of_size(state, -60, -10), part[1] = sin(angle);
            } else if (i % 6 == 2) {
                part[0] = 1 + of_size(state, -60, -1), part[1] = of_size(state, -60, -1);
            } else if (i % 6 == 3) {
                part[1] = (i & 8) != 0 ? -0.0 : 0.0;
            } else if (i % 6 == 4) {
                part[i / 6 % 2] = of_size(state, -60, -1);
            } else if (i % 6 == 5) {
                part[0] = of_size(state, -2, 2), part[1] = of_size(state, -2, 2);
            }
            for (int k = 0; k < 2; k++) {
                part[k] = single ? nearest_float(part[k]) : part[k];
            }
            const cx l = clogl(make((long double)part[0], (long double)part[1]));
            const long double u = (long double)((2 * random_unit(state) - 1) * most), v = (long double)of_size(state, 0, end - 0.01);
            const cx at = quotient(make(u, v), l);
            w[2 * i] = single ? nearest_float((double)creall(at)) : (double)creall(at);
            w[2 * i + 1] = single ? nearest_float((double)cimagl(at)) : (double)cimagl(at);
            exponent = product_of_complex(make((long double)w[2 * i], (long double)w[2 * i + 1]), l);
        } while (!(fabsl(creall(exponent)) < (long double)most) || !finite_complex(exponent));
    }
}

static void test_large_powers(void **unused) {
    (void)unused;
    double *z = malloc(2 * N * sizeof *z), *w = malloc(2 * N * sizeof *w);
    for (int single = 1; single >= 0; single--) {
        uint64_t state = 11 + (uint64_t)single;
        const tested power = {"z ** w", exact_power, true};
        fill_powers(&state, single, z, w);
        check(&power, single, z, w);
    }
    free(z);
    free(w);
    assert_int_equal(failures, 0);
}

int main(void) { return run_on(open_noted_runs(&all_runs, false), TESTS(noted_test(test_functions), noted_test(test_large_powers))); }
