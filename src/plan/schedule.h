/* How a kernel's elements are shared out. */
#ifndef KRF_PLAN_SCHEDULE_H
#define KRF_PLAN_SCHEDULE_H

#include "pass/pass.h"
#include "plan/data.h"

/* Merges dimensions that are contiguous for all operands, drops those of extent 1, keeps one of each part. */
void krf__kernel_collapse(krf__kernel *k);

/* Of several rounds: among how many blocks rows go, and what of them lies in shared memory; and whether by words that begin elsewhere than rows do. */
void krf__share_rows(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Whether rows lie side by side: most of what has elements of its own in every row moves fastest from row to row. Makes the kernel one that takes them so (KRF__ROW_COL). */
bool krf__rows_lie_beside(const krf__kernel *k);
void krf__set_rows_beside(krf__kernel *k, const krf__limits *limits);

/* Of a map: whether it goes by squares or strips (KRF__TILE), of which two dimensions, and its vector length then. */
void krf__kernel_tile(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Of a map that is neither: whether a thread has its elements in all rows, which are few; they become the first dimension then. */
void krf__kernel_across(krf__kernel *k);

/* Of a map that is neither of these: whether threads take strips of it, and keep rows. */
void krf__kernel_strips(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Makes the last dimension two, rows and their elements, and returns a row's length (0: there are none); and takes that back. */
int64_t krf__part_rows(krf__kernel *k);
void krf__join_rows(krf__kernel *k, int64_t row);

/* On the CPU, of a map that does not go by squares and of a reduction whose results are side by side: whether strips go on over the ends of short rows. */
void krf__kernel_narrow(krf__kernel *k, const krf__limits *limits);

/* Of a reduction on a GPU: whether warps share chunks for memory's sake; how many do; and whether their threads go by tiles and steps. */
bool krf__shares_chunks(const krf__kernel *k, const krf__limits *limits);
bool krf__takes_long(const krf__kernel *k); /* whether one lane a thread is as fast, of functions of f64 */
bool krf__goes_by_relay(const krf__kernel *k, const krf__limits *limits);
int krf__column_threads(const krf__kernel *k, const krf__limits *limits);
int krf__team_of(const krf__kernel *k, const krf__limits *limits);
void krf__mark_steps(krf__kernel *k);

/* Bytes that are loaded for an element of the domain; what all results read comes from caches. */
size_t krf__loaded_bytes(const krf__kernel *k);

/* Of short rows on a GPU: whether all that is done is that bytes along them are folded; whether words of four are taken out of rows of any length then; and which rows pass through shared memory (krf__operand.staged). */
bool krf__folds_rows_of_bytes(const krf__kernel *k, const krf__limits *limits);
bool krf__parts_rows(const krf__kernel *k, const krf__limits *limits);
void krf__stage_rows(krf__kernel *k, const krf__limits *limits);

/* Before all that: dimensions of a map along which memory is read backwards are gone through backwards. */
void krf__kernel_flip(krf__kernel *k);

/* On the CPU, of a map: which operands are the fields of records that go out together (krf__operand.record). */
void krf__store_records(krf__kernel *k);

/* Whether an operand has the first fields of records, and others all the rest; whether it has others of such a one; and makes those of a first one a record. */
bool krf__begins_record(const krf__kernel *k, const krf__operand *o);
bool krf__is_in_record(const krf__kernel *k, uint32_t operand);
/* Reductions that were spread: how many records of bytes a thread has at once, 1: no such; and marks the fields of these (krf__operand.record). */
int krf__spread_vector(const krf__kernel *k, bool unaligned, const krf__limits *limits);
void krf__mark_spread(krf__kernel *k);

void krf__set_record(krf__kernel *k, uint32_t first);

/* On a GPU: how many records a thread of a map has at once, 1: one, if any; and which operands these then are. */
int krf__record_vector(const krf__kernel *k);
void krf__mark_records(krf__kernel *k);

/* On a GPU: how many elements a thread of a map of windows has at once, 1: it has none, and which operands are their taps (krf__kernel.spans). */
int krf__span_vector(const krf__kernel *k);
void krf__mark_spans(krf__kernel *k);

/* Chooses schedule, chunks, vector length and index width. */
void krf__kernel_schedule(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* With that chosen: where a reduction has a handful of results, beside one another and not by vectors, makes it several of one result each, and chooses again. Only memory may fail. */
krf_status krf__kernel_spread(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Of a GPU: whether a map is to go over memory from its end, as the kernel that the plan has last leaves the cache. */
bool krf__goes_backwards(const krf__plan_data *plan, const krf__kernel *k);

#endif
