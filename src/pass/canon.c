/* Renumbers a graph depth-first from its outputs. C does not fix the order in which nested arguments are evaluated, so without this pass the
 * same source would give other kernels under another compiler. */
#include "base/fail.h"
#include "base/mem.h"
#include "ir/build.h"
#include "ir/build_raw.h"
#include "pass/pass.h"

#include <string.h>

static krf_status copy_placeholders(const krf_graph *in, krf_graph *out, uint32_t *map) {
    for (size_t i = 0; i < in->n_placeholders; i++) {
        const krf__placeholder *p = &in->placeholders[i];
        const krf__node *n = krf__node_of(in, p->node);
        map[p->node] = krf__build_placeholder(out, p->name, (krf_dtype)n->dtype, n->weak, n->rank, krf__shape_of(in, p->node),
                                              p->strided ? p->strides : NULL);
        if (map[p->node] == 0) {
            return out->status;
        }
    }
    return KRF_OK;
}

bool krf__copy_leaf(const krf_graph *in, uint32_t id, krf_graph *out, uint32_t *copy) {
    const krf__node *n = krf__node_of(in, id);
    switch (n->op) {
    case KRF__placeholder: *copy = out->placeholders[n->value].node; return true;
    case KRF__input: *copy = krf__build_input(out, in->arrays[n->value]); return true;
    case KRF__raw_kernel: *copy = krf__build_raw_kernel(out, in->raws[n->value]); return true;
    default: return false;
    }
}

static uint32_t copy_node(const krf_graph *in, uint32_t id, krf_graph *out, const uint32_t *map) {
    krf__node node = *krf__node_of(in, id);
    uint32_t copy;
    if (krf__copy_leaf(in, id, out, &copy)) {
        return copy;
    }
    for (int k = 0; k < 3; k++) {
        node.args[k] = map[node.args[k]];
    }
    return krf__graph_add(out, &node, krf__shape_of(in, id), krf__ints_of(in, id));
}

krf_status krf__canon(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out) {
    krf_status status = krf__graph_init(out, in->context);
    if (status != KRF_OK) {
        return status;
    }
    uint32_t *map = krf__calloc(in->n_nodes, sizeof *map), *stack = krf__malloc(in->n_nodes * sizeof *stack);
    uint8_t *next = krf__calloc(in->n_nodes, 1);
    if (map == NULL || stack == NULL || next == NULL) {
        status = krf__fail_memory();
        goto done;
    }
    status = copy_placeholders(in, out, map);
    for (int k = 0; status == KRF_OK && k < n; k++) {
        size_t depth = 0;
        if (map[outputs[k]] == 0) {
            stack[depth++] = outputs[k];
        }
        while (depth > 0) {
            uint32_t id = stack[depth - 1];
            const krf__node *node = krf__node_of(in, id);
            if (map[id] != 0) {
                depth--;
            } else if (next[id] < krf__op_info_of(node->op)->arity) {
                uint32_t arg = node->args[next[id]++];
                if (map[arg] == 0) {
                    stack[depth++] = arg;
                }
            } else {
                map[id] = copy_node(in, id, out, map);
                if (map[id] == 0) {
                    status = out->status;
                    break;
                }
                depth--;
            }
        }
        outputs[k] = map[outputs[k]];
    }
done:
    krf__mem_free(map);
    krf__mem_free(stack);
    krf__mem_free(next);
    if (status != KRF_OK) {
        krf__graph_free(out);
    }
    return status;
}
