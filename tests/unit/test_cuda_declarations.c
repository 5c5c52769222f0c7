/* Our own declarations of the CUDA driver and of NVRTC against the toolkit's headers: every prototype, constant and
 * struct. Most of it is checked while compiling. Where there is no toolkit the test says that it was skipped. */
#include "backend/cuda/driver.h"
#include "backend/cuda/nvrtc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)

#include <cuda.h>
#include <nvrtc.h>

/* Enums without negative values are unsigned int to gcc and clang, and function types that differ only so are
 * compatible. */
#define SAME_TYPE(name, ...) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&name), __VA_ARGS__), "prototype of " #name)

/* The structs are other types than the header's: their fields are compared below. */
#define cu_pool_properties CUmemPoolProps
#define cu_uuid CUuuid
#define cu_access CUmemAccessDesc
#define cu_graph_edge CUgraphEdgeData
#define cu_launch_config CUlaunchConfig
#define cu_kernel_node_params CUDA_KERNEL_NODE_PARAMS_v2
#define CU_FUNCTION(name, need, arguments) SAME_TYPE(name, cu_result(*) arguments);
#define CU_VALUE(name, value) _Static_assert((long)KRF__##name == (long)(name), "value of " #name);
#include "backend/cuda/driver.def"
#undef cu_pool_properties
#undef cu_uuid
#undef cu_access
#undef cu_graph_edge
#undef cu_launch_config
#undef cu_kernel_node_params

#define NVRTC_FUNCTION(name, type, arguments) SAME_TYPE(name, type(*) arguments);
#define NVRTC_VALUE(name, value) _Static_assert((long)KRF__##name == (long)(name), "value of " #name);
#include "backend/cuda/nvrtc.def"

#define SAME_HANDLE(ours, theirs) _Static_assert(__builtin_types_compatible_p(ours, theirs), "type " #theirs)
SAME_HANDLE(cu_result, CUresult);
SAME_HANDLE(cu_device, CUdevice);
SAME_HANDLE(cu_address, CUdeviceptr);
SAME_HANDLE(cu_context, CUcontext);
SAME_HANDLE(cu_stream, CUstream);
SAME_HANDLE(cu_event, CUevent);
SAME_HANDLE(cu_pool, CUmemoryPool);
SAME_HANDLE(cu_library, CUlibrary);
SAME_HANDLE(cu_kernel, CUkernel);
SAME_HANDLE(cu_function, CUfunction);
SAME_HANDLE(cu_graph, CUgraph);
SAME_HANDLE(cu_graph_node, CUgraphNode);
SAME_HANDLE(cu_graph_exec, CUgraphExec);
SAME_HANDLE(nvrtc_result, nvrtcResult);
SAME_HANDLE(nvrtc_program, nvrtcProgram);

#define SAME_FIELD(ours, our_field, theirs, their_field) \
    _Static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) \
                       && sizeof(((ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), \
                   #theirs "." #their_field)
_Static_assert(sizeof(cu_uuid) == sizeof(CUuuid), "CUuuid");
_Static_assert(sizeof(cu_location) == sizeof(CUmemLocation), "CUmemLocation");
SAME_FIELD(cu_location, type, CUmemLocation, type);
SAME_FIELD(cu_location, id, CUmemLocation, id);
_Static_assert(sizeof(cu_access) == sizeof(CUmemAccessDesc), "CUmemAccessDesc");
SAME_FIELD(cu_access, location, CUmemAccessDesc, location);
SAME_FIELD(cu_access, flags, CUmemAccessDesc, flags);
_Static_assert(sizeof(cu_kernel_node_params) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2), "CUDA_KERNEL_NODE_PARAMS_v2");
SAME_FIELD(cu_kernel_node_params, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
SAME_FIELD(cu_kernel_node_params, grid_x, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME_FIELD(cu_kernel_node_params, block_z, CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
SAME_FIELD(cu_kernel_node_params, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_FIELD(cu_kernel_node_params, arguments, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_FIELD(cu_kernel_node_params, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
SAME_FIELD(cu_kernel_node_params, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME_FIELD(cu_kernel_node_params, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
_Static_assert(sizeof(cu_graph_edge) == sizeof(CUgraphEdgeData), "CUgraphEdgeData");
SAME_FIELD(cu_graph_edge, from_port, CUgraphEdgeData, from_port);
SAME_FIELD(cu_graph_edge, to_port, CUgraphEdgeData, to_port);
SAME_FIELD(cu_graph_edge, type, CUgraphEdgeData, type);
_Static_assert(sizeof(cu_launch_config) == sizeof(CUlaunchConfig), "CUlaunchConfig");
SAME_FIELD(cu_launch_config, grid_x, CUlaunchConfig, gridDimX);
SAME_FIELD(cu_launch_config, grid_y, CUlaunchConfig, gridDimY);
SAME_FIELD(cu_launch_config, grid_z, CUlaunchConfig, gridDimZ);
SAME_FIELD(cu_launch_config, block_x, CUlaunchConfig, blockDimX);
SAME_FIELD(cu_launch_config, block_y, CUlaunchConfig, blockDimY);
SAME_FIELD(cu_launch_config, block_z, CUlaunchConfig, blockDimZ);
SAME_FIELD(cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_FIELD(cu_launch_config, stream, CUlaunchConfig, hStream);
SAME_FIELD(cu_launch_config, attributes, CUlaunchConfig, attrs);
SAME_FIELD(cu_launch_config, attribute_count, CUlaunchConfig, numAttrs);
_Static_assert(sizeof(cu_launch_attribute) == sizeof(CUlaunchAttribute), "CUlaunchAttribute");
SAME_FIELD(cu_launch_attribute, id, CUlaunchAttribute, id);
SAME_FIELD(cu_launch_attribute, value.allowed, CUlaunchAttribute, value.programmaticStreamSerializationAllowed);
_Static_assert(sizeof(cu_pool_properties) == sizeof(CUmemPoolProps), "CUmemPoolProps");
SAME_FIELD(cu_pool_properties, allocation_type, CUmemPoolProps, allocType);
SAME_FIELD(cu_pool_properties, handle_types, CUmemPoolProps, handleTypes);
SAME_FIELD(cu_pool_properties, location, CUmemPoolProps, location);
SAME_FIELD(cu_pool_properties, security, CUmemPoolProps, win32SecurityAttributes);
#if CUDA_VERSION >= 13000
SAME_FIELD(cu_pool_properties, max_size, CUmemPoolProps, maxSize);
SAME_FIELD(cu_pool_properties, usage, CUmemPoolProps, usage);
SAME_FIELD(cu_pool_properties, reserved, CUmemPoolProps, reserved);
#endif

static void declarations_agree(void **state) {
    (void)state;
    print_message("compared with the headers of CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
}

#else

static void declarations_agree(void **state) {
    (void)state;
    print_message("skipped: no cuda.h and nvrtc.h\n");
    skip();
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(declarations_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
