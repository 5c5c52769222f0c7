/* Makes a plan from a lowered graph: fuses it, gives every leaf, output and stored value a buffer, and builds a kernel for each group. */
#include "plan/plan.h"

#include "base/fail.h"
#include "base/mem.h"
#include "plan/build.h"
#include "plan/raw.h"
#include "plan/reuse.h"

#include <string.h>

static krf__layout layout_of_output(const krf_graph *g, uint32_t id, const int64_t *strides) {
    const krf__node *n = krf__node_of(g, id);
    krf__layout layout = krf__layout_c(n->rank, krf__shape_of(g, id));
    if (strides != NULL && n->rank > 0) {
        memcpy(layout.strides, strides, n->rank * sizeof *strides);
    }
    return layout;
}

static bool c_order(const krf__layout *layout) {
    krf__layout c = krf__layout_c(layout->rank, layout->shape);
    for (int i = 0; i < layout->rank; i++) {
        if (layout->shape[i] > 1 && layout->strides[i] != c.strides[i]) {
            return false;
        }
    }
    return true;
}

/* Outputs are the first buffers, so that output k is buffer k. */
static void add_outputs(krf__planning *p) {
    for (int k = 0; k < p->n_outputs; k++) {
        const int64_t *strides = p->options->output_strides != NULL ? p->options->output_strides[k] : NULL;
        uint32_t id = p->outputs[k], buffer = krf__plan_add_buffer(p, KRF__BUFFER_OUTPUT, (uint32_t)k, id);
        krf__spec *spec = &p->plan->outputs[p->plan->n_outputs++];
        spec->dtype = krf__node_of(p->g, id)->dtype;
        spec->layout = layout_of_output(p->g, id, strides);
        if (p->memory_of[id] == 0 && c_order(&spec->layout)) {
            p->memory_of[id] = buffer;
        }
    }
}

static krf_status add_placeholder(krf__planning *p, uint32_t index) {
    const krf__placeholder *from = &p->g->placeholders[index];
    const krf__node *n = krf__node_of(p->g, from->node);
    krf__spec *spec = &p->plan->placeholders[p->plan->n_placeholders++];
    spec->dtype = n->dtype;
    spec->weak = n->weak;
    spec->scalar = n->rank == 0;
    spec->layout = krf__memory_layout(p->g, from->node);
    if (from->name != NULL && (spec->name = krf__strdup(from->name)) == NULL) {
        return krf__fail_memory();
    }
    if (spec->scalar && krf__is_complex((krf_dtype)n->dtype)) {
        return KRF_OK; /* its halves are the scalars: see add_leaf */
    }
    if (spec->scalar) {
        p->plan->scalars[p->plan->n_scalars++] = (krf__plan_scalar){.bound = true, .dtype = n->dtype, .index = index};
        p->scalar_of[from->node] = p->plan->n_scalars;
    } else {
        p->memory_of[from->node] = krf__plan_add_buffer(p, KRF__BUFFER_PLACEHOLDER, index, from->node);
    }
    return KRF_OK;
}

static void add_leaf(krf__planning *p, uint32_t id, uint32_t *values) {
    const krf__node *n = krf__node_of(p->g, id);
    if (n->op == KRF__scalar) {
        p->plan->scalars[p->plan->n_scalars++] = (krf__plan_scalar){.dtype = n->dtype, .index = (*values)++, .value = n->value};
        p->scalar_of[id] = p->plan->n_scalars;
    } else if (n->op == KRF__part) {
        uint32_t index = (uint32_t)(krf__node_of(p->g, n->args[0])->value + n->value * p->g->n_placeholders);
        p->plan->scalars[p->plan->n_scalars++] = (krf__plan_scalar){.bound = true, .dtype = n->dtype, .index = index};
        p->scalar_of[id] = p->plan->n_scalars;
    } else if (n->op == KRF__input) {
        krf__spec *spec = &p->plan->inputs[n->value];
        spec->dtype = n->dtype;
        spec->layout = krf__memory_layout(p->g, id);
        p->memory_of[id] = krf__plan_add_buffer(p, KRF__BUFFER_INPUT, (uint32_t)n->value, id);
    }
}

/* Stored values that are no output in C order, and outputs in other orders that something else reads. */
static krf_status add_temporaries(krf__planning *p) {
    const krf_graph *g = p->g;
    bool *used = krf__calloc(g->n_nodes, sizeof *used);
    if (used == NULL) {
        return krf__fail_memory();
    }
    for (uint32_t id = 1; id < g->n_nodes; id++) {
        for (int k = 0; k < 3; k++) {
            used[krf__node_of(g, id)->args[k]] = true;
        }
    }
    krf__raw_share_memory(p);
    for (uint32_t id = 1; id < g->n_nodes; id++) {
        krf__op op = krf__node_of(g, id)->op;
        bool leaf = op == KRF__constant || op == KRF__scalar || op == KRF__view || op == KRF__iota || op == KRF__part;
        if (p->fusion->stored[id] && p->memory_of[id] == 0 && used[id] && !leaf) {
            p->memory_of[id] = krf__plan_add_buffer(p, KRF__BUFFER_TEMPORARY, 0, id);
        }
    }
    krf__mem_free(used);
    return KRF_OK;
}

static krf_status build_kernels(krf__planning *p) {
    krf__plan_data *plan = p->plan;
    for (uint32_t i = 0; i < p->fusion->n_groups; i += p->fusion->groups[i].rounds) {
        krf__kernel *k = &plan->kernels[plan->n_kernels];
        krf_status status = p->fusion->groups[i].raw ? krf__raw_build(p, i, k) : krf__kernel_build(p, i, k);
        if (status != KRF_OK) {
            return status;
        }
        if (k->kept_size == 0) {
            krf__kernel_free(k); /* nothing to compute */
        } else {
            plan->n_kernels++;
        }
    }
    if (plan->n_kernels > 0) {
        plan->kernels[0].cut = "";
    }
    return KRF_OK;
}

static krf_status allocate(krf__planning *p, const krf_graph *g, int n) {
    krf__plan_data *plan = p->plan;
    size_t nodes = g->n_nodes;
    p->memory_of = krf__calloc(nodes, sizeof *p->memory_of);
    p->scalar_of = krf__calloc(nodes, sizeof *p->scalar_of);
    p->instr_of = krf__calloc(nodes, sizeof *p->instr_of);
    p->inner_of = krf__calloc(nodes, sizeof *p->inner_of);
    p->touched = krf__malloc(nodes * sizeof *p->touched);
    p->stack = krf__malloc((3 * nodes + 8) * sizeof *p->stack);
    plan->buffers = krf__calloc(nodes + (size_t)n + krf__raw_results(g), sizeof *plan->buffers);
    plan->scalars = krf__calloc(nodes, sizeof *plan->scalars);
    plan->outputs = krf__calloc((size_t)n + 1, sizeof *plan->outputs);
    plan->inputs = krf__calloc(g->n_arrays + 1, sizeof *plan->inputs);
    plan->placeholders = krf__calloc(g->n_placeholders + 1, sizeof *plan->placeholders);
    plan->kernels = krf__calloc(p->fusion->n_groups + 1, sizeof *plan->kernels);
    plan->n_inputs = (uint32_t)g->n_arrays;
    bool ok = p->memory_of && p->scalar_of && p->instr_of && p->inner_of && p->touched && p->stack && plan->buffers && plan->scalars &&
              plan->outputs && plan->inputs && plan->placeholders && plan->kernels;
    return ok ? KRF_OK : krf__fail_memory();
}

krf_status krf__plan_make(const krf_graph *g, int n, const uint32_t *outputs, const krf__plan_options *options, krf__plan_data *plan) {
    krf__fusion fusion;
    krf__planning p = {.g = g, .fusion = &fusion, .options = options, .plan = plan, .outputs = outputs, .n_outputs = n};
    uint32_t values = 0;
    memset(plan, 0, sizeof *plan);
    plan->aligned = !options->unaligned;
    krf_status status = krf__fuse(g, n, outputs, options->limits != NULL ? options->limits : &krf__default_limits, &fusion);
    if (status != KRF_OK) {
        return status;
    }
    status = allocate(&p, g, n);
    if (status == KRF_OK) {
        /* leaves have their memory before outputs could take it */
        plan->n_buffers = (uint32_t)n;
        for (uint32_t i = 0; status == KRF_OK && i < g->n_placeholders; i++) {
            status = add_placeholder(&p, i);
        }
        for (uint32_t id = 1; id < g->n_nodes; id++) {
            add_leaf(&p, id, &values);
        }
        uint32_t leaves = plan->n_buffers;
        plan->n_buffers = 0;
        add_outputs(&p);
        plan->n_buffers = leaves;
    }
    status = status == KRF_OK ? add_temporaries(&p) : status;
    status = status == KRF_OK ? build_kernels(&p) : status;
    status = status == KRF_OK ? krf__plan_reuse(plan) : status;
    krf__mem_free(p.memory_of);
    krf__mem_free(p.scalar_of);
    krf__mem_free(p.instr_of);
    krf__mem_free(p.inner_of);
    krf__mem_free(p.touched);
    krf__mem_free(p.stack);
    krf__fusion_free(&fusion);
    if (status != KRF_OK) {
        krf__plan_free(plan);
    }
    return status;
}

void krf__plan_free(krf__plan_data *plan) {
    for (uint32_t i = 0; i < plan->n_kernels; i++) {
        krf__kernel_free(&plan->kernels[i]);
    }
    for (uint32_t i = 0; i < plan->n_placeholders; i++) {
        krf__mem_free(plan->placeholders[i].name);
    }
    krf__mem_free(plan->kernels);
    krf__mem_free(plan->buffers);
    krf__mem_free(plan->scalars);
    krf__mem_free(plan->inputs);
    krf__mem_free(plan->placeholders);
    krf__mem_free(plan->outputs);
    krf__mem_free(plan->slots);
    memset(plan, 0, sizeof *plan);
}

void krf__plan_print(const krf__plan_data *plan, krf__str *out) {
    krf__str_printf(out, "# %u kernel%s, %u temporar%s\n", plan->n_kernels, plan->n_kernels == 1 ? "" : "s", plan->n_slots,
                    plan->n_slots == 1 ? "y" : "ies");
    for (uint32_t i = 0; i < plan->n_kernels; i++) {
        const krf__kernel *k = &plan->kernels[i];
        int64_t read, written;
        krf__kernel_bytes(k, &read, &written);
        krf__str_printf(out, "kernel %u: %s %s\n", i, k->name, krf__schedule_name(k->schedule));
        krf__str_printf(out, "  computes %s\n  domain ", k->expression);
        krf__str_shape(out, k->n_kept, k->extents);
        if (k->n_reduced > 0) {
            krf__str_put(out, " x reduced ");
            krf__str_shape(out, k->n_reduced, k->extents + k->n_kept);
            krf__str_printf(out, ", %lld chunk%s of %lld", (long long)k->chunks, k->chunks == 1 ? "" : "s", (long long)k->chunk);
        }
        if (k->n_rounds > 0) {
            krf__str_printf(out, ", %u rounds", k->n_rounds);
        }
        krf__str_put(out, k->outer ? ", by squares of results" : "");
        if (k->lines > 1) {
            krf__str_printf(out, ", by %d results", k->lines);
        }
        krf__str_printf(out, "\n  reads %lld bytes, writes %lld bytes, %u operands, vector %d, %d-bit indices\n", (long long)read,
                        (long long)written, k->n_operands, k->vector, k->wide ? 64 : 32);
        if (k->cut[0] != '\0') {
            krf__str_printf(out, "  cut: %s\n", k->cut);
        }
    }
}
