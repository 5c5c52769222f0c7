/* fuzz_graphs [--seed N] [--count N] [--seconds N] [--device cpu|cuda|cuda:N] [--tier interpreter|compiled|auto]
 *             [--batch N] [--jobs N] [--complex yes|no] [--defined PERCENT] [--folder DIR] [FILE.krf...]
 *
 * Random graphs through every way of evaluation (check.c). Prints the seed first and totals last. Exit status 1, and
 * the path of a small file that reproduces it, when one fails; 77 when there is no such device. With files: checks
 * those instead, each alone and then all in one process. */
#include "fuzz/generate.h"
#include "fuzz/reproduce.h"
#include "fuzz/worker.h"

#include <time.h>
#include <unistd.h>

static int usage(const char *wrong) {
    fprintf(stderr,
            "%s\nusage: fuzz_graphs [--seed N] [--count N] [--seconds N] [--device cpu|cuda] [--tier "
            "interpreter|compiled|auto]\n"
            "                   [--batch N] [--jobs N] [--complex yes|no] [--defined PERCENT]\n                   [--folder DIR] [FILE.krf...]\n",
            wrong);
    return 2;
}

static bool parse_tier(const char *text, target *t) {
    static const char *const names[] = {
        [TARGET_INTERPRETER] = "interpreter", [TARGET_AUTO] = "auto", [TARGET_COMPILED] = "compiled"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *t = (target)i;
            return true;
        }
    }
    return false;
}

static bool parse_option(work *w, const char *name, const char *text) {
    char *end = NULL;
    if (strcmp(name, "--device") == 0) {
        w->device = text;
        return strcmp(text, "cpu") == 0 || strncmp(text, "cuda", 4) == 0;
    }
    if (strcmp(name, "--tier") == 0) {
        return parse_tier(text, &w->target);
    }
    if (strcmp(name, "--folder") == 0) {
        w->folder = text;
        return true;
    }
    if (strcmp(name, "--complex") == 0) {
        generate_complex = strcmp(text, "no") != 0;
        return !generate_complex || strcmp(text, "yes") == 0;
    }
    if (strcmp(name, "--seconds") == 0) {
        w->seconds = strtod(text, &end);
        return *end == '\0' && w->seconds > 0;
    }
    uint64_t n = strtoull(text, &end, 10);
    if (end == text || *end != '\0') {
        return false;
    }
    if (strcmp(name, "--seed") == 0) {
        w->seed = n;
    } else if (strcmp(name, "--count") == 0) {
        w->count = n;
    } else if (strcmp(name, "--batch") == 0 && n > 0 && n <= 1024) {
        w->batch = (int)n;
    } else if (strcmp(name, "--jobs") == 0 && n > 0 && n <= 256) {
        w->jobs = (int)n;
    } else if (strcmp(name, "--defined") == 0 && n <= 100) {
        w->defined = (int)n;
    } else {
        return false;
    }
    return true;
}

static int check_files(const work *w, int n, char **paths) {
    graph *graphs = calloc((size_t)n, sizeof *graphs);
    const graph **list = calloc((size_t)n, sizeof *list);
    int failed = 0;
    report r = {{0}};
    for (int i = 0; i < n; i++) {
        list[i] = &graphs[i];
        bool right = graph_load(&graphs[i], paths[i], &r) && check_apart(w, 1, list + i, &r);
        printf("%s: %s\n", paths[i], right ? "passed" : r.why);
        failed += !right;
    }
    if (n > 1 && failed == 0 && !check_apart(w, n, list, &r)) {
        printf("one after the other: %s\n", r.why);
        failed++;
    }
    free(graphs);
    free((void *)list);
    return failed > 0;
}

int main(int argc, char **argv) {
    work w = {.seed = (uint64_t)time(NULL) * 1000000, .device = "cpu", .jobs = 1, .batch = 24, .folder = ".", .defined = -1};
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (i + 1 == argc || !parse_option(&w, argv[i], argv[i + 1])) {
            return usage(argv[i]);
        }
    }
    if (strcmp(w.device, "cpu") != 0) {
        w.target = TARGET_CUDA;
    }
    if (i < argc) {
        return check_files(&w, argc - i, argv + i);
    }
    w.count = w.count > 0 ? w.count : w.seconds > 0 ? UINT64_MAX / 4 : 1000;
    printf("seed %" PRIu64 "\n", w.seed);
    fflush(stdout);
    outcome o = work_run(&w);
    return o == ALL_RIGHT ? 0 : o == NO_DEVICE ? 77 : 1;
}
