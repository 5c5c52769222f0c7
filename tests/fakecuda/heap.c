/* The table of device memory, its red zones and patterns. */
#include "heap.h"

#include "stale.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* ALIGN twice ZONE, so that no address is aligned better than the real driver's at least are. */
enum { ZONE = 256, ALIGN = 512, NEW = 0xcb, OLD = 0xdd, GUARD = 0xfa };
/* Of large blocks only so much is filled: tests of 64-bit indices would take minutes. */
#define MOST_FILLED ((size_t)16 << 20)

static fake_memory *memory;
static size_t used[FAKE_MOST_DEVICES];

/* ---- the host's part ---- */

static size_t capacity(const fake_memory *m) { return m->total - 2 * ZONE; }

/* What this stream freed before: stream order makes it free now. Not much larger than what is asked for. */
static fake_memory *reuse(size_t bytes, cu_pool pool, cu_stream stream) {
    for (fake_memory *m = memory; m; m = m->next) {
        if (m->freed_on == stream && m->pool == pool && capacity(m) >= bytes && capacity(m) / 2 <= bytes + ALIGN) {
            m->freed_on = NULL;
            fake_line_drop(m->line);
            m->line = NULL;
            return m;
        }
    }
    return NULL;
}

fake_memory *fake_heap_new(size_t bytes, cu_pool pool, cu_stream stream) {
    const int device = fake_device();
    pthread_rwlock_wrlock(&fake_lock);
    fake_memory *m = pool ? reuse(bytes, pool, stream) : NULL;
    if (!m && bytes <= fake_total_memory() && fake_total_memory() - used[device] >= bytes) {
        size_t total = (bytes + ALIGN - 1) / ALIGN * ALIGN + 2 * ZONE;
        m = calloc(1, sizeof *m);
        unsigned char *base = aligned_alloc(ALIGN, total);
        if (!m || !base) {
            fake_die("the host has no %zu bytes of memory", total);
        }
        *m = (fake_memory){.next = memory, .base = base, .user = base + ZONE, .total = total, .pool = pool, .device = device};
        memory = m;
        used[device] += capacity(m);
    }
    if (m) {
        m->bytes = bytes;
    }
    pthread_rwlock_unlock(&fake_lock);
    return m;
}

fake_memory *fake_heap_find(cu_address address) {
    pthread_rwlock_rdlock(&fake_lock);
    fake_memory *m = memory;
    while (m && (m->freed_on || (cu_address)(uintptr_t)m->user != address)) {
        m = m->next;
    }
    pthread_rwlock_unlock(&fake_lock);
    return m;
}

/* With fake_lock held. */
static const fake_memory *around(cu_address address, size_t bytes) {
    for (const fake_memory *m = memory; m; m = m->next) {
        cu_address first = (cu_address)(uintptr_t)m->user;
        if (!m->freed_on && address >= first && address - first <= m->bytes && bytes <= m->bytes - (address - first)) {
            return m;
        }
    }
    return NULL;
}

static bool may_use(int device, const fake_memory *m) {
    return m->device == device || (m->pool && (fake_pool_users(m->pool) >> device & 1) != 0);
}

bool fake_heap_holds(cu_address address, size_t bytes) {
    pthread_rwlock_rdlock(&fake_lock);
    bool holds = around(address, bytes) != NULL;
    pthread_rwlock_unlock(&fake_lock);
    return holds;
}

bool fake_heap_reaches(int device, cu_address address, size_t bytes) {
    pthread_rwlock_rdlock(&fake_lock);
    const fake_memory *m = around(address, bytes);
    bool reaches = m && may_use(device, m);
    pthread_rwlock_unlock(&fake_lock);
    return reaches;
}

int fake_heap_device(cu_address address) {
    pthread_rwlock_rdlock(&fake_lock);
    const fake_memory *m = around(address, 1);
    int device = m ? m->device : -1;
    pthread_rwlock_unlock(&fake_lock);
    return device;
}

cu_address fake_heap_foreign(int device, const void *block, size_t bytes) {
    cu_address found = 0, word;
    pthread_rwlock_rdlock(&fake_lock);
    for (size_t at = 0; at + sizeof word <= bytes && found == 0; at += sizeof word) {
        memcpy(&word, (const char *)block + at, sizeof word);
        const fake_memory *m = word % 2 == 0 ? around(word, 1) : NULL;
        found = m && !may_use(device, m) ? word : 0;
    }
    pthread_rwlock_unlock(&fake_lock);
    return found;
}

void fake_heap_retire(fake_memory *m, cu_stream stream, uint64_t seq) {
    pthread_rwlock_wrlock(&fake_lock);
    m->freed_on = stream;
    m->freed_at = seq;
    m->line = fake_line_share(stream->line);
    pthread_rwlock_unlock(&fake_lock);
}

static void delete_locked(fake_memory *m) {
    for (fake_memory **at = &memory; *at; at = &(*at)->next) {
        if (*at == m) {
            *at = m->next;
            break;
        }
    }
    used[m->device] -= capacity(m);
    if (m->line) {
        fake_line_drop(m->line);
    }
#ifdef WITH_ASAN
    ASAN_UNPOISON_MEMORY_REGION(m->base, m->total);
#endif
    free(m->base);
    free(m);
}

void fake_heap_delete(fake_memory *m) {
    pthread_rwlock_wrlock(&fake_lock);
    delete_locked(m);
    pthread_rwlock_unlock(&fake_lock);
}

size_t fake_heap_trim(cu_pool pool) {
    size_t left = 0;
    pthread_rwlock_wrlock(&fake_lock);
    for (fake_memory *m = memory, *next; m; m = next) {
        next = m->next;
        if (m->pool == pool && m->freed_on && fake_line_reached(m->line, m->freed_at)) {
            delete_locked(m);
        } else if (m->pool == pool) {
            left += m->bytes;
        }
    }
    pthread_rwlock_unlock(&fake_lock);
    return left;
}

void fake_heap_usage(size_t *bytes) {
    pthread_rwlock_rdlock(&fake_lock);
    *bytes = used[fake_device()];
    pthread_rwlock_unlock(&fake_lock);
}

int fake_heap_live(void) {
    int live = 0;
    pthread_rwlock_rdlock(&fake_lock);
    for (const fake_memory *m = memory; m; m = m->next) {
        live += m->freed_on == NULL;
    }
    pthread_rwlock_unlock(&fake_lock);
    return live;
}

void fake_heap_report(void) {
    for (const fake_memory *m = memory; m; m = m->next) {
        if (!m->freed_on) {
            fprintf(stderr, " %zu bytes at %p", m->bytes, (void *)m->user);
        }
    }
}

/* ---- the memory itself ---- */

static void fill(unsigned char *at, int value, size_t bytes) {
    memset(at, value, bytes < MOST_FILLED ? bytes : MOST_FILLED);
}

#ifdef WITH_ASAN

void fake_heap_begin(const fake_memory *m) {
    ASAN_UNPOISON_MEMORY_REGION(m->base, m->total);
    fill(m->user, NEW, m->bytes);
    ASAN_POISON_MEMORY_REGION(m->base, ZONE);
    ASAN_POISON_MEMORY_REGION(m->user + m->bytes, (size_t)(m->base + m->total - m->user) - m->bytes);
    fake_stale_add(m->user, m->bytes);
}

void fake_heap_end(const fake_memory *m) {
    fake_stale_drop(m->user);
    fill(m->user, OLD, m->bytes);
    ASAN_POISON_MEMORY_REGION(m->base, m->total);
}

#else

void fake_heap_begin(const fake_memory *m) {
    memset(m->base, GUARD, ZONE);
    fill(m->user, NEW, m->bytes);
    memset(m->user + m->bytes, GUARD, (size_t)(m->base + m->total - m->user) - m->bytes);
    fake_stale_add(m->user, m->bytes);
}

static void check(const fake_memory *m, const unsigned char *from, const unsigned char *to) {
    for (; from < to; from++) {
        if (*from != GUARD) {
            fake_die("something wrote to %p, %td bytes from the start of an allocation of %zu bytes",
                     (const void *)from, from - m->user, m->bytes);
        }
    }
}

void fake_heap_end(const fake_memory *m) {
    fake_stale_drop(m->user);
    check(m, m->base, m->user);
    check(m, m->user + m->bytes, m->base + m->total);
    fill(m->user, OLD, m->bytes);
}

#endif
