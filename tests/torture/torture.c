/* See torture.h. */
#include "torture/torture.h"

#include "failures/scenario.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failures;

int torture_failures(void) { return failures; }

void torture_wrong(const char *format, ...) {
    va_list args;
    failures++;
    fputs("BROKEN: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

krf_context *torture_open(const char *folder, krf_cache_mode mode, krf_cpu_tier tier, int64_t limit) {
    krf_context_options o = krf_context_options_default();
    krf_context *context = NULL;
    o.device = "cpu";
    o.cpu_tier = tier;
    o.threads = 1;
    o.blocking_compile = true;
    o.cache = mode;
    o.cache_dir = folder;
    o.cache_limit = limit;
    o.compiler = scene_compiler();
    if (krf_context_create(&o, &context) != KRF_OK) {
        torture_wrong("krf_context_create: %s", krf_error_message());
    }
    return context;
}

/* v = v * 0.5 + x, k + 1 times: one kernel for each k, with the same bits as here. */
bool torture_eval(krf_context *context, int k) {
    enum { N = 32 };
    float data[N], expected[N], got[N];
    for (int i = 0; i < N; i++) {
        data[i] = expected[i] = (float)(i + 1);
        for (int j = 0; j <= k; j++) {
            expected[i] = expected[i] * 0.5f + data[i];
        }
    }
    krf_array *a = NULL, *y = NULL;
    krf_graph *g = krf_graph_create(context);
    krf_status status = krf_array_from_host(context, KRF_F32, 1, (int64_t[]){N}, data, &a);
    krf_expr x = krf_input(g, a), v = x;
    for (int j = 0; j <= k; j++) {
        v = krf_add(krf_multiply(v, krf_real(g, 0.5)), x);
    }
    status = status == KRF_OK ? krf_eval(v, &y) : status;
    status = status == KRF_OK ? krf_array_to_host(y, got, sizeof got) : status;
    bool right = status == KRF_OK && memcmp(got, expected, sizeof got) == 0;
    if (status != KRF_OK) {
        torture_wrong("kernel %d: %s: %s", k, krf_status_name(status), krf_error_message());
    } else if (!right) {
        torture_wrong("kernel %d: a wrong result", k);
    }
    krf_graph_destroy(g);
    krf_array_release(a);
    krf_array_release(y);
    return right;
}

krf_cache_stats torture_stats(krf_context *context) {
    krf_cache_stats stats = {.size = sizeof stats};
    if (krf_context_cache_stats(context, &stats) != KRF_OK) {
        torture_wrong("krf_context_cache_stats: %s", krf_error_message());
    }
    return stats;
}

krf_cache_stats torture_use(const char *folder, krf_cache_mode mode, krf_cpu_tier tier, int first, int last) {
    krf_cache_stats stats = {.size = sizeof stats};
    krf_context *context = torture_open(folder, mode, tier, 0);
    if (context != NULL) {
        for (int k = first; k < last; k++) {
            torture_eval(context, k);
        }
        stats = torture_stats(context);
        krf_context_destroy(context);
    }
    return stats;
}

/* ---- files ---- */

typedef struct walk {
    const char *suffix, *but;
    torture_path *paths;
    int capacity, count;
    long long bytes;
    unsigned long long hash;
} walk;

static void visit(walk *w, const char *folder) {
    DIR *opened = opendir(folder);
    for (const struct dirent *item; opened != NULL && (item = readdir(opened)) != NULL;) {
        char path[512];
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0 || lstat(path, &about) != 0
            || (w->but != NULL && strcmp(path, w->but) == 0)) {
            continue;
        }
        char line[640];
        int length = snprintf(line, sizeof line, "%s %o %lld %lld.%ld", path, (unsigned)about.st_mode,
                              S_ISDIR(about.st_mode) ? 0LL : (long long)about.st_size,
                              S_ISDIR(about.st_mode) ? 0LL : (long long)about.st_mtim.tv_sec,
                              S_ISDIR(about.st_mode) ? 0L : (long)about.st_mtim.tv_nsec);
        unsigned long long hash = 0xcbf29ce484222325u;
        for (int i = 0; i < length; i++) {
            hash = (hash ^ (unsigned char)line[i]) * 0x100000001b3u;
        }
        w->hash += hash; /* in whatever order they come */
        size_t end = strlen(w->suffix), all = strlen(path);
        if (S_ISDIR(about.st_mode)) {
            visit(w, path);
        } else if (all >= end && strcmp(path + all - end, w->suffix) == 0) {
            if (w->count < w->capacity) {
                snprintf(w->paths[w->count].text, sizeof w->paths->text, "%.159s", path);
            }
            w->count++;
            w->bytes += about.st_size;
        }
    }
    if (opened != NULL) {
        closedir(opened);
    }
}

int torture_find(const char *folder, const char *suffix, torture_path *paths, int capacity) {
    walk w = {.suffix = suffix, .paths = paths, .capacity = capacity};
    visit(&w, folder);
    return w.count;
}

long long torture_bytes(const char *folder) {
    walk w = {.suffix = ""};
    visit(&w, folder);
    return w.bytes;
}

unsigned long long torture_fingerprint(const char *folder, const char *but) {
    walk w = {.suffix = "", .but = but};
    visit(&w, folder);
    return w.hash;
}

size_t torture_read(const char *path, unsigned char *data, size_t capacity) {
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, data, capacity) : -1;
    if (fd >= 0) {
        close(fd);
    }
    if (n < 0 || (size_t)n == capacity) {
        torture_wrong("%s cannot be read, or is larger than %zu bytes", path, capacity);
        return 0;
    }
    return (size_t)n;
}

void torture_write(const char *path, const unsigned char *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0) {
        torture_wrong("%s cannot be written", path);
    }
}

int torture_rounds(int usual) {
    const char *text = getenv("KRF_TORTURE_ROUNDS");
    int rounds = text != NULL ? atoi(text) : usual;
    return rounds > 0 ? rounds : usual;
}
