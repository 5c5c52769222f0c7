/* Instructions, operands and scalars of a kernel that is built. */
#include "plan/building.h"

#include "base/mem.h"

#include <string.h>

bool krf__reduced_axis(const building *b, int axis) { return (b->p->fusion->groups[b->head].mask >> axis & 1) != 0; }

/* The kernel's dimension for axis `axis` of a value of this rank, or -1 where the value is constant along it. In the domain part axes are aligned at the last one. Over
 * results the value either has kept axes alone, or reduced ones too, with extent 1. */
static int dim_for(const building *b, int rank, int axis) {
    if (!b->epilogue || b->group->scan) {
        return b->dim_of_axis[axis + b->domain_rank - rank];
    }
    if (b->result_rank == b->domain_rank) { /* reduced axes are kept, with extent 1 */
        int domain_axis = axis + b->domain_rank - rank;
        return krf__reduced_axis(b, domain_axis) ? -1 : b->dim_of_axis[domain_axis];
    }
    return axis + b->k->n_kept - rank;
}

void krf__set_strides(const building *b, krf__operand *o, const krf__layout *layout) {
    o->offset = layout->offset;
    for (int i = 0; i < layout->rank; i++) {
        int dim = dim_for(b, layout->rank, i);
        if (dim >= 0 && layout->shape[i] != 1) {
            o->strides[dim] = layout->strides[i];
        }
    }
}

uint32_t krf__add_instr(building *b, krf__instr instr) {
    krf__kernel *k = b->k;
    if (!krf__grow(&k->instrs, &b->instrs_capacity, k->n_instrs + (size_t)1, sizeof *k->instrs)) {
        return UINT32_MAX;
    }
    k->instrs[k->n_instrs] = instr;
    return k->n_instrs++ - b->first;
}

/* The operand with that memory and those strides; equal ones are shared. */
uint32_t krf__add_operand(building *b, const krf__operand *o) {
    krf__kernel *k = b->k;
    for (uint32_t i = 0; i < k->n_operands && !o->store; i++) {
        if (memcmp(&k->operands[i], o, sizeof *o) == 0) {
            return i;
        }
    }
    if (!krf__grow(&k->operands, &b->operands_capacity, k->n_operands + (size_t)1, sizeof *k->operands)) {
        return UINT32_MAX;
    }
    k->operands[k->n_operands] = *o;
    return k->n_operands++;
}

void krf__use_buffer(building *b, uint32_t buffer) { krf__plan_use_buffer(b->p, b->group_index, buffer); }

/* The operand that a leaf or a view is; UINT32_MAX when out of memory. */
uint32_t krf__add_read(building *b, uint32_t id, bool gathered) {
    const krf__node *n = krf__node_of(b->p->g, id);
    uint32_t base = n->op == KRF__view ? n->args[0] : id;
    krf__layout layout = krf__memory_layout(b->p->g, id);
    krf__operand o;
    memset(&o, 0, sizeof o); /* padding too: operands are compared as bytes */
    o.dtype = n->dtype;
    o.gathered = gathered;
    o.half = krf__is_complex((krf_dtype)krf__node_of(b->p->g, base)->dtype);
    o.counts = krf__node_of(b->p->g, base)->op == KRF__iota;
    o.buffer = o.counts ? 0 : b->p->memory_of[base] - 1;
    krf__set_strides(b, &o, &layout);
    if (!o.counts) {
        krf__use_buffer(b, o.buffer);
    }
    return krf__add_operand(b, &o);
}

/* The operand of a value that the kernel keeps for each row. */
uint32_t krf__add_inner(building *b, uint32_t id, bool store) {
    krf__operand o;
    memset(&o, 0, sizeof o);
    o.dtype = krf__node_of(b->p->g, id)->dtype;
    o.store = store;
    o.inner = (uint16_t)b->p->inner_of[id];
    int64_t stride = 1;
    for (int d = b->k->n_kept - 1; d >= 0; d--) {
        o.strides[d] = b->k->extents[d] == 1 ? 0 : stride;
        stride *= b->k->extents[d];
    }
    return krf__add_operand(b, &o);
}

static uint32_t add_load(building *b, uint32_t id) {
    uint8_t dtype = krf__node_of(b->p->g, id)->dtype;
    uint32_t slot = b->p->inner_of[id] != 0 ? krf__add_inner(b, id, false) : krf__add_read(b, id, false);
    return slot == UINT32_MAX ? slot : krf__add_instr(b, (krf__instr){.op = KRF__load, .dtype = dtype, .from = dtype, .slot = slot});
}

static uint32_t add_scalar(building *b, uint32_t id) {
    krf__kernel *k = b->k;
    uint32_t source = b->p->scalar_of[id] - 1, slot = 0;
    uint8_t dtype = krf__node_of(b->p->g, id)->dtype;
    while (slot < k->n_scalars && k->scalars[slot].source != source) {
        slot++;
    }
    if (slot == k->n_scalars) {
        if (!krf__grow(&k->scalars, &b->scalars_capacity, k->n_scalars + (size_t)1, sizeof *k->scalars)) {
            return UINT32_MAX;
        }
        k->scalars[k->n_scalars++] = (krf__kernel_scalar){.dtype = dtype, .source = source};
    }
    return krf__add_instr(b, (krf__instr){.op = KRF__scalar, .dtype = dtype, .from = dtype, .slot = slot});
}

/* Whether this kernel reads the value from memory: a leaf, or stored by a group that ran before. */
bool krf__loaded(const building *b, uint32_t id) {
    uint32_t owner = b->p->fusion->group_of[id];
    const krf__node *n = krf__node_of(b->p->g, id);
    if (n->op == KRF__view || n->op == KRF__input || n->op == KRF__placeholder || n->op == KRF__iota) {
        return true;
    }
    return b->p->inner_of[id] != 0 || (owner != 0 && b->p->fusion->groups[owner - 1].step < b->group->step);
}

/* A view that makes a constant or an argument larger is just that value. */
uint32_t krf__value_behind(const building *b, uint32_t id) {
    const krf__node *n = krf__node_of(b->p->g, id);
    if (n->op == KRF__view) {
        uint32_t base = n->args[0];
        krf__op op = krf__node_of(b->p->g, base)->op;
        return op == KRF__constant || b->p->scalar_of[base] != 0 ? base : id;
    }
    return id;
}

uint32_t krf__add_leaf(building *b, uint32_t id) {
    const krf__node *n = krf__node_of(b->p->g, id);
    if (n->op == KRF__constant) {
        return krf__add_instr(b, (krf__instr){.op = KRF__constant, .dtype = n->dtype, .from = n->dtype, .value = n->value});
    }
    return b->p->scalar_of[id] != 0 ? add_scalar(b, id) : add_load(b, id);
}
