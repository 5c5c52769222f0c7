/* The kernels on disk. The format of an entry is documented at the top of disk.c. Every fault is a miss; no call ever fails. Thread-safe, and safe
 * between processes. */
#ifndef KRF_CACHE_DISK_H
#define KRF_CACHE_DISK_H

#include <kerfuse/base.h>
#include "base/log.h"

typedef struct krf__disk_cache krf__disk_cache;

typedef struct krf__disk_counters {
    int64_t bytes_read, bytes_written, evictions, faults;
} krf__disk_counters;

/* folder NULL: KRF_CACHE_DIR, else $XDG_CACHE_HOME/kerfuse (absolute), else ~/.cache/kerfuse. Nothing is created before the first write. limit: bytes. NULL when out of memory. */
krf__disk_cache *krf__disk_cache_create(const char *folder, krf_cache_mode mode, int64_t limit, const krf__log *log);
void krf__disk_cache_destroy(krf__disk_cache *cache);

/* True on a hit: *data is new memory (krf__mem_free). key: all that decides the payload (source, options, architecture, compiler), compared byte for byte. */
bool krf__disk_cache_get(krf__disk_cache *cache, const void *key, size_t key_bytes, void **data, size_t *bytes);
void krf__disk_cache_put(krf__disk_cache *cache, const void *key, size_t key_bytes, const void *data, size_t bytes);

/* Drops an entry that turned out not to load. */
void krf__disk_cache_drop(krf__disk_cache *cache, const void *key, size_t key_bytes);
void krf__disk_cache_counters(krf__disk_cache *cache, krf__disk_counters *counters);

#endif
