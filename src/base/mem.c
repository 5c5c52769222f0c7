/* Allocation. All memory of the library comes from here, so that a test can make the n-th allocation, and all after it,
 * fail and see that every call returns an error, leaks nothing and can be repeated. That countdown is process-wide; it
 * is off (0) outside tests and costs one relaxed load. Debug builds also count the blocks in use, which tells a leak
 * from a cache that keeps what it has: the one thing LeakSanitizer cannot see. Called from everywhere. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Allocations until one fails: 0 never, 1 the next one and all after it, -1 the next one alone. */
static atomic_long countdown;

#ifdef NDEBUG
static void count(const void *p, long blocks)
{
    (void)p, (void)blocks;
}

long krf__mem_live(void)
{
    return -1;
}
#else
static atomic_long live;

static void count(const void *p, long blocks)
{
    if (p != NULL) {
        atomic_fetch_add_explicit(&live, blocks, memory_order_relaxed);
    }
}

long krf__mem_live(void)
{
    return atomic_load(&live);
}
#endif

void krf__mem_fail_at(long n)
{
    atomic_store(&countdown, n > 0 ? n : 0);
}

void krf__mem_fail_once(long n)
{
    atomic_store(&countdown, n > 0 ? -n : 0);
}

bool krf__mem_pending(void)
{
    long left = atomic_load(&countdown);
    return left != 0 && left != 1;
}

static bool must_fail(void)
{
    long left = atomic_load_explicit(&countdown, memory_order_relaxed);
    while (left != 0 && left != 1) {
        if (atomic_compare_exchange_weak(&countdown, &left, left < 0 ? left + 1 : left - 1)) {
            return left == -1;
        }
    }
    return left == 1;
}

/* Sizes of zero are rounded up to one byte: NULL then always means that memory ran out. */
static size_t at_least_one(size_t bytes)
{
    return bytes > 0 ? bytes : 1;
}

void *krf__malloc(size_t bytes)
{
    void *p = must_fail() ? NULL : malloc(at_least_one(bytes));
    count(p, 1);
    return p;
}

void *krf__calloc(size_t items, size_t bytes)
{
    void *p = must_fail() ? NULL : calloc(at_least_one(items), at_least_one(bytes));
    count(p, 1);
    return p;
}

void *krf__realloc(void *old, size_t bytes)
{
    void *p = must_fail() ? NULL : realloc(old, at_least_one(bytes));
    count(p, old == NULL);
    return p;
}

void krf__mem_free(void *p)
{
    count(p, -1);
    free(p);
}

char *krf__strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = krf__malloc(bytes);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
    }
    return copy;
}

int krf__grow(void *data_pointer, size_t *capacity, size_t need, size_t item)
{
    if (need <= *capacity) {
        return true;
    }
    size_t most = SIZE_MAX / 2 / item;
    if (need > most) {
        return false;
    }
    size_t wanted = *capacity < most / 2 ? *capacity * 2 : most;
    if (wanted < need) {
        wanted = need;
    }
    if (wanted < 8 && most >= 8) {
        wanted = 8;
    }
    /* The caller's pointer has some type T *: it is copied as bytes, reading it as a void * would break aliasing. */
    void *old;
    memcpy(&old, data_pointer, sizeof old);
    void *grown = krf__realloc(old, wanted * item);
    if (grown == NULL) {
        return false;
    }
    memcpy(data_pointer, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
