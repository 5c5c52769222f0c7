/* Graphs as the user sees them. Out of memory gives a static graph on which every builder returns poison. */
#include "api/expr.h"

#include "base/fail.h"
#include "base/mem.h"
#include "sched/context.h"

#include <string.h>

static const krf__node poison = {.op = KRF__poison};
static const char no_memory[] = "out of host memory";
/* Nobody writes to it: everything that would looks at `nil` first. */
static const krf_graph nil_graph = {
    .nil = true, .status = KRF_E_MEMORY, .error = (char *)no_memory, .nodes = (krf__node *)&poison, .n_nodes = 1};

krf_graph *krf_graph_create(krf_context *context) {
    krf_graph *g = krf__malloc(sizeof *g);
    if (g == NULL || krf__graph_init(g, context) != KRF_OK) {
        krf__mem_free(g);
        krf__fail_memory();
        return (krf_graph *)&nil_graph;
    }
    g->traced = true;
    if (context == NULL) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "krf_graph_create: context is NULL");
    } else {
        krf__context_retain(context);
        g->defined = &context->defined;
    }
    return g;
}

void krf_graph_destroy(krf_graph *graph) {
    if (graph != NULL && !graph->nil) {
        krf_context *context = graph->context;
        krf__graph_free(graph);
        krf__mem_free(graph);
        krf__context_release(context);
    }
}

void krf_graph_reset(krf_graph *graph) {
    if (graph != NULL && !graph->nil) {
        krf__graph_reset(graph);
    }
}

krf_status krf_graph_status(const krf_graph *graph) { return graph != NULL ? graph->status : KRF_E_ARGUMENT; }

const char *krf_graph_error(const krf_graph *graph) {
    if (graph == NULL) {
        return "the graph is NULL";
    }
    return graph->error != NULL ? graph->error : graph->status != KRF_OK ? krf_status_text(graph->status) : "";
}

krf_status krf__graph_error(const krf_graph *graph) {
    return krf__fail(krf_graph_status(graph), "%s", krf_graph_error(graph));
}
