/* What the files that print users' functions share (user.c, user_library.c). Nobody else includes this. */
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

static inline bool krf__user_in_c(const krf__emitter *e) { return e->target == &krf__target_c; }
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

/* A definition for what letters stand for, printed once; its name there. */
void krf__user_put_instance(krf__user_printing *p, const krf_op *op, const uint8_t letters[26]);
void krf__user_put_instance_name(const krf_op *op, const uint8_t letters[26], krf__str *out);

/* Of a call, or of the step of a fold that takes operands: these, their number; and what its letters stand for. */
int krf__user_operands(const krf__kernel *k, const krf__instr *call, uint32_t operands[KRF__MOST_DEFINED]);
void krf__user_letters(const krf__kernel *k, const krf__instr *call, uint8_t letters[26]);

/* user_fold.c: what the folds of a round need. */
void krf__user_put_folds(krf__user_printing *p);

#endif
