/* What stores past the caches copy and the C library sets, one piece a thread, and a loop that reads: threads in turns, for on an AMD EPYC two that read far
 * apart get less, or four streams a thread of a piece of its own, by which an Intel Xeon reads 42 GB/s, not 38. Over huge pages. */
#include "limits.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MAX_THREADS = 256, LANES = 2 /* that registers hold of any processor */, SUMS = 8, STREAMS = 4, BLOCK = 32768 /* numbers that a thread reads in a turn */ };

typedef double vector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct piece {
    const double *from;
    double *to;
    size_t n;
    const double *turn, *end; /* of reading: the first turn, and the end of all of them */
    size_t others;            /* numbers from one turn to the next */
    double sum;
} piece;

/* By a C library's memcpy the lines that it writes are often read first, a third more than need be. */
static void *copy_piece(void *p) {
    piece *it = p;
    size_t i = 0;
#ifdef __SSE2__
    for (; i + 2 <= it->n; i += 2) {
        _mm_stream_pd(it->to + i, _mm_loadu_pd(it->from + i));
    }
    _mm_sfence();
#endif
    memcpy(it->to + i, it->from + i, (it->n - i) * sizeof *it->to);
    return NULL;
}

static void put_sum(piece *it, const vector *sums) {
    for (int s = 0; s < SUMS; s++) {
        for (int k = 0; k < LANES; k++) {
            it->sum += sums[s][k];
        }
    }
}

__attribute__((noinline)) static void *read_turns(void *p) {
    piece *it = p;
    vector sums[SUMS] = {{0}};
    for (const double *at = it->turn; at < it->end; at += it->others) {
        const double *last = it->end - at < BLOCK ? it->end : at + BLOCK;
        for (const double *from = at; from + SUMS * LANES <= last; from += SUMS * LANES) {
            for (int k = 0; k < SUMS; k++) {
                sums[k] += *(const vector *)(from + k * LANES);
            }
        }
    }
    put_sum(it, sums);
    return NULL;
}

__attribute__((noinline)) static void *read_streams(void *p) {
    enum { EACH = SUMS / STREAMS };
    piece *it = p;
    vector sums[SUMS] = {{0}};
    const size_t n = it->n / STREAMS / LANES * LANES;
    for (size_t i = 0; i + EACH * LANES <= n; i += EACH * LANES) {
        for (int k = 0; k < SUMS; k++) {
            sums[k] += *(const vector *)(it->from + (size_t)(k / EACH) * n + i + (size_t)(k % EACH * LANES));
        }
    }
    put_sum(it, sums);
    return NULL;
}

static void *write_piece(void *p) {
    piece *it = p;
    memset(it->to, 1, it->n * sizeof *it->to);
    return NULL;
}

bool bench_cpu_open(bench_cpu *c, size_t bytes, int threads) {
    *c = (bench_cpu){.bytes = bytes, .threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads};
    for (int i = 0; i < 2; i++) {
        void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) {
            bench_cpu_close(c);
            return false;
        }
        madvise(p, bytes, MADV_HUGEPAGE);
        memset(p, 1, bytes);
        *(i == 0 ? &c->from : &c->to) = p;
    }
    return true;
}

static double run(const bench_cpu *c, void *(*loop)(void *)) {
    piece pieces[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    const size_t n = c->bytes / sizeof(double), threads = (size_t)c->threads;
    size_t started = 1;
    double start = bench_now();
    for (size_t t = 0; t < threads; t++) {
        size_t first = n * t / threads / 8 * 8, last = t + 1 == threads ? n : n * (t + 1) / threads / 8 * 8;
        pieces[t] = (piece){.from = c->from + first, .to = c->to + first, .n = last - first, .turn = c->from + t * BLOCK, .end = c->from + n, .others = threads * BLOCK};
    }
    while (started < threads && pthread_create(&ids[started], NULL, loop, &pieces[started]) == 0) {
        started++;
    }
    /* The caller's piece, and those that no thread was to be had for. */
    loop(&pieces[0]);
    for (size_t t = started; t < threads; t++) {
        loop(&pieces[t]);
    }
    for (size_t t = 1; t < started; t++) {
        pthread_join(ids[t], NULL);
    }
    return bench_now() - start;
}

double bench_cpu_run(const bench_cpu *c, bench_limit what) {
    static void *(*const loops[BENCH_LIMITS])(void *) = {copy_piece, read_turns, write_piece};
    const double time = run(c, loops[what]), other = loops[what] == read_turns ? run(c, read_streams) : time;
    return other < time ? other : time;
}

void bench_cpu_close(bench_cpu *c) {
    if (c->from != NULL) {
        munmap(c->from, c->bytes);
    }
    if (c->to != NULL) {
        munmap(c->to, c->bytes);
    }
    *c = (bench_cpu){.from = NULL};
}
