/* The graph: a flat array of nodes, operands before users, node 0 poison. Equal nodes are shared when they are added. Shapes and the numbers
 * that belong to a node lie in one array of integers beside it. Passes make new graphs out of old ones with the same functions. */
#ifndef KRF_IR_GRAPH_H
#define KRF_IR_GRAPH_H

#include "base/strbuf.h"
#include "ir/array.h"
#include "ir/defined.h"
#include "ir/shape.h"
#include <kerfuse/expr.h>

typedef struct krf__node {
    uint16_t op;      /* krf__op */
    uint8_t dtype;    /* of the result */
    bool weak;        /* made of scalars alone */
    uint8_t rank;
    bool keepdims;    /* reductions: reduced axes stay with extent 1 */
    uint32_t args[3]; /* operands, 0 where there is none */
    uint32_t shape;   /* index of the extents in ints */
    uint32_t ints;    /* index of what the operation needs besides, see ops.def; reductions: ints[0] is the bit mask of the axes */
    uint32_t n_ints;
    uint64_t value;   /* constant, scalar: raw bits in dtype; input, placeholder: index; call: the krf__result */
} krf__node;

/* ints[0] of a scalar that a pass made and that follows from shapes alone, see `traced`. */
enum { KRF__OF_SHAPES = -1 };

typedef struct krf__placeholder {
    char *name; /* NULL for none; owned */
    uint32_t node;
    bool strided;
    int64_t strides[KRF_MAX_RANK];
} krf__placeholder;

struct krf_graph {
    krf_context *context; /* opaque here; may be NULL in tests */
    bool nil;             /* the static graph of out of memory */
    krf_status status;    /* of the first error */
    char *error;          /* its message; NULL for none, owned */
    krf__node *nodes;
    size_t n_nodes, nodes_capacity;
    int64_t *ints;
    size_t n_ints, ints_capacity;
    struct krf__shared *shared; /* nodes by what they are: a table with free places, whose size is a power of two */
    size_t shared_capacity, n_shared;
    krf_array **arrays;         /* of input nodes, retained */
    size_t n_arrays, arrays_capacity;
    struct krf__raw **raws;     /* of raw_kernel nodes, retained */
    size_t n_raws, raws_capacity;
    krf__placeholder *placeholders;
    size_t n_placeholders, placeholders_capacity;
    krf__defined *defined;      /* what names of the text form stand for besides; NULL: nothing. The context's */
    const krf_op **ops;         /* of call nodes, retained */
    size_t n_ops, ops_capacity;
    bool traced;                /* scalars that builders add have their own id in ints[0]; passes copy it: it tells what became of them */
};

static inline const krf__node *krf__node_of(const krf_graph *g, uint32_t id) { return &g->nodes[id]; }
static inline krf_dtype krf__dtype_of(const krf_graph *g, uint32_t id) { return (krf_dtype)krf__node_of(g, id)->dtype; }
static inline const int64_t *krf__shape_of(const krf_graph *g, uint32_t id) { return g->ints + g->nodes[id].shape; }
static inline const int64_t *krf__ints_of(const krf_graph *g, uint32_t id) { return g->ints + g->nodes[id].ints; }

uint32_t krf__unbroadcast(const krf_graph *g, uint32_t id); /* what a node has the values of, where it broadcasts them; else itself */

static inline bool krf__same_shape(const krf_graph *g, uint32_t x, uint32_t y) {
    return krf__shape_equal(krf__node_of(g, x)->rank, krf__shape_of(g, x), krf__node_of(g, y)->rank, krf__shape_of(g, y));
}

/* The values that a node is computed from: its operands; those of a call, of which its only operand is a chain. Returns their number. */
int krf__operands(const krf_graph *g, uint32_t id, uint32_t operands[KRF__MOST_DEFINED]);

krf_status krf__graph_init(krf_graph *g, krf_context *context);
void krf__graph_free(krf_graph *g); /* all but the struct itself */
void krf__graph_reset(krf_graph *g); /* forgets nodes, arrays and the error; keeps the memory */

/* Keeps the first error of the graph and returns poison. Also the thread's message. */
uint32_t krf__graph_fail(krf_graph *g, krf_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds a node as it is (no checks), or finds its equal. shape: node->rank extents; ints: node->n_ints numbers. 0 when out of memory (the error is set).
 * The pointers may point into the graph itself. */
uint32_t krf__graph_add(krf_graph *g, const krf__node *node, const int64_t *shape, const int64_t *ints);

/* Where the elements of a leaf, or of a node once it is stored (in C order), lie in their memory. */
krf__layout krf__memory_layout(const krf_graph *g, uint32_t id);

/* Every invariant: operands before users, shapes that follow from the operands', dtypes that the operation allows. NULL when all hold, else which does not (static text). */
const char *krf__graph_check(const krf_graph *g);

#endif
