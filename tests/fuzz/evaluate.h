/* Evaluates a graph by the library, in many ways: run.c. And the ways that a check goes through: check.c. */
#ifndef KRF_TESTS_FUZZ_EVALUATE_H
#define KRF_TESTS_FUZZ_EVALUATE_H

#include "fuzz/oracle.h"
#include "pass/pass.h"

/* How leaves and run-time scalars get into the library's graph. WITH_INPUTS: as arrays and numbers, through krf_eval.
 * WITH_PLACEHOLDERS: bound by name, through krf_compile. PARSED: as placeholders, after the graph was printed and
 * parsed again. */
typedef enum manner { WITH_INPUTS, WITH_PLACEHOLDERS, PARSED } manner;

typedef struct way {
    krf_context *context;
    const char *label; /* for reports */
    krf__limits limits;
    manner form;
    bool given;   /* results go where the graph says; else to new memory */
    bool open;    /* the values of open nodes (oracle.h) are results too */
    bool pretend; /* kernels are not run: results mean nothing and are not looked at */
} way;

/* Elements of every result in C order: the graph's outputs, then its open nodes. */
typedef struct results {
    int n;
    void *of[MOST_OUTPUTS + MOST_NODES];
} results;

/* False, with the reason, when the library fails, finds other facts than infer.c, or writes where it should not. */
bool evaluate(const graph *g, const way *w, results *out, report *r);
void results_free(results *out);

/* build.c: the library's graph. built: an expression for each node that is needed; others are left alone. r NULL: facts
 * are not compared. */
bool build_graph(krf_graph *to, const graph *g, manner form, krf_array *const *leaves, krf_expr *built, report *r);

/* The text of a graph with leaves a0, a1, ... and run-time scalars k0, k1, ...; to be freed with krf_free. NULL: it
 * could not be printed. */
char *graph_text(krf_context *context, const graph *g, report *r);

/* Whether what is printed parses to a graph that prints alike, with inputs and with placeholders. */
bool text_is_fixpoint(krf_context *context, const graph *g, report *r);

#endif
