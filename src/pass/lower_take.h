/* Takes of what lies in memory. */
#ifndef KRF_PASS_LOWER_TAKE_H
#define KRF_PASS_LOWER_TAKE_H

#include "pass/lowering.h"

/* The places that a take (of `in`) names, none of them outside; 0 when out of memory. */
uint32_t krf__lower_places(krf__lowering *l, uint32_t take);

/* A leaf, or what is stored, under a take: its layout has the rank of what is taken from. */
uint32_t krf__lower_taken(krf__lowering *l, krf__change *change, uint32_t leaf, const krf__layout *layout);

/* Elements of a gather's view, and more. */
uint32_t krf__lower_gather(krf__lowering *l, uint32_t view, uint32_t further);

#endif
