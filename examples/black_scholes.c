/* Prices of European calls and their greeks by differentiating the price: six results of a million options, one kernel.
 *
 *     black_scholes [options]
 *
 * Black and Scholes (1973): C = S N(d1) - K exp(-r T) N(d2), d1 = (log(S/K) + (r + v^2/2) T) / (v sqrt(T)), d2 = d1 - v sqrt(T), and N the normal
 * distribution function. */
#include "example.h"

enum { GREEKS = 6 };

static const char *const names[GREEKS] = {"price", "delta", "gamma", "vega", "theta", "rho"};

/* rho is by one number that all options share: forward mode gives its effect on each. The others are each option's own. */
static const char program[] = "r: f64\n"
                              "N(x) = 0.5 * erfc(-x / sqrt(2))\n"
                              "d1(S, K, T, v, r) = (log(S / K) + (r + 0.5 * v**2) * T) / (v * sqrt(T))\n"
                              "call(S, K, T, v, r) = S * N(d1(S, K, T, v, r)) - K * exp(-r * T) * N(d1(S, K, T, v, r) - v * sqrt(T))\n"
                              "price = call(S, K, T, v, r)\n"
                              "delta, vega, time = grad(sum(price), S, v, T)\n"
                              "return price, delta, grad(sum(delta), S), vega, -time, jvp(price, r, 1)\n";

/* The textbook's formulas. */
static void greeks(double S, double K, double T, double v, double r, double *out) {
    const double d1 = (log(S / K) + (r + 0.5 * v * v) * T) / (v * sqrt(T)), d2 = d1 - v * sqrt(T);
    const double n1 = 0.5 * erfc(-d1 / sqrt(2)), n2 = 0.5 * erfc(-d2 / sqrt(2)), density = exp(-0.5 * d1 * d1) / sqrt(6.283185307179586), discount = exp(-r * T);
    out[0] = S * n1 - K * discount * n2;
    out[1] = n1;
    out[2] = density / (S * v * sqrt(T));
    out[3] = S * density * sqrt(T);
    out[4] = -S * density * v / (2 * sqrt(T)) - r * K * discount * n2;
    out[5] = K * T * discount * n2;
}

/* n numbers from low to high, in an order that `step` shuffles. */
static double *spread(int64_t n, int64_t step, double low, double high) {
    double *data = malloc(sizeof *data * (size_t)n);
    for (int64_t i = 0; data != NULL && i < n; i++) {
        data[i] = low + (high - low) * (double)(i * step % n) / (double)n;
    }
    return data;
}

int main(int argc, char **argv) {
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    const int64_t n = count > 0 ? count : 1;
    const double r = 0.03;
    double *inputs[4] = {spread(n, 7919, 60, 140), spread(n, 104729, 80, 120), spread(n, 15485863, 0.1, 2), spread(n, 611953, 0.1, 0.6)};
    static const char *const letters[4] = {"S", "K", "T", "v"};
    krf_context *ctx = open_device();
    krf_array *arrays[4] = {NULL}, *results[GREEKS] = {NULL};
    krf_binding bindings[4];
    for (int k = 0; k < 4; k++) {
        check(krf_array_from_host(ctx, KRF_F64, 1, &n, inputs[k], &arrays[k]));
        bindings[k] = krf_bind_array(letters[k], arrays[k]);
    }
    krf_graph *g = krf_graph_create(ctx);
    krf_expr ys[GREEKS];
    krf_plan *plan = NULL;
    int found;
    check(krf_parse_many(g, program, bindings, 4, GREEKS, ys, &found));
    check(krf_compile(g, found, ys, NULL, &plan));

    double best = INFINITY;
    krf_binding rate = krf_bind_real("r", r);
    for (int i = 0; i < 10; i++) {
        const double start = seconds();
        check(krf_plan_run(plan, NULL, 1, &rate, results));
        check(krf_context_synchronize(ctx));
        best = fmin(best, seconds() - start);
    }

    double *values[GREEKS], worst[GREEKS] = {0}, largest[GREEKS] = {0};
    for (int k = 0; k < GREEKS; k++) {
        values[k] = malloc(sizeof **values * (size_t)n);
        check(krf_array_to_host(results[k], values[k], sizeof **values * (size_t)n));
    }
    for (int64_t i = 0; i < n; i++) {
        double expected[GREEKS];
        greeks(inputs[0][i], inputs[1][i], inputs[2][i], inputs[3][i], r, expected);
        for (int k = 0; k < GREEKS; k++) {
            worst[k] = fmax(worst[k], fabs(values[k][i] - expected[k]));
            largest[k] = fmax(largest[k], fabs(expected[k]));
        }
    }
    printf("%lld options: %d kernel(s), %.3f ms\n", (long long)n, krf_plan_kernels(plan), best * 1e3);
    bool close = true;
    for (int k = 0; k < GREEKS; k++) {
        printf("%-6s of the first: %12.6f; largest difference from the formula: %.2g\n", names[k], values[k][0], worst[k]);
        close &= worst[k] <= 1e-12 * fmax(1, largest[k]);
        free(values[k]);
        krf_array_release(results[k]);
    }
    for (int k = 0; k < 4; k++) {
        krf_array_release(arrays[k]);
        free(inputs[k]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_context_destroy(ctx);
    return close ? EXIT_SUCCESS : EXIT_FAILURE;
}
