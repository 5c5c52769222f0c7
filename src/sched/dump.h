/* What is made of graphs, as files in the folder that KRF_DUMP names. */
#ifndef KRF_SCHED_DUMP_H
#define KRF_SCHED_DUMP_H

#include "sched/context.h"

/* The text form of some nodes of a graph, whatever order they were built in. */
krf_status krf__graph_text(const krf_graph *graph, int n, const uint32_t *ids, krf__str *out);

/* Where the context has a folder for it, writes NAME-<hash>.krf, the graph, NAME-<hash>.plan, and for each kernel a file of its name with the source. name: of the plan; NULL
 * for "plan". What cannot be written is told to the log and to nobody else. */
void krf__dump_plan(const krf_context *context, const char *name, const krf_graph *graph, int n, const uint32_t *ids, const krf__compiled *compiled);

#endif
