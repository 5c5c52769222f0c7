/* Whether two arrays have an element's memory in common, by their strides: columns of one matrix lie among each other and share nothing. */
#include "ir/array.h"
#include "ir/shape.h"

#define MOST_STEPS 4096 /* values tried; in nested strides a few for each term settle it */

/* stride * v for v from low to high. Strides are positive and descend, and no two are equal. */
typedef struct term {
    int64_t stride, low, high;
} term;

typedef struct equation {
    int n, steps;
    term terms[2 * KRF_MAX_RANK + 1];
    int64_t divisor[2 * KRF_MAX_RANK + 1];                                 /* of the strides from each term on */
    int64_t least[2 * KRF_MAX_RANK + 2], most[2 * KRF_MAX_RANK + 2]; /* of the sum from each term on */
} equation;

static void add_term(equation *e, int64_t stride, int64_t low, int64_t high) {
    if (stride < 0) {
        const int64_t turned = -low;
        stride = -stride, low = -high, high = turned;
    }
    int at = 0;
    while (at < e->n && e->terms[at].stride > stride) {
        at++;
    }
    if (at < e->n && e->terms[at].stride == stride) {
        e->terms[at].low += low;
        e->terms[at].high += high;
        return;
    }
    for (int i = e->n++; i > at; i--) {
        e->terms[i] = e->terms[i - 1];
    }
    e->terms[at] = (term){stride, low, high};
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Whether the terms from `at` on can sum to `wanted`. */
static bool solvable(equation *e, int at, int64_t wanted) {
    if (at == e->n) {
        return wanted == 0;
    }
    if (wanted < e->least[at] || wanted > e->most[at] || wanted % e->divisor[at] != 0) {
        return false;
    }
    const term *t = &e->terms[at];
    int64_t first = -floor_divide(e->most[at + 1] - wanted, t->stride), last = floor_divide(wanted - e->least[at + 1], t->stride);
    first = first > t->low ? first : t->low;
    last = last < t->high ? last : t->high;
    for (int64_t v = first; v <= last && e->steps > 0; v++) {
        e->steps--;
        if (solvable(e, at + 1, wanted - v * t->stride)) {
            return true;
        }
    }
    return false;
}

static void add_axes(equation *e, const krf_array *a, int64_t sign) {
    const int64_t item = (int64_t)krf_dtype_size(a->dtype);
    for (int i = 0; i < a->rank; i++) {
        if (a->shape[i] > 1 && a->strides[i] != 0) {
            add_term(e, sign * a->strides[i] * item, 0, a->shape[i] - 1);
        }
    }
}

bool krf__arrays_share(const krf_array *a, const krf_array *b) {
    equation e = {.steps = MOST_STEPS};
    if (!krf__arrays_overlap(a, b)) {
        return false;
    }
    add_axes(&e, a, 1);
    add_axes(&e, b, -1);
    add_term(&e, 1, 1 - (int64_t)krf_dtype_size(b->dtype), (int64_t)krf_dtype_size(a->dtype) - 1); /* any byte of either element */
    for (int i = e.n - 1; i >= 0; i--) {
        const term *t = &e.terms[i];
        e.divisor[i] = i + 1 < e.n ? krf__common_divisor(t->stride, e.divisor[i + 1]) : t->stride;
        e.least[i] = e.least[i + 1] + t->low * t->stride;
        e.most[i] = e.most[i + 1] + t->high * t->stride;
    }
    return solvable(&e, 0, (int64_t)((intptr_t)b->data - (intptr_t)a->data));
}
