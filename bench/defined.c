/* kerfuse-defined: what users define beside the same composed of the library's functions, in pairs: the median of each, and how much of the library's speed the definition has.
 *
 *     kerfuse-defined [--device cuda] [--elements 33554432] [--dtype f32] [--turns 5] [--only "sum of short rows"] */
#include <kerfuse/kerfuse.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    const char *name, *library, *defined; /* texts over x, of dtype and size; or a definition of two operands, both of which `operand` is */
    const char *operand;
} pair;

static const pair pairs[] = {
    {"gaussian density", "exp(-0.5 * ((x - 0.1) / 1.5) * ((x - 0.1) / 1.5)) / (1.5 * 2.5066282746310002)", "density(x, 0.1, 1.5)", NULL},
    {"polynomial", "5 * x * x + 3 * x - 2", "parabola(x)", NULL},
    {"softplus", "maximum(x, 0) + log1p(exp(-abs(x)))", "my_softplus(x)", NULL},
    {"softplus by cases", "where(x > 1, x + log1p(exp(-x)), log1p(exp(x)))", "case_softplus(x)", NULL},
    {"mish of a quotient", "(x - 0.1) / 1.5 * tanh(log1p(exp((x - 0.1) / 1.5)))", "my_mish(x, 0.1, 1.5)", NULL},
    {"softplus of a definition", "2 * (maximum(x, 0) + log1p(exp(-abs(x))))", "twice(x)", NULL},
    {"sum of softplus", "sum(maximum(x, 0) + log1p(exp(-abs(x))))", "sum_softplus(x)", NULL},
    {"sum of a density's logarithm", "sum(-0.5 * ((x - 0.1) / 1.5) * ((x - 0.1) / 1.5))", "sum(log_density(x, 0.1, 1.5))", NULL},
    {"sum", "sum(x)", "total(x)", NULL},
    {"product", "prod(x)", "product(x)", NULL},
    {"sum of rows", "sum(reshape(x, (-1, 4096)), axis=1)", "total(reshape(x, (-1, 4096)), axis=1)", NULL},
    {"sum of columns", "sum(reshape(x, (-1, 4096)), axis=0)", "total(reshape(x, (-1, 4096)), axis=0)", NULL},
    {"sum of short rows", "sum(reshape(x, (-1, 32)), axis=1)", "total(reshape(x, (-1, 32)), axis=1)", NULL},
    {"cumulative sum", "cumsum(x)", "total(x, axis=0, scan=True)", NULL},
    {"variance", "var(x)", "welford(x)", NULL}, /* the library's goes over the elements twice, and divides once: another algorithm */
    {"variance of rows", "var(reshape(x, (-1, 4096)), axis=1)", "welford(reshape(x, (-1, 4096)), axis=1)", NULL},
    {"products of 2x2 matrices", "sum(reshape(x, (-1, 2, 2, 1)) * reshape(x, (-1, 1, 2, 2)), axis=2)", "matmul", "reshape(x, (-1, 2, 2))"},
    {"products of 8x8 matrices", "sum(reshape(x, (-1, 8, 8, 1)) * reshape(x, (-1, 1, 8, 8)), axis=2)", "matmul", "reshape(x, (-1, 8, 8))"},
    {"inner products of 32", "sum(reshape(x, (-1, 32)) * reshape(x, (-1, 32)), axis=1)", "inner_product", "reshape(x, (-1, 32))"},
};

static void stop_unless(krf_status status) {
    if (status != KRF_OK) {
        fprintf(stderr, "kerfuse-defined: %s\n", krf_error_message());
        exit(1);
    }
}

static void define_all(krf_context *c) {
    static const char *const ops[][4] = {
        {"density", "F x, F mu, F s", "F y", "F z = (x - mu) / s;\ny = exp(-0.5 * z * z) / (s * 2.5066282746310002);"},
        {"parabola", "F x", "F y", "y = 5 * x * x + 3 * x - 2;"},
        {"my_softplus", "F x", "F y", "y = max(x, F(0)) + log1p(exp(-fabs(x)));"},
        {"case_softplus", "F x", "F y", "if (x > 1) {\n    y = x + log1p(exp(-x));\n} else {\n    y = log1p(exp(x));\n}"},
        {"my_mish", "F x, F mu, F s", "F y", "F z = (x - mu) / s;\ny = z * tanh(log1p(exp(z)));"},
        {"twice", "F x", "F y", "y = 2 * my_softplus(x);"},
        {"log_density", "F x, F mu, F s", "F y", "F z = (x - mu) / s;\ny = -0.5 * z * z;"},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        krf_op *op = NULL;
        stop_unless(krf_op_define(c, ops[i][0], ops[i][1], ops[i][2], ops[i][3], NULL, &op));
        krf_op_release(op);
    }
    krf_reduction *r = NULL;
    stop_unless(krf_reduction_define(c, "total", "T x", "T s", "-0.0", "s = x;", "s = a_s + b_s;", NULL, NULL, &r));
    krf_reduction_release(r);
    stop_unless(krf_reduction_define(c, "product", "T x", "T p", "1", "p = x;", "p = a_p * b_p;", NULL, NULL, &r));
    krf_reduction_release(r);
    stop_unless(krf_reduction_define(c, "sum_softplus", "F x", "F s", "-0.0", "s = max(x, F(0)) + log1p(exp(-fabs(x)));", "s = a_s + b_s;", NULL, NULL, &r));
    krf_reduction_release(r);
    stop_unless(krf_reduction_define(c, "welford", "F x", "F n, F mean, F m2", "0, 0, 0", "n = 1; mean = x; m2 = 0;",
                                     "n = a_n + b_n;\nF d = b_mean - a_mean, f = n > 0 ? b_n / n : 0;\nmean = a_mean + d * f;\nm2 = a_m2 + b_m2 + d * d * a_n * f;", "F variance",
                                     "variance = m2 / n;", &r));
    krf_reduction_release(r);
}

static krf_gufunc *define_gufunc(krf_context *c, const char *name) {
    static const krf_gufunc_description known[] = {
        {.size = sizeof *known,
         .name = "matmul",
         .signature = "(m,n),(n,p)->(m,p)",
         .parameters = "T a, T b, T c",
         .body = "for (int i = 0; i < m; i++)\n"
                 "    for (int j = 0; j < p; j++) {\n"
                 "        T s = 0;\n"
                 "        for (int k = 0; k < n; k++) s += a(i, k) * b(k, j);\n"
                 "        c(i, j) = s;\n"
                 "    }\n"},
        {.size = sizeof *known,
         .name = "inner_product",
         .signature = "(n),(n)->()",
         .parameters = "T a, T b, T c",
         .body = "T s = 0;\nfor (int k = 0; k < n; k++) s += a(k) * b(k);\nc() = s;\n"},
    };
    krf_gufunc *f = NULL;
    stop_unless(krf_gufunc_define(c, &known[strcmp(name, "matmul") == 0 ? 0 : 1], &f));
    return f;
}

/* Median microseconds: on the GPU's clock where there is one. */
static double time_of(krf_context *c, krf_array *x, const char *text, const char *operand) {
    krf_graph *g = krf_graph_create(c);
    const krf_binding binding = krf_bind_array("x", x);
    krf_expr y;
    krf_plan *plan = NULL;
    krf_array *out = NULL;
    krf_benchmark_times times = {.size = sizeof times};
    krf_device_info info = {.size = sizeof info};
    stop_unless(krf_parse(g, operand != NULL ? operand : text, &binding, 1, &y));
    if (operand != NULL) {
        krf_gufunc *f = define_gufunc(c, text);
        krf_gufunc_call(f, g, 2, (krf_expr[]){y, y}, &y);
        krf_gufunc_release(f);
    }
    stop_unless(krf_compile(g, 1, &y, NULL, &plan));
    stop_unless(krf_benchmark(plan, NULL, 0, NULL, &out, &times));
    stop_unless(krf_context_device(c, &info));
    krf_array_release(out);
    krf_plan_release(plan);
    krf_graph_destroy(g);
    return info.is_cuda ? times.gpu_median : times.cpu_median;
}

int main(int argc, char **argv) {
    const char *device = "auto", *dtype = "f32", *only = NULL;
    long long n = 1 << 25;
    int turns = 5;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0) {
            device = argv[i + 1];
        } else if (strcmp(argv[i], "--dtype") == 0) {
            dtype = argv[i + 1];
        } else if (strcmp(argv[i], "--elements") == 0) {
            n = atoll(argv[i + 1]) / 4096 * 4096;
        } else if (strcmp(argv[i], "--turns") == 0) {
            turns = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--only") == 0) {
            only = argv[i + 1];
        }
    }
    krf_context_options options = krf_context_options_default();
    krf_context *c = NULL;
    krf_array *x = NULL;
    krf_expr start;
    char text[128];
    options.device = device;
    options.cpu_tier = KRF_CPU_COMPILE;
    stop_unless(krf_context_create(&options, &c));
    define_all(c);
    krf_graph *g = krf_graph_create(c);
    snprintf(text, sizeof text, "random_uniform(%lld, 1, dtype=%s) + 0.5", n, dtype);
    stop_unless(krf_parse(g, text, NULL, 0, &start));
    stop_unless(krf_eval(start, &x));
    krf_graph_destroy(g);
    printf("%-30s %12s %12s %8s\n", "", "library", "defined", "ratio");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double library = 1e30, defined = 1e30;
        if (only != NULL && strcmp(only, pairs[i].name) != 0) {
            continue;
        }
        for (int k = 0; k < turns; k++) { /* in turn: what disturbs one disturbs the other */
            const double a = time_of(c, x, pairs[i].library, NULL), b = time_of(c, x, pairs[i].defined, pairs[i].operand);
            library = a < library ? a : library;
            defined = b < defined ? b : defined;
        }
        printf("%-30s %12.4f %12.4f %8.3f\n", pairs[i].name, library, defined, library / defined);
        fflush(stdout);
    }
    krf_array_release(x);
    krf_context_destroy(c);
    return 0;
}
