/* Expands ops.def and dtypes.def to one function for each operation and dtype (loops.h). Compiled once for each
 * instruction set, with KRF_LOOPS naming the table (krf__loops_base, ...) and KRF_LOOPS_NAME its name. Loops are plain
 * C that gcc and clang vectorise at -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math; every operation rounds as
 * if it ran alone. To add a dtype: its row in dtypes.def and three lines at the end of this file. */
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
#include "codegen/math/roots.h"
#include "codegen/math/inverse.h"
#include "codegen/math/erf.h"
#include "codegen/math/special.h"
#include "codegen/math/libm.h"
#include "codegen/math/prelude.h"
#include "codegen/math/numbers.h"

#undef bool /* from here on a dtype's name */

#define CAT2_(a, b) a##b
#define CAT2(a, b) CAT2_(a, b)
#define CAT3_(a, b, c) a##b##c
#define CAT3(a, b, c) CAT3_(a, b, c)
#define CAT4_(a, b, c, d) a##b##c##d
#define CAT4(a, b, c, d) CAT4_(a, b, c, d)

/* krf__t_f32: the C type of a dtype; krf__u_f32: an unsigned type of its size, but no narrower than int. */
typedef unsigned krf__u_1, krf__u_2, krf__u_4;
typedef unsigned long long krf__u_8;
#define DTYPE(NAME, name, numpy, KIND, bytes, c_type, suffix) \
    typedef c_type krf__t_##name; \
    typedef krf__u_##bytes krf__u_##name; \
    _Static_assert(sizeof(c_type) == bytes, "dtypes.def: bytes of " #name);
#include "ir/dtypes.def"
#undef DTYPE

/* IF_INT_REAL(text): the text where both kinds are the same, else nothing. */
#define IF_BOOL_BOOL(...) __VA_ARGS__
#define IF_INT_INT(...) __VA_ARGS__
#define IF_REAL_REAL(...) __VA_ARGS__
#define IF_BOOL_INT(...)
#define IF_BOOL_REAL(...)
#define IF_INT_BOOL(...)
#define IF_INT_REAL(...)
#define IF_REAL_BOOL(...)
#define IF_REAL_INT(...)
#define WHEN(KIND, ...) CAT4(IF_, DTYPE_KIND, _, KIND)(__VA_ARGS__)

/* What the rule of an operation says of its result and of its first operand, when it computes in T. */
#define RESULT_NUMBER T
#define RESULT_REAL T
#define RESULT_COMPARE krf__t_bool
#define RESULT_TEST krf__t_bool
#define RESULT_LOGIC krf__t_bool
#define RESULT_BITS T
#define RESULT_WHERE T
#define RESULT_ANY T
#define FIRST_NUMBER T
#define FIRST_REAL T
#define FIRST_COMPARE T
#define FIRST_TEST T
#define FIRST_LOGIC krf__t_bool
#define FIRST_BITS T
#define FIRST_WHERE krf__t_bool
#define FIRST_ANY T

/* The tokens of ops.def; A, B, C are local variables. */
#define T CAT2(krf__t_, DTYPE_NAME)
#define U CAT2(krf__u_, DTYPE_NAME)
#define K(x) ((T)(x))
#define F(f) CAT3(krf_, f, DTYPE_SUFFIX)
#define H(f) CAT4(krf_, f, _, DTYPE_NAME)

/* One element's conversion from one kind to another: x, the name of a value; to, from: dtypes' names. */
#define CAST_BOOL_BOOL(x, from, to) x
#define CAST_BOOL_INT(x, from, to) x
#define CAST_BOOL_REAL(x, from, to) x
#define CAST_INT_BOOL(x, from, to) x != 0
#define CAST_INT_INT(x, from, to) x
#define CAST_INT_REAL(x, from, to) x
#define CAST_REAL_BOOL(x, from, to) x != 0
#define CAST_REAL_INT(x, from, to) CAT4(krf_cast_, from, _, to)(x)
#define CAST_REAL_REAL(x, from, to) x

/* Three lines for each dtype; loops.inc makes its functions and its rows of the tables. */
#define DTYPE_NAME bool
#define DTYPE_KIND BOOL
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME i32
#define DTYPE_KIND INT
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME i64
#define DTYPE_KIND INT
#define DTYPE_SUFFIX
#include "backend/cpu/loops.inc"

#define DTYPE_NAME f32
#define DTYPE_KIND REAL
#define DTYPE_SUFFIX f
#include "backend/cpu/loops.inc"

#define DTYPE_NAME f64
#define DTYPE_KIND REAL
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
