/* Arrays: made, wrapped, viewed, released. How they move to and from the host is in array_copy.c. */
#include "ir/array.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/shape.h"
#include "sched/array.h"

#include <string.h>

static void destroy_wrapped(krf__storage *s) {
    krf_context *context = s->context;
    if (s->deleter != NULL) {
        s->deleter(s->user);
    }
    krf__mem_free(s);
    krf__context_release(context);
}

static krf_status check(const char *name, const krf_context *context, krf_dtype dtype, int rank, const int64_t *shape,
                        int64_t *bytes) {
    if (context == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: context is NULL", name);
    }
    if (krf_dtype_size(dtype) == 0) {
        return krf__fail(KRF_E_ARGUMENT, "%s: %d is not a dtype", name, (int)dtype);
    }
    if (rank < 0 || rank > KRF_MAX_RANK || (rank > 0 && shape == NULL)) {
        return krf__fail(KRF_E_ARGUMENT, "%s: %s", name, krf__shape_fault(rank, shape));
    }
    int64_t size = krf__shape_size(rank, shape);
    if (size < 0 || __builtin_mul_overflow(size, (int64_t)krf_dtype_size(dtype), bytes)) {
        krf__str text = {0};
        krf__str_shape(&text, rank, shape);
        krf__fail(KRF_E_SHAPE, "%s: the shape %s is negative or too large", name, text.failed ? "" : text.data);
        krf__str_free(&text);
        return KRF_E_SHAPE;
    }
    return KRF_OK;
}

static krf_status create(const char *name, krf_context *context, krf_dtype dtype, int rank, const int64_t *shape,
                         krf_array **array) {
    int64_t bytes = 0;
    if (array == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: array is NULL", name);
    }
    *array = NULL;
    krf_status status = check(name, context, dtype, rank, shape, &bytes);
    if (status != KRF_OK) {
        return status;
    }
    return krf__array_make(context, dtype, rank, shape, KRF__NO_LANE, array);
}

krf_status krf_array_create(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, krf_array **array) {
    return create("krf_array_create", context, dtype, rank, shape, array);
}

/* Kernels compute with bools as they lie in memory, where 1 is the only true one. */
static krf_status fill_bools(krf_array *array, const unsigned char *data) {
    const size_t n = (size_t)array->size;
    size_t i = 0;
    while (i < n && data[i] <= 1) {
        i++;
    }
    if (i == n) {
        return krf__array_fill(array, data);
    }
    unsigned char *bools = krf__malloc(n);
    if (bools == NULL) {
        return krf__fail_memory();
    }
    for (i = 0; i < n; i++) {
        bools[i] = data[i] != 0;
    }
    const krf_status status = krf__array_fill(array, bools);
    krf__mem_free(bools);
    return status;
}

krf_status krf_array_from_host(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const void *data,
                               krf_array **array) {
    krf_status status = create("krf_array_from_host", context, dtype, rank, shape, array);
    if (status != KRF_OK || (*array)->size == 0) {
        return status;
    }
    status = data == NULL
                 ? krf__fail(KRF_E_ARGUMENT, "krf_array_from_host: data is NULL")
             : dtype == KRF_BOOL ? fill_bools(*array, data)
                                 : krf__array_fill(*array, data);
    if (status != KRF_OK) {
        krf_array_release(*array);
        *array = NULL;
    }
    return status;
}

/* Whether the span of the strides can be computed: [*low, *high] are the least and the largest offset of an element, in
 * elements. */
static bool span(int rank, const int64_t *shape, const int64_t *strides, int64_t *low, int64_t *high) {
    *low = *high = 0;
    for (int i = 0; i < rank; i++) {
        int64_t reach;
        if (__builtin_mul_overflow(strides[i], shape[i] - 1, &reach)) {
            return false;
        }
        int64_t *end = reach < 0 ? low : high;
        if (__builtin_add_overflow(*end, reach, end)) {
            return false;
        }
    }
    return *low > INT64_MIN / 16 && *high < INT64_MAX / 16; /* bytes must not overflow either */
}

krf_status krf_array_wrap(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const int64_t *strides,
                          void *data, void (*deleter)(void *user), void *user, krf_array **array) {
    int64_t bytes = 0, low = 0, high = 0;
    if (array == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_wrap: array is NULL");
    }
    *array = NULL;
    krf_status status = check("krf_array_wrap", context, dtype, rank, shape, &bytes);
    if (status != KRF_OK) {
        return status;
    }
    if (bytes > 0 && (data == NULL || (uintptr_t)data % krf_dtype_size(krf__part_of(dtype)) != 0)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_wrap: data is %s",
                         data == NULL ? "NULL" : "not aligned to its elements");
    }
    if (strides != NULL && bytes > 0 && !span(rank, shape, strides, &low, &high)) {
        return krf__fail(KRF_E_SHAPE, "krf_array_wrap: the strides reach further than memory does");
    }
    krf_array *a = krf__array_new(context, dtype, rank, shape, destroy_wrapped);
    if (a == NULL) {
        return krf__fail_memory();
    }
    if (strides != NULL && rank > 0) {
        memcpy(a->strides, strides, (size_t)rank * sizeof *strides);
    }
    a->data = bytes > 0 ? data : NULL;
    const char *first, *end;
    krf__array_range(a, &first, &end);
    a->storage->data = a->data != NULL ? a->data - (a->data - first) : NULL;
    a->storage->bytes = (size_t)(end - first);
    a->storage->deleter = deleter;
    a->storage->user = user;
    *array = a;
    return KRF_OK;
}

/* Whether elements [low, high] around `first` lie in the storage. */
static bool inside(const krf_array *base, int64_t first, int64_t low, int64_t high) {
    int64_t item = (int64_t)krf_dtype_size(base->dtype);
    int64_t before = base->data == NULL
                         ? 0
                         : (base->data - (char *)base->storage->data) / item; /* elements ahead of the base's first */
    int64_t all =
        base->data == NULL ? 0 : before + ((char *)base->storage->data + base->storage->bytes - base->data) / item;
    return !__builtin_add_overflow(first, before, &first) && !__builtin_add_overflow(low, first, &low)
           && !__builtin_add_overflow(high, first, &high) && low >= 0 && high < all;
}

krf_status krf_array_view(krf_array *base, int rank, const int64_t *shape, const int64_t *strides, int64_t offset,
                          krf_array **array) {
    int64_t bytes = 0, low = 0, high = 0, c_strides[KRF_MAX_RANK];
    if (array == NULL || base == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_array_view: %s is NULL", array == NULL ? "array" : "base");
    }
    *array = NULL;
    krf_status status = check("krf_array_view", base->storage->context, base->dtype, rank, shape, &bytes);
    if (status != KRF_OK) {
        return status;
    }
    if (strides == NULL) {
        krf__shape_c_strides(rank, shape, c_strides);
        strides = c_strides;
    }
    if (bytes > 0 && (!span(rank, shape, strides, &low, &high) || !inside(base, offset, low, high))) {
        return krf__fail(KRF_E_SHAPE, "krf_array_view: the view reaches outside the memory of the array");
    }
    krf_array *a = krf__calloc(1, sizeof *a);
    if (a == NULL) {
        return krf__fail_memory();
    }
    atomic_init(&a->references, 1);
    a->id = krf__array_new_id();
    a->dtype = base->dtype;
    a->rank = rank;
    a->size = krf__shape_size(rank, shape);
    if (rank > 0) {
        memcpy(a->shape, shape, (size_t)rank * sizeof *shape);
        memcpy(a->strides, strides, (size_t)rank * sizeof *strides);
    }
    a->data = a->size > 0 ? base->data + offset * (int64_t)krf_dtype_size(base->dtype) : NULL;
    a->storage = base->storage;
    atomic_fetch_add(&a->storage->references, 1);
    *array = a;
    return KRF_OK;
}
