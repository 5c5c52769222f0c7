// Measures the largest error of every function in units of the last place, against MPFR, through the public interface: of
// the CPU's tiers (whose bits are equal) or of a GPU.
//   accuracy [--device cpu|cuda] [--tier 0|1] [--samples N] [--only NAME] [--markdown]
// --samples: arguments a function and dtype (200000). --markdown: the rows of docs/accuracy.md.
#include <kerfuse/kerfuse.h>

#include <stdio.h>
#include <stdlib.h>

#include "math/exact.h"

enum { BATCH = 65536 };

#define CALL1(name) krf_##name(x)
#define CALL2(name) krf_##name(x, y)
#define ROW(name, arity, lo, hi) \
    static krf_expr build_##name(krf_expr x, krf_expr y) { \
        (void)y; \
        return CALL##arity(name); \
    }
EXACT_ROWS(ROW)
#undef ROW
static krf_expr (*const builders[])(krf_expr x, krf_expr y) = {
#define ROW(name, arity, lo, hi) build_##name,
    EXACT_ROWS(ROW)
#undef ROW
};

typedef struct worst {
    double ulp, x, y, got;
} worst;

static void check(krf_status status, const char *what) {
    if (status != KRF_OK) {
        fprintf(stderr, "%s: %s\n", what, krf_error_message());
        exit(status == KRF_E_DEVICE ? 77 : 1);
    }
}

// Results of one batch: in and out as arrays of the dtype.
static void evaluate(krf_context *context, int function, bool narrow, const void *x, const void *y, void *out) {
    const int64_t shape[] = {BATCH};
    krf_array *arrays[2], *result = NULL;
    krf_graph *g = krf_graph_create(context);
    check(krf_array_from_host(context, narrow ? KRF_F32 : KRF_F64, 1, shape, x, &arrays[0]), "array");
    check(krf_array_from_host(context, narrow ? KRF_F32 : KRF_F64, 1, shape, y, &arrays[1]), "array");
    check(krf_eval(builders[function](krf_input(g, arrays[0]), krf_input(g, arrays[1])), &result), exact_rows[function].name);
    check(krf_array_to_host(result, out, BATCH * (narrow ? sizeof(float) : sizeof(double))), "result");
    krf_array_release(result);
    krf_array_release(arrays[0]);
    krf_array_release(arrays[1]);
    krf_graph_destroy(g);
}

static worst measure(krf_context *context, int function, bool narrow, long samples) {
    static double x[BATCH], y[BATCH], out[BATCH];
    static float x32[BATCH], y32[BATCH], out32[BATCH];
    const exact_row *row = &exact_rows[function];
    const long specials = row->arity == 1 ? EXACT_SPECIALS : (long)EXACT_SPECIALS * EXACT_SPECIALS;
    worst w = {0};
    uint64_t state = 1;
    mpfr_t exact, a, b;
    mpfr_init2(exact, REF_BITS);
    mpfr_init2(a, 53);
    mpfr_init2(b, 53);
    for (long done = 0; done < samples; done += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            long k = done + i;
            x[i] = k < specials ? exact_special[k % EXACT_SPECIALS] : exact_sample(row, narrow, &state);
            y[i] = k < specials ? exact_special[k / EXACT_SPECIALS] : exact_sample(row, narrow, &state);
            if (narrow) {
                x[i] = (double)(x32[i] = (float)x[i]);
                y[i] = (double)(y32[i] = (float)y[i]);
            }
        }
        evaluate(context, function, narrow, narrow ? (void *)x32 : x, narrow ? (void *)y32 : y, narrow ? (void *)out32 : out);
        for (int i = 0; i < BATCH && done + i < samples; i++) {
            double got = narrow ? (double)out32[i] : out[i];
            mpfr_set_d(a, x[i], MPFR_RNDN);
            mpfr_set_d(b, y[i], MPFR_RNDN);
            row->exact(exact, a, b);
            double scale = exact_scale(row->name, x[i], y[i]);
            double ulp = narrow ? exact_error_f32(got, exact, scale) : exact_error_f64(got, exact, scale);
            w = ulp > w.ulp ? (worst){ulp, x[i], y[i], got} : w;
        }
    }
    mpfr_clear(exact);
    mpfr_clear(a);
    mpfr_clear(b);
    return w;
}

int main(int argc, char **argv) {
    krf_context_options options = krf_context_options_default();
    krf_context *context;
    long samples = 200000;
    const char *only = NULL;
    bool markdown = false;
    options.device = "cpu";
    options.blocking_compile = true;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--markdown") == 0) {
            markdown = true;
        } else if (more && strcmp(argv[i], "--device") == 0) {
            options.device = argv[++i];
        } else if (more && strcmp(argv[i], "--tier") == 0) {
            options.cpu_tier = strcmp(argv[++i], "0") == 0 ? KRF_CPU_INTERPRET : KRF_CPU_COMPILE;
        } else if (more && strcmp(argv[i], "--samples") == 0) {
            samples = strtol(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--only") == 0) {
            only = argv[++i];
        } else {
            fprintf(stderr, "usage: accuracy [--device cpu|cuda] [--tier 0|1] [--samples N] [--only NAME] [--markdown]\n");
            return 2;
        }
    }
    check(krf_context_create(&options, &context), "context");
    exact_open();
    for (int f = 0; f < EXACT_COUNT; f++) {
        if (only != NULL && strcmp(only, exact_rows[f].name) != 0) {
            continue;
        }
        worst narrow = measure(context, f, true, samples), wide = measure(context, f, false, samples);
        if (markdown) {
            printf("| %s | %.3f | %.3f | %ld |\n", exact_rows[f].name, narrow.ulp, wide.ulp, samples);
        } else {
            printf("%-12s f32 %9.3f at (%a, %a) -> %a\n", exact_rows[f].name, narrow.ulp, narrow.x, narrow.y, narrow.got);
            printf("%-12s f64 %9.3f at (%a, %a) -> %a\n", exact_rows[f].name, wide.ulp, wide.x, wide.y, wide.got);
        }
        fflush(stdout);
    }
    exact_close();
    krf_context_destroy(context);
    return 0;
}
