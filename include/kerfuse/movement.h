/* Functions that move elements: indexing by arrays, rolling, padding, joining, windows. They read where the elements lie as part of the kernel that
 * uses them, and copy nothing first. Names, axes and shapes as NumPy's; negative axes count from the end.
 *
 * All: operands are expressions of one graph, and so is the result; weak scalars become arrays of the dtype they evaluate as. dtypes as NumPy's where
 * operands are put together, else that of x. On an error the result is poison and the graph keeps the message (KRF_E_ARGUMENT: axes and counts; KRF_E_SHAPE;
 * KRF_E_DTYPE). A graph belongs to one thread at a time. */
#ifndef KERFUSE_MOVEMENT_H
#define KERFUSE_MOVEMENT_H

#include <kerfuse/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- indexing by arrays ----
 * Indices are of any integer dtype. A negative index counts from the end; what then lies beyond an end of the axis is taken to be that end (NumPy would
 * raise an error, which a kernel cannot). An index into an axis without elements is an error, unless the result has none either. bool is
 * no index. */

/* x[..., index[...], ...]: the axis is replaced by the axes of index, an array of any rank. Shape: x.shape[:axis] + index.shape + x.shape[axis + 1:]. */
KRF_API krf_expr krf_take(krf_expr x, krf_expr index, int axis);

/* Element by element: result[i, ..., k, ...] = x[i, ..., index[i, ..., k, ...], ...]. x and index have the same rank and broadcast along the other
 * axes. */
KRF_API krf_expr krf_take_along_axis(krf_expr x, krf_expr index, int axis);

/* x indexed by n arrays together, the k-th along axes[k], ascending: NumPy's x[i, j]. The indices broadcast; the axes of their common shape stand where the
 * indexed axes stood if those are side by side, else first. */
KRF_API krf_expr krf_index(krf_expr x, int n, const int *axes, const krf_expr *indices);

/* ---- views: nothing is copied ---- */

/* The elements x[..., i, ..., i + offset, ...] of two different axes, as the last axis of the result. */
KRF_API krf_expr krf_diagonal(krf_expr x, int64_t offset, int axis1, int axis2);

/* All windows of x: windows[k] elements along axes[k] (NULL: axis k, n being the rank), as further axes behind those of x, which become shorter by
 * windows[k] - 1. sum(sliding_window_view(x, 3) * w, axis=-1) is a stencil, in one kernel. An axis may be named twice. Error: a window longer than its
 * axis. */
KRF_API krf_expr krf_sliding_window_view(krf_expr x, int n, const int64_t *windows, const int *axes);

KRF_API krf_expr krf_moveaxis(krf_expr x, int n, const int *from, const int *to); /* axis from[k] becomes axis to[k]; the others keep their order */
KRF_API krf_expr krf_swapaxes(krf_expr x, int axis1, int axis2);
KRF_API krf_expr krf_ravel(krf_expr x);                                            /* one axis, in C order */
KRF_API krf_expr krf_atleast_1d(krf_expr x);
KRF_API krf_expr krf_atleast_2d(krf_expr x); /* (n,) becomes (1, n) */
KRF_API krf_expr krf_atleast_3d(krf_expr x); /* (n,) becomes (1, n, 1), (n, m) becomes (n, m, 1) */

/* `sections` equal parts along an axis, to parts[0] up to parts[sections - 1]. The extent has to be a multiple of sections; all parts are poison
 * otherwise. */
KRF_API void krf_split(krf_expr x, int sections, int axis, krf_expr *parts);

/* ---- moving ---- */

/* Elements moved on by shifts[k] along axes[k], round the end; an axis named twice is moved by both. axes NULL: over all elements in C order, n being 1. */
KRF_API krf_expr krf_roll(krf_expr x, int n, const int64_t *shifts, const int *axes);

/* Each element `count` times in a row along an axis. */
KRF_API krf_expr krf_repeat(krf_expr x, int64_t count, int axis);

/* x repeated counts[k] times along axis k, axes aligned at the last one. */
KRF_API krf_expr krf_tile(krf_expr x, int n, const int64_t *counts);

/* What stands where an array is made larger: a value; the nearest element; the elements mirrored at the end, without it; those of the other end. */
typedef enum krf_pad_mode { KRF_PAD_CONSTANT, KRF_PAD_EDGE, KRF_PAD_REFLECT, KRF_PAD_WRAP } krf_pad_mode;

/* x with widths[2 * k] elements more before axis k and widths[2 * k + 1] after it. value: for KRF_PAD_CONSTANT, of rank 0, converted to x's dtype as krf_cast does, except that a weak integer has to
 * fit (KRF_E_DTYPE); {0}: zero. Errors: negative widths; a reflected width that is not below the extent; other modes than constant on an empty axis. */
KRF_API krf_expr krf_pad(krf_expr x, const int64_t *widths, krf_pad_mode mode, krf_expr value);

/* Arrays one after the other along an axis: shapes agree along the others. n is at least 1. Every element of the result looks at every array: meant for
 * some, not for hundreds. */
KRF_API krf_expr krf_concatenate(int n, const krf_expr *xs, int axis);

/* Arrays of one shape side by side along a new axis, which is axis `axis` of the result. */
KRF_API krf_expr krf_stack(int n, const krf_expr *xs, int axis);

/* x with `value` in place of x[ranges], as after NumPy's x[ranges] = value on a copy. value broadcasts to the slice's shape and is converted to x's
 * dtype as krf_cast does, except that a weak integer has to fit (KRF_E_DTYPE). */
KRF_API krf_expr krf_set_slice(krf_expr x, int n, const krf_range *ranges, krf_expr value);

/* ---- made of them ---- */

KRF_API krf_expr krf_trace(krf_expr x, int64_t offset, int axis1, int axis2); /* the sum of krf_diagonal */
KRF_API krf_expr krf_diff(krf_expr x, int n, int axis);                        /* x[i + 1] - x[i], n times; of bools: x[i + 1] != x[i] */

/* The index of every element of a shape, as i64: result[k, i, j, ...] is the k-th of i, j, ... Shape: (rank,) + shape. */
KRF_API krf_expr krf_indices(krf_graph *graph, int rank, const int64_t *shape);

#ifdef __cplusplus
}
#endif

#endif
