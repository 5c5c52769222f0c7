/* The passes, graph in, graph out, in the order in which krf__pipeline runs them; and fuse, which cuts the last graph into groups. */
#ifndef KRF_PASS_PASS_H
#define KRF_PASS_PASS_H

#include "ir/graph.h"

/* How much a kernel may hold and what may share one. No result depends on it: tests evaluate graphs under many, and who looks for a fault
 * switches fusion off (KRF_FUSION). */
typedef struct krf__limits {
    uint32_t operations; /* elementwise operations and reductions of a kernel; 1: each is a kernel of its own */
    uint32_t fields;     /* 8-byte arguments of a kernel, see plan/kernel.h */
    uint32_t results;    /* reductions of a kernel; values that a map stores */
    uint32_t reductions; /* of a kernel; more join it only where they share what they compute */
    uint32_t repeated;   /* operations that are computed again under a view or a take (times how often these use an element); more are stored, and read */
    uint32_t row;      /* elements of 4 bytes, of all arrays that several rounds of a kernel read, in a row; 0: kernels have one round */
    uint32_t columns;  /* elements of such a row, where rows lie side by side in memory as columns do; 0: their kernels have one round */
    uint32_t unrolled; /* elements of a reduction that is written out as elementwise operations; 0: none but small windows */
    uint32_t columns_unrolled; /* the same where the elements of many results lie side by side in memory */
    uint32_t chunk;    /* elements of a long row that one thread takes, or a warp of a GPU, where their order makes no difference and there are rows enough; less than the canonical tree's: those */
    uint32_t vectors;  /* 1: threads move 16 bytes at once, or what lies in shared memory, where operands allow it, which kernels then say; compilers of C see to that themselves */
    uint32_t loose;    /* bytes of an element, at most, of which threads move 16 at once where rows begin anywhere in memory; 0: one at a time there */
    uint32_t whole;    /* 1: reductions of whole tiles only have kernels of their own, in which nothing asks whether an element is inside */
    uint32_t teams;    /* 1: reductions of what takes long are shared by several warps a chunk */
    uint32_t strips;   /* 1: threads of maps that need rows of an array again and again, as stencils do, keep them */
    uint32_t held;     /* 1: blocks have rows in shared memory where that is faster */
    uint32_t outer;    /* 1: threads that share short rows share several results where operands are each the same along one of two dimensions of these */
    uint32_t spread;   /* elements of each of a handful of results beside one another, from which on their reductions are several of one result each; 0: never */
    uint32_t recur;    /* elements of a map, from which on what is the same in all rows stays with threads of a GPU (plan/period.c); 0: of all */
    uint32_t flat;     /* columns, at most, whose rows are taken as one stretch of memory (plan/flat_columns.c); 0: none */
    uint32_t literal;  /* elements of a short row whose length stands in its kernel's text; 0: kernels serve all lengths */
    uint32_t literal_from; /* elements of all rows, of which reductions alone have their length in the text: of fewer all lengths share kernels */
    uint32_t narrow_from; /* elements of all results in short rows, from which on strips of them go on over the ends of rows */
    uint32_t beside;   /* elements of a short row of which many go through a kernel side by side: the longer ones have kernels of their own */
    uint32_t walk;     /* columns of a scan, from which on blocks of a GPU go down each to its end; of what is not 4 bytes wide a quarter; 0: all do */
    uint32_t pairs;    /* tiles of a scan of rows, from which on blocks of a GPU have two of them; 0: all do */
    uint32_t relay;    /* elements of a chunk, of a reduction that stores elements as well, from which on warps of a GPU share it, and a block has one at once if it may; 0: of all */
    uint32_t again;    /* elements of a chunk, of a reduction that reads memory again that it read a while before, from which on warps of a GPU share it; 0: of all */
    uint32_t widen;    /* bytes of a reduction down columns that are no whole words of a thread, from which on rows of it are taken together; 0: of all */
    uint32_t blocks;   /* of a kernel of columns, that are enough: where there would be fewer, they have fewer columns each; 0: never */
    uint32_t tables;   /* elements, from which on what takes long and is made of one byte comes from a table of its values; 0: never */
    uint32_t early;    /* 1: kernels of plans of several may begin before the one that they depend on has ended, and wait for it themselves */
    uint32_t prologue, epilogue; /* 0: reductions take nothing with them of what comes before, or after */
    uint32_t many_threads; /* 1: a GPU; of the device, no setting */
} krf__limits;

extern const krf__limits krf__default_limits;

/* What a block of a GPU keeps of a row, in elements of 4 bytes: half of a multiprocessor's registers. Where the limit is higher, blocks may share a row. */
#define KRF__ROW_BLOCK 32768

/* The most elements of rows side by side. */
#define KRF__ROW_BESIDE 32

/* "off": no fusion at all. Else the fields above by name, "operations=8,results=1"; the others as by default. NULL: all by default. False for
 * anything else. */
bool krf__limits_parse(const char *text, krf__limits *limits);

/* Limits for a device whose kernels keep rows of at most that many elements of 4 bytes; with many threads reductions over few elements are written out, with few threads those of columns; long rows
 * are shared, whole tiles have kernels of their own, and kernels may begin early. */
void krf__limits_of_device(krf__limits *limits, uint32_t row, uint32_t blocks, bool many_threads);

/* Copies what the outputs need, numbered depth-first from them: the same expression gives the same graph whatever order it was built in. Inputs are numbered
 * by first use; placeholders keep their places. Every pass initialises *out, rewrites outputs (n ids), and frees *out on failure. */
krf_status krf__canon(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out);

/* An input, a placeholder or a raw kernel of `in`, in a graph that krf__canon made of it; false: it is none of these. *copy is 0 where memory ran out. */
bool krf__copy_leaf(const krf_graph *in, uint32_t id, krf_graph *out, uint32_t *copy);

/* Makes two real nodes of every complex one; outputs of complex dtype become complex_of nodes over both. krf__has_complex: whether there is
 * anything to do. */
krf_status krf__split(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out);
bool krf__has_complex(const krf_graph *g);

/* Computes exactly rounded operations over constants, replaces reductions over no elements by their value, and mean by sum / count. */
krf_status krf__fold(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out);

/* Lets elements that take long and are made of one byte come from a table of such values. krf__has_bytes: whether there are bytes enough. */
krf_status krf__tables(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out);
bool krf__has_bytes(const krf_graph *g, const krf__limits *limits);

/* On a device with many threads: makes reductions down columns that are no whole words, of which any order will do, such of whole words, and others over what these came to. krf__has_columns: whether there may be any. */
krf_status krf__widen(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out);
bool krf__has_columns(const krf_graph *g, const krf__limits *limits);

/* Resolves views into strided `view` nodes over leaves, or over nodes that will be stored, takes into `gather` nodes over these, and reductions over small
 * windows or few elements into elementwise nodes. */
krf_status krf__lower(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out);

/* Computes in 32 bits what is made of places, and is known to have room there. krf__has_places: whether there are any. */
krf_status krf__narrow(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out);
bool krf__has_places(const krf_graph *g);

/* All of them in order. out: the lowered graph. */
krf_status krf__pipeline(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out);

/* The most words of accumulators in a kernel where one has several: a block has 256 of each in shared memory. */
#define KRF__MOST_WORDS 20

/* The most groups that become one kernel. */
#define KRF__MOST_ROUNDS 8

/* A kernel to be: a domain, reductions over some of its axes, and the nodes whose values it stores. */
typedef struct krf__group {
    uint32_t step;            /* groups of one step do not depend on each other, only on earlier steps */
    uint32_t domain;          /* the node whose shape is the domain */
    bool raw;                 /* the launch of a raw kernel, which is `domain`; roots are those of its results that are used */
    int64_t mask;             /* reduced axes, or the axis that is scanned; 0 for a map */
    bool scan;                /* reductions are scans: results have the domain's shape */
    uint32_t *reductions, n_reductions;
    uint32_t *roots, n_roots; /* what is stored: map: nodes of the domain's shape; else reductions and nodes over them */
    uint32_t *elements, n_elements; /* beside reductions: nodes of the domain's shape that are stored as well */
    uint32_t operations, fields; /* upper bounds, see fuse.c; and what of them belongs to nodes over the reductions */
    uint32_t epilogue_operations, epilogue_fields;
    uint32_t words;           /* of accumulators: what users reduce with may have several */
    uint32_t rounds;          /* groups from this one on that are one kernel; 0: it is a later round of an earlier one's */
    const char *cut;
} krf__group;

typedef struct krf__fusion {
    krf__group *groups; /* in an order in which they can run */
    size_t n_groups;
    bool *stored;       /* of each node: whether a group stores its value in memory */
    bool *inner;        /* of each node: whether later rounds of the kernel that computes it use it */
    uint32_t *group_of; /* of each node: 1 + the group whose root it is, 0 for none. Groups of later steps, and later rounds, read it; others compute it again */
} krf__fusion;

krf_status krf__fuse(const krf_graph *g, int n, const uint32_t *outputs, const krf__limits *limits, krf__fusion *out);
void krf__fusion_free(krf__fusion *f);

/* Parts of fuse. delay.c: reductions wait for those of a later step over the same elements, where both read the same. steps: of the nodes. rows.c: makes groups that follow one another over the rows of one domain the rounds of one kernel, and places them side by side. */
krf_status krf__fuse_delay(const krf_graph *g, const krf__limits *limits, const uint32_t *steps, krf__fusion *f);
krf_status krf__fuse_rows(const krf_graph *g, int n, const uint32_t *outputs, const krf__limits *limits, krf__fusion *f);
krf_status krf__fusion_append(uint32_t **list, uint32_t *n, uint32_t id); /* of the lists of a group */
void krf__fusion_number(const krf_graph *g, krf__fusion *f); /* sets group_of from the groups' roots */

#endif
