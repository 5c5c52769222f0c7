/* What parse_subscript.c does for parse_expr.c, which reads the expressions in a subscript. */
#ifndef KRF_IR_PARSE_SUBSCRIPT_H
#define KRF_IR_PARSE_SUBSCRIPT_H

#include "ir/parser.h"

typedef enum krf__item_kind { KRF__ITEM_SLICE, KRF__ITEM_INTEGER, KRF__ITEM_NONE, KRF__ITEM_ELLIPSIS, KRF__ITEM_ARRAY } krf__item_kind;

typedef struct krf__item {
    krf__item_kind kind;
    const char *at;
    krf_range range; /* integer: its start */
    uint32_t id;     /* array */
} krf__item;

/* The items, then what they say of an array: a slice over all axes; the shape after that; and which of those axes arrays index. */
typedef struct krf__subscript {
    const char *at; /* its bracket */
    int n, dots;
    krf__item items[KRF__PARSE_ITEMS + 1]; /* and the ... that is not written */
    krf_range ranges[KRF_MAX_RANK];
    int kept, from[KRF__PARSE_ITEMS + KRF_MAX_RANK]; /* the axis that each axis of the result comes from; -1: None */
    bool reshaped;
    int n_arrays, axes[KRF_MAX_RANK], places; /* where the places' axes come to stand */
    uint32_t ids[KRF_MAX_RANK];
} krf__subscript;

/* At an item. The place of the expression that stands there; NULL: it has been read, or is an error. */
uint32_t *krf__parse_item(krf__parser *p, krf__subscript *s);
void krf__parse_item_given(krf__parser *p, krf__subscript *s); /* behind that expression */
bool krf__parse_resolve(krf__parser *p, uint32_t x, krf__subscript *s); /* behind the bracket: what the items say of x */
uint32_t krf__parse_subscripted(krf__parser *p, uint32_t x, const krf__subscript *s);

/* x.at[slices].set(v) and its kin. Behind the bracket; goes to that of the value. */
bool krf__parse_update_name(krf__parser *p, const krf__subscript *s, krf__op *op);
uint32_t krf__parse_updated(krf__parser *p, uint32_t x, const krf__subscript *s, krf__op op, uint32_t value);

#endif
