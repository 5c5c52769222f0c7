/* Builds the body of a kernel from a group: an instruction for each node in the domain part, the reductions, and the part over results.
 *
 * While it is built, a kernel's dimensions are the axes of the domain as written: kept axes first, then reduced ones. */
#include "plan/build.h"

#include "base/fail.h"
#include "base/mem.h"
#include "plan/describe.h"
#include "plan/key.h"
#include "plan/schedule.h"

#include <string.h>

_Static_assert(KRF__MOST_ROUNDS <= KRF__MAX_ROUNDS, "a kernel holds the rounds that fuse makes");

typedef struct building {
    krf__planning *p;
    krf__kernel *k;
    const krf__group *group;
    uint32_t group_index;
    uint32_t head;            /* the first group of the kernel */
    uint32_t first;           /* instruction of the round */
    bool epilogue;            /* instructions are being added to the part over results */
    int result_rank;          /* there: of the values */
    int domain_rank;
    const int64_t *domain;    /* extents of the domain's axes */
    int dim_of_axis[KRF_MAX_RANK];
    int n_touched;
    size_t operands_capacity, scalars_capacity, instrs_capacity, ops_capacity;
} building;

static bool reduced_axis(const building *b, int axis) { return (b->p->fusion->groups[b->head].mask >> axis & 1) != 0; }

/* The kernel's dimension for axis `axis` of a value of this rank, or -1 where the value is constant along it. In the domain part axes are aligned at the last one. Over
 * results the value either has kept axes alone, or reduced ones too, with extent 1. */
static int dim_for(const building *b, int rank, int axis) {
    if (!b->epilogue || b->group->scan) {
        return b->dim_of_axis[axis + b->domain_rank - rank];
    }
    if (b->result_rank == b->domain_rank) { /* reduced axes are kept, with extent 1 */
        int domain_axis = axis + b->domain_rank - rank;
        return reduced_axis(b, domain_axis) ? -1 : b->dim_of_axis[domain_axis];
    }
    return axis + b->k->n_kept - rank;
}

static void set_strides(const building *b, krf__operand *o, const krf__layout *layout) {
    o->offset = layout->offset;
    for (int i = 0; i < layout->rank; i++) {
        int dim = dim_for(b, layout->rank, i);
        if (dim >= 0 && layout->shape[i] != 1) {
            o->strides[dim] = layout->strides[i];
        }
    }
}

static uint32_t add_instr(building *b, krf__instr instr) {
    krf__kernel *k = b->k;
    if (!krf__grow(&k->instrs, &b->instrs_capacity, k->n_instrs + (size_t)1, sizeof *k->instrs)) {
        return UINT32_MAX;
    }
    k->instrs[k->n_instrs] = instr;
    return k->n_instrs++ - b->first;
}

/* The operand with that memory and those strides; equal ones are shared. */
static uint32_t add_operand(building *b, const krf__operand *o) {
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

static void use_buffer(building *b, uint32_t buffer) { krf__plan_use_buffer(b->p, b->group_index, buffer); }

/* The operand that a leaf or a view is; UINT32_MAX when out of memory. */
static uint32_t add_read(building *b, uint32_t id, bool gathered) {
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
    set_strides(b, &o, &layout);
    if (!o.counts) {
        use_buffer(b, o.buffer);
    }
    return add_operand(b, &o);
}

/* The operand of a value that the kernel keeps for each row. */
static uint32_t add_inner(building *b, uint32_t id, bool store) {
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
    return add_operand(b, &o);
}

static uint32_t add_load(building *b, uint32_t id) {
    uint8_t dtype = krf__node_of(b->p->g, id)->dtype;
    uint32_t slot = b->p->inner_of[id] != 0 ? add_inner(b, id, false) : add_read(b, id, false);
    return slot == UINT32_MAX ? slot : add_instr(b, (krf__instr){.op = KRF__load, .dtype = dtype, .from = dtype, .slot = slot});
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
    return add_instr(b, (krf__instr){.op = KRF__scalar, .dtype = dtype, .from = dtype, .slot = slot});
}

/* Whether this kernel reads the value from memory: a leaf, or stored by a group that ran before. */
static bool loaded(const building *b, uint32_t id) {
    uint32_t owner = b->p->fusion->group_of[id];
    const krf__node *n = krf__node_of(b->p->g, id);
    if (n->op == KRF__view || n->op == KRF__input || n->op == KRF__placeholder || n->op == KRF__iota) {
        return true;
    }
    return b->p->inner_of[id] != 0 || (owner != 0 && b->p->fusion->groups[owner - 1].step < b->group->step);
}

/* A view that makes a constant or an argument larger is just that value. */
static uint32_t value_behind(const building *b, uint32_t id) {
    const krf__node *n = krf__node_of(b->p->g, id);
    if (n->op == KRF__view) {
        uint32_t base = n->args[0];
        krf__op op = krf__node_of(b->p->g, base)->op;
        return op == KRF__constant || b->p->scalar_of[base] != 0 ? base : id;
    }
    return id;
}

static uint32_t add_leaf(building *b, uint32_t id) {
    const krf__node *n = krf__node_of(b->p->g, id);
    if (n->op == KRF__constant) {
        return add_instr(b, (krf__instr){.op = KRF__constant, .dtype = n->dtype, .from = n->dtype, .value = n->value});
    }
    return b->p->scalar_of[id] != 0 ? add_scalar(b, id) : add_load(b, id);
}

static krf_status note(building *b, uint32_t id, uint32_t instr) {
    if (instr == UINT32_MAX) {
        return krf__fail_memory();
    }
    b->p->instr_of[id] = instr + 1;
    b->p->touched[b->n_touched++] = id;
    return KRF_OK;
}

static bool keep_op(building *b, const krf_op *op) {
    krf__kernel *k = b->k;
    for (uint32_t i = 0; i < k->n_ops; i++) {
        if (k->ops[i] == op) {
            return true;
        }
    }
    if (!krf__grow(&k->ops, &b->ops_capacity, k->n_ops + (size_t)1, sizeof *k->ops)) {
        return false;
    }
    k->ops[k->n_ops++] = krf__op_retain(op);
    return true;
}

static krf_status add_computed(building *b, uint32_t id) {
    const krf_graph *g = b->p->g;
    const krf__node *n = krf__node_of(g, id);
    krf__instr instr = {.op = n->op, .dtype = n->dtype, .value = n->op == KRF__call ? n->value : 0};
    int arity = krf__op_info_of(n->op)->arity;
    if (n->op == KRF__gather) {
        uint32_t slot = add_read(b, n->args[0], true);
        instr = (krf__instr){.op = KRF__fetch, .dtype = n->dtype, .from = KRF_I64, .args = {b->p->instr_of[n->args[1]] - 1}, .slot = slot, .value = n->value};
        return note(b, id, slot == UINT32_MAX ? slot : add_instr(b, instr));
    }
    for (int i = 0; i < arity; i++) {
        instr.args[i] = b->p->instr_of[n->args[i]] - 1;
    }
    instr.from = krf__node_of(g, n->args[arity - 1])->dtype;
    if (n->op == KRF__call && !keep_op(b, krf__result_of(n->value)->op)) {
        return krf__fail_memory();
    }
    return note(b, id, add_instr(b, instr));
}

/* Adds what the value of `root` needs, operands before users. */
static krf_status add_value(building *b, uint32_t root) {
    krf__planning *p = b->p;
    krf_status status = KRF_OK;
    size_t depth = 0;
    p->stack[depth++] = root;
    while (status == KRF_OK && depth > 0) {
        uint32_t id = p->stack[depth - 1], behind = value_behind(b, id);
        const krf__node *n = krf__node_of(p->g, id);
        krf__op op = krf__node_of(p->g, behind)->op;
        if (p->instr_of[id] != 0) {
            depth--;
        } else if (behind != id || op == KRF__constant || op == KRF__scalar || op == KRF__part || loaded(b, id)) {
            status = note(b, id, add_leaf(b, behind));
            depth--;
        } else {
            size_t before = depth;
            for (int i = krf__op_info_of(n->op)->arity - 1; i >= (n->op == KRF__gather); i--) { /* a gather's view is no value */
                if (p->instr_of[n->args[i]] == 0) {
                    p->stack[depth++] = n->args[i];
                }
            }
            if (depth == before) {
                status = add_computed(b, id);
                depth--;
            }
        }
    }
    return status;
}

static krf_status add_store_of(building *b, uint32_t value_of, bool half, uint32_t buffer, const krf__layout *layout) {
    krf__operand o;
    memset(&o, 0, sizeof o);
    o.half = half;
    o.dtype = krf__node_of(b->p->g, value_of)->dtype;
    o.store = true;
    o.buffer = buffer;
    set_strides(b, &o, layout);
    use_buffer(b, buffer);
    uint32_t slot = add_operand(b, &o), value = b->p->instr_of[value_of] - 1;
    krf__instr instr = {.op = KRF__store, .dtype = o.dtype, .from = o.dtype, .args = {value}, .slot = slot};
    return slot == UINT32_MAX || add_instr(b, instr) == UINT32_MAX ? krf__fail_memory() : KRF_OK;
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
static krf_status add_root(building *b, uint32_t id) {
    const krf__node *n = krf__node_of(b->p->g, id);
    krf_status status = is_of_two(n) ? add_root(b, n->args[0]) : add_value(b, id);
    return is_of_two(n) && status == KRF_OK ? add_root(b, n->args[1]) : status;
}

/* Instructions that store a root: in every output it is, in a temporary where other kernels read it and no output in C order holds it, and for later rounds. */
static krf_status store_root(building *b, uint32_t id) {
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
        uint32_t slot = add_inner(b, id, true);
        krf__instr instr = {.op = KRF__store, .dtype = dtype, .from = dtype, .args = {value}, .slot = slot};
        status = slot == UINT32_MAX || add_instr(b, instr) == UINT32_MAX ? krf__fail_memory() : KRF_OK;
    }
    return status;
}

static void set_dimensions(building *b) {
    krf__kernel *k = b->k;
    for (int pass = 0; pass < 2; pass++) {
        for (int axis = 0; axis < b->domain_rank; axis++) {
            if (reduced_axis(b, axis) == (pass == 1)) {
                b->dim_of_axis[axis] = k->n_kept + k->n_reduced;
                k->extents[k->n_kept + k->n_reduced] = b->domain[axis];
                *(pass == 0 ? &k->n_kept : &k->n_reduced) += 1;
            }
        }
    }
}

static void forget(building *b) {
    for (int i = 0; i < b->n_touched; i++) {
        b->p->instr_of[b->p->touched[i]] = 0;
    }
    b->n_touched = 0;
}

/* An instruction of one operand, or its equal from `first` on. */
static uint32_t add_step(building *b, uint32_t first, krf__instr instr) {
    for (uint32_t i = first; b->first + i < b->k->n_instrs; i++) {
        const krf__instr *other = &b->k->instrs[b->first + i];
        if (other->op == instr.op && other->args[0] == instr.args[0] && other->value == instr.value) {
            return i;
        }
    }
    return add_instr(b, instr);
}

/* The accumulator of an element. */
static uint32_t add_map_of(building *b, uint32_t id) {
    const krf__node *n = krf__node_of(b->p->g, id);
    const krf_op *op = krf__result_of(n->value)->op;
    const uint8_t dtype = krf__accumulator_dtype(b->p->g, id);
    const krf__instr map = {.op = KRF__fold_map, .dtype = dtype, .from = dtype, .args = {b->p->instr_of[n->args[0]] - 1}, .value = (uint64_t)(uintptr_t)&op->results[0]};
    return keep_op(b, op) ? add_step(b, 0, map) : UINT32_MAX;
}

/* A result of the accumulator of instruction `reduction`, in the part over results. */
static uint32_t add_post_of(building *b, uint32_t id, uint32_t reduction) {
    const krf__node *n = krf__node_of(b->p->g, id);
    return add_step(b, b->k->n_domain + b->k->n_reductions, (krf__instr){.op = KRF__fold_post, .dtype = n->dtype, .from = n->dtype, .args = {reduction}, .value = n->value});
}

/* The group's reductions as instructions. The same one with and without its reduced axes is one. */
static krf_status add_reductions(building *b, const uint32_t *arguments, uint32_t *instr_of) {
    const krf__group *group = b->group;
    krf__kernel *k = b->k;
    k->n_reductions = 0;
    for (uint32_t r = 0; r < group->n_reductions; r++) {
        const krf__node *n = krf__node_of(b->p->g, group->reductions[r]);
        krf__instr instr = {.op = n->op, .dtype = n->dtype, .from = n->dtype, .args = {arguments[r]}};
        if (krf__op_is_fold((krf__op)n->op)) {
            instr.dtype = instr.from = krf__accumulator_dtype(b->p->g, group->reductions[r]);
            instr.value = (uint64_t)(uintptr_t)&krf__result_of(n->value)->op->results[0];
        }
        uint32_t same = 0;
        for (; same < k->n_reductions; same++) {
            const krf__instr *other = &k->instrs[b->first + k->n_domain + same];
            if (other->op == instr.op && other->dtype == instr.dtype && other->args[0] == instr.args[0]) {
                break;
            }
        }
        if (same == k->n_reductions) {
            if (add_instr(b, instr) == UINT32_MAX) {
                return krf__fail_memory();
            }
            k->n_reductions++;
        }
        instr_of[r] = k->n_domain + same;
    }
    return KRF_OK;
}

/* Roots of one rank, with what they need. */
static krf_status add_results(building *b, const uint32_t *instr_of, bool keepdims) {
    const krf__group *group = b->group;
    krf_status status = KRF_OK;
    forget(b);
    for (uint32_t r = 0; status == KRF_OK && r < group->n_reductions; r++) {
        const bool fold = krf__op_is_fold((krf__op)krf__node_of(b->p->g, group->reductions[r])->op);
        status = note(b, group->reductions[r], fold ? add_post_of(b, group->reductions[r], instr_of[r]) : instr_of[r]);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t r = 0; status == KRF_OK && r < group->n_roots; r++) {
            uint32_t id = group->roots[r];
            int rank = krf__node_of(b->p->g, id)->rank;
            if ((rank == b->domain_rank) == keepdims) {
                b->result_rank = rank;
                status = pass == 0 ? add_root(b, id) : store_root(b, id);
            }
        }
    }
    return status;
}

static krf_status add_map(building *b) {
    krf_status status = KRF_OK;
    for (uint32_t r = 0; status == KRF_OK && r < b->group->n_roots; r++) {
        status = add_root(b, b->group->roots[r]);
    }
    for (uint32_t r = 0; status == KRF_OK && r < b->group->n_roots; r++) {
        status = store_root(b, b->group->roots[r]);
    }
    b->k->n_domain = b->k->n_instrs - b->first;
    b->k->n_reductions = 0;
    return status;
}

static krf_status add_body(building *b) {
    krf__kernel *k = b->k;
    const krf__group *group = b->group;
    krf_status status = KRF_OK;
    uint32_t arguments[64], instr_of[64];
    if (group->mask == 0) {
        return add_map(b);
    }
    for (uint32_t r = 0; status == KRF_OK && r < group->n_reductions; r++) {
        const krf__node *n = krf__node_of(b->p->g, group->reductions[r]);
        status = add_value(b, n->args[0]);
        if (status == KRF_OK) {
            arguments[r] = krf__op_is_fold((krf__op)n->op) ? add_map_of(b, group->reductions[r]) : b->p->instr_of[n->args[0]] - 1;
            status = arguments[r] != UINT32_MAX ? KRF_OK : krf__fail_memory();
        }
    }
    for (uint32_t r = 0; status == KRF_OK && r < group->n_elements; r++) {
        status = add_root(b, group->elements[r]);
    }
    for (uint32_t r = 0; status == KRF_OK && r < group->n_elements; r++) {
        status = store_root(b, group->elements[r]);
    }
    k->n_domain = k->n_instrs - b->first;
    status = status == KRF_OK ? add_reductions(b, arguments, instr_of) : status;
    /* Loads of the domain part are not those of the results, nor are those of results with and without reduced axes: nothing is shared. */
    b->epilogue = true;
    status = status == KRF_OK ? add_results(b, instr_of, true) : status;
    return status == KRF_OK ? add_results(b, instr_of, false) : status;
}

/* Round r, whose instructions follow those of the rounds before it. */
static krf_status add_round(building *b, uint32_t r, bool only) {
    krf__kernel *k = b->k;
    b->group = &b->p->fusion->groups[b->head + r];
    b->first = k->n_instrs;
    b->epilogue = false;
    krf_status status = add_body(b);
    forget(b);
    if (!only) {
        k->rounds[k->n_rounds++] = (krf__round){b->first, k->n_instrs - b->first, k->n_domain, k->n_reductions};
        k->n_domain = k->n_reductions = 0;
    }
    return status;
}

krf_status krf__kernel_build(krf__planning *p, uint32_t index, krf__kernel *k) {
    const krf__group *group = &p->fusion->groups[index];
    building b = {.p = p, .k = k, .head = index, .group_index = index,
                  .domain_rank = krf__node_of(p->g, group->domain)->rank, .domain = krf__shape_of(p->g, group->domain)};
    *k = (krf__kernel){.cut = group->cut};
    set_dimensions(&b);
    krf_status status = KRF_OK;
    for (uint32_t r = 0; status == KRF_OK && r < group->rounds; r++) {
        status = add_round(&b, r, group->rounds == 1);
    }
    for (uint32_t r = 0; r < group->rounds; r++) {
        for (uint32_t i = 0; i < group[r].n_roots; i++) {
            p->inner_of[group[r].roots[i]] = 0;
        }
    }
    status = status == KRF_OK ? krf__kernel_describe(p, index, k) : status;
    if (status == KRF_OK) {
        const krf__limits *limits = p->options->limits != NULL ? p->options->limits : &krf__default_limits;
        k->fast = p->options->fast;
        k->early = limits->early != 0;
        krf__kernel_collapse(k);
        krf__kernel_schedule(k, p->options->unaligned, limits);
        status = krf__kernel_key(k);
    }
    if (status != KRF_OK) {
        krf__kernel_free(k);
    }
    return status;
}
