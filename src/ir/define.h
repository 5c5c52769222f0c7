/* Makes what users define. */
#ifndef KRF_IR_DEFINE_H
#define KRF_IR_DEFINE_H

#include "ir/defined.h"

/* Checks all but what a C compiler checks, and adds the name to `known`. The status's message says what is wrong and on which line. */
krf_status krf__op_define(krf__defined *known, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives,
                          krf_op **op);
/* A reduction: its name, as its parts' names, is taken of what krf_reduction_define says. */
typedef struct krf__reduction_text {
    const char *name, *parameters, *fields, *identity, *map, *combine, *results, *post;
    const char *function; /* whose reduce or accumulate it is; NULL: a reduction of its own */
} krf__reduction_text;
krf_status krf__reduction_define(krf__defined *known, const krf__reduction_text *text, krf_op **op);
krf_status krf__reduction_make(krf__defined *known, const krf__reduction_text *text, krf_op **op); /* without a name of its own */

/* Parts of define.c: what is new, with one reference; its text from its parts. */
krf_status krf__op_make(krf__defined *known, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives, krf_op **op);
krf_status krf__op_set_text(krf_op *op);

#endif
