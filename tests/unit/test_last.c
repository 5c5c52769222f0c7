/* What is known of the work that a stream was given last (sched/last.h): its memory, as long as nothing else was given meanwhile. */
#include "sched/last.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char memory[64];
static bool fills; /* what was asked last gave */

static krf__memory part(int low, int high) { return (krf__memory){memory + low, memory + high}; }

static krf__turn writes(krf__last *l, int low, int high) {
    const krf__memory written = part(low, high);
    const krf__turn turn = krf__last_begin(l);
    krf__last_wrote(l, &turn, low == 16, 1, &written);
    krf__last_end(l);
    return turn;
}

static bool reads_apart(krf__last *l, int low, int high) {
    const krf__memory read = part(low, high);
    const krf__turn turn = krf__last_begin(l);
    const bool apart = krf__last_apart(l, &turn, 1, &read, &fills);
    krf__last_end(l);
    return apart;
}

static void memory_decides(void **unused) {
    (void)unused;
    static const struct {
        int low, high;
        bool apart;
    } cases[] = {{0, 16, true}, {0, 17, false}, {16, 32, false}, {20, 21, false}, {31, 40, false}, {32, 40, true}, {0, 64, false}};
    krf__last l;
    krf__last_create(&l);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)writes(&l, 16, 32);
        assert_int_equal(reads_apart(&l, cases[i].low, cases[i].high), cases[i].apart);
        assert_true(fills); /* whatever it wrote */
        (void)writes(&l, 17, 32);
        (void)reads_apart(&l, cases[i].low, cases[i].high);
        assert_false(fills);
    }
    krf__last_destroy(&l);
}

static void each_of_several(void **unused) {
    (void)unused;
    const krf__memory written[2] = {part(0, 8), part(40, 48)}, read[2] = {part(8, 16), part(47, 50)};
    krf__last l;
    krf__last_create(&l);
    krf__turn turn = krf__last_begin(&l);
    krf__last_wrote(&l, &turn, true, 2, written);
    krf__last_end(&l);
    turn = krf__last_begin(&l);
    assert_true(krf__last_apart(&l, &turn, 1, read, &fills));
    assert_false(krf__last_apart(&l, &turn, 2, read, &fills));
    const krf__memory other_way[2] = {read[1], read[0]};
    assert_false(krf__last_apart(&l, &turn, 2, other_way, &fills));
    assert_true(krf__last_apart(&l, &turn, 0, NULL, &fills));
    krf__last_end(&l);
    krf__last_destroy(&l);
}

/* The first work has nothing before it that is known; nor has what follows work that tells nothing, or too much. */
static void nothing_known(void **unused) {
    (void)unused;
    krf__memory many[KRF__MOST_WRITTEN + 1];
    krf__last l;
    krf__last_create(&l);
    assert_false(reads_apart(&l, 0, 16));
    (void)writes(&l, 16, 32);
    assert_true(reads_apart(&l, 0, 16));
    assert_false(reads_apart(&l, 0, 16)); /* the work before only read */
    assert_false(fills);
    for (int i = 0; i <= KRF__MOST_WRITTEN; i++) {
        many[i] = part(32 + i, 33 + i);
    }
    krf__turn turn = krf__last_begin(&l);
    krf__last_wrote(&l, &turn, true, KRF__MOST_WRITTEN + 1, many);
    krf__last_end(&l);
    assert_false(reads_apart(&l, 0, 16));
    turn = krf__last_begin(&l);
    krf__last_wrote(&l, &turn, true, KRF__MOST_WRITTEN, many);
    krf__last_end(&l);
    assert_true(reads_apart(&l, 0, 16));
    krf__last_destroy(&l);
}

/* Work of another thread that has begun and not ended may be given to the stream before or after. */
static void others_at_it(void **unused) {
    (void)unused;
    const krf__memory written = part(16, 32), read = part(0, 16);
    krf__last l;
    krf__last_create(&l);
    (void)krf__last_begin(&l); /* for all that follows */
    (void)writes(&l, 16, 32);
    assert_false(reads_apart(&l, 0, 16));
    (void)writes(&l, 16, 32);
    krf__last_end(&l);
    assert_false(reads_apart(&l, 0, 16)); /* the other may have come after what was written last */
    (void)writes(&l, 16, 32);
    assert_true(reads_apart(&l, 0, 16));

    const krf__turn writer = krf__last_begin(&l); /* and one that begins before this one has told what it wrote */
    (void)krf__last_begin(&l);
    krf__last_wrote(&l, &writer, true, 1, &written);
    krf__last_end(&l);
    krf__last_end(&l);
    assert_false(reads_apart(&l, 0, 16));

    (void)writes(&l, 16, 32);
    const krf__turn reader = krf__last_begin(&l); /* and one that begins before this one asks */
    (void)krf__last_begin(&l);
    krf__last_end(&l);
    assert_false(krf__last_apart(&l, &reader, 1, &read, &fills));
    krf__last_end(&l);
    krf__last_destroy(&l);
}

static void shared(void **unused) {
    (void)unused;
    krf__last l;
    krf__last_create(&l);
    (void)writes(&l, 16, 32);
    krf__last_share(&l);
    assert_false(reads_apart(&l, 0, 16));
    (void)writes(&l, 16, 32);
    assert_false(reads_apart(&l, 0, 16));
    krf__last_destroy(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_decides), cmocka_unit_test(each_of_several), cmocka_unit_test(nothing_known), cmocka_unit_test(others_at_it), cmocka_unit_test(shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
