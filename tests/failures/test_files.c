/* System calls that fail: the n-th call of each, for n = 1, 2, 3, ... until a run passes, with several errors. What
 * only concerns the disk cache, temporary files, threads and the compiler fails no evaluation in the automatic tier
 * and changes no result. Saving and loading say KRF_E_FILE with the path, and leave the old file or the new one. */
#include "failures/loop.h"
#include "failures/scenario.h"
#include "failures/wrap.h"

#include "base/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder;

typedef struct file_loop {
    enum wrapped call;
    unsigned steps;
    krf_cpu_tier tier;
    bool warm, after;
    bool childless; /* a program that ignores SIGCHLD: nobody learns how the compiler ended */
    int error;      /* 0: another one each time */
    int turn;       /* which one is the first then */
} file_loop;

static const int errors[] = {EIO, EACCES, ENOSPC, EINTR, EROFS, EMFILE, ENOENT, WRAP_SHORT};
enum { ERRORS = sizeof errors / sizeof *errors };

static const char *text_of(int error) { return error == WRAP_SHORT ? "short" : strerrorname_np(error); }

/* Large enough to be mapped. */
static krf_status use_large_memory(scene *s) {
    enum { BYTES = 3 << 20, N = BYTES / sizeof(float) };
    static float data[N], got[N];
    krf_array *a = NULL;
    for (int i = 0; i < N; i++) {
        data[i] = (float)i;
    }
    krf_status status = krf_array_from_host(s->context, KRF_F32, 1, (int64_t[]){N}, data, &a);
    status = status == KRF_OK ? krf_array_to_host(a, got, BYTES) : status;
    if (status == KRF_OK && memcmp(data, got, BYTES) != 0) {
        scene_wrong(s, "a large array came back otherwise");
    }
    krf_array_release(a);
    return status;
}

static scene scene_of(const file_loop *l) {
    return (scene){.device = "cpu",
                   .extra = use_large_memory,
                   .all_processors = l->warm,
                   .cache = l->warm ? "cache" : NULL, /* below the working directory */
                   .tier = l->tier,
                   .steps = l->steps,
                   .folder = folder,
                   .compiler = scene_compiler(),
                   .quiet = wrap_stop};
}

/* What a failing call may do to the run. */
static void judge(const file_loop *l, scene *s, int error) {
    bool file_step = s->step != NULL && strcmp(s->step, "files") == 0;
    bool allowed = s->status == KRF_OK || (s->status == KRF_E_FILE && file_step)
                   || (s->status == KRF_E_COMPILE && l->tier == KRF_CPU_COMPILE)
                   /* without memory from the system there is none */
                   || (s->status == KRF_E_MEMORY && l->call == WRAP_mmap);
    if (!allowed) {
        scene_wrong(s, "%s: %s", krf_status_name(s->status), s->message);
    }
    if (s->status != KRF_OK && error == WRAP_SHORT) {
        scene_wrong(s, "a short transfer is no error: %s", s->message);
    }
    /* Where removing fails, something remains; where looking fails, too. */
    bool remains = l->call == WRAP_unlinkat || l->call == WRAP_rmdir || l->call == WRAP_fdopendir
                   || l->call == WRAP_readdir || l->call == WRAP_openat || l->call == WRAP_open || l->after;
    if (!remains && scene_left_over() != 0) {
        scene_wrong(s, "%d files or folders are left in TMPDIR", scene_left_over());
    }
    if (l->call != WRAP_stat && l->call != WRAP_realpath && l->call != WRAP_access && !l->after
        && scene_unknown_entries(folder) != 0) {
        scene_wrong(s, "%d entries of the cache have names that they should not have", scene_unknown_entries(folder));
    }
}

static verdict run(void *user, long n) {
    const file_loop *l = user;
    int error = l->error != 0 ? l->error : errors[(n + l->turn) % ERRORS];
    error = error == EINTR && l->after ? EIO : error; /* whoever tries again would do so for ever */
    scene s = scene_of(l);
    long before = krf__mem_live();
    int files = scene_open_files();
    scene_empty(getenv("TMPDIR"));
    if (l->warm) {
        scene_make_old(folder);
    } else {
        scene_empty(folder);
    }
    signal(SIGCHLD, l->childless ? SIG_IGN : SIG_DFL);
    wrap_fail(l->call, n, error, l->after);
    scene_run(&s);
    bool met = wrap_met();
    wrap_stop();
    judge(l, &s, error);
    if (scene_open_files() != files) {
        scene_wrong(&s, "%d descriptors are open, and %d were before", scene_open_files(), files);
    }
    if (krf__mem_live() != before) {
        scene_wrong(&s, "%ld blocks are in use, and %ld were before (%s)", krf__mem_live(), before, s.message);
    }
    if (s.wrong != 0) {
        fprintf(stderr, "  %s, %s, %s, %s cache\n", wrap_name(l->call), text_of(error), l->after ? "all after" : "one",
                l->warm ? "warm" : "cold");
    }
    return s.wrong != 0 ? LOOP_WRONG : met ? LOOP_MORE : LOOP_DONE;
}

/* The entries that an undisturbed run writes, and a full cache. */
static int fill_cache(file_loop *l) {
    scene s = scene_of(l);
    scene_empty(folder);
    scene_run(&s);
    scene_remember_entries(folder);
    if (s.status != KRF_OK || s.wrong != 0) {
        fprintf(stderr, "BROKEN: with nothing in its way: %s\n", s.message);
    }
    return s.wrong + (s.status != KRF_OK);
}

static long pairs, met_by[WRAP_COUNT];

static int run_loops(file_loop l) {
    int wrong = fill_cache(&l);
    for (int call = 0; wrong == 0 && call < WRAP_COUNT; call++) {
        bool about_children = call == WRAP_faccessat || call == WRAP_waitpid || call == WRAP_poll;
        if (l.childless && !about_children) {
            continue; /* nothing else is different */
        }
        l.call = (enum wrapped)call;
        long met = loop_until_done(run, &l, 1, 1, 100, &wrong);
        l.turn += 3;
        pairs += met;
        met_by[call] += met;
        if (l.error == 0 && (l.call == WRAP_read || l.call == WRAP_write)) { /* which have one error more */
            file_loop shorter = l;
            shorter.error = WRAP_SHORT;
            pairs += loop_until_done(run, &shorter, 1, 1, 100, &wrong);
        }
        if (met > 0) {
            printf(" %s %ld", wrap_name(l.call), met);
        }
    }
    printf("\n");
    return wrong;
}

int main(void) {
    static const unsigned compiled = SCENE_LARGE | SCENE_REOPEN | SCENE_EXTRA;
    static const struct {
        const char *name;
        file_loop loop;
    } loops[] = {
        {"kernels, automatic tier, cold cache", {.steps = compiled, .tier = KRF_CPU_AUTO}},
        {"kernels, automatic tier, cold cache, all after", {.steps = compiled, .tier = KRF_CPU_AUTO, .after = true}},
        {"kernels, automatic tier, without SIGCHLD", {.steps = compiled, .tier = KRF_CPU_AUTO, .childless = true}},
        {"kernels, automatic tier, warm cache", {.steps = compiled, .tier = KRF_CPU_AUTO, .warm = true}},
        {"kernels, compiled tier, cold cache", {.steps = compiled, .tier = KRF_CPU_COMPILE}},
        {"files", {.steps = SCENE_FILES, .tier = KRF_CPU_INTERPRET}},
        {"files, all after", {.steps = SCENE_FILES, .tier = KRF_CPU_INTERPRET, .after = true}},
    };
    bool exhaustive = getenv("KRF_EXHAUSTIVE") != NULL;
    int wrong = 0;
    folder = scene_make_folder();
    if (folder == NULL) {
        return 1;
    }
    char log[160];
    snprintf(log, sizeof log, "%s/../log", folder);
    setenv("KRF_LOG", log, 1);
    if (chdir(folder) != 0) {
        return 1;
    }
    for (size_t i = 0; wrong == 0 && i < sizeof loops / sizeof *loops; i++) {
        for (int e = 0; wrong == 0 && e < (exhaustive ? ERRORS : 1); e++) {
            file_loop l = loops[i].loop;
            l.error = exhaustive ? errors[e] : 0;
            printf("%s, %s:", loops[i].name, exhaustive ? text_of(errors[e]) : "errors in turn");
            wrong += run_loops(l);
        }
    }
    for (int call = 0; wrong == 0 && call < WRAP_COUNT; call++) {
        if (met_by[call] == 0 && call != WRAP_poll) { /* not called where the compiler is faster */
            fprintf(stderr, "BROKEN: %s was never made to fail\n", wrap_name((enum wrapped)call));
            wrong++;
        }
    }
    scene_remove_folder();
    printf("%ld pairs of call and n; %s\n", pairs, wrong == 0 ? "ok" : "FAILED");
    return wrong != 0 || pairs < 500;
}
