/* How calls are read. parse_expr.c goes over the arguments of a call and asks the family of the function at each of them: the family reads what is no expression (axes, dtypes,
 * keywords) itself, and says where the value of one goes. When the bracket is closed it builds. So no family reads expressions, and expressions know families by this table alone. */
#ifndef KRF_IR_PARSE_CALL_H
#define KRF_IR_PARSE_CALL_H

#include "ir/parser.h"

enum { KRF__PARSE_KEPT = 8 }; /* parameters that a family may tell apart */

/* What a call has said so far; families use of it what they need. */
typedef struct krf__arguments {
    const struct krf__family *family;
    size_t which;            /* function of its family */
    krf__op op;
    const char *keyword;     /* of the second argument */
    const krf_op *defined;   /* by the user */
    const krf__function *own; /* of the text */
    krf__token name;         /* of the function */
    krf__token bracket;      /* which opened the call: krf__parse_close of it refuses an argument too many */
    bool method;             /* the first value stood before the dot */
    int n;                   /* arguments so far, that one among them */
    int current;             /* the parameter that is being read */
    const char *comma;       /* the last one */
    const char *at;          /* what a family remembers of an argument's place */
    uint32_t ids[KRF__PARSE_VALUES];
    bool given[KRF__PARSE_KEPT];
    krf__ints ints[4];
    int64_t integers[4];
    int64_t pairs[2 * KRF_MAX_RANK];
    int n_pairs;             /* -1: one for all axes */
    double reals[2];
    int n_range;
    krf_dtype dtype;
    bool has_dtype, has_axis, one_list, keepdims, scan, endpoint;
    krf__token open;         /* of a list of values; kind 0: none */
    uint32_t *list;
    size_t n_list, list_capacity;
} krf__arguments;

typedef struct krf__family {
    const char *(*name)(size_t i); /* of its functions; NULL past the last. NULL: they are found otherwise */
    /* At an argument. The place of the value that stands there; NULL: it has been read, or is an error. */
    uint32_t *(*argument)(krf__parser *p, krf__arguments *a);
    /* Behind a value: the place of another one in the same argument, or NULL. NULL: there is never one. */
    uint32_t *(*given)(krf__parser *p, krf__arguments *a);
    void (*complete)(krf__parser *p, krf__arguments *a); /* before the bracket: whether something is missing. NULL: nothing can be, or build says it */
    uint32_t (*build)(krf__parser *p, krf__arguments *a); /* behind the bracket */
    bool no_methods; /* what stands before the dot is no argument */
} krf__family;

extern const krf__family krf__elementwise_calls, krf__reduce_calls, krf__cast_calls, krf__slice_calls, krf__view_calls, krf__make_calls, krf__move_calls, krf__random_calls,
    krf__grad_calls, krf__ufunc_calls, krf__defined_calls, krf__own_calls;

/* parse_call.c: what the name stands for, the library's or a user's: family, which, op, dtype and what is defined (to be released). False, with the error: nothing. */
bool krf__parse_find_call(krf__parser *p, krf__arguments *a);

/* parse_function.c: goes into the body of a function of the text, where its parameters stand for the arguments, and back. krf__own_calls has no build: the body is that. */
bool krf__parse_enter(krf__parser *p, const krf__arguments *a, krf__call *call);
void krf__parse_leave(krf__parser *p, const krf__call *call);

/* parse_ufunc.c: hypot.reduce(x) and its like. Whether one stands at the current token; goes to its bracket. */
bool krf__parse_at_ufunc(const krf__parser *p);
void krf__parse_ufunc_name(krf__parser *p, krf__arguments *a);

/* parse_operand.c: families whose first argument is an operand, and no others are. */
uint32_t *krf__parse_operand(krf__parser *p, krf__arguments *a);
uint32_t *krf__parse_behind_operand(krf__parser *p, krf__arguments *a); /* their `given` */
void krf__parse_need_operand(krf__parser *p, krf__arguments *a);        /* their `complete` */

/* parse_operand.c: goes behind the `=` of this keyword and notes it in `given`; false at another, and where it is given already, which is an error. */
bool krf__parse_option(krf__parser *p, krf__arguments *a, int parameter, const char *name);

#endif
