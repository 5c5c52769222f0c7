/* Makes definitions of what stands in their signature and body. */
#include "ir/make_op.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/define_check.h"

#include <string.h>

static void put_variables(krf__str *out, int n, const krf__variable *variables) {
    for (int i = 0; i < n; i++) {
        const krf__variable *v = &variables[i];
        krf__str_put(out, i > 0 ? ", " : "");
        if (v->letter != 0) {
            krf__str_char(out, v->letter);
        } else {
            krf__str_put(out, krf_dtype_name((krf_dtype)v->dtype));
        }
        krf__str_printf(out, " %s", v->name);
    }
}

/* NULs separate the parts: none of them has one. */
krf_status krf__op_set_text(krf_op *op) {
    krf__str s = {0};
    krf__str_printf(&s, "%s(", op->name);
    put_variables(&s, op->n_parameters, op->parameters);
    krf__str_put(&s, ") -> ");
    put_variables(&s, op->n_results, op->variables);
    krf__str_char(&s, '\0');
    krf__str_put(&s, op->body != NULL ? op->body : "");
    krf__str_putn(&s, (const char *)op->identity, op->map != NULL ? (size_t)op->map->n_results * sizeof *op->identity : 0);
    for (int i = 0; i < op->n_calls; i++) {
        krf__str_char(&s, '\0');
        krf__str_putn(&s, op->calls[i]->text, op->calls[i]->text_bytes);
    }
    krf__str_char(&s, '\0');
    op->text_bytes = s.length;
    op->text = krf__str_take(&s);
    return op->text != NULL ? KRF_OK : krf__fail_memory();
}

krf_status krf__op_make(krf__defined *known, const char *name, const char *parameters, const char *results, const char *body, krf_op **made) {
    *made = NULL;
    krf_op *op = krf__calloc(1, sizeof *op);
    if (op == NULL) {
        return krf__fail_memory();
    }
    atomic_init(&op->references, 1);
    krf_status status = krf__check_name(name);
    if (status == KRF_OK) {
        op->name = krf__strdup(name);
        op->body = krf__strdup(body);
        status = op->name != NULL && op->body != NULL ? KRF_OK : krf__fail_memory();
    }
    status = status == KRF_OK ? krf__check_signature(op, parameters, results) : status;
    status = status == KRF_OK ? krf__check_body(op, known) : status;
    for (int r = 0; r < op->n_results; r++) {
        op->results[r] = (krf__result){op, r};
    }
    status = status == KRF_OK ? krf__op_set_text(op) : status;
    if (status != KRF_OK) {
        krf__op_release(op);
        return status;
    }
    *made = op;
    return KRF_OK;
}
