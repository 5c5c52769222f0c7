/* Free lists by size class: eight classes an octave, so that at most an eighth of a block is waste. Blocks too large
 * for that to be cheap go straight to the backend, whose pool is the driver's. When the backend is out of memory
 * everything kept is given back first. */
#include "sched/memory.h"

#include "base/fail.h"
#include "base/mem.h"

#include <pthread.h>
#include <string.h>

enum { CLASSES = 8 * 40, SMALLEST = 512, TICKET_CLASSES = 33 };
#define LARGEST ((size_t)1 << 30)
#define FEWEST_TICKETS ((size_t)1024)

typedef struct list {
    void **blocks;
    size_t n, capacity;
} list;

struct krf__pool {
    const krf__backend *backend;
    krf__device *device;
    bool pooled;
    size_t limit;
    pthread_mutex_t lock;
    size_t kept; /* bytes in the free lists */
    list free[CLASSES];
    list tickets[TICKET_CLASSES]; /* by the binary logarithm of their number */
};

krf_status krf__pool_create(const krf__backend *backend, krf__device *device, bool pooled, size_t limit,
                            krf__pool **pool) {
    *pool = krf__calloc(1, sizeof **pool);
    if (*pool == NULL) {
        return krf__fail_memory();
    }
    (*pool)->backend = backend;
    (*pool)->device = device;
    (*pool)->pooled = pooled;
    (*pool)->limit = limit;
    if (pthread_mutex_init(&(*pool)->lock, NULL) != 0) {
        krf__mem_free(*pool);
        *pool = NULL;
        return krf__fail_memory();
    }
    return KRF_OK;
}

/* The class of a size, and the bytes that blocks of it have. */
static int size_class(size_t bytes, size_t *rounded) {
    size_t n = bytes <= SMALLEST ? SMALLEST : bytes;
    int octave = 63 - __builtin_clzll((unsigned long long)n); /* at least 9 */
    size_t step = (size_t)1 << (octave - 3);
    size_t eighth = (n - ((size_t)1 << octave) + step - 1) / step; /* 0 to 8 */
    *rounded = ((size_t)1 << octave) + eighth * step;
    return (octave - 9) * 8 + (int)eighth;
}

static bool push(list *l, void *block) {
    if (!krf__grow(&l->blocks, &l->capacity, l->n + 1, sizeof *l->blocks)) {
        return false;
    }
    l->blocks[l->n++] = block;
    return true;
}

/* Gives all kept blocks back to the backend. */
static void trim(krf__pool *pool) {
    for (int c = 0; c < CLASSES; c++) {
        pthread_mutex_lock(&pool->lock);
        list taken = pool->free[c];
        size_t bytes = ((size_t)1 << (c / 8 + 9)) / 8 * (size_t)(8 + c % 8);
        pool->free[c] = (list){0};
        pool->kept -= taken.n * bytes;
        pthread_mutex_unlock(&pool->lock);
        for (size_t i = 0; i < taken.n; i++) {
            pool->backend->deallocate(pool->device, taken.blocks[i], bytes);
        }
        krf__mem_free(taken.blocks);
    }
}

void krf__pool_destroy(krf__pool *pool) {
    if (pool == NULL) {
        return;
    }
    trim(pool);
    for (int c = 0; c < TICKET_CLASSES; c++) {
        for (size_t i = 0; i < pool->tickets[c].n; i++) {
            pool->backend->deallocate(pool->device, pool->tickets[c].blocks[i], (size_t)4 << c);
        }
        krf__mem_free(pool->tickets[c].blocks);
    }
    pthread_mutex_destroy(&pool->lock);
    krf__mem_free(pool);
}

static krf_status ask_backend(krf__pool *pool, size_t bytes, void **data) {
    krf_status status = pool->backend->allocate(pool->device, bytes, data);
    if (status == KRF_E_MEMORY && pool->pooled) {
        trim(pool);
        status = pool->backend->allocate(pool->device, bytes, data);
    }
    return status;
}

krf_status krf__pool_allocate(krf__pool *pool, size_t bytes, void **data) {
    *data = NULL;
    if (bytes == 0) {
        return KRF_OK;
    }
    if (!pool->pooled || bytes > LARGEST) {
        return ask_backend(pool, bytes, data);
    }
    size_t rounded;
    list *l = &pool->free[size_class(bytes, &rounded)];
    pthread_mutex_lock(&pool->lock);
    if (l->n > 0) {
        *data = l->blocks[--l->n];
        pool->kept -= rounded;
    }
    pthread_mutex_unlock(&pool->lock);
    return *data != NULL ? KRF_OK : ask_backend(pool, rounded, data);
}

void krf__pool_deallocate(krf__pool *pool, void *data, size_t bytes) {
    if (data == NULL) {
        return;
    }
    size_t rounded = bytes;
    bool kept = false;
    if (pool->pooled && bytes <= LARGEST) {
        list *l = &pool->free[size_class(bytes, &rounded)];
        pthread_mutex_lock(&pool->lock);
        kept = pool->kept + rounded <= pool->limit && push(l, data);
        pool->kept += kept ? rounded : 0;
        pthread_mutex_unlock(&pool->lock);
    }
    if (!kept) {
        pool->backend->deallocate(pool->device, data, rounded);
    }
}

static int ticket_class(size_t count) {
    size_t n = count < FEWEST_TICKETS ? FEWEST_TICKETS : count;
    return 64 - __builtin_clzll((unsigned long long)(n - 1));
}

krf_status krf__pool_take_tickets(krf__pool *pool, size_t count, void *stream, void **tickets) {
    *tickets = NULL;
    int c = ticket_class(count);
    if (c >= TICKET_CLASSES) {
        return krf__fail(KRF_E_UNSUPPORTED, "a reduction has too many results to be split (%zu)", count);
    }
    pthread_mutex_lock(&pool->lock);
    if (pool->tickets[c].n > 0) {
        *tickets = pool->tickets[c].blocks[--pool->tickets[c].n];
    }
    pthread_mutex_unlock(&pool->lock);
    if (*tickets != NULL) {
        return KRF_OK;
    }
    size_t bytes = (size_t)4 << c;
    krf_status status = ask_backend(pool, bytes, tickets);
    if (status == KRF_OK) {
        status = pool->backend->zero(pool->device, *tickets, bytes, stream);
        if (status != KRF_OK) {
            pool->backend->deallocate(pool->device, *tickets, bytes);
            *tickets = NULL;
        }
    }
    return status;
}

void krf__pool_give_tickets(krf__pool *pool, void *tickets, size_t count) {
    if (tickets == NULL) {
        return;
    }
    int c = ticket_class(count);
    pthread_mutex_lock(&pool->lock);
    bool kept = push(&pool->tickets[c], tickets);
    pthread_mutex_unlock(&pool->lock);
    if (!kept) {
        pool->backend->deallocate(pool->device, tickets, (size_t)4 << c);
    }
}
