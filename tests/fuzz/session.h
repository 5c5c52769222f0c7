/* The contexts in which graphs are evaluated, and the check of one graph in all of them. */
#ifndef KRF_TESTS_FUZZ_SESSION_H
#define KRF_TESTS_FUZZ_SESSION_H

#include "fuzz/evaluate.h"

/* What is tested besides the interpreter. */
typedef enum target { TARGET_INTERPRETER, TARGET_AUTO, TARGET_COMPILED, TARGET_CUDA } target;

typedef struct session {
    target target;
    krf_context *reference[2]; /* the interpreter (TARGET_AUTO: the automatic tier) with one thread, and with two */
    krf_context *tested;       /* TARGET_COMPILED, TARGET_CUDA: kernels go through batch.c; else NULL */
} session;

/* device: "cpu", "cuda", "cuda:1". False, with the reason; *missing: there is no such device here. */
bool session_open(session *s, target what, const char *device, bool *missing, report *r);
void session_close(session *s);

/* check.c: everything that must hold for a graph. */
bool check_graph(session *s, const graph *g, report *r);

/* Evaluates what check_graph will evaluate in s->tested, without running kernels: batch.c then knows their sources. */
bool check_prepare(session *s, const graph *g, report *r);

#endif
