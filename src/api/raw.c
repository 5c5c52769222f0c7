/* Raw kernels as the user holds them (kerfuse/raw.h): checks, then one call inward. */
#include <kerfuse/raw.h>

#include "api/expr.h"
#include "base/fail.h"
#include "base/mem.h"
#include "ir/build_raw.h"
#include "sched/raw.h"

#include <string.h>

struct krf_raw_kernel {
    krf_context *context; /* retained */
    krf__raw *raw;
};

krf_status krf_kernel_define(krf_context *context, const krf_kernel_description *description, krf_raw_kernel **kernel) {
    krf_kernel_description whole = {.size = sizeof whole};
    if (kernel == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_kernel_define: kernel is NULL");
    }
    *kernel = NULL;
    if (context == NULL || description == NULL || description->size <= sizeof description->size) {
        return krf__fail(KRF_E_ARGUMENT, "krf_kernel_define: %s", context == NULL ? "context is NULL" : description == NULL ? "description is NULL" : "set size to sizeof(krf_kernel_description)");
    }
    memcpy(&whole, description, description->size < sizeof whole ? description->size : sizeof whole);
    krf_raw_kernel *k = krf__calloc(1, sizeof *k);
    krf_status status = k == NULL ? krf__fail_memory() : krf__raw_make(&whole, NULL, &k->raw);
    if (status != KRF_OK) {
        krf__mem_free(k);
        return status;
    }
    k->context = context;
    krf__context_retain(context);
    *kernel = k;
    return KRF_OK;
}

void krf_kernel_release(krf_raw_kernel *kernel) {
    if (kernel != NULL) {
        krf__raw_release(kernel->raw);
        krf__context_release(kernel->context);
        krf__mem_free(kernel);
    }
}

/* ---- as a node ---- */

static bool ids_of(const krf__raw *raw, krf_graph *g, int n, const krf_expr *inputs, uint32_t *ids) {
    for (int i = 0; i < n; i++) {
        if (inputs[i].graph != g) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: operand %d belongs to another graph", raw->name, i);
            return false;
        }
        if (!krf__expr_check(raw->name, inputs[i])) {
            return false;
        }
        ids[i] = inputs[i].id;
    }
    return true;
}

void krf_kernel_call(krf_raw_kernel *kernel, krf_graph *graph, int n, const krf_expr *inputs, const krf_result_shape *shapes, const krf_launch_shape *launch, krf_expr *outputs) {
    uint32_t ids[KRF__MOST_PARAMETERS] = {0}, results[KRF__MOST_PARAMETERS] = {0};
    bool valid = graph != NULL && kernel != NULL && outputs != NULL && n >= 0 && (n == 0 || inputs != NULL);
    if (!valid && graph != NULL) {
        krf__graph_fail(graph, KRF_E_ARGUMENT, "krf_kernel_call: %s is NULL or negative", kernel == NULL ? "kernel" : outputs == NULL ? "outputs" : "a number or a list");
    }
    if (valid && graph->context != kernel->context) {
        krf__graph_fail(graph, KRF_E_ARGUMENT, "%s: the kernel belongs to another context than the graph", kernel->raw->name);
        valid = false;
    }
    if (valid && n <= KRF__MOST_PARAMETERS && ids_of(kernel->raw, graph, n, inputs, ids)) {
        krf__build_raw_call(graph, kernel->raw, n, ids, shapes, launch, results);
    } else if (valid && n > KRF__MOST_PARAMETERS) {
        krf__build_raw_call(graph, kernel->raw, n, ids, shapes, launch, results); /* says how many there are */
    }
    for (int k = 0; kernel != NULL && outputs != NULL && k < kernel->raw->n_results; k++) {
        outputs[k] = (krf_expr){graph, results[k]};
    }
}

/* ---- launched ---- */

static krf_status wrong(const krf__raw *raw, const krf__parameter *p, krf_status status, const char *why) {
    return krf__fail(status, "%s: %.*s %s", raw->name, (int)p->name.length, p->name.at, why);
}

static krf_status take_array(const krf_raw_kernel *k, const krf__parameter *p, const krf_binding *b, krf__raw_value *value) {
    if (b->kind != KRF_BIND_ARRAY || b->array == NULL) {
        return wrong(k->raw, p, KRF_E_ARGUMENT, b->kind == KRF_BIND_ARRAY ? "is NULL" : "is an array: bind it with krf_bind_array");
    }
    if (b->array->storage->context != k->context) {
        return wrong(k->raw, p, KRF_E_ARGUMENT, "belongs to another context than the kernel");
    }
    if (b->array->dtype != p->dtype) {
        return krf__fail(KRF_E_DTYPE, "%s: %.*s is %s, and %s was declared", k->raw->name, (int)p->name.length, p->name.at, krf_dtype_name(b->array->dtype), krf_dtype_name(p->dtype));
    }
    if (krf__parameter_written(p) && b->array->storage->read_only) {
        return wrong(k->raw, p, KRF_E_ARGUMENT, "is written, and the array is read-only");
    }
    value->array = b->array;
    return KRF_OK;
}

static krf_status take_number(const krf__raw *raw, const krf__parameter *p, const krf_binding *b, krf__raw_value *value) {
    const krf_dtype part = krf__part_of(p->dtype);
    switch (b->kind) {
    case KRF_BIND_INT:
        value->bits[0] = krf__bits_from_i64(part, b->i);
        return krf__is_real(part) || krf__int_fits(part, b->i) ? KRF_OK : wrong(raw, p, KRF_E_DTYPE, "is an integer out of the range of its dtype");
    case KRF_BIND_REAL:
        value->bits[0] = krf__bits_from_f64(part, b->f);
        return krf__is_real(part) ? KRF_OK : wrong(raw, p, KRF_E_DTYPE, "is an integer: bind it with krf_bind_int");
    case KRF_BIND_COMPLEX:
        value->bits[0] = krf__bits_from_f64(part, b->f);
        value->bits[1] = krf__bits_from_f64(part, b->imaginary);
        return krf__is_complex(p->dtype) ? KRF_OK : wrong(raw, p, KRF_E_DTYPE, "is no complex number");
    case KRF_BIND_ARRAY:
    case KRF_BIND_EXPR: break;
    }
    return wrong(raw, p, KRF_E_ARGUMENT, "is a number: bind it with krf_bind_int, krf_bind_real or krf_bind_complex");
}

/* The parameter that argument `position` is for; -1 and the message for none. */
static int find(const krf__raw *raw, int position, const krf_binding *b) {
    int i = 0;
    for (int given = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        if (p->computed.at != NULL) {
            continue;
        }
        if (b->name != NULL ? krf__span_is(p->name, b->name) : given == position) {
            return i;
        }
        given++;
    }
    if (b->name != NULL) {
        krf__fail(KRF_E_ARGUMENT, "%s: no parameter to be given is called %s: %s", raw->name, b->name, raw->texts[0]);
    } else {
        krf__fail(KRF_E_ARGUMENT, "%s: argument %d is one too many: %s", raw->name, position, raw->texts[0]);
    }
    return -1;
}

krf_status krf_kernel_launch(krf_raw_kernel *kernel, void *stream, int n, const krf_binding *arguments, const krf_launch_shape *launch) {
    krf__raw_value values[KRF__MOST_PARAMETERS] = {{0}};
    bool seen[KRF__MOST_PARAMETERS] = {false};
    if (kernel == NULL || n < 0 || (n > 0 && arguments == NULL)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_kernel_launch: %s is NULL or negative", kernel == NULL ? "kernel" : "a number or a list");
    }
    const krf__raw *raw = kernel->raw;
    for (int k = 0; k < n; k++) {
        const int i = find(raw, k, &arguments[k]);
        if (i < 0) {
            return KRF_E_ARGUMENT;
        }
        const krf__parameter *p = &raw->parameters[i];
        krf_status status = seen[i]                             ? wrong(raw, p, KRF_E_ARGUMENT, "is given twice")
                            : p->role == KRF__ROLE_SCALAR ? take_number(raw, p, &arguments[k], &values[i])
                                                          : take_array(kernel, p, &arguments[k], &values[i]);
        if (status != KRF_OK) {
            return status;
        }
        seen[i] = true;
    }
    for (int i = 0; i < raw->n_parameters; i++) {
        if (!seen[i] && raw->parameters[i].computed.at == NULL) {
            return krf__fail(KRF_E_ARGUMENT, "%s: %.*s is not given; the parameters are %s", raw->name, (int)raw->parameters[i].name.length, raw->parameters[i].name.at, raw->texts[0]);
        }
    }
    return krf__raw_start(kernel->context, kernel->raw, values, launch, stream);
}
