/* Shapes and strided layouts. Strides and offsets count elements. */
#ifndef KRF_IR_SHAPE_H
#define KRF_IR_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include <kerfuse/base.h>

/* Where each element of an expression lies, relative to element (0, ..., 0) of some memory. */
typedef struct krf__layout {
    int rank;
    int64_t offset;
    int64_t shape[KRF_MAX_RANK], strides[KRF_MAX_RANK];
} krf__layout;

/* Number of elements; -1 when it does not fit 63 bits or an extent is negative. */
int64_t krf__shape_size(int rank, const int64_t *shape);
const char *krf__shape_fault(int rank, const int64_t *shape); /* why a caller's shape is none; NULL: it is one */
int64_t krf__common_divisor(int64_t a, int64_t b); /* the greatest, of numbers that are not negative; of 0 and another that one */
bool krf__shape_equal(int rank_a, const int64_t *a, int rank_b, const int64_t *b);
void krf__shape_c_strides(int rank, const int64_t *shape, int64_t *strides);

/* The common shape by NumPy's rule; false when there is none. */
bool krf__shape_broadcast(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank, int64_t *shape);

krf__layout krf__layout_c(int rank, const int64_t *shape);

/* Each view applied to a layout. Arguments were checked before. reshape: false when it needs a copy. */
krf__layout krf__layout_transpose(const krf__layout *in, const int64_t *axes);
krf__layout krf__layout_slice(const krf__layout *in, const int64_t *start_step, const int64_t *shape);
krf__layout krf__layout_broadcast(const krf__layout *in, int rank, const int64_t *shape);
krf__layout krf__layout_diagonal(const krf__layout *in, int64_t offset, int64_t axis1, int64_t axis2, const int64_t *shape);
krf__layout krf__layout_windows(const krf__layout *in, int n, const int64_t *axes, const int64_t *shape);
bool krf__layout_reshape(const krf__layout *in, int rank, const int64_t *shape, krf__layout *out);

#endif
