/* What users define: functions of single elements whose body is C. A definition never changes; it is counted by handles, by the context that knows its name, by
 * graphs and kernels that call it, and by definitions whose bodies do. */
#ifndef KRF_IR_DEFINED_H
#define KRF_IR_DEFINED_H

#include "base/map.h"
#include "ir/op.h"
#include <kerfuse/define.h>

#include <pthread.h>
#include <stdatomic.h>

enum { KRF__MOST_DEFINED = 16, KRF__MOST_RESULTS = 8 };

/* A dtype, or a letter that stands for the dtype its operands are promoted to. */
typedef struct krf__variable {
    char *name;
    char letter; /* 0: none. 'F': a float */
    uint8_t dtype;
} krf__variable;

/* A result of a definition: what the `value` of a call node points to. */
typedef struct krf__result {
    const struct krf_op *op;
    int index;
} krf__result;

/* Builds a derivative of a definition in g, from its text; named: nodes that its parameters, then its results, stand for. 0 with an error in the graph. A definition brings this
 * along, since only who made it can read the text: gradients are below the parser, which calls them. */
typedef uint32_t krf__build_derivative(krf_graph *g, const krf_op *op, const char *text, const uint32_t *named);

struct krf_op {
    atomic_int references;
    char *name, *body;
    int n_parameters, n_results, n_calls;
    krf__variable parameters[KRF__MOST_DEFINED], variables[KRF__MOST_RESULTS]; /* variables: what results are called */
    krf__result results[KRF__MOST_RESULTS];
    char **derivatives;           /* of result r by parameter p at r * n_parameters + p: text; NULL for none. NULL: not known */
    krf__build_derivative *derive; /* of that text */
    const krf_op **calls;         /* whose names the body calls; retained */
    const krf_op **named;         /* likewise, that derivatives call: no part of what is computed */
    size_t n_named, named_capacity;
    bool costly;                  /* a long dependent chain, as of exp; or a loop */
    const krf_op *map, *combine, *post; /* of a reduction, which has no body but theirs: retained (calls). post NULL: results are the accumulator's fields */
    double identity[KRF__MOST_RESULTS]; /* of a reduction's fields, which are map's results */
    char *function;               /* of a reduction that reduce or accumulate made: whose; else NULL */
    bool hands_on;                /* combine of such a one: what it calls gets the dtype of its operands as it is, for all letters */
    char *text;                   /* signature and body, and those of what it calls: definitions of equal text compute the same */
    size_t text_bytes;
};

struct krf_reduction {
    krf_op op;
};

/* The names that a context knows. */
typedef struct krf__defined {
    pthread_mutex_t lock;
    krf__map ops; /* retained */
} krf__defined;

void krf__defined_open(krf__defined *known);
void krf__defined_close(krf__defined *known);
const krf_op *krf__defined_find(krf__defined *known, const char *name, size_t length); /* retained; NULL: none, or known is NULL */
krf_status krf__op_register(krf__defined *known, krf_op *op); /* its name is known from now on */
krf_status krf__defined_remove(krf__defined *known, const char *name);

const krf_op *krf__op_retain(const krf_op *op);
void krf__op_release(const krf_op *op);

/* The dtype of a parameter or result where letters[l - 'A'] is what letter l stands for. */
static inline krf_dtype krf__variable_dtype(const krf__variable *v, const uint8_t letters[26]) {
    return (krf_dtype)(v->letter != 0 ? letters[v->letter - 'A'] : v->dtype);
}

/* What letters stand for, given the dtype of each operand as it was converted. */
void krf__op_letters(const krf_op *op, const uint8_t *operands, uint8_t letters[26]);

/* The result that a call node, or instruction, is. */
static inline const krf__result *krf__result_of(uint64_t word) { return (const krf__result *)(uintptr_t)word; }

#endif
