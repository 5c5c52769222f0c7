/* Graphs in files, tests/corpus: the text form, and in lines that begin with "#!" what the text form has no place for.
 *
 *   #! seed 42                                  values of blocks follow from it (inputs.c), and the ways of evaluation
 * (check.c)
 *   #! a3: block 0 of 130 special f32, from 5   leaf a3 lies in that block; leaves may share one
 *   #! k7: 0x1.8p+1                             the value of a run-time scalar
 *   #! result 1: strided                        given memory with gaps; or a leaf's: "a3"
 *
 * What is not said: seed 1, a block for each leaf, everyday values, new memory for results. */
#ifndef KRF_TESTS_FUZZ_REPRODUCE_H
#define KRF_TESTS_FUZZ_REPRODUCE_H

#include "fuzz/graph.h"

bool graph_save(const graph *g, const char *path, const char *heading, report *r);
bool graph_load(graph *g, const char *path, report *r);

/* import.c: the fuzzer's graph of a parsed one. */
bool graph_import(graph *g, const krf_graph *from, int n_outputs, const krf_expr *outputs, report *r);

#endif
