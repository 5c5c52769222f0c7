/* Facts about operations, expanded from ops.def. */
#ifndef KRF_IR_OP_H
#define KRF_IR_OP_H

#include "ir/dtype.h"

typedef enum krf__op {
#define NODE(name, ...) KRF__##name,
#define OP(name, ...) KRF__##name,
#define JOIN(name, ...) KRF__##name,
#define HIDDEN(name, ...) KRF__##name,
#define USER(name, ...) KRF__##name,
#define FOLD(name, ...) KRF__##name,
#define REDUCE(name, ...) KRF__##name,
#define SCAN(name, ...) KRF__##name,
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
    KRF__OP_COUNT
} krf__op;

typedef enum krf__op_class { KRF__CLASS_NODE, KRF__CLASS_ELEMENTWISE, KRF__CLASS_REDUCE, KRF__CLASS_SCAN } krf__op_class;

typedef enum krf__rule {
    KRF__RULE_NONE,
    KRF__RULE_NUMBER,
    KRF__RULE_REAL,
    KRF__RULE_COMPARE,
    KRF__RULE_TEST,
    KRF__RULE_LOGIC,
    KRF__RULE_BITS,
    KRF__RULE_WHERE,
    KRF__RULE_ANY,
    KRF__RULE_ORDER,
    KRF__RULE_PARTS,
    KRF__RULE_USER,
    KRF__RULE_SUM,
    KRF__RULE_SAME,
    KRF__RULE_MEAN,
    KRF__RULE_BOOLEAN
} krf__rule;

typedef enum krf__identity {
    KRF__IDENTITY_ZERO,
    KRF__IDENTITY_NEGATIVE_ZERO,
    KRF__IDENTITY_ONE,
    KRF__IDENTITY_LOWEST,
    KRF__IDENTITY_HIGHEST
} krf__identity;

typedef struct krf__op_info {
    const char *name;
    const char *infix; /* "" for none */
    const char *doc;
    krf__op_class class_;
    krf__rule rule;
    bool hidden; /* no function of the user's */
    uint8_t arity;
    uint16_t reduction; /* scans: whose combine they use; else KRF__poison */
} krf__op_info;

const krf__op_info *krf__op_info_of(krf__op op);

/* The operation a name in the text form stands for (aliases too); KRF__poison when none. Only user-visible functions and views. */
krf__op krf__op_from_name(const char *name, size_t length);

/* Whether the operation gives bool whatever it computes in. */
bool krf__op_gives_bool(krf__op op);

/* The dtype of an elementwise operation's results, of real operands that were promoted to a dtype. */
krf_dtype krf__op_result(krf__op op, krf_dtype computed);

/* The text of an operation, or of a reduction's or scan's combine, in a kind; NULL when it does not compute in that kind. cuda: where CUDA has its own, that. */
const char *krf__op_code(krf__op op, krf__kind kind, bool cuda);

/* A function of the mathematical library that IEEE does not round exactly: many dependent operations. */
bool krf__op_is_costly(krf__op op, krf__kind kind);

/* Whether the operation folds many elements: a reduction, or a scan. */
bool krf__op_folds(krf__op op);

/* Whether it is one that a user defines. */
static inline bool krf__op_is_fold(krf__op op) { return op == KRF__fold || op == KRF__fold_scan; }

/* Whether nodes of it are the call of a raw kernel. */
static inline bool krf__op_is_raw(krf__op op) { return op >= KRF__raw_kernel && op <= KRF__raw_result; }

/* Whether a node of a lowered graph is there without a computation: a number, an argument, memory, a range, or a view of one of them. */
bool krf__op_is_leaf(krf__op op);

/* The reduction whose combine a reduction (its own) or a scan uses. */
krf__op krf__op_reduction(krf__op op);

/* Raw bits of a reduction's identity in an accumulator's dtype, and of its value over no elements. */
uint64_t krf__identity_bits(krf__op op, krf_dtype dtype);
uint64_t krf__empty_bits(krf__op op, krf_dtype dtype);

#endif
