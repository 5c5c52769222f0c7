/* The CUDA path when the driver or NVRTC fails: the n-th call of each entry point, for n = 1, 2, 3, ... until a run
 * passes, with several codes (with KRF_EXHAUSTIVE all codes for every n, without it in turn). The call says the right
 * status and names the entry, nothing leaks, and the same context is right afterwards; or says that the device is lost,
 * after errors that the driver never recovers from, and then a new process works. Every entry point of driver.def and
 * nvrtc.def is tried, or named in `excused` with the reason. ctest: simulated */
#include "failures/loop.h"
#include "failures/scenario.h"
#include "failures/simulated.h"

#include "backend/cuda/driver.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- entries and codes ---- */

typedef struct entry {
    const char *name;
    bool nvrtc;
} entry;

static const entry entries[] = {
#define CU_FUNCTION(name, need, arguments) {#name, false},
#include "backend/cuda/driver.def"
#define NVRTC_FUNCTION(name, type, arguments) {#name, true},
#include "backend/cuda/nvrtc.def"
};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Called only when something else has failed: its first `times` calls are made to. NULL: the compiler, always. */
static const struct after {
    const char *name, *first;
    unsigned code, times;
} after[] = {
    {"cuGetErrorName", "cuLaunchKernelEx", 1, 1},
    {"cuGetErrorString", "cuLaunchKernelEx", 1, 1},
    {"cuMemPoolTrimTo", "cuMemAllocFromPoolAsync", 2, 1},
    {"cuMemGetInfo_v2", "cuMemAllocFromPoolAsync", 2, 2},
    {"nvrtcGetProgramLogSize", NULL, 0, 0},
    {"nvrtcGetProgramLog", NULL, 0, 0},
};

/* What is not made to fail, and why. */
static const struct excused {
    const char *name, *why;
} excused[] = {
    {"nvrtcGetErrorString", "returns a text, which cannot be an error"},
};

/* Closing and giving back: a failure has nobody to go to, and what was to be given back stays with the driver. */
static const char *const gives_back[] = {
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxPopCurrent_v2",
    "cuCtxPushCurrent_v2",
    "cuCtxGetCurrent",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuCtxSynchronize",
    "cuEventDestroy_v2",
    "cuMemFree_v2",
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuMemPoolDestroy",
    "cuLibraryUnload",
    "cuGraphExecDestroy",
    "cuGraphDestroy",
    "nvrtcDestroyProgram",
};

enum { OUT_OF_MEMORY = 2, UNKNOWN = 999 };
static const unsigned driver_codes[] = {OUT_OF_MEMORY, 719, 1, 700, 209, UNKNOWN, 802};
static const unsigned nvrtc_codes[] = {1, 6, 11, 7}; /* memory, compilation, internal error, built-in operation */
enum { DRIVER_CODES = 7, NVRTC_CODES = 4 };

static bool is_sticky(unsigned code) { return code == 719 || code == 700 || code == UNKNOWN; }

/* ---- a run ---- */

static const char *folder;

typedef struct driver_loop {
    const char *name; /* of the steps */
    unsigned steps;
    bool warm, no_pools;
    int entry;
    const struct after *after;
    const unsigned *codes;
    int n_codes, turn; /* codes in turn from this one on; n_codes 1: always the same */
} driver_loop;

static scene scene_of(const driver_loop *l) {
    return (scene){.device = "cuda",
                   .steps = l->steps,
                   .folder = folder,
                   .extra = simulated_extra,
                   .compiler_is_broken = l->after != NULL && l->after->first == NULL};
}

static bool is_in(const char *name, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool may_leave_things(const char *name) {
    return is_in(name, gives_back, sizeof gives_back / sizeof *gives_back);
}

static krf_status expected_status(const driver_loop *l, unsigned code) {
    const entry *e = &entries[l->entry];
    if (e->nvrtc) {
        return code == 1 ? KRF_E_MEMORY : KRF_E_COMPILE;
    }
    /* cuInit's unknown error is a matter of installation. */
    bool before_all = code == UNKNOWN && strcmp(e->name, "cuInit") == 0;
    return code == OUT_OF_MEMORY ? KRF_E_MEMORY : is_sticky(code) && !before_all ? KRF_E_LOST : KRF_E_DEVICE;
}

static void judge(const driver_loop *l, scene *s, unsigned code) {
    const entry *e = &entries[l->entry];
    krf_status expected = expected_status(l, code);
    bool by_first = l->after != NULL /* then what failed first may be what the call reports */
                    && (s->status == KRF_E_DEVICE || s->status == KRF_E_MEMORY || s->status == KRF_E_COMPILE);
    if (s->status != KRF_OK && s->status != expected && !by_first) {
        scene_wrong(s, "%s, not %s: %s", krf_status_name(s->status), krf_status_name(expected), s->message);
    }
    bool named = strstr(s->message, e->name) != NULL
                 || (e->nvrtc && strstr(s->message, "NVRTC") != NULL)
                 /* lost: whoever met it first; memory: what was asked for */
                 || (s->status == KRF_E_LOST && strstr(s->message, "failed with CUDA_ERROR") != NULL)
                 || (s->status == KRF_E_MEMORY && strstr(s->message, "out of device memory") != NULL) || by_first;
    if (s->status != KRF_OK && !named) {
        scene_wrong(s, "\"%s\" does not name the entry point", s->message);
    }
    if (s->status != KRF_OK && is_sticky(code) && strstr(s->message, "lost") == NULL && expected == KRF_E_LOST
        && !by_first) {
        scene_wrong(s, "\"%s\" does not say that the device is lost", s->message);
    }
}

static unsigned code_of(const driver_loop *l, long n) {
    return l->n_codes == 1 ? l->codes[0] : l->codes[(n + l->turn) % l->n_codes];
}

/* A compiler that finds an error in every kernel. */
static void use_broken_compiler(void) {
    static char path[160];
    snprintf(path, sizeof path, "%s/../cxx.sh", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs("#!/bin/sh\necho 'kernel.cu:1: error: no' >&2\nexit 1\n", file) < 0 || fclose(file) != 0
        || chmod(path, 0700) != 0 || setenv("FAKECUDA_CXX", path, 1) != 0) {
        perror(path);
    }
}

static void prepare(const driver_loop *l) {
    setenv("FAKECUDA_POOLS", l->no_pools ? "0" : "1", 1);
    /* What could not be given back is in the way of what is closed after it, which the doubles complain about. */
    setenv("FAKECUDA_STRICT", may_leave_things(entries[l->entry].name) ? "0" : "1", 1);
    if (!l->warm) {
        scene_empty(folder);
    }
    simulated[0].reset();
    simulated[1].reset();
    if (l->after != NULL && l->after->first == NULL) {
        use_broken_compiler(); /* in this process, which tries nothing else */
    }
    for (unsigned k = 1; l->after != NULL && k <= l->after->times; k++) {
        simulated[simulated_side(l->after->first)].fail(l->after->first, k, l->after->code);
    }
}

static verdict run(void *argument, long n) {
    const driver_loop *l = argument;
    const char *name = entries[l->entry].name;
    unsigned code = code_of(l, n);
    scene s = scene_of(l);
    s.may_stay_lost = !entries[l->entry].nvrtc && is_sticky(code);
    if (!simulated_open_user()) {
        fprintf(stderr, "BROKEN: the doubles do not open: %s\n", krf_error_message());
        return LOOP_WRONG;
    }
    prepare(l);
    int live = simulated[0].live(), files = scene_open_files();
    long before = krf__mem_live();
    simulated[entries[l->entry].nvrtc].fail(name, (unsigned)n, code);
    scene_run(&s);
    bool met = simulated[entries[l->entry].nvrtc].calls(name) >= (unsigned)n;
    judge(l, &s, code);
    if (krf__mem_live() != before) {
        scene_wrong(&s, "%ld blocks are in use, and %ld were before (%s)", krf__mem_live(), before, s.message);
    }
    if (!s.may_stay_lost && !may_leave_things(name) && simulated[0].live() != live) {
        scene_wrong(&s, "%d things of the driver's are alive, and %d were before", simulated[0].live(), live);
    }
    /* The double of NVRTC counts no programs: as many are destroyed as were made. */
    unsigned made = simulated[1].calls("nvrtcCreateProgram") - (met && strcmp(name, "nvrtcCreateProgram") == 0);
    if (made != simulated[1].calls("nvrtcDestroyProgram")) {
        scene_wrong(&s, "%u programs of NVRTC's were made, and %u destroyed", made,
                    simulated[1].calls("nvrtcDestroyProgram"));
    }
    if (files != scene_open_files()) {
        scene_wrong(&s, "%d descriptors are open, and %d were before", scene_open_files(), files);
    }
    if (s.wrong != 0) {
        fprintf(stderr, "  %s fails with %u, %s%s%s\n", name, code, l->name, l->warm ? ", warm cache" : "",
                l->no_pools ? ", without pools" : "");
    }
    /* A lost device is lost until the process ends; that new processes find another one, the next n show. */
    return s.wrong != 0 ? LOOP_WRONG : !met ? LOOP_DONE : s.may_stay_lost ? LOOP_LAST : LOOP_MORE;
}

/* ---- counting ---- */

static unsigned *counts; /* of the entries in an undisturbed run; shared with the child that makes it */

static verdict count_calls(void *argument, long n) {
    driver_loop *l = argument;
    scene s = scene_of(l);
    bool warm = l->warm;
    if (n > 1) {
        return LOOP_DONE;
    }
    if (!simulated_open_user()) {
        fprintf(stderr, "BROKEN: the doubles do not open: %s\n", krf_error_message());
        return LOOP_WRONG;
    }
    if (warm) { /* once more, with what the first run has left on disk */
        l->warm = false;
        prepare(l);
        scene_run(&s);
        l->warm = true;
    }
    prepare(l);
    scene_run(&s);
    for (int i = 0; i < ENTRIES; i++) {
        counts[i] = simulated[entries[i].nvrtc].calls(entries[i].name);
    }
    bool right = s.wrong == 0 && (s.status == KRF_OK || l->after != NULL);
    if (!right) {
        fprintf(stderr, "BROKEN: with nothing in its way: %s\n", s.message);
    }
    return right ? LOOP_MORE : LOOP_WRONG;
}

static long tried[ENTRIES], pairs;
static int turn;

/* Entries that are called so seldom get all codes when they are first met. */
enum { FEW = 4 };

static int try_entry(driver_loop l, int e, bool exhaustive) {
    long tried_now = 0;
    int wrong = 0, codes = entries[e].nvrtc ? NVRTC_CODES : DRIVER_CODES;
    bool all = exhaustive || (tried[e] == 0 && counts[e] <= FEW);
    l.entry = e;
    for (int c = 0; wrong == 0 && c < (all ? codes : 1); c++) {
        l.codes = (entries[e].nvrtc ? nvrtc_codes : driver_codes) + (all ? c : 0);
        l.n_codes = all ? 1 : codes;
        l.turn = turn;
        turn += 3;
        long met = loop_until_done(run, &l, 1, 1, 25, &wrong);
        tried_now += met;
        if (wrong != 0) {
            fprintf(stderr, "  while %s fails, %s%s\n", entries[e].name, l.name, l.warm ? ", warm cache" : "");
        }
        pairs += met;
    }
    tried[e] += tried_now;
    return wrong;
}

static int try_all(driver_loop l, bool exhaustive) {
    int wrong = 0;
    long before = pairs;
    scene_empty(folder);
    loop_until_done(count_calls, &l, 1, 1, 1, &wrong);
    for (int e = 0; wrong == 0 && e < ENTRIES; e++) {
        bool only_after = l.after != NULL && strcmp(entries[e].name, l.after->name) != 0;
        if (counts[e] > 0 && !only_after && strcmp(entries[e].name, excused[0].name) != 0) {
            wrong += try_entry(l, e, exhaustive);
        }
    }
    printf("%s, %s cache%s%s%s: %ld pairs\n", l.name, l.warm ? "warm" : "cold", l.no_pools ? ", no pools" : "",
           l.after != NULL ? ", after a failing " : "",
           l.after == NULL          ? ""
           : l.after->first != NULL ? l.after->first
                                    : "compiler",
           pairs - before);
    fflush(stdout);
    return wrong;
}

static int check_coverage(void) {
    int missing = 0;
    for (int e = 0; e < ENTRIES; e++) {
        bool named = false;
        for (size_t i = 0; i < sizeof excused / sizeof *excused; i++) {
            named |= strcmp(entries[e].name, excused[i].name) == 0;
        }
        if ((tried[e] == 0) != named) {
            fprintf(stderr, "BROKEN: %s was %s\n", entries[e].name,
                    named ? "tried though excused" : "never made to fail");
            missing++;
        }
    }
    for (size_t i = 0; i < sizeof excused / sizeof *excused; i++) {
        printf("not tried: %s, which %s\n", excused[i].name, excused[i].why);
    }
    return missing;
}

int main(void) {
    static const driver_loop loops[] = {
        {.name = "evaluate", .steps = SCENE_EVALUATE},
        {.name = "evaluate", .steps = SCENE_EVALUATE, .warm = true},
        {.name = "many", .steps = SCENE_MANY, .warm = true},
        {.name = "plan", .steps = SCENE_PLAN, .warm = true},
        {.name = "files", .steps = SCENE_FILES, .warm = true},
        {.name = "views", .steps = SCENE_VIEWS, .warm = true},
        {.name = "streams", .steps = SCENE_STREAMS},
        {.name = "devices", .steps = SCENE_DEVICES, .warm = true},
        {.name = "devices", .steps = SCENE_DEVICES, .warm = true, .no_pools = true},
        {.name = "raw", .steps = SCENE_RAW},
        {.name = "raw", .steps = SCENE_RAW, .warm = true},
        {.name = "a caller's stream", .steps = SCENE_EXTRA},
        {.name = "evaluate", .steps = SCENE_EVALUATE, .warm = true, .no_pools = true},
    };
    bool exhaustive = getenv("KRF_EXHAUSTIVE") != NULL;
    int wrong = 0;
    counts = mmap(NULL, sizeof *counts * ENTRIES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!simulated_open() || counts == MAP_FAILED) {
        printf("skipped: KRF_LIBCUDA and KRF_LIBNVRTC are not the doubles of tests/fakecuda\n");
        return 77;
    }
    folder = scene_make_folder();
    if (folder == NULL) {
        return 1;
    }
    setenv("FAKECUDA_DEVICES", "2", 1);
    setenv("FAKECUDA_LEAKS", "0", 1); /* a lost device's things stay; all else is counted here */
    for (size_t i = 0; wrong == 0 && i < sizeof loops / sizeof *loops; i++) {
        wrong += try_all(loops[i], exhaustive);
    }
    for (size_t i = 0; wrong == 0 && i < sizeof after / sizeof *after; i++) {
        wrong += try_all((driver_loop){.name = "evaluate", .steps = SCENE_EVALUATE, .after = &after[i]}, exhaustive);
    }
    wrong += wrong == 0 ? check_coverage() : 0;
    scene_remove_folder();
    printf("%ld pairs of entry point and n, of %d entry points; %s\n", pairs, ENTRIES, wrong == 0 ? "ok" : "FAILED");
    return wrong != 0;
}
