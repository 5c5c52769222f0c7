/* What is said of random expressions over ranges, that a choice is one of its operands, that no end is reached, that places go on by strides, against all of their values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <string.h>

#include "ir/build_composed.h"
#include "pass/lower_known.h"

/* splitmix64 (Steele, Lea, Flood 2014) */
static int64_t random_below(uint64_t *state, int64_t n) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)n);
}

enum { EXPRESSIONS = 4000, NODES = 14, LINES = 3, COLUMNS = 12, PLACES = LINES * COLUMNS, MOST = 256 };

typedef int64_t values[PLACES];

/* As krf__lower_number makes it: some are constants, some arguments. */
static uint32_t number(krf_graph *g, int64_t v) {
    const uint32_t id = krf__build_int(g, v, false);
    return krf__node_of(g, id)->op == KRF__constant ? krf__build_cast(g, id, KRF_I64) : id;
}

static uint32_t two(krf_graph *g, krf__op op, uint32_t x, uint32_t y) { return krf__build(g, op, 2, (uint32_t[]){x, y}); }

/* A view of a range: along lines, columns, both or neither. */
static uint32_t range(krf_graph *g, uint64_t *dice) {
    const int64_t shape[2] = {random_below(dice, 2) == 0 ? LINES : 1, random_below(dice, 4) == 0 ? 1 : COLUMNS};
    const int64_t ints[3] = {random_below(dice, 20), shape[0] == 1 ? random_below(dice, 3) : random_below(dice, 7) - 3, shape[1] == 1 ? random_below(dice, 3) : random_below(dice, 5) - 1};
    const krf__node view = {.op = KRF__view, .dtype = KRF_I64, .rank = 2, .args = {krf__build_arange(g, 0, 100, 1)}, .n_ints = 3};
    return krf__graph_add(g, &view, shape, ints);
}

static int64_t random_number(uint64_t *dice) {
    static const int64_t ends[] = {INT64_MIN, INT64_MAX, INT64_MIN + 3, INT64_C(1) << 62, -(INT64_C(1) << 62)};
    return random_below(dice, 12) == 0 ? ends[random_below(dice, 5)] : random_below(dice, 60) - 15;
}

static uint32_t condition(krf_graph *g, const uint32_t *all, int n, uint64_t *dice) {
    static const krf__op compares[] = {KRF__less, KRF__less_equal, KRF__greater, KRF__greater_equal, KRF__less, KRF__equal};
    const uint32_t x = all[random_below(dice, n)], y = random_below(dice, 3) == 0 ? all[random_below(dice, n)] : number(g, random_number(dice));
    const bool turned = random_below(dice, 3) == 0;
    return two(g, compares[random_below(dice, 6)], turned ? y : x, turned ? x : y);
}

static uint32_t random_node(krf_graph *g, const uint32_t *all, int n, uint64_t *dice) {
    static const krf__op ops[] = {KRF__add, KRF__subtract, KRF__multiply, KRF__minimum, KRF__maximum, KRF__where, KRF__where};
    const krf__op op = ops[random_below(dice, 7)];
    const uint32_t x = all[random_below(dice, n)], y = all[random_below(dice, n)];
    if (op == KRF__where) {
        const uint32_t first = condition(g, all, n, dice);
        return krf__build(g, op, 3, (uint32_t[]){random_below(dice, 3) == 0 ? two(g, KRF__logical_and, first, condition(g, all, n, dice)) : first, x, y});
    }
    const int64_t kind = random_below(dice, 6);
    return kind == 0 ? two(g, op, x, y) : kind == 1 ? two(g, op, number(g, random_number(dice)), x) : two(g, op, x, number(g, random_number(dice)));
}

static void compute(const krf_graph *g, values *all, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    const krf__layout layout = n->op == KRF__view ? krf__memory_layout(g, id) : (krf__layout){.rank = 0};
    for (int i = 0; i < PLACES; i++) {
        const int64_t a = all[n->args[0]][i], b = all[n->args[1]][i], c = all[n->args[2]][i];
        int64_t *const r = &all[id][i];
        switch ((krf__op)n->op) {
        case KRF__add: *r = (int64_t)((uint64_t)a + (uint64_t)b); break;
        case KRF__subtract: *r = (int64_t)((uint64_t)a - (uint64_t)b); break;
        case KRF__multiply: *r = (int64_t)((uint64_t)a * (uint64_t)b); break;
        case KRF__minimum: *r = a < b ? a : b; break;
        case KRF__maximum: *r = a > b ? a : b; break;
        case KRF__less: *r = a < b; break;
        case KRF__less_equal: *r = a <= b; break;
        case KRF__greater: *r = a > b; break;
        case KRF__greater_equal: *r = a >= b; break;
        case KRF__equal: *r = a == b; break;
        case KRF__logical_and: *r = a != 0 && b != 0; break;
        case KRF__where: *r = a != 0 ? b : c; break;
        case KRF__cast: *r = a; break;
        case KRF__view: *r = layout.offset + (layout.shape[0] > 1 ? i / COLUMNS * layout.strides[0] : 0) + (layout.shape[1] > 1 ? i % COLUMNS * layout.strides[1] : 0); break;
        default: *r = krf__bits_to_i64((krf_dtype)n->dtype, n->value); break;
        }
    }
}

static void check_known(const krf_graph *g, const krf__lowering *l, const values *all, int e, uint32_t id, int *choices, int *ends) {
    const krf__node *n = krf__node_of(g, id);
    const uint32_t known = krf__lower_known(l, n);
    if (known == 0) {
        return;
    }
    ++*(n->op == KRF__where ? choices : ends);
    const krf__node *k = krf__node_of(g, known);
    assert_true(k->dtype == n->dtype && krf__shape_equal(n->rank, krf__shape_of(g, id), k->rank, krf__shape_of(g, known)));
    for (int i = 0; i < PLACES; i++) {
        if (all[id][i] != all[known][i]) {
            fail_msg("expression %d, node %u (%s): %lld at %d, not %lld", e, id, krf__op_info_of((krf__op)n->op)->name, (long long)all[id][i], i, (long long)all[known][i]);
        }
    }
}

static void check_strided(const krf_graph *g, const values *all, int e, uint32_t id, int *found) {
    const krf__node *n = krf__node_of(g, id);
    krf__layout layout;
    if (!krf__lower_strided(g, id, &layout)) {
        return;
    }
    *found += n->op != KRF__view;
    assert_true(krf__shape_equal(n->rank, krf__shape_of(g, id), layout.rank, layout.shape));
    for (int i = 0; i < PLACES; i++) {
        const uint64_t line = layout.shape[0] > 1 ? (uint64_t)(i / COLUMNS) : 0, column = layout.shape[1] > 1 ? (uint64_t)(i % COLUMNS) : 0;
        const int64_t place = (int64_t)((uint64_t)layout.offset + line * (uint64_t)layout.strides[0] + column * (uint64_t)layout.strides[1]);
        if (all[id][i] != place) {
            fail_msg("expression %d, node %u (%s): %lld at %d, not %lld", e, id, krf__op_info_of((krf__op)n->op)->name, (long long)all[id][i], i, (long long)place);
        }
    }
}

static void test_random(void **unused) {
    static values all[MOST];
    uint64_t dice = 1;
    int choices = 0, ends = 0, strided = 0;
    (void)unused;
    for (int e = 0; e < EXPRESSIONS; e++) {
        krf_graph g;
        uint32_t ids[NODES];
        krf__trait traits[MOST];
        memset(traits, 0, sizeof traits);
        assert_int_equal(krf__graph_init(&g, NULL), KRF_OK);
        for (int n = 0; n < NODES; n++) {
            ids[n] = n < 3 ? range(&g, &dice) : random_node(&g, ids, n, &dice);
            if (ids[n] == 0) {
                fail_msg("expression %d: %s", e, g.error);
            }
        }
        assert_true(g.n_nodes <= MOST);
        for (uint32_t id = 1; id < g.n_nodes; id++) {
            traits[id].places = krf__node_of(&g, id)->rank > 0;
        }
        const krf__lowering l = {.out = &g, .traits = traits};
        for (uint32_t id = 1; id < g.n_nodes; id++) {
            const krf__node *n = krf__node_of(&g, id);
            if (n->op == KRF__iota) {
                continue;
            }
            compute(&g, all, id);
            check_known(&g, &l, (const values *)all, e, id, &choices, &ends);
            if (n->dtype == KRF_I64 && n->rank == 2) {
                check_strided(&g, (const values *)all, e, id, &strided);
            }
        }
        krf__graph_free(&g);
    }
    /* else nothing would be tested but "not known" */
    assert_true(choices > EXPRESSIONS / 8 && ends > EXPRESSIONS / 8 && strided > EXPRESSIONS / 8);
}

/* What lies at an end, and one beyond. */
static void test_ends(void **unused) {
    static const struct {
        krf__op op;
        int64_t number;
        int operand; /* of where: 1 or 2; of minimum and maximum 0; -1: not known */
    } cases[] = {
        {KRF__less, 0, 2},          {KRF__less, 1, -1},          {KRF__less, 11, -1},          {KRF__less, 12, 1},
        {KRF__less_equal, -1, 2},   {KRF__less_equal, 0, -1},    {KRF__less_equal, 10, -1},    {KRF__less_equal, 11, 1},
        {KRF__greater, 11, 2},      {KRF__greater, 10, -1},      {KRF__greater, 0, -1},        {KRF__greater, -1, 1},
        {KRF__greater_equal, 12, 2}, {KRF__greater_equal, 11, -1}, {KRF__greater_equal, 1, -1}, {KRF__greater_equal, 0, 1},
        {KRF__minimum, 11, 0},      {KRF__minimum, 10, -1},      {KRF__minimum, 0, -1},        {KRF__maximum, 0, 0},
        {KRF__maximum, 1, -1},      {KRF__maximum, 11, -1},
    };
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        krf_graph g;
        krf__trait traits[MOST];
        memset(traits, 0, sizeof traits);
        assert_int_equal(krf__graph_init(&g, NULL), KRF_OK);
        const uint32_t i = krf__build_arange(&g, 0, COLUMNS, 1), other = two(&g, KRF__multiply, i, i), compared = two(&g, cases[k].op, i, number(&g, cases[k].number));
        const bool ends = cases[k].op == KRF__minimum || cases[k].op == KRF__maximum;
        const uint32_t id = ends ? compared : krf__build(&g, KRF__where, 3, (uint32_t[]){compared, i, other});
        const uint32_t want = cases[k].operand < 0 ? 0 : cases[k].operand == 2 ? other : i;
        for (uint32_t n = 1; n < g.n_nodes; n++) {
            traits[n].places = krf__node_of(&g, n)->rank > 0;
        }
        const krf__lowering l = {.out = &g, .traits = traits};
        const krf__node node = *krf__node_of(&g, id);
        if (krf__lower_known(&l, &node) != want) {
            fail_msg("%s of %lld: node %u, not %u", krf__op_info_of(cases[k].op)->name, (long long)cases[k].number, krf__lower_known(&l, &node), want);
        }
        krf__graph_free(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
