/* Expands ops.def: the facts of each row, its texts by kind, the names of the text form, and the identities of reductions. */
#include "ir/op.h"

#include <math.h>
#include <string.h>

static const krf__op_info infos[KRF__OP_COUNT] = {
#define NODE(name_, arity_) [KRF__##name_] = {.name = #name_, .infix = "", .doc = "", .class_ = KRF__CLASS_NODE, .arity = arity_},
#define OP(name_, arity_, RULE, infix_, doc_)        \
    [KRF__##name_] = {.name = #name_,                \
                      .infix = infix_,               \
                      .doc = doc_,                   \
                      .class_ = KRF__CLASS_ELEMENTWISE, \
                      .rule = KRF__RULE_##RULE,      \
                      .arity = arity_},
#define JOIN OP
#define HIDDEN(name_, arity_)                        \
    [KRF__##name_] = {.name = #name_,                \
                      .infix = "",                   \
                      .doc = "",                     \
                      .class_ = KRF__CLASS_ELEMENTWISE, \
                      .rule = KRF__RULE_REAL,        \
                      .hidden = true,                \
                      .arity = arity_},
#define USER(name_, arity_)                          \
    [KRF__##name_] = {.name = #name_,                \
                      .infix = "",                   \
                      .doc = "",                     \
                      .class_ = KRF__CLASS_ELEMENTWISE, \
                      .rule = KRF__RULE_USER,        \
                      .hidden = true,                \
                      .arity = arity_},
#define FOLD(name_, CLASS) \
    [KRF__##name_] = {     \
        .name = #name_, .infix = "", .doc = "", .class_ = KRF__CLASS_##CLASS, .rule = KRF__RULE_USER, .hidden = true, .arity = 1, .reduction = KRF__fold},
#define REDUCE(name_, RULE, doc_) \
    [KRF__##name_] = {            \
        .name = #name_, .infix = "", .doc = doc_, .class_ = KRF__CLASS_REDUCE, .rule = KRF__RULE_##RULE, .arity = 1},
#define SCAN(name_, reduction_, doc_) \
    [KRF__##name_] = {                \
        .name = #name_, .infix = "", .doc = doc_, .class_ = KRF__CLASS_SCAN, .arity = 1, .reduction = KRF__##reduction_},
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
};

#define NODE(...)
#define OP(...)
#define REDUCE(...)
#define GRAD(...)
#define ALIAS(...)
/* One entry of a table by kind, or two: a row for INT is for both kinds of integers. */
#define KIND_BOOL(name, value) [KRF__##name][KRF__KIND_BOOL] = value,
#define KIND_SINT(name, value) [KRF__##name][KRF__KIND_SINT] = value,
#define KIND_UINT(name, value) [KRF__##name][KRF__KIND_UINT] = value,
#define KIND_REAL(name, value) [KRF__##name][KRF__KIND_REAL] = value,
#define KIND_INT(name, value) KIND_SINT(name, value) KIND_UINT(name, value)
/* Stringised at the first level: a second one would expand names such as isnan. */
static const char *const code[KRF__OP_COUNT][KRF__KIND_COUNT] = {
#define CODE(name, KIND, ...) KIND_##KIND(name, #__VA_ARGS__)
#define CUDA(...)
#define COMBINE(name, KIND, IDENTITY, ...) KIND_##KIND(name, #__VA_ARGS__)
#include "ir/ops.def"
#undef CODE
#undef CUDA
#undef COMBINE
};

static const char *const cuda_code[KRF__OP_COUNT][KRF__KIND_COUNT] = {
    [KRF__poison][0] = NULL,
#define CODE(...)
#define CUDA(name, KIND, ...) KIND_##KIND(name, #__VA_ARGS__)
#define COMBINE(...)
#include "ir/ops.def"
#undef CODE
#undef CUDA
#undef COMBINE
};

static const krf__identity identities[KRF__OP_COUNT][KRF__KIND_COUNT] = {
#define CODE(...)
#define CUDA(...)
#define COMBINE(name, KIND, IDENTITY, ...) KIND_##KIND(name, KRF__IDENTITY_##IDENTITY)
#include "ir/ops.def"
#undef CODE
#undef CUDA
#undef COMBINE
};
#undef ALIAS

static const struct {
    const char *other;
    krf__op op;
} aliases[] = {
#define CODE(...)
#define CUDA(...)
#define COMBINE(...)
#define ALIAS(other, name) {#other, KRF__##name},
#include "ir/ops.def"
#include "ir/ops_undef.h"
};

const krf__op_info *krf__op_info_of(krf__op op) { return &infos[(unsigned)op < KRF__OP_COUNT ? op : KRF__poison]; }

bool krf__op_is_leaf(krf__op op) {
    return op == KRF__constant || op == KRF__scalar || op == KRF__part || op == KRF__input || op == KRF__placeholder || op == KRF__iota ||
           op == KRF__view;
}

bool krf__op_folds(krf__op op) { return infos[op].class_ == KRF__CLASS_REDUCE || infos[op].class_ == KRF__CLASS_SCAN; }

krf__op krf__op_reduction(krf__op op) { return infos[op].class_ == KRF__CLASS_SCAN ? (krf__op)infos[op].reduction : op; }

const char *krf__op_code(krf__op op, krf__kind kind, bool cuda) {
    op = krf__op_reduction(op);
    return cuda && cuda_code[op][kind] != NULL ? cuda_code[op][kind] : code[op][kind];
}

bool krf__op_is_costly(krf__op op, krf__kind kind) {
    static const char *const cheap[] = {"F(fabs)", "F(sqrt)", "F(floor)", "F(ceil)", "F(rint)", "F(trunc)", "F(copysign)", "F(fma)"};
    const char *text = krf__op_info_of(op)->class_ == KRF__CLASS_ELEMENTWISE ? krf__op_code(op, kind, false) : NULL;
    bool costly = text != NULL && strstr(text, "F(") != NULL;
    for (size_t i = 0; costly && i < sizeof cheap / sizeof *cheap; i++) {
        costly = strstr(text, cheap[i]) == NULL;
    }
    return costly;
}

static bool same_name(const char *known, const char *name, size_t length) {
    return strlen(known) == length && memcmp(known, name, length) == 0;
}

krf__op krf__op_from_name(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (same_name(aliases[i].other, name, length)) {
            return aliases[i].op;
        }
    }
    for (unsigned op = 0; op < KRF__OP_COUNT; op++) {
        bool view = op >= KRF__cast && op <= KRF__take_along_axis;
        if ((view || infos[op].class_ != KRF__CLASS_NODE) && !infos[op].hidden && same_name(infos[op].name, name, length)) {
            return (krf__op)op;
        }
    }
    return KRF__poison;
}
_Static_assert(KRF__cast + 9 == KRF__take_along_axis, "cast, the views and the takes stand together in ops.def");

bool krf__op_gives_bool(krf__op op) {
    krf__rule rule = krf__op_info_of(op)->rule;
    return rule == KRF__RULE_COMPARE || rule == KRF__RULE_TEST || rule == KRF__RULE_LOGIC || rule == KRF__RULE_BOOLEAN;
}

krf_dtype krf__op_result(krf__op op, krf_dtype computed) {
    const bool key = krf__op_info_of(op)->rule == KRF__RULE_ORDER;
    return krf__op_gives_bool(op) ? KRF_BOOL : !key ? computed : computed == KRF_F64 ? KRF_I64 : KRF_I32;
}

uint64_t krf__identity_bits(krf__op op, krf_dtype dtype) {
    krf__kind kind = krf__dtype(dtype)->kind;
    int64_t highest = INT64_MAX >> (64 - 8 * krf__dtype(dtype)->bytes); /* of a signed integer */
    switch (identities[krf__op_reduction(op)][kind]) {
    case KRF__IDENTITY_NEGATIVE_ZERO: return krf__bits_from_f64(dtype, -0.0);
    case KRF__IDENTITY_ONE: return krf__bits_from_i64(dtype, 1);
    case KRF__IDENTITY_LOWEST:
        return kind == KRF__KIND_REAL   ? krf__bits_from_f64(dtype, -INFINITY)
               : kind == KRF__KIND_UINT ? 0
                                        : krf__bits_from_i64(dtype, -highest - 1);
    case KRF__IDENTITY_HIGHEST:
        return kind == KRF__KIND_REAL   ? krf__bits_from_f64(dtype, INFINITY)
               : kind == KRF__KIND_UINT ? krf__bits_from_i64(dtype, -1)
                                        : krf__bits_from_i64(dtype, highest);
    default: return 0;
    }
}

uint64_t krf__empty_bits(krf__op op, krf_dtype dtype) {
    return op == KRF__sum ? 0 : krf__identity_bits(op, dtype);
}
