/* Expands dtypes.def, promotes dtypes, and converts single values by the rules of krf_cast, which constants and scalars need on the host. */
#include "ir/dtype.h"

#include <math.h>
#include <string.h>

static const krf__dtype_info infos[KRF__DTYPE_COUNT + 1] = {
#define DTYPE(NAME, name, numpy, KIND, bytes, c_type, suffix) {#name, numpy, #c_type, #suffix, KRF__KIND_##KIND, bytes},
#include "ir/dtypes.def"
#undef DTYPE
    {"?", "?", "?", "", KRF__KIND_BOOL, 0},
};

#define DTYPE(NAME, ...) _Static_assert((int)KRF__DTYPE_##NAME == (int)KRF_##NAME, "the public enum follows dtypes.def");
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
    } aliases[] = {{"int32", KRF_I32}, {"int64", KRF_I64}, {"float32", KRF_F32}, {"float64", KRF_F64}, {"bool_", KRF_BOOL}};
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

krf_dtype krf__promote(krf_dtype a, krf_dtype b) {
    krf__kind ka = krf__dtype(a)->kind, kb = krf__dtype(b)->kind;
    if (ka != kb) {
        return ka > kb ? a : b;
    }
    return a > b ? a : b;
}

uint64_t krf__bits_from_f64(krf_dtype dtype, double value) {
    uint64_t bits = 0;
    float narrow = (float)value;
    switch (krf__dtype(dtype)->kind) {
    case KRF__KIND_BOOL: return value != 0;
    case KRF__KIND_REAL:
        if (krf__dtype(dtype)->bytes == 4) {
            memcpy(&bits, &narrow, sizeof narrow);
        } else {
            memcpy(&bits, &value, sizeof value);
        }
        return bits;
    default:
        if (krf__dtype(dtype)->bytes == 4) {
            int32_t i = isnan(value) ? 0 : value >= 2147483647.0 ? INT32_MAX : value <= -2147483648.0 ? INT32_MIN : (int32_t)value;
            return (uint32_t)i;
        }
        return (uint64_t)(isnan(value)                      ? 0
                          : value >= 9223372036854775808.0  ? INT64_MAX
                          : value <= -9223372036854775808.0 ? INT64_MIN
                                                            : (int64_t)value);
    }
}

uint64_t krf__bits_from_i64(krf_dtype dtype, int64_t value) {
    uint64_t bits = 0;
    float narrow = (float)value; /* one rounding: not by way of double */
    switch (krf__dtype(dtype)->kind) {
    case KRF__KIND_BOOL: return value != 0;
    case KRF__KIND_REAL:
        if (krf__dtype(dtype)->bytes == 4) {
            memcpy(&bits, &narrow, sizeof narrow);
            return bits;
        }
        return krf__bits_from_f64(dtype, (double)value);
    default: return krf__dtype(dtype)->bytes == 4 ? (uint32_t)value : (uint64_t)value;
    }
}

int64_t krf__bits_to_i64(krf_dtype dtype, uint64_t bits) {
    switch (krf__dtype(dtype)->bytes) {
    case 1: return (uint8_t)bits;
    case 4: return (int32_t)(uint32_t)bits;
    default: return (int64_t)bits;
    }
}

double krf__bits_to_f64(krf_dtype dtype, uint64_t bits) {
    double value;
    float narrow;
    if (krf__dtype(dtype)->kind != KRF__KIND_REAL) {
        return (double)krf__bits_to_i64(dtype, bits);
    }
    if (krf__dtype(dtype)->bytes == 4) {
        memcpy(&narrow, &bits, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t krf__bits_cast(krf_dtype from, krf_dtype to, uint64_t bits) {
    return krf__dtype(from)->kind == KRF__KIND_REAL ? krf__bits_from_f64(to, krf__bits_to_f64(from, bits))
                                                     : krf__bits_from_i64(to, krf__bits_to_i64(from, bits));
}
