/* What can be wrong with a definition before a compiler sees it. Only make_op.c and make_reduction.c include this. Each says what is wrong, and fills in what it found. */
#ifndef KRF_IR_DEFINE_CHECK_H
#define KRF_IR_DEFINE_CHECK_H

#include "ir/defined.h"

krf_status krf__check_name(const char *name);
krf_status krf__check_signature(krf_op *op, const char *parameters, const char *results);
krf_status krf__check_body(krf_op *op, krf__defined *known);

#endif
