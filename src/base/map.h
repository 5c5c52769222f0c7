/* A hash map from bytes to pointers. Whole keys are compared: a hash is never trusted. Not thread-safe. */
#ifndef KRF_BASE_MAP_H
#define KRF_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct krf__map_entry {
    uint64_t hash;
    void *key; /* owned copy */
    size_t key_bytes;
    void *value;
} krf__map_entry;

typedef struct krf__map {
    krf__map_entry *entries; /* open addressing; key NULL marks a free place */
    size_t capacity, count;
} krf__map;

void *krf__map_get(const krf__map *map, const void *key, size_t bytes); /* NULL when absent */
bool krf__map_put(krf__map *map, const void *key, size_t bytes, void *value); /* replaces; false when out of memory */
void krf__map_free(krf__map *map, void (*free_value)(void *value)); /* free_value may be NULL */
void krf__map_clear(krf__map *map); /* forgets all entries, keeps the table; values are not freed */

#endif
