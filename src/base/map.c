/* A hash map from bytes to pointers: open addressing with linear probing, at most three quarters full, and no removal
 * of single entries (no user needs it). It owns copies of the keys and compares them whole; values belong to the
 * caller. Used by the memory cache, the parser, the printer and the fusion pass. */
#include "base/map.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

/* The entry with this key, or the free place where it belongs. The map must have one. */
static krf__map_entry *find(const krf__map *map, uint64_t hash, const void *key, size_t bytes)
{
    size_t mask = map->capacity - 1; /* the capacity is a power of two */
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        krf__map_entry *entry = &map->entries[i];
        if (entry->key == NULL) {
            return entry;
        }
        if (entry->hash == hash && entry->key_bytes == bytes && (bytes == 0 || memcmp(entry->key, key, bytes) == 0)) {
            return entry;
        }
    }
}

static bool make_room(krf__map *map)
{
    if (map->count < map->capacity / 4 * 3) {
        return true;
    }
    krf__map grown = {.capacity = map->capacity > 0 ? map->capacity * 2 : 16, .count = map->count};
    grown.entries = krf__calloc(grown.capacity, sizeof *grown.entries);
    if (grown.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        const krf__map_entry *entry = &map->entries[i];
        if (entry->key != NULL) {
            *find(&grown, entry->hash, entry->key, entry->key_bytes) = *entry;
        }
    }
    krf__mem_free(map->entries);
    *map = grown;
    return true;
}

void *krf__map_get(const krf__map *map, const void *key, size_t bytes)
{
    if (map->count == 0) {
        return NULL;
    }
    return find(map, krf__hash64(key, bytes), key, bytes)->value; /* NULL in free places */
}

bool krf__map_put(krf__map *map, const void *key, size_t bytes, void *value)
{
    if (!make_room(map)) {
        return false;
    }
    uint64_t hash = krf__hash64(key, bytes);
    krf__map_entry *entry = find(map, hash, key, bytes);
    if (entry->key == NULL) {
        void *copy = krf__malloc(bytes);
        if (copy == NULL) {
            return false;
        }
        if (bytes > 0) {
            memcpy(copy, key, bytes);
        }
        *entry = (krf__map_entry){.hash = hash, .key = copy, .key_bytes = bytes};
        map->count++;
    }
    entry->value = value;
    return true;
}

void krf__map_clear(krf__map *map)
{
    for (size_t i = 0; i < map->capacity; i++) {
        krf__mem_free(map->entries[i].key);
        map->entries[i] = (krf__map_entry){0};
    }
    map->count = 0;
}

void krf__map_free(krf__map *map, void (*free_value)(void *value))
{
    for (size_t i = 0; free_value != NULL && i < map->capacity; i++) {
        if (map->entries[i].key != NULL) {
            free_value(map->entries[i].value);
        }
    }
    krf__map_clear(map);
    krf__mem_free(map->entries);
    *map = (krf__map){0};
}
