/* Our own declarations of NVTX's interface to profilers against the toolkit's headers. Checked while compiling. Where there are none the test says that it was skipped. */
#include "base/nvtx.h"

#include <stdio.h>

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>

#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #theirs)
SAME(KRF__NVTX_VERSION, NVTX_VERSION);
SAME(KRF__NVTX_ETID_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(KRF__NVTX_ETID_VERSIONINFO, NVTX_ETID_VERSIONINFO);
SAME(KRF__NVTX_CORE, NVTX_CB_MODULE_CORE);
SAME(KRF__NVTX_CUDA, NVTX_CB_MODULE_CUDA);
SAME(KRF__NVTX_OPENCL, NVTX_CB_MODULE_OPENCL);
SAME(KRF__NVTX_CUDART, NVTX_CB_MODULE_CUDART);
SAME(KRF__NVTX_CORE2, NVTX_CB_MODULE_CORE2);
SAME(KRF__NVTX_SYNC, NVTX_CB_MODULE_SYNC);
SAME(KRF__NVTX_MODULES, NVTX_CB_MODULE_SIZE);
SAME(KRF__NVTX_PLACES, NVTX_CBID_CORE_SIZE);
SAME(KRF__NVTX_PLACES, NVTX_CBID_CORE2_SIZE);
SAME(KRF__NVTX_DomainRangePushEx, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(KRF__NVTX_DomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
SAME(KRF__NVTX_DomainCreateA, NVTX_CBID_CORE2_DomainCreateA);
SAME(KRF__NVTX_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(9, NVTX_CBID_CUDA_SIZE);
SAME(15, NVTX_CBID_OPENCL_SIZE);
SAME(7, NVTX_CBID_CUDART_SIZE);
SAME(7, NVTX_CBID_SYNC_SIZE);

#define SAME_FIELD(ours, our_field, theirs, their_field) \
    _Static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && sizeof(((ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), #theirs "." #their_field)
SAME(sizeof(nvtx_attributes), sizeof(nvtxEventAttributes_t));
SAME_FIELD(nvtx_attributes, version, nvtxEventAttributes_t, version);
SAME_FIELD(nvtx_attributes, size, nvtxEventAttributes_t, size);
SAME_FIELD(nvtx_attributes, category, nvtxEventAttributes_t, category);
SAME_FIELD(nvtx_attributes, color_type, nvtxEventAttributes_t, colorType);
SAME_FIELD(nvtx_attributes, color, nvtxEventAttributes_t, color);
SAME_FIELD(nvtx_attributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_FIELD(nvtx_attributes, payload, nvtxEventAttributes_t, payload);
SAME_FIELD(nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
SAME_FIELD(nvtx_attributes, message, nvtxEventAttributes_t, message);
SAME(sizeof(nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
SAME_FIELD(nvtx_callbacks, size, NvtxExportTableCallbacks, struct_size);
SAME_FIELD(nvtx_callbacks, give_table, NvtxExportTableCallbacks, GetModuleFunctionTable);
SAME(sizeof(nvtx_version), sizeof(NvtxExportTableVersionInfo));
SAME_FIELD(nvtx_version, version, NvtxExportTableVersionInfo, version);
SAME_FIELD(nvtx_version, take, NvtxExportTableVersionInfo, SetInjectionNvtxVersion);

int main(void) {
    printf("NVTX %d: the same\n", NVTX_VERSION);
    return 0;
}

#else

int main(void) {
    printf("skipped: there is no nvtx3/nvToolsExt.h\n");
    return 77;
}

#endif
