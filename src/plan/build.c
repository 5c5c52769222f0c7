/* Builds the body of a kernel from a group: an instruction for each node in the domain part, the reductions, and the part over results.
 *
 * While it is built, a kernel's dimensions are the axes of the domain as written: kept axes first, then reduced ones. */
#include "plan/building.h"

#include "base/fail.h"
#include "base/mem.h"
#include "plan/describe.h"
#include "plan/key.h"
#include "plan/schedule.h"

#include <string.h>

_Static_assert(KRF__MOST_ROUNDS <= KRF__MAX_ROUNDS, "a kernel holds the rounds that fuse makes");

static void set_dimensions(building *b) {
    krf__kernel *k = b->k;
    for (int pass = 0; pass < 2; pass++) {
        for (int axis = 0; axis < b->domain_rank; axis++) {
            if (krf__reduced_axis(b, axis) == (pass == 1)) {
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
    return krf__add_instr(b, instr);
}

/* The accumulator of an element. */
static uint32_t add_map_of(building *b, uint32_t id) {
    const krf__node *n = krf__node_of(b->p->g, id);
    const krf_op *op = krf__result_of(n->value)->op;
    const uint8_t dtype = krf__accumulator_dtype(b->p->g, id);
    const krf__instr map = {.op = KRF__fold_map, .dtype = dtype, .from = dtype, .args = {b->p->instr_of[n->args[0]] - 1}, .value = (uint64_t)(uintptr_t)&op->results[0]};
    return krf__keep_op(b, op) ? add_step(b, 0, map) : UINT32_MAX;
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
            if (krf__add_instr(b, instr) == UINT32_MAX) {
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
        status = krf__note(b, group->reductions[r], fold ? add_post_of(b, group->reductions[r], instr_of[r]) : instr_of[r]);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t r = 0; status == KRF_OK && r < group->n_roots; r++) {
            uint32_t id = group->roots[r];
            int rank = krf__node_of(b->p->g, id)->rank;
            if ((rank == b->domain_rank) == keepdims) {
                b->result_rank = rank;
                status = pass == 0 ? krf__add_root(b, id) : krf__store_root(b, id);
            }
        }
    }
    return status;
}

static krf_status add_map(building *b) {
    krf_status status = KRF_OK;
    for (uint32_t r = 0; status == KRF_OK && r < b->group->n_roots; r++) {
        status = krf__add_root(b, b->group->roots[r]);
    }
    for (uint32_t r = 0; status == KRF_OK && r < b->group->n_roots; r++) {
        status = krf__store_root(b, b->group->roots[r]);
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
        status = krf__add_value(b, n->args[0]);
        if (status == KRF_OK) {
            arguments[r] = krf__op_is_fold((krf__op)n->op) ? add_map_of(b, group->reductions[r]) : b->p->instr_of[n->args[0]] - 1;
            status = arguments[r] != UINT32_MAX ? KRF_OK : krf__fail_memory();
        }
    }
    for (uint32_t r = 0; status == KRF_OK && r < group->n_elements; r++) {
        status = krf__add_root(b, group->elements[r]);
    }
    for (uint32_t r = 0; status == KRF_OK && r < group->n_elements; r++) {
        status = krf__store_root(b, group->elements[r]);
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
        krf__kernel_flip(k);
        krf__kernel_schedule(k, p->options->unaligned, limits);
        status = krf__kernel_spread(k, p->options->unaligned, limits);
        k->backwards = limits->many_threads && krf__goes_backwards(p->plan, k);
        status = status == KRF_OK ? krf__kernel_key(k) : status;
    }
    if (status != KRF_OK) {
        krf__kernel_free(k);
    }
    return status;
}
