/* fusedump: shows what an expression becomes: its graph, its plan, the source of its kernels, PTX, cubins. Nothing runs
 * and no GPU is needed. A thin shell around krf_placeholder, krf_parse and krf_dump. */
#include "common.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_EXTENT "1048576"

static const char help[] =
    "usage: fusedump EXPR|FILE.krf -i NAME=DTYPE[EXTENTS] ... [options]\n"
    "\n"
    "Prints the kernels that an expression, or a program from a file, is fused into. Needs no GPU and no data.\n"
    "\n"
    "  fusedump 'maximum(x, 0) + log1p(exp(-abs(x)))' -i x=f32[1000000]\n"
    "  fusedump 'mean(x*x, axis=1)' -i x=f64[n,64] -i n=1000 --target c\n"
    "  fusedump model.krf --emit plan\n"
    "\n"
    "  -i NAME=f32[1024,64] an array; -i s=f64 a rank-0 operand; -i s=float, k=int, a=complex: weak scalars of each run;\n"
    "                       -i s=0.5 a number; -i n=1000 also an extent. Extents without a value are 1048576\n"
    "      --target T       cuda (default) or c\n"
    "      --arch sm_90     the GPU that it is for\n"
    "      --math MODE      precise (default; KRF_MATH), fast: contraction, fewer roundings of f16 and bf16, approximations\n"
    "      --emit WHAT      graph, plan, source (default), ptx, cubin; the last two come from NVRTC\n"
    "  -o FILE              instead of standard output\n"
    "  -h, --help\n"
    "      --version\n"
    "\n"
    "An expression that begins with '-' stands after '--'. Exit status: 0 done, 1 the work failed, 2 wrong usage\n"
    "or an expression that does not parse or type. README.md lists the environment variables.\n";

typedef struct job {
    const char *program, *target, *arch, *file;
    krf_dump_kind kind;
    bool has_math;
    krf_math math;
    tool_inputs inputs;

    krf_context *context;
    krf_graph *graph;
    krf_binding *bindings;
    int n_bindings;
    krf_expr *results;
    int count;
} job;

static int read_kind(const char *word, krf_dump_kind *kind) {
    static const struct {
        const char *word;
        krf_dump_kind kind;
    } kinds[] = {{"graph", KRF_DUMP_GRAPH},
                 {"plan", KRF_DUMP_PLAN},
                 {"source", KRF_DUMP_SOURCE},
                 {"ptx", KRF_DUMP_PTX},
                 {"cubin", KRF_DUMP_CUBIN}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].word, word) == 0) {
            *kind = kinds[i].kind;
            return TOOL_DONE;
        }
    }
    return tool_usage("--emit %s: expected graph, plan, source, ptx or cubin", word);
}

/* What the arguments must be together. */
static int check_arguments(const job *j) {
    bool compiled = j->kind == KRF_DUMP_PTX || j->kind == KRF_DUMP_CUBIN;
    if (strcmp(j->target, "cuda") != 0 && strcmp(j->target, "c") != 0) {
        return tool_usage("--target %s: expected cuda or c", j->target);
    }
    if (strcmp(j->target, "c") == 0 && (compiled || j->arch != NULL)) {
        return tool_usage("--target c: %s for cuda only", compiled ? "ptx and cubin are" : "--arch is");
    }
    if (j->kind == KRF_DUMP_CUBIN && j->file == NULL && isatty(STDOUT_FILENO)) {
        return tool_usage("a cubin is no text for a terminal: -o FILE");
    }
    return TOOL_DONE;
}

/* Reads the arguments. *done: help or the version was asked for. */
static int read_arguments(job *j, int argc, char **argv, bool *done) {
    enum { TARGET = 256, ARCH, EMIT, MATH, VERSION };
    static const struct option options[] = {
        {"target", required_argument, NULL, TARGET}, {"arch", required_argument, NULL, ARCH},
        {"emit", required_argument, NULL, EMIT},     {"math", required_argument, NULL, MATH},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, VERSION},     {NULL, 0, NULL, 0}};
    int status = TOOL_DONE;
    for (int c; status == TOOL_DONE && !*done && (c = getopt_long(argc, argv, "i:o:h", options, NULL)) != -1;) {
        switch (c) {
        case 'i': status = tool_add_input(&j->inputs, optarg); break;
        case 'o': j->file = optarg; break;
        case TARGET: j->target = optarg; break;
        case ARCH: j->arch = optarg; break;
        case EMIT: status = read_kind(optarg, &j->kind); break;
        case MATH:
            j->has_math = true;
            status = tool_read_math(optarg, &j->math);
            break;
        case 'h': *done = printf("%s", help) >= 0; break;
        case VERSION: *done = printf("fusedump (kerfuse) %s\n", krf_version_text()) >= 0; break;
        default: fprintf(stderr, "Try 'fusedump --help'.\n"); status = TOOL_USAGE;
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
    return check_arguments(j);
}

/* ---- extents: a name without a value gets one as if -i NAME=1048576 had been given
 * ----------------------------------- */

static int add_default_extent(job *j, const char *name, size_t length) {
    char argument[256];
    if (length + sizeof "=" DEFAULT_EXTENT > sizeof argument) {
        return tool_usage("a name of %zu characters is too long", length);
    }
    snprintf(argument, sizeof argument, "%.*s=" DEFAULT_EXTENT, (int)length, name);
    fprintf(stderr, "fusedump: %.*s is taken as " DEFAULT_EXTENT "; -i %.*s=1000 would set it\n", (int)length, name,
            (int)length, name);
    return tool_add_input(&j->inputs, argument);
}

/* A declaration of the program, "x: f32[n, 64]": its name, and what stands between the brackets. */
typedef struct declaration {
    const char *name, *extents;
    size_t name_length, extents_length;
} declaration;

/* Finds the next declaration with extents; returns where to look for the one after it, NULL after the last. */
static const char *next_declaration(const char *text, declaration *d) {
    while (*text != '\0') {
        const char *end = text + strcspn(text, "\n;#");
        text += strspn(text, " \t\r");
        size_t length = tool_name_length(text);
        const char *p = text + length + strspn(text + length, " \t");
        const char *open = p < end && *p == ':' ? memchr(p, '[', (size_t)(end - p)) : NULL;
        const char *close = open != NULL ? memchr(open, ']', (size_t)(end - open)) : NULL;
        const char *next = end + (*end == '#' ? strcspn(end, "\n") : 0);
        next += *next != '\0';
        if (length > 0 && close != NULL) {
            *d = (declaration){text, open + 1, length, (size_t)(close - open - 1)};
            return next;
        }
        text = next;
    }
    return NULL;
}

/* The next name between the brackets from p on; NULL for none. */
static const char *next_extent(const declaration *d, const char *p, size_t *length) {
    for (const char *end = d->extents + d->extents_length; p < end; p++) {
        *length = tool_name_length(p);
        if (*length > 0) {
            return p;
        }
    }
    return NULL;
}

/* Whether an array given by -i has the extent: then the parser takes it from there. */
static bool is_given(const job *j, const char *text, const char *name, size_t length) {
    declaration d;
    size_t n = 0;
    while ((text = next_declaration(text, &d)) != NULL) {
        if (tool_find_input(&j->inputs, d.name, d.name_length) == NULL) {
            continue;
        }
        for (const char *p = d.extents; (p = next_extent(&d, p, &n)) != NULL; p += n) {
            if (n == length && memcmp(p, name, n) == 0) {
                return true;
            }
        }
    }
    return false;
}

static int add_declared_extents(job *j, const char *text) {
    declaration d;
    size_t n = 0;
    int status = TOOL_DONE;
    for (const char *next = text; (next = next_declaration(next, &d)) != NULL;) {
        for (const char *p = d.extents; status == TOOL_DONE && (p = next_extent(&d, p, &n)) != NULL; p += n) {
            if (tool_find_input(&j->inputs, p, n) == NULL && !is_given(j, text, p, n)) {
                status = add_default_extent(j, p, n);
            }
        }
    }
    return status;
}

/* ---- operands -----------------------------------------------------------------------------------------------------
 */

static int bind(job *j, krf_binding binding) {
    krf_binding *bindings = realloc(j->bindings, sizeof *bindings * ((size_t)j->n_bindings + 1));
    if (bindings == NULL) {
        return tool_failed("out of memory");
    }
    j->bindings = bindings;
    bindings[j->n_bindings++] = binding;
    return TOOL_DONE;
}

/* One extent: a number, or a name. Returns what follows it; NULL: neither, or a value that is none. */
static const char *read_extent(job *j, const char *p, int64_t *extent) {
    size_t length = tool_name_length(p);
    if (length == 0) {
        char *end = NULL;
        errno = 0;
        *extent = strtoll(p, &end, 10);
        return end == p || errno != 0 || *extent < 0 ? NULL : end;
    }
    if (tool_find_input(&j->inputs, p, length) == NULL && add_default_extent(j, p, length) != TOOL_DONE) {
        return NULL;
    }
    krf_binding number;
    bool known = tool_number(j->graph, tool_find_input(&j->inputs, p, length), &number);
    *extent = known ? number.i : -1;
    return known && number.kind == KRF_BIND_INT && number.i >= 0 ? p + length : NULL;
}

/* "[1024, n]", with blanks anywhere. */
static bool read_extents(job *j, const char *p, int *rank, int64_t *shape) {
    bool more = true;
    for (p++; p += strspn(p, " \t"), more && *p != ']'; p += more) {
        if (*rank == KRF_MAX_RANK || (p = read_extent(j, p, &shape[(*rank)++])) == NULL) {
            return false;
        }
        p += strspn(p, " \t");
        more = *p == ',';
    }
    return strcmp(p, "]") == 0;
}

/* "f32[1024, 64]", "f64", "float", "int", "complex". */
static int bind_operand(job *j, const char *name, const char *value) {
    char type[16] = "";
    size_t length = tool_name_length(value);
    krf_dtype dtype = KRF_BOOL;
    krf_expr x;
    int rank = 0;
    int64_t shape[KRF_MAX_RANK];
    memcpy(type, value, length < sizeof type ? length : 0);
    if (strcmp(value, "int") == 0 || strcmp(value, "float") == 0 || strcmp(value, "complex") == 0) {
        x = krf_placeholder_weak(j->graph, name, *value == 'i' ? KRF_I64 : *value == 'f' ? KRF_F64 : KRF_C128);
    } else if (krf_dtype_from_name(type, &dtype)
               && (value[length] == '\0' || (value[length] == '[' && read_extents(j, value + length, &rank, shape)))) {
        x = krf_placeholder(j->graph, name, dtype, rank, shape);
    } else {
        return tool_usage("-i %s=%s: expected a dtype with at most %d extents, such as f32[1024,n], or a number", name,
                          value, KRF_MAX_RANK);
    }
    return krf_expr_ok(x) ? bind(j, krf_bind_expr(name, x))
                          : tool_usage("-i %s=%s: %s", name, value, krf_graph_error(j->graph));
}

/* Arrays before numbers: the extents of arrays may add some. */
static int bind_inputs(job *j, const char *text) {
    krf_binding number;
    int status = TOOL_DONE;
    for (int i = 0; i < j->inputs.n && status == TOOL_DONE; i++) {
        /* By value: an extent that is added moves the list. */
        const tool_input input = j->inputs.items[i];
        status = tool_number(j->graph, &input, &number) ? TOOL_DONE : bind_operand(j, input.name, input.value);
    }
    status = status != TOOL_DONE ? status : add_declared_extents(j, text);
    for (int i = 0; i < j->inputs.n && status == TOOL_DONE; i++) {
        status = tool_number(j->graph, &j->inputs.items[i], &number) ? bind(j, number) : TOOL_DONE;
    }
    return status;
}

/* ---- the work -----------------------------------------------------------------------------------------------------
 */

/* A context of its own kind: the CPU, which is always there, no threads, no cache; nothing runs in it. */
static int open_context(job *j) {
    krf_context_options options = krf_context_options_default();
    options.device = "cpu";
    options.threads = 1;
    options.cache = KRF_CACHE_OFF;
    options.math = j->has_math ? j->math : options.math;
    if (krf_context_create(&options, &j->context) != KRF_OK) {
        return tool_failed("%s", krf_error_message());
    }
    j->graph = krf_graph_create(j->context);
    return TOOL_DONE;
}

static int write_result(const job *j, const char *data, size_t size) {
    FILE *file = j->file != NULL ? fopen(j->file, "wb") : stdout;
    const char *path = j->file != NULL ? j->file : "standard output";
    if (file == NULL) {
        return tool_failed("%s: %s", path, strerror(errno));
    }
    fwrite(data, 1, size, file);
    if (j->kind != KRF_DUMP_CUBIN && size > 0 && data[size - 1] != '\n') {
        fputc('\n', file);
    }
    int status = tool_flush(file, path);
    if (j->file != NULL && fclose(file) != 0 && status == TOOL_DONE) {
        status = tool_failed("%s: %s", path, strerror(errno));
    }
    return status;
}

static int work(job *j) {
    char *text = NULL, *data = NULL;
    size_t size = 0;
    int status = tool_read_program(j->program, &text);
    status = status != TOOL_DONE ? status : open_context(j);
    status = status != TOOL_DONE ? status : bind_inputs(j, text);
    status = status != TOOL_DONE ? status
                                 : tool_parse(j->graph, text, j->bindings, j->n_bindings,
                                              "Every name of an expression needs a type: -i NAME=f32[1000000].",
                                              &j->results, &j->count);
    if (status == TOOL_DONE
        && krf_dump(j->graph, j->count, j->results, j->kind, j->target, j->arch, &data, &size) != KRF_OK) {
        status = tool_failed("%s", krf_error_message());
    }
    status = status != TOOL_DONE ? status : write_result(j, data, size);
    krf_free(data);
    free(text);
    return status;
}

int main(int argc, char **argv) {
    static char name[] = "fusedump";
    job j = {.target = "cuda", .kind = KRF_DUMP_SOURCE};
    bool done = false;
    tool_name = argv[0] = name; /* getopt's messages begin with it as well */
    int status = read_arguments(&j, argc, argv, &done);
    if (status == TOOL_DONE && !done) {
        status = work(&j);
    }
    if (j.graph != NULL) {
        krf_graph_destroy(j.graph);
    }
    krf_context_destroy(j.context);
    free(j.bindings);
    free(j.results);
    tool_free_inputs(&j.inputs);
    return status;
}
