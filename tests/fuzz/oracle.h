/* The oracle: what a graph must give, one operation at a time on whole arrays, from the references of tests/ops.
 * Nothing in it calls the library. */
#ifndef KRF_TESTS_FUZZ_ORACLE_H
#define KRF_TESTS_FUZZ_ORACLE_H

#include "fuzz/graph.h"

/* ---- oracle_ops.c: elementwise operations, by their place in ops.def ---- */

int op_count(void);
const char *op_name(int op);
int op_arity(int op);
int op_find(const char *name); /* -1 for none */
krf_expr op_build(int op, const krf_expr *x);
bool op_is_arithmetic(int op); /* + - * / */
bool op_compares(int op); /* whether a bool says how two numbers stand to each other */

/* The dtype that it computes in and that of the result; false when it is not defined for these operands. */
bool op_typing(int op, const facts *const *args, krf_dtype *compute, krf_dtype *result, bool *weak);

/* The dtype of two arrays put together; false where there is none. */
bool dtypes_promote(krf_dtype a, krf_dtype b, krf_dtype *common);

/* That of several operands, weak ones among them; false where there is none. */
bool operands_promote(int n, const facts *const *args, krf_dtype *common);
krf_dtype float_dtype(krf_dtype dtype); /* that real functions compute in */

/* Whether operand k is taken in the dtype that is computed in (the condition of where is not). */
bool op_converts(int op, int k);

/* x ** k with a weak literal integer |k| <= 8 is a chain of multiplications. */
bool op_is_power(int op);
bool op_reads_sign(int op); /* of NaN too, which is not promised */
value power_chain(krf_dtype dtype, value x, int64_t k);

/* Whether more than one result is right: then the library's own is taken where op_accepts allows it. */
bool op_open(int op, krf_dtype compute);
bool op_accepts(int op, krf_dtype compute, const value *x, value got, bool cuda);
value op_value(int op, krf_dtype compute, krf_dtype result, const value *x); /* of the others */

/* ---- oracle_complex.c: elementwise operations computed in a complex dtype. x has been converted to it, a condition to bool; real: which of them
 * are known to be real ---- */

bool op_takes_complex(int op);
krf_dtype complex_result(int op, krf_dtype compute);
bool complex_stays_real(int op); /* whether its result over such operands is known to be real */
bool complex_open(int op, const bool *real);
bool complex_accepts(int op, krf_dtype compute, const value *x, const bool *real, value got);
value complex_value(int op, krf_dtype compute, const value *x, const bool *real);      /* of the others */
value complex_power_chain(krf_dtype dtype, value x, bool real, int64_t k); /* k >= 0 */

/* ---- oracle_reduce.c ---- */

int reduction_count(void);
const char *reduction_name(int op);
int reduction_find(const char *name);
krf_expr reduction_build(int op, krf_expr x, int n_axes, const int *axes, bool keepdims);
bool reduction_defined(int op, krf_dtype x);
krf_dtype reduction_dtype(int op, krf_dtype x);
bool reduction_of_none(int op); /* whether it has a value over no elements */
value reduction_value(int op, krf_dtype from, bool real, const value *x, int64_t n); /* real: a complex operand is known to be */

int scan_count(void);
const char *scan_name(int op);
int scan_find(const char *name);
krf_expr scan_build(int op, krf_expr x, int axis);
bool scan_defined(int op, krf_dtype x);
krf_dtype scan_dtype(int op, krf_dtype x);
void scan_values(int op, krf_dtype from, const value *x, int64_t n, value *y); /* of a row */

/* ---- oracle.c ---- */

/* Of each node that the outputs need: its elements in C order, new memory; NULL for the others. */
typedef struct values {
    void *of[MOST_NODES];
} values;

/* Which nodes' values must be observed, because op_open says that several are right. */
int graph_open_nodes(const graph *g, int *nodes);

/* observed: of each open node, what the library computed; every element is checked. */
bool oracle_run(const graph *g, void *const *observed, bool cuda, values *v, report *r);
void values_free(values *v);

/* Whether two arrays of that many elements are equal bit for bit; any NaN equals any NaN. */
bool same_elements(krf_dtype dtype, int64_t n, const void *a, const void *b, int64_t *first);

#endif
