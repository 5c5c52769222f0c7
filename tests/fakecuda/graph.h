/* Graphs of kernels. */
#ifndef FAKECUDA_GRAPH_H
#define FAKECUDA_GRAPH_H

#include "fake.h"
#include "stream.h"

struct CUgraphNode_st {
    struct CUgraphNode_st *next;
    size_t index;
    cu_kernel_node_params params; /* arguments: a copy */
    size_t n_after;
    size_t *after; /* indices */
    bool early;    /* some edge to it is programmatic */
};

struct CUgraph_st {
    fake_object object;
    size_t nodes;
    struct CUgraphNode_st *first;
    bool made; /* by hand: it can be launched */
};

/* launch.c: what cuLaunchKernel does, once everything has been checked; and a copy of what a kernel is called with, or NULL. */
cu_result fake_launch(const char *call, const cu_kernel_node_params *params, bool early, cu_stream s);
void **fake_copy_arguments(const char *call, const cu_kernel_node_params *params, cu_result *result);

#endif
