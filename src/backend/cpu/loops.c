/* Expands ops.def and dtypes.def to one function for each operation and dtype (loops.h). Compiled once for each
 * instruction set, with KRF_LOOPS naming the table (krf__loops_base, ...) and KRF_LOOPS_NAME its name. Loops are plain
 * C that gcc and clang vectorise at -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math; every operation rounds as
 * if it ran alone. To add a dtype: its row in dtypes.def and the lines below that name others. */
#include "backend/cpu/loops.h"

#ifdef __FAST_MATH__
#error "kerfuse's loops must not be compiled with -ffast-math: results would differ from those of compiled kernels"
#endif
#ifndef KRF_LOOPS
#define KRF_LOOPS krf__loops_base
#define KRF_LOOPS_NAME "base"
#endif

#if defined(__clang__) && __clang_major__ >= 10
#pragma clang fp contract(off)
#endif

/* ---- the text that kernels share ---- */
#define KRF_FN static inline __attribute__((always_inline)) /* a call in a loop would keep it scalar */
#define KRF_F32(name) __builtin_##name##f
#define KRF_F64(name) __builtin_##name
#include "codegen/math/real.h"
#include "codegen/math/trig.h"
#include "codegen/math/explog.h"
#include "codegen/math/hyper.h"
#include "codegen/math/gates.h"
#include "codegen/math/single.h"
#include "codegen/math/floats.h"
#include "codegen/math/tails.h"
#include "codegen/math/powers.h"
#include "codegen/math/roots.h"
#include "codegen/math/arcs.h"
#include "codegen/math/inverse.h"
#include "codegen/math/pairs.h"
#include "codegen/math/erf.h"
#include "codegen/math/special.h"
#include "codegen/math/gammas.h"
#include "codegen/math/bessel.h"
#include "codegen/math/libm.h"
#include "codegen/math/prelude.h"
#include "codegen/math/cast.h"
#include "codegen/math/half.h"
#include "codegen/math/numbers.h"
#include "codegen/math/random.h"

#undef bool /* from here on a dtype's name */

#define CAT2_(a, b) a##b
#define CAT2(a, b) CAT2_(a, b)
#define CAT3_(a, b, c) a##b##c
#define CAT3(a, b, c) CAT3_(a, b, c)
#define CAT4_(a, b, c, d) a##b##c##d
#define CAT4(a, b, c, d) CAT4_(a, b, c, d)

/* krf__s_f32, krf__t_f32: the C type of a dtype in memory and of its values; krf__u_f32: an unsigned type of its size,
 * but no narrower than int. */
typedef unsigned krf__u_1, krf__u_2, krf__u_4;
typedef unsigned long long krf__u_8;
#define DTYPE(NAME, name, numpy, KIND, bytes, storage, value, helper, suffix) \
    typedef storage krf__s_##name; \
    typedef value krf__t_##name; \
    typedef krf__u_##bytes krf__u_##name; \
    _Static_assert(sizeof(storage) == bytes, "dtypes.def: bytes of " #name);
#include "ir/dtypes.def"
#undef DTYPE

/* IF_SINT_REAL(text): the text where a row for the second kind serves dtypes of the first one, else nothing. */
#define IF_BOOL_BOOL(...) __VA_ARGS__
#define IF_BOOL_INT(...)
#define IF_BOOL_SINT(...)
#define IF_BOOL_UINT(...)
#define IF_BOOL_REAL(...)
#define IF_SINT_BOOL(...)
#define IF_SINT_INT(...) __VA_ARGS__
#define IF_SINT_SINT(...) __VA_ARGS__
#define IF_SINT_UINT(...)
#define IF_SINT_REAL(...)
#define IF_UINT_BOOL(...)
#define IF_UINT_INT(...) __VA_ARGS__
#define IF_UINT_SINT(...)
#define IF_UINT_UINT(...) __VA_ARGS__
#define IF_UINT_REAL(...)
#define IF_REAL_BOOL(...)
#define IF_REAL_INT(...)
#define IF_REAL_SINT(...)
#define IF_REAL_UINT(...)
#define IF_REAL_REAL(...) __VA_ARGS__
#define WHEN(KIND, ...) CAT4(IF_, DTYPE_KIND, _, KIND)(__VA_ARGS__)

/* What the rule of an operation says of the dtypes of its result and of its first operand. */
#define RESULT_NUMBER DTYPE_NAME
#define RESULT_REAL DTYPE_NAME
#define RESULT_COMPARE bool
#define RESULT_TEST bool
#define RESULT_LOGIC bool
#define RESULT_BITS DTYPE_NAME
#define RESULT_WHERE DTYPE_NAME
#define RESULT_ANY DTYPE_NAME
#define RESULT_ORDER CAT2(KEY_, DTYPE_HELPER)
#define KEY_bool bool
#define KEY_i32 i32
#define KEY_i64 i64
#define KEY_u32 u32
#define KEY_u64 u64
#define KEY_f32 i32
#define KEY_f64 i64
#define FIRST_NUMBER DTYPE_NAME
#define FIRST_REAL DTYPE_NAME
#define FIRST_COMPARE DTYPE_NAME
#define FIRST_TEST DTYPE_NAME
#define FIRST_LOGIC bool
#define FIRST_BITS DTYPE_NAME
#define FIRST_WHERE bool
#define FIRST_ANY DTYPE_NAME
#define FIRST_ORDER DTYPE_NAME

/* The tokens of ops.def; A, B, C are local variables. */
#define T CAT2(krf__t_, DTYPE_NAME)
#define S CAT2(krf__s_, DTYPE_NAME) /* of the functions' own: what lies in memory */
#define U CAT2(krf__u_, DTYPE_NAME)
#define K(x) ((T)(x))
#define F(f) CAT3(krf_, f, DTYPE_SUFFIX)
#define H(f) CAT4(krf_, f, _, DTYPE_HELPER)
#define N(f) CAT4(krf_, f, _, DTYPE_NAME)

/* An element as a value, and a value as an element: the same but for f16 and bf16. */
#define LOAD_bool(x) (x)
#define LOAD_i8(x) (x)
#define LOAD_i16(x) (x)
#define LOAD_i32(x) (x)
#define LOAD_i64(x) (x)
#define LOAD_u8(x) (x)
#define LOAD_u16(x) (x)
#define LOAD_u32(x) (x)
#define LOAD_u64(x) (x)
#define LOAD_f16(x) krf_load_f16(x)
#define LOAD_bf16(x) krf_load_bf16(x)
#define LOAD_f32(x) (x)
#define LOAD_f64(x) (x)
#define STORE_bool(x) (krf__t_bool)(x)
#define STORE_i8(x) (krf__t_i8)(x)
#define STORE_i16(x) (krf__t_i16)(x)
#define STORE_i32(x) (krf__t_i32)(x)
#define STORE_i64(x) (krf__t_i64)(x)
#define STORE_u8(x) (krf__t_u8)(x)
#define STORE_u16(x) (krf__t_u16)(x)
#define STORE_u32(x) (krf__t_u32)(x)
#define STORE_u64(x) (krf__t_u64)(x)
#define STORE_f16(x) krf_store_f16((float)(x))
#define STORE_bf16(x) krf_store_bf16((float)(x))
#define STORE_f32(x) (krf__t_f32)(x)
#define STORE_f64(x) (krf__t_f64)(x)
#define LOAD(dtype, x) CAT2(LOAD_, dtype)(x)
#define STORE(dtype, x) CAT2(STORE_, dtype)(x)

/* One element's conversion from one kind to another: x, the name of a value; from: a helper dtype; to: a dtype's name. */
#define CAST_BOOL_BOOL(x, from, to) x
#define CAST_BOOL_SINT(x, from, to) x
#define CAST_BOOL_UINT(x, from, to) x
#define CAST_BOOL_REAL(x, from, to) x
#define CAST_SINT_BOOL(x, from, to) x != 0
#define CAST_SINT_SINT(x, from, to) x
#define CAST_SINT_UINT(x, from, to) x
#define CAST_SINT_REAL(x, from, to) NARROW_##to(x, from)
#define CAST_UINT_BOOL(x, from, to) x != 0
#define CAST_UINT_SINT(x, from, to) x
#define CAST_UINT_UINT(x, from, to) x
#define CAST_UINT_REAL(x, from, to) NARROW_##to(x, from)
#define CAST_REAL_BOOL(x, from, to) x != 0
#define CAST_REAL_SINT(x, from, to) CAT4(krf_cast_, from, _, to)(x)
#define CAST_REAL_UINT(x, from, to) CAT4(krf_cast_, from, _, to)(x)
#define CAST_REAL_REAL(x, from, to) NARROW_##to(x, from)
/* Wide types reach f16 and bf16 by way of an f32 that rounds as they would. */
#define NARROW_f16(x, from) CAT2(ODD_, from)(x)
#define NARROW_bf16(x, from) CAT2(ODD_, from)(x)
#define NARROW_f32(x, from) x
#define NARROW_f64(x, from) x
#define ODD_i32(x) krf_odd_f64(x)
#define ODD_i64(x) krf_odd_f64(krf_odd_i64(x))
#define ODD_u32(x) krf_odd_f64(x)
#define ODD_u64(x) krf_odd_f64(krf_odd_u64(x))
#define ODD_f32(x) x
#define ODD_f64(x) krf_odd_f64(x)

/* Four lines for each dtype; loops.inc makes its functions and its rows of the tables. */
#define DTYPE_NAME bool
#define DTYPE_KIND BOOL
#define DTYPE_HELPER bool
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME i8
#define DTYPE_KIND SINT
#define DTYPE_HELPER i32
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME i16
#define DTYPE_KIND SINT
#define DTYPE_HELPER i32
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME i32
#define DTYPE_KIND SINT
#define DTYPE_HELPER i32
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME i64
#define DTYPE_KIND SINT
#define DTYPE_HELPER i64
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME u8
#define DTYPE_KIND UINT
#define DTYPE_HELPER u32
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME u16
#define DTYPE_KIND UINT
#define DTYPE_HELPER u32
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME u32
#define DTYPE_KIND UINT
#define DTYPE_HELPER u32
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME u64
#define DTYPE_KIND UINT
#define DTYPE_HELPER u64
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME f16
#define DTYPE_KIND REAL
#define DTYPE_HELPER f32
#define DTYPE_SUFFIX f
#include "backend/cpu/loops.inc"

#define DTYPE_NAME bf16
#define DTYPE_KIND REAL
#define DTYPE_HELPER f32
#define DTYPE_SUFFIX f
#include "backend/cpu/loops.inc"

#define DTYPE_NAME f32
#define DTYPE_KIND REAL
#define DTYPE_HELPER f32
#define DTYPE_SUFFIX f
#include "backend/cpu/loops.inc"

#define DTYPE_NAME f64
#define DTYPE_KIND REAL
#define DTYPE_HELPER f64
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

const krf__loops KRF_LOOPS = {
    .name = KRF_LOOPS_NAME,
#define DTYPE(NAME, name, ...) \
    .elementwise[KRF__DTYPE_##NAME] = elementwise_##name, .combine[KRF__DTYPE_##NAME] = combine_##name, \
    .cast[KRF__DTYPE_##NAME] = cast_##name,
#include "ir/dtypes.def"
#undef DTYPE
};
