/* Single values as raw bits, converted by the rules of krf_cast: what constants and scalars need on the host. */
#include "ir/dtype.h"

#include <math.h>
#include <string.h>

/* ---- f16 and bf16 ---- */

typedef struct half_format {
    int mantissa; /* bits that are stored */
    int lowest;   /* exponent of the smallest normal number */
} half_format;

static half_format format_of(krf_dtype dtype) { return dtype == KRF_F16 ? (half_format){10, -14} : (half_format){7, -126}; }

/* The bits of the nearest number, ties to even. Overflow becomes infinity by carrying into the exponent. */
static uint64_t half_from_f64(krf_dtype dtype, double value) {
    half_format f = format_of(dtype);
    uint64_t sign = signbit(value) ? 0x8000 : 0;
    uint64_t infinity = (uint64_t)(0x7fff >> f.mantissa) << f.mantissa;
    if (isnan(value)) {
        return sign | infinity | (uint64_t)1 << (f.mantissa - 1);
    }
    if (isinf(value) || value == 0) {
        return sign | (value == 0 ? 0 : infinity);
    }
    int exponent = ilogb(value) > f.lowest ? ilogb(value) : f.lowest;
    uint64_t units = (uint64_t)nearbyint(ldexp(fabs(value), f.mantissa - exponent)); /* exact before it is rounded */
    uint64_t bits = units + ((uint64_t)(exponent - f.lowest) << f.mantissa);         /* the leading 1 counts as an exponent step */
    return sign | (exponent > 1 - f.lowest || bits > infinity ? infinity : bits);
}

static double half_to_f64(krf_dtype dtype, uint64_t bits) {
    half_format f = format_of(dtype);
    uint64_t one = (uint64_t)1 << f.mantissa, fraction = bits & (one - 1), field = (bits & 0x7fff) >> f.mantissa;
    double value = field == (uint64_t)(0x7fff >> f.mantissa)
                       ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                       : ldexp((double)(field != 0 ? fraction + one : fraction), (field != 0 ? (int)field - 1 : 0) + f.lowest - f.mantissa);
    return (bits & 0x8000) != 0 ? -value : value;
}

/* A double that rounds to any narrower format as the integer itself would: bits beyond a double's 53 are gathered in the last one. */
static double sticky(uint64_t magnitude) {
    return magnitude >> 53 == 0 ? (double)magnitude : (double)((magnitude & ~(uint64_t)0x7ff) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0));
}

/* ---- numbers to bits ---- */

static uint64_t int_from_f64(krf_dtype dtype, double value) {
    int bits = 8 * krf__dtype(dtype)->bytes;
    bool is_signed = krf__dtype(dtype)->kind == KRF__KIND_SINT;
    double above = ldexp(1, is_signed ? bits - 1 : bits); /* the highest value is the integer below it */
    uint64_t highest = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));
    if (isnan(value) || (!is_signed && value <= 0)) {
        return 0;
    }
    if (value >= above) {
        return highest;
    }
    return is_signed ? (uint64_t)(value <= -above ? -(int64_t)highest - 1 : (int64_t)value) : (uint64_t)value;
}

static uint64_t in_width(krf_dtype dtype, uint64_t bits) { return bits & UINT64_MAX >> (64 - 8 * krf__dtype(dtype)->bytes); }

static uint64_t f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t krf__bits_from_f64(krf_dtype dtype, double value) {
    uint64_t bits;
    switch (krf__dtype(dtype)->kind) {
    case KRF__KIND_BOOL: return value != 0;
    case KRF__KIND_REAL:
        if (krf__is_half(dtype)) {
            return half_from_f64(dtype, value);
        }
        if (dtype == KRF_F32) {
            return f32_bits((float)value);
        }
        memcpy(&bits, &value, sizeof value);
        return bits;
    default: return in_width(dtype, int_from_f64(dtype, value));
    }
}

/* The integer sign * magnitude, in one rounding. */
static uint64_t real_from_int(krf_dtype dtype, bool negative, uint64_t magnitude) {
    if (krf__is_half(dtype)) {
        return half_from_f64(dtype, negative ? -sticky(magnitude) : sticky(magnitude));
    }
    if (dtype == KRF_F32) {
        return f32_bits(negative ? -(float)magnitude : (float)magnitude);
    }
    return krf__bits_from_f64(dtype, negative ? -(double)magnitude : (double)magnitude);
}

uint64_t krf__bits_from_i64(krf_dtype dtype, int64_t value) {
    switch (krf__dtype(dtype)->kind) {
    case KRF__KIND_BOOL: return value != 0;
    case KRF__KIND_REAL: return real_from_int(dtype, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    default: return in_width(dtype, (uint64_t)value);
    }
}

/* ---- bits to numbers ---- */

int64_t krf__bits_to_i64(krf_dtype dtype, uint64_t bits) {
    int unused = 64 - 8 * krf__dtype(dtype)->bytes;
    if (krf__dtype(dtype)->kind != KRF__KIND_SINT) {
        return (int64_t)bits;
    }
    uint64_t up = bits << unused;
    return (int64_t)up < 0 ? -(int64_t)(~up >> unused) - 1 : (int64_t)(up >> unused);
}

bool krf__int_fits(krf_dtype dtype, int64_t value) {
    return krf__bits_to_i64(dtype, krf__bits_from_i64(dtype, value)) == value && (dtype != KRF_U64 || value >= 0);
}

double krf__bits_to_f64(krf_dtype dtype, uint64_t bits) {
    double value;
    uint32_t low = (uint32_t)bits;
    float narrow;
    if (krf__dtype(dtype)->kind == KRF__KIND_UINT) {
        return (double)bits;
    }
    if (!krf__is_real(dtype)) {
        return (double)krf__bits_to_i64(dtype, bits);
    }
    if (krf__is_half(dtype)) {
        return half_to_f64(dtype, bits);
    }
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&value, &bits, sizeof value);
    return dtype == KRF_F32 ? (double)narrow : value;
}

uint64_t krf__bits_cast(krf_dtype from, krf_dtype to, uint64_t bits) {
    if (krf__is_real(from)) {
        return krf__bits_from_f64(to, krf__bits_to_f64(from, bits));
    }
    return from == KRF_U64 && krf__is_real(to) ? real_from_int(to, false, bits)
                                               : krf__bits_from_i64(to, krf__bits_to_i64(from, bits));
}
