/* Bindings of a run: which placeholder each is for. Every message names the placeholder. */
#include "api/plan.h"

#include "base/fail.h"
#include "base/mem.h"
#include "sched/array.h"

#include <stdio.h>
#include <string.h>

static krf_status bind_array(const char *name, const krf_binding *b, krf_array **bound) {
    if (b->kind != KRF_BIND_ARRAY) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the plan takes an array, not a number", name);
    }
    if (b->array == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the array is NULL", name);
    }
    *bound = b->array;
    return KRF_OK;
}

/* The one element of an array of rank 0: waits for it. */
static krf_status read_scalar(const krf_plan *p, void *stream, const char *name, uint32_t placeholder, krf_array *a, uint64_t *value, uint64_t *imaginary) {
    if (a == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the array is NULL", name);
    }
    krf_status status = krf__plan_check_input(p, placeholder, a);
    if (status != KRF_OK) {
        return status;
    }
    char bytes[16] = {0};
    size_t half = krf_dtype_size(krf__part_of(a->dtype));
    status = krf__array_read(a, stream, bytes);
    *value = *imaginary = 0;
    memcpy(value, bytes, half);
    if (krf__is_complex(a->dtype)) {
        memcpy(imaginary, bytes + half, half);
    }
    return status;
}

static krf_status bind_scalar(const krf_plan *p, void *stream, const char *name, uint32_t placeholder, const krf_binding *b, uint64_t *value, uint64_t *imaginary) {
    const krf__spec *spec = &p->aligned->data.placeholders[placeholder];
    krf_dtype dtype = krf__part_of((krf_dtype)spec->dtype);
    switch (b->kind) {
    case KRF_BIND_ARRAY: return read_scalar(p, stream, name, placeholder, b->array, value, imaginary);
    case KRF_BIND_COMPLEX:
        *value = krf__bits_from_f64(dtype, b->f);
        *imaginary = krf__bits_from_f64(dtype, b->imaginary);
        return krf__is_complex((krf_dtype)spec->dtype)
                   ? KRF_OK
                   : krf__fail(KRF_E_DTYPE, "%s: the plan takes %s, not a complex number", name, krf_dtype_name((krf_dtype)spec->dtype));
    case KRF_BIND_INT:
        *value = krf__bits_from_i64(dtype, b->i);
        return krf__is_real(dtype) || krf__int_fits(dtype, b->i)
                   ? KRF_OK
                   : krf__fail(KRF_E_DTYPE, "%s: %lld is out of the range of %s", name, (long long)b->i,
                               krf_dtype_name(dtype));
    case KRF_BIND_REAL:
        *value = krf__bits_from_f64(dtype, b->f);
        return krf__is_real(dtype) ? KRF_OK
                                   : krf__fail(KRF_E_DTYPE, "%s: the plan takes %s: bind it with krf_bind_int", name,
                                               krf_dtype_name(dtype));
    case KRF_BIND_EXPR: break;
    }
    return krf__fail(KRF_E_ARGUMENT, "%s: a run takes arrays and numbers, no expressions", name);
}

static krf_status unknown_name(const krf_plan *p, const char *name) {
    const krf__plan_data *d = &p->aligned->data;
    krf__str s = {0};
    krf__placeholder_name number;
    for (uint32_t i = 0; i < d->n_placeholders; i++) {
        krf__str_printf(&s, "%s%s", i > 0 ? ", " : "", krf__plan_placeholder(p, i, &number));
    }
    krf__fail(KRF_E_ARGUMENT, "%s: the plan has no placeholder of this name%s%s", name, s.length > 0 ? "; it has " : "",
              s.length > 0 && !s.failed ? s.data : "");
    krf__str_free(&s);
    return KRF_E_ARGUMENT;
}

/* Which placeholder binding `position` is for; n_placeholders (and the message): none. */
static uint32_t find(const krf_plan *p, int position, const krf_binding *b) {
    const krf__plan_data *d = &p->aligned->data;
    uint32_t i = b->name == NULL ? (uint32_t)position : 0;
    while (b->name != NULL && i < d->n_placeholders
           && (d->placeholders[i].name == NULL || strcmp(d->placeholders[i].name, b->name) != 0)) {
        i++;
    }
    if (i >= d->n_placeholders && b->name != NULL) {
        unknown_name(p, b->name);
    } else if (i >= d->n_placeholders) {
        krf__fail(KRF_E_ARGUMENT, "krf_plan_run: binding %d has no name, and the plan has %u placeholders", position,
                  d->n_placeholders);
    }
    return i < d->n_placeholders ? i : d->n_placeholders;
}

static krf_status bind_all(const krf_plan *p, void *stream, int n, const krf_binding *bindings, krf_array **bound,
                           uint64_t *values, bool *seen) {
    const krf__plan_data *d = &p->aligned->data;
    krf__placeholder_name number;
    for (int i = 0; i < n; i++) {
        uint32_t k = find(p, i, &bindings[i]);
        if (k == d->n_placeholders) {
            return KRF_E_ARGUMENT;
        }
        const char *name = krf__plan_placeholder(p, k, &number);
        if (seen[k]) {
            return krf__fail(KRF_E_ARGUMENT, "%s: bound twice", name);
        }
        seen[k] = true;
        krf_status status = d->placeholders[k].scalar ? bind_scalar(p, stream, name, k, &bindings[i], &values[k], &values[k + d->n_placeholders])
                                                      : bind_array(name, &bindings[i], &bound[k]);
        if (status != KRF_OK) {
            return status;
        }
    }
    for (uint32_t k = 0; k < d->n_placeholders; k++) {
        if (!seen[k]) {
            return krf__fail(KRF_E_ARGUMENT, "%s: not bound", krf__plan_placeholder(p, k, &number));
        }
    }
    return KRF_OK;
}

krf_status krf__plan_bind(const krf_plan *p, void *stream, int n, const krf_binding *bindings, krf_array **bound,
                          uint64_t *values) {
    bool small[64] = {false}, *seen = small;
    size_t count = p->aligned->data.n_placeholders;
    if (count > sizeof small && (seen = krf__calloc(count, sizeof *seen)) == NULL) {
        return krf__fail_memory();
    }
    krf_status status = bind_all(p, stream, n, bindings, bound, values, seen);
    if (seen != small) {
        krf__mem_free(seen);
    }
    return status;
}
