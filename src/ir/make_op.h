/* Makes definitions, without what is written in the text form: derivatives, and the identity of a reduction. So builders can make some of their own, below the parser. */
#ifndef KRF_IR_MAKE_OP_H
#define KRF_IR_MAKE_OP_H

#include "ir/defined.h"

/* A new one, with one reference. The status's message says what is wrong and on which line. */
krf_status krf__op_make(krf__defined *known, const char *name, const char *parameters, const char *results, const char *body, krf_op **op);

/* A reduction: its name, as its parts' names, is taken of what krf_reduction_define says. */
typedef struct krf__reduction_text {
    const char *name, *parameters, *fields, *identity, *map, *combine, *results, *post;
    /* identity: numbers in the text form, for define_reduction.c */
    const char *function; /* whose reduce or accumulate it is; NULL: a reduction of its own */
} krf__reduction_text;
/* All but its identity, which the caller fills in, a number for each of the map's results, and its text then. */
krf_status krf__reduction_make(krf__defined *known, const krf__reduction_text *text, krf_op **op);

/* A definition's text, from its parts. */
krf_status krf__op_set_text(krf_op *op);

#endif
