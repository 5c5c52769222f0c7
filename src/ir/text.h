/* The text form: one grammar for the API, the tools, the golden tests and bug reports. docs/text.md describes it. */
#ifndef KRF_IR_TEXT_H
#define KRF_IR_TEXT_H

#include "ir/graph.h"

/* What a name in the text may stand for besides what the text itself declares. */
typedef struct krf__name {
    const char *name;
    uint32_t id;      /* a node of the graph; 0: an extent (a name inside a declared shape) of the value `extent` */
    int64_t extent;
} krf__name;

/* Parses a program into g. Writes up to capacity results. On failure the graph has the error: "line 1, column 9: add: shapes (7,) and (1024,) do not broadcast\n" + the line + a caret line.
 * *missing_extent (may be NULL): called for an extent name that nothing binds; returns its value, or -1 for an error. */
krf_status krf__parse(krf_graph *g, const char *text, const krf__name *names, int n_names,
                      int64_t (*missing_extent)(void *user, const char *name), void *user,
                      int capacity, uint32_t *results, int *count);

/* Prints a program that parses to the same graph: declarations (inputs too), one assignment a node that is used more than once or is long, and the return line. */
void krf__print(const krf_graph *g, int n, const uint32_t *outputs, krf__str *out);

#endif
