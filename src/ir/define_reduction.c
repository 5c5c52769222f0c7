/* Reductions of users: what make_reduction.c makes, with the identity that the text form gives. */
#include "ir/define.h"

#include "base/fail.h"
#include "ir/build.h"
#include "ir/text.h"

/* Numbers separated by commas, one a field. */
static krf_status read_identity(krf_op *op, const char *text) {
    krf_graph g;
    uint32_t ids[KRF__MOST_RESULTS];
    int n = 0;
    krf_status status = krf__graph_init(&g, NULL);
    if (status != KRF_OK) {
        return status;
    }
    status = krf__parse(&g, text, NULL, 0, NULL, NULL, KRF__MOST_RESULTS, ids, &n);
    if (status == KRF_E_MEMORY) {
        status = krf__fail_memory();
    } else if (status != KRF_OK) {
        status = krf__fail(status, "krf_reduction_define: %s: the identity \"%s\": %s", op->name, text, g.error != NULL ? g.error : "");
    } else if (n != op->map->n_results) {
        status = krf__fail(KRF_E_ARGUMENT, "krf_reduction_define: %s: the identity \"%s\" has %d number%s, the accumulator %d field%s", op->name, text, n, n == 1 ? "" : "s",
                           op->map->n_results, op->map->n_results == 1 ? "" : "s");
    }
    for (int i = 0; status == KRF_OK && i < n; i++) {
        const krf__node *c = krf__node_of(&g, ids[i]);
        if (c->op != KRF__constant || krf__is_complex((krf_dtype)c->dtype)) {
            status = krf__fail(KRF_E_ARGUMENT, "krf_reduction_define: %s: the identity of field %s is no number", op->name, op->map->variables[i].name);
        } else {
            op->identity[i] = krf__bits_to_f64((krf_dtype)c->dtype, c->value);
        }
    }
    krf__graph_free(&g);
    return status;
}

krf_status krf__reduction_define(krf__defined *known, const krf__reduction_text *text, krf_op **made) {
    krf_op *op = NULL;
    krf_status status = krf__reduction_make(known, text, &op);
    status = status == KRF_OK ? read_identity(op, text->identity) : status;
    status = status == KRF_OK ? krf__op_set_text(op) : status;
    status = status == KRF_OK ? krf__op_register(known, op) : status;
    if (status != KRF_OK) {
        krf__op_release(op);
        op = NULL;
    }
    *made = op;
    return status;
}
