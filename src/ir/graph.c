/* The graph's storage: nodes appended and shared, shapes and numbers beside them, arrays retained, the first error kept. Builders (build.c), the
 * parser and the passes add nodes through krf__graph_add; nothing here checks types. */
#include "ir/graph.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/raw.h"

#include <string.h>

/* Nodes are their own keys: a krf__map would copy each, which took a quarter of the time in which a graph is built and its plan found. */
struct krf__shared {
    uint32_t id;   /* 0: free */
    uint32_t hash; /* its upper half */
};

/* Of most graphs that are built for one evaluation: blocks that the C library hands out without looking for them. */
enum { FEW_NODES = 20, FEW_PLACES = 64 };

krf_status krf__graph_init(krf_graph *g, krf_context *context) {
    memset(g, 0, sizeof *g);
    g->context = context;
    krf__node poison = {.op = KRF__poison};
    if (!krf__grow(&g->nodes, &g->nodes_capacity, FEW_NODES, sizeof *g->nodes) ||
        !krf__grow(&g->ints, &g->ints_capacity, 64, sizeof *g->ints)) {
        krf__graph_free(g);
        return krf__fail_memory();
    }
    g->nodes[g->n_nodes++] = poison;
    return KRF_OK;
}

static void release_contents(krf_graph *g) {
    for (size_t i = 0; i < g->n_arrays; i++) {
        krf_array_release(g->arrays[i]);
    }
    for (size_t i = 0; i < g->n_raws; i++) {
        krf__raw_release(g->raws[i]);
    }
    for (size_t i = 0; i < g->n_placeholders; i++) {
        krf__mem_free(g->placeholders[i].name);
    }
    for (size_t i = 0; i < g->n_ops; i++) {
        krf__op_release(g->ops[i]);
    }
    krf__mem_free(g->error);
    g->error = NULL;
    g->n_arrays = g->n_raws = g->n_placeholders = g->n_ops = 0;
}

void krf__graph_free(krf_graph *g) {
    release_contents(g);
    krf__mem_free(g->nodes);
    krf__mem_free(g->ints);
    krf__mem_free(g->arrays);
    krf__mem_free(g->raws);
    krf__mem_free(g->placeholders);
    krf__mem_free((void *)g->ops);
    krf__mem_free(g->shared);
    memset(g, 0, sizeof *g);
}

void krf__graph_reset(krf_graph *g) {
    release_contents(g);
    if (g->shared != NULL) {
        memset(g->shared, 0, g->shared_capacity * sizeof *g->shared);
    }
    g->n_shared = 0;
    g->status = KRF_OK;
    g->n_nodes = 1;
    g->n_ints = 0;
}

uint32_t krf__graph_fail(krf_graph *g, krf_status status, const char *format, ...) {
    va_list args;
    if (g->nil || g->status != KRF_OK) {
        return 0;
    }
    va_start(args, format);
    krf__failv(status, format, args);
    va_end(args);
    g->status = status;
    g->error = krf__strdup(krf_error_message()); /* without memory the status still stands */
    return 0;
}

/* Scalars are arguments: two of the same value are two arguments, so that other values give the same kernel. */
static bool shareable(const krf__node *node) { return node->op != KRF__scalar; }

static bool same(const krf_graph *g, uint32_t id, const krf__node *node, const int64_t *numbers) {
    const krf__node *n = &g->nodes[id];
    return n->op == node->op && n->dtype == node->dtype && n->weak == node->weak && n->rank == node->rank && n->keepdims == node->keepdims && n->n_ints == node->n_ints &&
           n->value == node->value && memcmp(n->args, node->args, sizeof n->args) == 0 &&
           memcmp(g->ints + n->shape, numbers, (size_t)(node->rank + node->n_ints) * sizeof *numbers) == 0;
}

/* The place of the node, or the free one where it belongs. There must be one. */
static struct krf__shared *place_of(const krf_graph *g, uint64_t hash, const krf__node *node, const int64_t *numbers) {
    const size_t mask = g->shared_capacity - 1;
    size_t i = (size_t)hash & mask;
    while (g->shared[i].id != 0 && (g->shared[i].hash != (uint32_t)(hash >> 32) || !same(g, g->shared[i].id, node, numbers))) {
        i = (i + 1) & mask;
    }
    return &g->shared[i];
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t hash_of(const krf__node *node, const int64_t *numbers) {
    uint64_t hash = mix(node->value, (uint64_t)node->op | (uint64_t)node->dtype << 16 | (uint64_t)node->weak << 24 | (uint64_t)node->rank << 32 | (uint64_t)node->keepdims << 40 |
                                         (uint64_t)node->n_ints << 48);
    hash = mix(hash, node->args[0] | (uint64_t)node->args[1] << 32);
    hash = mix(hash, node->args[2]);
    for (size_t i = 0; i < (size_t)node->rank + node->n_ints; i++) {
        hash = mix(hash, (uint64_t)numbers[i]);
    }
    return hash;
}

/* At most three quarters are taken. */
static bool make_room(krf_graph *g) {
    if (g->n_shared < g->shared_capacity / 4 * 3) {
        return true;
    }
    struct krf__shared *old = g->shared;
    const size_t capacity = g->shared_capacity;
    const size_t more = capacity > 0 ? 2 * capacity : FEW_PLACES;
    struct krf__shared *table = krf__malloc(more * sizeof *table);
    if (table == NULL) {
        return false;
    }
    memset(table, 0, more * sizeof *table);
    g->shared = table;
    g->shared_capacity = more;
    for (size_t i = 0; i < capacity; i++) {
        if (old[i].id != 0) {
            const krf__node *node = &g->nodes[old[i].id];
            *place_of(g, hash_of(node, g->ints + node->shape), node, g->ints + node->shape) = old[i];
        }
    }
    krf__mem_free(old);
    return true;
}

/* A few: for these compilers' own copies of a length that they know to be small take longer. */
static inline void copy_numbers(int64_t *to, const int64_t *from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
    }
}

static bool keep_op(krf_graph *g, const krf_op *op) {
    for (size_t i = 0; i < g->n_ops; i++) {
        if (g->ops[i] == op) {
            return true;
        }
    }
    if (!krf__grow(&g->ops, &g->ops_capacity, g->n_ops + 1, sizeof *g->ops)) {
        return false;
    }
    g->ops[g->n_ops++] = krf__op_retain(op);
    return true;
}

uint32_t krf__graph_add(krf_graph *g, const krf__node *node, const int64_t *shape, const int64_t *ints) {
    int64_t numbers[4 * KRF_MAX_RANK];
    const size_t n = (size_t)node->rank + node->n_ints;
    if (g->nil || g->status != KRF_OK) {
        return 0;
    }
    if (n > 4 * KRF_MAX_RANK) {
        return krf__graph_fail(g, KRF_E_INTERNAL, "a node has too many numbers");
    }
    copy_numbers(numbers, shape, node->rank);
    copy_numbers(numbers + node->rank, ints, node->n_ints);
    struct krf__shared *place = NULL;
    uint64_t hash = 0;
    if (shareable(node)) {
        if (!make_room(g)) {
            return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (graph of %zu nodes)", g->n_nodes);
        }
        hash = hash_of(node, numbers);
        place = place_of(g, hash, node, numbers);
        if (place->id != 0) {
            return place->id;
        }
    }
    if (g->n_nodes >= UINT32_MAX || g->n_ints + n >= UINT32_MAX) {
        return krf__graph_fail(g, KRF_E_MEMORY, "a graph holds at most 2^32 nodes");
    }
    const uint32_t id = (uint32_t)g->n_nodes;
    if (((node->op == KRF__call || krf__op_is_fold((krf__op)node->op)) && !keep_op(g, krf__result_of(node->value)->op)) ||
        !krf__grow(&g->nodes, &g->nodes_capacity, g->n_nodes + 1, sizeof *g->nodes) || !krf__grow(&g->ints, &g->ints_capacity, g->n_ints + n, sizeof *g->ints)) {
        return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (graph of %zu nodes)", g->n_nodes);
    }
    copy_numbers(g->ints + g->n_ints, numbers, n);
    krf__node added = *node;
    added.shape = (uint32_t)g->n_ints;
    added.ints = (uint32_t)g->n_ints + node->rank;
    g->n_ints += n;
    g->nodes[g->n_nodes++] = added;
    if (place != NULL) {
        *place = (struct krf__shared){.id = id, .hash = (uint32_t)(hash >> 32)};
        g->n_shared++;
    }
    return id;
}

uint32_t krf__unbroadcast(const krf_graph *g, uint32_t id) {
    while (krf__node_of(g, id)->op == KRF__broadcast_to) {
        id = krf__node_of(g, id)->args[0];
    }
    return id;
}

int krf__operands(const krf_graph *g, uint32_t id, uint32_t operands[KRF__MOST_DEFINED]) {
    const krf__node *n = krf__node_of(g, id);
    int count = krf__op_info_of(n->op)->arity;
    if (n->op == KRF__call || krf__op_is_fold((krf__op)n->op)) {
        count = krf__result_of(n->value)->op->n_parameters;
        uint32_t at = n->args[0];
        for (int k = count - 1; k > 0; k--) {
            operands[k] = krf__node_of(g, at)->args[1];
            at = krf__node_of(g, at)->args[0];
        }
        operands[0] = at;
        return count;
    }
    for (int k = 0; k < count; k++) {
        operands[k] = n->args[k];
    }
    return count;
}

krf__layout krf__memory_layout(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    krf__layout out = krf__layout_c(n->rank, krf__shape_of(g, id));
    const int64_t *strides = NULL;
    if (n->op == KRF__input) {
        strides = g->arrays[n->value]->strides;
    } else if (n->op == KRF__placeholder) {
        strides = g->placeholders[n->value].strides;
    } else if (n->op == KRF__view) {
        out.offset = krf__ints_of(g, id)[0];
        strides = krf__ints_of(g, id) + 1;
    }
    if (strides != NULL && n->rank > 0) {
        memcpy(out.strides, strides, n->rank * sizeof *strides);
    }
    return out;
}

const char *krf__graph_check(const krf_graph *g) {
    for (size_t i = 1; i < g->n_nodes; i++) {
        const krf__node *n = &g->nodes[i];
        const krf__op_info *info = krf__op_info_of(n->op);
        if (n->op == KRF__poison || n->op >= KRF__OP_COUNT) {
            return "a node is poison";
        }
        if (n->rank > KRF_MAX_RANK || krf__shape_size(n->rank, krf__shape_of(g, (uint32_t)i)) < 0) {
            return "a shape is out of range";
        }
        for (int k = 0; k < 3; k++) {
            if ((k < info->arity) != (n->args[k] != 0) || n->args[k] >= i) {
                return "an operand does not precede its user";
            }
        }
        if (n->op == KRF__gather && (g->nodes[n->args[0]].op != KRF__view || g->nodes[n->args[1]].dtype != KRF_I64 ||
                                     g->nodes[n->args[0]].dtype != n->dtype)) {
            return "a gather is not over a view and i64 places";
        }
        if (info->class_ == KRF__CLASS_ELEMENTWISE || n->op == KRF__gather) {
            int rank = 0;
            int64_t shape[KRF_MAX_RANK];
            for (int k = 0; k < info->arity; k++) {
                const krf__node *a = krf__node_of(g, n->args[k]);
                if (!krf__shape_broadcast(rank, shape, a->rank, krf__shape_of(g, n->args[k]), &rank, shape)) {
                    return "operands do not broadcast";
                }
            }
            if (!krf__shape_equal(rank, shape, n->rank, krf__shape_of(g, (uint32_t)i))) {
                return "a shape does not follow from the operands'";
            }
            if (n->op != KRF__gather && krf__op_gives_bool(n->op) != (n->dtype == KRF_BOOL) && info->rule != KRF__RULE_BITS &&
                info->rule != KRF__RULE_ANY && info->rule != KRF__RULE_WHERE && info->rule != KRF__RULE_USER) {
                return "a dtype does not follow from the operation";
            }
        }
    }
    return NULL;
}
