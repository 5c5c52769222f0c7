/* Kernels that users write themselves: CUDA C++, and C for the CPU. Used as a node of a graph (krf_kernel_call), ordered by what it reads and writes, between kernels
 * that fuse around it; or launched on a stream (krf_kernel_launch). Compiled once, kept by the caches of memory and disk as all kernels are. docs/raw.md is the manual. */
#ifndef KERFUSE_RAW_H
#define KERFUSE_RAW_H

#include <kerfuse/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct krf_raw_kernel krf_raw_kernel;

/* name: of the function in the sources.
 * parameters: its parameters in order, separated by commas. Arrays, which are pointers in C: `in f32 x`, `out f32 y`, `inout c64 z`; with extents in brackets where
 *   shapes matter: `in f32 x[m, k], in f32 y[k, n], out f32 z[m, n]`. A name that stands in brackets for the first time is bound to that extent; all else must agree with it, and
 *   gives the results their shapes. Scalars, passed by value: `f32 a`, `i64 count`. An integer with the name of an extent is that extent, `i32 n = (m + 1) / 2` is
 *   computed; neither is given by the caller. Dtypes: any.
 * cuda: CUDA C++ with `extern "C" __global__ void name(...)`; c: C11 with `void name(...)`, which is called once for the whole problem. Either may be NULL.
 * grid, block: one to three integer expressions over extents, "(n + 31) / 32, (m + 31) / 32", also x.size, x.shape[0], min(a, b), max(a, b). shared: likewise, the bytes of dynamic
 *   shared memory. NULL: 0, and for grid and block, that each call says so.
 * options: for NVRTC, separated by blanks: "-DTILE=32 --fmad=true". Without that, a * b + c is rounded twice, as everywhere in kerfuse.
 * All texts are copied. */
typedef struct krf_kernel_description {
    size_t size; /* sizeof(krf_kernel_description) */
    const char *name, *parameters;
    const char *cuda, *c;
    const char *grid, *block, *shared;
    const char *options;
} krf_kernel_description;

/* Defines a kernel of a context, with one reference. Nothing is compiled yet: errors of compilers come when it is first used, with the lines of the source
 * as they were given here. Errors: KRF_E_ARGUMENT with the place in the texts, KRF_E_DTYPE, KRF_E_MEMORY. Source: CuPy's RawKernel, Numba's cuda.jit. */
KRF_API krf_status krf_kernel_define(krf_context *context, const krf_kernel_description *description, krf_raw_kernel **kernel);
KRF_API void krf_kernel_release(krf_raw_kernel *kernel); /* NULL is allowed; graphs and plans that use it keep it */

/* What takes the place of the description's own in one call: where x is not 0, all of grid or block; shared bytes where not 0. */
typedef struct krf_launch_shape {
    uint32_t grid[3], block[3];
    uint32_t shared;
} krf_launch_shape;

/* A shape of a result that has no brackets. */
typedef struct krf_result_shape {
    int rank;
    const int64_t *shape;
} krf_result_shape;

/* The kernel as a node of a graph. inputs: for each parameter that is in, inout, or a scalar that is not computed, in their order, an expression: arrays of exactly
 * its dtype, scalars of rank 0 that are numbers or placeholders (converted to its dtype). outputs: written, for each out and inout, in their order. shapes: of results without brackets, in their order; may be NULL where there are none.
 * launch: may be NULL. What is computed for an input is stored in C order first, and views are copied, unless an expression in the description mentions its strides. inout is functional: the result starts as a
 * copy, and the input stays as it is. Two calls with equal operands are one. A kernel must write all of its results, and nothing else.
 * Errors (outputs are poison, the graph keeps the message): KRF_E_ARGUMENT, KRF_E_DTYPE, KRF_E_SHAPE. It cannot be differentiated. */
KRF_API void krf_kernel_call(krf_raw_kernel *kernel, krf_graph *graph, int n, const krf_expr *inputs, const krf_result_shape *shapes, const krf_launch_shape *launch, krf_expr *outputs);

/* Launches the kernel on arrays, in the order of the stream and of all other work on these arrays. stream: a handle, as for krf_plan_run. arguments: for each
 * parameter that is not computed, in order, or by name: arrays (also those that are written, which must exist) and numbers. Arrays are in C order, unless an expression mentions their strides.
 * An array may be read and written by one launch. launch: may be NULL. Asynchronous on CUDA, complete on return on the CPU. Thread-safe.
 * Errors: KRF_E_ARGUMENT, KRF_E_DTYPE, KRF_E_SHAPE; KRF_E_UNSUPPORTED where there is no source for the device, or more threads or shared memory than it has; KRF_E_COMPILE with the compiler's
 * own message. While the stream is being captured, the kernel must have run before. */
KRF_API krf_status krf_kernel_launch(krf_raw_kernel *kernel, void *stream, int n, const krf_binding *arguments, const krf_launch_shape *launch);

/* ---- generalised functions ---- */

/* A function of small arrays, the last axes of its operands, which is applied wherever the axes before them broadcast to: NumPy's generalised ufuncs.
 * signature: the small arrays, "(m,n),(n,p)->(m,p)"; a number, "(3),(3)->(3)", is an extent that must be just that; "()" is a single number.
 * parameters: a dtype and a name for each of them, "f32 a, f32 b, f32 c". A word that is no dtype stands for one, "T a, T b, T c": the one that all operands with that word
 *   promote to. Bool, integers, f32 and f64.
 * body: statements in C that are also CUDA C++. a(i, j) is an element, of results one to be assigned; sizes are integers by their names; the words for dtypes are types. Every element of the results
 *   must be written. Functions of the mathematical library may be called. */
typedef struct krf_gufunc_description {
    size_t size; /* sizeof(krf_gufunc_description) */
    const char *name, *signature, *parameters, *body;
} krf_gufunc_description;

typedef struct krf_gufunc krf_gufunc;

/* Errors: KRF_E_ARGUMENT with the place, KRF_E_DTYPE, KRF_E_MEMORY. Source: NumPy's generalised universal function API, Numba's guvectorize. */
KRF_API krf_status krf_gufunc_define(krf_context *context, const krf_gufunc_description *description, krf_gufunc **gufunc);
KRF_API void krf_gufunc_release(krf_gufunc *gufunc); /* NULL is allowed; graphs and plans that use it keep what they need */

/* As a node. inputs: n of them, the signature's operands; outputs: its results, whose shapes are the broadcast axes followed by their own. Operands may be any views, and are not copied. On CUDA each
 * place of the broadcast axes is a thread, on the CPU threads share them. Small sizes (8 at most) are part of the text, so that loops unroll: other ones are another kernel. What is computed for an operand is
 * stored first; kernels before and after it fuse. It cannot be differentiated.
 * Errors (outputs are poison): KRF_E_ARGUMENT, KRF_E_DTYPE, KRF_E_SHAPE, which name signature and shapes; KRF_E_COMPILE, when it is compiled, with the body's own lines. */
KRF_API void krf_gufunc_call(krf_gufunc *gufunc, krf_graph *graph, int n, const krf_expr *inputs, krf_expr *outputs);

#ifdef __cplusplus
}
#endif

#endif
