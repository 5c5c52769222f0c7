/* Kernels as a CUDA graph: its nodes are patched where arguments change. Starting it costs the host less than one launch. */
#include "backend/cuda/device.h"

#include "base/fail.h"
#include "base/mem.h"
#include "plan/arguments.h"
#include "plan/raw_call.h"

#include <string.h>

typedef struct node {
    cu_graph_node handle;
    cu_kernel_node_params params;
    void **arguments; /* what params.arguments is: they point into `fields` */
    uint64_t *fields;
    uint32_t n_fields;
    bool begins;  /* it waits itself for what it depends on (krf_wait_for_last): not what users wrote */
    bool changed; /* since the graph was told */
} node;

struct krf__replay {
    cu_graph graph; /* nodes are named by it: it lives as long as what was made of it */
    cu_graph_exec exec;
    node **nodes;
    size_t n, capacity;
};

/* Results are of no interest: nobody is left to tell. */
static void replay_free(krf__device *d, krf__replay *r) {
    krf__entry e;
    if (r == NULL) {
        return;
    }
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK && r->exec != NULL) {
        (void)CU(d, cuGraphExecDestroy(r->exec));
    }
    if (status == KRF_OK && r->graph != NULL) {
        (void)CU(d, cuGraphDestroy(r->graph));
    }
    krf__cuda_leave(d, &e, status);
    for (size_t i = 0; i < r->n; i++) {
        krf__mem_free(r->nodes[i]);
    }
    krf__mem_free(r->nodes);
    krf__mem_free(r);
}

static krf_status make_node(krf__device *d, const krf__launch *launch, node **made) {
    krf__grid g;
    const uint32_t n_fields = krf__argument_fields(launch->kernel);
    const size_t bytes = n_fields * sizeof(uint64_t), addresses = (launch->kernel->raw != NULL ? KRF__MOST_PARAMETERS : 1) * sizeof(void *);
    krf_status status = krf__cuda_shape(d, launch, &g);
    node *n = *made = status == KRF_OK ? krf__calloc(1, sizeof *n + bytes + addresses) : NULL;
    if (n == NULL) {
        return status != KRF_OK ? status : krf__fail_memory();
    }
    n->fields = (uint64_t *)(void *)(n + 1);
    n->n_fields = n_fields;
    n->begins = launch->kernel->early;
    memcpy(n->fields, launch->fields, bytes);
    if (launch->apart) {
        krf__argument_set_apart(launch->kernel, false, n->fields);
    }
    n->arguments = (void **)(void *)((char *)n->fields + bytes);
    krf__cuda_arguments(launch->kernel, n->fields, n->arguments);
    n->params = (cu_kernel_node_params){.function = launch->module->function, /* naming the CUkernel instead is no faster (bench/results) */
                                        .grid_x = g.x, .grid_y = g.y, .grid_z = g.z, .block_x = g.block_x, .block_y = g.block_y, .block_z = g.block_z,
                                        .shared_bytes = g.shared, .arguments = n->arguments};
    return KRF_OK;
}

/* Edges of the kind that lets a kernel's blocks be there before the other kernel has ended, where both know what that asks of them. */
static krf_status add_edges(krf__device *d, const krf__replay *r, const node *n, uint32_t n_after, const uint32_t *after) {
    krf_status status = KRF_OK;
    for (uint32_t i = 0; status == KRF_OK && i < n_after; i++) {
        const node *from = r->nodes[after[i]];
        cu_graph_edge edge = {0};
        if (from->begins && n->begins) {
            edge.from_port = KRF__CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
            edge.type = KRF__CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        }
        status = CU(d, cuGraphAddDependencies_v2(r->graph, &from->handle, &n->handle, &edge, 1));
    }
    return status;
}

static krf_status add_node(krf__device *d, krf__replay *r, node *n, krf__module *module, uint32_t n_after, const uint32_t *after) {
    const bool edges = krf__cuda_overlaps(d) && d->driver.cuGraphAddDependencies_v2 != NULL;
    const uint32_t n_handles = edges ? 0 : n_after;
    cu_graph_node *handles = n_handles > 0 ? krf__malloc(n_handles * sizeof(cu_graph_node)) : NULL;
    krf__entry e;
    if (n_handles > 0 && handles == NULL) {
        return krf__fail_memory();
    }
    for (uint32_t i = 0; i < n_handles; i++) {
        handles[i] = r->nodes[after[i]]->handle;
    }
    krf_status status = krf__cuda_enter(d, &e);
    if (status == KRF_OK) {
        status = krf__cuda_make_room(d, module, n->params.shared_bytes);
    }
    if (status == KRF_OK && r->graph == NULL) {
        status = CU(d, cuGraphCreate(&r->graph, 0));
    }
    if (status == KRF_OK) {
        status = CU(d, cuGraphAddKernelNode_v2(&n->handle, r->graph, handles, n_handles, &n->params));
    }
    if (status == KRF_OK && edges) {
        status = add_edges(d, r, n, n_after, after);
    }
    status = krf__cuda_leave(d, &e, status);
    krf__mem_free(handles);
    return status;
}

static krf_status add(krf__device *d, krf__replay **replay, const krf__launch *launch, uint32_t n_after, const uint32_t *after) {
    krf__replay *r = *replay != NULL ? *replay : krf__calloc(1, sizeof *r);
    *replay = r;
    if (r == NULL || !krf__grow(&r->nodes, &r->capacity, r->n + 1, sizeof *r->nodes)) {
        return krf__fail_memory();
    }
    node *n;
    krf_status status = make_node(d, launch, &n);
    status = status == KRF_OK ? add_node(d, r, n, launch->module, n_after, after) : status;
    if (status != KRF_OK) {
        krf__mem_free(n);
        return status;
    }
    r->nodes[r->n++] = n;
    return KRF_OK;
}

static void set(krf__replay *r, uint32_t index, const krf__launch *launch) {
    node *n = r->nodes[index];
    n->changed |= krf__argument_repack(launch->kernel, launch->pointers, launch->scalars, launch->scratch, launch->tickets, n->n_fields, n->fields);
}

static krf_status patch(krf__device *d, krf__replay *r) {
    krf_status status = KRF_OK;
    for (size_t i = 0; status == KRF_OK && i < r->n; i++) {
        node *n = r->nodes[i];
        if (n->changed) {
            status = CU(d, cuGraphExecKernelNodeSetParams_v2(r->exec, n->handle, &n->params));
            n->changed = status != KRF_OK;
        }
    }
    return status;
}

static krf_status start(krf__device *d, krf__replay *r, void *stream) {
    krf__entry e;
    krf_status status = krf__cuda_enter_stream(d, stream, false, &e);
    if (status == KRF_OK) {
        status = r->exec != NULL ? patch(d, r) : CU(d, cuGraphInstantiateWithFlags(&r->exec, r->graph, 0));
    }
    if (status == KRF_OK) {
        status = CU(d, cuGraphLaunch(r->exec, e.stream));
    }
    return krf__cuda_leave(d, &e, status);
}

const krf__replays krf__cuda_replays = {.fills = krf__cuda_fills, .overlaps = krf__cuda_overlaps, .add = add, .set = set, .start = start, .free = replay_free};
