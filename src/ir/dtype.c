/* Expands dtypes.def: the facts of each row, names, and the promotion of two dtypes. */
#include "ir/dtype.h"

#include <string.h>

static const krf__dtype_info infos[KRF__DTYPE_COUNT + 1] = {
#define DTYPE(NAME, name, numpy, KIND, bytes, storage, value, helper, suffix) \
    {#name, numpy, #storage, #value, #helper, #suffix, KRF__KIND_##KIND, bytes, KRF__DTYPE_##NAME},
#define COMPLEX(NAME, name, numpy, bytes, PART) {#name, numpy, "?", "?", "?", "", KRF__KIND_COMPLEX, bytes, KRF__DTYPE_##PART},
#include "ir/dtypes.def"
#undef DTYPE
    {"?", "?", "?", "?", "?", "", KRF__KIND_BOOL, 0, 0},
};

#define DTYPE(NAME, ...) _Static_assert((int)KRF__DTYPE_##NAME == (int)KRF_##NAME, "the public enum follows dtypes.def");
#define COMPLEX(NAME, ...) DTYPE(NAME, )
#include "ir/dtypes.def"
#undef DTYPE

const krf__dtype_info *krf__dtype(krf_dtype dtype) {
    return &infos[(unsigned)dtype < KRF__DTYPE_COUNT ? (unsigned)dtype : KRF__DTYPE_COUNT];
}

const char *krf_dtype_name(krf_dtype dtype) { return krf__dtype(dtype)->name; }
size_t krf_dtype_size(krf_dtype dtype) { return krf__dtype(dtype)->bytes; }

bool krf_dtype_from_name(const char *name, krf_dtype *dtype) {
    static const struct {
        const char *name;
        krf_dtype dtype;
    } aliases[] = {{"bool_", KRF_BOOL},    {"int8", KRF_I8},       {"int16", KRF_I16},    {"int32", KRF_I32},       {"int64", KRF_I64},
                 {"uint8", KRF_U8},      {"uint16", KRF_U16},    {"uint32", KRF_U32},   {"uint64", KRF_U64},
                 {"float16", KRF_F16},   {"bfloat16", KRF_BF16}, {"float32", KRF_F32},  {"float64", KRF_F64},
                 {"complex64", KRF_C64}, {"complex128", KRF_C128}};
    if (name == NULL || dtype == NULL) {
        return false;
    }
    for (int i = 0; i < KRF__DTYPE_COUNT; i++) {
        if (strcmp(name, infos[i].name) == 0) {
            *dtype = (krf_dtype)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strcmp(name, aliases[i].name) == 0) {
            *dtype = aliases[i].dtype;
            return true;
        }
    }
    return false;
}

bool krf__is_int(krf_dtype dtype) {
    krf__kind kind = krf__dtype(dtype)->kind;
    return kind == KRF__KIND_SINT || kind == KRF__KIND_UINT;
}
bool krf__is_narrow(krf_dtype dtype) { return !krf__is_real(dtype) && !krf__is_complex(dtype) && krf_dtype_size(dtype) <= 2; }

bool krf__is_real(krf_dtype dtype) { return krf__dtype(dtype)->kind == KRF__KIND_REAL; }
bool krf__is_complex(krf_dtype dtype) { return krf__dtype(dtype)->kind == KRF__KIND_COMPLEX; }
krf_dtype krf__part_of(krf_dtype dtype) { return (krf_dtype)krf__dtype(dtype)->part; }
krf_dtype krf__complex_of(krf_dtype dtype) {
    const krf__dtype_info *info = krf__dtype(dtype);
    return info->kind == KRF__KIND_COMPLEX ? dtype : dtype == KRF_F64 || (info->kind != KRF__KIND_REAL && info->bytes > 2) ? KRF_C128 : KRF_C64;
}
const char *krf__weak_name(krf_dtype dtype) { return dtype == KRF_I64 ? "int" : dtype == KRF_F64 ? "float" : "complex"; }
bool krf__is_half(krf_dtype dtype) { return dtype == KRF_F16 || dtype == KRF_BF16; }

/* A signed integer that holds both. */
static bool promote_signs(krf_dtype is_signed, krf_dtype is_unsigned, krf_dtype *both) {
    static const krf_dtype wider[] = {KRF_I16, KRF_I32, KRF_I64}; /* than u8, u16, u32 */
    if (is_unsigned == KRF_U64) {
        return false;
    }
    krf_dtype least = wider[is_unsigned - KRF_U8];
    *both = least > is_signed ? least : is_signed;
    return true;
}

bool krf__promote(krf_dtype a, krf_dtype b, krf_dtype *both) {
    krf__kind ka = krf__dtype(a)->kind, kb = krf__dtype(b)->kind;
    if (ka == KRF__KIND_SINT && kb == KRF__KIND_UINT) {
        return promote_signs(a, b, both);
    }
    if (ka == KRF__KIND_UINT && kb == KRF__KIND_SINT) {
        return promote_signs(b, a, both);
    }
    if (ka != kb && (ka == KRF__KIND_COMPLEX || kb == KRF__KIND_COMPLEX)) {
        krf_dtype wide = ka == KRF__KIND_COMPLEX ? a : b, other = wide == a ? b : a;
        *both = other == KRF_F64 ? KRF_C128 : wide;
        return true;
    }
    *both = ka != kb ? (ka > kb ? a : b) : a > b ? a : b;
    if (a != b && krf__is_half(a) && krf__is_half(b)) {
        *both = KRF_F32;
    }
    return true;
}
