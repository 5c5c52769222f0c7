/* The block interpreter: runs a planned kernel without compiling it (tier 0). Every instruction is done for a block of
 * elements at a time, small enough that all values stay in the first-level cache. Its results have the bits of compiled
 * kernels. Nothing is shared between calls, so disjoint ranges of one kernel can run in different threads. */
#ifndef KRF_BACKEND_CPU_INTERPRET_H
#define KRF_BACKEND_CPU_INTERPRET_H

#include "plan/kernel.h"

/* Number of units that a kernel's work is cut into; units may be done in any order and in different threads.
 *   map: elements of the domain, in C order.
 *   reduce_all, reduce_row: unit o * chunks + c is chunk c of result o.
 *   reduce_col: unit c * tiles + t is chunk c of the krf__column_side results from t times as many on. */
int64_t krf__interpret_units(const krf__kernel *k);

/* Does units [lo, hi) of a kernel of one round (interpret_rows.h has those of several). pointers: of the operands, offsets added. scalars: raw values. A reduction in one chunk is
 * stored, with its epilogue; of several chunks each writes its accumulators to scratch: those of reduction r at [r *
 * kept_size * chunks + o * chunks + c], raw bits in 8 bytes each. Errors: KRF_E_MEMORY, KRF_E_INTERNAL. */
krf_status krf__interpret(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch,
                          int64_t lo, int64_t hi);

/* After all units of a reduction in several chunks: combines the chunks of results [lo, hi), and does their epilogue.
 */
krf_status krf__interpret_finish(const krf__kernel *k, void *const *pointers, const uint64_t *scalars, void *scratch,
                                 int64_t lo, int64_t hi);

#endif
