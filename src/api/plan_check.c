/* Whether the arrays of a run are what the plan was compiled for. Every message names the operand and both sides. */
#include "api/plan.h"

#include "base/fail.h"

#include <stdio.h>

const char *krf__plan_placeholder(const krf_plan *p, uint32_t placeholder, krf__placeholder_name *number) {
    const char *name = p->aligned->data.placeholders[placeholder].name;
    if (name != NULL) {
        return name;
    }
    snprintf(number->text, sizeof number->text, "placeholder %u", placeholder);
    return number->text;
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

krf_status krf__plan_check_input(const krf_plan *p, uint32_t placeholder, const krf_array *a) {
    const krf__spec *spec = &p->aligned->data.placeholders[placeholder];
    krf__placeholder_name number;
    if (a->storage->context != p->context) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the array belongs to another context than the plan: copy it to an array of this one with krf_array_copy",
                         krf__plan_placeholder(p, placeholder, &number));
    }
    if (spec->dtype != (uint8_t)a->dtype || !krf__shape_equal(spec->layout.rank, spec->layout.shape, a->rank, a->shape) || !strides_agree(&spec->layout, a->strides)) {
        return mismatch(krf__plan_placeholder(p, placeholder, &number), spec, a);
    }
    return KRF_OK;
}

static krf_status check_output(const krf_plan *p, int k, const krf_array *a) {
    const krf__spec *spec = &p->aligned->data.outputs[k];
    char name[48];
    krf_status status = krf__output_check(p->context, "output", k, a, (krf_dtype)spec->dtype, spec->layout.rank, spec->layout.shape);
    if (status == KRF_OK && !krf__array_contiguous(a)) {
        return krf__fail(KRF_E_SHAPE, "%s: the array that was given is not in C order (krf_eval writes any strides)", krf__output_name(name, "output", k));
    }
    return status;
}

krf_status krf__plan_check(const krf_plan *p, krf_array *const *bound, krf_array *const *outputs) {
    krf_status status = KRF_OK;
    for (uint32_t i = 0; status == KRF_OK && i < p->aligned->data.n_placeholders; i++) {
        status = bound[i] == NULL ? KRF_OK : krf__plan_check_input(p, i, bound[i]);
    }
    for (int k = 0; status == KRF_OK && k < p->n_outputs; k++) {
        status = outputs[k] == NULL ? KRF_OK : check_output(p, k, outputs[k]);
    }
    return status == KRF_OK ? krf__outputs_apart(p->n_outputs, outputs) : status;
}
