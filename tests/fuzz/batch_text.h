/* One text of many kernels' texts. */
#ifndef KRF_TESTS_FUZZ_BATCH_TEXT_H
#define KRF_TESTS_FUZZ_BATCH_TEXT_H

#include "base/strbuf.h"

/* Appends the text of kernel `name`. What it defines besides the kernel is renamed after `number`. */
void batch_text_add(krf__str *out, const char *source, const char *name, size_t number);

#endif
