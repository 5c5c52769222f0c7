/* Graphs that are made node by node. A launch gives the stream its kernels in an order that the nodes allow and that is not the one in which they were added, where
 * there is a choice: of those that could be next, the one that was added last. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphExec_st {
    fake_object object;
    size_t n;
    struct CUgraphNode_st *nodes; /* copies */
};

static void free_node(struct CUgraphNode_st *node) {
    free(node->params.arguments);
    free(node->after);
}

/* The node, if a living graph has it; fake_lock is not held. */
static const struct CUgraphNode_st *find_node(cu_graph_node handle) {
    const struct CUgraphNode_st *found = NULL;
    pthread_rwlock_rdlock(&fake_lock);
    for (fake_object *o = fake_object_first(FAKE_GRAPH); o && !found; o = o->next) {
        for (struct CUgraphNode_st *n = ((cu_graph)(void *)o)->first; n && !found; n = n->next) {
            found = n == handle ? n : NULL;
        }
    }
    pthread_rwlock_unlock(&fake_lock);
    return found;
}

cu_result cuGraphCreate(cu_graph *graph, unsigned int flags) {
    ENTER(cuGraphCreate, FAKE_NEEDS_CURRENT);
    if (!graph || flags != 0) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuGraphCreate: an argument is wrong");
    }
    *graph = calloc(1, sizeof **graph);
    if (!*graph) {
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    (*graph)->made = true;
    fake_object_add(&(*graph)->object, FAKE_GRAPH);
    return KRF__CUDA_SUCCESS;
}

cu_result cuGraphAddKernelNode_v2(cu_graph_node *node, cu_graph graph, const cu_graph_node *after, size_t after_count,
                                  const cu_kernel_node_params *params) {
    ENTER(cuGraphAddKernelNode_v2, FAKE_NEEDS_CURRENT);
    CHECK_HANDLE(graph, FAKE_GRAPH);
    cu_result result = KRF__CUDA_SUCCESS;
    if (!node || !params || (after_count > 0 && !after) || !graph->made) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuGraphAddKernelNode: an argument is wrong");
    }
    struct CUgraphNode_st *n = calloc(1, sizeof *n);
    size_t *indices = calloc(after_count + 1, sizeof *indices);
    for (size_t i = 0; i < after_count; i++) {
        const struct CUgraphNode_st *earlier = find_node(after[i]);
        if (!earlier) {
            free(n);
            free(indices);
            return fake_misuse(FAKE_INVALID_VALUE, "cuGraphAddKernelNode: %p is no node", (const void *)after[i]);
        }
        indices[i] = earlier->index;
    }
    n->params = *params;
    n->params.arguments = fake_copy_arguments("cuGraphAddKernelNode", params, &result);
    n->after = indices;
    n->n_after = after_count;
    n->index = graph->nodes++;
    struct CUgraphNode_st **last = &graph->first;
    pthread_rwlock_wrlock(&fake_lock); /* other threads look for nodes of theirs in all graphs */
    while (*last) {
        last = &(*last)->next;
    }
    *last = *node = n;
    pthread_rwlock_unlock(&fake_lock);
    return result;
}

/* Handles are of nodes; a graph of another one's is not told apart. */
cu_result cuGraphAddDependencies_v2(cu_graph graph, const cu_graph_node *from, const cu_graph_node *to, const cu_graph_edge *edges, size_t count) {
    ENTER(cuGraphAddDependencies_v2, FAKE_NEEDS_CURRENT);
    CHECK_HANDLE(graph, FAKE_GRAPH);
    for (size_t i = 0; i < count; i++) {
        const bool programmatic = edges && edges[i].type == KRF__CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        const unsigned port = edges ? edges[i].from_port : 0;
        if (!find_node(from[i]) || !find_node(to[i]) || !graph->made || port != (programmatic ? KRF__CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC : 0) || (edges && edges[i].to_port != 0)) {
            return fake_misuse(FAKE_INVALID_VALUE, "cuGraphAddDependencies: edge %zu is wrong", i);
        }
        struct CUgraphNode_st *n = to[i];
        size_t *after = realloc(n->after, (n->n_after + 1) * sizeof *after);
        if (!after) {
            return KRF__CUDA_ERROR_OUT_OF_MEMORY;
        }
        n->after = after;
        n->after[n->n_after++] = from[i]->index;
        n->early |= programmatic;
    }
    return KRF__CUDA_SUCCESS;
}

cu_result cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph, unsigned long long flags) {
    ENTER(cuGraphInstantiateWithFlags, FAKE_NEEDS_CURRENT);
    CHECK_HANDLE(graph, FAKE_GRAPH);
    if (!graph->made) {
        return FAKE_NOT_SUPPORTED;
    }
    if (!exec || flags != 0) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuGraphInstantiate: an argument is wrong");
    }
    cu_graph_exec e = calloc(1, sizeof *e);
    e->n = graph->nodes;
    e->nodes = calloc(e->n + 1, sizeof *e->nodes);
    for (const struct CUgraphNode_st *n = graph->first; n; n = n->next) {
        cu_result result = KRF__CUDA_SUCCESS;
        struct CUgraphNode_st *copy = &e->nodes[n->index];
        *copy = *n;
        copy->after = calloc(n->n_after + 1, sizeof *copy->after);
        memcpy(copy->after, n->after, n->n_after * sizeof *copy->after);
        copy->params.arguments = fake_copy_arguments("cuGraphInstantiate", &n->params, &result);
    }
    fake_object_add(&e->object, FAKE_GRAPH_EXEC);
    *exec = e;
    return KRF__CUDA_SUCCESS;
}

cu_result cuGraphExecKernelNodeSetParams_v2(cu_graph_exec exec, cu_graph_node node, const cu_kernel_node_params *params) {
    ENTER(cuGraphExecKernelNodeSetParams_v2, FAKE_NEEDS_CURRENT);
    CHECK_HANDLE(exec, FAKE_GRAPH_EXEC);
    const struct CUgraphNode_st *n = find_node(node);
    cu_result result = KRF__CUDA_SUCCESS;
    if (!params || !n || n->index >= exec->n) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuGraphExecKernelNodeSetParams: %p is no node of a living graph", (void *)node);
    }
    void **arguments = fake_copy_arguments("cuGraphExecKernelNodeSetParams", params, &result);
    if (result == KRF__CUDA_SUCCESS) {
        free(exec->nodes[n->index].params.arguments);
        exec->nodes[n->index].params = *params;
        exec->nodes[n->index].params.arguments = arguments;
    }
    return result;
}

static bool ready(const struct CUgraphNode_st *n, const bool *done) {
    bool all = true;
    for (size_t i = 0; i < n->n_after; i++) {
        all &= done[n->after[i]];
    }
    return all;
}

cu_result cuGraphLaunch(cu_graph_exec exec, cu_stream stream) {
    ENTER(cuGraphLaunch, FAKE_NEEDS_CURRENT);
    CHECK_HANDLE(exec, FAKE_GRAPH_EXEC);
    FIND_STREAM(s, stream);
    cu_result result = KRF__CUDA_SUCCESS;
    if (fake_captured(s, &result)) {
        return result;
    }
    bool *done = calloc(exec->n + 1, sizeof *done);
    for (size_t started = 0; started < exec->n && result == KRF__CUDA_SUCCESS; started++) {
        size_t next = exec->n;
        while (next-- > 0 && (done[next] || !ready(&exec->nodes[next], done))) {
        }
        done[next] = true;
        result = fake_launch("cuGraphLaunch", &exec->nodes[next].params, exec->nodes[next].early, s);
    }
    free(done);
    return result;
}

cu_result cuGraphExecDestroy(cu_graph_exec exec) {
    ENTER(cuGraphExecDestroy, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(exec, FAKE_GRAPH_EXEC);
    fake_object_remove(&exec->object);
    for (size_t i = 0; i < exec->n; i++) {
        free_node(&exec->nodes[i]);
    }
    free(exec->nodes);
    free(exec);
    return KRF__CUDA_SUCCESS;
}

cu_result cuGraphDestroy(cu_graph graph) {
    ENTER(cuGraphDestroy, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(graph, FAKE_GRAPH);
    fake_object_remove(&graph->object);
    for (struct CUgraphNode_st *n = graph->first, *next; n; n = next) {
        next = n->next;
        free_node(n);
        free(n);
    }
    free(graph);
    return KRF__CUDA_SUCCESS;
}
