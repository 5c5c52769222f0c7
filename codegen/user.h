/* What the files that print users' functions share (user*.c). Nobody else includes this. */
#ifndef KRF_CODEGEN_USER_H
#define KRF_CODEGEN_USER_H

#include "codegen/emitter.h"

#include "base/map.h"
#include "ir/c_lex.h"

typedef struct krf__user_printing {
    krf__emitter *e;
    krf__map done; /* names of functions that were printed */
    krf__str *out;
} krf__user_printing;

static inline bool krf__user_in_c(const krf__emitter *e) { return !e->target->gpu; }
static inline const char *krf__user_inlined(const krf__emitter *e) {
    return krf__user_in_c(e) ? "static inline __attribute__((always_inline))" : e->target->inline_function;
}

bool krf__user_begin(krf__user_printing *p, const char *name, size_t length); /* true the first time */

/* CUDA: what picks among functions by the type of their operands: op_real<W, T>::type and op_number<W, T>::type. W: the type that integers become. */
void krf__user_put_traits(krf__user_printing *p);

/* A function of the library for each dtype that it is for, and the macro around a body that picks one; narrow: integers become f32. */
void krf__user_put_library(krf__user_printing *p, krf__op op);
void krf__user_put_library_macro(const krf__user_printing *p, const krf__c_token *called, krf__op op, bool only_f32, bool narrow);

/* "prefix0, prefix1, ..." from `first` to before n; C: copies of a macro's operands, krf_a0 and so on, which are computed once. */
void krf__user_put_list(krf__str *out, const char *prefix, int first, int n, const char *between);
void krf__user_put_copies(krf__str *out, int n);

/* ---- user_words.c ---- */
const char *krf__user_type(int dtype); /* of values in bodies, and of what is handed to them by address; conversions do the rest */
const krf_op *krf__user_called(const krf_op *op, const krf__c_token *name); /* the definition that a body calls by this name, or NULL */
bool krf__user_next_call(krf__c_lexer *lexer, krf__c_token *name);          /* goes on to the next name before '(' */
bool krf__user_mentions(const krf_op *op, const char *word, bool before_semicolon);
/* Whether all floats of the signature are f32 or less: numbers without a suffix are then, too. */
bool krf__user_is_narrow(const krf_op *op, const uint8_t letters[26]);
/* The C type that a word of a body stands for; NULL: none. */
const char *krf__user_type_of(const krf_op *op, const uint8_t letters[26], const krf__c_token *t);

/* Of a call, or of the step of a fold that takes operands: these, their number; and what its letters stand for. */
int krf__user_operands(const krf__kernel *k, const krf__instr *call, uint32_t operands[KRF__MOST_DEFINED]);
void krf__user_letters(const krf__kernel *k, const krf__instr *call, uint8_t letters[26]);

/* CUDA: whether results are hidden from the compiler, as those of the library's own division are. Else it moves divisions behind the condition that an element is one of
 * the domain, and elements do not overlap. */
bool krf__user_hides(const krf__emitter *e, const krf_op *op);

/* ---- user_cut.c ---- */
enum { KRF__MOST_CUTS = 24 };

/* A part of a body whose value is handed from one stage to later ones. */
typedef struct krf__cut {
    const char *start, *end, *type;
    int stage;            /* from 0: in which it is computed */
    const krf_op *called; /* NULL, or: the text calls it, and the value is that of its cut of number `piece`, not of the text */
    int piece;
    bool free;            /* it means the same wherever it stands in the body */
} krf__cut;

typedef struct krf__cuts {
    krf__cut list[KRF__MOST_CUTS];
    int n, last; /* n 0: the body is one stage. last: the stage of the results */
    int n_ahead; /* after those, of a body with conditions: free ones of the last stage, which come before the conditions */
} krf__cuts;

/* Whether the text from start to end, of a body whose floats are of type `real`, means the same wherever it stands, and computes nothing that a condition may be there to avoid. */
bool krf__user_is_free(const krf_op *op, const uint8_t letters[26], const char *start, const char *end, const char *real);

void krf__user_find_cuts(const krf_op *op, const uint8_t letters[26], krf__cuts *cuts);
/* Of a call, or the map of a fold; none but in C, and over the domain. */
void krf__user_cuts_of(const krf__emitter *e, uint32_t instr, krf__cuts *cuts);
/* ", b7_0[k], b7_1[k]": the values that a piece, by the number of its cut, takes of earlier stages. */
void krf__user_put_known(const krf__cuts *cuts, int piece, uint32_t instr, krf__str *out);

/* ---- user_body.c ---- */
/* A definition for what letters stand for, printed once: a function, or one for each cut and, by the number after theirs, one for the results. */
void krf__user_put_instance(krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const krf__cuts *cuts);
void krf__user_put_instance_name(const krf_op *op, const uint8_t letters[26], krf__str *out);
void krf__user_put_piece_name(const krf_op *op, const uint8_t letters[26], const krf__cuts *cuts, int piece, krf__str *out);

/* user_fold.c: what the folds of a round need. */
void krf__user_put_folds(krf__user_printing *p);

#endif
