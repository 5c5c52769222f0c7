/* Prints raw kernels. */
#ifndef KRF_CODEGEN_RAW_H
#define KRF_CODEGEN_RAW_H

#include "codegen/emit.h"
#include "ir/raw.h"

/* The user's text for a target; NULL where there is none. */
const char *krf__raw_source(const krf__raw *raw, const krf__target *target);

/* Appends the text of a kernel of schedule KRF__RAW, for a target that it has a source for. */
void krf__emit_raw(const krf__kernel *kernel, const krf__target *target, krf__str *out);

#endif
