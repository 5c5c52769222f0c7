/* Reads derivatives that users write, "dz/dx = y". Each is tried once over single numbers, so that its errors show when it is defined, and read again, as text, wherever it is needed:
 * what it means depends on the dtypes and shapes of the operands. */
#include "ir/define_derivatives.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/build.h"
#include "ir/c_lex.h"
#include "ir/text.h"

#include <string.h>

static int find_variable(int n, const krf__variable *list, const krf__c_token *t) {
    const krf__c_token behind = {.kind = t->kind, .start = t->start + 1, .length = t->length - 1};
    for (int i = 0; i < n; i++) {
        if (t->kind == KRF__C_NAME && t->length > 1 && *t->start == 'd' && krf__c_is(&behind, list[i].name)) {
            return i;
        }
    }
    return n;
}

/* The end of a statement: a ';' or a newline outside brackets. */
static const char *end_of(const char *at) {
    int depth = 0;
    for (; *at != '\0'; at++) {
        depth += strchr("([", *at) != NULL ? 1 : strchr(")]", *at) != NULL ? -1 : 0;
        if (*at == ';' || (*at == '\n' && depth <= 0)) {
            break;
        }
    }
    return at;
}

/* What a derivative may name: the parameters, then the results. */
static const krf__variable *variable_of(const krf_op *op, int k) { return k < op->n_parameters ? &op->parameters[k] : &op->variables[k - op->n_parameters]; }

/* Names may come to mean something else, or nothing: what they mean now is kept. */
static krf_status keep_named(krf_op *op, const krf_graph *g) {
    for (size_t i = 0; i < g->n_ops; i++) {
        bool there = g->ops[i]->function != NULL; /* made of x.reduce, on the spot */
        for (size_t k = 0; k < op->n_named && !there; k++) {
            there = op->named[k] == g->ops[i];
        }
        if (!there && !krf__grow(&op->named, &op->named_capacity, op->n_named + 1, sizeof *op->named)) {
            return krf__fail_memory();
        }
        if (!there) {
            op->named[op->n_named++] = krf__op_retain(g->ops[i]);
        }
    }
    return KRF_OK;
}

/* Whether the text is an expression over the definition's names: it is built over single numbers. */
static krf_status try_derivative(krf_op *op, krf__defined *known, const char *text) {
    krf_graph g;
    krf__name names[KRF__MOST_DEFINED + KRF__MOST_RESULTS];
    uint32_t result;
    int n = 0, count = 0;
    krf_status status = krf__graph_init(&g, NULL);
    if (status != KRF_OK) {
        return status;
    }
    g.defined = known;
    for (int k = 0; k < op->n_parameters + op->n_results; k++) {
        const krf__variable *v = variable_of(op, k);
        const krf_dtype dtype = v->letter != 0 ? KRF_F64 : (krf_dtype)v->dtype;
        names[n].name = v->name;
        names[n].extent = 0;
        names[n++].id = krf__build_placeholder(&g, NULL, dtype, false, 0, NULL, NULL);
    }
    status = krf__parse(&g, text, names, n, NULL, NULL, 1, &result, &count);
    if (status == KRF_OK && krf__is_complex((krf_dtype)krf__node_of(&g, result)->dtype)) {
        status = krf__graph_fail(&g, KRF_E_DTYPE, "it is complex") == 0 ? KRF_E_DTYPE : KRF_OK;
    }
    if (status == KRF_E_MEMORY) {
        status = krf__fail_memory();
    } else if (status != KRF_OK) {
        status = krf__fail(status, "krf_op_define: %s: the derivative %s: %s", op->name, text, g.error != NULL ? g.error : krf_status_text(status));
    } else {
        status = keep_named(op, &g);
    }
    krf__graph_free(&g);
    return status;
}

static krf_status add_derivative(krf_op *op, krf__defined *known, const char *start, const char *end) {
    krf__c_lexer lexer = {start, 1};
    const krf__c_token upper = krf__c_word(&lexer), slash = krf__c_word(&lexer), lower = krf__c_word(&lexer), sign = krf__c_word(&lexer);
    const int r = find_variable(op->n_results, op->variables, &upper), p = find_variable(op->n_parameters, op->parameters, &lower);
    if (r == op->n_results || slash.kind != '/' || p == op->n_parameters || sign.kind != '=' || lexer.at > end) {
        return krf__fail(KRF_E_PARSE, "krf_op_define: %s: \"%.*s\" is no derivative: \"d%s/d%s = ...\" would be one", op->name, (int)(end - start > 80 ? 80 : end - start), start,
                         op->variables[0].name, op->parameters[0].name);
    }
    char **place = &op->derivatives[r * op->n_parameters + p];
    if (*place != NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: d%s/d%s is given twice", op->name, op->variables[r].name, op->parameters[p].name);
    }
    const char *from = lexer.at + strspn(lexer.at, " \t\r");
    while (end > from && strchr(" \t\r", end[-1]) != NULL) {
        end--;
    }
    *place = krf__calloc((size_t)(end - from) + 1, 1);
    if (*place == NULL) {
        return krf__fail_memory();
    }
    memcpy(*place, from, (size_t)(end - from));
    return try_derivative(op, known, *place);
}

/* Reads a derivative where names mean what they meant when it was defined, in whatever context the graph is. */
static uint32_t build_derivative(krf_graph *g, const krf_op *op, const char *text, const uint32_t *named) {
    krf__defined *const outside = g->defined;
    krf__defined known;
    krf__name names[KRF__MOST_DEFINED + KRF__MOST_RESULTS];
    uint32_t slope = 0;
    int n, count = 0;
    krf_status status = KRF_OK;
    krf__defined_open(&known);
    for (size_t i = 0; i < op->n_named && status == KRF_OK; i++) {
        status = krf__op_register(&known, (krf_op *)(uintptr_t)op->named[i]);
    }
    for (n = 0; n < op->n_parameters + op->n_results; n++) {
        names[n] = (krf__name){.name = variable_of(op, n)->name, .id = named[n]};
    }
    g->defined = &known;
    if (status != KRF_OK) {
        krf__graph_fail(g, status, "out of host memory (the derivative of %s)", op->name);
    } else {
        status = krf__parse(g, text, names, n, NULL, NULL, 1, &slope, &count);
    }
    g->defined = outside;
    krf__defined_close(&known);
    return status == KRF_OK ? slope : 0;
}

krf_status krf__define_derivatives(krf_op *op, krf__defined *known, const char *text) {
    krf_status status = KRF_OK;
    op->derive = build_derivative;
    op->derivatives = krf__calloc((size_t)(op->n_results * op->n_parameters), sizeof *op->derivatives);
    if (op->derivatives == NULL) {
        return krf__fail_memory();
    }
    while (status == KRF_OK && *text != '\0') {
        const char *end = end_of(text), *start = text + strspn(text, " \t\r");
        if (start < end) {
            status = add_derivative(op, known, start, end);
        }
        text = *end == '\0' ? end : end + 1;
    }
    for (int i = 0; status == KRF_OK && i < op->n_results * op->n_parameters; i++) {
        const krf__variable *y = &op->variables[i / op->n_parameters], *x = &op->parameters[i % op->n_parameters];
        const bool floats = (y->letter != 0 || krf__is_real((krf_dtype)y->dtype)) && (x->letter != 0 || krf__is_real((krf_dtype)x->dtype));
        if (floats && op->derivatives[i] == NULL) {
            status = krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: d%s/d%s is missing; \"d%s/d%s = 0\" where there is none", op->name, y->name, x->name, y->name, x->name);
        }
    }
    return status;
}
