/* Makes definitions of reductions: a map, a combine and a post, each of which is a definition of its own (NAME_map, ...). */
#include "ir/make_op.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/define_check.h"

#include <string.h>

/* The fields with their types, under other names. */
static void put_fields(krf__str *out, const krf_op *map, const char *prefix) {
    for (int i = 0; i < map->n_results; i++) {
        const krf__variable *v = &map->variables[i];
        char letter[2] = {v->letter, '\0'};
        krf__str_printf(out, "%s%s %s%s", out->length > 0 ? ", " : "", v->letter != 0 ? letter : krf_dtype_name((krf_dtype)v->dtype), prefix, v->name);
    }
}

static krf_status make_part(krf__defined *known, const char *name, const char *suffix, const char *parameters, const char *results, const char *body, krf_op **part) {
    krf__str whole = {0};
    krf__str_printf(&whole, "%s%s", name, suffix);
    krf_status status = whole.failed ? krf__fail_memory() : krf__op_make(known, whole.data, parameters, results, body, part);
    krf__str_free(&whole);
    return status;
}

static krf_status copy_variables(int n, const krf__variable *from, krf__variable *to, int *count) {
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].name = krf__strdup(from[i].name);
        if (to[i].name == NULL) {
            return krf__fail_memory();
        }
        *count = i + 1;
    }
    return KRF_OK;
}

static krf_status fill(krf__defined *known, const krf__reduction_text *t, krf_op *op) {
    krf_op *map = NULL, *combine = NULL, *post = NULL;
    krf__str both = {0}, fields = {0};
    op->calls = krf__calloc(3, sizeof *op->calls);
    op->name = krf__strdup(t->name);
    op->function = t->function != NULL ? krf__strdup(t->function) : NULL;
    if (op->calls == NULL || op->name == NULL || (t->function != NULL && op->function == NULL)) {
        return krf__fail_memory();
    }
    krf_status status = krf__check_name(t->name);
    status = status != KRF_OK ? status : make_part(known, t->name, "_map", t->parameters, t->fields, t->map, &map);
    if (status == KRF_OK) {
        op->map = op->calls[op->n_calls++] = map;
        put_fields(&both, map, "a_");
        put_fields(&both, map, "b_");
        put_fields(&fields, map, "");
        status = map->n_results > KRF__MOST_DEFINED / 2 ? krf__fail(KRF_E_ARGUMENT, "krf_reduction_define: %s: more than %d fields", t->name, KRF__MOST_DEFINED / 2)
                 : both.failed || fields.failed          ? krf__fail_memory()
                                                         : make_part(known, t->name, "_combine", both.data, fields.data, t->combine, &combine);
    }
    if (status == KRF_OK) {
        combine->hands_on = t->function != NULL;
        op->combine = op->calls[op->n_calls++] = combine;
        status = t->post != NULL ? make_part(known, t->name, "_post", fields.data, t->results, t->post, &post) : KRF_OK;
    }
    if (status == KRF_OK && post != NULL) {
        op->post = op->calls[op->n_calls++] = post;
    }
    krf__str_free(&both);
    krf__str_free(&fields);
    if (status != KRF_OK) {
        return status;
    }
    const krf_op *last = post != NULL ? post : map;
    status = copy_variables(map->n_parameters, map->parameters, op->parameters, &op->n_parameters);
    status = status == KRF_OK ? copy_variables(last->n_results, last->variables, op->variables, &op->n_results) : status;
    for (int r = 0; r < op->n_results; r++) {
        op->results[r] = (krf__result){op, r};
    }
    op->costly = map->costly;
    return status;
}

krf_status krf__reduction_make(krf__defined *known, const krf__reduction_text *text, krf_op **made) {
    struct krf_reduction *reduction = krf__calloc(1, sizeof *reduction);
    *made = NULL;
    if (reduction == NULL) {
        return krf__fail_memory();
    }
    atomic_init(&reduction->op.references, 1);
    krf_status status = fill(known, text, &reduction->op);
    if (status != KRF_OK) {
        krf__op_release(&reduction->op);
        return status;
    }
    *made = &reduction->op;
    return KRF_OK;
}
