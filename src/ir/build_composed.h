/* Reductions that are expressions over others (composed.def), and arrays that are made in the graph and read no memory. Ids of one graph go in;
 * poison in, poison out. */
#ifndef KRF_IR_BUILD_COMPOSED_H
#define KRF_IR_BUILD_COMPOSED_H

#include "ir/build.h"

typedef enum krf__composed {
#define COMPOSED(name, doc) KRF__COMPOSED_##name,
#include "ir/composed.def"
    KRF__COMPOSED_COUNT
} krf__composed;

typedef struct krf__axes {
    int n;
    const int *of; /* NULL: all */
    bool keepdims;
} krf__axes;

const char *krf__composed_name(krf__composed which);
bool krf__composed_has_ddof(krf__composed which);

/* ddof: of var and std. */
uint32_t krf__build_composed(krf_graph *g, krf__composed which, uint32_t x, const krf__axes *axes, double ddof);

/* start, start + step, ... before stop, as i64. */
uint32_t krf__build_arange(krf_graph *g, int64_t start, int64_t stop, int64_t step);

/* n values from start to stop, as f64; the last is stop itself when endpoint is set, and one step before it otherwise. */
uint32_t krf__build_linspace(krf_graph *g, double start, double stop, int64_t n, bool endpoint);

uint32_t krf__build_eye(krf_graph *g, int64_t rows, int64_t columns, int64_t k, krf_dtype dtype);
uint32_t krf__build_tri(krf_graph *g, int64_t rows, int64_t columns, int64_t k, krf_dtype dtype); /* ones where column - row <= k */
uint32_t krf__build_triangle(krf_graph *g, uint32_t x, int64_t k, bool upper);                     /* triu, tril */

/* The places along an axis of a shape, as i64, in an array of that rank that broadcasts along the other axes. */
uint32_t krf__build_places(krf_graph *g, int rank, const int64_t *shape, int axis);

#endif
