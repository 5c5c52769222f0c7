/* The folder of the disk cache as files in buckets: <hex><hex>/<30 hex digits>.krf below the folder of a version. */
#ifndef KRF_CACHE_FOLDER_H
#define KRF_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Opens a folder below one of ours by the rules of krf__folder_open_private, and creates it first if asked to. Returns
 * an errno value, 0 when *fd (to be closed by the caller) is open. */
int krf__folder_open_below(int at, const char *name, bool create, int *fd);

/* Removes a file unless another process has put a new one in its place. True when this call removed it. */
bool krf__folder_remove_unchanged(int folder, const char *name, const struct stat *seen);

/* Seconds between a file's time and now. */
int64_t krf__folder_age(const struct stat *about);

/* Removes what killed writers left, counts the entries, and if these are more than `limit` bytes removes those that
 * were of use longest ago, down to `keep`, but never the entry `newest` of the bucket: a file system's clock may tick so
 * slowly that it looks no younger than the others. Returns the bytes that remain, -1 when memory did not suffice to know; adds
 * the number of entries removed to *evictions. */
int64_t krf__folder_keep_room(int version, int64_t limit, int64_t keep, const char *bucket, const char *newest,
                              int64_t *evictions);

#endif
