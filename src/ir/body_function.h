/* Functions of the text form in bodies of C. */
#ifndef KRF_IR_BODY_FUNCTION_H
#define KRF_IR_BODY_FUNCTION_H

#include "ir/op.h"

/* The function of the text form that a body calls by this name: one with code for real numbers or integers; KRF__poison: none. narrow: by its name for f32, expf. */
krf__op krf__body_function(const char *name, size_t length, bool *narrow);

#endif
