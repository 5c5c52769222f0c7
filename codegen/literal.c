/* Constants, printed so that the compiler reads back the same bits. */
#include "codegen/emitter.h"

#include <math.h>

static void real_literal(const krf__emitter *e, krf_dtype dtype, double value, krf__str *out) {
    bool narrow = dtype != KRF_F64;
    if (isnan(value)) {
        krf__str_put(out, narrow ? e->target->nan_f32 : e->target->nan_f64);
        return;
    }
    krf__str_put(out, signbit(value) ? "-" : "");
    if (isinf(value)) {
        krf__str_put(out, narrow ? e->target->infinity_f32 : e->target->infinity_f64);
        return;
    }
    krf__str_f64(out, fabs(value)); /* the decimal of a float as a double has digits enough for both */
    krf__str_put(out, narrow ? "f" : "");
}

void krf__emit_literal(const krf__emitter *e, krf_dtype dtype, uint64_t bits, krf__str *out) {
    int64_t value;
    switch (krf__dtype(dtype)->kind) {
    case KRF__KIND_REAL: real_literal(e, dtype, krf__bits_to_f64(dtype, bits), out); return;
    case KRF__KIND_UINT:
        krf__str_printf(out, "%llu%s", (unsigned long long)bits, krf_dtype_size(dtype) == 8 ? "ULL" : "u");
        return;
    case KRF__KIND_SINT:
        value = krf__bits_to_i64(dtype, bits);
        if (krf_dtype_size(dtype) < 8) {
            if (value == INT32_MIN) {
                krf__str_put(out, "(-2147483647 - 1)");
            } else {
                krf__str_i64(out, value);
            }
        } else {
            krf__str_i64(out, value == INT64_MIN ? value + 1 : value);
            krf__str_put(out, value == INT64_MIN ? "LL - 1" : "LL");
        }
        return;
    default: krf__str_put(out, bits != 0 ? "1" : "0");
    }
}
