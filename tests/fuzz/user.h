/* What users define, in random graphs: tables of definitions, each with its C text and, written apart from it, what it must give (user_ops.c, user_folds.c); and what the
 * generator, the inference, the oracle and the builder need of them (user.c). All operations in the texts are rounded exactly, unless a row says how near its results are. */
#ifndef KRF_TESTS_FUZZ_USER_H
#define KRF_TESTS_FUZZ_USER_H

#include "fuzz/generate.h"
#include "fuzz/oracle.h"

#include "ir/define.h"

enum { MOST_FIELDS = 4 };

/* Which dtypes letters may stand for. */
typedef enum takes { TAKES_ANY, TAKES_NUMBERS, TAKES_INTEGERS } takes;

/* x: in the dtypes of the parameters. y: numbers as C has them before they are stored. narrow: all floats of the signature are f32 or less. */
typedef void user_function(bool narrow, const value *x, value *y);
/* What the exact function of result k is applied to, in the dtype f; the function's name. NULL: none, the result is exact. */
typedef const char *user_outer(krf_dtype f, int k, const value *x, value *inner);

typedef struct user_op {
    const char *name, *parameters, *results, *body, *derivatives;
    takes takes;
    user_function *value;
    user_outer *outer; /* NULL: value has all results */
} user_op;

/* Fields of accumulators: in the dtypes that they are kept in, f32 for halves. */
typedef struct accumulator {
    value f[MOST_FIELDS];
} accumulator;

typedef struct user_fold {
    const char *name, *parameters, *fields, *identity, *map, *combine, *results, *post; /* results and post NULL: fields are results */
    const char *function; /* of ufuncs' reduce and accumulate, not NULL: parameters is the type alone, and there are no texts */
    takes takes;
    double none[MOST_FIELDS];
    user_function *value, *last; /* map and post */
    void (*both)(bool narrow, const value *a, const value *b, value *y);
    bool (*near)(krf_dtype f, const value *const *x, int64_t n, value got); /* not exact: whether the result of a row is near enough */
} user_fold;

extern const user_op user_ops[];
extern const user_fold user_folds[];
extern const int user_ops_count, user_folds_count;

/* What a C variable of the dtype holds after an assignment: f32 for halves. */
value kept(krf_dtype dtype, value v);

/* user_row.c: reductions and scans of a row of n mapped elements in the orders of docs/architecture.md. */
typedef struct row_rule {
    const user_fold *fold;
    int fields;
    krf_dtype dtypes[MOST_FIELDS]; /* as declared */
    bool narrow;
} row_rule;
accumulator row_none(const row_rule *rule);
accumulator row_reduce(const row_rule *rule, const accumulator *x, int64_t n);
void row_scan(const row_rule *rule, const accumulator *x, int64_t n, accumulator *y);

/* ---- nodes ---- */

bool node_is_user(const node *n);
int user_arity(const node *n);
int user_results(const node *n);
bool infer_user(const graph *g, node *n);
bool user_is_open(const node *n);
bool run_user(const graph *g, int id, const values *v, const void *observed, bool cuda, void *out, report *r);
krf_expr build_user(const node *n, const krf_expr *x);
void pick_user(dice *d, const graph *g, node *n); /* all but the kind and the first operand */
int user_find(node_kind kind, const krf_op *op); /* the row of a definition; -1: none */

/* Makes the definitions' names known in a context, or in `known`. */
void user_define(krf_context *context);
krf__defined *user_defined(void);

extern int user_percent;   /* of graphs have such nodes */
extern bool user_wide_scans; /* also scans of more than one field, which CUDA has not */

#endif
