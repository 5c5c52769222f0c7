/* What the files of the pass `lower` share. Nobody else includes this. */
#ifndef KRF_PASS_LOWER_H
#define KRF_PASS_LOWER_H

#include "ir/build.h"

/* The most operations that can be repeated under a change, whatever the limit says. */
#define KRF__MOST_REPEATED 64

/* What must be known of a node besides itself. */
typedef struct krf__trait {
    bool reduces; /* depends on a reduction */
    bool number;  /* a constant or a scalar */
    bool places;  /* made of ranges and numbers alone */
    bool windows; /* has windows for axes */
} krf__trait;

typedef struct krf__lowering {
    const krf_graph *in;
    krf_graph *out;
    uint32_t *map;     /* of in's nodes */
    krf__trait *traits; /* of out's nodes */
    size_t traits_capacity;
    int64_t *largest;  /* of in's nodes: the elements of the largest one that is made of it; [0]: of the largest output */
    int64_t unrolled;  /* see krf__limits */
    int repeated;      /* a computation of more operations is stored rather than repeated */
} krf__lowering;

/* What computations are repeated under: a view, a take, more axes, or one place of some axes. */
typedef struct krf__change {
    uint32_t node;     /* of in: the view or the take; 0 for neither */
    int more;          /* axes of extent 1 behind the others */
    int64_t mask;      /* axes of which one place is left */
    const int64_t *at; /* that place, for each axis */
    bool keepdims;     /* they stay with extent 1 */
    /* takes: */
    uint32_t places;   /* of out: in the axis, aligned with the result */
    int64_t stride;    /* of the last leaf, and how many elements to go on for it; 0: none yet */
    uint32_t further;
} krf__change;

static inline bool krf__lower_takes(const krf__lowering *l, const krf__change *change) {
    krf__op op = krf__node_of(l->in, change->node)->op;
    return op == KRF__take || op == KRF__take_along_axis;
}

/* lower.c */
uint32_t krf__lower_add(krf__lowering *l, const krf__node *node, const int64_t *shape, const int64_t *ints);
uint32_t krf__lower_build(krf__lowering *l, krf__op op, int n, const uint32_t *args);
uint32_t krf__lower_number(krf__lowering *l, int64_t value); /* an argument of the kernel, or a literal where compilers make something of it */
uint32_t krf__lower_view(krf__lowering *l, uint32_t base, const krf__layout *layout);

/* lower_under.c. The value of out's node `base` under a change: repeated, or read from where it is stored. */
uint32_t krf__lower_under(krf__lowering *l, krf__change *change, uint32_t base);

/* lower_unit.c. A reshape (of `in`) that adds or drops reduced axes of the value `base` of out, without a view of memory; 0 without an error where it does
 * something else. */
uint32_t krf__lower_unit(krf__lowering *l, uint32_t node, uint32_t base);

/* Whether what `base` is made of is at most `most` operations, none of them a reduction. */
bool krf__lower_small(const krf__lowering *l, uint32_t base, int most);

/* A value of out with more axes of extent 1 behind its own. */
uint32_t krf__lower_widened(krf__lowering *l, uint32_t base, int more);

/* lower_take.c. Finds the places; false when out of memory. */
bool krf__lower_places(krf__lowering *l, krf__change *change);

/* A leaf, or what is stored, under a take: its layout has the rank of what is taken from. */
uint32_t krf__lower_taken(krf__lowering *l, krf__change *change, uint32_t leaf, const krf__layout *layout);

/* lower_window.c. A reduction (of `in`) over small windows or few elements as elementwise operations; 0 where it is none, or out of memory. */
uint32_t krf__lower_windows(krf__lowering *l, uint32_t reduction);

/* lower_raw.c. The operand x (of out) of a raw_argument node (of `in`). */
uint32_t krf__lower_argument(krf__lowering *l, uint32_t argument, uint32_t x);

/* The elements of x in C order, in memory of their own once they are stored. own: not 0 where nobody may share it. */
uint32_t krf__lower_copy(krf__lowering *l, uint32_t x, int64_t own);

/* Output k as it can be stored: a raw kernel writes into one place, others get a copy. */
uint32_t krf__lower_result(krf__lowering *l, int k, const uint32_t *outputs);

/* Elements of a gather's view, and more. */
uint32_t krf__lower_gather(krf__lowering *l, uint32_t view, uint32_t further);

#endif
