/* Expands complex.def: which functions take complex operands, what they give, and their parts. */
#include "ir/complex.h"

#include "ir/build_calls.h"
#include "ir/complex_functions.h"

enum { DIRECT, WIDE };

/* f(i a) / i */
#define TURNED(f) krf__complex_turn_back(g, f(g, krf__complex_turn(g, A), roomy))

static int way_of(krf__op op) {
    switch (op) {
#define COMPLEX(name, RESULT, WAY, ...) case KRF__##name: return WAY;
#define COMPOSED(name)
#include "ir/complex.def"
    default: return DIRECT;
    }
}

static krf__pair parts(krf_graph *g, krf__op op, const krf__pair *operands, bool roomy) {
    const krf__pair A = operands[0], B = operands[1], C = operands[2];
    switch (op) {
#define COMPLEX(name, RESULT, WAY, ...) case KRF__##name: return __VA_ARGS__;
#define COMPOSED(name)
#include "ir/complex.def"
    default: return (krf__pair){0, 0};
    }
}

static krf__pair cast(krf_graph *g, krf__pair a, krf_dtype dtype) {
    return (krf__pair){krf__build_cast(g, a.re, dtype), a.im != 0 ? krf__build_cast(g, a.im, dtype) : 0};
}

krf__pair krf__complex_apply(krf_graph *g, krf__op op, krf_dtype part, const krf__pair *operands) {
    krf__pair args[3] = {operands[0], operands[1], operands[2]};
    bool wide = way_of(op) == WIDE, roomy = wide && part == KRF_F32;
    for (int k = 0; wide && k < krf__op_info_of(op)->arity; k++) {
        args[k] = cast(g, args[k], KRF_F64);
    }
    krf__pair y = parts(g, op, args, roomy);
    y = roomy ? cast(g, y, KRF_F32) : y;
    return g->status == KRF_OK ? y : (krf__pair){0, 0};
}
