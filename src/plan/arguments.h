/* The block of arguments that a kernel is launched with. */
#ifndef KRF_PLAN_ARGUMENTS_H
#define KRF_PLAN_ARGUMENTS_H

#include "plan/kernel.h"

/* Every target takes the same block of 8-byte fields, in this order: a pointer (or, where it counts, the offset) for each operand; a field for each scalar; the extents, one for each
 * dimension (where krf__divides_by says so, krf__reciprocal of it in the upper half); for each operand in turn, for each dimension of stride class 2, the stride; and for reductions in one round: chunk, chunks, scratch, tickets; and of kernels that may be ahead: whether they are.
 * Operands that are inner have no fields.
 * Offsets are added to the pointers on the host. scratch holds kept_size * chunks accumulators of 8 bytes for each reduction, one reduction after
 * the other; tickets are 32-bit counters, zero before and after each run. */
uint32_t krf__argument_fields(const krf__kernel *k);
enum { KRF__NOT_APART, KRF__APART, KRF__APART_AND_FILLS }; /* of the last one */

/* m, so that i / n = (i m / 2^32 + i) / 2^s for 0 <= i < 2^31, where 2^s is the least power of 2 that is no less than n; 1 <= n < 2^31.
 * T. Granlund, P. L. Montgomery: Division by invariant integers using multiplication. PLDI 1994. */
uint32_t krf__reciprocal(uint32_t n);

/* Whether places are divided by the extent of a dimension, and CUDA does so by way of its reciprocal. */
bool krf__divides_by(const krf__kernel *k, int dim);

/* Writes the block. pointers: n_operands addresses with offsets added; scalars: n_scalars raw values. */
void krf__argument_pack(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch, void *tickets, uint64_t *fields);

/* Says in such a block that the kernel before writes nothing that this one reads; it said the opposite. fills: and that others may come as soon as some threads of each block have read all, for there
 * is room for them only where a block leaves. */
void krf__argument_set_apart(const krf__kernel *k, bool fills, uint64_t *fields);

/* Brings a block of n fields that was packed before up to date with what may differ between runs: pointers, scalars, scratch and tickets. Whether any does. */
bool krf__argument_repack(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch, void *tickets, uint32_t n, uint64_t *fields);

#endif
