/* Reductions that are expressions over others. They are built with reduced axes kept, and lose them at the end. */
#include "ir/composing.h"

#include "base/fail.h"

#include <math.h>

static const struct {
    const char *name;
    bool ddof;
} infos[KRF__COMPOSED_COUNT] = {
#define COMPOSED(name, doc) {#name, false},
#define DDOF(name, doc) {#name, true},
#include "ir/composed.def"
};

const char *krf__composed_name(krf__composed which) { return infos[which].name; }
bool krf__composed_has_ddof(krf__composed which) { return infos[which].ddof; }

static bool may_be_nan(const krf__composing *c, uint32_t x) { return krf__is_real(composed_dtype(c, x)) || krf__is_complex(composed_dtype(c, x)); }
/* What has room for abs(x) of the lowest x, where the sum has it anyway. */
static uint32_t wide_integer(const krf__composing *c, uint32_t x) { return x != 0 && krf__dtype(composed_dtype(c, x))->kind == KRF__KIND_SINT ? krf__build_cast(c->g, x, KRF_I64) : x; }
/* exp of what is left when the largest is taken off; an infinite largest stays. */
static uint32_t logsumexp(const krf__composing *c, uint32_t x) {
    uint32_t largest = composed_reduce(c, KRF__max, x);
    if (largest == 0) {
        return 0;
    }
    uint32_t finite = composed2(c, KRF__equal, composed2(c, KRF__subtract, largest, largest), composed_number(c, 0));
    uint32_t shift = krf__build_stop_gradient(c->g, composed_where(c, finite, largest, composed_number(c, 0))); /* the result does not depend on it */
    uint32_t sum = composed_reduce(c, KRF__sum, composed1(c, KRF__exp, composed2(c, KRF__subtract, x, shift)));
    return composed2(c, KRF__add, composed1(c, KRF__log, sum), shift);
}

static uint32_t without_nan(const krf__composing *c, uint32_t x, double instead) {
    return may_be_nan(c, x) ? composed_where(c, composed1(c, KRF__isnan, x), composed_number(c, instead), x) : x;
}

static uint32_t nan_extreme(const krf__composing *c, krf__op op, uint32_t x, double instead) {
    if (!krf__is_real(composed_dtype(c, x))) {
        return composed_reduce(c, op, x);
    }
    uint32_t extreme = composed_reduce(c, op, without_nan(c, x, instead));
    return composed_where(c, composed_reduce(c, KRF__all, composed1(c, KRF__isnan, x)), composed_number(c, (double)NAN), extreme);
}

static uint32_t nan_mean(const krf__composing *c, uint32_t x) {
    if (!may_be_nan(c, x)) {
        return composed_reduce(c, KRF__mean, x);
    }
    uint32_t there = composed1(c, KRF__logical_not, composed1(c, KRF__isnan, x));
    uint32_t n = krf__build_cast(c->g, composed_reduce(c, KRF__sum, there), composed_dtype(c, x));
    return composed2(c, KRF__divide, composed_reduce(c, KRF__sum, without_nan(c, x, 0)), n);
}

static uint32_t compose(const krf__composing *c, uint32_t x, double ddof) {
    switch (c->which) {
    case KRF__COMPOSED_var: return krf__compose_variance(c, x, ddof);
    case KRF__COMPOSED_std: return composed1(c, KRF__sqrt, krf__compose_variance(c, x, ddof));
    case KRF__COMPOSED_count_nonzero: return composed_reduce(c, KRF__sum, krf__build_cast(c->g, x, KRF_BOOL));
    case KRF__COMPOSED_ptp: return composed2(c, KRF__subtract, composed_reduce(c, KRF__max, x), composed_reduce(c, KRF__min, x));
    case KRF__COMPOSED_logsumexp: return logsumexp(c, x);
    case KRF__COMPOSED_argmax: return krf__compose_place(c, KRF__max, x);
    case KRF__COMPOSED_argmin: return krf__compose_place(c, KRF__min, x);
    case KRF__COMPOSED_nansum: return composed_reduce(c, KRF__sum, without_nan(c, x, 0));
    case KRF__COMPOSED_nanprod: return composed_reduce(c, KRF__prod, without_nan(c, x, 1));
    case KRF__COMPOSED_nanmax: return nan_extreme(c, KRF__max, x, -(double)INFINITY);
    case KRF__COMPOSED_nanmin: return nan_extreme(c, KRF__min, x, (double)INFINITY);
    case KRF__COMPOSED_nanmean: return nan_mean(c, x);
    case KRF__COMPOSED_norm: return composed1(c, KRF__sqrt, composed_reduce(c, KRF__sum, composed_squared(c, x)));
    case KRF__COMPOSED_norm1: return composed_reduce(c, KRF__sum, composed1(c, KRF__abs, wide_integer(c, x)));
    case KRF__COMPOSED_norminf: return composed_reduce(c, KRF__max, composed1(c, KRF__abs, x));
    case KRF__COMPOSED_COUNT: break;
    }
    return 0;
}

/* What needs a float in between takes it from the start; f16 and bf16 keep f32's digits until the end. */
static uint32_t widened(krf_graph *g, krf__composed which, uint32_t x) {
    krf_dtype dtype = (krf_dtype)krf__node_of(g, x)->dtype;
    bool places = which == KRF__COMPOSED_argmax || which == KRF__COMPOSED_argmin || which == KRF__COMPOSED_count_nonzero;
    bool real = which == KRF__COMPOSED_var || which == KRF__COMPOSED_std || which == KRF__COMPOSED_logsumexp || which == KRF__COMPOSED_norm;
    if (krf__node_of(g, x)->weak) {
        x = krf__build_cast(g, x, dtype);
    }
    if (places || ((which == KRF__COMPOSED_var || which == KRF__COMPOSED_std) && krf__is_narrow(dtype))) {
        return x;
    }
    return krf__is_half(dtype) ? krf__build_cast(g, x, KRF_F32) : real && !krf__is_real(dtype) && !krf__is_complex(dtype) ? krf__build_cast(g, x, KRF_F64) : x;
}

uint32_t krf__build_composed(krf_graph *g, krf__composed which, uint32_t x, const krf__axes *axes, double ddof) {
    const krf__composing c = {g, axes, which, infos[which].name};
    if (x == 0) {
        return 0;
    }
    krf_dtype dtype = (krf_dtype)krf__node_of(g, x)->dtype;
    uint32_t wide = widened(g, which, x), y = compose(&c, wide, ddof);
    if (y == 0) {
        return 0;
    }
    if (krf__is_half(dtype) && wide != x) {
        y = krf__build_cast(g, y, dtype);
    }
    int64_t shape[KRF_MAX_RANK];
    int rank = krf__node_of(g, x)->rank, left = 0;
    for (int i = 0; i < rank; i++) {
        bool gone = axes->of == NULL;
        for (int k = 0; k < axes->n && !gone; k++) {
            gone = (axes->of[k] < 0 ? axes->of[k] + rank : axes->of[k]) == i;
        }
        if (!gone || axes->keepdims) {
            shape[left++] = gone ? 1 : krf__shape_of(g, x)[i];
        }
    }
    return krf__build_reshape(g, y, left, shape);
}
