/* The text form as a call: bindings become names that the parser knows. An integer is a weak scalar, and an extent
 * where its name is used as one. */
#include "api/expr.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/text.h"

#include <string.h>

static krf_status bad_binding(krf_graph *g, int i, const char *name, const char *why) {
    krf__graph_fail(g, KRF_E_ARGUMENT, "krf_parse: binding %d%s%s%s %s", i, name != NULL ? " (" : "", name != NULL ? name : "", name != NULL ? ")" : "", why);
    return KRF_E_ARGUMENT;
}

static bool bound_before(const krf_binding *bindings, int i) {
    for (int k = 0; k < i && bindings[i].name != NULL; k++) {
        if (strcmp(bindings[k].name, bindings[i].name) == 0) {
            return true;
        }
    }
    return false;
}

/* Writes one or two names. */
static krf_status add_name(krf_graph *g, int i, const krf_binding *b, krf__name *names, int *n) {
    krf__name name = {.name = b->name};
    if (b->name == NULL) {
        return bad_binding(g, i, NULL, "has no name");
    }
    switch (b->kind) {
    case KRF_BIND_ARRAY: name.id = krf__build_input(g, b->array); break;
    case KRF_BIND_REAL: name.id = krf__build_real(g, b->f, false); break;
    case KRF_BIND_COMPLEX: name.id = krf__build_complex(g, b->f, b->imaginary, false); break;
    case KRF_BIND_EXPR:
        if (b->expr.graph != g) {
            return bad_binding(g, i, b->name, "is an expression of another graph");
        }
        name.id = krf__expr_check("krf_parse", b->expr) ? b->expr.id : 0;
        break;
    case KRF_BIND_INT:
        if (b->i >= 0) {
            names[(*n)++] = (krf__name){.name = b->name, .extent = b->i};
        }
        name.id = krf__build_int(g, b->i, false);
        break;
    default: return bad_binding(g, i, b->name, "is of no known kind");
    }
    names[(*n)++] = name;
    return name.id != 0 ? KRF_OK : g->status;
}

krf_status krf_parse_many(krf_graph *graph, const char *text, const krf_binding *bindings, int n, int capacity,
                          krf_expr *results, int *count) {
    if (count != NULL) {
        *count = 0;
    }
    if (graph == NULL || text == NULL || count == NULL || n < 0 || (n > 0 && bindings == NULL) || capacity < 0
        || (capacity > 0 && results == NULL)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_parse: an argument is NULL or negative");
    }
    for (int k = 0; k < capacity; k++) {
        results[k] = (krf_expr){graph, 0};
    }
    if (graph->status != KRF_OK) {
        return krf__graph_error(graph);
    }
    krf__name *names = krf__malloc(2 * (size_t)n * sizeof *names);
    uint32_t *ids = krf__malloc((size_t)capacity * sizeof *ids);
    krf_status status = names != NULL && ids != NULL ? KRF_OK : KRF_E_MEMORY;
    int n_names = 0;
    if (status != KRF_OK) {
        krf__graph_fail(graph, status, "out of host memory (krf_parse)");
    }
    for (int i = 0; status == KRF_OK && i < n; i++) {
        status = bound_before(bindings, i) ? bad_binding(graph, i, bindings[i].name, "has the name of one before it: each name is bound once") : add_name(graph, i, &bindings[i], names, &n_names);
    }
    if (status == KRF_OK) {
        status = krf__parse(graph, text, names, n_names, NULL, NULL, capacity, ids, count);
    }
    for (int k = 0; status == KRF_OK && k < *count; k++) {
        results[k].id = ids[k];
    }
    krf__mem_free(names);
    krf__mem_free(ids);
    return status;
}

krf_status krf_parse(krf_graph *graph, const char *text, const krf_binding *bindings, int n, krf_expr *result) {
    int count = 0;
    if (result == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_parse: result is NULL");
    }
    return krf_parse_many(graph, text, bindings, n, 1, result, &count);
}
