#include "pass/from_end.h"

static bool is_zero(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    n = n->op == KRF__view ? krf__node_of(g, n->args[0]) : n;
    return (n->op == KRF__constant || n->op == KRF__scalar) && !krf__is_real((krf_dtype)n->dtype) && krf__bits_to_i64((krf_dtype)n->dtype, n->value) == 0;
}

/* As it is, or as the i32 that it was: cut to fewer bits it may be negative where x is large. */
static bool is_compared(const krf_graph *g, uint32_t compared, uint32_t x) {
    const krf__node *n = krf__node_of(g, x);
    return compared == x || (n->op == KRF__cast && compared == n->args[0] && krf__dtype_of(g, compared) == KRF_I32);
}

bool krf__counts_from_end(const krf_graph *g, uint32_t id, uint32_t *end) {
    const krf__node *n = krf__node_of(g, id), *less = krf__node_of(g, n->args[0]), *sum = krf__node_of(g, n->args[1]);
    const uint32_t x = n->args[2];
    if (n->op != KRF__where || less->op != KRF__less || sum->op != KRF__add || !is_compared(g, less->args[0], x) || !is_zero(g, less->args[1]) || (sum->args[0] != x && sum->args[1] != x)) {
        return false;
    }
    *end = sum->args[sum->args[0] == x ? 1 : 0];
    return true;
}
