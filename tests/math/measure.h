/* Functions of codegen/math against MPFR: what one of them is here, and how far it errs over special arguments (all pairs of them where there are two) and random ones. */
#ifndef KRF_TESTS_MATH_MEASURE_H
#define KRF_TESTS_MATH_MEASURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "math/exact.h"

enum { RANDOM_ARGUMENTS = 12000 };

typedef struct function {
    const char *name;
    double limit_f64, limit_f32;
    double (*f64)(double);
    float (*f32)(float);
    double (*pair_f64)(double, double);
    float (*pair_f32)(float, float);
} function;

static inline const exact_row *row_of(const char *name) {
    for (int i = 0; i < EXACT_COUNT; i++) {
        if (strcmp(exact_rows[i].name, name) == 0) {
            return &exact_rows[i];
        }
    }
    fail_msg("%s is not in EXACT_ROWS", name);
    return NULL;
}

static inline double error_at(const function *fn, const exact_row *row, bool narrow, double x, double y) {
    mpfr_t exact, a, b;
    double got;
    mpfr_init2(exact, REF_BITS);
    mpfr_init2(a, 53);
    mpfr_init2(b, 53);
    if (narrow) {
        got = (double)(row->arity == 1 ? fn->f32((float)x) : fn->pair_f32((float)x, (float)y));
    } else {
        got = row->arity == 1 ? fn->f64(x) : fn->pair_f64(x, y);
    }
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    row->exact(exact, a, b);
    const double scale = exact_scale(row->name, x, y);
    const double ulp = narrow ? exact_error_f32(got, exact, scale) : exact_error_f64(got, exact, scale);
    mpfr_clear(exact);
    mpfr_clear(a);
    mpfr_clear(b);
    return ulp;
}

static inline void measure(const function *fn, bool narrow) {
    const exact_row *row = row_of(fn->name);
    const long specials = row->arity == 1 ? EXACT_SPECIALS : (long)EXACT_SPECIALS * EXACT_SPECIALS;
    double worst = 0, at = 0, beside = 0;
    uint64_t state = 7;
    assert_int_equal(row->arity, fn->f32 != NULL ? 1 : 2);
    for (long i = 0; i < specials + RANDOM_ARGUMENTS; i++) {
        double x = i < specials ? exact_special[i % EXACT_SPECIALS] : exact_sample(row, narrow, &state);
        double y = i < specials ? exact_special[i / EXACT_SPECIALS] : exact_sample(row, narrow, &state);
        if (narrow) {
            x = (double)(float)x;
            y = (double)(float)y;
        }
        const double ulp = error_at(fn, row, narrow, x, y);
        if (ulp > worst) {
            worst = ulp;
            at = x;
            beside = y;
        }
    }
    printf("%-10s %s %7.3f at (%a, %a)\n", fn->name, narrow ? "f32" : "f64", worst, at, beside);
    fflush(stdout);
    if (!(worst <= (narrow ? fn->limit_f32 : fn->limit_f64))) {
        fail_msg("%s %s: %g ULP at (%a, %a)", fn->name, narrow ? "f32" : "f64", worst, at, beside);
    }
}

#endif
