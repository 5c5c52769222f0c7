/* Takes become gathers: a view of a leaf that is constant along the places' axes, and how many elements to go on from there, which is the place times the
 * leaf's stride along the axis. */
#include "pass/lower_take.h"

#include "pass/interval.h"
#include "pass/lower_known.h"

#include <string.h>

static uint32_t call(krf__lowering *l, krf__op op, uint32_t x, uint32_t y) { return krf__lower_build(l, op, 2, (uint32_t[]){x, y}); }

/* Negative places count from the end; what lies beyond an end becomes the end. */
static uint32_t inside(krf__lowering *l, uint32_t place, int64_t extent) {
    const krf__interval all = krf__interval_of(l->out, place);
    if (all.low < 0) {
        uint32_t negative = call(l, KRF__less, place, krf__lower_number(l, 0)), from_end = call(l, KRF__add, place, krf__lower_number(l, extent));
        place = krf__lower_build(l, KRF__where, 3, (uint32_t[]){negative, from_end, place});
    }
    place = all.low < -extent ? call(l, KRF__maximum, place, krf__lower_number(l, 0)) : place;
    return all.high >= extent ? call(l, KRF__minimum, place, krf__lower_number(l, extent - 1)) : place;
}

uint32_t krf__lower_places(krf__lowering *l, uint32_t take) {
    const krf__node *n = krf__node_of(l->in, take);
    const int64_t extent = krf__shape_of(l->in, n->args[0])[krf__ints_of(l->in, take)[0]];
    const uint32_t place = l->map[n->args[1]];
    return extent > 1 ? inside(l, place, extent) : place;
}

/* The leaf's layout with strides of 0 where the places lead. */
static krf__layout fixed(const krf__lowering *l, const krf__change *change, const krf__layout *in) {
    const krf__node *take = krf__node_of(l->in, change->node);
    const int axis = (int)krf__ints_of(l->in, change->node)[0], added = take->rank - in->rank;
    krf__layout out = {.rank = take->rank, .offset = in->offset};
    memcpy(out.shape, krf__shape_of(l->in, change->node), (size_t)out.rank * sizeof *out.shape);
    for (int i = 0; i < in->rank; i++) {
        int to = i > axis ? i + added : i;
        if (i != axis) {
            out.strides[to] = in->shape[i] == 1 ? 0 : in->strides[i];
        }
    }
    return out;
}

/* What lies at places that go on by strides: the view with those strides besides its own. */
static uint32_t strided(krf__lowering *l, uint32_t view, const krf__layout *steps) {
    const krf__layout own = krf__memory_layout(l->out, view);
    krf__layout out = {.offset = own.offset + steps->offset};
    krf__shape_broadcast(own.rank, own.shape, steps->rank, steps->shape, &out.rank, out.shape);
    for (int i = 0; i < own.rank; i++) {
        out.strides[i + out.rank - own.rank] += own.shape[i] == 1 ? 0 : own.strides[i];
    }
    for (int i = 0; i < steps->rank; i++) {
        out.strides[i + out.rank - steps->rank] += steps->shape[i] == 1 ? 0 : steps->strides[i];
    }
    return krf__lower_view(l, view, &out);
}

uint32_t krf__lower_gather(krf__lowering *l, uint32_t view, uint32_t further) {
    const krf__node *v = krf__node_of(l->out, view);
    if (krf__node_of(l->out, v->args[0])->op == KRF__iota) {
        return call(l, KRF__add, view, further); /* an element is its own place */
    }
    krf__layout steps;
    if (krf__lower_strided(l->out, further, &steps)) {
        return strided(l, view, &steps);
    }
    krf__node node = {.op = KRF__gather, .dtype = v->dtype, .args = {view, further}};
    int rank;
    int64_t shape[KRF_MAX_RANK];
    krf__shape_broadcast(v->rank, krf__shape_of(l->out, view), krf__node_of(l->out, further)->rank, krf__shape_of(l->out, further), &rank, shape);
    node.rank = (uint8_t)rank;
    return krf__lower_add(l, &node, shape, NULL);
}

uint32_t krf__lower_taken(krf__lowering *l, krf__change *change, uint32_t leaf, const krf__layout *layout) {
    const int64_t axis = krf__ints_of(l->in, change->node)[0];
    const krf__layout out = fixed(l, change, layout);
    /* An empty view of a constant may have strides, but no memory to gather from. */
    const bool one_place = layout->shape[axis] == 1 || krf__shape_size(out.rank, out.shape) == 0;
    const int64_t stride = one_place ? 0 : layout->strides[axis];
    uint32_t view = krf__lower_view(l, leaf, &out);
    if (stride == 0 || view == 0) {
        return view;
    }
    if (change->stride != stride) {
        change->further = stride == 1 ? change->places : call(l, KRF__multiply, change->places, krf__lower_number(l, stride));
        change->stride = stride;
    }
    return change->further != 0 ? krf__lower_gather(l, view, change->further) : 0;
}
