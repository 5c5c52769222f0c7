/* Bindings of a run: which placeholder each is for, and whether it is what the plan was compiled for. Every message
 * names the placeholder and both sides. */
#include "api/plan.h"

#include "base/fail.h"
#include "base/mem.h"
#include "sched/array.h"

#include <stdio.h>
#include <string.h>

typedef struct shown {
    char text[24];
} shown;

/* The name of a placeholder, for messages. */
static const char *name_of(const krf__plan_data *d, uint32_t i, shown *s) {
    if (d->placeholders[i].name != NULL) {
        return d->placeholders[i].name;
    }
    snprintf(s->text, sizeof s->text, "placeholder %u", i);
    return s->text;
}

static bool strides_agree(const krf__layout *want, const int64_t *strides) {
    bool agree = true;
    for (int i = 0; i < want->rank; i++) {
        if (want->shape[i] == 0) {
            return true;
        }
        agree &= want->shape[i] == 1 || want->strides[i] == strides[i];
    }
    return agree;
}

/* "f32 (1024, 64) in C order", "f64 (10,) with strides (2,)". */
static void describe(krf__str *s, krf_dtype dtype, int rank, const int64_t *shape, const int64_t *strides) {
    krf__layout c = krf__layout_c(rank, shape);
    krf__str_printf(s, "%s ", krf_dtype_name(dtype));
    krf__str_shape(s, rank, shape);
    if (rank > 0 && strides_agree(&c, strides)) {
        krf__str_put(s, " in C order");
    } else if (rank > 0) {
        krf__str_put(s, " with strides ");
        krf__str_shape(s, rank, strides);
    }
}

static krf_status mismatch(const char *name, const krf__spec *spec, const krf_array *a) {
    krf_status status = spec->dtype != (uint8_t)a->dtype ? KRF_E_DTYPE : KRF_E_SHAPE;
    bool order = status == KRF_E_SHAPE && krf__shape_equal(spec->layout.rank, spec->layout.shape, a->rank, a->shape);
    krf__str s = {0};
    describe(&s, (krf_dtype)spec->dtype, spec->layout.rank, spec->layout.shape, spec->layout.strides);
    krf__str_put(&s, ", not ");
    if (order) {
        describe(&s, a->dtype, a->rank, a->shape, a->strides);
    } else {
        krf__str_printf(&s, "%s ", krf_dtype_name(a->dtype));
        krf__str_shape(&s, a->rank, a->shape);
    }
    krf__fail(status, "%s: the plan was compiled for %s", name, s.failed ? "another array" : s.data);
    krf__str_free(&s);
    return status;
}

static krf_status bind_array(const krf_plan *p, const char *name, const krf__spec *spec, const krf_binding *b,
                             krf_array **bound) {
    if (b->kind != KRF_BIND_ARRAY) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the plan takes an array, not a number", name);
    }
    const krf_array *a = b->array;
    if (a == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the array is NULL", name);
    }
    if (a->storage->context != p->context) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the array belongs to another context than the plan: copy it to an array of this one with krf_array_copy", name);
    }
    if (spec->dtype != (uint8_t)a->dtype || !krf__shape_equal(spec->layout.rank, spec->layout.shape, a->rank, a->shape)
        || !strides_agree(&spec->layout, a->strides)) {
        return mismatch(name, spec, a);
    }
    *bound = b->array;
    return KRF_OK;
}

/* The one element of an array of rank 0: waits for it. */
static krf_status read_scalar(const krf_plan *p, void *stream, const char *name, const krf__spec *spec,
                              krf_array *a, uint64_t *value, uint64_t *imaginary) {
    if (a == NULL || a->storage->context != p->context) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the array is %s", name,
                         a == NULL ? "NULL" : "of another context than the plan: copy it to an array of this one with krf_array_copy");
    }
    if (a->rank != 0 || spec->dtype != (uint8_t)a->dtype) {
        return mismatch(name, spec, a);
    }
    char bytes[16] = {0};
    size_t half = krf_dtype_size(krf__part_of(a->dtype));
    krf_status status = krf__array_read(a, stream, bytes);
    *value = *imaginary = 0;
    memcpy(value, bytes, half);
    if (krf__is_complex(a->dtype)) {
        memcpy(imaginary, bytes + half, half);
    }
    return status;
}

static krf_status bind_scalar(const krf_plan *p, void *stream, const char *name, const krf__spec *spec,
                              const krf_binding *b, uint64_t *value, uint64_t *imaginary) {
    krf_dtype dtype = krf__part_of((krf_dtype)spec->dtype);
    switch (b->kind) {
    case KRF_BIND_ARRAY: return read_scalar(p, stream, name, spec, b->array, value, imaginary);
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

static krf_status unknown_name(const krf__plan_data *d, const char *name) {
    krf__str s = {0};
    shown number;
    for (uint32_t i = 0; i < d->n_placeholders; i++) {
        krf__str_printf(&s, "%s%s", i > 0 ? ", " : "", name_of(d, i, &number));
    }
    krf__fail(KRF_E_ARGUMENT, "%s: the plan has no placeholder of this name%s%s", name, s.length > 0 ? "; it has " : "",
              s.length > 0 && !s.failed ? s.data : "");
    krf__str_free(&s);
    return KRF_E_ARGUMENT;
}

/* Which placeholder binding `position` is for; n_placeholders (and the message): none. */
static uint32_t find(const krf__plan_data *d, int position, const krf_binding *b) {
    uint32_t i = b->name == NULL ? (uint32_t)position : 0;
    while (b->name != NULL && i < d->n_placeholders
           && (d->placeholders[i].name == NULL || strcmp(d->placeholders[i].name, b->name) != 0)) {
        i++;
    }
    if (i >= d->n_placeholders && b->name != NULL) {
        unknown_name(d, b->name);
    } else if (i >= d->n_placeholders) {
        krf__fail(KRF_E_ARGUMENT, "krf_plan_run: binding %d has no name, and the plan has %u placeholders", position,
                  d->n_placeholders);
    }
    return i < d->n_placeholders ? i : d->n_placeholders;
}

static krf_status bind_all(const krf_plan *p, void *stream, int n, const krf_binding *bindings, krf_array **bound,
                           uint64_t *values, bool *seen) {
    const krf__plan_data *d = &p->aligned->data;
    shown number;
    for (int i = 0; i < n; i++) {
        uint32_t k = find(d, i, &bindings[i]);
        if (k == d->n_placeholders) {
            return KRF_E_ARGUMENT;
        }
        const krf__spec *spec = &d->placeholders[k];
        const char *name = name_of(d, k, &number);
        if (seen[k]) {
            return krf__fail(KRF_E_ARGUMENT, "%s: bound twice", name);
        }
        seen[k] = true;
        krf_status status = spec->scalar ? bind_scalar(p, stream, name, spec, &bindings[i], &values[k], &values[k + d->n_placeholders])
                                         : bind_array(p, name, spec, &bindings[i], &bound[k]);
        if (status != KRF_OK) {
            return status;
        }
    }
    for (uint32_t k = 0; k < d->n_placeholders; k++) {
        if (!seen[k]) {
            return krf__fail(KRF_E_ARGUMENT, "%s: not bound", name_of(d, k, &number));
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
