/* DLPack 1.x: arrays of other libraries (NumPy, PyTorch, CuPy, JAX) without a copy, and arrays for them. The structs are
 * those of dlpack.h, which is not needed here; dtypes with a dlpack code are all of kerfuse's. */
#ifndef KERFUSE_DLPACK_H
#define KERFUSE_DLPACK_H

#include <kerfuse/array.h>

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* An array over a tensor's memory, in a context on the same device: CPU memory for the CPU; CUDA memory of the context's
 * device for CUDA; pinned and managed memory for both. On success the tensor belongs to the array, and its deleter is
 * called once, when the last reference goes; on failure it stays the caller's. A read-only tensor makes an array that is
 * refused as an output. Bytes of bools must be 0 or 1, as krf_array_wrap says.
 * stream: that whose order the tensor is ready in (what its producer was given as __dlpack__(stream=...)); NULL: the
 * context's own (krf_context_stream). The memory is given back in that order too: where other streams have used it, that
 * stream waits for them if it is a krf_stream or the context's own, and else krf_array_release does.
 * Errors: KRF_E_ARGUMENT, KRF_E_DEVICE for memory of another device, KRF_E_DTYPE for a dtype that kerfuse does not have,
 * KRF_E_SHAPE, KRF_E_UNSUPPORTED for a version that is not 1.x, KRF_E_MEMORY. */
KRF_API krf_status krf_array_from_dlpack(krf_context *context, struct DLManagedTensorVersioned *tensor, void *stream,
                                         krf_array **array);
KRF_API krf_status krf_array_from_dlpack_legacy(krf_context *context, struct DLManagedTensor *tensor, void *stream,
                                                krf_array **array);

/* A tensor over an array's memory, for which the consumer calls the deleter once; it holds a reference until then.
 * strides is never NULL, byte_offset is 0. stream: the consumer's, which is made to wait for all that uses the array,
 * and has to exist until the deleter is called; NULL: the context's own. What the consumer does on that stream is waited
 * for before the memory is used again. The legacy struct cannot say that an array is read-only, so that is refused.
 * Errors: KRF_E_ARGUMENT, KRF_E_MEMORY, KRF_E_DEVICE. */
KRF_API krf_status krf_array_to_dlpack(krf_array *array, void *stream, struct DLManagedTensorVersioned **tensor);
KRF_API krf_status krf_array_to_dlpack_legacy(krf_array *array, void *stream, struct DLManagedTensor **tensor);

#ifdef __cplusplus
}
#endif

#endif
