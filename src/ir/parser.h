/* What the files of the parser share: parse.c (programs), parse_declare.c, parse_expr.c (operators and names),
 * parse_call.c (functions), parse_function.c (functions of the text), parse_view.c (subscripts, lists of integers, views), parse_fail.c (messages). Of others
 * only print.c includes this, for the names of functions.
 *
 * Functions that give a node return 0 on failure, and `failed` is set then; after that every function returns at once.
 */
#ifndef KRF_IR_PARSER_H
#define KRF_IR_PARSER_H

#include "base/map.h"
#include "ir/build.h"
#include "ir/lex.h"
#include "ir/text.h"

enum {
    KRF__PARSE_DEPTH = 200,                 /* nested brackets, signs and powers: recursion goes no deeper */
    KRF__PARSE_ITEMS = 2 * KRF_MAX_RANK + 1, /* the most items a subscript can need: axes, None, ... */
    KRF__PARSE_PARAMS = 16,                  /* of a function */
    KRF__PARSE_VALUES = 64,                  /* that one call gives */
    KRF__PARSE_CALLS = 100000                /* inlined in one program: functions of functions grow fast */
};

typedef struct krf__symbol {
    uint32_t id; /* node; 0: an extent */
    int64_t extent;
    bool declared; /* or assigned, in the text: may not be declared (again) */
} krf__symbol;

/* A function of the text, `gauss(x, mu, s) = ...`: its body is read again wherever it is called. */
typedef struct krf__function {
    krf__token name;
    int n_params;
    krf__token params[KRF__PARSE_PARAMS];
    krf__lexer body; /* just before its first token */
    bool tuple;      /* (x, y): the brackets are no part of an expression */
} krf__function;

/* A call that is being inlined. */
typedef struct krf__call {
    const krf__function *function;
    const char *at;
    const struct krf__call *outer;
    krf__symbol arguments[KRF__PARSE_PARAMS];
} krf__call;

/* What an expression gave: several values where it is a call of a function that has them, and nothing else. */
typedef struct krf__values {
    int n;
    uint32_t ids[KRF__PARSE_VALUES];
} krf__values;

typedef struct krf__parser {
    krf_graph *g;
    const char *text;
    krf__lexer lexer; /* just behind the current token */
    krf__token token;
    krf__map values, extents,
        placeholders; /* name -> index in symbols + 1. placeholders: those that the graph had before */
    krf__symbol *symbols;
    size_t n_symbols, symbols_capacity;
    int64_t (*missing_extent)(void *user, const char *name);
    void *user;
    krf__map functions; /* name -> index in function_list + 1 */
    krf__function *function_list;
    size_t n_functions, functions_capacity;
    const krf__call *call;   /* whose body is being read; NULL: the program itself */
    int n_calls;
    const char *whole;       /* where an expression begins that may give several values */
    krf__values several;
    int depth;
    bool failed;
} krf__parser;

/* parse_fail.c. `at` points into the text. All return 0. */
uint32_t krf__parse_fail(krf__parser *p, krf_status status, const char *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
uint32_t krf__parse_expected(krf__parser *p, const char *what); /* but found the current token */
uint32_t krf__parse_undefined(krf__parser *p, const krf__token *name, bool function);
uint32_t krf__parse_memory(krf__parser *p);
/* Gives id back; when that is 0, gives the builder's error its place. */
uint32_t krf__parse_built(krf__parser *p, const char *at, uint32_t id);
#define KRF__SHOWN(token) ((token)->length > 64 ? 64 : (int)(token)->length), (token)->start /* for %.*s */

/* parse.c */
void krf__parse_next(krf__parser *p);
krf__token krf__parse_peek(const krf__parser *p);              /* the token after the current one */
bool krf__parse_skip(krf__parser *p, int kind);                /* goes on if the current token is of that kind */
bool krf__parse_close(krf__parser *p, const krf__token *open); /* expects the bracket that closes `open` */
const krf__symbol *krf__parse_find(krf__parser *p, const krf__map *map, const krf__token *name); /* NULL when absent */
/* Expressions separated by commas, up to `end` or the end of the statement: their values, one after the other. */
void krf__parse_values(krf__parser *p, int end, krf__values *values);
bool krf__parse_ends(const krf__parser *p); /* at the end of a statement */

void krf__parse_set(krf__parser *p, krf__map *map, const char *name, size_t length, krf__symbol symbol);
/* What a name stands for before the text declares it: a bound value, or a placeholder that the graph has already. 0:
 * nothing. */
uint32_t krf__parse_bound(krf__parser *p, const krf__token *name);

/* parse_function.c */
bool krf__parse_defines(const krf__parser *p); /* whether the statement is `name(...) = ...` */
void krf__parse_definition(krf__parser *p);
const krf__function *krf__parse_find_function(krf__parser *p, const krf__token *name);
/* At '(' of a call; self: what stands before the dot of a method, else 0. */
uint32_t krf__parse_inlined(krf__parser *p, const krf__function *function, const krf__token *name, uint32_t self);
/* Behind a call: its values. 0 where several stand where one is needed. */
uint32_t krf__parse_several(krf__parser *p, const krf__token *name, int n, const uint32_t *ids);

/* parse_declare.c. At the name. */
void krf__parse_declaration(krf__parser *p);

/* parse_expr.c */
uint32_t krf__parse_expression(krf__parser *p);
bool krf__parse_constant(const krf__token *name, double *value); /* inf nan pi e */
void krf__parse_refuse_word(krf__parser *p);                     /* at `and`, `if`, ...: says what to write instead */

/* parse_call.c. At '('. self: what stands before the dot of a method, else 0. */
uint32_t krf__parse_call(krf__parser *p, const krf__token *name, uint32_t self);
bool krf__parse_is_function(const krf__token *name);
const char *krf__parse_function_name(size_t i); /* all of them; NULL past the last */
bool krf__parse_dtype(krf__parser *p, krf_dtype *dtype);
bool krf__parse_token_dtype(const krf__token *name, krf_dtype *dtype);

/* parse_user.c: what users define; at '(' of a call. NULL where the name is none of theirs; to be released. */
const krf_op *krf__parse_find_op(const krf__parser *p, const krf__token *name);
uint32_t krf__parse_op(krf__parser *p, const krf_op *op, const krf__token *name, uint32_t self);

/* parse_make.c: functions that make arrays; behind the opening bracket. */
const char *krf__parse_maker_name(size_t i); /* NULL past the last */
uint32_t krf__parse_maker(krf__parser *p, size_t which, const krf__token *name, const krf__token *open);

/* parse_move.c: functions that move elements; behind the opening bracket. self: what stands before the dot, else 0. */
const char *krf__parse_mover_name(size_t i); /* NULL past the last */
uint32_t krf__parse_mover(krf__parser *p, size_t which, const krf__token *name, const krf__token *open, uint32_t self);

/* parse_random.c: functions that make random arrays; behind the opening bracket. */
const char *krf__parse_random_name(size_t i); /* NULL past the last */
uint32_t krf__parse_random(krf__parser *p, size_t which, const krf__token *name, const krf__token *open);

/* parse_grad.c: derivatives; behind the opening bracket. self: what stands before the dot, else 0. */
const char *krf__parse_grad_name(size_t i); /* NULL past the last */
uint32_t krf__parse_grad(krf__parser *p, size_t which, const krf__token *name, const krf__token *open, uint32_t self);

/* parse_ufunc.c: hypot.reduce(x) and its like. At the function's name, which is no value. */
bool krf__parse_at_ufunc(const krf__parser *p);
uint32_t krf__parse_ufunc(krf__parser *p);

/* parse_view.c */
typedef struct krf__ints {
    int n;
    bool none; /* the word None stood instead */
    int64_t of[KRF_MAX_RANK];
} krf__ints;
bool krf__parse_int(krf__parser *p, int64_t *value); /* a signed integer or an extent's name */
bool krf__parse_ints(krf__parser *p, krf__ints *ints,
                     bool items_none); /* one integer, None, or a tuple or list (with None: KRF_NONE) */
bool krf__parse_axes(krf__parser *p, const char *at, const krf__ints *ints, int axes[KRF_MAX_RANK]);
uint32_t krf__parse_subscript(krf__parser *p, uint32_t x);
uint32_t krf__parse_update(krf__parser *p, uint32_t x);

#endif
