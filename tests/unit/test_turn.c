/* Rows that become columns (codegen/math/turn.h), for every size of element: all shapes up to 35 by 35, rows of all distances, negative ones too. The rows' memory
 * ends where the last of them does, and the page behind may not be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define KRF_FN static inline
#include "codegen/math/turn.h"

enum { MOST = 35, STEP = 40, UNTOUCHED = 7, MEMORY = 32768, BEHIND = 65536 };

static unsigned char *end_of_memory;

typedef void turn(void *to, long long to_step, const void *from, long long from_step, int rows, int columns);

static void turn_1(void *t, long long ts, const void *f, long long fs, int rows, int columns) { krf_turn_1(t, ts, f, fs, rows, columns); }
static void turn_2(void *t, long long ts, const void *f, long long fs, int rows, int columns) { krf_turn_2(t, ts, f, fs, rows, columns); }
static void turn_4(void *t, long long ts, const void *f, long long fs, int rows, int columns) { krf_turn_4(t, ts, f, fs, rows, columns); }
static void turn_8(void *t, long long ts, const void *f, long long fs, int rows, int columns) { krf_turn_8(t, ts, f, fs, rows, columns); }

static void check(turn *function, size_t size, int rows, int columns, long long step) {
    const long long reach = rows > 0 ? (rows - 1) * llabs(step) : 0, first = step < 0 ? reach : 0;
    const size_t bytes = (size_t)(reach + columns) * size;
    unsigned char *memory = end_of_memory - bytes, to[(MOST + 1) * STEP * 8];
    assert_true(bytes <= MEMORY);
    for (size_t i = 0; i < bytes; i++) {
        memory[i] = (unsigned char)((i * 2654435761u) >> 11);
    }
    memset(to, UNTOUCHED, sizeof to);
    function(to, STEP, memory + (size_t)first * size, step, rows, columns);
    for (int c = 0; c <= MOST; c++) {
        for (int r = 0; r < STEP; r++) {
            static const unsigned char untouched[8] = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
            const void *want = c < columns && r < rows ? memory + (size_t)(first + r * step + c) * size : untouched;
            if (memcmp(to + (size_t)(c * STEP + r) * size, want, size) != 0) {
                fail_msg("%zu bytes, %d rows of %d, %lld apart: element %d of row %d", size, rows, columns, step, c, r);
            }
        }
    }
}

static void test_all_shapes(void **state) {
    static turn *const turns[] = {turn_1, turn_2, turn_4, turn_8};
    (void)state;
    void *memory = mmap(NULL, MEMORY + BEHIND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    end_of_memory = (unsigned char *)memory + MEMORY;
    assert_int_equal(mprotect(end_of_memory, BEHIND, PROT_NONE), 0);
    for (int t = 0; t < 4; t++) {
        for (int rows = 0; rows <= MOST; rows++) {
            for (int columns = 0; columns <= MOST; columns++) {
                for (long long step = -40; step <= 70; step += rows < 12 ? 1 : 11) {
                    check(turns[t], (size_t)1 << t, rows, columns, step);
                }
            }
        }
    }
    munmap(memory, MEMORY + BEHIND);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
