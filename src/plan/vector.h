/* How many elements a thread moves at once. */
#ifndef KRF_PLAN_VECTOR_H
#define KRF_PLAN_VECTOR_H

#include "pass/pass.h"
#include "plan/kernel.h"

void krf__kernel_outer(krf__kernel *k, const krf__limits *limits); /* chooses krf__kernel.outer */

bool krf__shares_rows(const krf__kernel *k); /* whether each operand is the same along the last dimension of the results, or along the row */
int krf__kernel_lines(const krf__kernel *k, const krf__limits *limits); /* how many results a warp then has at once (krf__kernel.lines) */

/* Elements of a 16-byte access along dimension `fast`; 1 where operands allow none. domain_only: what is stored is no matter. unaligned: some array begins elsewhere than on a 16-byte border. */
int krf__vector_length(const krf__kernel *k, int fast, bool domain_only, bool unaligned, const krf__limits *limits);

/* Which operands of a reduction lie beside others, a few elements further on: fields of records (krf__operand.beside). */
void krf__kernel_beside(krf__kernel *k, const krf__limits *limits);

/* Which fetches of a map bring a vector of elements that lie as such in memory: krf__instr.value, until then the blocks of pass/run.h; and krf__kernel.several. */
void krf__kernel_runs(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Whether an operand that lies along dimension `fast` does so in whole vectors of v elements. */
bool krf__in_vectors(const krf__kernel *k, const krf__operand *o, int fast, int v);

/* The same of a map: where only what comes from the caches is in the way of longer ones than it has. */
int krf__cached_vector(const krf__kernel *k);

/* The same of a map for which that is 1, where it stores whole vectors while one or two of its loads begin anywhere. */
int krf__loose_vector(const krf__kernel *k);

/* The same of a map that looks elements up, whose rows have no longer vectors. */
int krf__pair_vector(const krf__kernel *k);

/* The same of a reduction by columns: results that a thread has side by side. */
int krf__column_vector(const krf__kernel *k, bool unaligned, const krf__limits *limits);

/* The same of reductions along rows that begin and end anywhere (krf__kernel.drifts). */
int krf__drifting_vector(const krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Whether two operands begin in each row as far within a vector of v elements; whether it makes no difference which of two values of the canonical tree is the first: rows that begin elsewhere go round it from another lane; and
 * whether all may be computed of what is no element, as lies beside rows in their words: what users define need not end then. */
bool krf__goes_with(const krf__kernel *k, const krf__operand *a, const krf__operand *b, int v);
bool krf__commutes(const krf__kernel *k);
bool krf__takes_anything(const krf__kernel *k);

/* Once the vector length is known: which operands are moved by vectors (krf__operand.aligned, loose). */
void krf__mark_vectors(krf__kernel *k, int fast, bool unaligned);

/* Whether an operand of a map lies in memory as the domain goes. */
bool krf__lies_flat(const krf__kernel *k, const krf__operand *o);

/* A map whose rows have no whole vectors, or short ones, though memory has longer ones: sets krf__kernel.flat and what follows from it. */
void krf__kernel_flat(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* The vectors of a map that go over the ends of rows while what is the same in all rows stays with threads, and krf__kernel.period; 1: it has none. */
int krf__period_vector(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* The same of reductions by columns, whose rows follow one another without a gap. */
void krf__columns_flat(krf__kernel *k, bool unaligned, const krf__limits *limits);

/* Last of all, columns that are neither: of rows that do not come in whole vectors threads take the words of memory (krf__kernel.drifts). */
void krf__columns_drift(krf__kernel *k, bool unaligned, const krf__limits *limits);

#endif
