/* Out of memory: the n-th allocation fails, alone or with all after it, for n = 1, 2, 3, ... until a run passes (with
 * KRF_EXHAUSTIVE both for every n, without it one of the two). Each run says KRF_E_MEMORY or does without (what only a
 * cache or the log needs), leaves nothing behind, and the same context is right as soon as there is memory. */
#include "failures/loop.h"
#include "failures/scenario.h"
#include "shard.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder, *device = "cpu"; /* KRF_TEST_DEVICE */

typedef struct memory_loop {
    const char *name;
    krf_cpu_tier tier;
    unsigned steps;
    bool once; /* the n-th allocation alone */
    bool warm; /* the disk cache is full from the start */
} memory_loop;

static void quiet(void) { krf__mem_fail_at(0); }

static scene scene_of(const memory_loop *l) {
    return (scene){.device = device,
                   .tier = l->tier,
                   .steps = l->steps,
                   .folder = folder,
                   .compiler = scene_compiler(),
                   .quiet = quiet};
}

static verdict run(void *user, long n) {
    const memory_loop *l = user;
    scene s = scene_of(l);
    long before = krf__mem_live();
    int files = scene_open_files();
    if (!l->warm) {
        scene_empty(folder);
    }
    (l->once ? krf__mem_fail_once : krf__mem_fail_at)(n);
    scene_run(&s);
    bool met = !krf__mem_pending();
    quiet();
    if (s.status != KRF_OK && s.status != KRF_E_MEMORY) {
        scene_wrong(&s, "%s: %s", krf_status_name(s.status), s.message);
    }
    if (s.status != KRF_OK && strcasestr(s.message, "memory") == NULL) {
        scene_wrong(&s, "the message says \"%s\"", s.message);
    }
    if (scene_open_files() != files) {
        scene_wrong(&s, "%d descriptors are open, and %d were before", scene_open_files(), files);
    }
    if (krf__mem_live() != before) {
        scene_wrong(&s, "%ld blocks are in use, and %ld were before (%s)", krf__mem_live(), before, s.message);
    }
    if (scene_left_over() != 0) {
        scene_wrong(&s, "%d files or folders are left in TMPDIR", scene_left_over());
    }
    if (scene_unknown_entries(folder) != 0) {
        scene_wrong(&s, "%d entries of the cache have names that they should not have", scene_unknown_entries(folder));
    }
    return s.wrong != 0 ? LOOP_WRONG : met ? LOOP_MORE : LOOP_DONE;
}

static verdict run_undisturbed(void *user, long n) {
    scene s = scene_of(user);
    if (n > 1) {
        return LOOP_DONE;
    }
    scene_run(&s);
    if (s.status != KRF_OK) {
        scene_wrong(&s, "with nothing in its way: %s", s.message);
    }
    return s.wrong != 0 ? LOOP_WRONG : LOOP_MORE;
}

/* step 2: the odd allocations alone, the even ones with all that follow. Other steps leave some out. */
static int run_loop(memory_loop l, long step) {
    int wrong = 0;
    scene_empty(folder);
    loop_until_done(run_undisturbed, &l, 1, 1, 1, &wrong); /* CUDA does not survive the fork of who uses it */
    scene_remember_entries(folder);
    if (wrong != 0) {
        return wrong;
    }
    long met = loop_until_done(run, &l, l.once ? 1 : step, step, 50, &wrong);
    printf("%s, tier %d, %s cache, %s: %ld allocations failed\n", l.name, (int)l.tier, l.warm ? "warm" : "cold",
           l.once ? "one" : "one and all after it", met);
    if (met * step < 100) {
        fprintf(stderr, "BROKEN: too few; this test looks in the wrong place\n");
    }
    return wrong + (met * step < 100);
}

int main(void) {
    /* One step a loop: what comes before a failure costs time and tells nothing. */
    static const memory_loop cpu[] = {
        {"evaluate", KRF_CPU_AUTO, SCENE_EVALUATE, false, false},
        {"many", KRF_CPU_AUTO, SCENE_MANY, false, false},
        {"parse", KRF_CPU_AUTO, SCENE_PARSE, false, false},
        {"plan", KRF_CPU_AUTO, SCENE_PLAN, false, false},
        {"files", KRF_CPU_AUTO, SCENE_FILES, false, false},
        {"explain", KRF_CPU_AUTO, SCENE_EXPLAIN, false, false},
        {"views", KRF_CPU_AUTO, SCENE_VIEWS, false, false},
        {"streams", KRF_CPU_AUTO, SCENE_STREAMS, false, false},
        {"devices", KRF_CPU_AUTO, SCENE_DEVICES, false, false},
        {"define", KRF_CPU_AUTO, SCENE_DEFINE, false, false},
        {"raw", KRF_CPU_AUTO, SCENE_RAW, false, true},
        {"reduce", KRF_CPU_AUTO, SCENE_REDUCE, false, true},
        {"large", KRF_CPU_AUTO, SCENE_LARGE, false, false},
        {"reopen", KRF_CPU_AUTO, SCENE_REOPEN, false, true},
        {"evaluate", KRF_CPU_COMPILE, SCENE_EVALUATE, false, false},
        {"evaluate", KRF_CPU_COMPILE, SCENE_EVALUATE, false, true},
        {"plan", KRF_CPU_COMPILE, SCENE_PLAN, false, true},
    };
    static const memory_loop cuda[] = {
        {"evaluate", KRF_CPU_AUTO, SCENE_EVALUATE, false, false},
        {"many", KRF_CPU_AUTO, SCENE_MANY, false, true},
        {"plan", KRF_CPU_AUTO, SCENE_PLAN, false, true},
        {"files", KRF_CPU_AUTO, SCENE_FILES, false, true},
        {"streams", KRF_CPU_AUTO, SCENE_STREAMS, false, true},
        {"devices", KRF_CPU_AUTO, SCENE_DEVICES, false, true},
        {"define", KRF_CPU_AUTO, SCENE_DEFINE, false, true},
        {"raw", KRF_CPU_AUTO, SCENE_RAW, false, true},
        {"reduce", KRF_CPU_AUTO, SCENE_REDUCE, false, true},
    };
    device = getenv("KRF_TEST_DEVICE") != NULL ? getenv("KRF_TEST_DEVICE") : "cpu";
    bool on_cuda = strcmp(device, "cpu") != 0;
    if (on_cuda && getenv("FAKECUDA_CXX") == NULL) {
        printf("skipped: thousands of processes that open a GPU would take hours; the doubles serve\n");
        return 77;
    }
    const memory_loop *loops = on_cuda ? cuda : cpu;
    size_t count = on_cuda ? sizeof cuda / sizeof *cuda : sizeof cpu / sizeof *cpu;
    int wrong = 0;
    bool exhaustive = getenv("KRF_EXHAUSTIVE") != NULL;
    folder = scene_make_folder();
    if (folder == NULL) {
        return 1;
    }
    device = on_cuda ? "cuda" : "cpu"; /* the environment is another one now */
    setenv("FAKECUDA_DEVICES", "2", 1);
    for (size_t i = 0; wrong == 0 && i < 2 * count; i++) {
        memory_loop l = loops[i / 2];
        if (!in_shard((int64_t)(i / 2))) {
            continue;
        }
        l.once = i % 2 != 0;
        wrong += run_loop(l, exhaustive ? 1 : on_cuda ? 8 : 2); /* opening that device takes long */
    }
    scene_remove_folder();
    printf("%s\n", wrong == 0 ? "ok" : "FAILED");
    return wrong != 0;
}
