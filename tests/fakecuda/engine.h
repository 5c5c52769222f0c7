/* Running a kernel: all blocks of a grid, on the thread of a stream. Kernels whose threads never wait for each other
 * are a loop. The others run each block on fibers, which is fast and always the same; or, with FAKECUDA_RACE=1, on one
 * OS thread a CUDA thread, several blocks at once, so that ThreadSanitizer sees who is ordered with whom. */
#ifndef FAKECUDA_ENGINE_H
#define FAKECUDA_ENGINE_H

#include "library.h"

#include <setjmp.h>

enum { FAKE_WARP = 32, FAKE_MOST_BLOCKS = 8 };

typedef struct fake_work {
    const char *name;
    const fakecuda_kernel *kernel;
    int device;
    void (*call[FAKE_MOST_BLOCKS])(void *const *arguments); /* the kernel, in each copy of the image */
    fake_copy *copies[FAKE_MOST_BLOCKS];
    unsigned n_copies; /* blocks at once */
    fakecuda_index grid, block;
    unsigned threads; /* of a block */
    unsigned shared;  /* dynamic, in bytes */
    unsigned cluster; /* blocks that run together, neighbours along x; no more than there are copies */
    void *const *arguments;
    uint64_t seed; /* of the order of threads and blocks; 0: ascending */
    bool early;    /* it may begin before the kernel that it depends on has ended: its threads must wait for that */
    atomic_ullong *grid_waits; /* how many threads did */
    struct fake_line *line;    /* of its stream */
} fake_work;

void fake_run(const fake_work *w);

/* One cluster on fibers; `at_once` blocks, whole clusters, on threads: the first block is the n-th in order. False: it
 * was abandoned. */
bool fake_run_fibers(const fake_work *w, uint64_t n);
bool fake_run_threads(const fake_work *w, uint64_t n, unsigned at_once);

/* What the image calls. */
extern const fakecuda_runtime fake_runtime;
bool fake_sanitized(void);
bool fake_tsan(void);
bool fake_racing(void);
unsigned fake_blocks_at_once(void);

/* ---- the thread that is running ---- */

typedef enum fake_mode { FAKE_IDLE, FAKE_PLAIN, FAKE_FIBERS, FAKE_THREADS } fake_mode;

typedef struct fake_self {
    fake_mode mode;
    const char *kernel;
    uint64_t seed;
    fakecuda_thread *here;
    atomic_ullong *grid_waits;
    bool stale;      /* memory is still as it was before the last kernel */
    void *engine;    /* of the mode: the fiber, the thread */
    sigjmp_buf exit; /* PLAIN and THREADS: where a kernel that cannot go on ends */
} fake_self;

/* Initial-exec: a signal handler may not allocate. */
extern _Thread_local fake_self fake_me __attribute__((tls_model("initial-exec")));

/* The kernel cannot go on: the context is lost with this code. Does not return. */
_Noreturn void fake_abandon(cu_result code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Kernel, block and thread, for messages. */
const char *fake_where(char text[160]);
void fake_catch_faults(void); /* once a process */

/* What the modes do at a barrier, at a shuffle, and to end a fiber for good. */
void fake_fiber_barrier(int line);
void fake_fiber_yield(void); /* the others of its block get as far as they do */
unsigned long long fake_fiber_shuffle(unsigned mask, unsigned long long bits, unsigned delta, int line);
_Noreturn void fake_fiber_abandon(void);
void fake_thread_barrier(int line);
unsigned long long fake_thread_shuffle(unsigned mask, unsigned long long bits, unsigned delta, int line);
void fake_thread_fence(void);

/* The barrier of a cluster, whose threads arrive first and wait later; and the copy of the thread's block, or of a
 * block of its cluster by rank. Both are allowed only to threads that have waited for the cluster once, so that its
 * blocks have all begun, and for blocks that have not ended. */
void fake_fiber_arrive(int line);
void fake_fiber_wait(int line);
const fake_copy *fake_fiber_copy(int rank, int line);
void fake_thread_arrive(int line);
void fake_thread_wait(int line);
const fake_copy *fake_thread_copy(int rank, int line);
enum { FAKE_OWN = -1 };

/* ---- helpers ---- */

fakecuda_index fake_position(uint64_t n, fakecuda_index extent);
/* The i-th of n in the order of a seed: a permutation. */
uint64_t fake_order(uint64_t i, uint64_t n, uint64_t seed);
fakecuda_index fake_block_at(const fake_work *w, uint64_t n);
fakecuda_thread fake_thread_at(const fake_work *w, fakecuda_index block, unsigned thread);
void fake_poison_shared(const fake_work *w, const fake_copy *copy); /* before a block */
void fake_check_shared(const fake_work *w, const fake_copy *copy);  /* after it */

#endif
