/* Every allocation of the library goes through here, so that tests can make the n-th one fail. */
#ifndef KRF_BASE_MEM_H
#define KRF_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *krf__malloc(size_t bytes);
void *krf__calloc(size_t items, size_t bytes);
void *krf__realloc(void *old, size_t bytes);
void krf__mem_free(void *p);
char *krf__strdup(const char *text);

/* Grows *data (elements of `item` bytes, *capacity of them) to hold at least `need`. False when out of memory: *data is unchanged. */
int krf__grow(void *data_pointer, size_t *capacity, size_t need, size_t item);

/* Tests: the n-th allocation from now on (1 is the next) and all after it fail; 0 switches that off. once: the n-th
 * alone, as where memory was short for a moment. */
void krf__mem_fail_at(long n);
void krf__mem_fail_once(long n);
bool krf__mem_pending(void); /* whether that allocation is still to come */

/* Tests: the blocks in use; -1 in builds with NDEBUG, which do not count. */
long krf__mem_live(void);

#endif
