/* The CPU backend's thread pool and memory. To be run under ASan, UBSan and, above all, TSan. */
#include "backend/cpu/host.h"
#include "backend/cpu/memory.h"
#include "backend/cpu/threads.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#elif __has_feature(thread_sanitizer)
#define TSAN 1
#endif
#endif

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- threads ---- */

#define MOST_PIECES 3000

typedef struct tally {
    krf__threads *pool;
    int inner; /* pieces of a nested job in each piece */
    atomic_int done[MOST_PIECES];
    _Atomic int64_t sum;
} tally;

static void count_piece(void *user, int64_t piece) {
    tally *t = user;
    atomic_fetch_add(&t->done[piece], 1);
    atomic_fetch_add(&t->sum, piece);
}

static void count_nested(void *user, int64_t piece) {
    tally *t = user;
    tally *inner = calloc(1, sizeof *inner);
    krf__threads_run(t->pool, t->inner, count_piece, inner);
    for (int i = 0; i < t->inner; i++) {
        atomic_fetch_add(&t->sum, atomic_load(&inner->done[i]));
    }
    free(inner);
    atomic_fetch_add(&t->done[piece], 1);
}

static bool each_once(const tally *t, int64_t pieces) {
    for (int64_t i = 0; i < MOST_PIECES; i++) {
        if (atomic_load(&t->done[i]) != (i < pieces)) {
            return false;
        }
    }
    return true;
}

static void test_threads_each_piece_once(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    static const int64_t pieces[] = {0, 1, 2, 3, 7, 64, MOST_PIECES};
    tally *t = malloc(sizeof *t);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        krf__threads *pool = NULL;
        assert_int_equal(krf__threads_create(threads[i], &pool), KRF_OK);
        assert_int_equal(krf__threads_count(pool), threads[i]);
        for (size_t j = 0; j < 10 * sizeof pieces / sizeof pieces[0]; j++) {
            int64_t n = pieces[j % (sizeof pieces / sizeof pieces[0])];
            memset(t, 0, sizeof *t);
            krf__threads_run(pool, n, count_piece, t);
            assert_true(each_once(t, n));
            assert_int_equal(atomic_load(&t->sum), n * (n - 1) / 2);
        }
        krf__threads_destroy(pool);
    }
    free(t);
    krf__threads_destroy(NULL);
}

static void test_threads_default_size(void **state) {
    (void)state;
    krf__threads *pool = NULL;
    assert_int_equal(krf__threads_create(0, &pool), KRF_OK);
    assert_int_equal(krf__threads_count(pool), krf__cpu_count());
    assert_true(krf__threads_count(pool) >= 1);
    krf__threads_destroy(pool);
    assert_int_equal(krf__cpu_quota("max 100000\n"), 0);
    assert_int_equal(krf__cpu_quota("200000 100000\n"), 2);
    assert_int_equal(krf__cpu_quota("150000 100000\n"), 2);
    assert_int_equal(krf__cpu_quota("5000 100000\n"), 1);
    assert_int_equal(krf__cpu_quota("100000 0\n"), 0);
    assert_int_equal(krf__cpu_quota(""), 0);
}

static void test_threads_nested(void **state) {
    (void)state;
    tally *t = calloc(1, sizeof *t);
    assert_int_equal(krf__threads_create(4, &t->pool), KRF_OK);
    t->inner = 50;
    krf__threads_run(t->pool, 200, count_nested, t);
    assert_true(each_once(t, 200));
    assert_int_equal(atomic_load(&t->sum), 200 * 50);
    krf__threads_destroy(t->pool);
    free(t);
}

static void *submit_many(void *user) {
    krf__threads *pool = user;
    tally *t = malloc(sizeof *t);
    bool good = true;
    for (int i = 0; i < 300; i++) {
        memset(t, 0, sizeof *t);
        krf__threads_run(pool, 1 + i % 100, count_piece, t);
        good = good && each_once(t, 1 + i % 100);
    }
    free(t);
    return good ? user : NULL;
}

static void test_threads_several_submitters(void **state) {
    (void)state;
    krf__threads *pool = NULL;
    assert_int_equal(krf__threads_create(3, &pool), KRF_OK);
    pthread_t submitters[3];
    for (int i = 0; i < 3; i++) { /* the first jobs of a pool meet, too */
        assert_int_equal(pthread_create(&submitters[i], NULL, submit_many, pool), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *result = NULL;
        pthread_join(submitters[i], &result);
        assert_ptr_equal(result, pool);
    }
    krf__threads_destroy(pool);
}

static void no_piece(void *user, int64_t piece) {
    (void)user;
    (void)piece;
}

static void test_threads_many_empty_jobs(void **state) {
    (void)state;
    krf__threads *pool = NULL;
    assert_int_equal(krf__threads_create(2, &pool), KRF_OK);
    double before = seconds();
    for (int i = 0; i < 10000; i++) {
        krf__threads_run(pool, 2, no_piece, NULL);
        if (i % 1000 == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* so that workers also fall asleep */
        }
    }
    print_message("an empty job of 2 pieces: %.2f us\n", (seconds() - before - 0.011) * 1e6 / 10000);
    krf__threads_destroy(pool);
}

/* A child whose parent was in the middle of a job, with its workers running. */
static void *keep_busy(void *user) {
    tally *t = user;
    while (atomic_load(&t->done[0]) == 0) {
        krf__threads_run(t->pool, 100, no_piece, NULL);
    }
    return NULL;
}

static void test_threads_after_fork(void **state) {
    (void)state;
#ifdef TSAN
    skip(); /* it knows no threads in the child of a process with threads */
#endif
    tally *t = calloc(1, sizeof *t);
    assert_int_equal(krf__threads_create(3, &t->pool), KRF_OK);
    krf__threads_run(t->pool, 10, no_piece, NULL);
    pthread_t busy;
    assert_int_equal(pthread_create(&busy, NULL, keep_busy, t), 0);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(20);
            tally *mine = calloc(1, sizeof *mine);
            krf__threads_run(t->pool, MOST_PIECES, count_piece, mine);
            bool good = each_once(mine, MOST_PIECES);
            krf__threads_destroy(t->pool);
            _exit(good ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&t->done[0], 1);
    pthread_join(busy, NULL);
    krf__threads_destroy(t->pool);
    free(t);
}

/* ---- memory ---- */

static void test_memory_alignment_and_reuse(void **state) {
    (void)state;
    krf__host_memory *memory = NULL;
    assert_int_equal(krf__host_memory_create((size_t)64 << 20, &memory), KRF_OK);
    static const size_t sizes[] = {1, 8, 255, 256, 257, 4096, 100000, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 50 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *first = NULL, *again = NULL, *other = NULL;
        assert_int_equal(krf__host_memory_allocate(memory, sizes[i], (void **)&first), KRF_OK);
        assert_int_equal((uintptr_t)first % (sizes[i] >= 2 << 20 ? 2 << 20 : 256), 0);
        first[0] = 1;
        first[sizes[i] - 1] = 1;
        assert_int_equal(krf__host_memory_allocate(memory, sizes[i], (void **)&other), KRF_OK);
        assert_ptr_not_equal(first, other);
        krf__host_memory_deallocate(memory, first, sizes[i]);
        assert_true(krf__host_memory_kept(memory) >= sizes[i]);
        assert_int_equal(krf__host_memory_allocate(memory, sizes[i], (void **)&again), KRF_OK);
        assert_ptr_equal(first, again);
        krf__host_memory_deallocate(memory, again, sizes[i]);
        krf__host_memory_deallocate(memory, other, sizes[i]);
    }
    krf__host_memory_deallocate(memory, NULL, 10);
    void *none = &none;
    assert_int_equal(krf__host_memory_allocate(memory, SIZE_MAX / 2, &none), KRF_E_MEMORY);
    assert_null(none);
    assert_int_equal(krf__host_memory_allocate(memory, (size_t)1 << 60, &none), KRF_E_MEMORY);
    krf__host_memory_destroy(memory);
    krf__host_memory_destroy(NULL);
}

static void test_memory_is_bounded(void **state) {
    (void)state;
    const size_t mib = 1 << 20, slack = 16 * mib;
    krf__host_memory *memory = NULL;
    assert_int_equal(krf__host_memory_create(slack, &memory), KRF_OK);
    for (size_t i = 1; i <= 40; i++) { /* another class each time: without a bound all would be kept */
        void *data = NULL;
        assert_int_equal(krf__host_memory_allocate(memory, i * 2 * mib, &data), KRF_OK);
        krf__host_memory_deallocate(memory, data, i * 2 * mib);
        assert_true(krf__host_memory_kept(memory) <= i * 2 * mib * 9 / 8 + 2 * mib + slack);
    }
    krf__host_memory_destroy(memory);
}

static void test_memory_warm_run_takes_no_page_fault(void **state) {
    (void)state;
#if defined(ASAN) || defined(TSAN)
    skip(); /* the sanitizers' own memory counts */
#endif
    const size_t bytes = (size_t)64 << 20;
    krf__host_memory *memory = NULL;
    assert_int_equal(krf__host_memory_create(bytes, &memory), KRF_OK);
    long faults = 0;
    for (int i = 0; i < 3; i++) {
        struct rusage before, after;
        void *data = NULL;
        getrusage(RUSAGE_SELF, &before);
        assert_int_equal(krf__host_memory_allocate(memory, bytes, &data), KRF_OK);
        memset(data, i, bytes);
        krf__host_memory_deallocate(memory, data, bytes);
        getrusage(RUSAGE_SELF, &after);
        faults = after.ru_minflt - before.ru_minflt;
    }
    assert_true(faults < 10);
    krf__host_memory_destroy(memory);
}

static void *churn(void *user) {
    krf__host_memory *memory = user;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    for (int i = 0; i < 2000; i++) {
        size_t bytes = (size_t)1 << (rand_r(&seed) % 24);
        char *data = NULL;
        if (krf__host_memory_allocate(memory, bytes, (void **)&data) != KRF_OK) {
            return NULL;
        }
        data[0] = data[bytes - 1] = (char)i;
        krf__host_memory_deallocate(memory, data, bytes);
    }
    return user;
}

static void test_memory_from_several_threads(void **state) {
    (void)state;
    krf__host_memory *memory = NULL;
    assert_int_equal(krf__host_memory_create((size_t)8 << 20, &memory), KRF_OK);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, churn, memory), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, memory);
    }
    krf__host_memory_destroy(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_each_piece_once),
        cmocka_unit_test(test_threads_default_size),
        cmocka_unit_test(test_threads_nested),
        cmocka_unit_test(test_threads_several_submitters),
        cmocka_unit_test(test_threads_many_empty_jobs),
        cmocka_unit_test(test_threads_after_fork),
        cmocka_unit_test(test_memory_alignment_and_reuse),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_memory_warm_run_takes_no_page_fault),
        cmocka_unit_test(test_memory_from_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
