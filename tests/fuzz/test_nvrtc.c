/* The CUDA text of random graphs through the real NVRTC, for an old and a common architecture: the doubles compile it with the host's compiler, which takes
 * what NVRTC refuses. Nothing runs; needs NVRTC, no GPU. KRF_FUZZ_SEED for other graphs, KRF_FUZZ_COUNT for how many, KRF_FUZZ_SECONDS for as many as fit. */
#include "fuzz/batch_text.h"
#include "fuzz/user.h"
#include "fuzz/evaluate.h"

#include "backend/backend.h"
#include "base/mem.h"

#include <time.h>

enum { KERNELS_A_TEXT = 48, BYTES_A_TEXT = 300000, NAME = 64, SKIPPED = 77 };

static const char *const archs[] = {"sm_75", "sm_90"};
enum { ARCHS = sizeof archs / sizeof *archs };

typedef struct kernel {
    uint64_t seed;
    char name[NAME], *source;
} kernel;

/* Of one architecture: what is compiled next, in one text. */
typedef struct pending {
    const char *arch;
    kernel kernels[KERNELS_A_TEXT];
    size_t n, bytes;
} pending;

static long compiled, refused;

static bool compiles(const char *arch, const char *source, const char *name) {
    void *image = NULL;
    size_t bytes = 0;
    const bool right = krf__nvrtc_compile(NULL, arch, false, source, name, &image, &bytes) == KRF_OK;
    krf__mem_free(image);
    return right;
}

static void compile_all(pending *p) {
    krf__str text = {0};
    for (size_t i = 0; i < p->n; i++) {
        batch_text_add(&text, p->kernels[i].source, p->kernels[i].name, i);
    }
    if (p->n > 0 && (text.failed || !compiles(p->arch, text.data, "batch"))) {
        const long before = refused;
        char together[WHY];
        snprintf(together, sizeof together, "%s", krf_error_message());
        for (size_t i = 0; i < p->n; i++) {
            if (!compiles(p->arch, p->kernels[i].source, p->kernels[i].name)) {
                printf("seed %" PRIu64 ": %s\n", p->kernels[i].seed, krf_error_message());
                refused++;
            }
        }
        if (refused == before) {
            printf("seeds %" PRIu64 " to %" PRIu64 " compile alone, but not together: %s\n", p->kernels[0].seed, p->kernels[p->n - 1].seed, together);
            refused++;
        }
    }
    compiled += (long)p->n;
    for (size_t i = 0; i < p->n; i++) {
        free(p->kernels[i].source);
    }
    p->n = p->bytes = 0;
    krf__str_free(&text);
}

/* A kernel's text begins with a comment that says its name, which follows from the text. */
static void add(pending *p, uint64_t seed, const char *source, size_t bytes) {
    kernel *k = &p->kernels[p->n];
    bool known = sscanf(source, "/* %63[a-z0-9_]", k->name) != 1;
    for (size_t i = 0; i < p->n && !known; i++) {
        known = strcmp(p->kernels[i].name, k->name) == 0;
    }
    if (known) {
        return;
    }
    k->seed = seed;
    k->source = strndup(source, bytes);
    assert_non_null(k->source);
    p->n++;
    p->bytes += bytes;
    if (p->n == KERNELS_A_TEXT || p->bytes > BYTES_A_TEXT) {
        compile_all(p);
    }
}

static void add_graph(krf_context *context, pending *p, uint64_t seed) {
    static const char start[] = "\n/* krf_";
    static graph g;
    krf_graph *lazy = krf_graph_create(context);
    krf_expr built[MOST_NODES], outputs[MOST_OUTPUTS];
    char *text = NULL;
    size_t size;
    generate(&g, seed);
    bool right = build_graph(lazy, &g, WITH_PLACEHOLDERS, NULL, built, NULL);
    for (int k = 0; k < g.n_outputs; k++) {
        outputs[k] = built[g.outputs[k].node];
    }
    if (!right || krf_dump(lazy, g.n_outputs, outputs, KRF_DUMP_SOURCE, "cuda", p->arch, &text, &size) != KRF_OK) {
        printf("seed %" PRIu64 ": %s\n", seed, krf_error_message());
        refused++;
    }
    for (const char *at = text, *next; at != NULL; at = next) {
        next = strstr(at, start);
        next = next != NULL ? next + 1 : NULL;
        if (strncmp(at, start + 1, strlen(start) - 1) == 0) {
            add(p, seed, at, next != NULL ? (size_t)(next - at) : strlen(at));
        }
    }
    krf_free(text);
    krf_graph_destroy(lazy);
}

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

int main(void) {
    const uint64_t seed = setting("KRF_FUZZ_SEED", 20260101), seconds = setting("KRF_FUZZ_SECONDS", 0);
    const uint64_t count = setting("KRF_FUZZ_COUNT", seconds > 0 ? UINT64_MAX / 4 : 60);
    const time_t end = time(NULL) + (time_t)seconds;
    static pending all[ARCHS];
    uint64_t n = 0;
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    options.device = "cpu";
    options.cache = KRF_CACHE_OFF;
    if (!compiles("sm_90", "extern \"C\" __global__ void k(float *a) { *a = 1; }", "k")) {
        printf("skipped: %s\n", krf_error_message());
        return SKIPPED;
    }
    if (krf_context_create(&options, &context) != KRF_OK) {
        puts(krf_error_message());
        return 1;
    }
    user_define(context);
    user_wide_scans = false; /* CUDA has none */
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    for (; n < count && (seconds == 0 || time(NULL) < end); n++) {
        for (int a = 0; a < ARCHS; a++) {
            all[a].arch = archs[a];
            add_graph(context, &all[a], seed + n);
        }
    }
    for (int a = 0; a < ARCHS; a++) {
        compile_all(&all[a]);
    }
    krf_context_destroy(context);
    printf("%" PRIu64 " graphs from seed %" PRIu64 " on: %ld kernels compiled, %ld refused\n", n, seed, compiled, refused);
    return refused > 0;
}
