/* What users write themselves: functions of single elements, in C. They broadcast, promote, fuse, are cached and shown as built-in functions are. docs/define.md
 * says what a body may contain. */
#ifndef KERFUSE_DEFINE_H
#define KERFUSE_DEFINE_H

#include <kerfuse/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A definition: reference-counted, never changes, belongs to no device: expressions of any context's graphs may call it. */
typedef struct krf_op krf_op;

/* Defines a function of single elements and gives it a name in the text form of this context.
 * name: an identifier that is no function yet.
 * parameters: "T x, f32 mu": a dtype (kerfuse's or NumPy's name) or a capital letter, and a name, for each of 1 to 16. Operands for one letter are promoted
 *   together; F stands for a float, so that integers become f32 or f64 as sqrt makes them. Operands for a dtype are converted where promotion would, else that is
 *   an error of the call.
 * results: likewise, 1 to 8 of them; letters that parameters have.
 * body: statements of C that assign the results. They may call functions by the names of the text form (exp, maximum, ...), in the precision of their
 *   operands, and definitions made before. Half types are computed in f32 and rounded once. A number such as 0.5 is f32 where all floats of the signature are
 *   f32 or less.
 * derivatives: NULL where there are none: differentiating is then an error. Else statements in the text form, "dy/dx = y * (1 - y)", over parameters and results, one
 *   for each result by each parameter that is a float, separated by ';' or newlines; they become nodes of the graph.
 * *op: one reference. The context keeps another, until krf_op_undefine or its end.
 * Errors: KRF_E_ARGUMENT, KRF_E_PARSE, KRF_E_MEMORY, with the line of the body; what a C compiler finds comes as KRF_E_COMPILE when an expression is evaluated,
 * with the body's line. Thread-safe. Source: the elementwise kernels of CuPy, whose signatures these are. */
KRF_API krf_status krf_op_define(krf_context *context, const char *name, const char *parameters, const char *results, const char *body,
                                 const char *derivatives, krf_op **op);

/* Makes the name free again. What was built with the definition goes on working. KRF_E_ARGUMENT where the context has no such name. */
KRF_API krf_status krf_op_undefine(krf_context *context, const char *name);

/* Adds, or takes back, one reference. NULL is allowed. Thread-safe. retain returns its argument. */
KRF_API krf_op *krf_op_retain(krf_op *op);
KRF_API void krf_op_release(krf_op *op);

/* Facts. The name lives as long as the definition. */
KRF_API const char *krf_op_name(const krf_op *op);
KRF_API int krf_op_parameters(const krf_op *op);
KRF_API int krf_op_results(const krf_op *op);

/* The definition applied to n operands of one graph, which broadcast: krf_op_results(op) expressions, written to results; all are poison after an error
 * (KRF_E_ARGUMENT for another number of operands, KRF_E_DTYPE, KRF_E_SHAPE), which the graph keeps. */
KRF_API void krf_op_call(const krf_op *op, int n, const krf_expr *operands, krf_expr *results);

/* The first result alone. krf_op_apply(op, x, y) is krf_op_result(op, 2, (krf_expr[]){x, y}). */
KRF_API krf_expr krf_op_result(const krf_op *op, int n, const krf_expr *operands);

/* ---- reductions ---- */

/* A definition of a reduction, counted and named as the others are: in the text form it is called with axes, welford(x, axis=1, keepdims=True). */
typedef struct krf_reduction krf_reduction;

/* Defines a reduction over an accumulator of one or several fields.
 * parameters, fields: as parameters and results of krf_op_define, "F x" and "F n, F mean, F m2"; at most 8 fields.
 * identity: a number for each field, in the text form: "0, 0, 0", "-inf, 0". What is out of an integer's range is its end. It changes nothing when combined.
 * map: a body over parameters that assigns the fields: the accumulator of one element.
 * combine: a body that assigns the fields, from those of two accumulators, a_mean and b_mean for a field mean.
 * results, post: a body over the fields that assigns results; both NULL: the fields are the results.
 * combine must be associative; for reductions, not for scans, commutative too: elements are combined in the order of the canonical tree (docs/architecture.md), which is the same
 * on every device, so that results have the same bits where the bodies compute exactly. Errors: as of krf_op_define; parts are called NAME_map, NAME_combine, NAME_post
 * in messages. *reduction: one reference. Thread-safe. Source: CuPy's ReductionKernel, with several fields. */
KRF_API krf_status krf_reduction_define(krf_context *context, const char *name, const char *parameters, const char *fields, const char *identity, const char *map,
                                        const char *combine, const char *results, const char *post, krf_reduction **reduction);

/* Adds, or takes back, one reference. NULL is allowed. Thread-safe. retain returns its argument. krf_op_undefine makes a reduction's name free, too. */
KRF_API krf_reduction *krf_reduction_retain(krf_reduction *reduction);
KRF_API void krf_reduction_release(krf_reduction *reduction);
KRF_API int krf_reduction_results(const krf_reduction *reduction);

/* The reduction of n operands of one graph, which broadcast, over n_axes axes (axes NULL: all), with these kept as extents of 1 or dropped. Writes
 * krf_reduction_results(reduction) expressions; poison after an error, which the graph keeps. Over no elements: post of the identity. What comes before and after fuses. */
KRF_API void krf_reduction_call(const krf_reduction *reduction, int n, const krf_expr *operands, int n_axes, const int *axes, bool keepdims, krf_expr *results);

/* The same for the elements up to each one along an axis: results have the operands' shape. On CUDA the accumulator has one field. */
KRF_API void krf_reduction_scan(const krf_reduction *reduction, int n, const krf_expr *operands, int axis, krf_expr *results);

/* ---- functions of two operands, again and again ---- */

/* function: the name in the text form of a function of two operands: the library's, or one defined in the context of x's graph whose operands and result are of one type.
 * reduce: over n_axes axes (axes NULL: all, where the text form without axis takes the first), kept with extent 1 or dropped; the function must be associative and commutative, and the order is the canonical tree's. add, multiply,
 *   maximum, minimum, logical_and and logical_or are sum, prod, max, min, all and any.
 * accumulate: of the elements up to each one along an axis; associative. On CUDA functions without a known identity are KRF_E_ARGUMENT when evaluated: define a reduction.
 * outer: of each element of x with each of y: the shape is x's followed by y's.
 * Errors: KRF_E_ARGUMENT for what is no such function, KRF_E_DTYPE for dtypes that the function is not defined for, KRF_E_SHAPE over no elements where
 * there is no identity. Source: NumPy's ufunc.reduce, accumulate, outer. */
KRF_API krf_expr krf_ufunc_reduce(const char *function, krf_expr x, int n_axes, const int *axes, bool keepdims);
KRF_API krf_expr krf_ufunc_accumulate(const char *function, krf_expr x, int axis);
KRF_API krf_expr krf_ufunc_outer(const char *function, krf_expr x, krf_expr y);

#ifdef __cplusplus
}
template <class... Operands>
static inline krf_expr krf_op_apply(const krf_op *op, Operands... operands) {
    const krf_expr list[] = {operands...};
    return krf_op_result(op, static_cast<int>(sizeof...(operands)), list);
}
#else
#define krf_op_apply(op, ...) \
    krf_op_result((op), (int)(sizeof((krf_expr[]){__VA_ARGS__}) / sizeof(krf_expr)), (krf_expr[]){__VA_ARGS__})
#endif

#endif
