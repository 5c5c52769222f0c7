/* Buffers of a plan that is being made. */
#include "plan/planning.h"

uint32_t krf__plan_add_buffer(krf__planning *p, krf__buffer_kind kind, uint32_t index, uint32_t node) {
    krf__plan_data *plan = p->plan;
    const krf__node *n = krf__node_of(p->g, node);
    plan->buffers[plan->n_buffers] = (krf__buffer){.kind = kind, .index = index, .dtype = n->dtype, .first = UINT32_MAX,
                                                   .size = krf__shape_size(n->rank, krf__shape_of(p->g, node))};
    return ++plan->n_buffers;
}

void krf__plan_use_buffer(krf__planning *p, uint32_t group, uint32_t buffer) {
    krf__buffer *m = &p->plan->buffers[buffer];
    m->first = group < m->first ? group : m->first;
    m->last = group > m->last ? group : m->last;
}
