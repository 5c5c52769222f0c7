/* What values of a lowered graph are made of. */
#ifndef KRF_PASS_UNDER_H
#define KRF_PASS_UNDER_H

#include "ir/graph.h"

#define KRF__MOST_UNDER 512 /* computed nodes that are listed */

typedef struct krf__under {
    uint32_t computed[KRF__MOST_UNDER], leaves[3 * KRF__MOST_UNDER + 1]; /* each once */
    uint32_t n_computed, n_leaves;
} krf__under;

/* Whether a node lies in memory, or is a number or a range: nothing under it is computed by kernels that read it. */
bool krf__lies_there(const krf_graph *g, uint32_t id);

/* Lists the nodes under some roots, each before what it is made of where that has no other user, the roots first; false: more than `most` are computed, KRF__MOST_UNDER at most, or more leaves read than there is room for. */
bool krf__find_under(const krf_graph *g, uint32_t n_roots, const uint32_t *roots, uint32_t most, krf__under *found);

/* The same down to what else is to count as lying there, by `stops`; `of` is for that. */
bool krf__find_above(const krf_graph *g, uint32_t n_roots, const uint32_t *roots, uint32_t most, bool (*stops)(const void *of, uint32_t id), const void *of, krf__under *found);

#endif
