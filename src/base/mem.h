/* Every allocation of the library goes through here, so that tests can make the n-th one fail. */
#ifndef KRF_BASE_MEM_H
#define KRF_BASE_MEM_H

#include <stddef.h>

void *krf__malloc(size_t bytes);
void *krf__calloc(size_t count, size_t bytes);
void *krf__realloc(void *old, size_t bytes);
void krf__mem_free(void *p);
char *krf__strdup(const char *text);

/* Grows *data (elements of `item` bytes, *capacity of them) to hold at least `need`. False when out of memory: *data is unchanged. */
int krf__grow(void *data_pointer, size_t *capacity, size_t need, size_t item);

/* Tests: the n-th allocation from now on (1 is the next) and all after it fail; 0 switches that off. */
void krf__mem_fail_at(long n);

#endif
