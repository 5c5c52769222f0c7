/* The folder of the disk cache, seen as files in buckets: opening its parts safely, removing files that nobody has
 * replaced, counting what is there and evicting what was of use longest ago. It knows how files are named (file.c names
 * the temporary ones) and nothing of what is in them. All of it may go on in several processes at once. Called by
 * disk.c. */
#include "cache/folder.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY_SECONDS 3600 /* how old a temporary file must be for its writer to be dead */

int krf__folder_open_below(int at, const char *name, bool create, int *fd)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int opened = openat(at, name, flags);
    if (opened < 0 && errno == ENOENT && create) {
        if (mkdirat(at, name, 0700) != 0 && errno != EEXIST) {
            return errno;
        }
        opened = openat(at, name, flags);
    }
    if (opened < 0) {
        return errno == ENOTDIR || errno == ELOOP ? EPERM : errno;
    }
    struct stat about;
    int error = fstat(opened, &about) != 0 ? errno : 0;
    if (error == 0 && (about.st_uid != geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        error = EPERM;
    }
    if (error != 0) {
        close(opened);
        return error;
    }
    *fd = opened;
    return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool krf__folder_remove_unchanged(int folder, const char *name, const struct stat *seen)
{
    struct stat now;
    return fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && same_file(&now, seen) &&
           unlinkat(folder, name, 0) == 0;
}

/* Whichever is later: clocks are set, and times far ahead would never age. */
int64_t krf__folder_age(const struct stat *about)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t a = (int64_t)now.tv_sec, b = (int64_t)about->st_mtim.tv_sec;
    uint64_t apart = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    return apart < INT64_MAX ? (int64_t)apart : INT64_MAX;
}

/* One entry as a walk over the folder found it. */
typedef struct listed {
    char bucket[3];
    char name[30 + sizeof ".krf"];
    struct stat seen;
} listed;

typedef struct list {
    listed *items;
    size_t count, capacity;
    int64_t bytes;
    bool failed; /* out of memory: incomplete */
} list;

static bool has_form(const char *name, const char *prefix, size_t digits, const char *suffix)
{
    size_t before = strlen(prefix);
    return strncmp(name, prefix, before) == 0 && strspn(name + before, "0123456789abcdef") == digits &&
           strcmp(name + before + digits, suffix) == 0;
}

static void list_entry(list *all, const char *bucket, const char *name, const struct stat *seen)
{
    if (!krf__grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items)) {
        all->failed = true;
        return;
    }
    listed *item = &all->items[all->count++];
    *item = (listed){.seen = *seen};
    memcpy(item->bucket, bucket, sizeof item->bucket);
    memcpy(item->name, name, sizeof item->name);
    all->bytes += (int64_t)seen->st_size;
}

/* Lists the entries of one bucket and removes what killed writers left in it (file.c says how that is named). */
static void list_bucket(list *all, int version, const char *bucket)
{
    int fd;
    if (krf__folder_open_below(version, bucket, false, &fd) != 0) {
        return;
    }
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        close(fd);
        return;
    }
    for (const struct dirent *item; (item = readdir(folder)) != NULL;) {
        bool entry = has_form(item->d_name, "", 30, ".krf");
        bool temporary = has_form(item->d_name, ".", 16, ".tmp");
        struct stat seen;
        if ((!entry && !temporary) || fstatat(fd, item->d_name, &seen, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (entry) {
            list_entry(all, bucket, item->d_name, &seen);
        } else if (krf__folder_age(&seen) > TEMPORARY_SECONDS) {
            krf__folder_remove_unchanged(fd, item->d_name, &seen);
        }
    }
    closedir(folder);
}

static void list_all(list *all, int version)
{
    int fd = fcntl(version, F_DUPFD_CLOEXEC, 0);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    for (const struct dirent *item; (item = readdir(folder)) != NULL;) {
        if (has_form(item->d_name, "", 2, "")) {
            list_bucket(all, version, item->d_name);
        }
    }
    closedir(folder);
}

static int older_first(const void *a, const void *b)
{
    const struct timespec *x = &((const listed *)a)->seen.st_mtim, *y = &((const listed *)b)->seen.st_mtim;
    if (x->tv_sec != y->tv_sec) {
        return x->tv_sec < y->tv_sec ? -1 : 1;
    }
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Removes the entries that were of use longest ago. What another process has removed meanwhile is gone as well; what it
 * has renewed stays. */
static void evict(int version, list *all, int64_t keep, const char *bucket_of_newest, const char *newest,
                  int64_t *evictions)
{
    qsort(all->items, all->count, sizeof *all->items, older_first);
    for (size_t i = 0; i < all->count && all->bytes > keep; i++) {
        const listed *item = &all->items[i];
        int bucket;
        if (strcmp(item->name, newest) == 0 && strcmp(item->bucket, bucket_of_newest) == 0) {
            continue;
        }
        if (krf__folder_open_below(version, item->bucket, false, &bucket) != 0) {
            continue;
        }
        bool removed = krf__folder_remove_unchanged(bucket, item->name, &item->seen);
        struct stat now;
        if (removed) {
            ++*evictions;
        }
        if (removed || fstatat(bucket, item->name, &now, AT_SYMLINK_NOFOLLOW) != 0) {
            all->bytes -= (int64_t)item->seen.st_size;
        }
        close(bucket);
    }
}

int64_t krf__folder_keep_room(int version, int64_t limit, int64_t keep, const char *bucket, const char *newest,
                              int64_t *evictions)
{
    list all = {0};
    list_all(&all, version);
    if (all.bytes > limit) {
        evict(version, &all, keep, bucket, newest, evictions);
    }
    krf__mem_free(all.items);
    return all.failed ? -1 : all.bytes;
}
