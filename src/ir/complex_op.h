/* Which functions take complex operands, and what they give. */
#ifndef KRF_IR_COMPLEX_OP_H
#define KRF_IR_COMPLEX_OP_H

#include "ir/op.h"

/* Whether the function takes complex operands; composed functions (compose.def) that do among them. */
bool krf__complex_defined(krf__op op);

/* Whether it gives a real number of complex operands: abs, angle. */
bool krf__complex_gives_real(krf__op op);

#endif
