/* Arrays: reference-counted, typed, strided memory of one context. Strides count elements and may be zero or negative. */
#ifndef KERFUSE_ARRAY_H
#define KERFUSE_ARRAY_H

#include <kerfuse/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct krf_array krf_array;

/* Every constructor writes a new array with one reference to *array, or NULL on failure. rank: 0 to KRF_MAX_RANK;
 * shape: rank extents >= 0 (may be NULL when rank is 0). Errors: KRF_E_ARGUMENT, KRF_E_SHAPE, KRF_E_MEMORY, KRF_E_DEVICE. */

/* New memory in C order; the elements are not set. */
KRF_API krf_status krf_array_create(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape,
                                    krf_array **array);

/* Copies C-ordered host data. The data may be changed or freed when the call returns. A KRF_BOOL is true where its byte is not 0, and the array holds 1 then. */
KRF_API krf_status krf_array_from_host(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape,
                                       const void *data, krf_array **array);

/* Wraps memory that the caller owns: host memory in a CPU context, device memory in a CUDA context. strides: elements;
 * NULL for C order. data points at element (0, ..., 0). deleter (may be NULL) is called once with user when the last
 * reference goes; the caller sees to it that the memory outlives work still in flight. Of KRF_BOOL each byte must be 0 or 1, always: kernels compute with it as
 * it is (masks of 0 and 255 are KRF_U8, and `x != 0` of those is bool). */
KRF_API krf_status krf_array_wrap(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape,
                                  const int64_t *strides, void *data, void (*deleter)(void *user), void *user,
                                  krf_array **array);

/* Another look at the same memory: element (i0, i1, ...) is the base's element offset + sum(i_k * strides[k]) counted
 * from its element (0, ..., 0). strides NULL: C order. What lies outside the base's memory is KRF_E_SHAPE. */
KRF_API krf_status krf_array_view(krf_array *base, int rank, const int64_t *shape, const int64_t *strides,
                                  int64_t offset, krf_array **array);

/* Copies all elements, in C order, to host memory of exactly bytes = size * itemsize. Waits for the array. */
KRF_API krf_status krf_array_to_host(krf_array *array, void *data, size_t bytes);

/* Copies source to destination: same dtype and shape, any strides. Asynchronous on CUDA, on the context's own stream. Of two contexts too: between GPUs on the
 * destination's own stream, in the order of both, directly where they reach each other; to and from a CPU's array the call waits for the copy.
 * Errors: KRF_E_DTYPE, KRF_E_SHAPE, KRF_E_ARGUMENT, KRF_E_MEMORY, KRF_E_DEVICE, KRF_E_LOST. */
KRF_API krf_status krf_array_copy(krf_array *destination, krf_array *source);

/* Adds, or takes back, one reference. NULL is allowed. Thread-safe. retain returns its argument. */
KRF_API krf_array *krf_array_retain(krf_array *array);
KRF_API void krf_array_release(krf_array *array);

/* Facts. Pointers live as long as the array. size is the number of elements. data is NULL for an empty array. */
KRF_API krf_dtype krf_array_dtype(const krf_array *array);
KRF_API int krf_array_rank(const krf_array *array);
KRF_API const int64_t *krf_array_shape(const krf_array *array);
KRF_API const int64_t *krf_array_strides(const krf_array *array);
KRF_API int64_t krf_array_size(const krf_array *array);
KRF_API void *krf_array_data(const krf_array *array);
KRF_API krf_context *krf_array_context(const krf_array *array);

/* NumPy's .npy format (versions 1, 2 and 3 are read, either byte order and either memory order; 1.0 is written).
 * Errors: KRF_E_FILE with the path and the reason; KRF_E_FORMAT for what is not such a file or holds another dtype. */
KRF_API krf_status krf_array_load(krf_context *context, const char *path, krf_array **array);
KRF_API krf_status krf_array_save(krf_array *array, const char *path);

#ifdef __cplusplus
}
#endif

#endif
