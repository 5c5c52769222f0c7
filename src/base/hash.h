/* Hashes of bytes. hash.c is the one file that includes xxhash.h. */
#ifndef KRF_BASE_HASH_H
#define KRF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct krf__hash128 {
    uint64_t high, low;
} krf__hash128;

uint64_t krf__hash64(const void *data, size_t bytes);
krf__hash128 krf__hash_128(const void *data, size_t bytes);
void krf__hash_hex(krf__hash128 hash, char text[33]);

#endif
