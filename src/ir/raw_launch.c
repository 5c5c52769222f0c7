/* What a launch of a raw kernel follows from: extents are bound to the names in the brackets, then expressions are computed. */
#include "ir/raw.h"

#include "base/fail.h"
#include "base/strbuf.h"
#include "ir/dtype.h"

#include <stdlib.h>
#include <string.h>

#define MOST_GRID_X INT64_C(2147483647)
#define MOST_GRID_YZ INT64_C(65535)
#define MOST_THREADS 1024
#define MOST_SHARED (INT64_C(1) << 20)

typedef struct binding {
    krf__span name;
    int64_t value;
} binding;

typedef struct binder {
    const krf__raw *raw;
    const krf__raw_arrays *arrays;
    binding names[KRF__MOST_PARAMETERS * 4];
    int n;
} binder;

static const binding *bound(const binder *b, krf__span name) {
    for (int i = 0; i < b->n; i++) {
        if (krf__span_same(b->names[i].name, name)) {
            return &b->names[i];
        }
    }
    return NULL;
}

static bool value_of(void *user, krf__span name, krf__span fact, int64_t axis, int64_t *value, int *rank) {
    const binder *b = user;
    const binding *known = fact.at == NULL ? bound(b, name) : NULL;
    if (known != NULL) {
        *value = known->value;
        return true;
    }
    for (int i = 0; i < b->raw->n_parameters && fact.at != NULL; i++) {
        const krf__layout *x = &b->arrays->layouts[i];
        if (!b->arrays->known[i] || !krf__span_same(b->raw->parameters[i].name, name)) {
            continue;
        }
        axis += axis < 0 ? x->rank : 0;
        const bool extent = krf__span_is(fact, "shape"), stride = krf__span_is(fact, "strides");
        if ((extent || stride) && (axis < 0 || axis >= x->rank)) {
            *rank = x->rank;
            return false;
        }
        *value = extent ? x->shape[axis] : stride ? x->strides[axis] : krf__span_is(fact, "rank") ? x->rank : krf__shape_size(x->rank, x->shape);
        return true;
    }
    return false;
}

static bool is_name(krf__span text) {
    bool name = text.length > 0 && !(*text.at >= '0' && *text.at <= '9');
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        name &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    return name;
}

/* "m = 3, k = 4", for messages. */
static void put_names(const binder *b, krf__str *s) {
    for (int i = 0; i < b->n; i++) {
        krf__str_printf(s, "%s%.*s = %lld", i > 0 ? ", " : "", (int)b->names[i].name.length, b->names[i].name.at, (long long)b->names[i].value);
    }
}

static krf_status shape_differs(const binder *b, int parameter) {
    const krf__parameter *p = &b->raw->parameters[parameter];
    const krf__layout *x = &b->arrays->layouts[parameter];
    krf__str s = {0};
    krf__str_printf(&s, "%s: %.*s has shape ", b->raw->name, (int)p->name.length, p->name.at);
    krf__str_shape(&s, x->rank, x->shape);
    krf__str_put(&s, ", and the parameter is [");
    for (int d = 0; d < p->rank; d++) {
        krf__str_printf(&s, "%s%.*s", d > 0 ? ", " : "", (int)p->extents[d].length, p->extents[d].at);
    }
    krf__str_put(&s, b->n > 0 && x->rank == p->rank ? "] with " : "]");
    if (x->rank == p->rank) {
        put_names(b, &s);
    }
    krf__fail(KRF_E_SHAPE, "%s", s.failed || s.data == NULL ? "shapes do not fit" : s.data);
    krf__str_free(&s);
    return KRF_E_SHAPE;
}

/* The message of an expression, with the kernel's name and the sizes. */
static krf_status expression_failed(const binder *b) {
    char why[KRF__MESSAGE_SIZE];
    krf__str s = {0};
    memcpy(why, krf_error_message(), strlen(krf_error_message()) + 1);
    put_names(b, &s);
    krf__fail(KRF_E_ARGUMENT, "%s: %s%s%s%s", b->raw->name, why, s.length > 0 ? " (" : "", s.length > 0 && !s.failed ? s.data : "", s.length > 0 ? ")" : "");
    krf__str_free(&s);
    return KRF_E_ARGUMENT;
}

static krf_status evaluate(binder *b, krf__span text, int64_t *value) { return krf__extent_eval(text, value_of, b, value) == KRF_OK ? KRF_OK : expression_failed(b); }

/* Names are bound first, by whichever array has them alone in a bracket; what is left is compared. */
static krf_status bind_names(binder *b) {
    for (int i = 0; i < b->raw->n_parameters; i++) {
        const krf__parameter *p = &b->raw->parameters[i];
        if (p->role == KRF__ROLE_SCALAR || p->any || !b->arrays->known[i]) {
            continue;
        }
        if (b->arrays->layouts[i].rank != p->rank) {
            return shape_differs(b, i);
        }
        for (int d = 0; d < p->rank; d++) {
            if (is_name(p->extents[d]) && bound(b, p->extents[d]) == NULL && b->n < (int)(sizeof b->names / sizeof *b->names)) {
                b->names[b->n++] = (binding){p->extents[d], b->arrays->layouts[i].shape[d]};
            }
        }
    }
    return KRF_OK;
}

static krf_status compare(binder *b, int i) {
    const krf__parameter *p = &b->raw->parameters[i];
    for (int d = 0; d < p->rank; d++) {
        int64_t value;
        krf_status status = evaluate(b, p->extents[d], &value);
        if (status != KRF_OK) {
            return status;
        }
        if (value != b->arrays->layouts[i].shape[d]) {
            return shape_differs(b, i);
        }
    }
    return KRF_OK;
}

static krf_status make_shape(binder *b, int i, krf__raw_arrays *arrays) {
    const krf__parameter *p = &b->raw->parameters[i];
    int64_t shape[KRF_MAX_RANK];
    krf_status status = KRF_OK;
    if (p->any) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the result %.*s has no brackets: who calls gives its shape", b->raw->name, (int)p->name.length, p->name.at);
    }
    for (int d = 0; status == KRF_OK && d < p->rank; d++) {
        status = evaluate(b, p->extents[d], &shape[d]);
    }
    if (status == KRF_OK && krf__shape_size(p->rank, shape) < 0) {
        krf__str s = {0};
        krf__str_shape(&s, p->rank, shape);
        status = krf__fail(KRF_E_SHAPE, "%s: the result %.*s would have shape %s", b->raw->name, (int)p->name.length, p->name.at, s.data != NULL && !s.failed ? s.data : "?");
        krf__str_free(&s);
    }
    if (status == KRF_OK) {
        arrays->layouts[i] = krf__layout_c(p->rank, shape);
        arrays->known[i] = true;
    }
    return status;
}

krf_status krf__raw_shapes(const krf__raw *raw, krf__raw_arrays *arrays) {
    binder b = {.raw = raw, .arrays = arrays};
    krf_status status = bind_names(&b);
    for (int i = 0; status == KRF_OK && i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        if (p->role != KRF__ROLE_SCALAR) {
            status = !arrays->known[i] ? make_shape(&b, i, arrays) : p->any ? KRF_OK : compare(&b, i);
        }
    }
    return status;
}

static krf_status dimensions(binder *b, const char *what, const krf__span *texts, const uint32_t *given, uint32_t *out) {
    int64_t n[3] = {1, 1, 1};
    krf_status status = KRF_OK;
    for (int d = 0; status == KRF_OK && d < 3; d++) {
        n[d] = given != NULL && given[0] != 0 ? (given[d] > 0 ? given[d] : 1) : 1;
        if (texts[d].at != NULL && (given == NULL || given[0] == 0)) {
            status = evaluate(b, texts[d], &n[d]);
        }
    }
    const bool grid = *what == 'g';
    bool fits = true;
    for (int d = 0; status == KRF_OK && d < 3; d++) {
        fits &= n[d] > 0 && n[d] <= (grid ? d == 0 ? MOST_GRID_X : MOST_GRID_YZ : MOST_THREADS);
        out[d] = (uint32_t)n[d];
    }
    fits = fits && (grid || n[0] * n[1] * n[2] <= MOST_THREADS);
    if (status == KRF_OK && !fits) {
        krf__str s = {0};
        put_names(b, &s);
        status = krf__fail(grid ? KRF_E_ARGUMENT : KRF_E_UNSUPPORTED, "%s: the %s is (%lld, %lld, %lld)%s%s; %s", b->raw->name, what, (long long)n[0], (long long)n[1], (long long)n[2],
                           s.length > 0 ? ", for " : "", s.length > 0 && !s.failed ? s.data : "",
                           grid ? "it has 1 to 2147483647 blocks along x, and 1 to 65535 along y and z" : "it has 1 to 1024 threads");
        krf__str_free(&s);
    }
    return status;
}

static krf_status check_fits(const krf__raw *raw, const krf__parameter *p, int64_t value) {
    return krf__int_fits(p->dtype, value) ? KRF_OK : krf__fail(KRF_E_ARGUMENT, "%s: %.*s is %lld, out of the range of %s", raw->name, (int)p->name.length, p->name.at, (long long)value, krf_dtype_name(p->dtype));
}

krf_status krf__raw_launch_of(const krf__raw *raw, const krf__raw_arrays *arrays, const krf_launch_shape *shape, krf__raw_launch *launch) {
    binder b = {.raw = raw, .arrays = arrays};
    int64_t shared = 0;
    memset(launch, 0, sizeof *launch);
    launch->empty = true;
    for (int i = 0; i < raw->n_parameters; i++) {
        launch->empty &= !krf__parameter_written(&raw->parameters[i]) || krf__shape_size(arrays->layouts[i].rank, arrays->layouts[i].shape) == 0;
    }
    krf_status status = bind_names(&b);
    for (int i = 0; status == KRF_OK && i < raw->n_parameters; i++) {
        if (raw->parameters[i].computed.at != NULL) {
            status = evaluate(&b, raw->parameters[i].computed, &launch->computed[i]);
            status = status == KRF_OK ? check_fits(raw, &raw->parameters[i], launch->computed[i]) : status;
        }
    }
    launch->units = 1;
    if (status == KRF_OK && !launch->empty && raw->units.at != NULL) {
        status = evaluate(&b, raw->units, &launch->units);
    }
    if (status != KRF_OK || launch->empty || raw->cuda == NULL) {
        return status;
    }
    const bool grid = raw->grid[0].at != NULL || (shape != NULL && shape->grid[0] != 0), block = raw->block[0].at != NULL || (shape != NULL && shape->block[0] != 0);
    if (!grid || !block) {
        return krf__fail(KRF_E_ARGUMENT, "%s: there is no %s: neither its definition nor the call says how many %s there are", raw->name, grid ? "block" : "grid", grid ? "threads" : "blocks");
    }
    status = dimensions(&b, "grid", raw->grid, shape != NULL ? shape->grid : NULL, launch->grid);
    status = status == KRF_OK ? dimensions(&b, "block", raw->block, shape != NULL ? shape->block : NULL, launch->block) : status;
    if (status == KRF_OK && shape != NULL && shape->shared != 0) {
        shared = shape->shared;
    } else if (status == KRF_OK && raw->shared.at != NULL) {
        status = evaluate(&b, raw->shared, &shared);
    }
    if (status == KRF_OK && (shared < 0 || shared > MOST_SHARED)) {
        status = krf__fail(KRF_E_UNSUPPORTED, "%s: %lld bytes of dynamic shared memory; no device has so much", raw->name, (long long)shared);
    }
    launch->shared = (uint32_t)shared;
    return status;
}
