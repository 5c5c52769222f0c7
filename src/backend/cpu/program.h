/* A kernel made ready for the interpreter: what to call for each instruction, and where every value lies. Made anew for
 * each call of the interpreter, which costs about a microsecond and keeps calls independent of one another. */
#ifndef KRF_BACKEND_CPU_PROGRAM_H
#define KRF_BACKEND_CPU_PROGRAM_H

#include "backend/cpu/loops.h"
#include "backend/cpu/strided.h"
#include "plan/kernel.h"

#define KRF__BLOCK_BYTES (KRF__LANES * 8) /* of a register: KRF__LANES elements of the widest dtype */
#define KRF__TREE_LEVELS 8                /* log2 of KRF__LANES */

/* The two groups of a kernel's dimensions. A block of elements runs along one of them. */
enum { KRF__KEPT, KRF__REDUCED };

/* How often a value changes: never, from one result to the next, or with every element of a block. */
enum { KRF__FIXED, KRF__PER_RESULT, KRF__PER_ELEMENT };

/* An array operand, without the dimensions whose extent is 1. Strides in elements. */
typedef struct krf__access {
    char *base;
    int bytes;
    bool store;
    bool counts;  /* lies in no memory: base is the offset, bytes 1, and so an element's address is its value */
    bool aliased; /* a load that overlaps a store, or the reverse */
    int64_t strides[2][KRF__MAX_KERNEL_DIMS];
    bool constant[2];   /* along the group all strides are 0 */
    bool contiguous[2]; /* along the group elements lie in C order without gaps */
} krf__access;

/* The value of an instruction. */
typedef struct krf__value {
    void *at;          /* its elements for the current block */
    void *home;        /* its register; NULL: none */
    uint64_t slot;     /* below KRF__PER_ELEMENT: the one element, in the lowest addresses */
    uint32_t last_use; /* instruction */
    uint32_t reg;      /* number of its register; KRF__NO_REGISTER */
    uint8_t level;     /* KRF__FIXED, ... */
    bool splatted;     /* below KRF__PER_ELEMENT: blocks need it, so it is repeated in a register of its own */
    bool stored;       /* a store takes it as it is */
    bool direct;       /* see krf__direct */
} krf__value;
#define KRF__NO_REGISTER UINT32_MAX

/* What is done for every block for one instruction. */
typedef struct krf__step {
    krf__loop *loop; /* NULL: load, fetch or store */
    uint32_t args[3], out;
    uint32_t access; /* load, fetch, store */
    bool copy;       /* load: never used in place */
    bool store, fetch;
} krf__step;

/* A value that is computed straight into the array it is stored in, where the block allows it; else into its register.
 */
typedef struct krf__direct {
    uint32_t value, access;
} krf__direct;

typedef struct krf__part {
    krf__step *steps;
    krf__direct *directs;
    uint32_t n_steps, n_directs;
} krf__part;

typedef struct krf__program {
    const krf__kernel *k;
    const krf__loops *loops;
    bool tall;     /* a reduction whose blocks run along the kept dimensions */
    bool prefetch; /* the operands are too large for the caches */
    int64_t block; /* elements of a register; KRF__LANES for reductions */

    int rank[2];
    int64_t extents[2][KRF__MAX_KERNEL_DIMS];
    int64_t index[2][KRF__MAX_KERNEL_DIMS]; /* of the current block's first element */

    krf__access *accesses; /* one for each operand */
    krf__value *values;    /* one for each instruction */
    krf__part domain, results;
    uint32_t *low[2], n_low[2]; /* instructions of level KRF__FIXED and KRF__PER_RESULT, in order */
    char *accumulators;         /* registers for the reductions, besides results: one each for each level of the tree */
    const uint64_t *scalars;

    krf__step *steps; /* memory */
    krf__direct *directs;
    uint32_t *lists;
    void *register_memory;
} krf__program;

/* Reads memory: fixed values are computed here. p is to be closed in any case. Errors: KRF_E_MEMORY; KRF_E_INTERNAL
 * where the kernel breaks its contract. */
krf_status krf__program_open(krf__program *p, const krf__kernel *k, void *const *pointers, const uint64_t *scalars,
                             bool tall);
void krf__program_close(krf__program *p);

/* Computes the values of a level below KRF__PER_ELEMENT for p->index; the next blocks have at most n elements. */
void krf__program_refresh(krf__program *p, int level, int64_t n);

/* Runs a part for n elements from p->index on, along a group. */
void krf__program_run(krf__program *p, const krf__part *part, int group, int64_t n);

#endif
