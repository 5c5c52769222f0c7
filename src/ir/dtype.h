/* Facts about dtypes, from dtypes.def, and the promotion of two of them. A value of any dtype travels as 64 raw bits, in the low bytes. */
#ifndef KRF_IR_DTYPE_H
#define KRF_IR_DTYPE_H

#include <kerfuse/base.h>

/* In the order of promotion; integers of both kinds meet in krf__promote. */
typedef enum krf__kind { KRF__KIND_BOOL, KRF__KIND_UINT, KRF__KIND_SINT, KRF__KIND_REAL, KRF__KIND_COMPLEX, KRF__KIND_COUNT } krf__kind;

typedef struct krf__dtype_info {
    const char *name;   /* "f32" */
    const char *numpy;  /* "f4" */
    const char *storage; /* "unsigned short" */
    const char *value;   /* "float" */
    const char *helper;  /* "f32" */
    const char *suffix;  /* "f" for float, "" else */
    krf__kind kind;
    uint8_t bytes;
    uint8_t part;        /* complex: the dtype of either half; else the dtype itself */
} krf__dtype_info;

enum {
#define DTYPE(NAME, ...) KRF__DTYPE_##NAME,
#define COMPLEX(NAME, ...) KRF__DTYPE_##NAME,
#include "ir/dtypes.def"
#undef DTYPE
    KRF__DTYPE_COUNT,
    KRF__KERNEL_DTYPE_COUNT = KRF__DTYPE_C64 /* those that kernels know */
};

/* Never out of range: an unknown value gets a row named "?". */
const krf__dtype_info *krf__dtype(krf_dtype dtype);

bool krf__is_int(krf_dtype dtype);   /* signed or unsigned */
bool krf__is_narrow(krf_dtype dtype); /* bool, or an integer of 8 or 16 bits: sums and squares of very many are exact in 64 bits */
bool krf__is_real(krf_dtype dtype);
bool krf__is_complex(krf_dtype dtype);
bool krf__is_half(krf_dtype dtype);  /* f16 or bf16: computed in f32, each result rounded */

krf_dtype krf__part_of(krf_dtype dtype);       /* c64: f32, c128: f64; any other itself */
krf_dtype krf__complex_of(krf_dtype dtype); /* f64: c128; bool, short integers and the other floats: c64; wider integers: c128 */

const char *krf__weak_name(krf_dtype dtype); /* of a weak scalar in the text form: int, float, complex */

/* The dtype of an operation on both. False where there is none: u64 with a signed integer. */
bool krf__promote(krf_dtype a, krf_dtype b, krf_dtype *both);

/* Raw bits of a value in a dtype that is not complex, converted by the rules of krf_cast; and back. */
uint64_t krf__bits_from_i64(krf_dtype dtype, int64_t value);
uint64_t krf__bits_from_f64(krf_dtype dtype, double value);
int64_t krf__bits_to_i64(krf_dtype dtype, uint64_t bits);  /* bool and integers; u64 wraps */
double krf__bits_to_f64(krf_dtype dtype, uint64_t bits);   /* any dtype */
bool krf__int_fits(krf_dtype dtype, int64_t value);        /* whether an integer dtype holds it */
uint64_t krf__bits_cast(krf_dtype from, krf_dtype to, uint64_t bits);

#endif
