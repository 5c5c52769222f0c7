/* How a kernel's elements are shared out. */
#ifndef KRF_PLAN_SCHEDULE_H
#define KRF_PLAN_SCHEDULE_H

#include "pass/pass.h"
#include "plan/kernel.h"

/* Merges dimensions that are contiguous for all operands, drops those of extent 1, keeps one of each part. */
void krf__kernel_collapse(krf__kernel *k);

/* Of a map: whether it goes by squares (KRF__TILE), of which two dimensions, and its vector length then. */
void krf__kernel_tile(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Chooses schedule, chunks, vector length and index width. */
void krf__kernel_schedule(krf__kernel *k, bool unaligned, const krf__limits *limits);

#endif
