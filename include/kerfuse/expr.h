/* Graphs and expressions: what to compute, without computing it. The operations themselves stand in ops.h. */
#ifndef KERFUSE_EXPR_H
#define KERFUSE_EXPR_H

#include <kerfuse/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct krf_graph krf_graph;

/* A node of a graph, by value: two words, nothing to free. id 0 is poison: the result of a builder that failed. */
typedef struct krf_expr {
    krf_graph *graph;
    uint32_t id;
} krf_expr;

/* A graph owns every node made in it. Never NULL: out of memory gives a graph on which every builder returns poison. */
KRF_API krf_graph *krf_graph_create(krf_context *context);
KRF_API void krf_graph_destroy(krf_graph *graph);

/* Forgets all nodes and the error, keeps the memory: for loops that build the same kind of graph again and again. */
KRF_API void krf_graph_reset(krf_graph *graph);

/* The first error of any builder on this graph: KRF_OK and "" when there was none. */
KRF_API krf_status krf_graph_status(const krf_graph *graph);
KRF_API const char *krf_graph_error(const krf_graph *graph);

/* Facts about an expression. For poison: KRF_BOOL, rank 0, NULL. A weak expression is made of scalars alone and takes the dtype
 * of what it meets. shape: rank extents, valid until the graph grows. */
KRF_API bool krf_expr_ok(krf_expr x);
KRF_API krf_dtype krf_expr_dtype(krf_expr x);
KRF_API bool krf_expr_weak(krf_expr x);
KRF_API int krf_expr_rank(krf_expr x);
KRF_API const int64_t *krf_expr_shape(krf_expr x);

/* An array as an operand. The graph retains the array and reads it when the expression is evaluated. */
KRF_API krf_expr krf_input(krf_graph *graph, krf_array *array);

/* An operand that is bound at each krf_plan_run: a C-ordered array of that dtype and shape. A rank-0 placeholder is a scalar
 * and travels by value. name: letters, digits and '_', unique in the graph; NULL for none. */
KRF_API krf_expr krf_placeholder(krf_graph *graph, const char *name, krf_dtype dtype, int rank, const int64_t *shape);

/* The same for an array with given strides (elements). */
KRF_API krf_expr krf_placeholder_strided(krf_graph *graph, const char *name, krf_dtype dtype, int rank,
                                         const int64_t *shape, const int64_t *strides);

/* A weak scalar that is bound at each run: KRF_I64 for int, KRF_F64 for float, KRF_C128 for complex. */
KRF_API krf_expr krf_placeholder_weak(krf_graph *graph, const char *name, krf_dtype dtype);

/* Weak scalars. A value given here is an argument of the kernel, so another value needs no other kernel, except 0, 1,
 * -1, 2 and 0.5, which are printed into it, and integers from 2^63 on (krf_uint), which evaluate as u64. krf_scalar(graph, value) picks by the type of value. */
KRF_API krf_expr krf_int(krf_graph *graph, int64_t value);
KRF_API krf_expr krf_uint(krf_graph *graph, uint64_t value);
KRF_API krf_expr krf_real(krf_graph *graph, double value);
KRF_API krf_expr krf_complex(krf_graph *graph, double re, double im);

/* x converted to dtype. Float to integer truncates, clamps to the ends and sends NaN to 0; anything to bool is x != 0. To a complex dtype, a real x
 * becomes x + 0i. A complex x to a dtype that is not complex, bool aside, is an error: krf_real_part(x) or krf_abs(x) can be cast. */
KRF_API krf_expr krf_cast(krf_expr x, krf_dtype dtype);

/* Views. They copy nothing.
 * transpose: axes[k] is the axis of x that becomes axis k; NULL reverses the order.
 * slice: one item an axis of x from the first on; axes without an item are taken whole. As in Python, start and stop may be
 * negative (counted from the end) and are clamped; KRF_NONE stands for an absent bound.
 * reshape: the elements in C order under another shape of as many elements; one extent may be -1.
 * broadcast_to: shapes aligned at the last axis; extents of 1 are stretched.
 * expand_dims: a new axis of extent 1 so that it becomes axis `axis` of the result; negative axes count from the end. */
#define KRF_NONE INT64_MIN
typedef struct krf_range {
    int64_t start, stop, step;
} krf_range;
KRF_API krf_expr krf_transpose(krf_expr x, const int *axes);
KRF_API krf_expr krf_slice(krf_expr x, int n, const krf_range *ranges);
KRF_API krf_expr krf_reshape(krf_expr x, int rank, const int64_t *shape);
KRF_API krf_expr krf_broadcast_to(krf_expr x, int rank, const int64_t *shape);
KRF_API krf_expr krf_expand_dims(krf_expr x, int axis);
KRF_API krf_expr krf_squeeze(krf_expr x, int axis);
KRF_API krf_expr krf_flip(krf_expr x, int axis);

/* Arrays that are made where they are used and read no memory.
 * arange: start, start + step, ... before stop, as i64. linspace: n values from start to stop as f64; with endpoint the last is stop
 * itself. full: a value of rank 0, weak ones too, in every place of a shape. eye: ones where column - row is k, else zeros.
 * triu (tril): the last two axes with zeros below (above) diagonal k. Errors: KRF_E_ARGUMENT, KRF_E_SHAPE in the graph. */
KRF_API krf_expr krf_arange(krf_graph *graph, int64_t start, int64_t stop, int64_t step);
KRF_API krf_expr krf_linspace(krf_graph *graph, double start, double stop, int64_t n, bool endpoint);
KRF_API krf_expr krf_full(krf_expr value, int rank, const int64_t *shape);
KRF_API krf_expr krf_eye(krf_graph *graph, int64_t rows, int64_t columns, int64_t k, krf_dtype dtype);
KRF_API krf_expr krf_triu(krf_expr x, int64_t k);
KRF_API krf_expr krf_tril(krf_expr x, int64_t k);

/* Names for operands: to krf_parse, what a name in the text stands for; to krf_plan_run, what a placeholder is bound to. */
typedef enum krf_binding_kind { KRF_BIND_ARRAY, KRF_BIND_INT, KRF_BIND_REAL, KRF_BIND_EXPR, KRF_BIND_COMPLEX } krf_binding_kind;
typedef struct krf_binding {
    const char *name; /* NULL in krf_plan_run: the placeholder at this position */
    krf_binding_kind kind;
    krf_array *array;
    int64_t i;
    double f;         /* of a complex number the real part */
    krf_expr expr;
    double imaginary;
} krf_binding;
KRF_API krf_binding krf_bind_array(const char *name, krf_array *array);
KRF_API krf_binding krf_bind_int(const char *name, int64_t value);
KRF_API krf_binding krf_bind_real(const char *name, double value);
KRF_API krf_binding krf_bind_complex(const char *name, double re, double im);
KRF_API krf_binding krf_bind_expr(const char *name, krf_expr expr);

/* Builds the expression that a text says, in NumPy's notation: "maximum(x, 0) + log1p(exp(-abs(x)))", or a program of
 * declarations, assignments and a last `return`. docs/text.md gives the grammar. bindings: n names, each once; a name declared in the text and
 * bound to an array must agree with it; one that is declared and not bound becomes a placeholder.
 * krf_parse: the text must give one result. krf_parse_many: writes up to capacity results and their number to *count.
 * Errors: KRF_E_PARSE with line, column and the line with a caret under the place; KRF_E_DTYPE, KRF_E_SHAPE likewise. The
 * graph then also has the error, and *result is poison. */
KRF_API krf_status krf_parse(krf_graph *graph, const char *text, const krf_binding *bindings, int n, krf_expr *result);
KRF_API krf_status krf_parse_many(krf_graph *graph, const char *text, const krf_binding *bindings, int n,
                                  int capacity, krf_expr *results, int *count);

#ifdef __cplusplus
}
static inline krf_expr krf_scalar(krf_graph *graph, double value) { return krf_real(graph, value); }
static inline krf_expr krf_scalar(krf_graph *graph, float value) { return krf_real(graph, (double)value); }
static inline krf_expr krf_scalar(krf_graph *graph, int value) { return krf_int(graph, value); }
static inline krf_expr krf_scalar(krf_graph *graph, long value) { return krf_int(graph, value); }
static inline krf_expr krf_scalar(krf_graph *graph, long long value) { return krf_int(graph, value); }
static inline krf_expr krf_scalar(krf_graph *graph, long double value) { return krf_real(graph, static_cast<double>(value)); }
static inline krf_expr krf_scalar(krf_graph *graph, unsigned value) { return krf_uint(graph, value); }
static inline krf_expr krf_scalar(krf_graph *graph, unsigned long value) { return krf_uint(graph, value); }
static inline krf_expr krf_scalar(krf_graph *graph, unsigned long long value) { return krf_uint(graph, value); }
template <class Complex> /* std::complex and what else has both parts */
static inline auto krf_scalar(krf_graph *graph, const Complex &value) -> decltype(value.imag(), krf_expr()) {
    return krf_complex(graph, static_cast<double>(value.real()), static_cast<double>(value.imag()));
}
#elif defined(__STDC_NO_COMPLEX__)
#define krf_scalar(graph, value) \
    _Generic((value), float: krf_real, double: krf_real, long double: krf_real, unsigned long: krf_uint, unsigned long long: krf_uint, \
             default: krf_int)((graph), (value))
#else
static inline krf_expr krf_scalar_complex(krf_graph *graph, double _Complex value) {
    const union {
        double _Complex whole;
        double parts[2];
    } z = {value};
    return krf_complex(graph, z.parts[0], z.parts[1]);
}
#define krf_scalar(graph, value) \
    _Generic((value), float: krf_real, double: krf_real, long double: krf_real, float _Complex: krf_scalar_complex, \
             double _Complex: krf_scalar_complex, unsigned long: krf_uint, unsigned long long: krf_uint, default: krf_int)((graph), (value))
#endif

#endif
