/* An unbinned fit: two Gaussians to a million samples by maximum likelihood. kerfuse gives the likelihood and its gradient, in one kernel that reads the
 * samples once; NLopt does the minimising.
 *
 *     nll_fit [samples]
 *
 * The errors are those of the inverse Hessian, which is made of differences of the gradient: the same kernel once more. */
#include "example.h"

#include <nlopt.h>

enum { PARAMETERS = 5 };

static const char *const names[PARAMETERS] = {"f", "mu1", "s1", "mu2", "s2"};
static const double truth[PARAMETERS] = {0.35, -1.2, 0.6, 1.4, 1.1};

/* f, mu1, ... are scalars of each run: other values need no other kernel. */
static const char program[] = "f: f64; mu1: f64; s1: f64; mu2: f64; s2: f64\n"
                              "gauss(x, mu, s) = exp(-0.5 * ((x - mu) / s)**2) / (s * sqrt(2 * pi))\n"
                              "nll = -sum(log(f * gauss(x, mu1, s1) + (1 - f) * gauss(x, mu2, s2)))\n"
                              "return value_and_grad(nll, f, mu1, s1, mu2, s2)\n";

typedef struct fit {
    krf_plan *plan;
    krf_array *results[1 + PARAMETERS];
    int evaluations;
} fit;

/* The value; gradient may be NULL. What NLopt calls. */
static double likelihood(unsigned n, const double *parameters, double *gradient, void *data) {
    fit *f = data;
    krf_binding bindings[PARAMETERS];
    double value;
    for (unsigned k = 0; k < n; k++) {
        bindings[k] = krf_bind_real(names[k], parameters[k]);
    }
    check(krf_plan_run(f->plan, NULL, PARAMETERS, bindings, f->results));
    check(krf_array_to_host(f->results[0], &value, sizeof value));
    for (unsigned k = 0; gradient != NULL && k < n; k++) {
        check(krf_array_to_host(f->results[1 + k], &gradient[k], sizeof *gradient));
    }
    f->evaluations++;
    return value;
}

/* Inverts a symmetric positive matrix in place (Gauss-Jordan; the pivots of such a matrix are positive). */
static void invert(double (*a)[PARAMETERS]) {
    for (int p = 0; p < PARAMETERS; p++) {
        const double pivot = a[p][p];
        a[p][p] = 1;
        for (int j = 0; j < PARAMETERS; j++) {
            a[p][j] /= pivot;
        }
        for (int i = 0; i < PARAMETERS; i++) {
            const double factor = a[i][p];
            a[i][p] = i == p ? factor : 0;
            for (int j = 0; j < PARAMETERS && i != p; j++) {
                a[i][j] -= factor * a[p][j];
            }
        }
    }
}

static void errors(fit *f, const double *best, double *error) {
    double hessian[PARAMETERS][PARAMETERS], above[PARAMETERS], below[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
        double moved[PARAMETERS];
        const double h = 1e-4;
        for (int k = 0; k < PARAMETERS; k++) {
            moved[k] = best[k];
        }
        moved[i] = best[i] + h;
        likelihood(PARAMETERS, moved, above, f);
        moved[i] = best[i] - h;
        likelihood(PARAMETERS, moved, below, f);
        for (int k = 0; k < PARAMETERS; k++) {
            hessian[i][k] = (above[k] - below[k]) / (2 * h);
        }
    }
    invert(hessian);
    for (int i = 0; i < PARAMETERS; i++) {
        error[i] = sqrt(hessian[i][i]);
    }
}

/* Uniform in (0, 1]; splitmix64 (Steele, Lea, Flood 2014). */
static double uniform(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
}

static krf_array *samples(krf_context *ctx, int64_t n) {
    double *data = malloc(sizeof *data * (size_t)n);
    krf_array *array = NULL;
    uint64_t state = 1;
    for (int64_t i = 0; data != NULL && i < n; i++) {
        const bool first = uniform(&state) < truth[0];
        const double radius = sqrt(-2 * log(uniform(&state))), normal = radius * cos(6.283185307179586 * uniform(&state));
        data[i] = truth[first ? 1 : 3] + truth[first ? 2 : 4] * normal;
    }
    check(krf_array_from_host(ctx, KRF_F64, 1, &n, data, &array));
    free(data);
    return array;
}

int main(int argc, char **argv) {
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    krf_context *ctx = open_device();
    krf_array *x = samples(ctx, count > 1 ? count : 2);
    krf_graph *g = krf_graph_create(ctx);
    krf_binding binding = krf_bind_array("x", x);
    krf_expr results[1 + PARAMETERS];
    fit f = {.plan = NULL};
    int n;
    check(krf_parse_many(g, program, &binding, 1, 1 + PARAMETERS, results, &n));
    check(krf_compile(g, n, results, NULL, &f.plan));

    double p[PARAMETERS] = {0.5, -1, 1, 1, 1}, least = 0, error[PARAMETERS];
    const double low[PARAMETERS] = {0.01, -10, 0.05, -10, 0.05}, high[PARAMETERS] = {0.99, 10, 10, 10, 10};
    nlopt_opt optimizer = nlopt_create(NLOPT_LD_LBFGS, PARAMETERS);
    nlopt_set_min_objective(optimizer, likelihood, &f);
    nlopt_set_lower_bounds(optimizer, low);
    nlopt_set_upper_bounds(optimizer, high);
    nlopt_set_ftol_rel(optimizer, 1e-13);
    const double start = seconds();
    const nlopt_result status = nlopt_optimize(optimizer, p, &least);
    const double time = seconds() - start;
    const int iterations = f.evaluations;
    nlopt_destroy(optimizer);
    if (status < 0 && status != NLOPT_ROUNDOFF_LIMITED) {
        fprintf(stderr, "nlopt: %d\n", (int)status);
        return EXIT_FAILURE;
    }
    errors(&f, p, error);

    krf_cache_stats stats = {.size = sizeof stats};
    check(krf_context_cache_stats(ctx, &stats));
    printf("%ld samples: -log(L) = %.6f after %d evaluations of value and gradient in %.3f s (%.3f ms each)\n", count, least, iterations, time,
           time * 1e3 / iterations);
    for (int k = 0; k < PARAMETERS; k++) {
        printf("%-4s %10.6f +- %.6f   true %5.2f, off by %+.2f errors\n", names[k], p[k], error[k], truth[k], (p[k] - truth[k]) / error[k]);
    }
    printf("kernels: %d (%lld compiled, %lld from the disk cache)\n", krf_plan_kernels(f.plan), (long long)stats.compiled, (long long)stats.disk_hits);

    for (int k = 0; k < 1 + PARAMETERS; k++) {
        krf_array_release(f.results[k]);
    }
    krf_plan_release(f.plan);
    krf_graph_destroy(g);
    krf_array_release(x);
    krf_context_destroy(ctx);
}
