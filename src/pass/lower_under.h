/* Views, takes and other changes of a value that has been lowered. */
#ifndef KRF_PASS_LOWER_UNDER_H
#define KRF_PASS_LOWER_UNDER_H

#include "pass/lowering.h"

/* The value of out's node `base` under a change: repeated, or read from where it is stored. */
uint32_t krf__lower_under(krf__lowering *l, krf__change *change, uint32_t base);

/* Whether what `base` is made of is at most `most` operations, none of them a reduction. */
bool krf__lower_small(const krf__lowering *l, uint32_t base, int most);

/* A value of out with more axes of extent 1 behind its own. */
uint32_t krf__lower_widened(krf__lowering *l, uint32_t base, int more);

#endif
