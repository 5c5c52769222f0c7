/* Derivatives that users write in the text form. */
#ifndef KRF_IR_DEFINE_DERIVATIVES_H
#define KRF_IR_DEFINE_DERIVATIVES_H

#include "ir/defined.h"

/* Checks them, "dz/dx = y; dz/dy = x", and gives them to op, which is new, with what names in them mean now. */
krf_status krf__define_derivatives(krf_op *op, krf__defined *known, const char *text);

#endif
