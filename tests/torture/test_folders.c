/* Folders that will not do for a disk cache: links, other people's, writable by others, read-only, full, deleted while
 * in use, none at all. Every evaluation is right all the same, none fails, and nothing is written outside the folder.
 * What needs rights that this process lacks is skipped by name. */
#include "failures/scenario.h"
#include "torture/torture.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, NOBODY = 65534, KERNELS = 3 };

static const char *folder; /* of this program */
static char cache[160];    /* the cache's, below it */
static char other[160];    /* what does not belong to the cache, below it */

/* All kernels compile and are right. written: whether the cache may be used. */
static void check_use(const char *at, bool usable) {
    krf_cache_stats s = torture_use(at, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, KERNELS);
    if (s.compiled + s.disk_hits != KERNELS || (!usable && (s.disk_hits != 0 || s.disk_bytes_written != 0))
        || (usable && s.disk_bytes_written == 0 && s.disk_hits == 0)) {
        torture_wrong("%lld compiled, %lld hits, %lld bytes written", (long long)s.compiled, (long long)s.disk_hits,
                      (long long)s.disk_bytes_written);
    }
    torture_use(at, KRF_CACHE_READ_ONLY, KRF_CPU_AUTO, 0, KERNELS);
}

/* A full cache in `other`, with which a link or a mount may lure. */
static void fill_other(void) { torture_use(other, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, KERNELS); }

static int case_ordinary(void) {
    unsigned long long before = torture_fingerprint(folder, cache);
    check_use(cache, true);
    check_use(cache, true);
    if (torture_find(cache, ".krf", NULL, 0) != KERNELS || torture_fingerprint(folder, cache) != before) {
        torture_wrong("%d entries, or something outside of the cache", torture_find(cache, ".krf", NULL, 0));
    }
    return 0;
}

static int refused(void) {
    unsigned long long before = torture_fingerprint(folder, NULL);
    check_use(cache, false);
    if (torture_fingerprint(folder, NULL) != before) {
        torture_wrong("something was written");
    }
    return 0;
}

static int case_link(void) {
    fill_other();
    return symlink(other, cache) != 0 ? SKIPPED : refused();
}

static int case_link_of_version(void) {
    char inner[200], target[200];
    fill_other();
    snprintf(inner, sizeof inner, "%s/v1", cache);
    snprintf(target, sizeof target, "%s/v1", other);
    return mkdir(cache, 0700) != 0 || symlink(target, inner) != 0 ? SKIPPED : refused();
}

static int case_dangling_link(void) { return symlink("/nonexistent/cache", cache) != 0 ? SKIPPED : refused(); }

static int case_link_to_itself(void) { return symlink(cache, cache) != 0 ? SKIPPED : refused(); }

static int case_file(void) {
    torture_write(cache, (const unsigned char *)"a file", 6);
    return refused();
}

static int case_group_writable(void) {
    check_use(cache, true);
    return chmod(cache, 0770) != 0 ? SKIPPED : refused();
}

static int case_world_writable_bucket(void) {
    torture_path entry;
    torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 1);
    torture_find(cache, ".krf", &entry, 1);
    *strrchr(entry.text, '/') = '\0';
    if (chmod(entry.text, 0777) != 0) {
        return SKIPPED;
    }
    krf_cache_stats s = torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 1);
    if (s.disk_hits != 0 || s.disk_bytes_written != 0) {
        torture_wrong("a bucket that anybody can write to was used");
    }
    return 0;
}

static int case_other_owner(void) {
    check_use(cache, true);
    return chown(cache, NOBODY, NOBODY) != 0 ? SKIPPED : refused();
}

static int case_entry_of_other_owner(void) {
    torture_path entry;
    torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 1);
    if (torture_find(cache, ".krf", &entry, 1) != 1 || chown(entry.text, NOBODY, NOBODY) != 0) {
        return SKIPPED;
    }
    krf_cache_stats s = torture_use(cache, KRF_CACHE_READ_ONLY, KRF_CPU_AUTO, 0, 1);
    if (s.disk_hits != 0 || s.disk_faults != 1) {
        torture_wrong("another user's entry: %lld hits", (long long)s.disk_hits);
    }
    check_use(cache, true);
    return 0;
}

/* Neither KRF_CACHE_DIR nor XDG_CACHE_HOME nor HOME: nowhere to write to, the working directory least of all. */
static int case_no_home(void) {
    unsetenv("KRF_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    if (mkdir(other, 0700) != 0 || chdir(other) != 0) {
        return SKIPPED;
    }
    unsigned long long before = torture_fingerprint(folder, NULL);
    check_use(NULL, false);
    setenv("HOME", "", 1);
    check_use(NULL, false);
    setenv("HOME", "relative", 1);
    setenv("XDG_CACHE_HOME", "also/relative", 1);
    check_use(NULL, false);
    if (torture_fingerprint(folder, NULL) != before) {
        torture_wrong("something was written");
    }
    setenv("HOME", folder, 1); /* and a home where one can live */
    check_use(NULL, true);
    setenv("HOME", "/nonexistent/home", 1);
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    check_use(NULL, false);
    return 0;
}

/* A relative folder stays the one that it was, whatever the working directory becomes. */
static int case_working_directory_changes(void) {
    if (mkdir(other, 0700) != 0 || chdir(folder) != 0) {
        return SKIPPED;
    }
    krf_context *context = torture_open("cache", KRF_CACHE_ON, KRF_CPU_COMPILE, 0);
    if (context == NULL || chdir(other) != 0) {
        return SKIPPED;
    }
    torture_eval(context, 0);
    krf_context_destroy(context);
    if (torture_find(other, "", NULL, 0) != 0 || torture_find(cache, ".krf", NULL, 0) != 1) {
        torture_wrong("the entry went elsewhere");
    }
    return 0;
}

static bool mount_small(const char *at, const char *options) {
    return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0)
           && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && (mkdir(at, 0700) == 0 || errno == EEXIST)
           && mount("tmpfs", at, "tmpfs", 0, options) == 0;
}

static int case_read_only_system(void) {
    if (!mount_small(cache, "size=1m,mode=0700")) {
        return SKIPPED;
    }
    torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 1);
    if (mount(NULL, cache, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0) {
        return SKIPPED;
    }
    krf_cache_stats s = torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, KERNELS);
    if (s.disk_hits != 1 || s.compiled != KERNELS - 1 || s.disk_bytes_written != 0) {
        torture_wrong("read-only: %lld hits, %lld compiled", (long long)s.disk_hits, (long long)s.compiled);
    }
    char below[200];
    snprintf(below, sizeof below, "%s/below", cache);
    check_use(below, false);
    return 0;
}

/* 64 KiB hold three entries or so: the rest meets a full disk, and leaves no part of a file. */
static int case_full_system(void) {
    if (!mount_small(cache, "size=64k,mode=0700")) {
        return SKIPPED;
    }
    krf_cache_stats s = torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, 12);
    int kept = torture_find(cache, ".krf", NULL, 0);
    if (s.compiled != 12 || s.disk_faults < 1 || kept < 1 || kept > 6 || torture_find(cache, ".tmp", NULL, 0) != 0) {
        torture_wrong("full: %lld compiled, %lld faults, %d kept", (long long)s.compiled, (long long)s.disk_faults,
                      kept);
    }
    s = torture_use(cache, KRF_CACHE_READ_ONLY, KRF_CPU_AUTO, 0, 12);
    if (s.disk_hits != kept || s.disk_faults != 0) {
        torture_wrong("full: %lld of %d entries are found", (long long)s.disk_hits, kept);
    }
    return 0;
}

/* Root may write anywhere: what permissions forbid can only be seen as somebody else. */
static bool become_nobody(void) {
    char parent[160];
    snprintf(parent, sizeof parent, "%s", folder);
    *strrchr(parent, '/') = '\0';
    return geteuid() != 0
           || (chown(parent, NOBODY, NOBODY) == 0 && chown(folder, NOBODY, NOBODY) == 0
               && chown(getenv("TMPDIR"), NOBODY, NOBODY) == 0 && setgroups(0, NULL) == 0 && setgid(NOBODY) == 0
               && setuid(NOBODY) == 0);
}

static int case_read_only_folder(void) {
    torture_path entry;
    krf_context *context = become_nobody() ? torture_open(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0) : NULL;
    if (context == NULL || !torture_eval(context, 0) || torture_stats(context).compiled == 0) {
        return SKIPPED; /* nobody may not even reach the compiler */
    }
    if (torture_find(cache, ".krf", &entry, 1) != 1) {
        torture_wrong("nobody cannot use a folder of its own");
        return 0;
    }
    while (strlen(entry.text) > strlen(cache)) {
        *strrchr(entry.text, '/') = '\0';
        chmod(entry.text, 0500);
    }
    torture_eval(context, 1);
    krf_context_destroy(context);
    krf_cache_stats s = torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, 0, KERNELS);
    if (s.disk_hits != 1 || torture_find(cache, "", NULL, 0) != 1) {
        torture_wrong("a read-only folder: %lld hits, %d files", (long long)s.disk_hits,
                      torture_find(cache, "", NULL, 0));
    }
    return 0;
}

/* One process deletes the folder again and again, two use it. */
static int case_deleted_in_use(void) {
    pid_t users[2];
    for (int u = 0; u < 2; u++) {
        users[u] = fork();
        if (users[u] == 0) {
            for (int round = 0; round < 25 && torture_failures() == 0; round++) {
                torture_use(cache, KRF_CACHE_ON, KRF_CPU_COMPILE, u, u + KERNELS);
            }
            _exit(torture_failures() != 0);
        }
    }
    int left = 2, deleted = 0;
    while (left > 0) {
        int status = 0;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0) {
            left--;
            if (status != 0) {
                torture_wrong("a user of a folder that is deleted ended with %#x", (unsigned)status);
            }
        }
        scene_empty(cache);
        deleted += rmdir(cache) == 0;
        usleep(2000);
    }
    printf("  deleted %d times\n", deleted);
    if (deleted < 3) {
        torture_wrong("the folder was hardly deleted");
    }
    check_use(cache, true);
    return 0;
}

typedef struct one {
    const char *name;
    int (*run)(void);
} one;

static const one cases[] = {
    {"an ordinary folder", case_ordinary},
    {"a link", case_link},
    {"a link in place of the version's folder", case_link_of_version},
    {"a link to nowhere", case_dangling_link},
    {"a link to itself", case_link_to_itself},
    {"a file", case_file},
    {"writable by the group", case_group_writable},
    {"a bucket writable by all", case_world_writable_bucket},
    {"another user's folder", case_other_owner},
    {"another user's entry", case_entry_of_other_owner},
    {"no home", case_no_home},
    {"the working directory changes", case_working_directory_changes},
    {"a read-only file system", case_read_only_system},
    {"a full file system", case_full_system},
    {"a read-only folder", case_read_only_folder},
    {"a folder that is deleted while in use", case_deleted_in_use},
};

int main(void) {
    int failed = 0, skipped = 0, count = sizeof cases / sizeof *cases;
    folder = scene_make_folder();
    if (folder == NULL) {
        return 1;
    }
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    for (int i = 0; i < count; i++) {
        scene_empty(folder);
        fflush(NULL);
        pid_t child = fork(); /* it changes its rights, its environment and what is mounted */
        if (child == 0) {
            alarm(60);
            int result = cases[i].run();
            fflush(NULL);
            _exit(torture_failures() != 0 ? 1 : result);
        }
        int status = -1;
        waitpid(child, &status, 0);
        bool skip = WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED;
        printf("%s: %s\n", cases[i].name,
               skip          ? "skipped, it takes rights that are missing"
               : status == 0 ? "ok"
                             : "FAILED");
        skipped += skip;
        failed += !skip && status != 0;
    }
    scene_remove_folder();
    printf("%d cases, %d skipped, %d failed\n", count, skipped, failed);
    return failed != 0;
}
