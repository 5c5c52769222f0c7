/* What the files of the CUDA target share, a section for each, from the lowest up: none uses what stands in a later section. At the top are target_cuda.c, the holes of all skeletons, and the
 * decisions on them: cuda_skeleton.c and cuda_reduce_options.c. */
#ifndef KRF_CODEGEN_CUDA_H
#define KRF_CODEGEN_CUDA_H

#include "codegen/emitter.h"

/* ---- cuda_operand.c ---- */
bool krf__cuda_in_domain(const krf__emitter *e, uint32_t operand, krf__op op);  /* whether the domain part loads (stores) it */
bool krf__cuda_reads_again(const krf__emitter *e, uint32_t operand); /* whether an operand is the same along some dimension, but for the last one, along which others are not: the caches should keep it */
bool krf__cuda_has_row(const krf__emitter *e, uint32_t operand); /* whether the address of its row is at hand, "from_in0", from which the loads of a reduction go on */
void krf__cuda_put_base(const krf__emitter *e, uint32_t operand, krf__str *out); /* that, or "a.in0" */
bool krf__cuda_vectored(const krf__emitter *e, uint32_t operand);                /* moved by whole vectors */
const char *krf__cuda_vector_type(int bytes);                                    /* the builtin type of so many: 16, 8, 4, 2 or 1 */
bool krf__cuda_has_tail(const krf__kernel *k);                                   /* of a map: whether elements may be left after the last whole vector */
bool krf__cuda_goes_by(const krf__emitter *e);                                    /* of a reduction that stores elements too, by warps that share chunks: memory goes by without staying in caches, as in maps (sums with what is summed 1.016 times as fast); not where blocks have chunks at once */
int krf__cuda_words(const krf__emitter *e, uint32_t operand); /* of 16 bytes that a vector of it takes; 1: one of up to that */
const char *krf__cuda_word_type(const krf__emitter *e, uint32_t operand);        /* the builtin type of such a vector */
const char *krf__cuda_as_word(const krf__emitter *e, uint32_t operand); /* ".word", what moves one of them at once; "" where it is no vector */

/* ---- cuda_accumulator.c ---- */
/* The accumulators of a warp's chunk: their type, and what an element adds to one. */
const char *krf__cuda_accumulator_type(const krf__emitter *e, uint32_t r);
void krf__cuda_put_summand(const krf__emitter *e, uint32_t r, krf__str *out);
/* Whether what a sum takes is a product that f64 holds exactly, so that one fused multiply-add has the bits of both operations; and that, `lane` being the accumulator. */
bool krf__cuda_takes_product(const krf__emitter *e, uint32_t r);
void krf__cuda_put_product_added(const krf__emitter *e, uint32_t r, const char *lane, krf__str *out);
int krf__cuda_accumulators(const krf__emitter *e); /* of a reduction: a thread's share of the 256 lanes */
size_t krf__cuda_accumulator_bytes(const krf__emitter *e, uint32_t r); /* of one of them, or of a partial result */
int64_t krf__cuda_shared_bytes(const krf__emitter *e, uint32_t r); /* of an accumulator in shared memory: halves and narrow integers may be wider ones there */

/* ---- cuda_registers.c ---- */
/* Of rows: whether threads hold all their elements at once; else they go over them in a loop. Which operands they then hold from round to round, or load for the round
 * at hand alone; whether just before these are used, for want of registers; and how many blocks registers allow a multiprocessor. */
bool krf__cuda_row_stays(const krf__emitter *e);
bool krf__cuda_of_all_rows(const krf__emitter *e, uint32_t operand); /* loaded once, before the block's rows: short rows whose length is known */
bool krf__cuda_of_several_rounds(const krf__emitter *e, uint32_t operand);
bool krf__cuda_of_this_round(const krf__emitter *e, uint32_t operand);
bool krf__cuda_loads_late(const krf__emitter *e);
bool krf__cuda_loads_next(const krf__emitter *e); /* then: one vector before that */
int krf__cuda_row_blocks(const krf__emitter *e);

/* ---- cuda_vectors.c ---- */
/* Vectors of a thread that are loaded before they are combined: of rounds that stay, a whole chunk. */
int krf__cuda_quads(const krf__emitter *e);
int krf__cuda_together(const krf__emitter *e); /* threads that go over a chunk together */
int krf__cuda_tile(const krf__emitter *e); /* the elements that are loaded together */
void krf__cuda_put_vector_of_all(const krf__emitter *e, krf__str *out); /* the number of vector e->quad, of a part that is at hand, among all of a thread's */
void krf__cuda_put_vector_number(const krf__emitter *e, krf__str *out); /* and among those of its row or tile */
void krf__cuda_put_vector_start(krf__emitter *e, krf__str *out); /* p_q: where vector e->quad of a thread begins */

/* ---- cuda_bytes.c ---- */
/* Reductions that only take bytes as they are loaded: whether it is one, and what takes word k of vector q. Of those that find the largest or smallest (has_top): their accumulators, what takes one element, and the warp's tree. */
bool krf__cuda_by_fours(const krf__emitter *e);
uint32_t krf__cuda_folded_byte(const krf__emitter *e, uint32_t r); /* the instruction of the byte that a reduction adds up, or compares with others; UINT32_MAX: it takes none */
void krf__cuda_put_fours(const krf__emitter *e, krf__str *out);
bool krf__cuda_has_top(const krf__emitter *e, uint32_t r);
void krf__cuda_put_tops(const krf__emitter *e, uint32_t r, krf__str *out);
void krf__cuda_put_top_of_one(krf__emitter *e, uint32_t r, krf__str *out);
void krf__cuda_put_top_tree(const krf__emitter *e, uint32_t r, const char *farthest, bool written, krf__str *out); /* over threads, the farthest first; written: its steps are written out */
void krf__cuda_put_one_of_four(const krf__emitter *e, krf__str *out);

/* The same of columns, "four0" of each word of a vector: whether a reduction has them, what declares them, and what makes accumulators of them at last. */
bool krf__cuda_has_column_tops(const krf__emitter *e, uint32_t r);
void krf__cuda_put_column_tops(const krf__emitter *e, uint32_t r, krf__str *out);
void krf__cuda_put_column_tops_apart(const krf__emitter *e, uint32_t r, krf__str *out);

/* ---- cuda_place.c ---- */
/* Of krf__kernel.places: how many elements a turn takes; what a thread has for them; what takes a turn's; and the keys of what is found, in the accumulators. */
int krf__cuda_place_elements(const krf__emitter *e);
void krf__cuda_put_place_counts(const krf__emitter *e, krf__str *out);
void krf__cuda_put_place_taken(const krf__emitter *e, krf__str *out);
void krf__cuda_put_place_keys(krf__emitter *e, krf__str *out);

/* ---- cuda_text.c ---- */
void krf__cuda_put_offset(const krf__emitter *e, uint32_t operand, bool reduced, krf__str *out);
void krf__cuda_put_lines(krf__str *out, const char *indent, const char *text);
void krf__cuda_put_reduced_size(const krf__emitter *e, krf__str *out); /* "n1 * n2": the elements of a row */
bool krf__cuda_adds_up(const krf__emitter *e, uint32_t operand); /* whether bools that are stored add up to words of four, "v_out0.four": less than putting bytes together takes */
bool krf__cuda_has_fours(const krf__emitter *e, uint32_t operand); /* whether a vector of integers of 8 bits can be read by words of four, "v_in0.four" */
/* "union { uint4 word; ... } v_in0": a vector of an operand. */
void krf__cuda_put_union(const krf__emitter *e, uint32_t operand, krf__str *out);
void krf__cuda_put_stored(const krf__emitter *e, uint32_t operand, krf__str *out); /* the same of what elements become that are stored, zero where they add up */
void krf__cuda_put_domain_size(const krf__emitter *e, krf__str *out); /* of a map: "n0 * n1", its elements; of rows that a thread has all of, those of one */
void krf__cuda_put_span_loads(const krf__emitter *e, uint32_t first, krf__str *out); /* the vectors of all taps of a window */
void krf__cuda_put_record_loads(const krf__emitter *e, uint32_t first, bool tail, krf__str *out);  /* the vectors of all fields, out of the words of their records; tail: some may lie behind the end */
void krf__cuda_put_record_stores(const krf__emitter *e, uint32_t first, bool tail, krf__str *out);
/* An array of n elements, vectors or addresses of an operand of the domain, v_in0: its declaration, and the load of one of them ("[q]") from `offset` on.
 * again: others read it soon. */
void krf__cuda_put_held(const krf__emitter *e, uint32_t operand, int n, const char *initially, krf__str *out);
void krf__cuda_put_held_load(const krf__emitter *e, uint32_t operand, const char *index, const char *offset, bool again, krf__str *out);
void krf__cuda_put_first(const krf__emitter *e, uint32_t operand, krf__str *out); /* of an operand that is gathered or counts: its first address, or number */
/* The word of a load where vectors begin anywhere, `offset` from the operand's first element. */
void krf__cuda_put_word(const krf__emitter *e, uint32_t operand, const char *offset, krf__str *out);
/* Of a reduction whose elements are fields of records (plan/spread.c): n vectors of these, of which one is loaded; and the field at hand. */
void krf__cuda_put_held_records(const krf__emitter *e, uint32_t first, int n, const char *distance, krf__str *declaration, krf__str *load);
void krf__cuda_put_field(const krf__emitter *e, uint32_t operand, const char *element, krf__str *out);
void krf__cuda_put_fetched_word(const krf__emitter *e, uint32_t instr, const char *words, const char *of_one, krf__str *out); /* word k of a vector that is gathered whole, "pair" or "four"; of_one: makes one of a single element */
void krf__cuda_put_row_ends(const krf__emitter *e, uint32_t operand, krf__str *out); /* where the row at hand begins and ends in it: "a.in0 + i0 * in0_s0, a.in0 + i0 * in0_s0 + n1" */
/* Rows in shared memory: the element at hand of an operand that is held, or the word of vector `quad`; whether rounds loop over them, and branch around what is beyond the row. */
void krf__cuda_put_held_element(const krf__emitter *e, uint32_t operand, const char *quad, krf__str *out);
bool krf__cuda_loops_over_held(const krf__emitter *e);
bool krf__cuda_guards(const krf__emitter *e);
/* Such rows of which a warp has several chunks: whether the round takes them in turn; the names of all that a warp has, and what begins and ends the loop over its chunks. */
bool krf__cuda_goes_in_turn(const krf__emitter *e);
void krf__cuda_put_turns_whole(const krf__emitter *e, krf__str *out);
void krf__cuda_put_turns_begin(krf__emitter *e, krf__str *out);
void krf__cuda_put_turns_end(krf__emitter *e, krf__str *out);
/* Rows by words, between "begin" and "end": their last whole word, and elements behind it, which stay from round to round. */
void krf__cuda_put_words_end(krf__emitter *e, krf__str *out);
void krf__cuda_put_rests(krf__emitter *e, bool in_turn, krf__str *out);
/* A warp's tree: whether a thread folds what it has first, as any order will do; whether steps are written out. */
bool krf__cuda_goes_by_threads(const krf__emitter *e, uint32_t r);
bool krf__cuda_writes_tree(const krf__emitter *e);
/* Halves that are compared by twos: whether a reduction could be of such, and is; its pairs, what takes pair k of vector q, and the warp's tree. */
bool krf__cuda_compares_pairs(const krf__emitter *e, uint32_t r);
bool krf__cuda_has_pairs(const krf__emitter *e, uint32_t r);
void krf__cuda_put_pairs(const krf__emitter *e, uint32_t r, krf__str *out);
void krf__cuda_put_pair_compared(const krf__emitter *e, uint32_t r, krf__str *out);
void krf__cuda_put_pairs_tree(const krf__emitter *e, uint32_t r, krf__str *out);
/* a.in0[...], at the place that is at hand. */
void krf__cuda_put_tile_address(const krf__emitter *e, uint32_t operand, krf__str *out);
/* "a.out0[0 + i0] = t7;\n": a store at the position at hand; reduced: of the domain, else of the results. */
void krf__cuda_put_store(const krf__emitter *e, const krf__instr *store, bool reduced, krf__str *out);
/* Prints, and writes loops out (unroll.c). */
void krf__cuda_unrolled(krf__emitter *e, void (*print)(krf__emitter *e, krf__str *out), krf__str *out);

/* ---- cuda_flat.c ---- */
bool krf__cuda_in_rows(const krf__emitter *e, uint32_t operand); /* whether its vectors are taken out of the words around them */
void krf__cuda_put_row_loads(krf__emitter *e, krf__str *out);

/* ---- cuda_period.c ---- */
bool krf__cuda_period_crowds(const krf__emitter *e); /* whether a map by periods is to leave room for eight blocks */
void krf__cuda_put_period_count(const krf__emitter *e, uint32_t operand, krf__str *out); /* the place of element k of a vector, of what counts */

/* ---- cuda_each.c ---- */
void krf__cuda_put_several(krf__emitter *e, krf__str *out); /* of a thread that has several */

/* ---- cuda_convert.c ---- */
/* Prints the conversion of a byte of a vector to a float, or says that a cast is something else. */
bool krf__cuda_put_converted(const krf__emitter *e, const krf__instr *cast, krf__str *out);

/* ---- cuda_keep.c ---- */
/* Of the round at hand: what need not be computed, as an earlier round kept it; and the line that keeps the value of an instruction (e->saved), or takes
 * what was kept for it (e->replaced). */
void krf__cuda_keep(krf__emitter *e);
bool krf__cuda_keeps_wide(const krf__emitter *e, uint32_t operand); /* whether values of f32 are kept of its elements, which are halves: in "w_in0" */
void krf__cuda_put_kept(krf__emitter *e, uint32_t instr, krf__str *out);

/* ---- cuda_half2.c ---- */
/* Elements of f16 and bf16 by twos: whether the kernel or round at hand takes them so, which is known then (e->twos); the statements of an instruction, and
 * of a store to a vector of f16 or bf16; and what prints an element, for each of those that a turn of the loop over k takes. */
void krf__cuda_by_twos(krf__emitter *e);
void krf__cuda_put_twos(krf__emitter *e, uint32_t instr, krf__str *out);
void krf__cuda_put_taken_twos(krf__emitter *e, uint32_t store, krf__str *out);
void krf__cuda_put_each(krf__emitter *e, void (*print)(krf__emitter *e, uint32_t n, krf__str *out), uint32_t n, krf__str *out);
const char *krf__cuda_element(const krf__emitter *e); /* "k": where the element at hand stands in a vector */

/* ---- cuda_byte4.c ---- */
/* Maps of bytes alone: whether the kernel at hand takes them four at once, which is known then (e->bytes4); the statement of an instruction, and of a store. */
void krf__cuda_by_byte4(krf__emitter *e);
void krf__cuda_put_byte4(krf__emitter *e, uint32_t instr, krf__str *out);
void krf__cuda_put_taken_byte4(const krf__emitter *e, uint32_t store, krf__str *out);

/* ---- cuda_statements.c ---- */
void krf__cuda_put_statements(krf__emitter *e, uint32_t first, uint32_t last, const char *indent, krf__str *out);
/* What is the same for every element of the domain. */
void krf__cuda_put_fixed(krf__emitter *e, krf__str *out);
/* The part over results, on r0, r1, ...: in a scope of its own. */
void krf__cuda_put_results(krf__emitter *e, krf__str *out);

/* ---- cuda_partials.c ---- */
void krf__cuda_put_parts_shared(krf__emitter *e, krf__str *out); /* shared memory for partial results of chunks */

/* ---- cuda_tree.c ---- */
/* The value that another thread of the warp holds, in the type of reduction r: the one `lane` further on (which: "down"), or thread `lane` (NULL). */
void krf__cuda_put_shuffle(krf__emitter *e, uint32_t r, const char *which, const char *value, const char *lane, krf__str *out);
/* Halving over lane numbers: n accumulators until so many are left. */
void krf__cuda_put_halves(krf__emitter *e, int n, int left, krf__str *out);
/* The same of the n accumulators of a vector: first threads (half: half of those that share a row), then neighbours in the vector. The result is r0, r1, ... of the
 * first thread. */
void krf__cuda_put_tree(krf__emitter *e, int n, const char *half, krf__str *out);
/* The same of a warp's 256 lanes, 8 accumulators a thread. Other threads of the warp have no result. */
void krf__cuda_put_warp_tree(krf__emitter *e, krf__str *out);
void krf__cuda_put_row_tree(krf__emitter *e, int threads, krf__str *out); /* of a short row, once the vectors are folded, where its threads are known */
/* Of threads of a warp that have a vector of the same columns: each comes to have a part of it (cuda_column_any.c), by its side in each pair of threads, and so many columns. */
int krf__cuda_columns_left(const krf__emitter *e);
void krf__cuda_put_column_sides(const krf__emitter *e, krf__str *out);
void krf__cuda_put_column_tree(krf__emitter *e, uint32_t r, krf__str *out);
void krf__cuda_put_results_tree(krf__emitter *e, int results, int vector, int threads, krf__str *out); /* of threads that have a vector of each of so many results: each comes to have one, or the first of some, r0 */
void krf__cuda_put_lane_halves(krf__emitter *e, uint32_t first, uint32_t end, krf__str *out); /* of reductions [first, end): lanes 32 apart, then threads */
/* r0, r1, ... of each thread with those of the one d further on, d from `half` on, where the condition holds (NULL: everywhere): of all reductions in one loop, which compiles sooner than one for each, and in which
 * none waits for the others. */
void krf__cuda_put_results_down(krf__emitter *e, const char *unroll, int half, const char *condition, krf__str *out);

/* ---- cuda_team.c ---- */
uint32_t krf__cuda_meet_end(const krf__emitter *e, uint32_t first, int64_t *bytes); /* the end of the reductions from `first` on that meet in shared memory together, and the bytes that a lane of all has there */
void krf__cuda_put_team_tree(krf__emitter *e, krf__str *out); /* of warps that share a chunk, of which the first has the result */

/* ---- cuda_drift.c ---- */
void krf__cuda_put_there(const krf__emitter *e, krf__str *out); /* the condition that the element at hand is one of the row's, where vectors begin anywhere */

/* ---- cuda_row_col.c ---- */
/* Whether a thread's elements of an operand are equal steps apart, "side_in0 + q * step_in0": to compute each place anew makes a fifth of the compiler's work. Declares
 * both, once the place p is known at which a chunk begins. */
bool krf__cuda_walks(const krf__emitter *e);
void krf__cuda_put_walk(const krf__emitter *e, uint32_t operand, krf__str *out);
/* Of rows that lie side by side: where a thread is, the shared memory of a round, and how all threads of a row come to have its results. */
void krf__cuda_put_side_place(const krf__emitter *e, krf__str *out);
void krf__cuda_put_side_shared(krf__emitter *e, krf__str *out);
void krf__cuda_put_side_share(krf__emitter *e, krf__str *out);

/* ---- cuda_stage.c ---- */
/* Element q of a thread's own row of an operand that is staged. */
void krf__cuda_put_staged(const krf__emitter *e, uint32_t operand, krf__str *out);

/* ---- cuda_loads.c ---- */
/* Of reductions by warps: the loads of a tile (of a short row: all of it), of those operands of the domain that are wanted. */
void krf__cuda_put_loads(krf__emitter *e, bool (*wanted)(const krf__emitter *e, uint32_t operand), krf__str *out);
/* The same by and by, where registers do not hold all of it: loads one vector (NULL: none), and if need be declares the arrays before. */
void krf__cuda_put_late_loads(krf__emitter *e, bool (*wanted)(const krf__emitter *e, uint32_t operand), bool declare, const char *quad, krf__str *out);
void krf__cuda_put_whole(krf__emitter *e, krf__str *out); /* "const bool whole = ...;": whether all of them are inside; nothing where they always are */
/* Loads of vector e->quad of all operands of the domain, and the arrays for them. */
void krf__cuda_put_domain_loads(krf__emitter *e, krf__str *declarations, krf__str *loads);
bool krf__cuda_loads_tiles(const krf__emitter *e); /* of a reduction: whether a tile's vectors are loaded before the first is used, and none meanwhile */

/* ---- cuda_held.c ---- */
/* Rows in shared memory: the copies that bring an operand that is held there, and what stores a vector whose elements were replaced. */
void krf__cuda_put_held_copies(krf__emitter *e, krf__str *out);
void krf__cuda_put_held_kept(krf__emitter *e, krf__str *out);

/* ---- cuda_elements.c ---- */
/* Elements that a kernel stores beside its reductions, or in a round: declares a vector for each, puts element k into it, and stores vector q of the tile from p on. */
void krf__cuda_put_vectors(krf__emitter *e, krf__str *out);
void krf__cuda_put_taken(krf__emitter *e, krf__str *out);
void krf__cuda_put_turns(krf__emitter *e, krf__str *out); /* how many turns the loop over k takes */
void krf__cuda_put_elements(krf__emitter *e, const char *condition, krf__str *out);
/* The element at hand of what a reduction stores beside its results, alone. */
void krf__cuda_put_element(krf__emitter *e, const char *indent, krf__str *out);

/* ---- cuda_lines.c ---- */
void krf__cuda_put_shared_loads(krf__emitter *e, krf__str *out); /* where rows share operands (krf__kernel.lines): those of a tile, or of a short row */
void krf__cuda_put_line_loads(krf__emitter *e, krf__str *out);   /* then of a short row: what it has for itself */

/* ---- cuda_words.c ---- */
/* Rows whose vectors are the words of memory (krf__kernel.words): where those of a warp's chunk begin and end. */
void krf__cuda_put_chunk_words(krf__emitter *e, krf__str *out);
bool krf__cuda_keeps_rest(const krf__emitter *e, uint32_t operand); /* whether a thread keeps its element of what is left, "rest_in0", from round to round */

/* ---- cuda_column_lanes.c ---- */
int krf__cuda_column_loads(const krf__emitter *e); /* of an element */
/* Lanes of a column that a thread visits together; in any order, elements of it that it loads together. */
int krf__cuda_columns_together(const krf__emitter *e);

/* ---- cuda_column.c ---- */
/* An element of a column: its statements, and where they are to be, its stores. */
void krf__cuda_put_column_element(krf__emitter *e, const char *condition, krf__str *out);
/* An array of n values for each reduction, all of them the identity, or of no value yet; and a reduction's partial result of column `at + k`, of the lane of chunks that `index` says; NULL: of element f of all lanes' columns. */
void krf__cuda_put_column_arrays(krf__emitter *e, const char *name, int n, bool identity, krf__str *out);
void krf__cuda_put_column_partial(krf__emitter *e, uint32_t r, bool read, const char *index, krf__str *out);

/* ---- cuda_column_drift.c ---- */
const char *krf__cuda_column_at(const krf__emitter *e); /* the first column that a thread loads */
void krf__cuda_put_column_own(const krf__emitter *e, bool begins, krf__str *out); /* what begins, and ends, what is done where column `at + k` is one of its block's */
/* Where a row of an operand begins and ends; and, of what all rows share, the elements of a thread's columns. */
void krf__cuda_put_column_ends(const krf__emitter *e, uint32_t operand, krf__str *out);
void krf__cuda_put_column_apart(krf__emitter *e, uint32_t operand, krf__str *out);
/* Values of a reduction that lie in shared memory; and the tree over groups of threads. */
int krf__cuda_column_shared(const krf__emitter *e);
void krf__cuda_put_drifting_tree(const krf__emitter *e, krf__str *out);

/* ---- cuda_scan.c, cuda_scan_columns.c ---- */
/* The values of the element at place p, into to0[place], to1[place], ...; and what is stored for it, whose tiles have it at `slot`, and what comes before its run at
 * `end`. */
void krf__cuda_put_scan_value(krf__emitter *e, const char *to, const char *place, krf__str *out);
void krf__cuda_put_scan_result(krf__emitter *e, krf__str *out);
void krf__cuda_put_nothing(krf__emitter *e, const char *name, krf__str *out); /* declares name0, ... that nothing has been folded into yet */
void krf__cuda_put_scanned(krf__emitter *e, krf__str *out); /* what is computed of scanned values, which are there, and stored */
void krf__cuda_put_run_result(krf__emitter *e, krf__str *out); /* what is stored of sum0[i], ... of a thread's run, before which there is prefix0, ... */

/* ---- cuda_runs.c ---- */
bool krf__cuda_has_runs(const krf__emitter *e); /* maps: whether there are any, where elements are not taken in turn */
void krf__cuda_put_runs(krf__emitter *e, krf__str *out); /* maps: what is gathered of whole vectors of memory */
bool krf__cuda_put_fetched(const krf__emitter *e, const krf__instr *fetch, krf__str *out);

/* ---- cuda_tile.c, cuda_strip.c ---- */
/* Maps by tiles, and by strips: the value of a load, in the loop over a thread's elements. */
void krf__cuda_put_tile_load(const krf__emitter *e, uint32_t operand, krf__str *out);
void krf__cuda_put_strip_load(const krf__emitter *e, uint32_t operand, krf__str *out);

/* ---- target_cuda.c puts these together ---- */
extern const krf__hole krf__cuda_begin_holes[], krf__cuda_map_holes[], krf__cuda_each_holes[], krf__cuda_period_holes[], krf__cuda_load_holes[], krf__cuda_part_holes[], krf__cuda_drift_holes[], krf__cuda_chunk_holes[], krf__cuda_reduce_holes[], krf__cuda_option_holes[], krf__cuda_partial_holes[], krf__cuda_skeleton_holes[], krf__cuda_column_holes[], krf__cuda_column_any_holes[], krf__cuda_column_ahead_holes[], krf__cuda_column_flat_holes[], krf__cuda_column_drift_holes[], krf__cuda_scan_holes[], krf__cuda_scan_back_holes[], krf__cuda_row_holes[], krf__cuda_tile_holes[], krf__cuda_tile_word_holes[], krf__cuda_short_holes[], krf__cuda_outer_holes[], krf__cuda_line_holes[], krf__cuda_stage_holes[], krf__cuda_scan_column_holes[], krf__cuda_scan_alone_holes[], krf__cuda_scan_short_holes[], krf__cuda_team_holes[], krf__cuda_team_tile_holes[], krf__cuda_strip_holes[], krf__cuda_word_holes[];

#endif
