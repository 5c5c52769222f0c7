/* A random graph as the fuzzer sees it: nodes, operands before users, over leaves that lie in blocks of memory. It
 * knows nothing of the library's own graphs; build.c makes those from it, oracle.c computes it, shrink.c makes it
 * smaller. */
#ifndef KRF_TESTS_FUZZ_GRAPH_H
#define KRF_TESTS_FUZZ_GRAPH_H

#include "ops/common.h"

enum { RANK = 8, MOST_NODES = 160, MOST_LEAVES = 10, MOST_OUTPUTS = 8, MOST_ARGS = 5, WHY = 4000 };

typedef enum node_kind {
    NODE_LEAF,
    NODE_SCALAR,
    NODE_RANGE,
    NODE_ELEMENTWISE,
    NODE_CAST,
    NODE_TRANSPOSE,
    NODE_SLICE,
    NODE_RESHAPE,
    NODE_STRETCH,
    NODE_EXPAND,
    NODE_SQUEEZE,
    NODE_FLIP,
    NODE_TAKE,
    NODE_ALONG,
    NODE_DIAGONAL,
    NODE_WINDOWS,
    NODE_ROLL,
    NODE_REPEAT,
    NODE_PAD,
    NODE_JOIN,
    NODE_STACK,
    NODE_SET_SLICE,
    NODE_SCAN,
    NODE_CALL,
    NODE_FOLD,
    NODE_FOLD_SCAN,
    NODE_REDUCE
} node_kind;

/* What must be known of a result without computing it. */
typedef struct facts {
    krf_dtype dtype;
    bool weak;
    bool real; /* not complex, or known to be real: its imaginary part is +0 and counts for nothing */
    int rank;
    int64_t shape[RANK], size;
} facts;

typedef struct node {
    node_kind kind;
    int op;         /* NODE_ELEMENTWISE: of op_name; NODE_REDUCE: of reduction_name; NODE_SCAN: of scan_name; NODE_PAD: the mode;
                       NODE_CALL, NODE_FOLD, NODE_FOLD_SCAN: a row of user.h */
    int result;     /* of these: which one */
    int args[MOST_ARGS]; /* nodes; NODE_LEAF: args[0] is the leaf */
    value scalar;   /* NODE_SCALAR: int64, double and c128 are weak, unless strong */
    bool strong;    /* NODE_SCALAR: of a dtype, a literal */
    bool literal;   /* NODE_SCALAR: printed into kernels, not an argument of them */
    krf_dtype to;   /* NODE_CAST */
    int n;          /* how many of the following there are */
    int axes[RANK]; /* NODE_TRANSPOSE, NODE_REDUCE, NODE_FOLD; NODE_EXPAND, NODE_SQUEEZE, NODE_FLIP, NODE_SCAN, NODE_FOLD_SCAN, and what moves: axes[0];
                       NODE_DIAGONAL: two; NODE_WINDOWS: n; NODE_ROLL: none where n is 0 */
    bool keepdims;
    krf_range ranges[RANK]; /* NODE_SLICE, NODE_SET_SLICE */
    int64_t extents[RANK];  /* NODE_RESHAPE, NODE_STRETCH, NODE_WINDOWS; NODE_RANGE, and counts, shifts, offsets: extents[0];
                               NODE_PAD: two */
    facts is;
} node;

/* What the elements of a block are, from the simplest on. */
typedef enum filling { FILL_SMALL, FILL_EVERYDAY, FILL_WIDE, FILL_LARGE, FILL_SPECIAL, FILLINGS } filling;

typedef struct block {
    krf_dtype dtype;
    int64_t count;
    filling fill;
} block;

/* Element (i0, i1, ...) is the block's element offset + sum(i_k * strides[k]). Leaves may share a block. */
typedef struct leaf {
    int block, rank;
    int64_t shape[RANK], strides[RANK], offset;
} leaf;

/* Where a result goes: new memory; memory with gaps between the elements, backwards; a leaf's own memory. */
typedef enum given { GIVEN_NOTHING, GIVEN_STRIDED, GIVEN_LEAF } given;

typedef struct output {
    int node;
    given how;
    int leaf;
} output;

typedef struct graph {
    uint64_t seed; /* of the values in blocks, and of the ways in which it is evaluated */
    int n_nodes, n_leaves, n_outputs;
    bool gradient; /* made by gradient.c */
    node nodes[MOST_NODES];
    leaf leaves[MOST_LEAVES];
    block blocks[MOST_LEAVES]; /* as many as there are leaves; some may be unused */
    output outputs[MOST_OUTPUTS];
} graph;

int node_arity(const node *n);

/* graph.c: marks what the outputs need. */
void graph_needed(const graph *g, bool *needed);
bool leaf_in_c_order(const leaf *x);
bool leaf_overlaps_itself(const leaf *x);

/* infer.c: the facts of every node; false where an operation is not defined for its operands, or a result has more than
 * `most` elements. */
bool graph_infer(graph *g, int64_t most);
bool node_infer(const graph *g, node *n);

/* Parts of it: the shape of both; a weak integer that is known must fit the integer dtype that it is computed in. */
bool broadcast(facts *to, const facts *x);
bool weak_fits(const graph *g, const node *n, krf_dtype compute);

/* The exponent of a power that is a chain of multiplications, in the dtype that it computes in; false when it is none. */
bool power_is_chain(const graph *g, const node *n, krf_dtype compute, int64_t *k);

/* inputs.c: the elements of a block. The rule needs the seed, the index of the block and its filling, nothing else. */
value block_element(const graph *g, int index, int64_t element);
void *block_memory(const graph *g, int index);
const char *filling_name(filling f);

/* generate.c: the graph of a seed. */
void generate(graph *g, uint64_t seed);

/* What is known of a failure. */
typedef struct report {
    char why[WHY];
} report;

__attribute__((format(printf, 2, 3))) bool fails(report *r, const char *format, ...); /* always false */

#endif
