/* Functions that move elements about: expressions over slices, takes of ranges, and where. Ids of one graph go in; poison in, poison out. */
#ifndef KRF_IR_BUILD_MOVEMENT_H
#define KRF_IR_BUILD_MOVEMENT_H

#include "ir/build.h"
#include <kerfuse/movement.h>

uint32_t krf__build_ravel(krf_graph *g, uint32_t x);
uint32_t krf__build_at_least(krf_graph *g, uint32_t x, int rank);                                     /* 1, 2 or 3 */
uint32_t krf__build_move_axes(krf_graph *g, uint32_t x, int n, const int *from, const int *to); /* moveaxis */
uint32_t krf__build_swap_axes(krf_graph *g, uint32_t x, int axis1, int axis2);

/* The slice [start, stop) of one axis. */
uint32_t krf__build_part(krf_graph *g, uint32_t x, int axis, int64_t start, int64_t stop);

uint32_t krf__build_roll(krf_graph *g, uint32_t x, int n, const int64_t *shifts, const int *axes);
uint32_t krf__build_repeat(krf_graph *g, uint32_t x, int64_t count, int axis);
uint32_t krf__build_tile(krf_graph *g, uint32_t x, int n, const int64_t *counts);
uint32_t krf__build_diff(krf_graph *g, uint32_t x, int n, int axis);
uint32_t krf__build_trace(krf_graph *g, uint32_t x, int64_t offset, int axis1, int axis2);
uint32_t krf__build_indices(krf_graph *g, int rank, const int64_t *shape);

/* widths: before and after, for each axis. value: of rank 0, for KRF_PAD_CONSTANT. */
uint32_t krf__build_pad(krf_graph *g, uint32_t x, const int64_t *widths, krf_pad_mode mode, uint32_t value);

uint32_t krf__build_concatenate(krf_graph *g, int n, const uint32_t *xs, int axis);
uint32_t krf__build_stack(krf_graph *g, int n, const uint32_t *xs, int axis);
uint32_t krf__build_section(krf_graph *g, uint32_t x, int64_t sections, int64_t which, int axis); /* one of split's */

/* x with other values in a slice; value broadcasts to the slice. */
uint32_t krf__build_set_slice(krf_graph *g, uint32_t x, int n, const krf_range *ranges, uint32_t value);

#endif
