/* Expands the GRAD rows of ops.def. */
#include "ir/derive.h"

#include <string.h>

/* What the rows say, as text: before build_calls.h gives their words a meaning. */
#define NODE(...)
#define OP(...)
#define CODE(...)
#define CUDA(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#define GRAD(name, ...) GRAD_(name, __VA_ARGS__, NONE, NONE, NONE)
#define GRAD_(name, dA, dB, dC, ...) [KRF__##name] = {#dA, #dB, #dC},
static const char *const texts[KRF__OP_COUNT][3] = {
#include "ir/ops.def"
};
#undef GRAD_

#include "ir/build_calls.h"

krf__derivative krf__derivative_of(krf__op op, int operand) {
    if (op == KRF__complex_of) {
        return KRF__DERIVATIVE_KNOWN;
    }
    const char *text = texts[op][operand];
    return text == NULL || strcmp(text, "UNKNOWN") == 0 ? KRF__DERIVATIVE_UNKNOWN
           : strcmp(text, "NONE") == 0                  ? KRF__DERIVATIVE_NONE
                                                        : KRF__DERIVATIVE_KNOWN;
}

/* ---- products that need no multiplication, quotients that need one division in all ---- */

static bool is_number(const krf_graph *g, uint32_t x, double value) {
    const krf__node *n = krf__node_of(g, x);
    return n->op == KRF__constant && krf__bits_to_f64((krf_dtype)n->dtype, n->value) == value;
}

uint32_t krf__derive_negative(krf_graph *g, uint32_t x) {
    if (x == 0) {
        return 0;
    }
    krf__node n = *krf__node_of(g, x);
    if (n.op == KRF__constant && krf__is_real((krf_dtype)n.dtype)) {
        n.value = krf__bits_from_f64((krf_dtype)n.dtype, -krf__bits_to_f64((krf_dtype)n.dtype, n.value));
        return krf__graph_add(g, &n, NULL, NULL);
    }
    return n.op == KRF__negative ? n.args[0] : NEGATIVE(x);
}

uint32_t krf__derive_multiply(krf_graph *g, uint32_t x, uint32_t y) {
    for (int k = 0; x != 0 && y != 0 && k < 2; k++) {
        const uint32_t one = k == 0 ? x : y, other = k == 0 ? y : x;
        if (is_number(g, one, 1)) {
            return other;
        }
        if (is_number(g, one, -1)) {
            return krf__derive_negative(g, other);
        }
    }
    return MULTIPLY(x, y);
}

/* By one number, the inverse of which is no element's concern. */
static uint32_t divide(krf_graph *g, uint32_t x, uint32_t y) {
    const bool one = x != 0 && y != 0 && krf__node_of(g, y)->rank == 0 && krf__node_of(g, x)->rank > 0;
    return one ? krf__derive_multiply(g, x, DIVIDE(ONE, y)) : DIVIDE(x, y);
}

/* ---- complex numbers ---- */

#define CONJ(x) CALL1(conj, x)
#define REAL_PART(x) CALL1(real_part, x)
#define COMPLEX_OF(x, y) CALL2(complex_of, x, y)

/* i x or -i x, of a real number x as of a complex one. */
static uint32_t turned(krf_graph *g, uint32_t x, bool back) { return MULTIPLY(x, krf__build_complex(g, 0, back ? -1 : 1, true)); }

/* y = x / |x|: dy = (dx - y real(conj(y) dx)) / |x|. */
static uint32_t derive_sign(krf_graph *g, uint32_t A, uint32_t Y, uint32_t G, bool forward) {
    uint32_t along = REAL_PART(MULTIPLY(forward ? CONJ(Y) : Y, G));
    uint32_t across = SUBTRACT(G, MULTIPLY(forward ? Y : CONJ(Y), along));
    uint32_t zero = EQUAL(A, ZERO);
    return WHERE(zero, ZERO, DIVIDE(across, WHERE(zero, ONE, ABS(A))));
}

/* Functions that have no complex derivative, or whose row calls what complex numbers lack. False: the row serves. */
static bool derive_complex(krf_graph *g, krf__op op, int operand, uint32_t A, uint32_t Y, uint32_t G, bool forward, uint32_t *result) {
    switch ((int)op) {
    case KRF__conj: *result = CONJ(G); break;
    case KRF__real_part: *result = forward ? REAL_PART(G) : G; break;
    case KRF__imag_part: *result = forward ? IMAG_PART(G) : turned(g, G, true); break;
    case KRF__abs:
        *result = CALL1(sign, A);
        *result = forward ? REAL_PART(MULTIPLY(CONJ(*result), G)) : MULTIPLY(G, CONJ(*result));
        break;
    case KRF__angle: *result = forward ? IMAG_PART(DIVIDE(G, A)) : DIVIDE(turned(g, G, true), A); break;
    case KRF__sign: *result = derive_sign(g, A, Y, G, forward); break;
    case KRF__complex_of:
        *result = forward        ? (operand == 0 ? COMPLEX_OF(G, ZERO) : COMPLEX_OF(ZERO, G))
                  : operand == 0 ? REAL_PART(G)
                                 : krf__derive_negative(g, IMAG_PART(G));
        break;
    case KRF__asin: *result = DIVIDE(G, SQRT(MULTIPLY(SUBTRACT(ONE, A), ADD(ONE, A)))); break;
    case KRF__acos: *result = NEGATIVE(DIVIDE(G, SQRT(MULTIPLY(SUBTRACT(ONE, A), ADD(ONE, A))))); break;
    case KRF__asinh: *result = DIVIDE(G, SQRT(ADD(ONE, MULTIPLY(A, A)))); break;
    default: return false;
    }
    return true;
}

/* ---- the rows ---- */

#undef MULTIPLY
#undef NEGATIVE
#undef DIVIDE
#define DIVIDE(x, y) divide(g, x, y)
#define MULTIPLY(x, y) krf__derive_multiply(g, x, y)
#define NEGATIVE(x) krf__derive_negative(g, x)
#define UNKNOWN 0

uint32_t krf__derive(krf_graph *g, krf__op op, int operand, const uint32_t *args, uint32_t Y, uint32_t G, bool forward) {
    const uint32_t A = args[0], B = args[1], C = args[2];
    uint32_t result = 0;
    if (Y == 0 || G == 0) {
        return 0;
    }
    const bool complex = op == KRF__complex_of || krf__is_complex((krf_dtype)krf__node_of(g, args[operand])->dtype);
    if (complex && derive_complex(g, op, operand, A, Y, G, forward, &result)) {
        return result;
    }
    switch ((int)op * 3 + operand) {
/* Only the operand's own expression is evaluated: the others would leave nodes behind. */
#define GRAD_(name, dA, dB, dC, ...) \
    case KRF__##name * 3: return dA; \
    case KRF__##name * 3 + 1: return dB; \
    case KRF__##name * 3 + 2: return dC;
#include "ir/ops.def"
#undef GRAD_
#include "ir/ops_undef.h"
    default: return (void)A, (void)B, (void)C, 0;
    }
}
