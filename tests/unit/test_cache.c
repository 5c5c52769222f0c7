/* Unit tests of src/cache: what a damaged, foreign, full, vanishing or shared folder does to the disk cache (nothing
 * but misses), and that the memory cache makes each value once. "test_cache 'memory*'" runs the tests of one of the
 * two. */
#include "base/fail.h"
#include "base/mem.h"
#include "cache/disk.h"
#include "cache/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a folder for each test -------------------------------------------------------------------------------------- */

#define LIMIT (64 << 20)
#define NOBODY 65534

static char root[64];   /* made for the test */
static char folder[80]; /* the cache's, below root; not made yet */
static char logged[4096];
static int log_lines;

static void log_append(void *user, const char *line)
{
    (void)user;
    log_lines++;
    snprintf(logged + strlen(logged), sizeof logged - strlen(logged), "%s|", line);
}

static const krf__log test_log = {.function = log_append};

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

static int remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/krf-test-cache-XXXXXX");
    if (mkdtemp(root) == NULL) {
        return 1;
    }
    snprintf(folder, sizeof folder, "%s/cache", root);
    logged[0] = '\0';
    log_lines = 0;
    unsetenv("KRF_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    krf__mem_fail_at(0);
    return remove_tree(root);
}

static bool exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static krf__disk_cache *open_cache(krf_cache_mode mode)
{
    krf__disk_cache *cache = krf__disk_cache_create(folder, mode, LIMIT, &test_log);
    assert_non_null(cache);
    return cache;
}

static krf__disk_counters counters_of(krf__disk_cache *cache)
{
    krf__disk_counters counters;
    krf__disk_cache_counters(cache, &counters);
    return counters;
}

/* ---- keys and payloads that say what they are -------------------------------------------------------------------- */

/* The payload of key k is made from k and `bytes` alone, so that any reader can tell whether it is the right one. */
static size_t key_of(int k, char key[64])
{
    return (size_t)snprintf(key, 64, "source of kernel %05d, options, sm_90", k);
}

static unsigned char *payload_of(int k, size_t bytes)
{
    unsigned char *payload = malloc(bytes + 1);
    for (size_t i = 0; payload != NULL && i < bytes; i++) {
        payload[i] = (unsigned char)((size_t)k * 31 + i * 7 + i / 251);
    }
    return payload;
}

static void put(krf__disk_cache *cache, int k, size_t bytes)
{
    char key[64];
    unsigned char *payload = payload_of(k, bytes);
    if (payload != NULL) {
        krf__disk_cache_put(cache, key, key_of(k, key), payload, bytes);
    }
    free(payload);
}

/* 1: the payload of k, 0: a miss, -1: something wrong. */
static int get(krf__disk_cache *cache, int k, size_t bytes)
{
    char key[64];
    void *data;
    size_t size;
    if (!krf__disk_cache_get(cache, key, key_of(k, key), &data, &size)) {
        return data == NULL && size == 0 ? 0 : -1;
    }
    unsigned char *payload = payload_of(k, bytes);
    bool same = payload != NULL && size == bytes && memcmp(data, payload, bytes) == 0;
    free(payload);
    krf__mem_free(data);
    return same ? 1 : -1;
}

/* ---- the files --------------------------------------------------------------------------------------------------- */

typedef struct found {
    char paths[512][128];
    int count;
    long long bytes;
} found;

/* All files whose names end so. */
static void find_files(const char *path, const char *suffix, found *all)
{
    DIR *open_folder = opendir(path);
    if (open_folder == NULL) {
        return;
    }
    for (const struct dirent *item; (item = readdir(open_folder)) != NULL;) {
        char below[512];
        struct stat about;
        snprintf(below, sizeof below, "%s/%s", path, item->d_name);
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0 || lstat(below, &about) != 0) {
            continue;
        }
        size_t length = strlen(below), end = strlen(suffix);
        if (S_ISDIR(about.st_mode)) {
            find_files(below, suffix, all);
        } else if (length >= end && strcmp(below + length - end, suffix) == 0 && all->count < 512) {
            snprintf(all->paths[all->count++], sizeof all->paths[0], "%.127s", below);
            all->bytes += about.st_size;
        }
    }
    closedir(open_folder);
}

static found entries_in(const char *path)
{
    found all = {.count = 0};
    find_files(path, ".krf", &all);
    return all;
}

/* The file of entry k, which is known by its key. */
static void path_of_entry(int k, char path[128])
{
    char key[64];
    size_t key_bytes = key_of(k, key);
    found all = entries_in(folder);
    for (int i = 0; i < all.count; i++) {
        char text[40 + 64] = {0};
        FILE *file = fopen(all.paths[i], "rb");
        assert_non_null(file);
        size_t got = fread(text, 1, sizeof text, file);
        fclose(file);
        if (got >= 40 + key_bytes && memcmp(text + 40, key, key_bytes) == 0) {
            memcpy(path, all.paths[i], 128);
            return;
        }
    }
    fail_msg("no file of entry %d", k);
}

static size_t slurp(const char *path, unsigned char *data, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(data, 1, size, file);
    fclose(file);
    return got;
}

static void spill(const char *path, const unsigned char *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static void set_age(const char *path, int seconds)
{
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static long age_of(const char *path)
{
    struct stat about;
    struct timespec now;
    assert_int_equal(lstat(path, &about), 0);
    clock_gettime(CLOCK_REALTIME, &now);
    return (long)(now.tv_sec - about.st_mtim.tv_sec);
}

/* Runs a function in a process of its own: its result, or minus the signal that ended it. */
static int in_child(int (*body)(int argument), int argument)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(body(argument));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- disk: the ordinary ------------------------------------------------------------------------------------------ */

static void disk_roundtrip(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 40, 41, 4096, 1 << 20};
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    assert_int_equal(get(cache, 0, 1), 0);
    assert_false(exists(folder)); /* nothing is created before the first write */
    for (int k = 0; k < 6; k++) {
        assert_int_equal(get(cache, k, sizes[k]), 0);
        put(cache, k, sizes[k]);
        assert_int_equal(get(cache, k, sizes[k]), 1);
    }
    krf__disk_cache_put(cache, NULL, 0, "none", 4); /* a key without bytes is a key */
    void *data;
    size_t bytes;
    assert_true(krf__disk_cache_get(cache, NULL, 0, &data, &bytes));
    assert_int_equal(bytes, 4);
    assert_memory_equal(data, "none", 4);
    krf__mem_free(data);

    krf__disk_counters counters = counters_of(cache);
    assert_int_equal(counters.faults, 0);
    assert_int_equal(counters.evictions, 0);
    assert_int_equal(counters.bytes_written, entries_in(folder).bytes);
    assert_int_equal(counters.bytes_read, counters.bytes_written);
    krf__disk_cache_destroy(cache);

    cache = open_cache(KRF_CACHE_ON); /* another process, in effect */
    for (int k = 0; k < 6; k++) {
        assert_int_equal(get(cache, k, sizes[k]), 1);
    }
    put(cache, 2, 77); /* the last writer wins */
    assert_int_equal(get(cache, 2, 77), 1);
    assert_int_equal(entries_in(folder).count, 7);

    char key[64];
    krf__disk_cache_drop(cache, key, key_of(2, key));
    assert_int_equal(get(cache, 2, 77), 0);
    assert_int_equal(entries_in(folder).count, 6);
    assert_int_equal(counters_of(cache).faults, 1);
    krf__disk_cache_destroy(cache);
    krf__disk_cache_destroy(NULL);
}

static void disk_is_private(void **state)
{
    (void)state;
    struct stat about;
    mode_t mask = umask(0);
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    put(cache, 1, 10);
    umask(mask);
    found all = entries_in(folder);
    assert_int_equal(all.count, 1);
    assert_int_equal(stat(all.paths[0], &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    for (char *slash; (slash = strrchr(all.paths[0], '/')) - all.paths[0] > (long)strlen(root);) {
        *slash = '\0';
        assert_int_equal(stat(all.paths[0], &about), 0);
        assert_int_equal(about.st_mode & 07777, 0700);
    }
    krf__disk_cache_destroy(cache);
}

static void disk_modes(void **state)
{
    (void)state;
    krf__disk_cache *on = open_cache(KRF_CACHE_ON), *off = open_cache(KRF_CACHE_OFF);
    krf__disk_cache *read_only = open_cache(KRF_CACHE_READ_ONLY);
    put(off, 1, 100);
    put(read_only, 1, 100);
    assert_false(exists(folder));
    put(on, 1, 100);
    assert_int_equal(get(on, 1, 100), 1);
    assert_int_equal(get(read_only, 1, 100), 1);
    assert_int_equal(get(off, 1, 100), 0);

    char path[128];
    path_of_entry(1, path);
    set_age(path, 10000);
    assert_int_equal(get(read_only, 1, 100), 1);
    assert_true(age_of(path) >= 10000);
    spill(path, (const unsigned char *)"damaged", 7);
    assert_int_equal(get(read_only, 1, 100), 0);
    assert_true(exists(path)); /* read-only: not even a damaged entry is removed */
    assert_int_equal(counters_of(read_only).faults, 1);
    assert_int_equal(get(on, 1, 100), 0);
    assert_false(exists(path));
    krf__disk_cache_destroy(on);
    krf__disk_cache_destroy(off);
    krf__disk_cache_destroy(read_only);
}

static void check_place(const char *expected)
{
    krf__disk_cache *cache = krf__disk_cache_create(NULL, KRF_CACHE_ON, LIMIT, &test_log);
    char path[256];
    snprintf(path, sizeof path, "%s/%s/v1", root, expected);
    assert_false(exists(path));
    put(cache, 1, 10);
    assert_true(exists(path));
    assert_int_equal(get(cache, 1, 10), 1);
    krf__disk_cache_destroy(cache);
    assert_int_equal(log_lines, 0);
}

static void disk_folder_from_the_environment(void **state)
{
    (void)state;
    char path[128];
    setenv("HOME", root, 1);
    check_place(".cache/kerfuse");
    setenv("XDG_CACHE_HOME", "relative", 1); /* is to be ignored, says its specification */
    assert_int_equal(remove_tree((snprintf(path, sizeof path, "%s/.cache", root), path)), 0);
    check_place(".cache/kerfuse");
    snprintf(path, sizeof path, "%s/xdg", root);
    setenv("XDG_CACHE_HOME", path, 1);
    check_place("xdg/kerfuse");
    snprintf(path, sizeof path, "%s/own", root);
    setenv("KRF_CACHE_DIR", path, 1);
    check_place("own");
}

static void disk_without_a_home(void **state)
{
    (void)state;
    krf__disk_cache *cache = krf__disk_cache_create(NULL, KRF_CACHE_ON, LIMIT, &test_log);
    assert_non_null(cache);
    put(cache, 1, 10);
    assert_int_equal(get(cache, 1, 10), 0);
    char key[64];
    krf__disk_cache_drop(cache, key, key_of(1, key));
    assert_int_equal(log_lines, 1);
    assert_non_null(strstr(logged, "HOME"));
    assert_int_equal(counters_of(cache).faults, 0);
    krf__disk_cache_destroy(cache);

    setenv("HOME", "", 1);
    cache = krf__disk_cache_create(NULL, KRF_CACHE_ON, LIMIT, NULL); /* no log either */
    put(cache, 1, 10);
    assert_int_equal(get(cache, 1, 10), 0);
    krf__disk_cache_destroy(cache);
}

/* ---- disk: damaged entries --------------------------------------------------------------------------------------- */

enum { SMALL = 50 };

/* Writes an entry and reads its file. */
static size_t small_entry(krf__disk_cache *cache, char path[128], unsigned char bytes[256])
{
    put(cache, 1, SMALL);
    path_of_entry(1, path);
    return slurp(path, bytes, 256);
}

/* What is in the file now must be a miss that counts, and after it the file must be gone. */
static void check_fault(krf__disk_cache *cache, const char *path)
{
    int64_t before = counters_of(cache).faults;
    assert_int_equal(get(cache, 1, SMALL), 0);
    assert_int_equal(counters_of(cache).faults, before + 1);
    assert_false(exists(path));
}

static void disk_truncated_at_every_byte(void **state)
{
    (void)state;
    char path[128];
    unsigned char bytes[256] = {0};
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    size_t size = small_entry(cache, path, bytes);
    assert_true(size > 40 + SMALL && size < 200);
    for (size_t cut = 0; cut < size; cut++) {
        spill(path, bytes, cut);
        check_fault(cache, path);
    }
    for (size_t longer = size + 1; longer < size + 50; longer++) {
        spill(path, bytes, longer);
        check_fault(cache, path);
    }
    spill(path, bytes, size);
    assert_int_equal(get(cache, 1, SMALL), 1);
    krf__disk_cache_destroy(cache);
}

static void disk_every_bit_flipped(void **state)
{
    (void)state;
    char path[128];
    unsigned char bytes[256] = {0};
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    size_t size = small_entry(cache, path, bytes);
    for (size_t bit = 0; bit < size * 8; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        spill(path, bytes, size);
        check_fault(cache, path);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    krf__disk_cache_destroy(cache);
}

static void disk_swapped_files(void **state)
{
    (void)state;
    char a[128], b[128], aside[160];
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    put(cache, 1, SMALL);
    put(cache, 2, SMALL); /* same lengths, each entry valid in itself */
    path_of_entry(1, a);
    path_of_entry(2, b);
    snprintf(aside, sizeof aside, "%s/aside", root);
    assert_int_equal(rename(a, aside), 0);
    assert_int_equal(rename(b, a), 0);
    assert_int_equal(rename(aside, b), 0);
    assert_int_equal(get(cache, 1, SMALL), 0);
    assert_int_equal(get(cache, 2, SMALL), 0);
    assert_int_equal(counters_of(cache).faults, 2);
    krf__disk_cache_destroy(cache);
}

static void disk_other_schema(void **state)
{
    (void)state;
    char path[128];
    unsigned char bytes[256] = {0};
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    size_t size = small_entry(cache, path, bytes);
    assert_int_equal(bytes[8], 1);
    for (int schema = 0; schema < 4; schema++) {
        bytes[8] = (unsigned char)schema;
        spill(path, bytes, size);
        if (schema == 1) {
            assert_int_equal(get(cache, 1, SMALL), 1);
        } else {
            check_fault(cache, path);
        }
    }
    krf__disk_cache_destroy(cache);
}

static void disk_something_else_in_the_place(void **state)
{
    (void)state;
    char path[128], target[160];
    unsigned char bytes[256] = {0};
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    size_t size = small_entry(cache, path, bytes);

    snprintf(target, sizeof target, "%s/target", root); /* a valid entry behind a link is not taken */
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    check_fault(cache, path);
    assert_true(exists(target));

    alarm(20); /* opening a pipe must not wait */
    assert_int_equal(mkfifo(path, 0600), 0);
    check_fault(cache, path);
    alarm(0);

    spill(path, bytes, size);
    assert_int_equal(chmod(path, 0666), 0);
    check_fault(cache, path);

    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(get(cache, 1, SMALL), 0);
    put(cache, 1, SMALL);
    assert_int_equal(get(cache, 1, SMALL), 0);
    found left = {.count = 0};
    find_files(folder, ".tmp", &left);
    assert_int_equal(left.count, 0);
    krf__disk_cache_destroy(cache);
}

static void disk_foreign_owner(void **state)
{
    (void)state;
    char path[128];
    unsigned char bytes[256];
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    small_entry(cache, path, bytes);
    if (geteuid() != 0 || chown(path, NOBODY, NOBODY) != 0) {
        krf__disk_cache_destroy(cache);
        print_message("only root can give a file away: skipped\n");
        skip();
    }
    check_fault(cache, path);
    put(cache, 1, SMALL);
    assert_int_equal(get(cache, 1, SMALL), 1);
    assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
    assert_int_equal(get(cache, 1, SMALL), 0);
    put(cache, 2, SMALL);
    assert_int_equal(entries_in(folder).count, 1);
    krf__disk_cache_destroy(cache);
}

/* ---- disk: folders that will not do ------------------------------------------------------------------------------ */

/* The folder holds entry 1 and must be neither read nor written. */
static void check_folder_refused(void)
{
    log_lines = 0;
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    int before = entries_in(root).count;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(get(cache, 1, SMALL), 0);
        put(cache, 2 + i, SMALL);
    }
    assert_int_equal(entries_in(root).count, before);
    assert_int_equal(log_lines, 1);
    assert_true(counters_of(cache).faults >= 3);
    krf__disk_cache_destroy(cache);
}

static void disk_folder_open_to_others(void **state)
{
    (void)state;
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    char path[128], version[160];
    put(cache, 1, SMALL);
    path_of_entry(1, path);
    assert_int_equal(chmod(folder, 0777), 0);
    check_folder_refused();
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(get(cache, 1, SMALL), 1);

    snprintf(version, sizeof version, "%s/v1", folder); /* the folders in it are held to the same rule */
    assert_int_equal(chmod(version, 0777), 0);
    check_folder_refused();
    assert_int_equal(chmod(version, 0755), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(chmod(path, 0770), 0);
    assert_int_equal(get(cache, 1, SMALL), 0);
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(get(cache, 1, SMALL), 1);
    krf__disk_cache_destroy(cache);
}

static void disk_folder_is_a_link(void **state)
{
    (void)state;
    char real[160];
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    put(cache, 1, SMALL);
    krf__disk_cache_destroy(cache);
    snprintf(real, sizeof real, "%s/real", root);
    assert_int_equal(rename(folder, real), 0);
    assert_int_equal(symlink(real, folder), 0);
    check_folder_refused();
    assert_int_equal(unlink(folder), 0);
    assert_int_equal(rename(real, folder), 0);

    char version[160];
    snprintf(version, sizeof version, "%s/v1", folder);
    assert_int_equal(rename(version, real), 0);
    assert_int_equal(symlink(real, version), 0);
    check_folder_refused();
    assert_int_equal(unlink(version), 0);

    spill(version, (const unsigned char *)"a file", 6);
    check_folder_refused();
}

/* Root may write anywhere: what a folder forbids can only be seen as somebody else. 99: that is not possible. */
static int become_nobody(void)
{
    if (geteuid() != 0) {
        return 0;
    }
    return chown(root, NOBODY, NOBODY) == 0 && setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0
               ? 0
               : 99;
}

static int use_read_only_folder(int argument)
{
    (void)argument;
    if (become_nobody() != 0) {
        return 99;
    }
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, LIMIT, &test_log);
    put(cache, 1, SMALL);
    if (get(cache, 1, SMALL) != 1) {
        return 1;
    }
    found all = entries_in(folder);
    char *path = all.paths[0];
    while (strlen(path) > strlen(root)) { /* the bucket, v1, the folder, and what it lies in */
        *strrchr(path, '/') = '\0';
        if (chmod(path, 0500) != 0) {
            return 2;
        }
    }
    put(cache, 1, SMALL);
    put(cache, 2, SMALL);
    krf__disk_counters counters;
    krf__disk_cache_counters(cache, &counters);
    bool still = get(cache, 1, SMALL) == 1 && get(cache, 2, SMALL) == 0;
    krf__disk_cache_destroy(cache);

    /* The same where there is no cache yet and none can be made. */
    snprintf(folder, sizeof folder, "%s/other", root);
    cache = krf__disk_cache_create(folder, KRF_CACHE_ON, LIMIT, &test_log);
    put(cache, 1, SMALL);
    bool none = get(cache, 1, SMALL) == 0 && !exists(folder);
    krf__disk_cache_destroy(cache);
    if (!still || !none) {
        return 3;
    }
    return counters.faults == 2 && log_lines == 2 ? 0 : 4;
}

static void restore_permissions(const char *path)
{
    chmod(path, 0700);
    DIR *open_folder = opendir(path);
    assert_non_null(open_folder);
    for (const struct dirent *item; (item = readdir(open_folder)) != NULL;) {
        char below[512];
        struct stat about;
        snprintf(below, sizeof below, "%s/%s", path, item->d_name);
        if (item->d_name[0] != '.' && lstat(below, &about) == 0 && S_ISDIR(about.st_mode)) {
            restore_permissions(below);
        }
    }
    closedir(open_folder);
}

static void disk_folder_read_only(void **state)
{
    (void)state;
    int result = in_child(use_read_only_folder, 0);
    restore_permissions(root);
    if (result == 99) {
        print_message("root may write everywhere, and cannot become another user here: skipped\n");
        skip();
    }
    assert_int_equal(result, 0);
}

/* As a set-uid program: the user who started it must not choose where code is loaded from. */
static int use_borrowed_rights(int argument)
{
    (void)argument;
    if (setresuid(NOBODY, 0, 0) != 0) {
        return 99;
    }
    setenv("HOME", root, 1);
    krf__disk_cache *cache = krf__disk_cache_create(NULL, KRF_CACHE_ON, LIMIT, &test_log);
    put(cache, 1, SMALL);
    bool none = get(cache, 1, SMALL) == 0 && entries_in(root).count == 0 && log_lines == 1;
    krf__disk_cache_destroy(cache);
    cache = krf__disk_cache_create(folder, KRF_CACHE_ON, LIMIT, &test_log); /* unless the program itself says so */
    put(cache, 1, SMALL);
    bool own = get(cache, 1, SMALL) == 1;
    krf__disk_cache_destroy(cache);
    return none && own ? 0 : 1;
}

static void disk_not_with_borrowed_rights(void **state)
{
    (void)state;
    int result = geteuid() == 0 ? in_child(use_borrowed_rights, 0) : 99;
    if (result == 99) {
        print_message("only root can have another real user: skipped\n");
        skip();
    }
    assert_int_equal(result, 0);
}

static void disk_folder_vanishes(void **state)
{
    (void)state;
    char path[128];
    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    put(cache, 1, SMALL);
    assert_int_equal(remove_tree(folder), 0);
    assert_int_equal(get(cache, 1, SMALL), 0);
    put(cache, 1, SMALL);
    assert_int_equal(get(cache, 1, SMALL), 1);

    path_of_entry(1, path); /* a bucket alone */
    *strrchr(path, '/') = '\0';
    assert_int_equal(remove_tree(path), 0);
    assert_int_equal(get(cache, 1, SMALL), 0);
    put(cache, 1, SMALL);
    assert_int_equal(get(cache, 1, SMALL), 1);

    assert_int_equal(remove_tree(folder), 0); /* and a new one by somebody else */
    krf__disk_cache *other = open_cache(KRF_CACHE_ON);
    put(other, 2, SMALL);
    assert_int_equal(get(cache, 2, SMALL), 1);
    assert_int_equal(counters_of(cache).faults, 0);
    assert_int_equal(log_lines, 0);
    krf__disk_cache_destroy(cache);
    krf__disk_cache_destroy(other);
}

/* ---- disk: no room ----------------------------------------------------------------------------------------------- */

/* SIGXFSZ has its default effect here, the end of the process. */
static int write_beyond_the_limit(int argument)
{
    (void)argument;
    const struct rlimit limit = {.rlim_cur = 8192, .rlim_max = 8192};
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, LIMIT, &test_log);
    put(cache, 1, 1000);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 1;
    }
    put(cache, 1, 20000);
    put(cache, 2, 1 << 20);
    put(cache, 3, 1000);
    krf__disk_counters counters;
    krf__disk_cache_counters(cache, &counters);
    bool right = get(cache, 1, 1000) == 1 && get(cache, 2, 1 << 20) == 0 && get(cache, 3, 1000) == 1;
    krf__disk_cache_destroy(cache);
    return right && counters.faults == 2 && log_lines == 1 ? 0 : 2;
}

static void disk_full(void **state)
{
    (void)state;
    assert_int_equal(in_child(write_beyond_the_limit, 0), 0);
    assert_int_equal(entries_in(folder).count, 2);
    found left = {.count = 0};
    find_files(folder, ".tmp", &left);
    assert_int_equal(left.count, 0);
}

static void disk_eviction_keeps_the_limit(void **state)
{
    (void)state;
    enum { ROOM = 100000 };
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, ROOM, &test_log);
    for (int k = 0; k < 60; k++) {
        put(cache, k, 5000);
        assert_int_equal(get(cache, k, 5000), 1);
        assert_true(entries_in(folder).bytes <= ROOM);
    }
    found all = entries_in(folder);
    assert_true(all.bytes > ROOM * 6 / 10); /* not more than necessary */
    assert_int_equal(counters_of(cache).evictions, 60 - all.count);

    put(cache, 100, ROOM); /* would push out everything and itself */
    assert_int_equal(get(cache, 100, ROOM), 0);
    assert_int_equal(entries_in(folder).count, all.count);
    assert_int_equal(counters_of(cache).faults, 0);
    krf__disk_cache_destroy(cache);

    /* Two processes: each notices in time what the other writes. */
    assert_int_equal(remove_tree(folder), 0);
    krf__disk_cache *a = krf__disk_cache_create(folder, KRF_CACHE_ON, ROOM, &test_log);
    krf__disk_cache *b = krf__disk_cache_create(folder, KRF_CACHE_ON, ROOM, &test_log);
    for (int k = 200; k < 260; k++) {
        put(k % 2 == 0 ? a : b, k, 5000);
        assert_true(entries_in(folder).bytes <= ROOM + 2 * (ROOM / 8 + 6000));
    }
    krf__disk_cache_destroy(a);
    krf__disk_cache_destroy(b);

    cache = krf__disk_cache_create(folder, KRF_CACHE_ON, 20000, &test_log); /* a lower limit holds from the first put */
    put(cache, 300, 5000);
    assert_true(entries_in(folder).bytes <= 20000);
    assert_int_equal(get(cache, 300, 5000), 1);
    krf__disk_cache_destroy(cache);
}

static void disk_eviction_by_last_use(void **state)
{
    (void)state;
    char path[128];
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, 100000, &test_log);
    for (int k = 0; k < 10; k++) {
        put(cache, k, 9000);
        path_of_entry(k, path);
        set_age(path, 100000 - k * 1000);
    }
    path_of_entry(0, path);
    assert_int_equal(get(cache, 0, 9000), 1); /* the oldest is of use again */
    assert_true(age_of(path) < 100);
    set_age(path, 1800);
    assert_int_equal(get(cache, 0, 9000), 1);
    assert_true(age_of(path) >= 1800); /* at most once an hour */
    path_of_entry(9, path);
    set_age(path, -1000000); /* a clock was set back: it would never grow old */
    assert_int_equal(get(cache, 9, 9000), 1);
    assert_true(age_of(path) > -100);

    put(cache, 10, 9000);
    put(cache, 11, 9000);
    assert_true(counters_of(cache).evictions > 0);
    assert_int_equal(get(cache, 0, 9000), 1);
    assert_int_equal(get(cache, 11, 9000), 1);
    assert_int_equal(get(cache, 1, 9000), 0);
    assert_int_equal(get(cache, 2, 9000), 0);
    krf__disk_cache_destroy(cache);
}

/* Where file systems' clocks tick in milliseconds, or clocks differ, what was just written is no younger than the rest. */
static void disk_eviction_spares_what_was_just_written(void **state)
{
    (void)state;
    char path[128];
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, 100000, &test_log);
    for (int k = 0; k < 40; k++) {
        put(cache, k, 9000);
        assert_int_equal(get(cache, k, 9000), 1);
        path_of_entry(k, path);
        set_age(path, -50);
    }
    assert_true(entries_in(folder).bytes <= 100000);
    assert_true(counters_of(cache).evictions > 0);
    krf__disk_cache_destroy(cache);
}

/* ---- disk: many at once ------------------------------------------------------------------------------------------ */

enum { RACE_KEYS = 20, RACE_BYTES = 30000 };

static int race(int seed)
{
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, LIMIT, NULL);
    unsigned random = (unsigned)seed + 1;
    int wrong = 0;
    for (int i = 0; i < 150; i++) {
        random = random * 1664525 + 1013904223;
        int k = (int)(random >> 16) % RACE_KEYS;
        int got = get(cache, k, RACE_BYTES);
        wrong += got < 0;
        if (got == 0 || i % 5 == 0) {
            put(cache, k, RACE_BYTES);
            wrong += get(cache, k, RACE_BYTES) != 1;
        }
    }
    krf__disk_counters counters;
    krf__disk_cache_counters(cache, &counters);
    krf__disk_cache_destroy(cache);
    return wrong > 0 ? 1 : counters.faults > 0 ? 2 : 0;
}

static void disk_eight_processes(void **state)
{
    (void)state;
    pid_t children[8];
    for (int i = 0; i < 8; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            alarm(60);
            _exit(race(i));
        }
    }
    int failures = 0;
    for (int i = 0; i < 8; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        failures += status != 0;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(entries_in(folder).count, RACE_KEYS);
}

/* A byte tells whoever reads from `started` that one entry is there. */
static void write_for_ever(int started)
{
    alarm(60);
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, LIMIT, NULL);
    for (int i = 0;; i++) {
        put(cache, i % 16, 100000);
        if (i == 0 && write(started, "", 1) != 1) {
            _exit(1);
        }
    }
}

/* Every file that bears a final name is whole: the number of them. */
static int check_all_whole(void)
{
    krf__disk_cache *cache = open_cache(KRF_CACHE_READ_ONLY);
    int hits = 0;
    for (int k = 0; k < 16; k++) {
        int got = get(cache, k, 100000);
        assert_true(got >= 0);
        hits += got;
    }
    assert_int_equal(counters_of(cache).faults, 0);
    assert_int_equal(hits, entries_in(folder).count);
    krf__disk_cache_destroy(cache);
    return hits;
}

/* Every other time the clock starts at the first entry: on a busy machine a writer may get no further in all of its time. */
static void disk_writer_is_killed(void **state)
{
    (void)state;
    unsigned random = (unsigned)getpid();
    for (int i = 0; i < 50; i++) {
        int started[2];
        char byte;
        assert_int_equal(pipe(started), 0);
        pid_t child = fork();
        assert_true(child >= 0); /* kill(-1) would be the end of everything else */
        if (child == 0) {
            write_for_ever(started[1]);
        }
        close(started[1]);
        if (i % 2 == 1) {
            assert_int_equal(read(started[0], &byte, 1), 1);
        }
        random = random * 1664525 + 1013904223;
        usleep((random >> 16) % 9000);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        close(started[0]);
        check_all_whole();
    }
    assert_true(check_all_whole() > 0);
}

/* In place of the C library's, for the library's call: a moment that no clock would find for certain. */
static bool killed_before_renaming;

int renameat(int from, const char *old, int to, const char *new)
{
    if (killed_before_renaming) {
        raise(SIGKILL);
    }
    return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

static int write_all_but_the_name(int argument)
{
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, LIMIT, NULL);
    killed_before_renaming = true;
    put(cache, argument, 100000);
    return 0;
}

/* What a killed writer leaves is removed by the first put of a later process, an hour on. */
static void disk_sweeps_temporary_files(void **state)
{
    (void)state;
    static found left;
    assert_int_equal(in_child(write_all_but_the_name, 0), -SIGKILL);
    find_files(folder, ".tmp", &left);
    assert_int_equal(left.count, 1);
    assert_int_equal(entries_in(folder).count, 0);
    char other[160];
    snprintf(other, sizeof other, "%s", left.paths[0]);
    strcpy(strrchr(other, '/'), "/users.tmp");
    spill(other, (const unsigned char *)"not ours", 8);
    set_age(other, 100000);

    krf__disk_cache *cache = open_cache(KRF_CACHE_ON);
    put(cache, 50, 10);
    assert_true(exists(left.paths[0])); /* its writer may be at work */
    krf__disk_cache_destroy(cache);
    set_age(left.paths[0], 3700);
    cache = open_cache(KRF_CACHE_ON);
    put(cache, 51, 10);
    assert_false(exists(left.paths[0]));
    assert_true(exists(other));
    krf__disk_cache_destroy(cache);
}

static void *disk_thread(void *argument)
{
    krf__disk_cache *cache = argument;
    long wrong = 0;
    for (int i = 0; i < 300; i++) {
        int k = i % 7;
        int got = get(cache, k, 3000);
        wrong += got < 0;
        if (got == 0) {
            put(cache, k, 3000);
        }
    }
    return wrong == 0 ? NULL : cache;
}

static void disk_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, 14000, NULL); /* evicts all the time */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, disk_thread, cache), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_true(counters_of(cache).evictions > 0);
    assert_int_equal(counters_of(cache).faults, 0);
    krf__disk_cache_destroy(cache);
}

static void disk_without_memory(void **state)
{
    (void)state;
    int misses = 0, got = 0, failed_creates = 0;
    for (long n = 1; n < 60; n++) {
        unsigned char payload[SMALL] = {7};
        void *data = NULL;
        size_t bytes = 0;
        assert_true(!exists(folder) || remove_tree(folder) == 0);
        krf__mem_fail_at(n);
        krf__disk_cache *cache = krf__disk_cache_create(folder, KRF_CACHE_ON, LIMIT, &test_log);
        failed_creates += cache == NULL;
        bool hit = false;
        if (cache != NULL) {
            krf__disk_cache_put(cache, "key", 3, payload, sizeof payload);
            hit = krf__disk_cache_get(cache, "key", 3, &data, &bytes);
        }
        krf__mem_fail_at(0);
        if (hit) {
            got++;
            assert_int_equal(bytes, sizeof payload);
            assert_memory_equal(data, payload, sizeof payload);
        } else {
            assert_int_equal(got, 0); /* once there is enough, more does not harm */
            misses++;
        }
        krf__mem_free(data);
        krf__disk_cache_destroy(cache);
    }
    assert_int_equal(failed_creates, 2);
    assert_true(misses > 5 && got > 30);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef struct maker {
    krf__memory_cache *cache;
    pthread_barrier_t *start;
    atomic_int made, failures_left;
    int value;
    /* of one thread */
    atomic_int hits, failed, wrong;
} maker;

static krf_status make_slowly(void *user, void **value)
{
    maker *m = user;
    usleep(20000);
    if (atomic_fetch_sub(&m->failures_left, 1) > 0) {
        *value = m; /* must not be stored */
        return krf__fail(KRF_E_COMPILE, "does not compile");
    }
    atomic_fetch_add(&m->made, 1);
    *value = &m->value;
    return KRF_OK;
}

static void *get_same(void *argument)
{
    maker *m = argument;
    void *value;
    bool hit;
    pthread_barrier_wait(m->start);
    krf_status status = krf__memory_cache_get(m->cache, "key", 3, make_slowly, m, &value, &hit);
    if (status == KRF_OK) {
        atomic_fetch_add(&m->hits, hit);
        atomic_fetch_add(&m->wrong, value != &m->value);
    } else {
        atomic_fetch_add(&m->failed, 1);
        bool told = strstr(krf_error_message(), "compile") != NULL;
        atomic_fetch_add(&m->wrong, status != KRF_E_COMPILE || value != NULL || hit || !told);
    }
    return NULL;
}

static void count_value(void *user, void *value)
{
    assert_non_null(value);
    ++*(int *)user;
}

static void eight_threads(int failures)
{
    pthread_t threads[8];
    pthread_barrier_t start;
    maker m = {.cache = krf__memory_cache_create(), .start = &start, .failures_left = failures};
    assert_non_null(m.cache);
    pthread_barrier_init(&start, NULL, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, get_same, &m), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&start);
    assert_int_equal(m.made, 1);
    assert_int_equal(m.failed, failures);
    assert_int_equal(m.hits, 7 - failures);
    assert_int_equal(m.wrong, 0);
    int freed = 0;
    krf__memory_cache_destroy(m.cache, count_value, &freed);
    assert_int_equal(freed, 1);
}

static void memory_is_made_once(void **state)
{
    (void)state;
    eight_threads(0);
}

static void memory_failed_make_is_retried_by_those_who_wait(void **state)
{
    (void)state;
    eight_threads(3);
}

static void memory_failed_make_is_retried(void **state)
{
    (void)state;
    maker m = {.cache = krf__memory_cache_create(), .failures_left = 2};
    void *value;
    bool hit = true;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(krf__memory_cache_get(m.cache, "key", 3, make_slowly, &m, &value, &hit), KRF_E_COMPILE);
        assert_null(value);
        assert_false(hit);
    }
    assert_int_equal(krf__memory_cache_get(m.cache, "key", 3, make_slowly, &m, &value, NULL), KRF_OK);
    assert_ptr_equal(value, &m.value);
    assert_int_equal(krf__memory_cache_get(m.cache, "key", 3, make_slowly, &m, &value, &hit), KRF_OK);
    assert_ptr_equal(value, &m.value);
    assert_true(hit);
    assert_int_equal(m.made, 1);
    assert_int_equal(krf__memory_cache_get(m.cache, "kez", 3, make_slowly, &m, &value, &hit), KRF_OK);
    assert_false(hit);
    assert_int_equal(m.made, 2);
    krf__memory_cache_destroy(m.cache, NULL, NULL);
    krf__memory_cache_destroy(NULL, NULL, NULL);
}

/* A make may use the cache itself: no lock is held. */
static krf_status make_from_another(void *user, void **value)
{
    maker *m = user;
    return krf__memory_cache_get(m->cache, "inner", 5, make_slowly, m, value, NULL);
}

static void memory_make_without_a_lock(void **state)
{
    (void)state;
    maker m = {.cache = krf__memory_cache_create()};
    void *value;
    alarm(20);
    assert_int_equal(krf__memory_cache_get(m.cache, "outer", 5, make_from_another, &m, &value, NULL), KRF_OK);
    alarm(0);
    assert_ptr_equal(value, &m.value);
    krf__memory_cache_destroy(m.cache, NULL, NULL);
}

enum { MANY = 37 };

typedef struct many {
    krf__memory_cache *cache;
    atomic_int made[MANY], tries[MANY];
    int values[MANY];
    atomic_int seeds, wrong;
} many;

typedef struct one_of_many {
    many *all;
    int k;
} one_of_many;

static krf_status make_one(void *user, void **value)
{
    const one_of_many *one = user;
    if (atomic_fetch_add(&one->all->tries[one->k], 1) % 4 < 2) { /* half of them fail at first */
        return KRF_E_COMPILE;
    }
    atomic_fetch_add(&one->all->made[one->k], 1);
    one->all->values[one->k] = one->k * 3; /* what a make writes, all who get the value must see */
    *value = &one->all->values[one->k];
    return KRF_OK;
}

static void *get_many(void *argument)
{
    many *all = argument;
    unsigned random = (unsigned)atomic_fetch_add(&all->seeds, 1);
    for (int i = 0; i < 500; i++) {
        random = random * 1664525 + 1013904223;
        one_of_many one = {all, (int)(random >> 16) % MANY};
        void *value;
        krf_status status = krf__memory_cache_get(all->cache, &one.k, sizeof one.k, make_one, &one, &value, NULL);
        if (status == KRF_OK) {
            const int *number = value;
            atomic_fetch_add(&all->wrong, number != &all->values[one.k] || *number != one.k * 3);
        }
    }
    return NULL;
}

static void memory_many_keys(void **state)
{
    (void)state;
    pthread_t threads[8];
    static many all;
    all.cache = krf__memory_cache_create();
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, get_many, &all), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(all.wrong, 0);
    for (int k = 0; k < MANY; k++) {
        assert_int_equal(all.made[k], 1);
    }
    int freed = 0;
    krf__memory_cache_destroy(all.cache, count_value, &freed);
    assert_int_equal(freed, MANY);
}

static krf_status make_at_once(void *user, void **value)
{
    *value = user;
    return KRF_OK;
}

static void memory_without_memory(void **state)
{
    (void)state;
    bool done = false;
    long n = 0;
    while (!done) {
        assert_true(++n < 100);
        int freed = 0, stored = 0;
        krf__mem_fail_at(n);
        krf__memory_cache *cache = krf__memory_cache_create();
        done = cache != NULL;
        for (int k = 0; cache != NULL && k < 14; k++) { /* more than the first table holds */
            void *value;
            krf_status status = krf__memory_cache_get(cache, &k, sizeof k, make_at_once, &stored, &value, NULL);
            assert_true(status == KRF_OK || (status == KRF_E_MEMORY && value == NULL));
            stored += status == KRF_OK;
            done = done && status == KRF_OK;
        }
        krf__mem_fail_at(0);
        krf__memory_cache_destroy(cache, count_value, &freed);
        assert_int_equal(freed, stored);
    }
    assert_true(n > 28);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(disk_roundtrip),
        TEST(disk_is_private),
        TEST(disk_modes),
        TEST(disk_folder_from_the_environment),
        TEST(disk_without_a_home),
        TEST(disk_truncated_at_every_byte),
        TEST(disk_every_bit_flipped),
        TEST(disk_swapped_files),
        TEST(disk_other_schema),
        TEST(disk_something_else_in_the_place),
        TEST(disk_foreign_owner),
        TEST(disk_folder_open_to_others),
        TEST(disk_folder_is_a_link),
        TEST(disk_folder_read_only),
        TEST(disk_not_with_borrowed_rights),
        TEST(disk_folder_vanishes),
        TEST(disk_full),
        TEST(disk_eviction_keeps_the_limit),
        TEST(disk_eviction_by_last_use),
        TEST(disk_eviction_spares_what_was_just_written),
        TEST(disk_eight_processes),
        TEST(disk_writer_is_killed),
        TEST(disk_sweeps_temporary_files),
        TEST(disk_threads),
        TEST(disk_without_memory),
        TEST(memory_is_made_once),
        TEST(memory_failed_make_is_retried_by_those_who_wait),
        TEST(memory_failed_make_is_retried),
        TEST(memory_make_without_a_lock),
        TEST(memory_many_keys),
        TEST(memory_without_memory),
    };
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
