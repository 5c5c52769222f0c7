/* Functions that are expressions over others (compose.def), and the derivatives of those that are not (the GRAD rows of ops.def): both are rows in one
 * language, build_calls.h. */
#include "ir/compose.h"

#include "ir/build_calls.h"

bool krf__is_composed(krf__op op) {
    switch (op) {
#define COMPOSE(name, ...) case KRF__##name: return true;
#include "ir/compose.def"
#undef COMPOSE
    default: return false;
    }
}

uint32_t krf__compose(krf_graph *g, krf__op op, const uint32_t *args) {
    const uint32_t A = args[0], B = args[1], C = args[2];
    switch (op) {
#define COMPOSE(name, ...) case KRF__##name: return __VA_ARGS__;
#include "ir/compose.def"
#undef COMPOSE
    default: return (void)B, (void)C, 0;
    }
}

uint32_t krf__derive(krf_graph *g, krf__op op, int operand, const uint32_t *args, uint32_t Y, uint32_t G) {
    const uint32_t A = args[0], B = args[1], C = args[2];
    switch ((int)op * 3 + operand) {
/* Only the operand's own expression is evaluated: the others would leave nodes behind. */
#define NODE(...)
#define OP(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(name, ...) GRAD_(name, __VA_ARGS__, NONE, NONE, NONE)
#define GRAD_(name, dA, dB, dC, ...) \
    case KRF__##name * 3: return dA; \
    case KRF__##name * 3 + 1: return dB; \
    case KRF__##name * 3 + 2: return dC;
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
    default: return (void)A, (void)B, (void)C, (void)Y, (void)G, 0;
    }
}
