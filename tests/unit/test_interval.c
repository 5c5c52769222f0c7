/* Intervals of random integer expressions over ranges against all of their values: what lies outside would be memory that a kernel must not read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "ir/build_composed.h"
#include "pass/interval.h"

__extension__ typedef __int128 wide;

/* splitmix64 (Steele, Lea, Flood 2014) */
static int64_t random_below(uint64_t *state, int64_t n) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)n);
}

enum { EXPRESSIONS = 4000, NODES = 14, PLACES = 24 };

typedef struct made {
    uint32_t id;
    wide values[PLACES]; /* at each place of the range; wide: what wraps in i64 shows */
    bool known;          /* no step wrapped or divided by zero */
} made;

static wide floor_quotient(wide a, wide b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

/* As the operation's documentation has it. */
static wide apply(krf__op op, wide a, wide b, wide c) {
    switch (op) {
    case KRF__add: return a + b;
    case KRF__subtract: return a - b;
    case KRF__multiply: return a * b;
    case KRF__negative: return -a;
    case KRF__abs: return a < 0 ? -a : a;
    case KRF__minimum: return a < b ? a : b;
    case KRF__maximum: return a > b ? a : b;
    case KRF__floor_divide: return b == 0 ? 0 : floor_quotient(a, b);
    case KRF__remainder: return b == 0 ? 0 : a - b * floor_quotient(a, b);
    case KRF__where: return a != 0 ? b : c;
    default: return 0;
    }
}

static void add_number(krf_graph *g, made *m, uint64_t *dice) {
    static const int64_t ends[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, INT64_C(1) << 62, -(INT64_C(1) << 33)};
    int64_t v = random_below(dice, 12) == 0 ? ends[random_below(dice, 5)] : random_below(dice, 41) - 20;
    m->id = krf__build_cast(g, krf__build_int(g, v, random_below(dice, 2) == 0), KRF_I64);
    m->known = true;
    for (int i = 0; i < PLACES; i++) {
        m->values[i] = v;
    }
}

static void add_operation(krf_graph *g, made *all, int n, uint64_t *dice) {
    static const krf__op ops[] = {KRF__add,     KRF__subtract, KRF__multiply,     KRF__negative,  KRF__abs,
                                  KRF__minimum, KRF__maximum,  KRF__floor_divide, KRF__remainder, KRF__where};
    krf__op op = ops[random_below(dice, 10)];
    made *m = &all[n];
    const made *x[3];
    uint32_t ids[3];
    for (int k = 0; k < 3; k++) {
        x[k] = &all[random_below(dice, n)];
        ids[k] = x[k]->id;
    }
    m->id = krf__build(g, op, krf__op_info_of(op)->arity, ids);
    m->known = true;
    for (int k = 0; k < krf__op_info_of(op)->arity; k++) {
        m->known &= x[k]->known;
    }
    for (int i = 0; i < PLACES && m->known; i++) {
        m->values[i] = apply(op, x[0]->values[i], x[1]->values[i], x[2]->values[i]);
        m->known &= m->values[i] >= INT64_MIN && m->values[i] <= INT64_MAX;
    }
}

static void test_random(void **state) {
    uint64_t dice = 1;
    int narrow = 0;
    (void)state;
    for (int e = 0; e < EXPRESSIONS; e++) {
        krf_graph g;
        made all[NODES];
        assert_int_equal(krf__graph_init(&g, NULL), KRF_OK);
        for (int n = 0; n < NODES; n++) {
            if (n == 0) {
                all[n].id = krf__build_arange(&g, 0, PLACES, 1);
                all[n].known = true;
                for (int i = 0; i < PLACES; i++) {
                    all[n].values[i] = i;
                }
            } else if (n < 5) {
                add_number(&g, &all[n], &dice);
            } else {
                add_operation(&g, all, n, &dice);
            }
            if (all[n].id == 0) { /* nothing that the builder refuses is asked for */
                fail_msg("expression %d: %s", e, g.error);
            }
            krf__interval found = krf__interval_of(&g, all[n].id);
            for (int i = 0; i < PLACES && all[n].known; i++) {
                if (all[n].values[i] < found.low || all[n].values[i] > found.high) {
                    fail_msg("expression %d, node %d (%s): %lld is outside of [%lld, %lld]", e, n,
                             krf__op_info_of(krf__node_of(&g, all[n].id)->op)->name, (long long)all[n].values[i], (long long)found.low,
                             (long long)found.high);
                }
            }
            narrow += n >= 5 && (uint64_t)found.high - (uint64_t)found.low < 1000 && found.low > -1000;
        }
        krf__graph_free(&g);
    }
    assert_true(narrow > EXPRESSIONS); /* else nothing would be tested but "anything" */
}

/* What the builders of build_movement.c rely on to need no test. */
static void test_places(void **state) {
    krf_graph g;
    (void)state;
    assert_int_equal(krf__graph_init(&g, NULL), KRF_OK);
    uint32_t i = krf__build_arange(&g, 0, 10, 1), three = krf__build_int(&g, 3, false), nine = krf__build_int(&g, 9, false);
    uint32_t rolled = krf__build(&g, KRF__subtract, 2, (uint32_t[]){i, three});
    uint32_t left = krf__build(&g, KRF__abs, 1, &rolled);
    uint32_t mirrored = krf__build(&g, KRF__subtract, 2, (uint32_t[]){nine, left});
    mirrored = krf__build(&g, KRF__abs, 1, &mirrored);
    mirrored = krf__build(&g, KRF__subtract, 2, (uint32_t[]){nine, mirrored});
    krf__interval a = krf__interval_of(&g, rolled), b = krf__interval_of(&g, mirrored);
    assert_true(a.low == -3 && a.high == 6);
    assert_true(b.low == 0 && b.high <= 9);
    krf__graph_free(&g);
}

/* Dtypes that are not i64 wrap elsewhere: nothing but their ends is known of them. */
static void test_dtypes(void **state) {
    static const struct {
        krf_dtype dtype;
        int64_t low, high;
    } ends[] = {{KRF_BOOL, 0, 1},           {KRF_I8, -128, 127},      {KRF_U8, 0, 255},           {KRF_I32, INT32_MIN, INT32_MAX},
                {KRF_U32, 0, UINT32_MAX},   {KRF_I64, INT64_MIN, INT64_MAX}};
    (void)state;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        krf_graph g;
        assert_int_equal(krf__graph_init(&g, NULL), KRF_OK);
        uint32_t x = krf__build_placeholder(&g, NULL, ends[k].dtype, false, 1, (int64_t[]){4}, NULL), y = krf__build_cast(&g, x, KRF_I64);
        krf__interval a = krf__interval_of(&g, x), b = krf__interval_of(&g, y);
        assert_true(a.low == ends[k].low && a.high == ends[k].high && b.low == a.low && b.high == a.high);
        if (ends[k].dtype == KRF_I8 || ends[k].dtype == KRF_I32) {
            uint32_t sum = krf__build(&g, KRF__add, 2, (uint32_t[]){x, krf__build_cast(&g, krf__build_int(&g, 1, true), ends[k].dtype)});
            a = krf__interval_of(&g, krf__build_cast(&g, sum, KRF_I64));
            assert_true(a.low == ends[k].low && a.high == ends[k].high);
        }
        krf__graph_free(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_places), cmocka_unit_test(test_dtypes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
