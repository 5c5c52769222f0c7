/* What you write yourself: single-element functions and reductions in C, which fuse like the library's. Each program is run and checked; the NLL of two Gaussians is written three ways,
 * which are one kernel each. */
#include <kerfuse/kerfuse.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000000

static int wrong;

static void check(const char *what, double got, double expected, double relative) {
    const bool ok = fabs(got - expected) <= relative * fmax(fabs(expected), 1e-300);
    printf("%-58s %.15g%s\n", what, got, ok ? "" : "  WRONG");
    wrong += !ok;
}

static void stop_unless(krf_status status) {
    if (status != KRF_OK) {
        fprintf(stderr, "%s\n", krf_error_message());
        exit(1);
    }
}

static krf_op *define(krf_context *c, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives) {
    krf_op *op = NULL;
    stop_unless(krf_op_define(c, name, parameters, results, body, derivatives, &op));
    return op;
}

/* A single number. */
static double value_of(krf_expr x) {
    krf_array *array = NULL;
    double number = 0;
    stop_unless(krf_eval(x, &array));
    stop_unless(krf_array_to_host(array, &number, sizeof number));
    krf_array_release(array);
    return number;
}

static int kernels_of(krf_expr x) {
    krf_plan *plan = NULL;
    stop_unless(krf_compile(x.graph, 1, &x, NULL, &plan));
    const int n = krf_plan_kernels(plan);
    krf_plan_release(plan);
    return n;
}

static void likelihood(krf_context *c, krf_array *samples) {
    krf_graph *g = krf_graph_create(c);
    krf_expr x = krf_input(g, samples), composed, sums, whole;
    const krf_binding names[] = {krf_bind_expr("x", x), krf_bind_real("f", 0.3), krf_bind_real("m", 1.5), krf_bind_real("s", 0.5), krf_bind_real("w", 2.0)};

    /* composed of the library's functions */
    stop_unless(krf_parse(g,
                          "gauss(x, mu, s) = exp(-0.5 * ((x - mu) / s)**2) / (s * sqrt(2 * pi))\n"
                          "-sum(log(f * gauss(x, m, s) + (1 - f) * gauss(x, 0, w)))",
                          names, 5, &composed));
    /* a function of one element, which calls another one, and the library's sum */
    krf_op *gauss = define(c, "pdf", "F x, F mu, F s", "F y", "F z = (x - mu) / s;\nreturn exp(-0.5 * z * z) / (s * sqrt(2 * M_PI));", NULL);
    krf_op *mixture = define(c, "mixture", "F x, F f, F m, F s, F w", "F y", "y = log(f * pdf(x, m, s) + (1 - f) * pdf(x, F(0), w));", NULL);
    stop_unless(krf_parse(g, "-sum(mixture(x, f, m, s, w))", names, 5, &sums));
    /* a reduction of its own */
    krf_reduction *nll = NULL;
    stop_unless(krf_reduction_define(c, "nll", "F x, F f, F m, F s, F w", "F total", "0", "total = log(f * pdf(x, m, s) + (1 - f) * pdf(x, F(0), w));",
                                     "total = a_total + b_total;", "F y", "y = -total;", &nll));
    stop_unless(krf_parse(g, "nll(x, f, m, s, w)", names, 5, &whole));

    const double expected = value_of(composed);
    check("NLL, composed", expected, expected, 0);
    check("NLL, a function of yours and a sum", value_of(sums), expected, 1e-12);
    check("NLL, a reduction of yours", value_of(whole), expected, 1e-12);
    check("kernels of the three", kernels_of(composed) * 100 + kernels_of(sums) * 10 + kernels_of(whole), 111, 0);
    krf_op_release(gauss);
    krf_op_release(mixture);
    krf_reduction_release(nll);
    krf_graph_destroy(g);
}

static void functions(krf_context *c, krf_array *samples) {
    krf_graph *g = krf_graph_create(c);
    krf_expr x = krf_input(g, samples), big = krf_real(g, 3e200), other = krf_real(g, 4e200), y, slope;

    krf_op *op = define(c, "length", "F x, F y", "F h", "F a = max(fabs(x), fabs(y)), b = min(fabs(x), fabs(y));\nF t = a > 0 ? b / a : F(0);\nh = a * sqrt(1 + t * t);", NULL);
    check("the hypotenuse of 3e200 and 4e200", value_of(krf_op_apply(op, big, other)), 5e200, 1e-15);
    krf_op_release(op);

    /* a million f32 at once: its mean is 1 / (2 sqrt(pi)) where the samples are of that distribution */
    krf_expr density;
    stop_unless(krf_parse(g, "mean(f64(pdf(f32(x), 0, 2)))", (krf_binding[]){krf_bind_expr("x", x)}, 1, &density));
    krf_expr known;
    stop_unless(krf_parse(g, "mean(exp(-0.125 * x * x) / sqrt(8 * pi))", (krf_binding[]){krf_bind_expr("x", x)}, 1, &known));
    check("the density of a Gaussian, mean over a million f32", value_of(density), value_of(known), 1e-6);

    /* a helper with two results */
    op = define(c, "polar", "F x, F y", "F r, F phi", "r = hypot(x, y);\nphi = atan2(y, x);", NULL);
    krf_op *distance = define(c, "polar_distance", "F x, F y, F u, F v", "F d",
                              "F r, phi, q, psi;\npolar(x, y, &r, &phi);\npolar(u, v, &q, &psi);\nd = sqrt(r * r + q * q - 2 * r * q * cos(phi - psi));", NULL);
    check("the distance of (1, 2) and (4, 6) by polar coordinates", value_of(krf_op_apply(distance, krf_real(g, 1), krf_real(g, 2), krf_real(g, 4), krf_real(g, 6))), 5, 1e-14);
    krf_op_release(op);
    krf_op_release(distance);

    op = define(c, "powers", "F p, F q, F r, F s", "F y", "y = sqrt(p*p + q*q*q + r*r*r*r + s*s*s*s*s);", NULL);
    check("sqrt(p**2 + q**3 + r**4 + s**5) of 2, 3, 5, 7", value_of(krf_op_apply(op, krf_real(g, 2), krf_real(g, 3), krf_real(g, 5), krf_real(g, 7))), sqrt(4 + 27 + 625 + 16807), 1e-15);
    krf_op_release(op);

    op = define(c, "parabola", "F x", "F y", "y = 5 * x * x + 3 * x - 2;", "dy/dx = 10 * x + 3");
    krf_expr four = krf_real(g, 4);
    y = krf_op_apply(op, four);
    krf_grad(y, 1, &four, &slope);
    check("f(x) = 5 x^2 + 3 x - 2 at 4", value_of(y), 90, 0);
    check("and its derivative", value_of(slope), 43, 0);
    krf_op_release(op);
    krf_graph_destroy(g);
}

static void reductions(krf_context *c) {
    krf_graph *g = krf_graph_create(c);
    krf_reduction *total = NULL, *product = NULL, *welford = NULL;
    stop_unless(krf_reduction_define(c, "total", "T x", "T s", "0", "s = x;", "s = a_s + b_s;", NULL, NULL, &total));
    stop_unless(krf_reduction_define(c, "product", "T x", "T p", "1", "p = x;", "p = a_p * b_p;", NULL, NULL, &product));
    stop_unless(krf_reduction_define(c, "welford", "F x", "F n, F mean, F m2", "0, 0, 0", "n = 1; mean = x; m2 = 0;",
                                     "n = a_n + b_n;\nF d = b_mean - a_mean, f = n > 0 ? b_n / n : 0;\nmean = a_mean + d * f;\nm2 = a_m2 + b_m2 + d * d * a_n * f;", "F average, F variance",
                                     "average = mean;\nvariance = m2 / n;", &welford));
    krf_expr x = krf_cast(krf_arange(g, 1, 21, 1), KRF_F64), y, two[2];
    krf_reduction_call(total, 1, &x, 0, NULL, false, &y);
    check("1 + 2 + ... + 20", value_of(y), 210, 0);
    krf_reduction_call(product, 1, &x, 0, NULL, false, &y);
    check("1 * 2 * ... * 20", value_of(y), 2432902008176640000.0, 1e-15);
    krf_reduction_call(welford, 1, &x, 0, NULL, false, two);
    check("their mean, by an accumulator of three fields", value_of(two[0]), 10.5, 1e-15);
    check("and variance", value_of(two[1]), 33.25, 1e-14);
    check("hypot.reduce of them", value_of(krf_ufunc_reduce("hypot", x, 0, NULL, false)), sqrt(2870), 1e-15);
    krf_reduction_release(total);
    krf_reduction_release(product);
    krf_reduction_release(welford);
    krf_graph_destroy(g);
}

int main(void) {
    krf_context *c = NULL;
    stop_unless(krf_context_create(NULL, &c));
    krf_graph *g = krf_graph_create(c);
    krf_expr x;
    krf_array *samples = NULL;
    stop_unless(krf_parse(g, "random_normal(1000000, 1, dtype=f64) * 2", NULL, 0, &x));
    stop_unless(krf_eval(x, &samples));
    krf_graph_destroy(g);
    likelihood(c, samples);
    functions(c, samples);
    reductions(c);
    krf_array_release(samples);
    krf_context_destroy(c);
    printf(wrong == 0 ? "all as expected\n" : "%d WRONG\n", wrong);
    return wrong != 0;
}
