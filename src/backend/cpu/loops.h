/* The interpreter's inner loops: one function for each operation and dtype, over a run of elements. One file, loops.c,
 * expands the tables of operations and dtypes; it is compiled once for each instruction set, and the interpreter takes
 * the best table that the processor can run. All tables give the same bits (NaN payloads aside). */
#ifndef KRF_BACKEND_CPU_LOOPS_H
#define KRF_BACKEND_CPU_LOOPS_H

#include "ir/op.h"

/* out[i] = op(a[i], b[i], c[i]) for i < n. Sources beyond the operation's arity are not read. out overlaps no source.
 */
typedef void krf__loop(int64_t n, const void *a, const void *b, const void *c, void *out);

/* acc[i] = combine(acc[i], x[i]) for i < n. acc and x do not overlap. */
typedef void krf__combine_loop(int64_t n, const void *x, void *acc);

typedef struct krf__loops {
    const char *name;                                    /* "base", "x86-64-v3", "x86-64-v4" */
    krf__loop *const *elementwise[KRF__DTYPE_COUNT];     /* [the dtype it computes in][op]; NULL: not computed in it */
    krf__combine_loop *const *combine[KRF__DTYPE_COUNT]; /* [accumulator's dtype][op] */
    krf__loop *const *cast[KRF__DTYPE_COUNT];            /* [from][to] */
} krf__loops;

extern const krf__loops krf__loops_base;
#if defined(__x86_64__)
extern const krf__loops krf__loops_v3, krf__loops_v4;
#endif

/* Every table this processor can run, best first; the list ends with NULL. */
const krf__loops *const *krf__loops_usable(void);

#endif
