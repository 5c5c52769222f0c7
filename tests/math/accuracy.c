// Measures the largest error of every function in units of the last place, against MPFR, through the public interface: of
// the CPU's tiers (whose bits are equal) or of a GPU.
//   accuracy [--device cpu|cuda] [--tier 0|1] [--samples N | --sweep STEP] [--only NAME] [--markdown]
//   accuracy --list
// --samples: arguments a function and dtype (200000). --sweep: functions of one argument in f32, over every STEP-th of all 2^32 arguments: against
// the CPU's f64 function, whose samples are held against MPFR; MPFR then decides the worst thousand. --markdown: the rows of docs/accuracy.md.
#include <kerfuse/kerfuse.h>

#include <stdio.h>
#include <stdlib.h>

#include "math/exact.h"

enum { BATCH = 65536, SWEEP_BATCH = 1 << 20, WORST = 1000 };

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
static void evaluate(krf_context *context, int function, bool narrow, int64_t n, const void *x, const void *y, void *out) {
    const int64_t shape[] = {n};
    krf_array *arrays[2], *result = NULL;
    krf_graph *g = krf_graph_create(context);
    check(krf_array_from_host(context, narrow ? KRF_F32 : KRF_F64, 1, shape, x, &arrays[0]), "array");
    check(krf_array_from_host(context, narrow ? KRF_F32 : KRF_F64, 1, shape, y, &arrays[1]), "array");
    check(krf_eval(builders[function](krf_input(g, arrays[0]), krf_input(g, arrays[1])), &result), exact_rows[function].name);
    check(krf_array_to_host(result, out, (size_t)n * (narrow ? sizeof(float) : sizeof(double))), "result");
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
        evaluate(context, function, narrow, BATCH, narrow ? (void *)x32 : x, narrow ? (void *)y32 : y, narrow ? (void *)out32 : out);
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

// Roughly how far got lies from a value, in units of the last place of f32, or of scale.
static double distance(float got, double value, double scale) {
    double size = fabs(value), unit = 0x1p-149;
    uint64_t bits;
    if (isnan(value) || isnan(got) || (isinf(value) && !isinf(got))) {
        return isnan(value) && isnan(got) ? 0 : EXACT_WRONG;
    }
    if (size >= 0x1p128) {
        return isinf(got) && !signbit(got) == !signbit(value) ? 0 : EXACT_WRONG;
    }
    size = scale > size ? scale : size;
    memcpy(&bits, &size, sizeof bits);
    bits &= UINT64_C(0x7ff0000000000000);
    memcpy(&size, &bits, sizeof bits);
    unit = size * 0x1p-23 > unit ? size * 0x1p-23 : unit;
    return fabs((isinf(got) ? copysign(0x1p128, (double)got) : (double)got) - value) / unit;
}

static worst sweep(krf_context *context, krf_context *reference, int function, uint64_t step, uint64_t *count) {
    static float x[SWEEP_BATCH], out[SWEEP_BATCH];
    static double wide[SWEEP_BATCH], value[SWEEP_BATCH];
    static worst list[WORST];
    const exact_row *row = &exact_rows[function];
    const bool scaled = exact_scale(row->name, 3, -3) > 0 || exact_scale(row->name, -3, -3) > 0;
    int n_list = 0, least = 0;
    *count = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX;) {
        int64_t n = 0;
        for (; n < SWEEP_BATCH && bits <= UINT32_MAX; n++, bits += step) {
            uint32_t word = (uint32_t)bits;
            memcpy(&x[n], &word, sizeof word);
            wide[n] = (double)x[n];
        }
        evaluate(context, function, true, n, x, x, out);
        evaluate(reference, function, false, n, wide, wide, value);
        *count += (uint64_t)n;
        for (int64_t i = 0; i < n; i++) {
            double far = distance(out[i], value[i], scaled ? exact_scale(row->name, wide[i], wide[i]) : 0);
            if (n_list == WORST && far <= list[least].ulp) {
                continue;
            }
            list[n_list < WORST ? n_list++ : least] = (worst){far, wide[i], 0, (double)out[i]};
            least = 0;
            for (int k = 1; k < n_list; k++) {
                least = list[k].ulp < list[least].ulp ? k : least;
            }
        }
    }
    worst w = {0};
    mpfr_t exact, a;
    mpfr_init2(exact, REF_BITS);
    mpfr_init2(a, 53);
    for (int i = 0; i < n_list; i++) {
        mpfr_set_d(a, list[i].x, MPFR_RNDN);
        row->exact(exact, a, a);
        double ulp = exact_error_f32(list[i].got, exact, exact_scale(row->name, list[i].x, 0));
        w = ulp > w.ulp ? (worst){ulp, list[i].x, 0, list[i].got} : w;
    }
    mpfr_clear(exact);
    mpfr_clear(a);
    return w;
}

int main(int argc, char **argv) {
    krf_context_options options = krf_context_options_default();
    krf_context *context, *reference = NULL;
    long samples = 200000, step = 0;
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
        } else if (more && strcmp(argv[i], "--sweep") == 0) {
            step = strtol(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--list") == 0) {
            for (int f = 0; f < EXACT_COUNT; f++) {
                puts(exact_rows[f].name);
            }
            return 0;
        } else if (more && strcmp(argv[i], "--only") == 0) {
            only = argv[++i];
        } else {
            fprintf(stderr, "usage: accuracy [--device cpu|cuda] [--tier 0|1] [--samples N | --sweep STEP] [--only NAME] [--markdown] [--list]\n");
            return 2;
        }
    }
    check(krf_context_create(&options, &context), "context");
    if (step > 0) {
        krf_context_options cpu = krf_context_options_default();
        cpu.device = "cpu";
        cpu.blocking_compile = true;
        check(krf_context_create(&cpu, &reference), "context");
    }
    exact_open();
    for (int f = 0; f < EXACT_COUNT; f++) {
        if (only != NULL && strcmp(only, exact_rows[f].name) != 0) {
            continue;
        }
        if (step > 0 && exact_rows[f].arity == 1) {
            uint64_t count;
            worst w = sweep(context, reference, f, (uint64_t)step, &count);
            printf(markdown ? "| %s | %.3f | %a | %llu |\n" : "%-12s f32 %9.3f at %a, of %llu arguments\n", exact_rows[f].name, w.ulp, w.x,
                   (unsigned long long)count);
            fflush(stdout);
        }
        if (step > 0) {
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
    krf_context_destroy(reference);
    krf_context_destroy(context);
    return 0;
}
