/* Stores of what leaves a kernel. */
#include "plan/building.h"

#include "base/fail.h"

#include <string.h>

static krf_status add_store_of(building *b, uint32_t value_of, bool half, uint32_t buffer, const krf__layout *layout) {
    krf__operand o;
    memset(&o, 0, sizeof o);
    o.half = half;
    o.dtype = krf__node_of(b->p->g, value_of)->dtype;
    o.store = true;
    o.buffer = buffer;
    krf__set_strides(b, &o, layout);
    krf__use_buffer(b, buffer);
    uint32_t slot = krf__add_operand(b, &o), value = b->p->instr_of[value_of] - 1;
    krf__instr instr = {.op = KRF__store, .dtype = o.dtype, .from = o.dtype, .args = {value}, .slot = slot};
    return slot == UINT32_MAX || krf__add_instr(b, instr) == UINT32_MAX ? krf__fail_memory() : KRF_OK;
}

/* Results of two: both halves of complex numbers, every second element of memory each, or what was joined, which lies one after the other along an axis. */
static bool is_of_two(const krf__node *n) { return n->op == KRF__complex_of || n->op == KRF__joined; }

static krf__layout half_of(const building *b, uint32_t id, const krf__layout *whole, int k) {
    krf__layout layout = *whole;
    if (krf__node_of(b->p->g, id)->op == KRF__joined) {
        const int axis = (int)krf__ints_of(b->p->g, id)[0];
        const int64_t first = krf__shape_of(b->p->g, krf__node_of(b->p->g, id)->args[0])[axis];
        layout.shape[axis] = k == 0 ? first : layout.shape[axis] - first;
        layout.offset += k == 0 ? 0 : first * layout.strides[axis];
        return layout;
    }
    for (int i = 0; i < layout.rank; i++) {
        layout.strides[i] *= 2;
    }
    layout.offset = k;
    return layout;
}

static krf_status add_stores(building *b, uint32_t id, bool half, uint32_t buffer, const krf__layout *layout) {
    const krf__node *n = krf__node_of(b->p->g, id);
    krf_status status = KRF_OK;
    if (!is_of_two(n)) {
        return add_store_of(b, id, half, buffer, layout);
    }
    for (int k = 0; k < 2 && status == KRF_OK; k++) {
        const krf__layout part = half_of(b, id, layout, k);
        status = add_stores(b, n->args[k], n->op == KRF__complex_of, buffer, &part);
    }
    return status;
}

static krf_status add_store(building *b, uint32_t id, uint32_t buffer, const int64_t *strides) {
    krf__layout layout = krf__layout_c(krf__node_of(b->p->g, id)->rank, krf__shape_of(b->p->g, id));
    if (strides != NULL) {
        memcpy(layout.strides, strides, (size_t)layout.rank * sizeof *strides);
    }
    return add_stores(b, id, false, buffer, &layout);
}

/* What a stored node is made of: of two, which may stand in the graph before it. */
krf_status krf__add_root(building *b, uint32_t id) {
    const krf__node *n = krf__node_of(b->p->g, id);
    krf_status status = is_of_two(n) ? krf__add_root(b, n->args[0]) : krf__add_value(b, id);
    return is_of_two(n) && status == KRF_OK ? krf__add_root(b, n->args[1]) : status;
}

/* Instructions that store a root: in every output it is, in a temporary where other kernels read it and no output in C order holds it, and for later rounds. */
krf_status krf__store_root(building *b, uint32_t id) {
    krf__planning *p = b->p;
    krf_status status = KRF_OK;
    const krf__buffer *own = p->memory_of[id] != 0 ? &p->plan->buffers[p->memory_of[id] - 1] : NULL;
    for (int k = 0; status == KRF_OK && k < p->n_outputs; k++) {
        if (p->outputs[k] == id) {
            const int64_t *const *all = p->options->output_strides;
            status = add_store(b, id, (uint32_t)k, all != NULL ? all[k] : NULL); /* outputs are the first buffers */
        }
    }
    const bool lent = own != NULL && own->kind == KRF__BUFFER_OUTPUT && p->outputs[own->index] != id; /* what a raw kernel goes on with, where its result is to be */
    if (status == KRF_OK && own != NULL && (own->kind == KRF__BUFFER_TEMPORARY || lent)) {
        status = add_store(b, id, p->memory_of[id] - 1, NULL);
    }
    if (status == KRF_OK && p->fusion->inner[id]) {
        uint32_t value = p->instr_of[id] - 1;
        p->inner_of[id] = ++b->k->n_inner;
        uint8_t dtype = krf__node_of(p->g, id)->dtype;
        uint32_t slot = krf__add_inner(b, id, true);
        krf__instr instr = {.op = KRF__store, .dtype = dtype, .from = dtype, .args = {value}, .slot = slot};
        status = slot == UINT32_MAX || krf__add_instr(b, instr) == UINT32_MAX ? krf__fail_memory() : KRF_OK;
    }
    return status;
}
