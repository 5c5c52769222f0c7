/* How long a new process waits for its first result, with the kernels in the disk cache and without, and whether it needed NVRTC for it.
 *   kerfuse-startup [--device cuda:0] [--runs 7]
 * One line a figure, in milliseconds, medians of new processes. The files of driver and compiler are in the page cache. The cache is a folder of its own.
 * Also the driver's part alone: cuInit and the primary context, without kerfuse. */
#include <kerfuse/kerfuse.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RUNS = 101 };

typedef struct times {
    double create, result, driver;      /* milliseconds: of krf_context_create; from its return to the first result on the host; of the driver alone */
    int nvrtc;                          /* libnvrtc is mapped */
    long long compiled, disk_hits;
} times;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void fail(const char *what) {
    fprintf(stderr, "kerfuse-startup: %s: %s\n", what, krf_error_message());
    exit(1);
}
#define OK(call)              \
    do {                      \
        if ((call) != KRF_OK) { \
            fail(#call);      \
        }                     \
    } while (0)

/* ---- in a process of its own ---- */

static int is_mapped(const char *name) {
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        found |= strstr(line, name) != NULL;
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

static void first_result(const char *device, times *t) {
    enum { N = 100000 };
    static float data[N];
    krf_context *context;
    krf_context_options options = krf_context_options_default();
    krf_cache_stats stats = {.size = sizeof stats};
    const int64_t shape = N;
    options.device = device;
    options.blocking_compile = true;
    options.cpu_tier = KRF_CPU_COMPILE; /* as on a GPU: the CPU's interpreter needs no start at all */
    double start = now();
    OK(krf_context_create(&options, &context));
    t->create = now() - start;
    start = now();
    krf_array *x, *y = NULL;
    OK(krf_array_from_host(context, KRF_F32, 1, &shape, data, &x));
    krf_graph *g = krf_graph_create(context);
    krf_expr in = krf_input(g, x);
    OK(krf_eval(krf_add(krf_maximum(in, krf_int(g, 0)), krf_log1p(krf_exp(krf_negative(krf_abs(in))))), &y));
    OK(krf_array_to_host(y, data, sizeof data));
    t->result = now() - start;
    const char *nvrtc = getenv("KRF_LIBNVRTC");
    const char *name = nvrtc != NULL ? strrchr(nvrtc, '/') : NULL;
    t->nvrtc = is_mapped(name != NULL ? name : "libnvrtc.so");
    OK(krf_context_cache_stats(context, &stats));
    t->compiled = stats.compiled;
    t->disk_hits = stats.disk_hits;
    if (!(data[0] > 0.6931f && data[0] < 0.6932f)) {
        fprintf(stderr, "kerfuse-startup: log(2) is %g\n", (double)data[0]);
        exit(1);
    }
    krf_array_release(x);
    krf_array_release(y);
    krf_graph_destroy(g);
    krf_context_destroy(context);
}

/* The least that any program pays that uses the device: cuInit and the primary context. */
static void driver_alone(times *t) {
    const char *path = getenv("KRF_LIBCUDA");
    const double start = now();
    void *library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW), *context;
    int device, (*init)(unsigned) = NULL, (*get)(int *, int) = NULL, (*retain)(void **, int) = NULL, (*release)(int) = NULL;
    if (library != NULL) {
        *(void **)&init = dlsym(library, "cuInit");
        *(void **)&get = dlsym(library, "cuDeviceGet");
        *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
        *(void **)&release = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
    }
    if (init == NULL || get == NULL || retain == NULL || release == NULL || init(0) != 0 || get(&device, 0) != 0 || retain(&context, device) != 0) {
        t->driver = -1;
        return;
    }
    t->driver = now() - start;
    release(device);
}

/* ---- the others ---- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A new process of this program. */
static times run(const char *self, const char *mode, const char *device, const char *cache) {
    times t = {0};
    int out[2], status = 0;
    if (pipe(out) != 0) {
        fail("pipe");
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        setenv("KRF_CACHE_DIR", cache, 1);
        setenv("CUDA_CACHE_DISABLE", "1", 1); /* the driver's own, of translated PTX */
        execl(self, self, mode, device, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    FILE *from = fdopen(out[0], "r");
    const bool whole = child > 0 && from != NULL && fread(&t, sizeof t, 1, from) == 1;
    if (child > 0) {
        waitpid(child, &status, 0);
    }
    if (!whole || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "kerfuse-startup: a process of it failed\n");
        exit(1);
    }
    fclose(from);
    return t;
}

static char *new_folder(void) {
    static char folder[4096];
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/kerfuse-startup-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        exit(1);
    }
    return folder;
}

static void remove_folder(const char *folder) {
    const pid_t child = fork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", folder, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static void print(const char *name, const times *all, int runs) {
    double create[MOST_RUNS], result[MOST_RUNS];
    int nvrtc = 0;
    for (int i = 0; i < runs; i++) {
        create[i] = all[i].create;
        result[i] = all[i].result;
        nvrtc |= all[i].nvrtc;
    }
    qsort(create, (size_t)runs, sizeof *create, by_value);
    qsort(result, (size_t)runs, sizeof *result, by_value);
    printf("%s: context %.1f ms, then the first result %.1f ms (worst %.1f); %lld compiled, %lld from disk; libnvrtc is %s\n", name, create[runs / 2], result[runs / 2],
           result[runs - 1], all[0].compiled, all[0].disk_hits, nvrtc ? "mapped" : "not mapped");
}

int main(int argc, char **argv) {
    const char *device = "auto";
    times all[MOST_RUNS] = {0};
    int runs = 7;
    if (argc == 3 && (strcmp(argv[1], "result") == 0 || strcmp(argv[1], "driver") == 0)) {
        if (argv[1][0] == 'r') {
            first_result(argv[2], all);
        } else {
            driver_alone(all);
        }
        return fwrite(all, sizeof *all, 1, stdout) == 1 ? 0 : 1;
    }
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0) {
            device = argv[i + 1];
        } else if (strcmp(argv[i], "--runs") == 0) {
            runs = atoi(argv[i + 1]);
        } else {
            argc = 0;
        }
    }
    if (argc % 2 == 0 || runs < 1 || runs > MOST_RUNS) {
        fprintf(stderr, "usage: kerfuse-startup [--device cuda:0] [--runs 7]\n");
        return 2;
    }
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        perror("/proc/self/exe");
        return 1;
    }
    self[length] = '\0';
    double driver[MOST_RUNS];
    const char *cache = new_folder();
    (void)run(self, "result", device, cache); /* brings files into the page cache */
    for (int i = 0; i < runs; i++) {
        driver[i] = run(self, "driver", device, cache).driver;
    }
    qsort(driver, (size_t)runs, sizeof *driver, by_value);
    if (driver[0] >= 0) {
        printf("driver alone: cuInit and the primary context of device 0 %.1f ms\n", driver[runs / 2]);
    }
    for (int i = 0; i < runs; i++) {
        all[i] = run(self, "result", device, cache);
    }
    print("warm disk cache", all, runs);
    remove_folder(cache);
    for (int i = 0; i < runs; i++) {
        cache = new_folder();
        all[i] = run(self, "result", device, cache);
        remove_folder(cache);
    }
    print("cold disk cache", all, runs);
    return 0;
}
