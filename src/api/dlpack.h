/* The public ABI of DLPack 1.x, as dlpack.h lays it out. */
#ifndef KRF_API_DLPACK_H
#define KRF_API_DLPACK_H

#include <stdint.h>

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 0 };
enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_HOST = 3, DLPACK_CUDA_MANAGED = 13 };
enum { DLPACK_INT, DLPACK_UINT, DLPACK_FLOAT, DLPACK_BFLOAT = 4, DLPACK_COMPLEX, DLPACK_BOOL };
enum { DLPACK_READ_ONLY = 1 };

typedef struct DLTensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides in elements; NULL: C order */
    uint64_t byte_offset;
} DLTensor;

struct DLManagedTensor {
    DLTensor tensor;
    void *manager;
    void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor tensor;
};

#endif
