/* What ranges.c uses of NVTX 3's interface between applications and profilers. */
#ifndef KRF_BASE_NVTX_H
#define KRF_BASE_NVTX_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned int nvtx_enum;
typedef void (*nvtx_function)(void);

enum {
    KRF__NVTX_VERSION = 3,
    KRF__NVTX_ETID_CALLBACKS = 1,
    KRF__NVTX_ETID_VERSIONINFO = 3,
    KRF__NVTX_CORE = 1,
    KRF__NVTX_CUDA = 2,
    KRF__NVTX_OPENCL = 3,
    KRF__NVTX_CUDART = 4,
    KRF__NVTX_CORE2 = 5,
    KRF__NVTX_SYNC = 6,
    KRF__NVTX_MODULES = 7,
    KRF__NVTX_PLACES = 16, /* of the largest module */
    KRF__NVTX_DomainRangePushEx = 4,
    KRF__NVTX_DomainRangePop = 5,
    KRF__NVTX_DomainCreateA = 12,
    KRF__NVTX_ASCII = 1,
};

typedef struct nvtx_callbacks {
    size_t size;
    int (*give_table)(nvtx_enum module, nvtx_function ***table, unsigned *size);
} nvtx_callbacks;

typedef struct nvtx_version {
    size_t size;
    uint32_t version, reserved;
    void (*take)(uint32_t version);
} nvtx_version;

typedef struct nvtx_attributes { /* of a range */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
} nvtx_attributes;

typedef void *nvtx_domain_create(const char *name);
typedef int nvtx_range_push(void *domain, const nvtx_attributes *attributes);
typedef int nvtx_range_pop(void *domain);

#endif
