/* Outputs that callers give: whether they fit, and whether they share memory with what is read. */
#include "sched/outputs.h"

#include "base/fail.h"
#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>

/* Whether two elements may share memory: sorted by stride, each must step over all that the smaller ones reach. */
static bool overlaps_itself(const krf_array *a) {
    int order[KRF_MAX_RANK], n = 0;
    for (int i = 0; i < a->rank; i++) {
        if (a->shape[i] > 1) {
            int at = n++;
            for (; at > 0 && llabs(a->strides[order[at - 1]]) > llabs(a->strides[i]); at--) {
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
    }
    long long reach = 0;
    for (int k = 0; k < n; k++) {
        long long stride = llabs(a->strides[order[k]]);
        if (stride <= reach) {
            return true;
        }
        reach += stride * (a->shape[order[k]] - 1);
    }
    return false;
}

const char *krf__output_name(char name[48], const char *what, int index) {
    if (index < 0) {
        snprintf(name, 48, "%s", what);
    } else {
        snprintf(name, 48, "%s %d", what, index);
    }
    return name;
}

krf_status krf__output_check(krf_context *context, const char *what, int index, const krf_array *array, krf_dtype dtype,
                             int rank, const int64_t *shape) {
    char name[48];
    if (array->storage->context != context) {
        krf__output_name(name, what, index);
        return krf__fail(KRF_E_ARGUMENT, "%s: the array belongs to another context: copy it to an array of this one with krf_array_copy", name);
    }
    if (array->dtype != dtype) {
        krf__output_name(name, what, index);
        return krf__fail(KRF_E_DTYPE, "%s: the result is %s, the array that was given is %s", name,
                         krf_dtype_name(dtype), krf_dtype_name(array->dtype));
    }
    if (!krf__shape_equal(rank, shape, array->rank, array->shape)) {
        krf__str text = {0};
        krf__str_put(&text, "the result has shape ");
        krf__str_shape(&text, rank, shape);
        krf__str_put(&text, ", the array that was given ");
        krf__str_shape(&text, array->rank, array->shape);
        krf__fail(KRF_E_SHAPE, "%s: %s", krf__output_name(name, what, index), text.data != NULL && !text.failed ? text.data : "another shape");
        krf__str_free(&text);
        return KRF_E_SHAPE;
    }
    if (array->storage->read_only) {
        krf__output_name(name, what, index);
        return krf__fail(KRF_E_ARGUMENT, "%s: the array that was given is read-only", name);
    }
    if (array->size > 0 && overlaps_itself(array)) {
        krf__output_name(name, what, index);
        return krf__fail(KRF_E_ARGUMENT, "%s: elements of the array that was given share memory", name);
    }
    return KRF_OK;
}

krf_status krf__outputs_apart(int n, krf_array *const *outputs) {
    for (int k = 1; k < n; k++) {
        for (int j = 0; j < k; j++) {
            if (krf__arrays_share(outputs[j], outputs[k])) {
                return krf__fail(KRF_E_ARGUMENT, "outputs %d and %d share memory", j, k);
            }
        }
    }
    return KRF_OK;
}

/* The bytes that an operand of a kernel touches, in whole elements of the array; false for none. */
static bool operand_range(const krf__run *r, const krf__kernel *k, const krf__operand *o, const char **first,
                          const char **low, const char **high) {
    const krf_array *array = o->counts || o->inner != 0 ? NULL : krf__run_array(r, &r->compiled->data.buffers[o->buffer]);
    int64_t item = (int64_t)krf_dtype_size((krf_dtype)o->dtype);
    if (array == NULL || array->size == 0) {
        return false;
    }
    int64_t halves = krf__is_complex(array->dtype) ? 2 : 1; /* the operand may be either half of a complex element */
    *first = *low = array->data + (o->offset - (o->offset & (halves - 1))) * item;
    *high = *first + halves * item;
    if (o->gathered) {
        krf__array_range(array, low, high);
        return true;
    }
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        int64_t reach = o->strides[d] * (k->extents[d] - 1) * item;
        *(reach < 0 ? low : high) += reach;
    }
    return true;
}

static size_t element_bytes(const krf__run *r, const krf__operand *o) {
    return krf_dtype_size(krf__run_array(r, &r->compiled->data.buffers[o->buffer])->dtype);
}

/* Whether a map reads what it writes to `store` only at the same element: then it may be in place. */
static bool reads_in_place(const krf__run *r, const krf__kernel *k, const krf__operand *store) {
    const char *at, *low, *high, *from, *from_low, *from_high;
    if (!operand_range(r, k, store, &at, &low, &high)) {
        return true;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->store || !operand_range(r, k, o, &from, &from_low, &from_high) || from_low >= high || low >= from_high) {
            continue;
        }
        bool same = !o->gathered && from == at && element_bytes(r, o) == element_bytes(r, store);
        for (int d = 0; d < k->n_kept; d++) {
            same &= k->extents[d] == 1 || o->strides[d] == store->strides[d];
        }
        if (!same) {
            return false;
        }
    }
    return true;
}

static bool shares_with_operands(const krf__run *r, const krf_array *output) {
    const krf__plan_data *p = &r->compiled->data;
    for (uint32_t i = 0; i < p->n_buffers; i++) {
        const krf__buffer *b = &p->buffers[i];
        if ((b->kind == KRF__BUFFER_INPUT || b->kind == KRF__BUFFER_PLACEHOLDER)
            && krf__arrays_overlap(output, krf__run_array(r, b))) {
            return true;
        }
    }
    return false;
}

static bool may_be_in_place(const krf__run *r, uint32_t output) {
    const krf__plan_data *p = &r->compiled->data;
    if (p->n_kernels != 1 || p->kernels[0].schedule != KRF__MAP) {
        return false;
    }
    for (uint32_t i = 0; i < p->kernels[0].n_operands; i++) {
        const krf__operand *o = &p->kernels[0].operands[i];
        if (o->store && o->buffer == output && !reads_in_place(r, &p->kernels[0], o)) {
            return false;
        }
    }
    return true;
}

bool krf__plan_conflicts(const krf__run *r, bool *conflict) {
    bool any = false;
    for (uint32_t k = 0; k < r->compiled->data.n_outputs; k++) {
        conflict[k] = shares_with_operands(r, r->outputs[k]) && !may_be_in_place(r, k);
        for (uint32_t j = 0; j < k && !conflict[k]; j++) {
            conflict[k] = krf__arrays_overlap(r->outputs[k], r->outputs[j]);
        }
        any |= conflict[k];
    }
    return any;
}
