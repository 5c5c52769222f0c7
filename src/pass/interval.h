/* Between which numbers the integers of an expression lie: decides whether places need to be brought into an axis. */
#ifndef KRF_PASS_INTERVAL_H
#define KRF_PASS_INTERVAL_H

#include "ir/graph.h"

typedef struct krf__interval {
    int64_t low, high; /* both included */
} krf__interval;

/* For a node of a lowered graph whose dtype is an integer, or bool. Values of scalar nodes count: a graph that is lowered with other values may
 * become another graph. What is not known is all of the dtype. */
krf__interval krf__interval_of(const krf_graph *g, uint32_t id);

/* The same where those of its operands are known. */
krf__interval krf__interval_from(const krf_graph *g, uint32_t id, const krf__interval operands[3]);

#endif
