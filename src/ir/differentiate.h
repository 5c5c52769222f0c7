/* What both directions of differentiation share (grad.c, jvp.c): which nodes depend on a variable, and by which of their operands; derivatives of elementwise functions, called ones among them; what is said
 * where there is none. */
#ifndef KRF_IR_DIFFERENTIATE_H
#define KRF_IR_DIFFERENTIATE_H

#include "ir/build.h"

typedef struct krf__differentiating {
    krf_graph *g;
    const char *name;
    size_t n;         /* nodes that were there before */
    uint8_t *depends; /* on a variable: KRF__VARIABLE, or its operands do */
    uint32_t *found;  /* reverse: the first contribution to a node; forward: its tangent */
} krf__differentiating;

enum { KRF__INDEPENDENT, KRF__DEPENDENT, KRF__VARIABLE };

/* y by the values by[k]. False with an error in the graph; krf__differentiating_end is due all the same. */
bool krf__differentiating_begin(krf__differentiating *d, krf_graph *g, const char *name, uint32_t y, int n, const uint32_t *by);
void krf__differentiating_end(krf__differentiating *d);

/* Whether a node depends on a variable by its operand x, number `operand`. */
bool krf__depends_by(const krf__differentiating *d, uint32_t id, int operand, uint32_t x);

/* krf__derive, of calls of what users define too. */
uint32_t krf__derive_elementwise(krf_graph *g, uint32_t id, int operand, const uint32_t *operands, uint32_t G, bool forward);

/* A gradient or a tangent, which broadcasts to the shape of a node, in that shape. */
uint32_t krf__derivative_whole(krf_graph *g, uint32_t x, uint32_t id);

/* The error that a node has no known derivative. */
void krf__derivative_unknown(const krf__differentiating *d, uint32_t id);

#endif
