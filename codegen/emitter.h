/* What the parts of the code generator share: the kernel being printed, the target, and small printers. */
#ifndef KRF_CODEGEN_EMITTER_H
#define KRF_CODEGEN_EMITTER_H

#include "codegen/emit.h"

typedef struct krf__emitter krf__emitter;

/* Fills a hole of a skeleton: appends text without a trailing newline problem: lines end with '\n' where the hole stands alone on its line. */
typedef struct krf__hole {
    const char *name;
    void (*fill)(krf__emitter *e, krf__str *out);
} krf__hole;

struct krf__target {
    const char *name;
    const char *suffix;          /* of its skeleton files: ".c", ".cu" */
    const char *skeletons[KRF__SCHEDULE_COUNT];
    const char *arguments;       /* how the argument block is reached: "a->", "a." */
    const char *function_prefix; /* of mathematical functions: "krf_", "" */
    const char *definitions;     /* what the sections of codegen/math expect to be defined */
    const char *const *sources;  /* files whose sections may be used, NULL at the end */
    bool gpu;                    /* CUDA; else C for the CPU */
    bool cuts_integers;          /* results of 8 and 16 bits go through krf_cut_..., as compilers are not to be trusted with them */
    bool multiplies;         /* places are divided by way of products (krf__reciprocal): a GPU divides integers by some twenty instructions */
    bool hides_constants;        /* functions that are not rounded exactly get operands that the compiler cannot fold */
    bool stores_unrounded;       /* results of f16 and bf16 are kept as they were before rounding, "u7", for stores, which round themselves */
    bool hides_places;           /* the compiler is not told how places came of bools */
    const char *fast;            /* what the text of fast kernels begins with: it tells the compiler */
    bool chooses_bools;          /* a bool that is computed becomes a float by a choice of two: gcc 12 makes no vectors of a comparison whose bool is converted */
    bool turns_bits;             /* the sign of what a function returns is turned by its bit (krf_negative_f32) */
    bool approximates;           /* fast kernels call krf_fast_... where section fast.h has one */
    const char *inline_function; /* "static inline" */
    const char *infinity_f32, *infinity_f64, *nan_f32, *nan_f64;
    const krf__hole *const *holes; /* those of each of its files, besides the common ones; NULL at the end, and NULL names at the ends of theirs */
    void (*load)(const krf__emitter *e, const krf__instr *load, krf__str *out); /* prints the value of a load in the innermost loop; for a fetch, the address of its place */
    const char *(*bool_type)(const krf__kernel *k); /* what its bools are computed in; NULL: as in memory */
    bool (*fetched)(const krf__emitter *e, const krf__instr *fetch, krf__str *out); /* prints where the element is at hand already, or says that it is not; NULL: never */
    bool (*converted)(const krf__emitter *e, const krf__instr *cast, krf__str *out); /* prints a cast for which there is better than a conversion, or says that it is none such; NULL: never */
    const char *(*fetch_condition)(const krf__emitter *e); /* whether the place at hand is one of the domain; NULL, or gives NULL: always */
};

extern const krf__target krf__target_c, krf__target_cuda;
extern const krf__hole krf__c_body_holes[], krf__c_reduce_holes[], krf__c_scan_holes[], krf__c_scan_along_holes[], krf__c_row_holes[], krf__c_short_holes[], krf__c_row_col_holes[], krf__c_tile_holes[], krf__c_column_holes[], krf__c_store_holes[], krf__c_narrow_holes[];

struct krf__emitter {
    const krf__kernel *k;
    const krf__target *target;
    char (*fold_types)[12];      /* "fold7": of accumulators of several fields, by the number of their reduction among the whole kernel's instructions; else "" */
    char (*operand_names)[12];   /* "in0", "out0" */
    uint32_t *stage_of;          /* C: the stage in which an instruction is computed; of a call in several stages (user_cut.c), the last */
    uint32_t *first_stage_of;    /* C: the first stage of such a call; else stage_of */
    bool *taint;                 /* C: scratch of the staging; CUDA: whether an instruction of the domain depends on a load */
    bool *asked;                 /* as needed, of what is asked before it is decided (cuda_keep.c) */
    bool *needed;                /* whether an instruction of the domain part is computed: CUDA, rows, in the round; else what krf__mark_needed found */
    uint32_t saved, replaced;    /* of the round: whose value takes the place of an element of kept_slot, and whose value is there; UINT32_MAX: none */
    uint32_t kept_slot;
    int32_t *kept;               /* C, rows, by the number of an instruction in the whole kernel: 0; -1: nothing needs it; else 1 + the number of the one that has its value in a block. Maps of short rows: KRF__KEPT_PERIOD, computed once for all rows (c_period.c) */
    bool in_turn;                /* CUDA, maps: elements at hand are the first of their vectors, which move on */
    bool twos;                   /* CUDA: bodies take elements by twos (cuda_half2.c) */
    bool bytes4;                 /* CUDA: maps take bytes by four (cuda_byte4.c) */
    int lane;                    /* by twos: which of the two is printed, 1 or 2; 3: the word of both; 0: as elsewhere */
    unsigned char *forms;        /* by twos: what there is of an instruction of the domain; by four: whether it is computed; C: whether it is computed before a strip (c_fixed.c) */
    bool side_by_side;           /* C: short rows stand side by side, "row0[at + k]", and the fast dimension is the last that is kept */
    bool together;               /* C: several rows go through each round, "row0[row]" */
    bool folds;                  /* C: a row is folded into a few lanes, which go on beside those of other rows */
    bool stepping;               /* CUDA: places are at hand, "at_in0" (cuda_team_tiles.c) */
    const char *tile;            /* CUDA: what begins the names of the place of the tile whose elements places are printed for, "tile_q2", of krf__kernel.along; NULL: no such */
    int part;                    /* CUDA: in a loop over parts of a thread's vectors, how many are at hand; else 0 */
    const char *bool_type;       /* of bools that are computed */
    const char *quad;            /* CUDA: which of a thread's vectors loads are printed for: "q", the one at hand; "0"; "(q + 1)" */
    uint32_t reduction;          /* of rounds: how many reductions those before this one have */
    const krf__kernel *kernel;   /* the whole of it, while k is a round */
    int mode;                    /* 0: loads are of the domain; 1: of the part over results; CUDA, 2: of chunks' results; 3: one at a time */
    krf__str failed;             /* sticky: only .failed is used */
};

/* ---- rounds.c ---- */
/* Prints each round with the round for a kernel; the kernel itself where it has only one. */
void krf__emit_rounds(krf__emitter *e, void (*print)(krf__emitter *e, krf__str *out), krf__str *out);
void krf__emit_row_values(krf__emitter *e, krf__str *out); /* declares what a kernel keeps for each row */

/* ---- same.c ---- */
#define KRF__ANY_SLOT (UINT32_MAX - 1)
typedef struct krf__match {
    const krf__kernel *a, *b;
    uint32_t slot; /* the operand that may be loaded, besides what is kept for the row; KRF__ANY_SLOT: all */
    int steps;
    bool loads, costly;
} krf__match;
bool krf__same_value(krf__match *m, uint32_t i, uint32_t j); /* whether instruction i of a round and j of another have one value, of an element */
bool krf__dear(const krf__instr *i); /* whether it is worth a place where its value stays from round to round */

/* ---- c_text.c ---- */
#define KRF__FOLDED 8 /* lanes that are left of a row that is folded */
int krf__c_fast_dim(const krf__emitter *e);              /* the dimension along which a body computes several elements at once */
int krf__c_strip_length(const krf__emitter *e);          /* how many */
bool krf__c_once(const krf__emitter *e);                 /* whether each lane has one element of the row at most, of short rows that are folded */
const char *krf__c_lane_type(const krf__emitter *e, uint32_t r); /* of accumulators in a chunk */
bool krf__c_in_domain(const krf__kernel *k, uint32_t operand); /* whether the domain part reads or writes it */
bool krf__c_turned(const krf__emitter *e, uint32_t operand);  /* whether it is copied before it is used, or after, of short rows side by side */
bool krf__c_crosses(const krf__emitter *e, uint32_t operand); /* the same, of those and tile by tile */
bool krf__c_laid_out(const krf__emitter *e, uint32_t operand); /* of results in short rows: whether a strip of it is copied into a tile first (c_narrow.c) */
void krf__c_put_narrow_offset(const krf__emitter *e, uint32_t operand, const char *result, krf__str *out); /* " + o": of one that is not, at a result */
int krf__c_class(const krf__emitter *e, uint32_t operand);    /* krf__stride_class of elements that a body takes side by side, in what was copied or in memory */
void krf__c_put_result_offset(const krf__emitter *e, uint32_t operand, krf__str *out); /* where an operand lies in the part over results */
void krf__c_put_results(krf__emitter *e, krf__str *out); /* that part, at the position at hand */
void krf__c_put_each_result(krf__emitter *e, krf__str *out); /* a loop over m results side by side, and a scope with the position of each */

/* ---- c_row_col.c ---- */
bool krf__c_lanes_have_one(const krf__emitter *e); /* of rows that are taken side by side: whether none has more elements than there are lanes */
bool krf__c_columns_in_pieces(const krf__emitter *e); /* of columns: whether 256 at a time go through all rows of a lane, where rows follow one another without a gap */
void krf__c_put_rows_beside(krf__emitter *e, krf__str *out); /* the loop over rows that lie side by side in memory */

/* ---- c_bool.c ---- */
const char *krf__c_bool_type(const krf__kernel *k);

/* ---- c_keep.c ---- */
bool krf__c_left_out(const krf__emitter *e, uint32_t instr);     /* whether nothing needs an instruction of the domain */
bool krf__c_is_there(const krf__emitter *e, uint32_t instr);     /* whether its value is in a block that an earlier round filled */
bool krf__c_passed_over(const krf__emitter *e, uint32_t instr);  /* either: its operands are not looked at */
#define KRF__KEPT_PERIOD INT32_MAX
void krf__c_put_periods(krf__emitter *e, krf__str *out); /* finds what is the same in all rows of a map, and computes it */
void krf__c_put_period_pointers(krf__emitter *e, krf__str *out); /* "p_period7", whose element k belongs to element k of a strip */
void krf__c_put_kept_blocks(krf__emitter *e, int rows, int length, krf__str *out); /* finds what stays in the loops to come, in blocks of so many elements, and declares these */
void krf__c_put_kept(const krf__emitter *e, uint32_t instr, krf__str *out); /* the statement that takes a value that is there */
void krf__c_keep(const krf__emitter *e, uint32_t instr, krf__str *out);     /* and the one that puts it there, where a later round wants it */

/* ---- c_stage.c, c_place.c, c_ahead.c ---- */
uint32_t krf__c_find_stages(krf__emitter *e);             /* fills stage_of and first_stage_of; the number of the last stage */
bool krf__c_compares_first(krf__emitter *e, uint32_t *key); /* whether a block's largest key says that its places are not wanted; the key's instruction */
void krf__c_put_comparison(krf__emitter *e, uint32_t key, krf__str *out); /* finds it, and declares which elements, from `from` up to `to`, have places that count: of a block that has one larger than so_far the first of its largest */
void krf__c_put_prefetch(krf__emitter *e, krf__str *out); /* fetches what comes after elements [j, j + m) */

/* ---- c_narrow.c ---- */
void krf__c_put_narrow_pointer(const krf__emitter *e, uint32_t operand, krf__str *out); /* declares where its strip is */

/* ---- c_half.c ---- */
void krf__c_put_conversions(const krf__emitter *e, int strip, krf__str *out); /* converts strips of operands from f16 before the loops */
void krf__c_find_fixed(krf__emitter *e);       /* which instructions of the domain are computed before a strip's loops; */
bool krf__c_is_fixed(const krf__emitter *e, uint32_t instr); /* whether one is */
void krf__c_put_statement(krf__emitter *e, uint32_t instr, krf__str *out);    /* the statement of an instruction, which may take what was converted */
bool krf__c_converts_store(const krf__emitter *e, uint32_t operand); /* whether a strip of an output is converted to f16 behind the loops */

/* ---- c_store.c ---- */
bool krf__c_passes(const krf__emitter *e, uint32_t operand); /* whether an output may go past the caches */
void krf__c_put_block(const krf__emitter *e, uint32_t operand, int strip, krf__str *out); /* declares the block in which a strip of an output is made */
void krf__c_put_stored(const krf__emitter *e, uint32_t operand, krf__str *out);  /* element k of it, in its block or in that of its record */
void krf__c_round_block(const krf__emitter *e, uint32_t operand, krf__str *out); /* of what is converted behind the loops */
void krf__c_copy_out(const krf__emitter *e, uint32_t operand, krf__str *out);  /* copies elements [j, j + m) of it out */

/* ---- c_scan_strip.c ---- */
/* Strips of a scan's results: where in each output a strip of m elements from the position at hand on lies (of rows, m becomes less: up to a border of a line of one that may go past the caches),
 * and its block; and what is stored for the m elements, of scanned values t0, ... that the text `values` declares for element k. */
void krf__c_put_strip_places(krf__emitter *e, krf__str *out);
void krf__c_put_strip(krf__emitter *e, const char *values, krf__str *out);

/* ---- c_draw.c ---- */
bool krf__c_draws(const krf__emitter *e, uint32_t instr);                        /* whether an instruction's values are random words that are drawn before the loops */
void krf__c_put_draws(const krf__emitter *e, int strip, krf__str *out);          /* draws them, for elements [j, j + m) */
void krf__mark_operands(krf__emitter *e, uint32_t end); /* what the needed instructions before `end` are computed of is needed too */
void krf__mark_needed(krf__emitter *e, uint32_t instr); /* krf__emitter.needed, up to instr: what that is computed of */
void krf__c_put_runs(krf__emitter *e, int strip, krf__str *out); /* what is gathered at places that follow one another, laid out for a strip */
bool krf__c_put_fetched(const krf__emitter *e, const krf__instr *fetch, krf__str *out);
void krf__c_put_drawn(const krf__emitter *e, uint32_t instr, krf__str *out);     /* the statement that takes element k's */

/* ---- c_tile.c ---- */
/* The statement that copies rows at `from` into columns of the operand's tile; C expressions. */
void krf__c_put_turn(const krf__emitter *e, uint32_t operand, int to_step, const char *from_step, const char *rows, const char *columns, krf__str *out);

/* ---- literal.c ---- */
void krf__emit_literal(const krf__emitter *e, krf_dtype dtype, uint64_t bits, krf__str *out);

/* ---- code.c ---- */
bool krf__instr_free(const krf__instr *i); /* whether its value is known before the loops */
bool krf__inexact(const krf__instr *i);    /* a function that is not rounded exactly, nor made of operations that are: the text of f32 powers is, and half of it hangs on a literal exponent or base alone */
bool krf__cuts_integers(const krf__emitter *e, krf_dtype dtype); /* whether results go through krf_cut_... */

const char *krf__lane(const krf__emitter *e, uint32_t instr); /* what its name ends in: "" but for elements by twos */

/* The right-hand side of an elementwise instruction over the texts of its operands. */
void krf__emit_code(const krf__emitter *e, const char *code, krf_dtype dtype, const char *const operands[3], krf__str *out);
void krf__emit_value(const krf__emitter *e, uint32_t instr, krf__str *out); /* "t7", or a literal, or an argument */
const char *krf__c_type(int dtype);       /* of values */
int krf__value_bytes(krf_dtype dtype);
const char *krf__storage_type(int dtype); /* of elements of arrays */
/* What is stored, as a value: f16 and bf16 are stored in other types than they are computed in. */
void krf__emit_loaded(krf_dtype dtype, const char *text, krf__str *out);

/* The instruction of reduction or scan r, and the type of its accumulator. */
const krf__instr *krf__reduction(const krf__emitter *e, uint32_t r);
const char *krf__reduction_type(const krf__emitter *e, uint32_t r);

/* ---- quicker.c ---- */
const char *krf__quicker_code(const krf__emitter *e, uint32_t instr); /* of an operation where more is known of its operands; NULL: its own serves */

/* ---- body.c ---- */
/* Results of f16 and bf16 are rounded from f32, unless the operation is exact there. Fast kernels round where a cast asks for it. */
bool krf__rounds(const krf__emitter *e, const krf__instr *i);
void krf__emit_statement(const krf__emitter *e, uint32_t instr, krf__str *out); /* "float t7 = (float)(t3 + t4);\n"; nothing for literals */
void krf__emit_combine_functions(krf__emitter *e, krf__str *out);
void krf__emit_stored(const krf__emitter *e, uint32_t instr, krf_dtype dtype, krf__str *out); /* a value as it is stored */
void krf__emit_unrounded(const krf__emitter *e, uint32_t instr, krf__str *out); /* a value for what rounds it */
/* Integers of 8 and 16 bits are summed in 32 of the 64 bits of the result in each chunk, whose sum fits: on CUDA by warps, on the CPU in all lanes. */
bool krf__sums_narrow(const krf__emitter *e, uint32_t r);
void krf__emit_identity(const krf__emitter *e, uint32_t r, krf__str *out); /* the value that changes nothing in reduction r */

/* ---- user_call.c ---- */
/* The functions that users define and the kernel calls. */
void krf__emit_user_functions(krf__emitter *e, krf__str *out);
/* Of a call instruction: what stands before its statement, and its value. */
void krf__emit_call_before(const krf__emitter *e, uint32_t instr, krf__str *out);
void krf__emit_call(const krf__emitter *e, uint32_t instr, krf__str *out);
/* C: in how many stages before its own a call, or the map of a fold, computes; the blocks that it needs for these; and what it computes in one of them, from 0. */
int krf__call_stages(const krf__emitter *e, uint32_t instr);
void krf__emit_call_blocks(const krf__emitter *e, uint32_t instr, int length, krf__str *out);
void krf__emit_call_stage(const krf__emitter *e, uint32_t instr, int stage, krf__str *out);
/* What users reduce with: the definition that instruction i folds by, or NULL; how it combines A and B; its identity. */
const krf_op *krf__fold_op(const krf__instr *i);
void krf__emit_fold_combine(const krf__emitter *e, uint32_t r, krf__str *out);
void krf__emit_fold_identity(const krf__emitter *e, uint32_t r, krf__str *out);
/* The values of fold_map and fold_post instructions. */
void krf__emit_fold_step(const krf__emitter *e, uint32_t instr, krf__str *out);
/* The C type of an instruction's value. */
const char *krf__instr_type(const krf__emitter *e, uint32_t instr);
/* Whether an instruction uses the value of another; a call uses all of its chain, and the chain nothing. */
bool krf__instr_uses(const krf__kernel *k, uint32_t user, uint32_t value);

/* ---- index.c ---- */
typedef enum krf__part { KRF__PART_KEPT, KRF__PART_REDUCED } krf__part;
const char *krf__index_type(const krf__emitter *e);
/* Declares the indices of a part's dimensions ("i0", "i1", ...: by dimension number) from a linear index. The last one too unless `linear` is it already. */
void krf__emit_position(const krf__emitter *e, krf__part part, const char *linear, krf__str *out);
void krf__emit_tile_place(const krf__emitter *e, const char *name, const char *start, krf__str *out); /* krf__kernel.along: "tile_q2", the row of the tile that begins at `start`, and "tile_i2", where in it */
/* " + i0 * in0_s0 + i1" for the dimensions of a part, without `except` (-1: none). Empty when the operand is constant there. */
void krf__emit_offset(const krf__emitter *e, uint32_t operand, krf__part part, int except, krf__str *out);
void krf__emit_extents(krf__emitter *e, krf__str *out);  /* local copies of extents and strides in the index type */
void krf__emit_arguments(krf__emitter *e, krf__str *out); /* the struct */

/* ---- comment.c ---- */
void krf__put_comment(const char *text, krf__str *out); /* that may not end the comment in which it stands */

/* ---- common_holes.c ---- */
extern const krf__hole krf__common_holes[]; /* of the skeletons of all targets */

/* ---- template.c ---- */
const char *krf__embedded_text(const char *name); /* of a file in codegen/skeleton or codegen/math; "" where there is none */

/* Expands a skeleton: $NAME is filled by the hole of that name. A hole alone on its line takes the line's indentation for each line it prints. */
void krf__emit_skeleton(krf__emitter *e, const char *file, krf__str *out);

/* ---- unroll.c ---- */
/* Appends text with its "#pragma unroll" loops written out: for those whose bounds are numbers, or the variables of such loops around them. */
void krf__unroll(const char *text, krf__str *out);

/* ---- section.c ---- */
/* The sections of codegen/math that `text` needs, callees first. */
void krf__emit_sections(const krf__emitter *e, const char *text, krf__str *out);

#endif
