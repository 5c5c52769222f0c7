/* The parent opens no device: a process that has one must not fork, and a graph may bring its process down. */
#include "fuzz/worker.h"

#include "fuzz/batch.h"
#include "fuzz/reproduce.h"
#include "fuzz/shrink.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 256, MOST_FAILURES = 8, NO_DEVICE_STATUS = 77, APART_SECONDS = 120, HANG_SECONDS = 600 };

/* What a process tells its parent, also when it crashes. */
typedef struct job {
    uint64_t now; /* the seed that it is at */
    uint64_t graphs, nodes, results, open_graphs;
    long together, alone;
    int n_failures;
    uint64_t failures[MOST_FAILURES];
    report last;
} job;

static void *share(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return memory;
}

static double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count_graph(job *j, const graph *g) {
    int open[MOST_NODES];
    bool needed[MOST_NODES];
    graph_needed(g, needed);
    j->graphs++;
    j->results += (uint64_t)g->n_outputs;
    j->open_graphs += graph_open_nodes(g, open) > 0;
    for (int id = 0; id < g->n_nodes; id++) {
        j->nodes += needed[id];
    }
}

/* Seeds of one process: batches of consecutive ones, every jobs-th batch. */
static void serve(const work *w, job *j, int index) {
    static graph graphs[1024];
    session s;
    bool missing;
    const double end = now_seconds() + w->seconds;
    if (!session_open(&s, w->target, w->device, &missing, &j->last)) {
        _exit(missing ? NO_DEVICE_STATUS : 2);
    }
    for (uint64_t first = (uint64_t)index * (uint64_t)w->batch; first < w->count && j->n_failures < MOST_FAILURES;
         first += (uint64_t)w->jobs * (uint64_t)w->batch) {
        uint64_t n = w->count - first < (uint64_t)w->batch ? w->count - first : (uint64_t)w->batch;
        if (w->seconds > 0 && now_seconds() > end) {
            break;
        }
        alarm(HANG_SECONDS);
        for (uint64_t i = 0; i < n; i++) {
            generate(&graphs[i], w->seed + first + i);
        }
        if (s.tested != NULL) {
            batch_begin();
            for (uint64_t i = 0; i < n; i++) { /* what fails here fails again below, and is reported there */
                report ignored;
                j->now = graphs[i].seed;
                check_prepare(&s, &graphs[i], &ignored);
            }
            batch_end();
        }
        for (uint64_t i = 0; i < n && j->n_failures < MOST_FAILURES; i++) {
            j->now = graphs[i].seed;
            count_graph(j, &graphs[i]);
            if (!check_graph(&s, &graphs[i], &j->last)) {
                j->failures[j->n_failures++] = graphs[i].seed;
                fprintf(stderr, "seed %" PRIu64 ": %s\n", graphs[i].seed, j->last.why);
            }
        }
    }
    batch_counts(&j->together, &j->alone);
    session_close(&s);
    fflush(NULL);
    _exit(j->n_failures > 0);
}

bool check_apart(const work *w, const graph *g, report *r) {
    report *shared = share(sizeof *shared);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        session s;
        bool missing;
        alarm(APART_SECONDS);
        if (!session_open(&s, w->target, w->device, &missing, shared)) {
            _exit(missing ? NO_DEVICE_STATUS : 2);
        }
        bool right = check_graph(&s, g, shared);
        session_close(&s);
        _exit(right ? 0 : 1);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    *r = *shared;
    munmap(shared, sizeof *shared);
    if (WIFSIGNALED(status)) {
        return fails(r, "the process was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return WEXITSTATUS(status) == 0;
}

static bool fails_still(void *user, const graph *g) {
    report ignored;
    return !check_apart(user, g, &ignored);
}

static const char *const target_names[] = {"interpreter", "auto", "compiled", "cuda"};

/* Shrinks the graph of a seed and writes it to a file. */
static void report_failure(const work *w, uint64_t seed) {
    static graph g;
    report why = {{0}}, again = {{0}};
    char path[512], heading[WHY + 256];
    generate(&g, seed);
    if (check_apart(w, &g, &why)) {
        printf("seed %" PRIu64 ": passes when it is run alone: it fails after other graphs only\n", seed);
        return;
    }
    printf("seed %" PRIu64 ": %s\nshrinking...\n", seed, why.why);
    fflush(stdout);
    shrink(&g, fails_still, (void *)(uintptr_t)w);
    check_apart(w, &g, &again);
    snprintf(path, sizeof path, "%s/fuzz-%" PRIu64 ".krf", w->folder, seed);
    snprintf(heading, sizeof heading, "%s\nfuzz_graphs --seed %" PRIu64 " --count 1 --device %s --tier %s", again.why, seed, w->device,
             target_names[w->target]);
    if (graph_save(&g, path, heading, &why)) {
        printf("seed %" PRIu64 ", shrunk to %d nodes: %s\nwritten to %s\n", seed, g.n_nodes, again.why, path);
    } else {
        printf("seed %" PRIu64 ": %s\n", seed, why.why);
    }
}

static int wait_for(const work *w, const pid_t *children, job *jobs, uint64_t *failed, bool *missing) {
    int n = 0;
    for (int i = 0; i < w->jobs; i++) {
        int status = 0;
        while (waitpid(children[i], &status, 0) < 0 && errno == EINTR) {
        }
        *missing |= WIFEXITED(status) && WEXITSTATUS(status) == NO_DEVICE_STATUS;
        for (int k = 0; k < jobs[i].n_failures; k++) {
            failed[n++] = jobs[i].failures[k];
        }
        if (WIFSIGNALED(status)) {
            printf("seed %" PRIu64 ": the process was ended by signal %d\n", jobs[i].now, WTERMSIG(status));
            failed[n++] = jobs[i].now;
        } else if (WEXITSTATUS(status) != 0 && jobs[i].n_failures == 0) {
            printf("%s\n", jobs[i].last.why);
            failed[n++] = jobs[i].now;
        }
    }
    return n;
}

outcome work_run(const work *w) {
    job *jobs = share(MOST_JOBS * sizeof *jobs), all = {0};
    pid_t children[MOST_JOBS];
    uint64_t failed[MOST_JOBS * (MOST_FAILURES + 1)];
    bool missing = false;
    const double start = now_seconds();
    for (int i = 0; i < w->jobs; i++) {
        fflush(NULL);
        children[i] = fork();
        if (children[i] == 0) {
            serve(w, &jobs[i], i);
        }
    }
    int n = wait_for(w, children, jobs, failed, &missing);
    for (int i = 0; i < w->jobs; i++) {
        all.graphs += jobs[i].graphs;
        all.nodes += jobs[i].nodes;
        all.results += jobs[i].results;
        all.open_graphs += jobs[i].open_graphs;
        all.together += jobs[i].together;
        all.alone += jobs[i].alone;
    }
    const double seconds = now_seconds() - start;
    for (int i = 0; i < n && i < 2 && !missing; i++) {
        report_failure(w, failed[i]);
    }
    if (missing) {
        printf("skipped: %s\n", jobs[0].last.why);
    } else {
        printf("%" PRIu64 " graphs from seed %" PRIu64 " on (%s, %s): %" PRIu64 " nodes, %" PRIu64 " results, %" PRIu64
               " graphs with inexact functions, %ld kernels compiled in batches, %ld alone, %.1f s, %d failed\n",
               all.graphs, w->seed, w->device, target_names[w->target], all.nodes, all.results, all.open_graphs, all.together, all.alone, seconds,
               n);
    }
    munmap(jobs, MOST_JOBS * sizeof *jobs);
    return missing ? NO_DEVICE : n > 0 ? SOME_FAILED : ALL_RIGHT;
}
