#ifndef KRF_PLAN_COPIES_H
#define KRF_PLAN_COPIES_H

#include "plan/schedule.h"

/* Whether the elements of a kernel of columns are copied to shared memory ahead of the sums. */
bool krf__copies_columns(const krf__kernel *k);

/* Whether rows of what it loads begin and end at borders of 16 bytes, so that a warp copies those of its columns by words. */
bool krf__copies_words(const krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Blocks of such a kernel that a multiprocessor has at once. */
int krf__copying_blocks(const krf__kernel *k);

/* Blocks under each other that take least time, `beside` of them side by side. */
int64_t krf__copying_down(const krf__kernel *k, int multiprocessors, int64_t beside);

#endif
