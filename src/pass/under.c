/* Lists of what values are made of, from the values down: a few nodes, so that each is looked for among those before it. */
#include "pass/under.h"

bool krf__lies_there(const krf_graph *g, uint32_t id) {
    const krf__op op = (krf__op)krf__node_of(g, id)->op;
    return krf__op_is_leaf(op) || op == KRF__raw_result;
}

static bool is_among(const uint32_t *ids, uint32_t n, uint32_t id) {
    bool known = false;
    for (uint32_t i = 0; i < n && !known; i++) {
        known = ids[i] == id;
    }
    return known;
}

static bool note(bool lies, uint32_t id, uint32_t most, krf__under *found) {
    if (lies) {
        const bool known = is_among(found->leaves, found->n_leaves, id), room = found->n_leaves < sizeof found->leaves / sizeof *found->leaves;
        if (!known && room) {
            found->leaves[found->n_leaves++] = id;
        }
        return known || room;
    }
    if (is_among(found->computed, found->n_computed, id)) {
        return true;
    }
    if (found->n_computed == most) {
        return false;
    }
    found->computed[found->n_computed++] = id;
    return true;
}

static bool no_more(const void *of, uint32_t id) {
    (void)of;
    (void)id;
    return false;
}

bool krf__find_under(const krf_graph *g, uint32_t n_roots, const uint32_t *roots, uint32_t most, krf__under *found) { return krf__find_above(g, n_roots, roots, most, no_more, NULL, found); }

bool krf__find_above(const krf_graph *g, uint32_t n_roots, const uint32_t *roots, uint32_t most, bool (*stops)(const void *of, uint32_t id), const void *of, krf__under *found) {
    bool few = true;
    most = most < KRF__MOST_UNDER ? most : KRF__MOST_UNDER;
    found->n_computed = found->n_leaves = 0;
    for (uint32_t k = 0; k < n_roots && few; k++) {
        few = note(krf__lies_there(g, roots[k]) || stops(of, roots[k]), roots[k], most, found);
    }
    for (uint32_t done = 0; done < found->n_computed && few; done++) {
        const uint32_t *args = krf__node_of(g, found->computed[done])->args;
        for (int k = 0; k < 3 && few; k++) {
            few = args[k] == 0 || note(krf__lies_there(g, args[k]) || stops(of, args[k]), args[k], most, found);
        }
    }
    return few;
}
