/* The CUDA driver, loaded at run time. Declares what is used of cuda.h by itself, so that the back end is built without
 * a toolkit: the tags of the handles and the values are cuda.h's, and a test compares them where cuda.h exists. Handles
 * are the runtime API's too (cudaStream_t). */
#ifndef KRF_BACKEND_CUDA_DRIVER_H
#define KRF_BACKEND_CUDA_DRIVER_H

#include <kerfuse/base.h>
#include <pthread.h>
#include <stdatomic.h>

typedef unsigned int cu_result, cu_enum; /* C enums without negative values */
typedef int cu_device;
typedef unsigned long long cu_address;
typedef struct CUctx_st *cu_context;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct CUmemPoolHandle_st *cu_pool;
typedef struct CUlib_st *cu_library;
typedef struct CUkern_st *cu_kernel;
typedef struct CUfunc_st *cu_function;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphNode_st *cu_graph_node;
typedef struct CUgraphExec_st *cu_graph_exec;

typedef struct cu_kernel_node_params { /* of the entry points _v2 */
    cu_function function;
    unsigned int grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    void **arguments, **extra;
    cu_kernel kernel;
    cu_context context;
} cu_kernel_node_params;

typedef struct cu_graph_edge {
    unsigned char from_port, to_port, type, reserved[5];
} cu_graph_edge;

typedef struct cu_launch_attribute {
    cu_enum id;
    char pad[4];
    union {
        char bytes[64];
        int allowed;
    } value;
} cu_launch_attribute;

typedef struct cu_launch_config {
    unsigned int grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    cu_stream stream;
    cu_launch_attribute *attributes;
    unsigned int attribute_count;
} cu_launch_config;

typedef struct cu_uuid {
    char bytes[16];
} cu_uuid;

typedef struct cu_location {
    cu_enum type;
    int id;
} cu_location;

typedef struct cu_access {
    cu_location location;
    cu_enum flags;
} cu_access;

typedef struct cu_pool_properties {
    cu_enum allocation_type, handle_types;
    cu_location location;
    void *security;
    size_t max_size; /* reserved before 12.2: keep it 0 */
    unsigned short usage;
    unsigned char reserved[54];
} cu_pool_properties;

enum {
#define CU_VALUE(name, value) KRF__##name = value,
#include "backend/cuda/driver.def"
};

typedef struct krf__driver {
#define CU_FUNCTION(name, need, arguments) cu_result(*name) arguments;
#include "backend/cuda/driver.def"

    char path[256]; /* what was opened, for messages */
    int version;    /* 13000 for 13.0 */

    /* Set by the first sticky error, for ever; then cause is constant. */
    pthread_mutex_t lost_lock;
    atomic_bool lost;
    char cause[512];
} krf__driver;

/* Opens libcuda (path, else KRF_LIBCUDA, else libcuda.so.1), checks its version, resolves the entry points and calls
 * cuInit. */
krf_status krf__driver_open(krf__driver *driver, const char *path);
void krf__driver_close(krf__driver *driver);

/* Reports a failed call: KRF_E_MEMORY when out of memory; KRF_E_LOST for sticky errors, which mark the driver lost;
 * else KRF_E_DEVICE. */
krf_status krf__driver_failed(krf__driver *driver, cu_result result, const char *call);

/* KRF_E_LOST with the first cause once the driver was marked lost. */
krf_status krf__driver_alive(krf__driver *driver);

/* CUDA_VISIBLE_DEVICES, or "(not set)", for messages. */
const char *krf__driver_visible(void);

static inline krf_status krf__driver_check(krf__driver *driver, cu_result result, const char *call) {
    return result == KRF__CUDA_SUCCESS ? KRF_OK : krf__driver_failed(driver, result, call);
}

/* CU(device, cuMemFree_v2(address)): calls the entry point; the status. The message has the call as it stands in the
 * source. */
#define CU(device, call) krf__driver_check(&(device)->driver, (device)->driver.call, #call)

#endif
