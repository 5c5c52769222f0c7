/* The launch of a raw kernel becomes a kernel: an operand for each array, in the order of the parameters, and the values of the scalars. */
#include "plan/raw.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/build_raw.h"
#include "ir/print.h"
#include "plan/key.h"
#include "plan/raw_call.h"

#include <string.h>

size_t krf__raw_results(const krf_graph *g) {
    size_t n = 0;
    for (uint32_t id = 1; id < g->n_nodes && g->n_raws > 0; id++) {
        n += krf__node_of(g, id)->op == KRF__raw_launch ? (size_t)krf__raw_of(g, id)->n_results : 0;
    }
    return n;
}

/* The result node of parameter i of a launch, which comes behind it; 0 where nobody uses it. */
static uint32_t result_of(const krf_graph *g, uint32_t launch, uint32_t i) {
    for (uint32_t id = launch + 1; id < g->n_nodes; id++) {
        const krf__node *n = krf__node_of(g, id);
        if (n->op == KRF__raw_result && n->args[0] == launch && n->value == i) {
            return id;
        }
    }
    return 0;
}

void krf__raw_share_memory(krf__planning *p) {
    const krf_graph *g = p->g;
    for (uint32_t launch = 1; launch < g->n_nodes && g->n_raws > 0; launch++) {
        if (krf__node_of(g, launch)->op != KRF__raw_launch) {
            continue;
        }
        for (uint32_t id = krf__node_of(g, launch)->args[0]; krf__node_of(g, id)->op == KRF__raw_argument; id = krf__node_of(g, id)->args[0]) {
            const uint32_t result = krf__raw_parameter_of(g, id)->role == KRF__ROLE_INOUT ? result_of(g, launch, krf__raw_index(krf__node_of(g, id))) : 0;
            if (result != 0) {
                p->memory_of[result] = p->memory_of[result] != 0 ? p->memory_of[result] : krf__plan_add_buffer(p, KRF__BUFFER_TEMPORARY, 0, result);
                p->memory_of[krf__node_of(g, id)->args[1]] = p->memory_of[result];
            }
        }
    }
}

/* ---- fields ---- */

static bool is_long(const krf__parameter *p) { return p->role == KRF__ROLE_SCALAR && p->dtype == KRF_C128; }

/* Sets k up with an operand for each array, all of them at offset 0. */
static krf_status start(krf__raw *raw, krf__kernel *k) {
    const char *const expression = raw->name;
    memset(k, 0, sizeof *k);
    k->schedule = KRF__RAW;
    k->n_kept = 1;
    k->extents[0] = k->kept_size = k->reduced_size = k->vector = k->cluster = k->team = k->lines = 1;
    k->raw = krf__calloc(1, sizeof *k->raw);
    k->operands = krf__calloc((size_t)raw->n_parameters + 1, sizeof *k->operands);
    k->scalars = krf__calloc(2 * (size_t)raw->n_parameters + 1, sizeof *k->scalars);
    k->expression = krf__strdup(expression);
    k->cut = "a raw kernel";
    if (k->raw == NULL || k->operands == NULL || k->scalars == NULL || k->expression == NULL) {
        return krf__fail_memory();
    }
    k->raw->raw = krf__raw_retain(raw);
    for (int i = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        k->raw->slots[i].field = k->raw->n_fields;
        k->raw->n_fields += is_long(p) ? 2 : 1;
        if (p->role != KRF__ROLE_SCALAR) {
            k->raw->slots[i].operand = k->n_operands;
            k->operands[k->n_operands] = (krf__operand){.dtype = (uint8_t)p->dtype, .store = krf__parameter_written(p), .buffer = k->n_operands};
            k->n_operands++;
        }
    }
    return KRF_OK;
}

/* All shapes are known. */
static krf_status finish(const krf__raw_arrays *arrays, const krf_launch_shape *shape, krf__kernel *k) {
    const krf__raw *raw = k->raw->raw;
    krf_status status = krf__raw_launch_of(raw, arrays, shape, &k->raw->launch);
    for (int i = 0; status == KRF_OK && i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        krf__raw_slot *slot = &k->raw->slots[i];
        if (p->role != KRF__ROLE_SCALAR) {
            slot->size = krf__shape_size(arrays->layouts[i].rank, arrays->layouts[i].shape);
        } else if (p->computed.at != NULL) {
            slot->known[0] = slot->known[1] = true;
            slot->bits[0] = krf__bits_from_i64(p->dtype, k->raw->launch.computed[i]);
        }
    }
    k->kept_size = k->raw->launch.empty ? 0 : 1;
    return status == KRF_OK ? krf__kernel_key(k) : status;
}

krf_status krf__raw_alone(krf__raw *raw, const krf__raw_arrays *arrays, const krf_launch_shape *shape, krf__kernel *k) {
    krf_status status = start(raw, k);
    for (int i = 0; status == KRF_OK && i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        for (int half = 0; p->role == KRF__ROLE_SCALAR && p->computed.at == NULL && half < (krf__is_complex(p->dtype) ? 2 : 1); half++) {
            k->scalars[k->n_scalars] = (krf__kernel_scalar){.dtype = (uint8_t)krf__part_of(p->dtype), .source = k->n_scalars};
            k->raw->slots[i].from[half] = (uint8_t)krf__part_of(p->dtype);
            k->raw->slots[i].scalar[half] = k->n_scalars++;
        }
    }
    status = status == KRF_OK ? finish(arrays, shape, k) : status;
    if (status != KRF_OK) {
        krf__kernel_free(k);
    }
    return status;
}

/* ---- in a graph ---- */

typedef struct building {
    krf__planning *p;
    krf__kernel *k;
    krf__raw *raw;
    uint32_t group, launch;
    krf__raw_arrays *arrays;
} building;

static void set_operand(building *b, uint32_t i, uint32_t buffer, int64_t offset) {
    krf__operand *o = &b->k->operands[b->k->raw->slots[i].operand];
    o->buffer = buffer;
    o->offset = offset;
    krf__plan_use_buffer(b->p, b->group, buffer);
}

/* The value of half of a scalar; false where it is computed on the device. */
static bool set_scalar(building *b, uint32_t i, int half, uint32_t x) {
    const krf__node *n = krf__node_of(b->p->g, x);
    krf__kernel *k = b->k;
    krf__raw_slot *slot = &k->raw->slots[i];
    if (n->op == KRF__constant) {
        slot->known[half] = true;
        slot->bits[half] = krf__bits_cast((krf_dtype)n->dtype, krf__part_of(b->raw->parameters[i].dtype), n->value);
        return true;
    }
    if (b->p->scalar_of[x] == 0) {
        return false;
    }
    k->scalars[k->n_scalars] = (krf__kernel_scalar){.dtype = n->dtype, .source = b->p->scalar_of[x] - 1};
    slot->from[half] = n->dtype;
    slot->scalar[half] = k->n_scalars++;
    return true;
}

static krf_status set_argument(building *b, const krf__node *argument) {
    const krf_graph *g = b->p->g;
    const uint32_t i = krf__raw_index(argument), x = argument->args[1];
    const krf__parameter *p = &b->raw->parameters[i];
    if (p->role == KRF__ROLE_SCALAR) {
        return set_scalar(b, i, (argument->value & KRF__RAW_IMAGINARY) != 0, x)
                   ? KRF_OK
                   : krf__fail(KRF_E_ARGUMENT, "%s: %.*s is passed by value, and what is computed is not known to the host: pass it as an array", b->raw->name, (int)p->name.length, p->name.at);
    }
    const krf__node *n = krf__node_of(g, x);
    const uint32_t base = n->op == KRF__view ? n->args[0] : x;
    if (b->p->memory_of[base] == 0) {
        return krf__fail(KRF_E_INTERNAL, "%s: %.*s has no memory", b->raw->name, (int)p->name.length, p->name.at);
    }
    b->arrays->layouts[i] = krf__memory_layout(g, x);
    b->arrays->known[i] = true;
    set_operand(b, i, b->p->memory_of[base] - 1, b->arrays->layouts[i].offset);
    return KRF_OK;
}

/* Results that nobody uses are written all the same. */
static krf_status set_result(building *b, uint32_t i) {
    krf__plan_data *plan = b->p->plan;
    const uint32_t id = result_of(b->p->g, b->launch, i);
    const krf__layout *layout = &b->arrays->layouts[i];
    if (id == 0 && b->raw->parameters[i].role == KRF__ROLE_OUT) {
        plan->buffers[plan->n_buffers] =
            (krf__buffer){.kind = KRF__BUFFER_TEMPORARY, .dtype = (uint8_t)b->raw->parameters[i].dtype, .first = UINT32_MAX, .size = krf__shape_size(layout->rank, layout->shape)};
        set_operand(b, i, plan->n_buffers++, 0);
    } else if (id != 0 && b->p->memory_of[id] != 0) {
        set_operand(b, i, b->p->memory_of[id] - 1, 0);
    } else if (id != 0) {
        return krf__fail(KRF_E_INTERNAL, "%s: a result has no memory", b->raw->name);
    }
    return KRF_OK;
}

static krf_status fill(building *b) {
    const krf_graph *g = b->p->g;
    krf_launch_shape shape;
    krf_status status = start(b->raw, b->k);
    krf__raw_read_launch(g, b->launch, b->arrays, &shape);
    for (uint32_t id = krf__node_of(g, b->launch)->args[0]; status == KRF_OK && krf__node_of(g, id)->op == KRF__raw_argument; id = krf__node_of(g, id)->args[0]) {
        status = set_argument(b, krf__node_of(g, id));
    }
    status = status == KRF_OK ? krf__raw_shapes(b->raw, b->arrays) : status;
    for (int i = 0; status == KRF_OK && i < b->raw->n_parameters; i++) {
        status = krf__parameter_written(&b->raw->parameters[i]) ? set_result(b, (uint32_t)i) : KRF_OK;
    }
    return status == KRF_OK ? finish(b->arrays, &shape, b->k) : status;
}

static krf_status describe(const building *b) {
    krf__str text = {0};
    krf__print_expression(b->p->g, b->launch, 200, &text);
    krf__mem_free(b->k->expression);
    b->k->expression = krf__str_take(&text);
    return b->k->expression != NULL ? KRF_OK : krf__fail_memory();
}

krf_status krf__raw_build(krf__planning *p, uint32_t group, krf__kernel *k) {
    const uint32_t launch = p->fusion->groups[group].domain;
    building b = {.p = p, .k = k, .raw = krf__raw_of(p->g, launch), .group = group, .launch = launch, .arrays = krf__calloc(1, sizeof *b.arrays)};
    memset(k, 0, sizeof *k);
    krf_status status = b.arrays == NULL ? krf__fail_memory() : fill(&b);
    status = status == KRF_OK ? describe(&b) : status;
    krf__mem_free(b.arrays);
    if (status != KRF_OK) {
        krf__kernel_free(k);
    }
    return status;
}
