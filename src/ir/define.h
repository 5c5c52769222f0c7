/* Makes what users define. */
#ifndef KRF_IR_DEFINE_H
#define KRF_IR_DEFINE_H

#include "ir/make_op.h"

/* Checks all but what a C compiler checks, and adds the name to `known`. The status's message says what is wrong and on which line. */
krf_status krf__op_define(krf__defined *known, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives,
                          krf_op **op);
krf_status krf__reduction_define(krf__defined *known, const krf__reduction_text *text, krf_op **op);

#endif
