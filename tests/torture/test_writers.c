/* Many processes on one folder: writers that are killed while they write, processes that all find it cold, and readers
 * while others evict. Whatever bears a final name is whole, what killed writers leave goes in time, every result is
 * right, and the folder keeps its bound. KRF_TORTURE_ROUNDS is the number of writers. */
#include "failures/scenario.h"
#include "failures/wrap.h"
#include "torture/torture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KERNELS = 6, COLD = 16, READERS = 2, EVICTORS = 2, BOUND = 120000 };

static const char *folder;
static char cache[160];
static unsigned random_state;

static unsigned any(unsigned below) {
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % below;
}

/* The remembered compilation is all that is fast here: writing takes milliseconds, so that a kill meets it. */
static void write_for_ever(int seed) {
    alarm(60);
    wrap_slow_writes(2000, 400);
    for (int k = seed;; k++) {
        torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, k % KERNELS, k % KERNELS + 1);
        torture_path entries[2 * KERNELS];
        int count = torture_find(cache, ".krf", entries, 2 * KERNELS);
        if (count >= KERNELS) {
            unlink(entries[k % KERNELS].text);
        }
    }
}

static int kill_writer(pid_t child) {
    int status = -1;
    kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        torture_wrong("a writer ended by itself: %#x", (unsigned)status);
        return 1;
    }
    return 0;
}

/* Every entry is found and none has a fault. */
static void check_entries(const char *when) {
    int entries = torture_find(cache, ".krf", NULL, 0);
    krf_cache_stats s = torture_use(cache, KRF_CACHE_READ_ONLY, KRF_CPU_AUTO, 0, KERNELS);
    if (s.disk_faults != 0 || s.disk_hits != entries) {
        torture_wrong("%s: %lld of %d entries are good, %lld faults", when, (long long)s.disk_hits, entries,
                      (long long)s.disk_faults);
    }
}

static void make_old(const char *path) {
    const struct timespec times[2] = {{.tv_sec = time(NULL) - 2 * 3600}, {.tv_sec = time(NULL) - 2 * 3600}};
    utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static void test_killed_writers(int writers) {
    int torn = 0;
    unsigned patience = 0;
    const int enough = writers / 20;
    int killed = 0;
    for (int i = 0; (i < writers || (torn < enough && i < 10 * writers)) && torture_failures() == 0; i++, killed++) {
        int before = torture_find(cache, ".tmp", NULL, 0);
        pid_t child = fork();
        if (child == 0) {
            write_for_ever(i);
        }
        patience += torn * 10 < i ? 500 : 0; /* on a busy machine writers start late */
        usleep(2000 + any(16000 + patience));
        kill_writer(child);
        torn += torture_find(cache, ".tmp", NULL, 0) - before;
        check_entries("a writer was killed");
    }
    printf("%d writers killed, %d of them while they wrote\n", killed, torn);
    if (torn < enough) {
        torture_wrong("hardly any was killed while it wrote: this proves little");
    }
    static torture_path left[4096];
    int count = torture_find(cache, ".tmp", left, 4096), entries = torture_find(cache, ".krf", NULL, 0);
    for (int i = 0; i < count; i++) {
        make_old(left[i].text);
    }
    torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, KERNELS, KERNELS + 1); /* its first write sweeps */
    if (torture_find(cache, ".tmp", NULL, 0) != 0 || torture_find(cache, ".krf", NULL, 0) < entries) {
        torture_wrong("%d temporary files were left, and %d still are", count, torture_find(cache, ".tmp", NULL, 0));
    }
}

/* What a killed process was saving is there whole, or not at all. */
static void test_killed_saves(int savers) {
    char path[200];
    snprintf(path, sizeof path, "%s/saved.npy", folder);
    int there = 0;
    for (int i = 0; i < savers && torture_failures() == 0; i++) {
        remove(path);
        pid_t child = fork();
        if (child == 0) {
            krf_context *context = torture_open(cache, KRF_CACHE_OFF, KRF_CPU_INTERPRET, 0);
            float zeros[1000] = {0};
            krf_array *a = NULL;
            alarm(60);
            wrap_slow_writes(500, 300);
            if (krf_array_from_host(context, KRF_F32, 1, (int64_t[]){1000}, zeros, &a) == KRF_OK) {
                krf_array_save(a, path);
            }
            pause();
        }
        usleep(1000 + any(8000));
        kill_writer(child);
        struct stat about;
        if (stat(path, &about) == 0) {
            there++;
            if (about.st_size != 128 + 4000) {
                torture_wrong("a killed save left %lld bytes", (long long)about.st_size);
            }
        }
    }
    printf("%d saves killed, %d of them too late\n", savers, there);
}

static void await_all(int count, const char *who) {
    for (int i = 0; i < count; i++) {
        int status = -1;
        if (wait(&status) < 0 || status != 0) {
            torture_wrong("%s ended with %#x", who, (unsigned)status);
        }
    }
}

static void test_cold_processes(void) {
    int ends[2];
    scene_empty(folder);
    if (pipe(ends) != 0) {
        torture_wrong("pipe");
        return;
    }
    for (int i = 0; i < COLD; i++) {
        if (fork() == 0) {
            char byte;
            alarm(100);
            close(ends[1]);
            if (read(ends[0], &byte, 1) != 0) { /* the end of file is the start for all */
                _exit(3);
            }
            krf_cache_stats s = torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, KERNELS);
            _exit(torture_failures() != 0 || s.disk_faults != 0 || s.compiled + s.disk_hits != KERNELS);
        }
    }
    close(ends[0]);
    close(ends[1]);
    await_all(COLD, "one of the cold processes");
    int entries = torture_find(cache, ".krf", NULL, 0), all = torture_find(cache, "", NULL, 0);
    if (entries != KERNELS || all != entries || scene_left_over() != 0) {
        torture_wrong("%d entries, %d files, %d in TMPDIR", entries, all, scene_left_over());
    }
    check_entries("cold processes");
    printf("%d cold processes\n", COLD);
}

/* Two processes write 20 kernels into room for seven, two read all the time, and the folder is measured. */
static void test_eviction(void) {
    enum { MANY = 20, ROUNDS = 3 };
    long long most = 0;
    /* By all writers: one that the machine holds up may find all that it wants in the folder. */
    atomic_llong *evicted = mmap(NULL, sizeof *evicted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (evicted == MAP_FAILED) {
        torture_wrong("no memory that processes share");
        return;
    }
    scene_empty(folder);
    for (int i = 0; i < EVICTORS + READERS; i++) {
        if (fork() == 0) {
            alarm(100);
            for (int round = 0; round < ROUNDS; round++) {
                krf_context *context = torture_open(cache, i < EVICTORS ? KRF_CACHE_ON : KRF_CACHE_READ_ONLY,
                                                    i < EVICTORS ? KRF_CPU_COMPILE : KRF_CPU_AUTO, BOUND);
                for (int k = 0; context != NULL && k < MANY; k++) {
                    torture_eval(context, (k * 7 + i) % MANY);
                }
                if (context != NULL) {
                    krf_cache_stats s = torture_stats(context);
                    atomic_fetch_add(evicted, (long long)s.disk_evictions);
                    if (s.disk_faults != 0) {
                        torture_wrong("%lld faults", (long long)s.disk_faults);
                    }
                    krf_context_destroy(context);
                }
            }
            _exit(torture_failures() != 0 ? 1 : 0);
        }
    }
    for (int left = EVICTORS + READERS; left > 0;) {
        int status = 0;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            left--;
            if (status != 0) {
                torture_wrong("a process of the eviction ended with %#x", (unsigned)status);
            }
        }
        long long now = torture_bytes(cache);
        most = now > most ? now : most;
        usleep(500);
    }
    /* Each writer sees what the other has written after an eighth of the bound, and may be writing an entry. */
    long long allowed = BOUND + EVICTORS * (BOUND / 8 + 20000);
    printf("eviction: at most %lld bytes, bound %d, %lld evicted\n", most, BOUND, atomic_load(evicted));
    if (atomic_load(evicted) == 0) {
        torture_wrong("no writer has evicted anything");
    }
    munmap(evicted, sizeof *evicted);
    if (most > allowed || most < BOUND / 2 || torture_bytes(cache) > allowed) {
        torture_wrong("the folder held %lld bytes, with a bound of %d", most, BOUND);
    }
}

int main(void) {
    int rounds = torture_rounds(60);
    folder = scene_make_folder();
    if (folder == NULL) {
        return 1;
    }
    random_state = (unsigned)time(NULL) ^ (unsigned)getpid() << 8;
    printf("seed %u\n", random_state);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 20); /* compiled and remembered once */
    scene_empty(folder);
    test_killed_writers(rounds);
    test_killed_saves(rounds / 4);
    scene_empty(getenv("TMPDIR")); /* a killed process cannot remove what it compiled in */
    test_cold_processes();
    test_eviction();
    scene_remove_folder();
    printf("%s\n", torture_failures() == 0 ? "ok" : "FAILED");
    return torture_failures() != 0;
}
