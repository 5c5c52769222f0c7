/* Prints a planned kernel as the source text of a target. */
#ifndef KRF_CODEGEN_EMIT_H
#define KRF_CODEGEN_EMIT_H

#include "base/strbuf.h"
#include "plan/kernel.h"

typedef struct krf__target krf__target;

/* "c" or "cuda"; NULL for another name. */
const krf__target *krf__target_of(const char *name);

/* Appends the whole text of a kernel: what is compiled, cached and shown. The text is identical on every machine. It declares no name that a user chose. */
void krf__emit(const krf__kernel *kernel, const krf__target *target, krf__str *out);

#endif
