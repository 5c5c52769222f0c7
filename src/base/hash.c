/* Hashes of bytes: XXH3, whose values are fixed by its specification, so that they may stand in files and in file
 * names. The one file that includes xxhash.h. Used by map (buckets), the disk cache (names, checksums) and the keys of
 * kernels. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t krf__hash64(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

krf__hash128 krf__hash_128(const void *data, size_t bytes)
{
    XXH128_hash_t hash = XXH3_128bits(data, bytes);
    return (krf__hash128){.high = hash.high64, .low = hash.low64};
}

/* Most significant digit first, as xxh128sum prints it. */
void krf__hash_hex(krf__hash128 hash, char text[33])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        text[i] = digits[hash.high >> (60 - 4 * i) & 15];
        text[16 + i] = digits[hash.low >> (60 - 4 * i) & 15];
    }
    text[32] = '\0';
}
