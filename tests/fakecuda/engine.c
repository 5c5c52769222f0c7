/* Grids as loops over blocks, what images call, and kernels that cannot go on. */
#include "engine.h"
#include "stale.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define SANITIZED true
#elif defined __has_feature
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif
#if defined __SANITIZE_THREAD__
#define WITH_TSAN true
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define WITH_TSAN true
#endif
#endif
#ifndef WITH_TSAN
#define WITH_TSAN false
#endif

#if defined __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#define GUARD(at, bytes) ASAN_POISON_MEMORY_REGION(at, bytes)
#define UNGUARD(at, bytes) ASAN_UNPOISON_MEMORY_REGION(at, bytes)
#else
#define GUARD(at, bytes) (void)(at)
#define UNGUARD(at, bytes) (void)(at)
#endif

enum { SHARED_POISON = 0xcd };

_Thread_local fake_self fake_me __attribute__((tls_model("initial-exec")));

bool fake_sanitized(void) { return SANITIZED; }

bool fake_tsan(void) { return WITH_TSAN; }

bool fake_racing(void) { return fake_setting("FAKECUDA_RACE", 0) != 0; }

unsigned fake_blocks_at_once(void) {
    long n = fake_racing() ? fake_setting("FAKECUDA_BLOCKS", 2) : 1;
    return n < 1 ? 1 : n > FAKE_MOST_BLOCKS ? FAKE_MOST_BLOCKS : (unsigned)n;
}

/* ---- order and place ---- */

static uint64_t scramble(uint64_t x) { /* splitmix64 (Steele, Lea, Flood 2014) */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* i * step + offset modulo n, the step a prime that does not divide n. */
uint64_t fake_order(uint64_t i, uint64_t n, uint64_t seed) {
    static const uint64_t primes[] = {1000003, 999983, 611953, 7919, 104729, 15485863};
    if (seed == 0 || n < 2) {
        return i;
    }
    uint64_t random = scramble(seed), step = 1;
    for (size_t k = 0; k < sizeof primes / sizeof *primes && step == 1; k++) {
        uint64_t prime = primes[(random + k) % (sizeof primes / sizeof *primes)];
        step = n % prime != 0 ? prime % n : 1;
    }
    return (i * (step ? step : 1) + random % n) % n;
}

fakecuda_index fake_position(uint64_t n, fakecuda_index extent) {
    return (fakecuda_index){(unsigned)(n % extent.x), (unsigned)(n / extent.x % extent.y),
                            (unsigned)(n / extent.x / extent.y)};
}

fakecuda_index fake_block_at(const fake_work *w, uint64_t n) {
    uint64_t clusters = (uint64_t)w->grid.x * w->grid.y * w->grid.z / w->cluster;
    return fake_position(fake_order(n / w->cluster, clusters, w->seed) * w->cluster + n % w->cluster, w->grid);
}

fakecuda_thread fake_thread_at(const fake_work *w, fakecuda_index block, unsigned thread) {
    return (fakecuda_thread){fake_position(thread, w->block), block, w->block, w->grid, 0};
}

/* Behind what the launch has of dynamic shared memory: bytes that nobody may touch. */
static unsigned guard_of(const fake_work *w) { return FAKECUDA_DYNAMIC - w->shared < 1024 ? FAKECUDA_DYNAMIC - w->shared : 1024; }

void fake_poison_shared(const fake_work *w, const fake_copy *copy) {
    for (volatile char *at = copy->image->shared_begin; at < copy->image->shared_end; at++) {
        *at = (char)SHARED_POISON;
    }
    if (copy->image->dynamic) {
        UNGUARD(copy->image->dynamic, FAKECUDA_DYNAMIC);
        memset(copy->image->dynamic, SHARED_POISON, w->shared + guard_of(w));
        GUARD(copy->image->dynamic + w->shared, FAKECUDA_DYNAMIC - w->shared);
    }
}

void fake_check_shared(const fake_work *w, const fake_copy *copy) {
    char *end = copy->image->dynamic ? copy->image->dynamic + w->shared : NULL;
    if (!end) {
        return;
    }
    UNGUARD(end, FAKECUDA_DYNAMIC - w->shared);
    for (unsigned i = 0; i < guard_of(w); i++) {
        if (end[i] != (char)SHARED_POISON) {
            fake_die("%s: a write %u bytes behind the %u bytes of dynamic shared memory", w->name, i, w->shared);
        }
    }
}

/* ---- a grid ---- */

/* Blocks in one loop; faults end it: false. */
static bool run_plain(const fake_work *w, uint64_t first, uint64_t blocks) {
    fakecuda_thread here;
    fake_me.mode = FAKE_PLAIN;
    fake_me.here = &here;
    if (sigsetjmp(fake_me.exit, 0) == 0) {
        for (uint64_t n = first; n < blocks; n++) {
            fakecuda_index block = fake_block_at(w, n);
            for (unsigned i = 0; i < w->threads; i++) {
                here = fake_thread_at(w, block, (unsigned)fake_order(i, w->threads, w->seed ? w->seed + n : 0));
                w->call[0](w->arguments);
            }
        }
        return true;
    }
    return false;
}

/* Who may begin early must wait in every thread. */
static void check_waits(const fake_work *w, uint64_t threads) {
    const unsigned long long waited = atomic_load_explicit(w->grid_waits, memory_order_relaxed);
    if (w->early && waited != threads) {
        fake_die("%s may begin before the kernel that it depends on has ended, and %llu of its %llu threads wait for that", w->name, waited, (unsigned long long)threads);
    }
}

void fake_run(const fake_work *work) {
    atomic_ullong grid_waits;
    fake_work own = *work;
    const fake_work *w = &own;
    own.grid_waits = &grid_waits;
    atomic_init(&grid_waits, 0);
    uint64_t blocks = (uint64_t)w->grid.x * w->grid.y * w->grid.z;
    fake_me.grid_waits = &grid_waits;
    fake_me.kernel = w->name;
    fake_touch();
    const bool stale = fake_stale_begin(w), waits = w->copies[0]->image->waits;
    bool going = true;
    if (fake_racing() || (waits && WITH_TSAN)) { /* ThreadSanitizer does not know our fibers */
        const unsigned most = w->n_copies / w->cluster * w->cluster;
        for (uint64_t n = 0; n < blocks && going; n += most) {
            going = fake_run_threads(w, n, blocks - n < most ? (unsigned)(blocks - n) : most);
        }
    } else {
        /* All threads of a block that sees old contents get as far as they do before one of them waits. */
        const uint64_t on_fibers = waits ? blocks : stale ? w->cluster : 0;
        for (uint64_t n = 0; n < on_fibers && going; n += w->cluster) {
            for (unsigned b = 0; b < w->cluster; b++) {
                fake_poison_shared(w, w->copies[b]);
            }
            going = fake_run_fibers(w, n);
            for (unsigned b = 0; b < w->cluster && going; b++) {
                fake_check_shared(w, w->copies[b]);
            }
        }
        going = going && (waits || run_plain(w, on_fibers, blocks));
    }
    fake_stale_end();
    if (going) {
        check_waits(w, blocks * w->threads);
    }
    fake_touched();
    fake_me = (fake_self){.mode = FAKE_IDLE};
}

/* ---- what images call ---- */

static const fakecuda_thread *here(void) { return fake_me.here; }

static void barrier(int line) {
    if (fake_me.mode == FAKE_THREADS) {
        fake_thread_barrier(line);
    } else {
        fake_fiber_barrier(line);
    }
}

static unsigned long long shuffle_down(unsigned mask, unsigned long long bits, unsigned delta, int line) {
    return fake_me.mode == FAKE_THREADS ? fake_thread_shuffle(mask, bits, delta, line)
                                        : fake_fiber_shuffle(mask, bits, delta, line);
}

static void fence(void) {
    if (fake_me.mode == FAKE_THREADS) {
        fake_thread_fence();
    }
}

/* CUDA's atomicInc: 0 after the limit. Orders nothing. Blocks that race arrive in another order than that of their
 * other work, so that what stands before cannot order them by chance. */
static unsigned atomic_inc(unsigned *at, unsigned limit) {
    if (fake_me.mode == FAKE_THREADS) {
        fakecuda_index block = fake_me.here->block;
        usleep((useconds_t)(scramble(block.x + block.y * 1000003ull + fake_me.seed) % 4 * 3000));
    }
    _Atomic unsigned *word = (_Atomic unsigned *)at;
    unsigned old = atomic_load_explicit(word, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(word, &old, old >= limit ? 0 : old + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
    return old;
}

/* Among threads every second one that takes a number dawdles, so that its successor comes first: with a seed the others. */
static unsigned atomic_add(unsigned *at, unsigned value) {
    unsigned old = atomic_fetch_add_explicit((_Atomic unsigned *)at, value, memory_order_relaxed);
    if (fake_me.mode == FAKE_THREADS && old % 2 == (fake_me.seed != 0)) {
        usleep(20000);
    }
    return old;
}

static void misaligned(const void *address, int line) {
    fake_abandon(KRF__CUDA_ERROR_MISALIGNED_ADDRESS, "line %d: a vector at the misaligned address %p", line, address);
}

static void cluster_arrive(int line) {
    if (fake_me.mode == FAKE_THREADS) {
        fake_thread_arrive(line);
    } else {
        fake_fiber_arrive(line);
    }
}

static void cluster_wait(int line) {
    if (fake_me.mode == FAKE_THREADS) {
        fake_thread_wait(line);
    } else {
        fake_fiber_wait(line);
    }
}

static const fake_copy *copy_of(int rank, int line) {
    return fake_me.mode == FAKE_THREADS ? fake_thread_copy(rank, line) : fake_fiber_copy(rank, line);
}

/* The same place in the shared memory of another block. */
static void *map_shared(const void *address, unsigned rank, int line) {
    const fakecuda_image *own = copy_of(FAKE_OWN, line)->image, *other = copy_of((int)rank, line)->image;
    const char *at = address;
    char where[160];
    if (at < own->shared_begin || at >= own->shared_end) {
        fake_die("%s: line %d: %p is no shared memory of the block", fake_where(where), line, address);
    }
    return other->shared_begin + (at - own->shared_begin);
}

static void grid_wait(void) {
    if (fake_me.here->waited != 0) {
        return;
    }
    fake_me.here->waited = 1;
    if (fake_me.stale && fake_me.mode == FAKE_FIBERS) {
        fake_fiber_yield();
    }
    fake_stale_wait();
    atomic_fetch_add_explicit(fake_me.grid_waits, 1, memory_order_relaxed);
}

const fakecuda_runtime fake_runtime = {here,       barrier,        shuffle_down, fence,     atomic_inc, atomic_add,
                                       misaligned, cluster_arrive, cluster_wait, map_shared, grid_wait};

/* ---- kernels that cannot go on ---- */

const char *fake_where(char text[160]) {
    const fakecuda_thread *t = fake_me.here;
    if (!t) {
        snprintf(text, 160, "%s", fake_me.kernel ? fake_me.kernel : "?");
        return text;
    }
    snprintf(text, 160, "%s, block (%u, %u, %u), thread (%u, %u, %u)", fake_me.kernel, t->block.x, t->block.y,
             t->block.z, t->thread.x, t->thread.y, t->thread.z);
    return text;
}

void fake_abandon(cu_result code, const char *format, ...) {
    char where[160], what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    fprintf(stderr, "fakecuda: %s: %s\n", fake_where(where), what);
    fake_stick(code);
    if (fake_me.mode == FAKE_FIBERS) {
        fake_fiber_abandon();
    }
    siglongjmp(fake_me.exit, 1);
}

static struct sigaction before[2];

static void on_fault(int signal, siginfo_t *about, void *context) {
    if (fake_me.mode != FAKE_IDLE) {
        fake_abandon(KRF__CUDA_ERROR_ILLEGAL_ADDRESS, "illegal address %p", about->si_addr);
    }
    /* Not a kernel's: as if we were not here. */
    const struct sigaction *old = &before[signal == SIGBUS];
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(signal, about, context);
    } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(signal);
    } else {
        sigaction(signal, old, NULL); /* the instruction runs again, and now ends the process */
    }
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before[0]);
    sigaction(SIGBUS, &action, &before[1]);
}

void fake_catch_faults(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}
