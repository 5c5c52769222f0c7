/* A raw kernel on arrays: a plan of one kernel, made for one run, whose module the context keeps. Ordered with all else by the arrays' uses. */
#include "sched/raw.h"

#include "base/fail.h"
#include "base/mem.h"
#include "plan/arguments.h"
#include "plan/raw.h"
#include "sched/kernels.h"

#include <string.h>

typedef struct starting {
    krf_context *context;
    const krf__raw *raw;
    const krf__raw_value *values;
    krf__raw_arrays arrays;
    krf__kernel kernel;
    void *pointers[KRF__MOST_PARAMETERS];
    uint64_t scalars[2 * KRF__MOST_PARAMETERS], fields[2 * KRF__MOST_PARAMETERS];
} starting;

static krf_status look_at_arrays(starting *s) {
    for (int i = 0; i < s->raw->n_parameters; i++) {
        const krf__parameter *p = &s->raw->parameters[i];
        const krf_array *a = s->values[i].array;
        if (p->role == KRF__ROLE_SCALAR) {
            continue;
        }
        if (!p->strided && !krf__array_contiguous(a)) {
            return krf__fail(KRF_E_SHAPE, "%s: %.*s is not in C order, and no expression of the definition asks for its strides: copy it with krf_array_copy", s->raw->name, (int)p->name.length,
                             p->name.at);
        }
        s->arrays.known[i] = true;
        s->arrays.layouts[i] = krf__layout_c(a->rank, a->shape);
        if (a->rank > 0) {
            memcpy(s->arrays.layouts[i].strides, a->strides, (size_t)a->rank * sizeof *a->strides);
        }
    }
    return krf__raw_shapes(s->raw, &s->arrays);
}

static void fill(starting *s) {
    uint32_t operand = 0, scalar = 0;
    for (int i = 0; i < s->raw->n_parameters; i++) {
        const krf__parameter *p = &s->raw->parameters[i];
        if (p->role != KRF__ROLE_SCALAR) {
            s->pointers[operand++] = s->values[i].array->data;
        }
        for (int half = 0; p->role == KRF__ROLE_SCALAR && p->computed.at == NULL && half < (krf__is_complex(p->dtype) ? 2 : 1); half++) {
            s->scalars[scalar++] = s->values[i].bits[half];
        }
    }
    krf__argument_pack(&s->kernel, s->pointers, s->scalars, NULL, NULL, s->fields);
}

/* Reads first: what is read and written is written last. */
static void mark(const starting *s, const krf__lane *lane) {
    for (int pass = 0; pass < 2 && lane->order != NULL; pass++) {
        for (int i = 0; i < s->raw->n_parameters; i++) {
            krf_array *a = s->raw->parameters[i].role != KRF__ROLE_SCALAR ? s->values[i].array : NULL;
            if (a != NULL && krf__parameter_written(&s->raw->parameters[i]) == (pass == 1)) {
                (pass == 1 ? krf__lane_has_written : krf__lane_has_read)(lane, &a->storage->uses);
            }
        }
    }
}

static krf_status order(const starting *s, krf__lane *lane) {
    krf_status status = KRF_OK;
    for (int i = 0; status == KRF_OK && lane->order != NULL && i < s->raw->n_parameters; i++) {
        krf_array *a = s->raw->parameters[i].role != KRF__ROLE_SCALAR ? s->values[i].array : NULL;
        if (a != NULL) {
            status = (krf__parameter_written(&s->raw->parameters[i]) ? krf__lane_writes : krf__lane_reads)(lane, &a->storage->uses);
        }
    }
    return status;
}

static krf_status refuse(void *user, void **value) {
    *value = NULL;
    return krf__fail(KRF_E_UNSUPPORTED, "%s: the stream is being captured: launch the kernel once before, so that it is loaded", ((const krf__raw *)user)->name);
}

/* Nothing may be loaded while a stream is being captured. */
static krf_status find_module(const starting *s, const krf__lane *lane, krf__module **module) {
    krf__loaded *loaded = NULL;
    void *known = NULL;
    bool fresh = false;
    if (lane->capturing) {
        krf_status found = krf__memory_cache_get(s->context->kernels, s->kernel.key, s->kernel.key_bytes, refuse, (void *)(uintptr_t)s->raw, &known, NULL);
        if (found != KRF_OK) {
            return found;
        }
    }
    krf_status status = krf__kernel_find(s->context, &s->kernel, &loaded, &fresh);
    return status == KRF_OK ? krf__kernel_use(s->context, loaded, &s->kernel, fresh ? KRF__USE_FRESH : KRF__USE_RUN, module) : status;
}

static krf_status run(starting *s, void *stream) {
    krf__lane lane;
    krf__module *module = NULL;
    krf_status status = krf__lane_enter(s->context->order, stream, &lane);
    if (status != KRF_OK) {
        return status;
    }
    status = find_module(s, &lane, &module);
    status = status == KRF_OK ? order(s, &lane) : status;
    const bool ordered = status == KRF_OK;
    if (ordered) {
        fill(s);
        const krf__launch launch = {.kernel = &s->kernel, .module = module, .fields = s->fields, .pointers = s->pointers, .scalars = s->scalars};
        status = s->context->backend->launch(s->context->device, &launch, lane.stream);
    }
    status = krf__lane_finish(&lane, status);
    if (ordered) {
        mark(s, &lane);
    }
    return status;
}

krf_status krf__raw_start(krf_context *context, krf__raw *raw, const krf__raw_value *values, const krf_launch_shape *shape, void *stream) {
    starting *s = krf__calloc(1, sizeof *s);
    if (s == NULL) {
        return krf__fail_memory();
    }
    s->context = context;
    s->raw = raw;
    s->values = values;
    krf_status status = look_at_arrays(s);
    if (status == KRF_OK && (status = krf__raw_alone(raw, &s->arrays, shape, &s->kernel)) == KRF_OK) {
        status = s->kernel.kept_size > 0 ? run(s, stream) : KRF_OK;
        krf__kernel_free(&s->kernel);
    }
    krf__mem_free(s);
    return status;
}
