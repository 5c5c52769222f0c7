/* Runs of random places over a range, and over a table of them, against all of their values: of a block that is said to lie in memory as a vector a kernel reads the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <string.h>

#include "ir/build_composed.h"
#include "pass/run.h"

/* splitmix64 (Steele, Lea, Flood 2014) */
static int64_t random_below(uint64_t *state, int64_t n) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)n);
}

enum { EXPRESSIONS = 4000, NODES = 12, LINES = 3, COLUMNS = 64, MOST = 256 };

static uint32_t number(krf_graph *g, int64_t v) { return krf__build_cast(g, krf__build_int(g, v, false), KRF_I64); }
static uint32_t two(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }

/* Mostly multiples of a block, or one less. */
static int64_t random_number(uint64_t *dice) {
    const int64_t blocks = random_below(dice, 9) * 8 - 16, kind = random_below(dice, 5);
    return kind == 0 ? blocks - 1 : kind == 1 ? random_below(dice, 60) - 20 : kind == 2 ? blocks / 4 : blocks;
}

static void add(krf_graph *g, uint32_t *all, int n, uint64_t *dice) {
    const uint32_t x = all[random_below(dice, n)], y = all[random_below(dice, n)];
    const int64_t v = random_number(dice), kind = random_below(dice, 8);
    static const krf__op ops[] = {KRF__add, KRF__subtract, KRF__minimum, KRF__maximum, KRF__multiply, KRF__add, KRF__where, KRF__cast};
    const krf__op op = ops[kind];
    const bool with_number = kind < 4 || (kind == 4 && random_below(dice, 2) == 0);
    if (op == KRF__where) { /* from the end, if it is negative; or, where nothing is known, two values */
        const uint32_t less = two(g, KRF__less, x, number(g, random_below(dice, 4) == 0 ? random_number(dice) : 0));
        const uint32_t other = random_below(dice, 3) == 0 ? y : two(g, KRF__add, x, number(g, v));
        all[n] = krf__build(g, KRF__where, 3, (uint32_t[]){less, other, x});
    } else if (op == KRF__cast) {
        all[n] = krf__build_cast(g, krf__build_cast(g, x, random_below(dice, 2) == 0 ? KRF_I32 : KRF_I8), KRF_I64);
    } else {
        all[n] = two(g, op, x, with_number ? number(g, v) : y);
    }
}

/* What every node is, from its operands. */
static int64_t value_of(const krf_graph *g, const int64_t (*values)[MOST][COLUMNS], int line, uint32_t id, int column) {
    const krf__node *n = krf__node_of(g, id);
    const int64_t *a = values[line][n->args[0]], *b = values[line][n->args[1]], *c = values[line][n->args[2]];
    switch ((krf__op)n->op) {
    case KRF__add: return a[column] + b[column];
    case KRF__subtract: return a[column] - b[column];
    case KRF__multiply: return a[column] * b[column];
    case KRF__minimum: return a[column] < b[column] ? a[column] : b[column];
    case KRF__maximum: return a[column] > b[column] ? a[column] : b[column];
    case KRF__less: return a[column] < b[column];
    case KRF__where: return a[column] != 0 ? b[column] : c[column];
    case KRF__cast: return n->dtype == KRF_I8 ? (int8_t)a[column] : n->dtype == KRF_I32 ? (int32_t)a[column] : a[column];
    case KRF__constant:
    case KRF__scalar: return krf__bits_to_i64((krf_dtype)n->dtype, n->value);
    case KRF__iota: return column;
    case KRF__view: { /* of a range: along the columns, or of the lines times so many */
        const krf__layout l = krf__memory_layout(g, id);
        return l.offset + (l.rank > 1 ? line * l.strides[0] : 0) + (l.rank > 0 && l.shape[l.rank - 1] > 1 ? column * l.strides[l.rank - 1] : 0);
    }
    default: return 0;
    }
}

static int check(const krf_graph *g, int e, bool wide) {
    static int64_t values[LINES][MOST][COLUMNS];
    krf__interval intervals[MOST] = {{0, 0}};
    krf__run runs[MOST];
    int found = 0;
    memset(runs, 0, sizeof runs);
    assert_true(g->n_nodes <= MOST);
    for (uint32_t id = 1; id < g->n_nodes; id++) {
        const uint32_t *args = krf__node_of(g, id)->args;
        for (int line = 0; line < LINES; line++) {
            for (int column = 0; column < COLUMNS; column++) {
                values[line][id][column] = value_of(g, (const int64_t(*)[MOST][COLUMNS])values, line, id, column);
            }
        }
        intervals[id] = krf__interval_from(g, id, (krf__interval[]){intervals[args[0]], intervals[args[1]], intervals[args[2]]});
        runs[id] = krf__run_from(g, id, intervals[id], 0, (krf__run[]){runs[args[0]], runs[args[1]], runs[args[2]]});
        const int64_t blocks = runs[id].kind == KRF__RUN_STEPS ? (int64_t)(krf__run_blocks(&runs[id]) & KRF__RUN_BLOCK) : 1;
        found += blocks > 1 && krf__node_of(g, id)->op != KRF__view;
        for (int line = 0; line < LINES && runs[id].kind != KRF__RUN_STEPS && krf__node_of(g, id)->dtype == KRF_I64; line++) { /* multiples that do not change */
            const int64_t *v = values[line][id], multiple = (int64_t)(krf__run_blocks(&runs[id]) - KRF__RUN_ROWS);
            for (int k = 0; k < COLUMNS && krf__run_blocks(&runs[id]) != 1; k++) {
                if (v[k] != v[0] || v[k] % multiple != 0) {
                    fail_msg("expression %d, node %u (%s): %lld after %lld, no multiple of %lld", e, id, krf__op_info_of(krf__node_of(g, id)->op)->name, (long long)v[k], (long long)v[0], (long long)multiple);
                }
            }
        }
        const bool along = runs[id].kind == KRF__RUN_STEPS && (krf__run_blocks(&runs[id]) & KRF__RUN_ALONG) != 0;
        for (int line = 0; line < LINES && along; line++) { /* what a kernel asks of a strip */
            for (int from = 0; from < COLUMNS; from += 3) {
                for (int m = 1; from + m <= COLUMNS; m += 1 + m / 4) {
                    const int64_t *v = values[line][id] + from;
                    const bool follow = v[m - 1] - v[0] == m - 1, same = v[m - 1] == v[0] && v[m > 1] == v[0];
                    for (int k = 0; k < m; k++) {
                        if ((follow && v[k] != v[0] + k) || (!follow && same && v[k] != v[0])) {
                            fail_msg("expression %d, node %u (%s): %lld stands %d behind %lld, which %s", e, id, krf__op_info_of(krf__node_of(g, id)->op)->name, (long long)v[k], k, (long long)v[0],
                                     follow ? "the others follow" : "all are");
                        }
                    }
                }
            }
        }
        for (int line = 0; line < LINES && blocks > 1; line++) {
            for (int64_t first = 0; first + blocks <= COLUMNS; first += blocks) {
                const int64_t *v = values[line][id] + first, from = ((v[0] % blocks) + blocks) % blocks;
                bool steps = from == 0, same = from == 0 || from == blocks - 1;
                for (int64_t k = 1; k < blocks; k++) {
                    steps &= v[k] == v[0] + k;
                    same &= v[k] == v[0];
                }
                if (!steps && !same) {
                    fail_msg("expression %d, node %u (%s, %s): %lld ... %lld is no block of %lld", e, id, krf__op_info_of(krf__node_of(g, id)->op)->name, wide ? "table" : "range", (long long)v[0], (long long)v[blocks - 1],
                             (long long)blocks);
                }
            }
        }
    }
    return found;
}

static void test_random(void **unused) {
    uint64_t dice = 1;
    int found = 0;
    (void)unused;
    for (int e = 0; e < EXPRESSIONS; e++) {
        krf_graph g;
        uint32_t all[NODES];
        assert_int_equal(krf__graph_init(&g, NULL), KRF_OK);
        all[0] = krf__build_arange(&g, 0, COLUMNS, 1);
        const krf__node view = {.op = KRF__view, .dtype = KRF_I64, .rank = 2, .args = {krf__build_arange(&g, 0, LINES, 1)}, .n_ints = 3};
        const uint32_t lines = krf__graph_add(&g, &view, (int64_t[]){LINES, 1}, (int64_t[]){0, 1, 0});
        all[1] = e % 2 == 0 ? all[0] : two(&g, KRF__multiply, lines, number(&g, random_number(&dice)));
        for (int n = 2; n < NODES; n++) {
            add(&g, all, n, &dice);
            if (all[n] == 0) {
                fail_msg("expression %d: %s", e, g.error);
            }
        }
        found += check(&g, e, e % 2 != 0);
        krf__graph_free(&g);
    }
    assert_true(found > EXPRESSIONS); /* else nothing would be tested but "unknown" */
}

/* What joins two arrays at place 64 reads, and what pads by 8 in front. */
static void test_known(void **unused) {
    krf_graph g;
    (void)unused;
    assert_int_equal(krf__graph_init(&g, NULL), KRF_OK);
    const uint32_t i = krf__build_arange(&g, 0, 128, 1), first = two(&g, KRF__minimum, i, number(&g, 63)), second = two(&g, KRF__maximum, two(&g, KRF__add, i, number(&g, -64)), number(&g, 0));
    const uint32_t padded = two(&g, KRF__minimum, two(&g, KRF__maximum, two(&g, KRF__subtract, i, number(&g, 8)), number(&g, 0)), number(&g, 111)), odd = two(&g, KRF__minimum, i, number(&g, 62));
    krf__interval intervals[MOST] = {{0, 0}};
    krf__run runs[MOST];
    memset(runs, 0, sizeof runs);
    for (uint32_t id = 1; id < g.n_nodes; id++) {
        const uint32_t *args = krf__node_of(&g, id)->args;
        intervals[id] = krf__interval_from(&g, id, (krf__interval[]){intervals[args[0]], intervals[args[1]], intervals[args[2]]});
        runs[id] = krf__run_from(&g, id, intervals[id], 0, (krf__run[]){runs[args[0]], runs[args[1]], runs[args[2]]});
    }
    assert_int_equal(krf__run_blocks(&runs[first]), 64 | KRF__RUN_ALONG);
    assert_int_equal(krf__run_blocks(&runs[second]), 64 | KRF__RUN_ALONG);
    assert_int_equal(krf__run_blocks(&runs[padded]), 8 | KRF__RUN_ALONG);
    assert_int_equal(krf__run_blocks(&runs[odd]), 1 | KRF__RUN_ALONG);
    krf__graph_free(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
