/* Free lists by size class: eight classes an octave, so that at most an eighth of a block is waste; from 1 GiB on
 * multiples of 2 MiB. Of the blocks of a class one is taken that the asking lane used last itself; else one whose lanes
 * are idle; else a new one, so that streams that overlap get memory of their own; and where there is no more, one that
 * is waited for, by the stream. At last everything free goes back to the backend, which is asked once more. */
#include "sched/memory.h"

#include "base/fail.h"
#include "base/mem.h"

#include <pthread.h>
#include <string.h>

enum { CLASSES = 8 * 21, SMALLEST = 512, TICKET_CLASSES = 33, LOOKED_AT = 16, ALIGNMENT = 256 };
#define LARGEST ((size_t)1 << 30)
#define LARGE_UNIT ((size_t)2 << 20)
#define FEWEST_TICKETS ((size_t)1024)

typedef struct block {
    void *data;
    uint64_t lanes; /* that used it */
    size_t bytes;
} block;

typedef struct list {
    block *blocks;
    size_t n, capacity;
} list;

struct krf__pool {
    const krf__backend *backend;
    krf__device *device;
    krf__order *order;
    krf__pool_options options;
    pthread_mutex_t lock;
    size_t held, most_held; /* bytes from the backend */
    size_t used, most_used; /* of those, in use */
    int64_t allocations;    /* by the caller's allocator */
    list free[CLASSES], large;
    list tickets[TICKET_CLASSES]; /* by the binary logarithm of their number */
};

krf_status krf__pool_create(const krf__backend *backend, krf__device *device, krf__order *order,
                            const krf__pool_options *options, krf__pool **pool) {
    *pool = krf__calloc(1, sizeof **pool);
    if (*pool == NULL) {
        return krf__fail_memory();
    }
    (*pool)->backend = backend;
    (*pool)->device = device;
    (*pool)->order = order;
    (*pool)->options = *options;
    if (pthread_mutex_init(&(*pool)->lock, NULL) != 0) {
        krf__mem_free(*pool);
        *pool = NULL;
        return krf__fail_memory();
    }
    return KRF_OK;
}

/* ---- sizes ---- */

static list *list_of(krf__pool *pool, size_t bytes, size_t *rounded) {
    if (bytes > LARGEST) {
        *rounded = bytes > SIZE_MAX - LARGE_UNIT ? bytes : (bytes + LARGE_UNIT - 1) / LARGE_UNIT * LARGE_UNIT;
        return &pool->large;
    }
    size_t n = bytes <= SMALLEST ? SMALLEST : bytes;
    int octave = 63 - __builtin_clzll((unsigned long long)n); /* at least 9 */
    size_t step = (size_t)1 << (octave - 3);
    size_t eighth = (n - ((size_t)1 << octave) + step - 1) / step; /* 0 to 8 */
    *rounded = ((size_t)1 << octave) + eighth * step;
    return &pool->free[(octave - 9) * 8 + (int)eighth];
}

/* ---- lists; the lock is held ---- */

static bool push(list *l, block b) {
    if (!krf__grow(&l->blocks, &l->capacity, l->n + 1, sizeof *l->blocks)) {
        return false;
    }
    l->blocks[l->n++] = b;
    return true;
}

static block take_at(list *l, size_t at) {
    block b = l->blocks[at];
    l->blocks[at] = l->blocks[--l->n];
    return b;
}

/* A block that no other lane than this one has used. data NULL: there is none. */
static block take_own(list *l, size_t bytes, int lane) {
    uint64_t others = lane == KRF__NO_LANE ? 0 : ~(UINT64_C(1) << lane);
    size_t looked = 0;
    for (size_t i = l->n; i-- > 0 && looked < LOOKED_AT; looked++) {
        if (l->blocks[i].bytes == bytes && (l->blocks[i].lanes & others) == 0) {
            return take_at(l, i);
        }
    }
    return (block){0};
}

/* The one that came back first: it is most likely idle. */
static block take_any(list *l, size_t bytes) {
    for (size_t i = 0; i < l->n; i++) {
        if (l->blocks[i].bytes == bytes) {
            return take_at(l, i);
        }
    }
    return (block){0};
}

/* ---- the backend, or the caller's allocator ---- */

static krf_status allocate_raw(krf__pool *pool, size_t bytes, void **data) {
    const krf_allocator *a = &pool->options.allocator;
    if (a->allocate == NULL) {
        return pool->backend->allocate(pool->device, bytes, data);
    }
    void *stream = pool->backend->streams->own(pool->device);
    *data = a->allocate(a->user, bytes, stream);
    if (*data == NULL) {
        return krf__fail(KRF_E_MEMORY, "out of memory: the allocator of the context's options gave no %zu bytes", bytes);
    }
    if ((uintptr_t)*data % ALIGNMENT != 0) {
        a->deallocate(a->user, *data, bytes, stream);
        *data = NULL;
        return krf__fail(KRF_E_ARGUMENT, "the allocator of the context's options gave memory that is not aligned to %d bytes",
                         ALIGNMENT);
    }
    pthread_mutex_lock(&pool->lock);
    pool->allocations++;
    pthread_mutex_unlock(&pool->lock);
    return KRF_OK;
}

/* The own stream comes after all that used the memory; where no order can be made, the host waits. */
static void deallocate_raw(krf__pool *pool, void *data, size_t bytes, uint64_t lanes) {
    const krf_allocator *a = &pool->options.allocator;
    krf__lane lane;
    krf_status status = krf__lane_enter(pool->order, NULL, &lane);
    status = status == KRF_OK ? krf__lane_follow(&lane, lanes) : status;
    if (status != KRF_OK && status != KRF_E_LOST) {
        (void)krf__order_wait(pool->order, lanes);
    }
    if (a->deallocate != NULL) {
        a->deallocate(a->user, data, bytes, pool->backend->streams->own(pool->device));
    } else {
        pool->backend->deallocate(pool->device, data, bytes);
    }
    krf__lane_finish(&lane, KRF_OK);
}

static void count_held(krf__pool *pool, size_t bytes, bool more) {
    pthread_mutex_lock(&pool->lock);
    pool->held += more ? bytes : 0 - bytes;
    pool->most_held = pool->held > pool->most_held ? pool->held : pool->most_held;
    pthread_mutex_unlock(&pool->lock);
}

static void give_back(krf__pool *pool, list *l) {
    pthread_mutex_lock(&pool->lock);
    list taken = *l;
    *l = (list){0};
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < taken.n; i++) {
        deallocate_raw(pool, taken.blocks[i].data, taken.blocks[i].bytes, taken.blocks[i].lanes);
        count_held(pool, taken.blocks[i].bytes, false);
    }
    krf__mem_free(taken.blocks);
}

static void trim_lists(krf__pool *pool) {
    for (int c = 0; c < CLASSES; c++) {
        give_back(pool, &pool->free[c]);
    }
    give_back(pool, &pool->large);
}

void krf__pool_trim(krf__pool *pool) {
    trim_lists(pool);
    pool->backend->trim(pool->device);
}

void krf__pool_destroy(krf__pool *pool) {
    if (pool == NULL) {
        return;
    }
    trim_lists(pool);
    for (int c = 0; c < TICKET_CLASSES; c++) {
        give_back(pool, &pool->tickets[c]);
    }
    pthread_mutex_destroy(&pool->lock);
    krf__mem_free(pool);
}

/* Counts the bytes as held, unless that would be above the limit. What the backend keeps counts too. */
static bool within_limit(krf__pool *pool, size_t bytes) {
    krf__taken taken = {0};
    size_t limit = pool->options.limit;
    if (limit != 0 && pool->options.allocator.allocate == NULL) {
        pool->backend->taken(pool->device, &taken);
    }
    pthread_mutex_lock(&pool->lock);
    bool fits = limit == 0
                || (bytes <= limit && pool->held <= limit - bytes && taken.kept <= limit - bytes - pool->held);
    pool->held += fits ? bytes : 0;
    pool->most_held = pool->held > pool->most_held ? pool->held : pool->most_held;
    pthread_mutex_unlock(&pool->lock);
    return fits;
}

static krf_status refuse(krf__pool *pool, size_t bytes) {
    pthread_mutex_lock(&pool->lock);
    size_t used = pool->used;
    pthread_mutex_unlock(&pool->lock);
    return krf__fail(KRF_E_MEMORY, "out of memory: %zu bytes are wanted and %zu are in use, of %zu that the limit allows",
                     bytes, used, pool->options.limit);
}

static krf_status ask_once(krf__pool *pool, size_t bytes, void **data) {
    if (!within_limit(pool, bytes)) {
        return refuse(pool, bytes);
    }
    krf_status status = allocate_raw(pool, bytes, data);
    if (status != KRF_OK) {
        count_held(pool, bytes, false);
    }
    return status;
}

static krf_status ask_backend(krf__pool *pool, size_t bytes, void **data) {
    krf_status status = ask_once(pool, bytes, data);
    if (status == KRF_E_MEMORY && (pool->options.keeps || pool->options.limit != 0)) {
        krf__pool_trim(pool);
        status = ask_once(pool, bytes, data);
    }
    return status;
}

/* ---- blocks ---- */

static block find_free(krf__pool *pool, list *l, size_t bytes, int lane) {
    pthread_mutex_lock(&pool->lock);
    block b = take_own(l, bytes, lane);
    block other = b.data == NULL ? take_any(l, bytes) : b;
    pthread_mutex_unlock(&pool->lock);
    return other;
}

static void put_free(krf__pool *pool, list *l, block b) {
    pthread_mutex_lock(&pool->lock);
    bool kept = push(l, b);
    pthread_mutex_unlock(&pool->lock);
    if (!kept) {
        deallocate_raw(pool, b.data, b.bytes, b.lanes);
        count_held(pool, b.bytes, false);
    }
}

static bool serves(krf__pool *pool, const block *b, int lane) {
    uint64_t others = lane == KRF__NO_LANE ? 0 : b->lanes & ~(UINT64_C(1) << lane);
    return others == 0 || krf__order_idle(pool->order, others);
}

static krf_status allocate(krf__pool *pool, list *l, size_t bytes, int lane, block *b) {
    block found = find_free(pool, l, bytes, lane);
    *b = found;
    if (found.data != NULL && serves(pool, &found, lane)) {
        return KRF_OK;
    }
    *b = (block){.lanes = UINT64_C(1) << KRF__OWN_LANE, .bytes = bytes};
    if (found.data == NULL) {
        return ask_backend(pool, bytes, &b->data);
    }
    krf_status status = ask_once(pool, bytes, &b->data);
    if (status == KRF_OK) {
        put_free(pool, l, found);
    } else { /* it is waited for; or the device is lost, which whoever uses it is told */
        *b = found;
    }
    return KRF_OK;
}

krf_status krf__pool_allocate(krf__pool *pool, size_t bytes, int lane, void **data, uint64_t *lanes) {
    *data = NULL;
    *lanes = 0;
    if (bytes == 0) {
        return KRF_OK;
    }
    size_t rounded;
    list *l = list_of(pool, bytes, &rounded);
    rounded = pool->options.keeps ? rounded : bytes;
    block b;
    krf_status status = allocate(pool, l, rounded, lane, &b);
    if (status != KRF_OK) {
        return status;
    }
    pthread_mutex_lock(&pool->lock);
    pool->used += rounded;
    pool->most_used = pool->used > pool->most_used ? pool->used : pool->most_used;
    pthread_mutex_unlock(&pool->lock);
    *data = b.data;
    *lanes = b.lanes;
    return KRF_OK;
}

void krf__pool_deallocate(krf__pool *pool, void *data, size_t bytes, uint64_t lanes) {
    if (data == NULL) {
        return;
    }
    size_t rounded;
    list *l = list_of(pool, bytes, &rounded);
    rounded = pool->options.keeps ? rounded : bytes;
    block b = {data, lanes, rounded};
    pthread_mutex_lock(&pool->lock);
    pool->used -= rounded;
    bool kept = pool->options.keeps && push(l, b);
    pthread_mutex_unlock(&pool->lock);
    if (!kept) {
        deallocate_raw(pool, data, rounded, lanes);
        count_held(pool, rounded, false);
    }
}

/* Nothing may be asked about events while the stream is being captured. */
static int preferred(const krf__lane *lane) { return lane->capturing ? KRF__NO_LANE : lane->index; }

krf_status krf__pool_borrow(krf__pool *pool, size_t bytes, krf__lane *lane, void **data) {
    uint64_t lanes;
    krf_status status = krf__pool_allocate(pool, bytes, preferred(lane), data, &lanes);
    if (status == KRF_OK) {
        status = krf__lane_follow(lane, lanes);
        if (status != KRF_OK) {
            krf__pool_deallocate(pool, *data, bytes, lanes);
            *data = NULL;
        }
    }
    return status;
}

/* ---- tickets ---- */

static int ticket_class(size_t count) {
    size_t n = count < FEWEST_TICKETS ? FEWEST_TICKETS : count;
    return 64 - __builtin_clzll((unsigned long long)(n - 1));
}

krf_status krf__pool_take_tickets(krf__pool *pool, size_t count, krf__lane *lane, void **tickets) {
    *tickets = NULL;
    int c = ticket_class(count);
    if (c >= TICKET_CLASSES) {
        return krf__fail(KRF_E_UNSUPPORTED, "a reduction has too many results to be split (%zu)", count);
    }
    size_t bytes = (size_t)4 << c;
    block b = find_free(pool, &pool->tickets[c], bytes, preferred(lane));
    if (b.data != NULL && !serves(pool, &b, preferred(lane))) {
        put_free(pool, &pool->tickets[c], b);
        b = (block){0};
    }
    krf_status status = KRF_OK;
    bool fresh = b.data == NULL;
    if (fresh) {
        b = (block){.lanes = UINT64_C(1) << KRF__OWN_LANE, .bytes = bytes};
        status = ask_backend(pool, bytes, &b.data);
    }
    bool early = fresh && lane->capturing; /* zeros that are written now, not by the graph */
    status = status == KRF_OK && early ? pool->backend->zero(pool->device, b.data, bytes, NULL) : status;
    status = status == KRF_OK ? krf__lane_follow(lane, b.lanes) : status;
    if (status == KRF_OK && fresh && !early) {
        status = pool->backend->zero(pool->device, b.data, bytes, lane->stream);
    }
    if (status == KRF_OK) {
        *tickets = b.data;
    } else if (b.data != NULL && fresh) {
        deallocate_raw(pool, b.data, bytes, b.lanes | krf__lane_bit(lane));
        count_held(pool, bytes, false);
    } else if (b.data != NULL) {
        put_free(pool, &pool->tickets[c], b);
    }
    return status;
}

void krf__pool_give_tickets(krf__pool *pool, void *tickets, size_t count, uint64_t lanes) {
    if (tickets != NULL) {
        int c = ticket_class(count);
        put_free(pool, &pool->tickets[c], (block){tickets, lanes, (size_t)4 << c});
    }
}

void krf__pool_release(krf__pool *pool, krf__held *held) {
    while (held != NULL) {
        krf__held *next = held->next;
        if (held->tickets) {
            krf__pool_give_tickets(pool, held->data, held->bytes, 0);
        } else {
            krf__pool_deallocate(pool, held->data, held->bytes, 0);
        }
        krf__mem_free(held);
        held = next;
    }
}

/* ---- figures ---- */

void krf__pool_stats(krf__pool *pool, krf_memory_stats *stats) {
    krf__taken taken = {0};
    pool->backend->taken(pool->device, &taken);
    pthread_mutex_lock(&pool->lock);
    int64_t blocks = (int64_t)pool->large.n;
    for (int c = 0; c < CLASSES; c++) {
        blocks += (int64_t)pool->free[c].n;
    }
    stats->used = (int64_t)pool->used;
    stats->most_used = (int64_t)pool->most_used;
    stats->reserved = (int64_t)(pool->held + taken.kept);
    stats->most_reserved = (int64_t)(pool->most_held > pool->held + taken.kept ? pool->most_held : pool->held + taken.kept);
    stats->free_blocks = blocks;
    stats->allocations = taken.allocations + pool->allocations;
    stats->limit = (int64_t)pool->options.limit;
    pthread_mutex_unlock(&pool->lock);
}

bool krf__memory_limit_parse(const char *text, size_t all, size_t *bytes) {
    uint64_t n = 0, unit = 1;
    *bytes = 0;
    if (text == NULL) {
        return true;
    }
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && n < UINT64_MAX / 16; at++) {
        n = n * 10 + (uint64_t)(*at - '0');
    }
    if (at == text || n == 0) {
        return false;
    }
    switch (*at) {
    case '%':
        *bytes = (size_t)((double)all * (double)n / 100);
        return n <= 100 && at[1] == '\0';
    case 'K': unit = UINT64_C(1) << 10; break;
    case 'M': unit = UINT64_C(1) << 20; break;
    case 'G': unit = UINT64_C(1) << 30; break;
    case 'T': unit = UINT64_C(1) << 40; break;
    default: break;
    }
    at += unit > 1;
    if (*at != '\0' || n > SIZE_MAX / unit) {
        return false;
    }
    *bytes = (size_t)(n * unit);
    return true;
}
