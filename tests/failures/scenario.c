/* See scenario.h. The steps are in steps.c. */
#include "failures/scenario.h"

#include "failures/steps.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void scene_wrong(scene *s, const char *format, ...) {
    va_list args;
    s->wrong++;
    fprintf(stderr, "BROKEN (%s, step %s): ", s->device, s->step != NULL ? s->step : "?");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- folders ---- */

static char root[64], temporary[80], command[4096];

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)about, (void)type;
    return where->level > 0 ? remove(path) : 0;
}

static int make_one_old(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)where;
    const struct timespec then[2] = {{.tv_sec = about->st_mtim.tv_sec - 7200},
                                     {.tv_sec = about->st_mtim.tv_sec - 7200}};
    return type == FTW_F ? utimensat(AT_FDCWD, path, then, AT_SYMLINK_NOFOLLOW) : 0;
}

void scene_make_old(const char *folder) { nftw(folder, make_one_old, 16, FTW_PHYS); }

void scene_empty(const char *folder) { nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* Contexts copy the environment, an allocation each: the loops would try as many n for nothing. */
static bool keep_needed_environment(void) {
    static const char *const names[] = {"PATH",
                                        "CC",
                                        "HOME",
                                        "KRF_BUILD_DIR",
                                        "KRF_SOURCE_DIR",
                                        "ASAN_OPTIONS",
                                        "LSAN_OPTIONS",
                                        "UBSAN_OPTIONS",
                                        "TSAN_OPTIONS",
                                        "KRF_LIBCUDA",
                                        "KRF_LIBNVRTC",
                                        "FAKECUDA_CXX",
                                        "FAKECUDA_CXXFLAGS",
                                        "KRF_TEST_DEVICE"};
    enum { COUNT = sizeof names / sizeof *names };
    char *values[COUNT];
    bool right = true;
    for (int i = 0; i < COUNT; i++) {
        const char *value = getenv(names[i]);
        values[i] = value != NULL ? strdup(value) : NULL;
    }
    clearenv();
    for (int i = 0; i < COUNT; i++) {
        right &= values[i] == NULL || setenv(names[i], values[i], 1) == 0;
        free(values[i]);
    }
    /* The simulated GPU's compiler remembers as well. */
    const char *cxx = getenv("FAKECUDA_CXX"), *build = getenv("KRF_BUILD_DIR");
    char wrapped[4096];
    if (right && cxx != NULL && build != NULL) {
        snprintf(wrapped, sizeof wrapped, "%s/tests/remembering_cc %s/compiled %s", build, build, cxx);
        right = setenv("FAKECUDA_CXX", wrapped, 1) == 0;
    }
    return right;
}

const char *scene_make_folder(void) {
    snprintf(root, sizeof root, "/tmp/krf-failures-XXXXXX");
    if (mkdtemp(root) == NULL || !keep_needed_environment()) {
        perror(root);
        return NULL;
    }
    const char *build = getenv("KRF_BUILD_DIR");
    char program[4096];
    snprintf(program, sizeof program, "%s/tests/remembering_cc", build != NULL ? build : "");
    if (access(program, X_OK) != 0) { /* everything would be interpreted, and little tested */
        fprintf(stderr, "there is no %s: KRF_BUILD_DIR must name the build\n", program);
        return NULL;
    }
    snprintf(temporary, sizeof temporary, "%s/tmp", root);
    static char own[80];
    snprintf(own, sizeof own, "%s/own", root);
    return mkdir(temporary, 0700) == 0 && mkdir(own, 0700) == 0 && setenv("TMPDIR", temporary, 1) == 0 ? own : NULL;
}

void scene_remove_folder(void) {
    scene_empty(root);
    rmdir(root);
}

static int count_names(const char *path) {
    DIR *folder = opendir(path);
    int names = 0;
    for (const struct dirent *item; folder != NULL && (item = readdir(folder)) != NULL;) {
        names += strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return folder != NULL ? names : -1;
}

int scene_left_over(void) { return count_names(temporary); }
int scene_open_files(void) { return count_names("/proc/self/fd"); }

/* ---- entries of the disk cache ---- */

enum { MOST_ENTRIES = 64 };
static char known[MOST_ENTRIES][40];
static int n_known, n_unknown;

static bool is_known(const char *name) {
    for (int i = 0; i < n_known; i++) {
        if (strcmp(known[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static int learn(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)about;
    const char *name = path + where->base;
    if (type == FTW_F && strlen(name) == 34 && strcmp(name + 30, ".krf") == 0 && !is_known(name)
        && n_known < MOST_ENTRIES) {
        memcpy(known[n_known++], name, 35);
    }
    return 0;
}

static int look_up(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)about;
    n_unknown += type == FTW_F && strstr(path, "/cache/v1/") != NULL && !is_known(path + where->base);
    return 0;
}

void scene_remember_entries(const char *folder) { nftw(folder, learn, 16, FTW_PHYS); }

int scene_unknown_entries(const char *folder) {
    n_unknown = 0;
    nftw(folder, look_up, 16, FTW_PHYS);
    return n_unknown;
}

const char *scene_compiler(void) {
    const char *build = getenv("KRF_BUILD_DIR"), *cc = getenv("CC");
    snprintf(command, sizeof command, "%s/tests/remembering_cc %s/compiled %s", build != NULL ? build : ".",
             build != NULL ? build : ".", cc != NULL ? cc : "cc");
    return command;
}

/* ---- a run ---- */

krf_context_options scene_options(const scene *s) {
    static char cache[128];
    krf_context_options o = krf_context_options_default();
    snprintf(cache, sizeof cache, "%s/cache", s->folder);
    o.device = s->device;
    o.cpu_tier = s->tier;
    o.threads = s->all_processors ? 0 : 2;
    o.blocking_compile = !s->background;
    o.cache = KRF_CACHE_ON;
    o.cache_dir = s->cache != NULL ? s->cache : cache;
    o.compiler = s->compiler;
    return o;
}

typedef struct step {
    unsigned bit;
    const char *name;
    krf_status (*take)(scene *s);
} step;

static krf_status open_context(scene *s) {
    krf_context_options o = scene_options(s);
    krf_context *context = (krf_context *)&o;
    krf_status status = krf_context_create(&o, &context);
    if (status != KRF_OK && context != NULL) {
        scene_wrong(s, "krf_context_create failed and left %p", (void *)context);
    }
    s->context = status == KRF_OK ? context : NULL;
    return status;
}

static krf_status take_extra(scene *s) { return s->extra(s); }

static const step steps[] = {
    {~0u, "create", open_context},
    {SCENE_EVALUATE, "evaluate", scene_evaluate},
    {SCENE_MANY, "many", scene_many},
    {SCENE_PARSE, "parse", scene_parse},
    {SCENE_PLAN, "plan", scene_plan},
    {SCENE_FILES, "files", scene_files},
    {SCENE_EXPLAIN, "explain", scene_explain},
    {SCENE_VIEWS, "views", scene_views},
    {SCENE_LARGE, "large", scene_large},
    {SCENE_REOPEN, "reopen", scene_reopen},
    {SCENE_STREAMS, "streams", scene_streams},
    {SCENE_DEVICES, "devices", scene_devices},
    {SCENE_DEFINE, "define", scene_define},
    {SCENE_RAW, "raw", scene_raw},
    {SCENE_REDUCE, "reduce", scene_reduce},
    {SCENE_EXTRA, "extra", take_extra},
};

/* What failed because of somebody else must be right as soon as that is over. */
static void take_again(scene *s, const step *failed) {
    krf_status status = failed->take(s);
    bool excused = (s->may_stay_lost && status == KRF_E_LOST) || (s->compiler_is_broken && status == KRF_E_COMPILE);
    if (status != KRF_OK && !excused) {
        scene_wrong(s, "failed again (%s), with nothing in its way: %s", krf_status_name(status), krf_error_message());
    }
}

void scene_run(scene *s) {
    s->context = NULL;
    s->status = KRF_OK;
    s->message[0] = '\0';
    s->stats = s->again = (krf_cache_stats){.size = sizeof s->stats};
    for (size_t i = 0; s->status == KRF_OK && i < sizeof steps / sizeof *steps; i++) {
        if ((s->steps & steps[i].bit) == 0) {
            continue;
        }
        s->step = steps[i].name;
        s->status = steps[i].take(s);
        if (s->status != KRF_OK) {
            snprintf(s->message, sizeof s->message, "%s", krf_error_message());
            if (s->quiet != NULL) {
                s->quiet();
            }
            take_again(s, &steps[i]);
        }
    }
    if (s->context != NULL && krf_context_cache_stats(s->context, &s->stats) != KRF_OK) {
        scene_wrong(s, "krf_context_cache_stats: %s", krf_error_message());
    }
    krf_context_destroy(s->context);
    s->context = NULL;
}
