/* Small reductions as elementwise operations. */
#ifndef KRF_PASS_LOWER_WINDOW_H
#define KRF_PASS_LOWER_WINDOW_H

#include "pass/lowering.h"

/* A reduction (of `in`) over small windows or few elements as elementwise operations; 0 where it is none, or out of memory. */
uint32_t krf__lower_windows(krf__lowering *l, uint32_t reduction);

#endif
