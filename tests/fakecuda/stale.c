/* Copies of the memory that a kernel and the one that follows it may write: from before each of the two. */
#include "stale.h"

#include "stream.h"

#include <stdlib.h>
#include <string.h>

/* More than this of what a kernel may write is not copied. */
#define MOST ((size_t)4 << 20)

typedef struct region {
    unsigned char *at;
    size_t bytes;
    bool kept;       /* in the last copy */
    bool written[2]; /* perhaps, by the kernel of each copy */
    size_t place[2]; /* in each copy that has it */
} region;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool closed;      /* one thread has device memory to itself, and with it all that follows but for what is counted */
static unsigned running; /* that touch device memory */
static uint64_t items;   /* that did or do */

static region *regions;
static size_t n_regions, room;
static unsigned char *copies[2];
static unsigned last; /* the copy from before the last kernel; the other one is of the kernel before it */

/* The last kernel, if its copy is of use: its place, and how many items there had been with it. */
static const struct fake_line *owner;
static uint64_t owner_seq, owner_items;

/* With the lock held. ThreadSanitizer must not see streams that wait for each other here: there it is never taken. */
static void wait_open(void) {
    while (closed) {
        pthread_cond_wait(&opened, &lock);
    }
}

static void open_all(void) {
    pthread_mutex_lock(&lock);
    closed = false;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
}

void fake_touch(void) {
    if (!fake_tsan()) {
        pthread_mutex_lock(&lock);
        wait_open();
        running++;
        items++;
        pthread_mutex_unlock(&lock);
    }
}

void fake_touched(void) {
    if (!fake_tsan()) {
        pthread_mutex_lock(&lock);
        running--;
        pthread_mutex_unlock(&lock);
    }
}

/* Memory is allocated between kernels that follow each other: that disturbs nobody. */
void fake_stale_add(unsigned char *at, size_t bytes) {
    if (fake_tsan()) {
        return;
    }
    pthread_mutex_lock(&lock);
    wait_open();
    if (n_regions == room) {
        room = 2 * room + 64;
        regions = realloc(regions, room * sizeof *regions);
        if (!regions) {
            fake_die("out of host memory");
        }
    }
    regions[n_regions++] = (region){.at = at, .bytes = bytes};
    pthread_mutex_unlock(&lock);
}

void fake_stale_drop(const unsigned char *at) {
    if (fake_tsan()) {
        return;
    }
    pthread_mutex_lock(&lock);
    wait_open();
    for (size_t i = 0; i < n_regions; i++) {
        if (regions[i].at == at) {
            regions[i] = regions[--n_regions];
        }
    }
    items++;
    pthread_mutex_unlock(&lock);
}

void fake_stale_forget(const struct fake_line *line, uint64_t seq) {
    if (!fake_tsan()) {
        pthread_mutex_lock(&lock);
        owner = owner == line && owner_seq <= seq ? NULL : owner;
        pthread_mutex_unlock(&lock);
    }
}

/* ---- alone with device memory ---- */

static unsigned char *copy_of(const region *r, unsigned which) { return copies[which] + r->place[which]; }

/* Whether an argument is an address there: kernels write nothing else. */
static bool names(const fake_work *w, const region *r) {
    for (unsigned a = 0; a < w->kernel->arguments; a++) {
        uintptr_t word;
        for (size_t at = 0; at + sizeof word <= w->kernel->bytes[a]; at += sizeof word) {
            memcpy(&word, (const char *)w->arguments[a] + at, sizeof word);
            if (word - (uintptr_t)r->at < r->bytes) {
                return true;
            }
        }
    }
    return false;
}

/* Takes what the kernel may write, and where it follows the last one what that wrote. */
static void keep(const fake_work *w, bool follows) {
    size_t end = 0, own = 0;
    copies[last] = copies[last] ? copies[last] : malloc(2 * MOST);
    if (!copies[last]) {
        fake_die("out of host memory");
    }
    for (size_t i = 0; i < n_regions; i++) {
        region *r = &regions[i];
        r->written[last] = r->bytes <= MOST - own && names(w, r);
        own += r->written[last] ? r->bytes : 0;
        r->kept = r->written[last] || (follows && r->written[!last]);
        if (r->kept) {
            r->place[last] = end;
            memcpy(copy_of(r, last), r->at, r->bytes);
            end += r->bytes;
        }
    }
}

static void put_back(const region *r, unsigned which) {
    if (memcmp(r->at, copy_of(r, which), r->bytes) != 0) {
        memcpy(r->at, copy_of(r, which), r->bytes);
    }
}

/* Whether this kernel may be alone, and follows the last one (the only item since is this kernel itself). */
static bool enter(const fake_work *w, bool *follows) {
    pthread_mutex_lock(&lock);
    *follows = w->early && owner == w->line && items == owner_items + 1;
    closed = running == 1 && !fake_racing();
    owner = closed ? w->line : NULL;
    owner_seq = atomic_load_explicit(&w->line->done, memory_order_relaxed) + 1;
    owner_items = items;
    const bool alone = closed;
    pthread_mutex_unlock(&lock);
    return alone;
}

bool fake_stale_begin(const fake_work *w) {
    bool follows;
    if (fake_tsan() || !enter(w, &follows)) {
        return false;
    }
    last = !last;
    keep(w, follows);
    for (size_t i = 0; follows && i < n_regions; i++) {
        if (regions[i].written[!last]) {
            put_back(&regions[i], !last);
        }
    }
    if (!follows) {
        open_all();
    }
    fake_me.stale = follows;
    return follows;
}

static void check(const region *r) {
    const unsigned char *wanted = copy_of(r, r->written[!last] ? !last : last);
    for (size_t i = 0; r->kept && i < r->bytes; i++) {
        if (r->at[i] != wanted[i]) {
            fake_die("%s may begin before the kernel that it depends on has ended, and stores to %p, %zu bytes from the start of an allocation of %zu bytes, before it waits for that",
                     fake_me.kernel, (const void *)&r->at[i], i, r->bytes);
        }
    }
}

void fake_stale_wait(void) {
    for (size_t i = 0; fake_me.stale && i < n_regions; i++) {
        check(&regions[i]);
    }
    fake_stale_end();
}

void fake_stale_end(void) {
    if (!fake_me.stale) {
        return;
    }
    for (size_t i = 0; i < n_regions; i++) {
        if (regions[i].kept) {
            put_back(&regions[i], last);
        }
    }
    fake_me.stale = false;
    open_all();
}
