/* fuserun: evaluates an expression over .npy files. A thin shell around krf_parse, krf_compile and krf_plan_run. */
#include "common.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: fuserun EXPR|FILE.krf -i NAME=[DTYPE:]FILE.npy|NUMBER ... -o OUT.npy ... [options]\n"
    "\n"
    "Evaluates an expression in NumPy's notation, or a program from a file, with as few kernels as possible.\n"
    "\n"
    "  fuserun 'maximum(x, 0) + log1p(exp(-abs(x)))' -i x=x.npy -o y.npy\n"
    "  fuserun 'sum((x - y)**2)' -i x=x.npy -i y=y.npy\n"
    "  fuserun 'd = x - y; return d*d, mean(d*d, axis=1)' -i x=x.npy -i y=y.npy -o d2.npy -o m.npy\n"
    "\n"
    "  -i NAME=FILE.npy     what a name stands for; -i s=0.5 (or 1-2j) is a scalar that takes the dtype of what it meets\n"
    "  -i NAME=bf16:FILE.npy  the bits of each element as another dtype of the same size: NumPy has no bf16, and\n"
    "                       saves 2 bytes without meaning (|V2) or integers (u2)\n"
    "  -o OUT.npy           where a result goes, once for each, in order; results of rank 0 are printed\n"
    "                       when there are only files for the others\n"
    "      --device DEVICE  auto (default: the first CUDA device, else the CPU), cpu, cuda, cuda:1,\n"
    "                       cuda:GPU-<uuid>\n"
    "      --math MODE      precise (default; KRF_MATH), fast: contraction, fewer roundings of f16 and bf16, approximations\n"
    "      --bench          times of the kernels, on stderr: runs them many times\n"
    "      --stats          device, kernels, cache hits and times, on stderr\n"
    "  -h, --help\n"
    "      --version\n"
    "\n"
    "An expression that begins with '-' stands after '--'. Exit status: 0 done, 1 the work failed, 2 wrong usage\n"
    "or an expression that does not parse or type. README.md lists the environment variables.\n";

typedef struct job {
    const char *program, *device;
    tool_inputs inputs;
    char **files; /* of -o; of argv */
    int n_files;
    bool stats, bench, has_math;
    krf_math math;

    krf_context *context;
    krf_graph *graph;
    krf_binding *bindings; /* one for each input; arrays are owned */
    krf_expr *results;
    krf_array **outputs;
    krf_plan *plan;
    int count; /* results, outputs */
    double load_ms, compile_ms, run_ms, save_ms;
} job;

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int add_file(job *j, char *path) {
    for (int i = 0; i < j->n_files; i++) {
        if (strcmp(j->files[i], path) == 0 && strncmp(path, "/dev/", 5) != 0) {
            return tool_usage("-o %s is given twice: a result would overwrite another", path);
        }
    }
    j->files[j->n_files++] = path;
    return TOOL_DONE;
}

/* Reads the arguments. *done: help or the version was asked for. */
static int read_arguments(job *j, int argc, char **argv, bool *done) {
    enum { DEVICE = 256, MATH, BENCH, STATS, VERSION };
    static const struct option options[] = {{"device", required_argument, NULL, DEVICE},
                                            {"math", required_argument, NULL, MATH},
                                            {"bench", no_argument, NULL, BENCH},
                                            {"stats", no_argument, NULL, STATS},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, VERSION},
                                            {NULL, 0, NULL, 0}};
    j->files = calloc((size_t)argc, sizeof *j->files);
    if (j->files == NULL) {
        return tool_failed("out of memory");
    }
    int status = TOOL_DONE;
    for (int c; status == TOOL_DONE && !*done && (c = getopt_long(argc, argv, "i:o:h", options, NULL)) != -1;) {
        switch (c) {
        case 'i': status = tool_add_input(&j->inputs, optarg); break;
        case 'o': status = add_file(j, optarg); break;
        case DEVICE: j->device = optarg; break;
        case MATH:
            j->has_math = true;
            status = tool_read_math(optarg, &j->math);
            break;
        case BENCH: j->bench = true; break;
        case STATS: j->stats = true; break;
        case 'h': *done = printf("%s", help) >= 0; break;
        case VERSION: *done = printf("fuserun (kerfuse) %s\n", krf_version_text()) >= 0; break;
        default: fprintf(stderr, "Try 'fuserun --help'.\n"); status = TOOL_USAGE;
        }
    }
    if (status != TOOL_DONE || *done) {
        return status != TOOL_DONE ? status : tool_flush(stdout, "standard output");
    }
    if (optind + 1 != argc) {
        return optind == argc ? tool_usage("an expression or a program file is missing")
                              : tool_usage("'%s': one expression or program at a time", argv[optind + 1]);
    }
    j->program = argv[optind];
    return TOOL_DONE;
}

static int open_context(job *j) {
    krf_context_options options = krf_context_options_default();
    options.device = j->device != NULL ? j->device : options.device;
    options.math = j->has_math ? j->math : options.math;
    options.blocking_compile |= j->bench; /* the tier may not change while it is timed */
    krf_status status = krf_context_create(&options, &j->context);
    if (status == KRF_E_ARGUMENT) {
        return tool_usage("%s", krf_error_message()); /* which names the device, or a variable of the environment */
    }
    return status == KRF_OK ? TOOL_DONE : tool_failed("%s", krf_error_message());
}

/* FILE.npy, or DTYPE:FILE.npy for its bits as that dtype. */
static int load_array(job *j, const char *value, krf_array **array) {
    const char *colon = strchr(value, ':');
    char name[16];
    krf_dtype dtype;
    size_t length = colon != NULL ? (size_t)(colon - value) : sizeof name;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), value);
    bool taken = krf_dtype_from_name(name, &dtype);
    const char *path = taken ? colon + 1 : value;
    if (krf_array_load(j->context, path, array) != KRF_OK) {
        return tool_failed("%s", krf_error_message());
    }
    if (!taken || krf_array_dtype(*array) == dtype) {
        return TOOL_DONE;
    }
    krf_array *stored = *array;
    krf_dtype found = krf_array_dtype(stored);
    size_t bytes = (size_t)krf_array_size(stored) * krf_dtype_size(dtype);
    void *data = malloc(bytes + 1);
    int status = TOOL_DONE;
    *array = NULL;
    if (krf_dtype_size(found) != krf_dtype_size(dtype)) {
        status = tool_failed("%s holds %s, which has not the %zu bytes of %s", path, krf_dtype_name(found), krf_dtype_size(dtype),
                             krf_dtype_name(dtype));
    } else if (data == NULL) {
        status = tool_failed("out of memory");
    } else if (krf_array_to_host(stored, data, bytes) != KRF_OK ||
               krf_array_from_host(j->context, dtype, krf_array_rank(stored), krf_array_shape(stored), data, array) != KRF_OK) {
        status = tool_failed("%s", krf_error_message());
    }
    free(data);
    krf_array_release(stored);
    return status;
}

static int load_inputs(job *j) {
    double start = now_ms();
    j->bindings = calloc((size_t)j->inputs.n + 1, sizeof *j->bindings);
    if (j->bindings == NULL) {
        return tool_failed("out of memory");
    }
    for (int i = 0; i < j->inputs.n; i++) {
        const tool_input *input = &j->inputs.items[i];
        krf_array *array = NULL;
        if (tool_number(j->graph, input, &j->bindings[i])) {
            continue;
        }
        if (load_array(j, input->value, &array) != TOOL_DONE) {
            return TOOL_FAILED;
        }
        j->bindings[i] = krf_bind_array(input->name, array);
    }
    j->load_ms = now_ms() - start;
    return TOOL_DONE;
}

/* Whether each result has a place to go: files for all, or for all but those of rank 0. */
static int check_files(const job *j) {
    int arrays = 0;
    for (int i = 0; i < j->count; i++) {
        arrays += krf_expr_rank(j->results[i]) > 0;
    }
    if (j->n_files == j->count || j->n_files == arrays) {
        return TOOL_DONE;
    }
    return tool_usage("%d result%s, %d of them arrays, and %d times -o: one for each array, or for each result",
                      j->count, j->count == 1 ? "" : "s", arrays, j->n_files);
}

static int compile(job *j) {
    double start = now_ms();
    if (krf_compile(j->graph, j->count, j->results, NULL, &j->plan) != KRF_OK) {
        return tool_failed("%s", krf_error_message());
    }
    if (krf_plan_placeholders(j->plan) > 0) {
        const char *name = krf_plan_placeholder_name(j->plan, 0);
        return tool_usage("%s is declared and has no value: -i %s=FILE.npy", name, name);
    }
    j->compile_ms = now_ms() - start;
    return TOOL_DONE;
}

static int run(job *j) {
    double start = now_ms();
    j->outputs = calloc((size_t)j->count + 1, sizeof(krf_array *));
    if (j->outputs == NULL) {
        return tool_failed("out of memory");
    }
    if (krf_plan_run(j->plan, NULL, 0, NULL, j->outputs) != KRF_OK || krf_context_synchronize(j->context) != KRF_OK) {
        return tool_failed("%s", krf_error_message());
    }
    j->run_ms = now_ms() - start;
    return TOOL_DONE;
}

static int bench(job *j) {
    krf_benchmark_times t = {.size = sizeof t};
    if (krf_benchmark(j->plan, NULL, 0, NULL, j->outputs, &t) != KRF_OK) {
        return tool_failed("%s", krf_error_message());
    }
    fprintf(stderr, "microseconds of %d runs: CPU min %.2f, median %.2f, max %.2f; GPU min %.2f, median %.2f, max %.2f\n",
            t.runs, t.cpu_min, t.cpu_median, t.cpu_max, t.gpu_min, t.gpu_median, t.gpu_max);
    return TOOL_DONE;
}

/* A number with as few digits as read back to the same bits. */
static void put_real(double value, bool single) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (value != value || (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)) {
            break;
        }
    }
    fputs(value != value ? "nan" : text, stdout);
}

static void print_real(double value, bool single) {
    put_real(value, single);
    putchar('\n');
}

/* As Python does: (1-2j). */
static void print_complex(double re, double im, bool single) {
    putchar('(');
    put_real(re, single);
    if (im != im || !signbit(im)) {
        putchar('+');
    }
    put_real(im, single);
    puts("j)");
}

/* f16 and bf16 are 16 bits: sign, exponent, and this many bits of mantissa. */
static double half_value(unsigned bits, int mantissa) {
    int exponent = (int)((bits & 0x7fffu) >> mantissa), most = 0x7fff >> mantissa, bias = most / 2;
    double fraction = ldexp(bits & ((1u << mantissa) - 1), -mantissa);
    double value = exponent == most ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                   : exponent == 0  ? ldexp(fraction, 1 - bias)
                                    : ldexp(1 + fraction, exponent - bias);
    return (bits & 0x8000u) != 0 ? -value : value;
}

static int print_scalar(krf_array *array) {
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        float c64[2];
        double c128[2];
    } value;
    krf_dtype dtype = krf_array_dtype(array);
    if (krf_array_to_host(array, &value, krf_dtype_size(dtype)) != KRF_OK) {
        return tool_failed("%s", krf_error_message());
    }
    switch (dtype) {
    case KRF_BOOL: puts(value.u8 != 0 ? "True" : "False"); break;
    case KRF_I8: printf("%" PRId8 "\n", value.i8); break;
    case KRF_I16: printf("%" PRId16 "\n", value.i16); break;
    case KRF_I32: printf("%" PRId32 "\n", value.i32); break;
    case KRF_I64: printf("%" PRId64 "\n", value.i64); break;
    case KRF_U8: printf("%" PRIu8 "\n", value.u8); break;
    case KRF_U16: printf("%" PRIu16 "\n", value.u16); break;
    case KRF_U32: printf("%" PRIu32 "\n", value.u32); break;
    case KRF_U64: printf("%" PRIu64 "\n", value.u64); break;
    case KRF_F16: print_real(half_value(value.u16, 10), true); break;
    case KRF_BF16: print_real(half_value(value.u16, 7), true); break;
    case KRF_F32: print_real(value.f32, true); break;
    case KRF_F64: print_real(value.f64, false); break;
    case KRF_C64: print_complex(value.c64[0], value.c64[1], true); break;
    case KRF_C128: print_complex(value.c128[0], value.c128[1], false); break;
    }
    return TOOL_DONE;
}

static int save(job *j) {
    double start = now_ms();
    bool all = j->n_files == j->count;
    int file = 0;
    for (int i = 0; i < j->count; i++) {
        if (!all && krf_array_rank(j->outputs[i]) == 0) {
            if (print_scalar(j->outputs[i]) != TOOL_DONE) {
                return TOOL_FAILED;
            }
        } else if (krf_array_save(j->outputs[i], j->files[file++]) != KRF_OK) {
            return tool_failed("%s", krf_error_message());
        }
    }
    j->save_ms = now_ms() - start;
    return tool_flush(stdout, "standard output");
}

static void print_stats(job *j) {
    krf_device_info device = {.size = sizeof device};
    krf_cache_stats stats = {.size = sizeof stats};
    if (krf_context_device(j->context, &device) != KRF_OK || krf_context_cache_stats(j->context, &stats) != KRF_OK) {
        return;
    }
    fprintf(stderr, "device %s (%s)\n", device.name, device.arch);
    fprintf(stderr, "kernels %d: compiled %lld, from memory %lld, from disk %lld, interpreted %lld\n",
            krf_plan_kernels(j->plan), (long long)stats.compiled, (long long)stats.memory_hits,
            (long long)stats.disk_hits, (long long)stats.interpreted);
    fprintf(stderr, "milliseconds: load %.3f, compile %.3f, run %.3f, save %.3f\n", j->load_ms, j->compile_ms,
            j->run_ms, j->save_ms);
}

static int work(job *j) {
    char *text = NULL;
    int status = tool_read_program(j->program, &text);
    status = status != TOOL_DONE ? status : open_context(j);
    if (status == TOOL_DONE) {
        j->graph = krf_graph_create(j->context);
        status = load_inputs(j);
    }
    if (status == TOOL_DONE) {
        status = tool_parse(j->graph, text, j->bindings, j->inputs.n,
                            "Every name of an expression needs a value: -i NAME=FILE.npy, or -i NAME=0.5.", &j->results,
                            &j->count);
    }
    free(text);
    status = status != TOOL_DONE ? status : check_files(j);
    status = status != TOOL_DONE ? status : compile(j);
    status = status != TOOL_DONE ? status : run(j);
    status = status != TOOL_DONE || !j->bench ? status : bench(j);
    status = status != TOOL_DONE ? status : save(j);
    if (status == TOOL_DONE && j->stats) {
        print_stats(j);
    }
    return status;
}

static void clean_up(job *j) {
    for (int i = 0; j->outputs != NULL && i < j->count; i++) {
        krf_array_release(j->outputs[i]);
    }
    for (int i = 0; j->bindings != NULL && i < j->inputs.n; i++) {
        krf_array_release(j->bindings[i].array);
    }
    if (j->plan != NULL) {
        krf_plan_release(j->plan);
    }
    if (j->graph != NULL) {
        krf_graph_destroy(j->graph);
    }
    krf_context_destroy(j->context);
    free(j->outputs);
    free(j->bindings);
    free(j->results);
    free(j->files);
    tool_free_inputs(&j->inputs);
}

int main(int argc, char **argv) {
    static char name[] = "fuserun";
    job j = {0};
    bool done = false;
    tool_name = argv[0] = name; /* getopt's messages begin with it as well */
    int status = read_arguments(&j, argc, argv, &done);
    if (status == TOOL_DONE && !done) {
        status = work(&j);
    }
    clean_up(&j);
    return status;
}
