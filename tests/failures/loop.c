/* See loop.h. */
#include "failures/loop.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 100000, MOST_WRONG = 20, SECONDS = 30 };

#if defined(__SANITIZE_THREAD__)
/* The thread sanitizer lets every process sleep for a second at its end, and here are thousands of them. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "atexit_sleep_ms=0"; }
#endif

/* What a child tells; in memory that it shares. */
typedef struct told {
    long n; /* the run it is at */
    long met;
    int wrong;
    bool done;
} told;

static void run_batch(loop_body body, void *user, long step, int batch, told *t) {
    verdict v = LOOP_MORE;
    for (int i = 0; i < batch && v != LOOP_DONE && v != LOOP_LAST; i++, t->n += step) {
        alarm(SECONDS);
        v = body(user, t->n);
        t->met += v != LOOP_DONE;
        t->wrong += v == LOOP_WRONG;
        t->done = v == LOOP_DONE;
        if (v == LOOP_WRONG) {
            fprintf(stderr, "  at n = %ld\n", t->n);
        }
    }
}

long loop_until_done(loop_body body, void *user, long first, long step, int batch, int *wrong) {
    told *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) {
        perror("mmap");
        ++*wrong;
        return 0;
    }
    *t = (told){.n = first};
    while (!t->done && t->wrong < MOST_WRONG && t->n < MOST) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            run_batch(body, user, step, batch, t);
            fflush(NULL);
            exit(0); /* not _exit: a leak sanitizer reports at the end */
        }
        int status = -1;
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            fprintf(stderr, "BROKEN: the process of n = %ld ended with %s %d\n", t->n,
                    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "status", WEXITSTATUS(status));
            t->wrong++;
            t->n += step;
        }
    }
    long met = t->met;
    if (!t->done) {
        fprintf(stderr, "BROKEN: no run passed until n = %ld\n", t->n);
        t->wrong++;
    }
    *wrong += t->wrong;
    munmap(t, sizeof *t);
    return met;
}
