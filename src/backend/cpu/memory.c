/* Free lists by size class: eight classes between a power of two and the next, so at most an eighth is lost, and of
 * large buffers only address space, as pages beyond what is used are never touched.
 *
 * Large buffers (2 MiB and more) are mapped on 2 MiB borders with huge pages advised: first touch of fresh 4 KiB pages
 * was measured at 2.5 times the cost of the kernel that writes them. What may be kept: in use + kept <= the most that
 * was ever in use + slack; beyond that the least recently released goes back to the system. Small buffers come from
 * krf__malloc, and at most 64 MiB of them are kept. Links of the lists lie in the free buffers themselves. */
#include "backend/cpu/memory.h"

#include "base/fail.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define KNOWS_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KNOWS_POISON 1
#endif
#endif

/* Under the address sanitizer, what a kernel touches after release or beyond the end is reported at its line. */
#ifdef KNOWS_POISON
#include <sanitizer/asan_interface.h>
#define POISON(p, bytes) __asan_poison_memory_region(p, bytes)
#define UNPOISON(p, bytes) __asan_unpoison_memory_region(p, bytes)
#else
#define POISON(p, bytes) ((void)(p), (void)(bytes))
#define UNPOISON(p, bytes) ((void)(p), (void)(bytes))
#endif

#define ALIGNMENT ((size_t)256)
#define LARGE ((size_t)2 << 20)
#define SMALL_KEPT ((size_t)64 << 20)
#define CLASSES (8 * 64)

typedef struct free_block free_block;
struct free_block {
    free_block *next;          /* of the class, last released first */
    free_block *newer, *older; /* large ones: by time of release, over all classes */
    size_t bytes;              /* rounded up to the class */
};

struct krf__host_memory {
    pthread_mutex_t mutex;
    free_block *classes[CLASSES];
    free_block *newest, *oldest;
    size_t in_use, most_in_use, kept; /* large ones */
    size_t small_kept, slack;
    int64_t allocations;
};

/* Rounds up to a class and gives its index. bytes > 0 and far from the largest size_t. */
static size_t size_class(size_t bytes, size_t *rounded) {
    if (bytes < ALIGNMENT) {
        bytes = ALIGNMENT;
    }
    size_t step = 0, top = 0;
    for (int pass = 0; pass < 2; pass++) { /* the second pass finds the class of what the first one made */
        top = 63 - (size_t)__builtin_clzll(bytes);
        step = ((size_t)1 << top) / 8;
        size_t unit = bytes >= LARGE && step < LARGE ? LARGE : step;
        bytes = (bytes + unit - 1) / unit * unit;
    }
    *rounded = bytes;
    return top * 8 + (bytes - ((size_t)1 << top)) / step;
}

/* ---- from and to the system ---- */

/* The block from malloc stands in the word before the data. */
static void *new_small(size_t bytes) {
    char *raw = krf__malloc(bytes + ALIGNMENT + sizeof raw);
    if (raw == NULL) {
        return NULL;
    }
    uintptr_t data = ((uintptr_t)raw + sizeof raw + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *aligned = raw + (data - (uintptr_t)raw);
    memcpy(aligned - sizeof raw, &raw, sizeof raw);
    return aligned;
}

static void *new_large(size_t bytes) {
    char *raw = mmap(NULL, bytes + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) {
        return NULL;
    }
    size_t before = (LARGE - (uintptr_t)raw % LARGE) % LARGE;
    if (before > 0) {
        munmap(raw, before);
    }
    munmap(raw + before + bytes, LARGE - before);
    madvise(raw + before, bytes, MADV_HUGEPAGE); /* advice: a system without huge pages refuses */
    return raw + before;
}

static void give_back(void *data, size_t bytes) {
    UNPOISON(data, bytes);
    if (bytes >= LARGE) {
        munmap(data, bytes);
    } else {
        char *raw = NULL;
        memcpy(&raw, (char *)data - sizeof raw, sizeof raw);
        krf__mem_free(raw);
    }
}

static void give_back_all(free_block *list) {
    while (list != NULL) {
        free_block *next = list->next;
        give_back(list, list->bytes);
        list = next;
    }
}

/* ---- lists; the mutex is held ---- */

static void unlink_age(krf__host_memory *m, free_block *b) {
    *(b->newer != NULL ? &b->newer->older : &m->newest) = b->older;
    *(b->older != NULL ? &b->older->newer : &m->oldest) = b->newer;
}

static void keep(krf__host_memory *m, free_block *b, size_t class_) {
    b->next = m->classes[class_];
    m->classes[class_] = b;
    if (b->bytes < LARGE) {
        m->small_kept += b->bytes;
        return;
    }
    m->kept += b->bytes;
    b->newer = NULL;
    b->older = m->newest;
    *(m->newest != NULL ? &m->newest->newer : &m->oldest) = b;
    m->newest = b;
}

static free_block *reuse(krf__host_memory *m, size_t class_) {
    free_block *b = m->classes[class_];
    if (b == NULL) {
        return NULL;
    }
    m->classes[class_] = b->next;
    if (b->bytes < LARGE) {
        m->small_kept -= b->bytes;
    } else {
        m->kept -= b->bytes;
        unlink_age(m, b);
    }
    return b;
}

/* Takes the oldest large blocks out until what is held is within bounds; `all` takes every one. Gives them as a list,
 * to be unmapped without the mutex. */
static free_block *take_excess(krf__host_memory *m, bool all) {
    free_block *list = NULL;
    size_t most = m->in_use > m->most_in_use ? m->in_use : m->most_in_use;
    while (m->oldest != NULL && (all || m->in_use + m->kept > most + m->slack)) {
        free_block *b = m->oldest;
        size_t rounded = 0;
        free_block **link = &m->classes[size_class(b->bytes, &rounded)];
        while (*link != b) {
            link = &(*link)->next;
        }
        *link = b->next;
        m->kept -= b->bytes;
        unlink_age(m, b);
        b->next = list;
        list = b;
    }
    return list;
}

/* ---- the interface ---- */

krf_status krf__host_memory_create(size_t slack, krf__host_memory **memory) {
    *memory = krf__calloc(1, sizeof **memory);
    if (*memory == NULL) {
        return krf__fail_memory();
    }
    pthread_mutex_init(&(*memory)->mutex, NULL);
    (*memory)->slack = slack;
    return KRF_OK;
}

void krf__host_memory_destroy(krf__host_memory *memory) {
    if (memory == NULL) {
        return;
    }
    for (size_t i = 0; i < CLASSES; i++) {
        give_back_all(memory->classes[i]);
    }
    pthread_mutex_destroy(&memory->mutex);
    krf__mem_free(memory);
}

krf_status krf__host_memory_allocate(krf__host_memory *memory, size_t bytes, void **data) {
    *data = NULL;
    if (bytes == 0 || bytes > PTRDIFF_MAX / 2) {
        return krf__fail(bytes == 0 ? KRF_E_ARGUMENT : KRF_E_MEMORY, "cannot allocate an array of %zu bytes", bytes);
    }
    size_t rounded = 0, class_ = size_class(bytes, &rounded);
    bool large = rounded >= LARGE;

    pthread_mutex_lock(&memory->mutex);
    void *block = reuse(memory, class_);
    free_block *excess = NULL;
    if (large) {
        memory->in_use += rounded;
        excess = block == NULL ? take_excess(memory, false) : NULL;
    }
    pthread_mutex_unlock(&memory->mutex);
    give_back_all(excess);

    bool asked = block == NULL;
    if (block == NULL) {
        block = large ? new_large(rounded) : new_small(rounded);
    }
    if (block == NULL) { /* once more, with what the free lists hold */
        pthread_mutex_lock(&memory->mutex);
        excess = take_excess(memory, true);
        pthread_mutex_unlock(&memory->mutex);
        if (excess != NULL) {
            give_back_all(excess);
            block = large ? new_large(rounded) : new_small(rounded);
        }
    }
    if (large || asked) {
        pthread_mutex_lock(&memory->mutex);
        memory->allocations += asked && block != NULL;
        if (large && block == NULL) {
            memory->in_use -= rounded;
        } else if (memory->in_use > memory->most_in_use) {
            memory->most_in_use = memory->in_use;
        }
        pthread_mutex_unlock(&memory->mutex);
    }
    if (block == NULL) {
        return krf__fail(KRF_E_MEMORY, "out of memory: an array of %zu bytes does not fit", bytes);
    }
    UNPOISON(block, bytes);
    POISON((char *)block + bytes, rounded - bytes);
    *data = block;
    return KRF_OK;
}

void krf__host_memory_deallocate(krf__host_memory *memory, void *data, size_t bytes) {
    if (data == NULL) {
        return;
    }
    size_t rounded = 0, class_ = size_class(bytes, &rounded);
    free_block *b = data, *excess = NULL;
    UNPOISON(b, sizeof *b);
    b->bytes = rounded;
    b->next = NULL;
    POISON((char *)data + sizeof *b, rounded - sizeof *b);

    pthread_mutex_lock(&memory->mutex);
    if (rounded >= LARGE) {
        memory->in_use -= rounded;
        keep(memory, b, class_);
        excess = take_excess(memory, false);
    } else if (memory->small_kept + rounded <= SMALL_KEPT) {
        keep(memory, b, class_);
    } else {
        excess = b;
    }
    pthread_mutex_unlock(&memory->mutex);
    give_back_all(excess);
}

size_t krf__host_memory_kept(krf__host_memory *memory) {
    pthread_mutex_lock(&memory->mutex);
    size_t kept = memory->kept + memory->small_kept;
    pthread_mutex_unlock(&memory->mutex);
    return kept;
}

int64_t krf__host_memory_allocations(krf__host_memory *memory) {
    pthread_mutex_lock(&memory->mutex);
    int64_t allocations = memory->allocations;
    pthread_mutex_unlock(&memory->mutex);
    return allocations;
}

void krf__host_memory_trim(krf__host_memory *memory) {
    free_block *small[CLASSES];
    pthread_mutex_lock(&memory->mutex);
    free_block *large = take_excess(memory, true);
    for (size_t i = 0; i < CLASSES; i++) {
        small[i] = memory->classes[i];
        memory->classes[i] = NULL;
    }
    memory->small_kept = 0;
    memory->most_in_use = memory->in_use;
    pthread_mutex_unlock(&memory->mutex);
    give_back_all(large);
    for (size_t i = 0; i < CLASSES; i++) {
        give_back_all(small[i]);
    }
}
