/* A kernel that is a user's own, of a launch in a graph or of one by itself. */
#ifndef KRF_PLAN_RAW_H
#define KRF_PLAN_RAW_H

#include "ir/raw.h"
#include "plan/planning.h"

/* How many results the launches of a graph have. */
size_t krf__raw_results(const krf_graph *g);

/* Gives a copy that a raw kernel goes on with the memory of the result, before others get theirs. */
void krf__raw_share_memory(krf__planning *p);

/* group: of a launch. As krf__kernel_build. */
krf_status krf__raw_build(krf__planning *p, uint32_t group, krf__kernel *k);

/* A kernel outside of graphs. Operands and scalars stand in the order of the parameters, and belong to dtypes and offset 0; buffers are numbered as operands are. */
krf_status krf__raw_alone(krf__raw *raw, const krf__raw_arrays *arrays, const krf_launch_shape *shape, krf__kernel *k);

#endif
