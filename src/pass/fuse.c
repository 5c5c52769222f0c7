/* Cuts a lowered graph into groups, each of which becomes a kernel.
 *
 * An elementwise node belongs to no group: whichever kernel needs its value computes it, from leaves and from stored values. Only four things are
 * stored: outputs, what a view reads, what a reduction group hands to others, and values at which a computation grew past what one kernel holds.
 *
 * Reductions of one domain, axes and step form a group. A node over results of one group, in the shape of its results, is its epilogue.
 * At last, groups that follow one another over the rows of one domain become the rounds of one kernel (rows.c).
 *
 * `step` counts the stored values on the longest way down: a group runs after all groups of earlier steps.
 *
 * Weights bound a kernel's size: the operations and argument fields below a node, counted exactly only where the sum over operands exceeds the limit. So
 * are groups': a value and its gradients share most of what they compute. */
#include "base/fail.h"
#include "base/map.h"
#include "base/mem.h"
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

#define NO_CUT ""
#define LEAST_SHARED 4 /* operations, for which a reduction joins a kernel that has enough of them */
#define MOST_SCANS 2 /* in a kernel: each takes 21 KiB of a block's shared memory; of 8-byte elements, twice as much */

typedef struct weight {
    uint32_t operations, fields;
} weight;

typedef struct fusing {
    const krf_graph *g;
    krf__fusion *f;
    const krf__limits *limits;
    uint32_t *step;
    weight *weights;
    uint32_t *mark, stamp; /* of the exact count */
    uint32_t *stack;
    bool *oversized;       /* stored because of the limit */
    uint32_t words;        /* of the reduction at hand; 0: of a map */
    krf__map open;         /* (step, axes, shape) -> 1 + the group that still takes members */
    size_t groups_capacity;
} fusing;

static bool is_leaf(const fusing *s, uint32_t id) { return krf__op_is_leaf(krf__node_of(s->g, id)->op); }

/* Whether the value comes from memory or from an argument in every kernel but the one that stores it. */
static bool stops_here(const fusing *s, uint32_t id) { return is_leaf(s, id) || s->f->stored[id] || s->f->group_of[id] != 0; }

static weight leaf_weight(const fusing *s, uint32_t id) {
    krf__op op = krf__node_of(s->g, id)->op;
    return (weight){0, op == KRF__constant ? 0 : op == KRF__scalar || op == KRF__part ? 1 : 1 + (uint32_t)krf__node_of(s->g, id)->rank};
}

/* A chain of operands is no operation. */
static uint32_t operations_of(const fusing *s, uint32_t id) { return krf__node_of(s->g, id)->op != KRF__bind; }

static weight upper_weight(const fusing *s, uint32_t id) {
    weight sum = {operations_of(s, id), 0};
    uint32_t operands[KRF__MOST_DEFINED];
    for (int k = krf__operands(s->g, id, operands) - 1; k >= 0; k--) {
        const uint32_t arg = operands[k];
        weight w = stops_here(s, arg) ? leaf_weight(s, arg) : s->weights[arg];
        sum.operations += w.operations;
        sum.fields += w.fields;
    }
    return sum;
}

static bool too_heavy(const fusing *s, weight w) { return w.operations > s->limits->operations || w.fields > s->limits->fields; }

/* Counts the nodes below the first `depth` of the stack, which are marked, once each; stops counting soon after the limit. root: a node that is counted
 * whatever it is. step: of the kernel; what is stored then and not before is computed in it. */
static weight count_marked(fusing *s, size_t depth, uint32_t root, uint32_t step) {
    weight sum = {0, 0};
    while (depth > 0 && !too_heavy(s, sum)) {
        uint32_t now = s->stack[--depth];
        if (now != root && stops_here(s, now) && (is_leaf(s, now) || s->step[now] < step)) {
            sum.fields += leaf_weight(s, now).fields;
            continue;
        }
        sum.operations += operations_of(s, now);
        for (int k = 0; k < krf__op_info_of(krf__node_of(s->g, now)->op)->arity; k++) {
            uint32_t arg = krf__node_of(s->g, now)->args[k];
            if (s->mark[arg] != s->stamp) {
                s->mark[arg] = s->stamp;
                s->stack[depth++] = arg;
            }
        }
    }
    return sum;
}

static weight exact_weight(fusing *s, uint32_t id) {
    s->stamp++;
    s->stack[0] = id;
    s->mark[id] = s->stamp;
    return count_marked(s, 1, id, UINT32_MAX);
}

static uint32_t store_fields(const fusing *s, uint32_t id) {
    const krf__node *n = krf__node_of(s->g, id);
    uint32_t stores = krf__is_complex((krf_dtype)n->dtype) ? 2 : 1;
    for (; n->op == KRF__joined; n = krf__node_of(s->g, n->args[1])) {
        stores++;
    }
    return stores * (1 + (uint32_t)n->rank);
}

/* A group with another member, a reduction or a stored value (0: none), and w beside it, where the sum of weights exceeds the limit: what members share is
 * counted once. */
static weight exact_group(fusing *s, const krf__group *group, uint32_t member, weight w) {
    const bool reduces = group->n_reductions > 0;
    const uint32_t n = reduces ? group->n_reductions : group->n_roots, *members = reduces ? group->reductions : group->roots;
    weight more = {group->epilogue_operations + w.operations, group->epilogue_fields + w.fields};
    size_t depth = 0;
    s->stamp++;
    for (uint32_t k = 0; k < n + (member != 0); k++) {
        const uint32_t id = k < n ? members[k] : member, root = reduces ? krf__node_of(s->g, id)->args[0] : id;
        more.operations += reduces;
        more.fields += store_fields(s, id);
        if (s->mark[root] != s->stamp) {
            s->mark[root] = s->stamp;
            s->stack[depth++] = root;
        }
    }
    weight sum = count_marked(s, depth, 0, group->step);
    return (weight){sum.operations + more.operations, sum.fields + more.fields};
}

/* Whether the group has reductions enough: another one would be computed as fast in a kernel of its own. */
static bool has_enough(fusing *s, const krf__group *group, uint32_t member) {
    if (group->n_reductions < s->limits->reductions) {
        return false;
    }
    const krf__group alone = {.step = group->step, .reductions = &member, .n_reductions = 1};
    const weight none = {0, 0};
    const uint32_t apart = exact_group(s, &alone, 0, none).operations + exact_group(s, group, 0, none).operations;
    return apart < exact_group(s, group, member, none).operations + LEAST_SHARED;
}

/* The step at which another kernel can read the value, or compute it. */
static uint32_t ready(const fusing *s, uint32_t id) {
    return s->step[id] + (!is_leaf(s, id) && (s->f->stored[id] || s->f->group_of[id] != 0) ? 1 : 0);
}

static uint32_t step_of(const fusing *s, uint32_t id) {
    uint32_t step = 0, operands[KRF__MOST_DEFINED];
    for (int k = krf__operands(s->g, id, operands) - 1; k >= 0; k--) {
        uint32_t now = ready(s, operands[k]);
        step = now > step ? now : step;
    }
    return step;
}

/* Stores operands, the heaviest first, until the node fits a kernel. */
static void bound_weight(fusing *s, uint32_t id) {
    weight w = upper_weight(s, id);
    if (too_heavy(s, w)) {
        w = exact_weight(s, id);
    }
    while (too_heavy(s, w)) {
        uint32_t heaviest = 0, most = 0, operands[KRF__MOST_DEFINED];
        const int n = krf__operands(s->g, id, operands);
        for (int k = 0; k < n; k++) {
            const uint32_t arg = operands[k];
            uint32_t size = s->weights[arg].operations + s->weights[arg].fields;
            if (!stops_here(s, arg) && krf__node_of(s->g, arg)->op != KRF__joined && size > most) {
                heaviest = arg;
                most = size;
            }
        }
        if (heaviest == 0) {
            break;
        }
        s->f->stored[heaviest] = s->oversized[heaviest] = true;
        w = exact_weight(s, id);
    }
    s->weights[id] = w;
    s->step[id] = step_of(s, id);
}

/* The group whose epilogue the node joins: the last one among those of its operands, if that one's results have the node's shape and all else can be read or
 * computed by then. 0: none. */
static uint32_t epilogue_group(const fusing *s, uint32_t id) {
    uint32_t group = 0, operands[KRF__MOST_DEFINED];
    const int arity = krf__operands(s->g, id, operands);
    for (int k = 0; k < arity; k++) {
        uint32_t own = s->f->group_of[operands[k]];
        if (own != 0 && !s->f->groups[own - 1].raw && (group == 0 || s->f->groups[own - 1].step > s->f->groups[group - 1].step)) {
            group = own;
        }
    }
    for (int k = 0; k < arity && group != 0; k++) {
        const uint32_t arg = operands[k];
        bool result = s->f->group_of[arg] == group;
        if (result ? !krf__same_shape(s->g, id, arg) : ready(s, arg) > s->f->groups[group - 1].step) {
            return 0;
        }
    }
    return group;
}

static krf_status add_group(fusing *s, krf__group group) {
    if (!krf__grow(&s->f->groups, &s->groups_capacity, s->f->n_groups + 1, sizeof *s->f->groups)) {
        return krf__fail_memory();
    }
    s->f->groups[s->f->n_groups++] = group;
    return KRF_OK;
}

/* What the results of a group are beside its domain. */
typedef enum form { FORM_MAP, FORM_REDUCED, FORM_SCAN, FORM_WIDE_SCAN } form;

typedef struct open_key {
    int64_t step, mask, form, rank, shape[KRF_MAX_RANK];
} open_key;

/* The group of that step, axes, form of result and domain that has room for one more member, of weight w; a new one if there is none. *index counts from 1. */
static krf_status find_group(fusing *s, uint32_t step, int64_t mask, form results, uint32_t domain, weight w, const char *cut, uint32_t member,
                             uint32_t *index) {
    const krf__node *d = krf__node_of(s->g, domain);
    const uint32_t scans = results == FORM_SCAN ? MOST_SCANS : results == FORM_WIDE_SCAN ? 1 : UINT32_MAX;
    const uint32_t most = s->limits->results < scans ? s->limits->results : scans;
    open_key key = {.step = step, .mask = mask, .form = results, .rank = d->rank};
    memcpy(key.shape, krf__shape_of(s->g, domain), d->rank * sizeof *key.shape);
    uint32_t found = (uint32_t)(uintptr_t)krf__map_get(&s->open, &key, sizeof key);
    if (found != 0) {
        krf__group *group = &s->f->groups[found - 1];
        weight sum = {group->operations + w.operations, group->fields + w.fields};
        if (too_heavy(s, sum)) {
            sum = exact_group(s, group, member, (weight){0, 0});
        }
        const bool crowded = group->words + s->words > (s->words > 1 || group->words > group->n_reductions ? KRF__MOST_WORDS : UINT32_MAX / 2);
        if (!too_heavy(s, sum) && !crowded && group->n_reductions < most && group->n_roots < s->limits->results && !has_enough(s, group, member)) {
            group->words += s->words;
            group->operations = sum.operations;
            group->fields = sum.fields;
            *index = found;
            return KRF_OK;
        }
        cut = sum.fields > s->limits->fields ? "parameter bytes" : "kernel size";
    }
    const krf__group made = {.step = step, .domain = domain, .mask = mask, .scan = results >= FORM_SCAN, .operations = w.operations, .fields = w.fields, .cut = cut, .rounds = 1, .words = s->words};
    krf_status status = add_group(s, made);
    if (status != KRF_OK) {
        return status;
    }
    *index = (uint32_t)s->f->n_groups;
    return krf__map_put(&s->open, &key, sizeof key, (void *)(uintptr_t)*index) ? KRF_OK : krf__fail_memory();
}

/* A value that leaves its kernel: noted where it is computed. */
static krf_status store(fusing *s, uint32_t id) {
    bool known = s->f->stored[id];
    uint32_t group = s->f->group_of[id];
    s->f->stored[id] = true;
    if (known || group == 0) {
        return KRF_OK; /* maps are collected at the end */
    }
    krf__group *owner = &s->f->groups[group - 1];
    return krf__fusion_append(&owner->roots, &owner->n_roots, id);
}

static krf_status visit_reduction(fusing *s, uint32_t id) {
    const krf__node *n = krf__node_of(s->g, id);
    uint32_t x = n->args[0];
    const bool wide = krf_dtype_size((krf_dtype)n->dtype) == 8 || n->op == KRF__fold_scan;
    form results = krf__op_info_of(n->op)->class_ != KRF__CLASS_SCAN ? FORM_REDUCED : wide ? FORM_WIDE_SCAN : FORM_SCAN;
    krf_status status = KRF_OK;
    weight w = {0, 0};
    uint32_t operands[KRF__MOST_DEFINED];
    const int arity = krf__operands(s->g, id, operands);
    for (int k = 0; k < arity; k++) {
        const uint32_t arg = operands[k];
        status = status == KRF_OK && s->f->group_of[arg] != 0 ? store(s, arg) : status;
        if (!stops_here(s, arg) && (s->limits->prologue == 0 || w.operations + s->weights[arg].operations >= s->limits->operations)) {
            s->f->stored[arg] = s->oversized[arg] = true;
        }
        const weight own = stops_here(s, arg) ? leaf_weight(s, arg) : s->weights[arg];
        const uint32_t now = ready(s, arg);
        w.operations += own.operations;
        w.fields += own.fields;
        s->step[id] = now > s->step[id] ? now : s->step[id];
    }
    w.operations++;
    w.fields += 1 + krf__node_of(s->g, id)->rank;
    s->words = krf__op_is_fold((krf__op)n->op) ? (uint32_t)krf__result_of(n->value)->op->map->n_results : 1;
    if (status == KRF_OK) {
        status = find_group(s, s->step[id], krf__ints_of(s->g, id)[0], results, x, w,
                            s->step[id] > 0 ? "a reduction of values of an earlier kernel" : "a reduction over another domain", id,
                            &s->f->group_of[id]);
    }
    return status == KRF_OK ? krf__fusion_append(&s->f->groups[s->f->group_of[id] - 1].reductions,
                                     &s->f->groups[s->f->group_of[id] - 1].n_reductions, id)
                            : status;
}

static krf_status visit_elementwise(fusing *s, uint32_t id) {
    krf_status status = KRF_OK;
    uint32_t operands[KRF__MOST_DEFINED];
    const int n = krf__operands(s->g, id, operands);
    if (krf__node_of(s->g, id)->op == KRF__bind) {
        return KRF_OK; /* its calls look at the whole chain */
    }
    uint32_t group = s->limits->epilogue != 0 ? epilogue_group(s, id) : 0;
    if (group != 0) {
        krf__group *owner = &s->f->groups[group - 1];
        weight w = upper_weight(s, id), sum = {owner->operations + w.operations, owner->fields + w.fields};
        if (too_heavy(s, sum)) {
            sum = exact_group(s, owner, 0, w);
        }
        if (!too_heavy(s, sum)) {
            owner->operations = sum.operations;
            owner->fields = sum.fields;
            owner->epilogue_operations += w.operations;
            owner->epilogue_fields += w.fields;
            s->f->group_of[id] = group;
            s->step[id] = s->f->groups[group - 1].step;
            s->weights[id] = w;
            for (int k = 0; status == KRF_OK && k < n; k++) {
                const uint32_t arg = operands[k];
                status = s->f->group_of[arg] != 0 && s->f->group_of[arg] != group ? store(s, arg) : KRF_OK;
            }
            return status;
        }
    }
    for (int k = 0; status == KRF_OK && k < n; k++) {
        if (s->f->group_of[operands[k]] != 0) {
            status = store(s, operands[k]);
        }
    }
    bound_weight(s, id);
    return status;
}

/* A raw kernel is a group of its own, which runs when all of its operands are stored. */
static krf_status visit_raw(fusing *s, uint32_t id) {
    const krf__node *n = krf__node_of(s->g, id);
    krf_status status = KRF_OK;
    if (n->op == KRF__raw_argument) {
        const uint32_t x = n->args[1], before = s->step[n->args[0]];
        status = is_leaf(s, x) ? KRF_OK : store(s, x);
        s->step[id] = ready(s, x) > before ? ready(s, x) : before;
    } else if (n->op == KRF__raw_launch) {
        s->step[id] = s->step[n->args[0]];
        status = add_group(s, (krf__group){.step = s->step[id], .domain = id, .raw = true, .cut = "a raw kernel", .rounds = 1});
        s->f->group_of[id] = (uint32_t)s->f->n_groups;
    } else if (n->op == KRF__raw_result) {
        s->step[id] = s->step[n->args[0]];
        s->f->group_of[id] = s->f->group_of[n->args[0]];
    }
    return status;
}

static krf_status visit(fusing *s, uint32_t id) {
    const krf__node *n = krf__node_of(s->g, id);
    if (krf__op_is_raw((krf__op)n->op)) {
        return visit_raw(s, id);
    }
    if (n->op == KRF__view) {
        uint32_t base = n->args[0];
        krf_status status = is_leaf(s, base) ? KRF_OK : store(s, base);
        s->step[id] = ready(s, base);
        return status;
    }
    if (is_leaf(s, id)) {
        return KRF_OK;
    }
    return krf__op_folds((krf__op)n->op) ? visit_reduction(s, id) : visit_elementwise(s, id);
}

static krf_status collect_map(fusing *s, uint32_t id) {
    uint32_t group;
    s->words = 0;
    weight w = is_leaf(s, id) ? leaf_weight(s, id) : s->weights[id];
    w.fields += store_fields(s, id);
    const krf__node *n = krf__node_of(s->g, id);
    krf_status status = find_group(s, s->step[id], 0, FORM_MAP, n->op == KRF__joined ? n->args[0] : id, w,
                                   s->oversized[id]  ? "kernel size"
                                   : s->step[id] > 0 ? s->g->n_raws > 0 ? "what other kernels wrote is needed" : "values of an earlier kernel are needed in another shape"
                                                     : "another shape",
                                   id, &group);
    return status == KRF_OK ? krf__fusion_append(&s->f->groups[group - 1].roots, &s->f->groups[group - 1].n_roots, id) : status;
}

static int by_step(const void *a, const void *b) {
    const krf__group *x = a, *y = b;
    if (x->step != y->step) {
        return x->step < y->step ? -1 : 1;
    }
    return x->domain < y->domain ? -1 : x->domain > y->domain;
}

krf_status krf__fuse(const krf_graph *g, int n, const uint32_t *outputs, const krf__limits *limits, krf__fusion *out) {
    krf_status status = KRF_OK;
    memset(out, 0, sizeof *out);
    fusing s = {.g = g, .f = out, .limits = limits};
    out->stored = krf__calloc(g->n_nodes, sizeof *out->stored);
    out->inner = krf__calloc(g->n_nodes, sizeof *out->inner);
    out->group_of = krf__calloc(g->n_nodes, sizeof *out->group_of);
    s.step = krf__calloc(g->n_nodes, sizeof *s.step);
    s.weights = krf__calloc(g->n_nodes, sizeof *s.weights);
    s.mark = krf__calloc(g->n_nodes, sizeof *s.mark);
    s.stack = krf__malloc(g->n_nodes * sizeof *s.stack);
    s.oversized = krf__calloc(g->n_nodes, sizeof *s.oversized);
    if (!out->stored || !out->inner || !out->group_of || !s.step || !s.weights || !s.mark || !s.stack || !s.oversized) {
        status = krf__fail_memory();
    }
    for (uint32_t id = 1; status == KRF_OK && id < g->n_nodes; id++) {
        status = visit(&s, id);
    }
    for (int k = 0; status == KRF_OK && k < n; k++) {
        status = store(&s, outputs[k]);
    }
    for (uint32_t id = 1; status == KRF_OK && id < g->n_nodes; id++) {
        if (out->stored[id] && out->group_of[id] == 0) {
            status = collect_map(&s, id);
        }
    }
    status = status == KRF_OK && out->n_groups > 1 && limits->results > 1 ? krf__fuse_delay(g, limits, s.step, out) : status;
    if (status == KRF_OK && out->n_groups > 0) {
        qsort(out->groups, out->n_groups, sizeof *out->groups, by_step);
        out->groups[0].cut = NO_CUT;
        krf__fusion_number(g, out);
        status = krf__fuse_rows(g, n, outputs, limits, out);
    }
    krf__mem_free(s.step);
    krf__mem_free(s.weights);
    krf__mem_free(s.mark);
    krf__mem_free(s.stack);
    krf__mem_free(s.oversized);
    krf__map_free(&s.open, NULL);
    if (status != KRF_OK) {
        krf__fusion_free(out);
    }
    return status;
}
