/* What the files of the parser share. They are in layers, from the words up: parse_fail.c (messages), parse_token.c (words, and what names stand for), parse_integer.c and parse_literal.c (what is no operand);
 * the families of functions and parse_call.c, which knows their names; parse_undefined.c, parse_function.c (functions of the text), parse_name.c, parse_subscript.c; parse_expr.c
 * (expressions), parse_declare.c; parse.c (programs). Of others only print.c and define_check.c include this, for the names of functions.
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
    krf__lexer lexer; /* behind the call */
    krf__token token;
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
uint32_t krf__parse_memory(krf__parser *p);
/* Gives id back; when that is 0, gives the builder's error its place. */
uint32_t krf__parse_built(krf__parser *p, const char *at, uint32_t id);
#define KRF__SHOWN(token) ((token)->length > 64 ? 64 : (int)(token)->length), (token)->start /* for %.*s */

/* parse_token.c */
bool krf__parse_deeper(krf__parser *p); /* one level, or the error; `depth` is taken back by hand */
void krf__parse_next(krf__parser *p);
krf__token krf__parse_peek(const krf__parser *p);              /* the token after the current one */
bool krf__parse_skip(krf__parser *p, int kind);                /* goes on if the current token is of that kind */
bool krf__parse_close(krf__parser *p, const krf__token *open); /* expects the bracket that closes `open` */
bool krf__parse_ends(const krf__parser *p);                    /* at the end of a statement */
bool krf__parse_at_keyword(const krf__parser *p);              /* at the name of a keyword argument */
bool krf__parse_keyword(krf__parser *p, const char *name);     /* goes behind its `=` if it is that one */
void krf__parse_refuse_keyword(krf__parser *p, const krf__token *function);
void krf__parse_twice(krf__parser *p, const krf__token *function, const char *at, const char *parameter); /* fails: given before */
const krf__symbol *krf__parse_find(krf__parser *p, const krf__map *map, const krf__token *name); /* NULL when absent */
void krf__parse_set(krf__parser *p, krf__map *map, const char *name, size_t length, krf__symbol symbol);
/* What a name stands for before the text declares it: a bound value, or a placeholder that the graph has already. 0:
 * nothing. */
uint32_t krf__parse_bound_name(krf__parser *p, const krf__token *name);

/* parse_integer.c: an expression of integers that are known. bound: of a slice, where the lowest means what the next one means: KRF_NONE is another thing. */
bool krf__parse_int(krf__parser *p, int64_t *value);
const krf__symbol *krf__parse_size(krf__parser *p, const krf__token *name); /* that the name stands for; NULL: for none, or for something else */
bool krf__parse_bound(krf__parser *p, int64_t *bound);
/* x.shape[i], x.size or x.ndim, behind the name. false: it is none of these. */
bool krf__parse_measure(krf__parser *p, uint32_t x, const krf__token *name, int64_t *value);

/* parse_literal.c */
typedef struct krf__ints {
    int n;
    bool none; /* the word None stood instead */
    bool list; /* in brackets */
    int64_t of[KRF_MAX_RANK];
} krf__ints;
bool krf__parse_none(krf__parser *p);                /* goes behind it if the word stands here */
bool krf__parse_ints(krf__parser *p, krf__ints *ints,
                     bool items_none); /* one integer, None, or a tuple or list (with None: KRF_NONE) */
bool krf__parse_axes(krf__parser *p, const char *at, const krf__ints *ints, int axes[KRF_MAX_RANK]);
bool krf__parse_flag(krf__parser *p); /* True or False */
bool krf__parse_dtype(krf__parser *p, krf_dtype *dtype);
bool krf__parse_token_dtype(const krf__token *name, krf_dtype *dtype);
bool krf__parse_constant(const krf__token *name, double *value); /* inf nan pi e */

/* parse_several.c. Behind a call: its values. 0 where several stand where one is needed. */
uint32_t krf__parse_several(krf__parser *p, const krf__token *name, int n, const uint32_t *ids);

/* parse_call.c */
bool krf__parse_is_function(const krf__token *name); /* of the library */
const char *krf__parse_function_name(size_t i);      /* all of them; NULL past the last */
const krf_op *krf__parse_find_op(const krf__parser *p, const krf__token *name); /* of a user; to be released. NULL: none */

/* parse_undefined.c. Both fail. */
uint32_t krf__parse_undefined(krf__parser *p, const krf__token *name, bool function);
void krf__parse_refuse_word(krf__parser *p); /* at `and`, `if`, ...: says what to write instead; at others nothing */

/* parse_function.c */
bool krf__parse_defines(const krf__parser *p); /* whether the statement is `name(...) = ...` */
void krf__parse_definition(krf__parser *p);
const krf__function *krf__parse_find_function(krf__parser *p, const krf__token *name);

/* parse_name.c */
bool krf__parse_at_number(krf__parser *p);
uint32_t krf__parse_number(krf__parser *p, bool negative); /* a literal; negative: a minus stood before it */
/* No call: a value, a constant, an extent. np: `np.` stood before it, which passes by what the text defines. */
uint32_t krf__parse_name(krf__parser *p, const krf__token *name, bool np);

/* parse_view.c: x.T, x.mT and the like, behind them. */
uint32_t krf__parse_attribute(krf__parser *p, uint32_t x, const krf__token *name);

/* parse_expr.c */
uint32_t krf__parse_expression(krf__parser *p);
void krf__parse_value(krf__parser *p, krf__values *values); /* one expression, and the values it gives */
/* Expressions separated by commas, up to `end` or the end of the statement: their values, one after the other. */
void krf__parse_values(krf__parser *p, int end, krf__values *values);

/* parse_declare.c. At the name. */
void krf__parse_declaration(krf__parser *p);

#endif
