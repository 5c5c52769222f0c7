/* What the files that compose reductions share (build_composed.c): an operation over nodes of their graph, a reduction over their axes, which stay, and what is asked of an operand. */
#ifndef KRF_IR_COMPOSING_H
#define KRF_IR_COMPOSING_H

#include "ir/build_composed.h"

typedef struct krf__composing {
    krf_graph *g;
    const krf__axes *axes;
    krf__composed which;
    const char *name; /* its own, for messages */
} krf__composing;

static inline uint32_t composed1(const krf__composing *c, krf__op op, uint32_t x) { return krf__build(c->g, op, 1, (uint32_t[]){x}); }
static inline uint32_t composed2(const krf__composing *c, krf__op op, uint32_t x, uint32_t y) { return krf__build(c->g, op, 2, (uint32_t[]){x, y}); }
static inline uint32_t composed_where(const krf__composing *c, uint32_t x, uint32_t y, uint32_t z) {
    return krf__build(c->g, KRF__where, 3, (uint32_t[]){x, y, z});
}
static inline uint32_t composed_reduce(const krf__composing *c, krf__op op, uint32_t x) {
    return krf__build_reduce(c->g, op, x, c->axes->n, c->axes->of, true);
}
static inline krf_dtype composed_dtype(const krf__composing *c, uint32_t x) { return (krf_dtype)krf__node_of(c->g, x)->dtype; }
/* abs(x)**2 without the root. */
static inline uint32_t composed_squared(const krf__composing *c, uint32_t x) {
    if (x == 0 || !krf__is_complex(composed_dtype(c, x))) {
        return composed2(c, KRF__multiply, x, x);
    }
    uint32_t re = composed1(c, KRF__real_part, x), im = composed1(c, KRF__imag_part, x);
    return composed2(c, KRF__add, composed2(c, KRF__multiply, re, re), composed2(c, KRF__multiply, im, im));
}
static inline uint32_t composed_number(const krf__composing *c, double value) { return krf__build_real(c->g, value, true); }

/* Whether the last axis of more than one element is as long as before. */
static inline bool keeps_last_axis(const krf__composing *c, uint32_t x, uint32_t reduced) {
    int last = krf__node_of(c->g, x)->rank - 1;
    while (last > 0 && krf__shape_of(c->g, x)[last] == 1) {
        last--;
    }
    return last >= 0 && krf__shape_of(c->g, reduced)[last] == krf__shape_of(c->g, x)[last];
}

uint32_t krf__compose_variance(const krf__composing *c, uint32_t x, double ddof);  /* build_variance.c */
uint32_t krf__compose_place(const krf__composing *c, krf__op op, uint32_t x); /* build_place.c; op: max or min */

#endif
