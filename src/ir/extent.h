/* Expressions over sizes, "(n + 255) / 256": the shapes, grids and blocks of raw kernels. + - * / // % and brackets, min(a, b), max(a, b), names, and facts about
 * arrays: x.size, x.rank, x.shape[0], x.strides[1]. Division rounds down. */
#ifndef KRF_IR_EXTENT_H
#define KRF_IR_EXTENT_H

#include <kerfuse/base.h>

/* A piece of somebody else's text. */
typedef struct krf__span {
    const char *at; /* NULL: none */
    size_t length;
} krf__span;

bool krf__span_is(krf__span span, const char *text);
bool krf__span_same(krf__span a, krf__span b);

/* What a name in an expression stands for. fact.at NULL: the name alone; else "size", "rank", "shape" or "strides", the last two of an axis. False where it stands for
 * nothing; *rank is set then where an array is known that has no such axis, and stays -1 otherwise. */
typedef bool krf__extent_find(void *user, krf__span name, krf__span fact, int64_t axis, int64_t *value, int *rank);

/* KRF_E_ARGUMENT, with a message that quotes the text. find NULL: only the grammar is checked, names go to `seen` (may be NULL). */
krf_status krf__extent_eval(krf__span text, krf__extent_find *find, void *user, int64_t *value);

/* Cuts a list at its commas outside of brackets: the next piece from *rest on, without blanks around it; false at the end. An empty text has no pieces. */
bool krf__span_next(krf__span *rest, krf__span *piece);

#endif
