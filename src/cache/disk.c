/* The kernels on disk: <folder>/v1/<2 hex digits>/<30 hex digits>.krf, named by the XXH3-128 of the key. One file is
 * one entry (integers are little-endian):
 *
 *      0  8  magic "kerfuse\n"
 *      8  4  schema, 1
 *     12  4  zero
 *     16  8  length of the key
 *     24  8  length of the payload
 *     32  8  XXH3-64 of the payload
 *     40     key, then payload, and nothing behind
 *
 * Nothing found in a file is believed: owner, lengths and checksum are verified and the key is compared byte for byte.
 * Any fault is a miss, and the entry is removed. Entries are read into memory, never mapped (a file that is cut while
 * mapped is SIGBUS), and published by renaming a temporary file; there are no locks between processes, the last writer
 * wins with equal bytes. No fsync: it costs milliseconds, and the checksum finds what a crash tore. The folder is
 * opened anew by every call, so it may be deleted at any time. Owned by the context; called by the back ends when the
 * memory cache has missed. */
#include "cache/disk.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cache/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION_FOLDER "v1"
#define MAGIC "kerfuse\n" /* 8 bytes, without the NUL */
#define SCHEMA 1
#define HEADER_BYTES 40
#define DEFAULT_LIMIT ((int64_t)256 << 20)
#define REFRESH_SECONDS 3600 /* how old an entry's time may be before a hit renews it */

struct krf__disk_cache {
    char *path; /* NULL: no folder, every call is a miss */
    bool writable;
    int64_t limit;
    const krf__log *log;
    _Atomic int64_t bytes_read, bytes_written, evictions, faults;
    atomic_bool refusal_logged;
    pthread_mutex_t room; /* guards the two below; held while entries are listed and evicted */
    int64_t total;        /* bytes of all entries as far as this process knows; -1: not counted yet */
    int64_t added;        /* bytes written since they were counted */
};

/* Where an entry lies: its bucket, a folder, and its name there. */
typedef struct place {
    char bucket[3];
    char name[30 + sizeof ".krf"];
} place;

static place place_of(const void *key, size_t bytes)
{
    char hex[33];
    krf__hash_hex(krf__hash_128(key, bytes), hex);
    place where = {{0}, {0}};
    memcpy(where.bucket, hex, 2);
    memcpy(where.name, hex + 2, 30);
    memcpy(where.name + 30, ".krf", sizeof ".krf");
    return where;
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static char *join(const char *folder, const char *name)
{
    size_t a = strlen(folder), b = strlen(name);
    char *path = krf__malloc(a + b + 2);
    if (path != NULL) {
        memcpy(path, folder, a);
        path[a] = '/';
        memcpy(path + a + 1, name, b + 1);
    }
    return path;
}

/* A relative folder means the one below the working directory of now: the program may change it later. */
static char *absolute(const char *folder)
{
    char working[PATH_MAX];
    if (folder[0] == '/' || getcwd(working, sizeof working) == NULL) {
        return krf__strdup(folder);
    }
    return join(working, folder);
}

static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Finds the folder. False when out of memory; *path stays NULL where there is none, for the reason in *why. */
static bool choose_folder(const char *folder, char **path, const char **why)
{
    const char *xdg = variable("XDG_CACHE_HOME"), *home = variable("HOME");
    *path = NULL;
    if (folder == NULL && (getuid() != geteuid() || getgid() != getegid())) {
        *why = "the program runs with the rights of another user";
        return true;
    }
    if (folder == NULL) {
        folder = variable("KRF_CACHE_DIR");
    }
    if (folder != NULL) {
        *path = absolute(folder);
    } else if (xdg != NULL && xdg[0] == '/') {
        *path = join(xdg, "kerfuse");
    } else if (home != NULL && home[0] == '/') {
        *path = join(home, ".cache/kerfuse");
    } else {
        *why = "none of KRF_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder";
        return true;
    }
    return *path != NULL;
}

krf__disk_cache *krf__disk_cache_create(const char *folder, krf_cache_mode mode, int64_t limit, const krf__log *log)
{
    const char *why = "";
    krf__disk_cache *cache = krf__calloc(1, sizeof *cache);
    if (cache == NULL) {
        return NULL;
    }
    if (folder != NULL && folder[0] == '\0') {
        folder = NULL;
    }
    cache->log = log;
    cache->writable = mode == KRF_CACHE_ON;
    cache->limit = limit > 0 ? limit : DEFAULT_LIMIT;
    cache->total = -1;
    if (mode != KRF_CACHE_OFF && !choose_folder(folder, &cache->path, &why)) {
        goto fail;
    }
    if (pthread_mutex_init(&cache->room, NULL) != 0) {
        goto fail;
    }
    if (mode != KRF_CACHE_OFF && cache->path == NULL) {
        krf__log_line(log, "disk cache: not used: %s", why);
    }
    return cache;
fail:
    krf__mem_free(cache->path);
    krf__mem_free(cache);
    return NULL;
}

void krf__disk_cache_destroy(krf__disk_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    pthread_mutex_destroy(&cache->room);
    krf__mem_free(cache->path);
    krf__mem_free(cache);
}

static int open_version(const krf__disk_cache *cache, bool create, int *fd)
{
    struct stat about;
    if (!create && lstat(cache->path, &about) != 0) {
        return errno;
    }
    int root;
    int error = krf__folder_open_private(cache->path, &root);
    if (error == 0) {
        error = krf__folder_open_below(root, VERSION_FOLDER, create, fd);
        close(root);
    }
    return error;
}

static int open_bucket(const krf__disk_cache *cache, const char *bucket, bool create, int *fd)
{
    int version;
    int error = open_version(cache, create, &version);
    if (error == 0) {
        error = krf__folder_open_below(version, bucket, create, fd);
        close(version);
    }
    return error;
}

/* The folder cannot be used, or not be written to. Every occurrence counts, one line says so. */
static void refuse(krf__disk_cache *cache, int error)
{
    atomic_fetch_add(&cache->faults, 1);
    if (!atomic_exchange(&cache->refusal_logged, true)) {
        const char *reason = error == EPERM ? "a link, or others own it or can write to it" : strerror(error);
        krf__log_line(cache->log, "disk cache: %s: %s", cache->path, reason);
    }
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static void put_number(unsigned char *at, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
}

static uint64_t get_number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

static void write_header(unsigned char header[HEADER_BYTES], size_t key_bytes, const void *data, size_t bytes)
{
    memcpy(header, MAGIC, sizeof MAGIC - 1);
    put_number(header + 8, 4, SCHEMA);
    put_number(header + 12, 4, 0);
    put_number(header + 16, 8, key_bytes);
    put_number(header + 24, 8, bytes);
    put_number(header + 32, 8, krf__hash64(data, bytes));
}

/* What is wrong with an entry; NULL if nothing is. The payload then starts behind header and key. */
static const char *check_entry(const unsigned char *entry, size_t size, const void *key, size_t key_bytes)
{
    if (size < HEADER_BYTES || memcmp(entry, MAGIC, sizeof MAGIC - 1) != 0) {
        return "it is not an entry";
    }
    if (get_number(entry + 8, 4) != SCHEMA || get_number(entry + 12, 4) != 0) {
        return "it has another schema";
    }
    size_t rest = size - HEADER_BYTES;
    if (get_number(entry + 16, 8) != key_bytes || key_bytes > rest) {
        return "it has another key";
    }
    if (get_number(entry + 24, 8) != rest - key_bytes) {
        return "it has another length";
    }
    if (key_bytes > 0 && memcmp(entry + HEADER_BYTES, key, key_bytes) != 0) {
        return "it has another key";
    }
    if (get_number(entry + 32, 8) != krf__hash64(entry + HEADER_BYTES + key_bytes, rest - key_bytes)) {
        return "the checksum differs";
    }
    return NULL;
}

static const char *check_file(const struct stat *about)
{
    if (!S_ISREG(about->st_mode)) {
        return "it is not a regular file";
    }
    if (about->st_uid != geteuid() || (about->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return "it belongs to or can be written by others";
    }
    return NULL;
}

static void reject(krf__disk_cache *cache, int folder, const place *where, const struct stat *seen, const char *fault)
{
    atomic_fetch_add(&cache->faults, 1);
    bool removed = cache->writable && krf__folder_remove_unchanged(folder, where->name, seen);
    krf__log_line(cache->log, "disk cache: %s/%s%s: %s", where->bucket, where->name, removed ? " removed" : "", fault);
}

/* An entry's time is when it was last of use, to the hour: eviction goes by it. */
static void refresh(const krf__disk_cache *cache, int folder, const place *where, const struct stat *seen)
{
    if (cache->writable && krf__folder_age(seen) > REFRESH_SECONDS) {
        const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
        utimensat(folder, where->name, times, AT_SYMLINK_NOFOLLOW);
    }
}

/* Reads an entry. NULL: there is none, it cannot be read now, or *fault says what is wrong with the file. */
static unsigned char *read_entry(krf__disk_cache *cache, int folder, const place *where, struct stat *seen,
                                 size_t *size, const char **fault)
{
    void *entry = NULL;
    if (fstatat(folder, where->name, seen, AT_SYMLINK_NOFOLLOW) != 0) {
        return NULL;
    }
    *fault = check_file(seen);
    if (*fault != NULL) {
        return NULL;
    }
    int error = krf__file_read(folder, where->name, true, &entry, size);
    if (error != 0 && error != ENOENT && error != ENOMEM) {
        refuse(cache, error); /* too many open files, say: no reason to remove the entry */
    }
    return entry;
}

bool krf__disk_cache_get(krf__disk_cache *cache, const void *key, size_t key_bytes, void **data, size_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    if (cache->path == NULL) {
        return false;
    }
    place where = place_of(key, key_bytes);
    int folder;
    int error = open_bucket(cache, where.bucket, false, &folder);
    if (error != 0) {
        if (error != ENOENT && error != ENOMEM) {
            refuse(cache, error);
        }
        return false;
    }
    struct stat seen;
    size_t size = 0;
    const char *fault = NULL;
    unsigned char *entry = read_entry(cache, folder, &where, &seen, &size, &fault);
    if (entry != NULL) {
        fault = check_entry(entry, size, key, key_bytes);
    }
    bool hit = entry != NULL && fault == NULL;
    if (fault != NULL) {
        reject(cache, folder, &where, &seen, fault);
    }
    if (hit) {
        refresh(cache, folder, &where, &seen);
        atomic_fetch_add(&cache->bytes_read, (int64_t)size);
        *bytes = size - HEADER_BYTES - key_bytes;
        memmove(entry, entry + HEADER_BYTES + key_bytes, *bytes);
        *data = entry;
        entry = NULL;
    }
    krf__mem_free(entry);
    close(folder);
    return hit;
}

void krf__disk_cache_drop(krf__disk_cache *cache, const void *key, size_t key_bytes)
{
    if (cache->path == NULL) {
        return;
    }
    atomic_fetch_add(&cache->faults, 1);
    place where = place_of(key, key_bytes);
    int folder;
    if (cache->writable && open_bucket(cache, where.bucket, false, &folder) == 0) {
        unlinkat(folder, where.name, 0);
        close(folder);
    }
    krf__log_line(cache->log, "disk cache: %s/%s dropped: it does not load", where.bucket, where.name);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* What eviction leaves: less than the limit, so that it is rare. */
static int64_t eviction_target(const krf__disk_cache *cache)
{
    return cache->limit / 5 * 4 + cache->limit % 5 * 4 / 5;
}

/* Counts the entries, and evicts some when they are more than the limit allows; not the one just written. */
static void sweep(krf__disk_cache *cache, const place *newest)
{
    int version;
    if (open_version(cache, false, &version) != 0) {
        return;
    }
    int64_t evictions = 0;
    cache->total = krf__folder_keep_room(version, cache->limit, eviction_target(cache), newest->bucket, newest->name,
                                         &evictions);
    cache->added = 0;
    atomic_fetch_add(&cache->evictions, evictions);
    close(version);
}

/* Other processes write too: after an eighth of the limit, what they have written is looked at. */
static void keep_room(krf__disk_cache *cache, const place *newest, int64_t written)
{
    pthread_mutex_lock(&cache->room);
    cache->added += written;
    if (cache->total < 0 || cache->total + cache->added > cache->limit || cache->added > cache->limit / 8) {
        sweep(cache, newest);
    }
    pthread_mutex_unlock(&cache->room);
}

static int publish(const krf__disk_cache *cache, const place *where, const krf__piece *pieces, size_t count)
{
    int folder;
    int error = open_bucket(cache, where->bucket, true, &folder);
    if (error == 0) {
        error = krf__file_publish(folder, where->name, pieces, count);
        close(folder);
    }
    return error;
}

void krf__disk_cache_put(krf__disk_cache *cache, const void *key, size_t key_bytes, const void *data, size_t bytes)
{
    if (cache->path == NULL || !cache->writable) {
        return;
    }
    /* What eviction would remove at once, with everything else, is not worth writing. */
    uint64_t target = (uint64_t)eviction_target(cache);
    if (target < HEADER_BYTES || key_bytes > target - HEADER_BYTES || bytes > target - HEADER_BYTES - key_bytes) {
        return;
    }
    unsigned char header[HEADER_BYTES];
    write_header(header, key_bytes, data, bytes);
    const krf__piece pieces[] = {{header, sizeof header}, {key, key_bytes}, {data, bytes}};
    place where = place_of(key, key_bytes);
    int error = publish(cache, &where, pieces, 3);
    if (error == ENOENT || error == ESTALE) { /* the folder was deleted just now: once more, from the top */
        error = publish(cache, &where, pieces, 3);
    }
    if (error != 0) {
        refuse(cache, error);
        return;
    }
    int64_t written = (int64_t)(HEADER_BYTES + key_bytes + bytes);
    atomic_fetch_add(&cache->bytes_written, written);
    keep_room(cache, &where, written);
}

void krf__disk_cache_counters(krf__disk_cache *cache, krf__disk_counters *counters)
{
    *counters = (krf__disk_counters){
        .bytes_read = atomic_load(&cache->bytes_read),
        .bytes_written = atomic_load(&cache->bytes_written),
        .evictions = atomic_load(&cache->evictions),
        .faults = atomic_load(&cache->faults),
    };
}
