/* The graph that `lower` is making, and what its parts need to know of it. Nobody else includes this. */
#ifndef KRF_PASS_LOWERING_H
#define KRF_PASS_LOWERING_H

#include "ir/build.h"

/* The most operations that can be repeated under a change, whatever the limit says. */
#define KRF__MOST_REPEATED 64

/* What must be known of a node besides itself. */
typedef struct krf__trait {
    bool reduces; /* depends on a reduction */
    bool number;  /* a constant or a scalar */
    bool places;  /* made of ranges and numbers alone */
    bool windows; /* has windows for axes */
    bool apart;   /* neighbours of the last axis do not lie beside one another in memory */
} krf__trait;

typedef struct krf__lowering {
    const krf_graph *in;
    krf_graph *out;
    uint32_t *map;     /* of in's nodes */
    krf__trait *traits; /* of out's nodes */
    size_t traits_capacity;
    int64_t *largest;  /* of in's nodes: the elements of the largest one that is made of it; [0]: of the largest output */
    bool *rounds;      /* of in's nodes: a reduction of it, or of what is made of it alone, comes back to something larger */
    int64_t unrolled, columns_unrolled; /* see krf__limits */
    bool many_threads; /* a GPU */
    int repeated;      /* a computation of more operations is stored rather than repeated */
} krf__lowering;

/* What computations are repeated under: a view, a take, more axes, one place of some axes, or a part of one. */
typedef struct krf__change {
    uint32_t node;     /* of in: the view or the take; 0 for neither */
    int more;          /* axes of extent 1 behind the others */
    int64_t mask;      /* axes of which one place is left */
    const int64_t *at; /* that place, for each axis */
    bool keepdims;     /* they stay with extent 1 */
    int cut;           /* 1 + the axis of which a part is left, from `first` on; 0: none */
    int64_t first, extent;
    /* takes: */
    uint32_t places;   /* of out: in the axis, aligned with the result */
    int64_t stride;    /* of the last leaf, and how many elements to go on for it; 0: none yet */
    uint32_t further;
} krf__change;

static inline bool krf__lower_takes(const krf__lowering *l, const krf__change *change) {
    krf__op op = krf__node_of(l->in, change->node)->op;
    return op == KRF__take || op == KRF__take_along_axis;
}

uint32_t krf__lower_add(krf__lowering *l, const krf__node *node, const int64_t *shape, const int64_t *ints);
uint32_t krf__lower_build(krf__lowering *l, krf__op op, int n, const uint32_t *args);
uint32_t krf__lower_number(krf__lowering *l, int64_t value); /* an argument of the kernel, or a literal where compilers make something of it */
uint32_t krf__lower_input(krf__lowering *l, krf_array *array);
uint32_t krf__lower_raw_kernel(krf__lowering *l, struct krf__raw *raw);
uint32_t krf__lower_view(krf__lowering *l, uint32_t base, const krf__layout *layout);

#endif
