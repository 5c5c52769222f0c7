/* What must hold for every graph:
 * - one operation a kernel, with the values of open nodes looked at: every result is the oracle's;
 * - fused, cut at other limits, written to given memory, bound to placeholders, printed and parsed: the same bits;
 * - the text is a fixpoint of printing and parsing;
 * - compiled: the same bits; on CUDA: the oracle's, over CUDA's own values of open nodes, and the CPU's where there are
 * none. Which ways a graph goes follows from its seed. */
#include "fuzz/session.h"

#include "fuzz/user.h"

#define REFERENCE_WAYS 4

static bool compare(const graph *g, int id, const char *label, int k, const void *got, const void *want,
                    const char *wanted, report *r) {
    const facts *f = &g->nodes[id].is;
    int64_t first;
    char left[128], right[128];
    return same_elements(f->dtype, f->size, got, want, &first)
           || fails(r, "%s: result %d (node %d), element %" PRId64 ": %s, %s: %s", label, k, id, first,
                    show(get(got, f->dtype, first), left, sizeof left), wanted,
                    show(get(want, f->dtype, first), right, sizeof right));
}

static krf__limits random_limits(uint64_t *state) {
    krf__limits l = krf__default_limits;
    uint64_t bits = next_random(state);
    l.operations = bits % 3 == 0 ? l.operations : 1 + (uint32_t)(bits >> 8) % 8;
    l.fields = bits % 5 < 3 ? l.fields : 1 + (uint32_t)(bits >> 16) % 24;
    l.results = bits % 7 < 4 ? l.results : 1 + (uint32_t)(bits >> 24) % 3;
    l.reductions = bits % 23 < 15 ? l.reductions : 1 + (uint32_t)(bits >> 56) % 4;
    l.repeated = bits % 11 < 6 ? l.repeated : (uint32_t)(bits >> 32) % 4;
    l.row = bits % 13 < 9 ? l.row : (uint32_t)(bits >> 48) % 64;
    l.columns = bits % 31 < 20 ? l.columns : (uint32_t)(bits >> 40) % 64;
    l.columns_unrolled = bits % 37 < 24 ? l.columns_unrolled : (uint32_t)(bits >> 28) % 8;
    l.unrolled = bits % 17 < 11 ? l.unrolled : (uint32_t)(bits >> 52) % 4;
    l.chunk = bits % 19 < 12 ? l.chunk : 0;
    l.literal = bits % 29 < 16 ? l.literal : (uint32_t)(bits >> 48) % 2 * 7;
    l.narrow_from = (bits >> 46) % 4 == 0 ? l.narrow_from : 0;
    l.literal_from = (bits >> 34) % 2 ? l.literal_from : 0;
    l.loose = (bits >> 35) % 2 * 8;
    l.walk = (bits >> 33) % 2 ? l.walk : 0;
    l.pairs = (bits >> 47) % 2 ? l.pairs : 0;
    l.relay = (bits >> 45) % 2 ? l.relay : 0;
    l.blocks = (bits >> 50) % 2 ? l.blocks : 0;
    l.again = (bits >> 51) % 2 ? l.again : 0;
    l.spread = (bits >> 42) % 2 ? l.spread : 1;
    l.flat = (bits >> 49) % 2 ? l.flat : 0;
    l.recur = (bits >> 52) % 4 != 0 ? 0 : l.recur;
    l.whole = (bits >> 36) % 2;
    l.teams = (bits >> 39) % 2;
    l.held = (bits >> 41) % 2;
    l.strips = (bits >> 37) % 2;
    l.early = (bits >> 38) % 2;
    l.tables = (bits >> 43) % 2;
    l.prologue = (bits >> 40) % 4 != 0;
    l.epilogue = (bits >> 44) % 4 != 0;
    return l;
}

static krf__limits no_fusion(void) {
    krf__limits l;
    krf__limits_parse("off", &l);
    return l;
}

static way first_way(const session *s) { return (way){s->reference[0], "one operation a kernel", no_fusion(), WITH_INPUTS, .open = true}; }

/* The ways after the first: all must have the bits of the oracle's results. */
static void reference_ways(const session *s, const graph *g, way *ways) {
    uint64_t state = g->seed ^ UINT64_C(0x5851f42d4c957f2d);
    const krf__limits some = random_limits(&state), others = random_limits(&state);
    const uint64_t bits = next_random(&state);
    ways[0] = (way){s->reference[0], "fused", krf__default_limits, WITH_INPUTS, .given = true};
    ways[1] = (way){s->reference[bits % 2], "other limits", some, WITH_INPUTS, .given = false};
    ways[2] = (way){s->reference[0], "placeholders", bits / 2 % 2 ? others : krf__default_limits, WITH_PLACEHOLDERS,
                    .given = true};
    ways[3] = (way){s->reference[bits / 4 % 2], "parsed", krf__default_limits, PARSED, .given = false};
}

/* In the context that compiles: fused always; one graph in four once more at other limits. */
static int tested_ways(const session *s, const graph *g, way *ways) {
    const bool cuda = s->target == TARGET_CUDA;
    uint64_t state = g->seed ^ UINT64_C(0x14057b7ef767814f);
    const krf__limits some = random_limits(&state);
    const uint64_t bits = next_random(&state);
    ways[0] =
        (way){s->tested, cuda ? "cuda" : "compiled", krf__default_limits, WITH_INPUTS, .given = true, .open = cuda};
    ways[1] = (way){s->tested, cuda ? "cuda, other limits" : "compiled, other limits", some,
                    bits % 2 ? WITH_PLACEHOLDERS : WITH_INPUTS, .open = cuda};
    return bits / 2 % 4 == 0 ? 2 : 1;
}

/* Evaluates and compares with what the outputs must be. */
static bool check_way(const graph *g, const way *w, void *const *want, report *r) {
    results got;
    bool right = evaluate(g, w, &got, r);
    for (int k = 0; right && k < g->n_outputs; k++) {
        right = compare(g, g->outputs[k].node, w->label, k, got.of[k], want[k], "the oracle", r);
    }
    if (got.n > 0) {
        results_free(&got);
    }
    return right;
}

/* As check_way, but open nodes may have other values than in the reference. */
static bool check_cuda(const graph *g, const way *w, int n_open, const results *reference, report *r) {
    results got;
    values v = {{NULL}};
    bool right = evaluate(g, w, &got, r) && oracle_run(g, got.of + g->n_outputs, true, &v, r);
    for (int k = 0; right && k < g->n_outputs; k++) {
        int id = g->outputs[k].node;
        right = compare(g, id, w->label, k, got.of[k], v.of[id], "the oracle over its own functions", r)
                && (n_open > 0 || compare(g, id, w->label, k, got.of[k], reference->of[k], "the CPU", r));
    }
    values_free(&v);
    if (got.n > 0) {
        results_free(&got);
    }
    return right;
}

static bool check_tested(session *s, const graph *g, void *const *want, const results *reference, report *r) {
    way ways[2];
    bool right = true;
    int n = s->tested != NULL ? tested_ways(s, g, ways) : 0;
    for (int i = 0; right && i < n; i++) {
        right = s->target == TARGET_CUDA ? check_cuda(g, &ways[i], reference->n - g->n_outputs, reference, r)
                                         : check_way(g, &ways[i], want, r);
    }
    return right;
}

bool check_graph(session *s, const graph *g, report *r) {
    const way first = first_way(s);
    way ways[REFERENCE_WAYS];
    results alone;
    values v = {{NULL}};
    void *want[MOST_OUTPUTS];
    bool right = evaluate(g, &first, &alone, r) && oracle_run(g, alone.of + g->n_outputs, false, &v, r);
    for (int k = 0; right && k < g->n_outputs; k++) {
        want[k] = v.of[g->outputs[k].node];
        right = compare(g, g->outputs[k].node, first.label, k, alone.of[k], want[k], "the oracle", r);
    }
    reference_ways(s, g, ways);
    for (int i = 0; right && i < REFERENCE_WAYS; i++) {
        right = check_way(g, &ways[i], want, r);
    }
    right = right && text_is_fixpoint(s->reference[0], g, r) && check_tested(s, g, want, &alone, r);
    values_free(&v);
    if (alone.n > 0) {
        results_free(&alone);
    }
    return right;
}

static bool has_user(const graph *g) {
    bool any = false;
    for (int id = 0; id < g->n_nodes; id++) {
        any |= node_is_user(&g->nodes[id]);
    }
    return any;
}

bool check_prepare(session *s, const graph *g, report *r) {
    way ways[REFERENCE_WAYS + 3];
    bool right = true;
    int n = s->tested != NULL ? tested_ways(s, g, ways) : 0;
    if (has_user(g)) { /* the interpreter knows no C */
        ways[n++] = first_way(s);
        reference_ways(s, g, ways + n);
        n += REFERENCE_WAYS;
    }
    for (int i = 0; right && i < n; i++) {
        results none;
        ways[i].pretend = true;
        right = evaluate(g, &ways[i], &none, r);
    }
    return right;
}
