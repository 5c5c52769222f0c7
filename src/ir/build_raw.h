/* Nodes of raw kernels: the kernel, its operands one by one, the launch, and what each result is. */
#ifndef KRF_IR_BUILD_RAW_H
#define KRF_IR_BUILD_RAW_H

#include "ir/graph.h"
#include "ir/raw.h"

/* The leaf at the front of a chain. The graph keeps the kernel. */
uint32_t krf__build_raw_kernel(krf_graph *g, krf__raw *raw);

/* As krf_kernel_call: n expressions; results: as many as the kernel has. False and the error, and all of them 0. */
bool krf__build_raw_call(krf_graph *g, krf__raw *raw, int n, const uint32_t *inputs, const krf_result_shape *shapes, const krf_launch_shape *launch, uint32_t *results);

/* The kernel of a raw node, and the parameter that an argument or a result stands for. */
krf__raw *krf__raw_of(const krf_graph *g, uint32_t id);
const krf__parameter *krf__raw_parameter_of(const krf_graph *g, uint32_t id);
static inline uint32_t krf__raw_index(const krf__node *n) { return (uint32_t)(n->value & 0xffff); }
#define KRF__RAW_IMAGINARY (UINT64_C(1) << 32)

/* What the launch says about the call: shapes of results without brackets go to arrays, the rest to *shape. */
void krf__raw_read_launch(const krf_graph *g, uint32_t launch, krf__raw_arrays *arrays, krf_launch_shape *shape);

#endif
