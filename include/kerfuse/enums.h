/* Status codes and dtypes. Generated from src/ir/status.def and src/ir/dtypes.def: change those. */
#ifndef KERFUSE_ENUMS_H
#define KERFUSE_ENUMS_H

typedef enum krf_status {
    KRF_OK, /* done */
    KRF_E_ARGUMENT, /* an argument is not valid */
    KRF_E_SHAPE, /* shapes do not fit */
    KRF_E_DTYPE, /* dtypes do not fit */
    KRF_E_PARSE, /* the text does not parse */
    KRF_E_MEMORY, /* out of memory */
    KRF_E_FILE, /* a file could not be read or written */
    KRF_E_FORMAT, /* a file is not in the expected format */
    KRF_E_COMPILE, /* a kernel could not be compiled */
    KRF_E_DEVICE, /* no such device, or the device refused */
    KRF_E_LOST, /* the device was lost after an earlier failure */
    KRF_E_FORKED, /* the context belongs to the parent of this process */
    KRF_E_UNSUPPORTED, /* not supported here */
    KRF_E_INTERNAL, /* a fault in kerfuse itself */
} krf_status;

typedef enum krf_dtype {
    KRF_BOOL, /* in memory: unsigned char */
    KRF_I8, /* in memory: signed char */
    KRF_I16, /* in memory: short */
    KRF_I32, /* in memory: int */
    KRF_I64, /* in memory: long long */
    KRF_U8, /* in memory: unsigned char */
    KRF_U16, /* in memory: unsigned short */
    KRF_U32, /* in memory: unsigned */
    KRF_U64, /* in memory: unsigned long long */
    KRF_F16, /* in memory: unsigned short */
    KRF_BF16, /* in memory: unsigned short */
    KRF_F32, /* in memory: float */
    KRF_F64, /* in memory: double */
    KRF_C64, /* in memory: two F32, the real part first */
    KRF_C128, /* in memory: two F64, the real part first */
} krf_dtype;

#endif
