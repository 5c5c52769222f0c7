/* What is gathered from places that follow one another, as of what joins, pads or cuts arrays: the vectors of a GPU that lie in memory as such. */
#ifndef KRF_PASS_RUN_H
#define KRF_PASS_RUN_H

#include "pass/interval.h"

#define KRF__RUN_MOST 64

/* How an integer goes on along an axis, the last one or that before others of one element: step by step from `offset`, between two ends, or each step `divisor` times; besides, a multiple of `multiple` that does not change there. */
typedef struct krf__run {
    enum { KRF__RUN_UNKNOWN, KRF__RUN_NUMBER, KRF__RUN_SAME, KRF__RUN_STEPS, KRF__RUN_REPEATS } kind;
    int64_t offset, low, high; /* a number: offset alone */
    int64_t multiple;          /* a power of two, KRF__RUN_MOST at most */
    bool turns;                /* it goes on from the end once, where it is negative */
    int divisor;               /* of what repeats, which has no ends */
    int behind;                /* axes after that one */
} krf__run;

/* Of a node, where those of its operands are known; interval: of the node itself. */
krf__run krf__run_from(const krf_graph *g, uint32_t id, krf__interval interval, int behind, const krf__run operands[3]);

/* The largest power of two, KRF__RUN_MOST at most, by which places part into blocks each of which follow one another from a multiple of it, or are all its first or its last place; 1 where it is not known;
 * and KRF__RUN_ALONG where three places tell of any stretch what it is: by the last one, that all follow one another; by the second and the last, that all are the same. Of places that do not change: one of which they are a multiple, and KRF__RUN_ROWS. */
#define KRF__RUN_BLOCK UINT64_C(0xff)
#define KRF__RUN_ALONG UINT64_C(0x200)
#define KRF__RUN_ROWS UINT64_C(0x100)
#define KRF__RUN_DIVISOR 12 /* from this bit on: how many times each place comes, one after the other; 0: it is not known */
uint64_t krf__run_blocks(const krf__run *places);

#endif
