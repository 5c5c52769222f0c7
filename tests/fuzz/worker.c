/* The parent opens no device: a process that has one must not fork, and a graph may bring its process down. */
#include "fuzz/worker.h"

#include "fuzz/batch.h"
#include "fuzz/reproduce.h"
#include "fuzz/shrink.h"
#include "fuzz/user.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_JOBS = 256,
    MOST_FAILURES = 8,
    NO_DEVICE_STATUS = 77,
    APART_SECONDS = 120,
    HANG_SECONDS = 600,
    GRAPHS_A_SESSION = 20000
};

/* What a process tells its parent, also when it crashes. */
typedef struct job {
    uint64_t now; /* the seed that it is at */
    uint64_t graphs, nodes, results, open_graphs, gradients, user_gradients;
    uint64_t calls, folds, scans; /* nodes of what users define */
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
    bool needed[MOST_NODES], user = false;
    graph_needed(g, needed);
    j->graphs++;
    j->results += (uint64_t)g->n_outputs;
    j->open_graphs += graph_open_nodes(g, open) > 0;
    for (int id = 0; id < g->n_nodes; id++) {
        const node_kind kind = g->nodes[id].kind;
        j->nodes += needed[id];
        j->calls += needed[id] && kind == NODE_CALL;
        j->folds += needed[id] && kind == NODE_FOLD;
        j->scans += needed[id] && kind == NODE_FOLD_SCAN;
        user |= needed[id] && node_is_user(&g->nodes[id]);
    }
    j->gradients += g->gradient;
    j->user_gradients += g->gradient && user;
}

/* Seeds of one process: batches of consecutive ones, every jobs-th batch. */
static void serve(const work *w, job *j, int index) {
    static graph graphs[1024];
    session s;
    bool missing;
    uint64_t renew = GRAPHS_A_SESSION;
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
        if (j->graphs >= renew) { /* a context never forgets a kernel: a million graphs would need gigabytes */
            session_close(&s);
            renew += GRAPHS_A_SESSION;
            if (!session_open(&s, w->target, w->device, &missing, &j->last)) {
                _exit(2);
            }
        }
        for (uint64_t i = 0; i < n; i++) {
            generate(&graphs[i], w->seed + first + i);
        }
        if (n > 1 && w->target != TARGET_AUTO) {
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
    exit(j->n_failures > 0); /* not _exit: the leak sanitizer has its say */
}

bool check_apart(const work *w, int n, const graph *const *graphs, report *r) {
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
        bool right = true;
        for (int i = 0; right && i < n; i++) {
            right = check_graph(&s, graphs[i], shared);
        }
        session_close(&s);
        exit(right ? 0 : 1);
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

/* ---- what failed ---- */

static const char *const target_names[] = {"interpreter", "auto", "compiled", "cuda"};

/* The graph that fails, perhaps only after another one: kernels or plans are then taken for each other's. */
typedef struct failure {
    const work *w;
    graph *graphs[2]; /* the other one first; NULL: there is none */
    int shrinking;    /* which of them is being shrunk */
} failure;

static bool passes(const failure *f, const graph *candidate, report *r) {
    const graph *list[2] = {f->graphs[0], f->graphs[1]};
    list[f->shrinking] = candidate;
    return list[0] != NULL ? check_apart(f->w, 2, list, r) : check_apart(f->w, 1, list + 1, r);
}

static bool fails_still(void *user, const graph *g) {
    report ignored;
    return !passes(user, g, &ignored);
}

/* Looks for the one graph before it without which it passes. */
static bool find_other(failure *f, uint64_t seed, report *r) {
    for (uint64_t other = seed; other > f->w->seed && seed - other < 2 * (uint64_t)f->w->batch; other--) {
        generate(f->graphs[0], other - 1);
        if (!passes(f, f->graphs[1], r)) {
            return true;
        }
    }
    return false;
}

static void save(const failure *f, int which, uint64_t seed, const char *why) {
    static const char *const suffixes[] = {"-before", ""};
    char path[512], heading[WHY + 256];
    report r = {{0}};
    snprintf(path, sizeof path, "%s/fuzz-%" PRIu64 "%s.krf", f->w->folder, seed, suffixes[which]);
    snprintf(heading, sizeof heading, "%s\nfuzz_graphs --seed %" PRIu64 " --device %s --tier %s", why, seed,
             f->w->device, target_names[f->w->target]);
    if (graph_save(f->graphs[which], path, heading, &r)) {
        printf("written to %s\n", path);
    } else {
        printf("seed %" PRIu64 ": %s\n", seed, r.why);
    }
}

/* Shrinks the graph of a seed and writes it to a file. */
static void report_failure(const work *w, uint64_t seed) {
    static graph g, before;
    report why = {{0}};
    failure f = {.w = w, .graphs = {NULL, &g}, .shrinking = 1};
    generate(&g, seed);
    bool alone = !passes(&f, &g, &why);
    if (!alone) {
        f.graphs[0] = &before;
        if (!find_other(&f, seed, &why)) {
            printf("seed %" PRIu64 ": passes when it is run alone, and after each of the graphs just before it\n",
                   seed);
            return;
        }
    }
    printf("seed %" PRIu64 "%s: %s\nshrinking...\n", seed, alone ? "" : ", after another graph", why.why);
    fflush(stdout);
    for (f.shrinking = 1; f.shrinking >= (alone ? 1 : 0); f.shrinking--) {
        shrink(f.graphs[f.shrinking], fails_still, &f);
    }
    f.shrinking = 1;
    passes(&f, &g, &why);
    printf("seed %" PRIu64 ", shrunk to %d nodes: %s\n", seed, g.n_nodes, why.why);
    save(&f, 1, seed, why.why);
    if (!alone) {
        save(&f, 0, seed, why.why);
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
    user_percent = w->defined >= 0 ? w->defined : w->target == TARGET_COMPILED || w->target == TARGET_CUDA ? 25 : 2;
    user_wide_scans = w->target != TARGET_CUDA;
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
        all.gradients += jobs[i].gradients;
        all.user_gradients += jobs[i].user_gradients;
        all.calls += jobs[i].calls;
        all.folds += jobs[i].folds;
        all.scans += jobs[i].scans;
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
               " graphs with inexact functions, %" PRIu64 " gradients (%" PRIu64 " through what users define), %" PRIu64 " calls, %" PRIu64 " reductions, %" PRIu64
               " scans of users, %ld kernels compiled in batches, %ld alone, %.1f s, %d failed\n",
               all.graphs, w->seed, w->device, target_names[w->target], all.nodes, all.results, all.open_graphs, all.gradients, all.user_gradients, all.calls, all.folds, all.scans,
               all.together, all.alone, seconds, n);
    }
    munmap(jobs, MOST_JOBS * sizeof *jobs);
    return missing ? NO_DEVICE : n > 0 ? SOME_FAILED : ALL_RIGHT;
}
