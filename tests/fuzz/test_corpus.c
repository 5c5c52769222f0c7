/* The graphs of tests/corpus, each of which has failed once: against the oracle, through every way of evaluation, on
 * the interpreter and compiled; or, when KRF_TEST_DEVICE names one, on a GPU. All in one process, as some were mistaken
 * for others; and each alone, where that does not mean hundreds of compilations. */
#include "fuzz/reproduce.h"
#include "fuzz/worker.h"
#include "shard.h"

#include <glob.h>

enum { MOST_FILES = 500 };

static int check_all(const work *w, int n, const graph *const *graphs, char *const *paths) {
    int failed = 0;
    report r = {{0}};
    if (w->target == TARGET_COMPILED && check_apart(w, n, graphs, &r)) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        if ((w->target == TARGET_COMPILED || in_shard(i)) && !check_apart(w, 1, &graphs[i], &r)) {
            printf("%s: %s\n", paths[i], r.why);
            failed++;
        }
    }
    if (failed == 0 && !check_apart(w, n, graphs, &r)) {
        printf("one after the other: %s\n", r.why);
        failed++;
    }
    return failed;
}

/* In a process of its own: one that has opened a GPU must not fork. */
static bool has_device(const work *w) {
    report r = {{0}};
    return check_apart(w, 0, NULL, &r);
}

int main(void) {
    const char *device = getenv("KRF_TEST_DEVICE"), *source = getenv("KRF_SOURCE_DIR");
    const bool cuda = device != NULL && strncmp(device, "cuda", 4) == 0;
    static const graph *list[MOST_FILES];
    char pattern[1024];
    glob_t files;
    int failed = 0, n = 0;
    snprintf(pattern, sizeof pattern, "%s/tests/corpus/*.krf", source != NULL ? source : ".");
    if (glob(pattern, 0, NULL, &files) != 0 || files.gl_pathc > MOST_FILES) {
        printf("no files, or too many: %s\n", pattern);
        return 1;
    }
    for (; n < (int)files.gl_pathc; n++) {
        graph *g = calloc(1, sizeof *g);
        report r = {{0}};
        if (g == NULL || !graph_load(g, files.gl_pathv[n], &r)) {
            printf("%s\n", r.why);
            return 1;
        }
        list[n] = g;
    }
    work w = {.target = cuda ? TARGET_CUDA : TARGET_INTERPRETER, .device = cuda ? device : "cpu"};
    if (!has_device(&w)) {
        printf("skipped: %s cannot be opened\n", w.device);
        globfree(&files);
        return 77;
    }
    failed += check_all(&w, n, list, files.gl_pathv);
    static const graph *part[MOST_FILES];
    static char *paths[MOST_FILES];
    int kept = 0;
    for (int i = 0; i < n; i++) { /* compilers take a while */
        if (in_shard(i)) {
            part[kept] = list[i];
            paths[kept++] = files.gl_pathv[i];
        }
    }
    if (!cuda) {
        w.target = TARGET_COMPILED;
        failed += check_all(&w, kept, part, paths);
    }
    printf("%d files, %d failures\n", n, failed);
    globfree(&files);
    return failed > 0;
}
