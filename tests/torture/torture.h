/* What the tests of the disk cache share: kernels with known results, contexts on a folder, and the files in it. The
 * cache is used through the public functions alone. */
#ifndef TORTURE_TORTURE_H
#define TORTURE_TORTURE_H

#include <kerfuse/kerfuse.h>

/* Prints a line and counts it. */
void torture_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
int torture_failures(void);

/* folder: of the cache; limit: 0 for the usual one. KRF_CPU_COMPILE compiles what is not found, KRF_CPU_AUTO never
 * does for such small work: what it does not find it interprets. NULL, after torture_wrong, when that fails. */
krf_context *torture_open(const char *folder, krf_cache_mode mode, krf_cpu_tier tier, int64_t limit);

/* Evaluates kernel k (any number: each has a key of its own) and compares with plain C. False, after torture_wrong,
 * when that fails or a value differs. */
bool torture_eval(krf_context *context, int k);

krf_cache_stats torture_stats(krf_context *context);

/* A context, kernels first to last - 1, and the counters at the end. */
krf_cache_stats torture_use(const char *folder, krf_cache_mode mode, krf_cpu_tier tier, int first, int last);

/* Files below a folder whose names end so: their number, and the first `capacity` paths. */
typedef struct torture_path {
    char text[160];
} torture_path;
int torture_find(const char *folder, const char *suffix, torture_path *paths, int capacity);
long long torture_bytes(const char *folder);

/* Whole files. read: the size, at most `capacity`. */
size_t torture_read(const char *path, unsigned char *data, size_t capacity);
void torture_write(const char *path, const unsigned char *data, size_t size);

/* Everything below a folder but what is below `but`, as one number: paths, sizes, permissions, times. */
unsigned long long torture_fingerprint(const char *folder, const char *but);

/* KRF_TORTURE_ROUNDS, or what is usual. */
int torture_rounds(int usual);

#endif
