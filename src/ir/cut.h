/* Reductions over many elements by parts of some thousand, of which a device holds one while it goes over it several times: one of the reduced axes becomes two, parts and elements of a part. What a part
 * comes to keeps its axis, so that a second reduction takes it from there. Where the axis does not come in whole parts, a shorter one is left, which is a piece of its own. */
#ifndef KRF_IR_CUT_H
#define KRF_IR_CUT_H

#include "ir/build_composed.h"

typedef struct krf__piece {
    int64_t from, to, parts; /* of the axis: so many parts of one length */
    int64_t size;            /* elements that become one, over all axes */
    int n_inner, inner[KRF_MAX_RANK]; /* the axes that are reduced within parts, of what is cut */
} krf__piece;

typedef struct krf__cut {
    int axis; /* becomes axis and axis + 1 */
    int n_pieces, n_all;
    int all[KRF_MAX_RANK]; /* the axes that are reduced, of what is cut */
    krf__piece piece[2];
} krf__cut;

/* How to cut a node into parts of `target` elements at most, and an eighth of that at least; in_vectors: rather into such as leave no elements over than into whole chunks. false: it cannot be. */
bool krf__cut_of(krf_graph *g, uint32_t x, const krf__axes *axes, int64_t target, bool in_vectors, krf__cut *cut);

/* A piece of a node that is as long as the one asked about along the axis that is cut. */
uint32_t krf__cut_out(krf_graph *g, const krf__cut *cut, int piece, uint32_t x);

/* What all elements of a part come to, and all parts of a piece: nothing more where that is one part. Reduced axes stay. */
uint32_t krf__cut_inner(krf_graph *g, const krf__cut *cut, int piece, krf__op op, uint32_t x);
uint32_t krf__cut_outer(krf_graph *g, const krf__cut *cut, int piece, krf__op op, uint32_t x);

#endif
