/* Elementwise operations for the oracle: each row of ops.def with its reference. A row without one does not compile
 * (ops/reference.h). */
#include "ops/reference.h"

#include "fuzz/oracle.h"

/* What makes complex numbers of parts: no kernel computes it, and it has no reference but itself. */
#define NODE(...)
#define OP(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#define JOIN(name, arity, RULE, infix, doc) \
    static krf_expr build_##name(const krf_expr *x) { return CALL##arity(name); }
#include "ir/ops.def"
#undef JOIN
#define JOIN(name, arity, RULE, infix, doc) {#name, arity, NULL, build_##name},
static const op_row joins[] = {
#include "ir/ops.def"
};
#include "ir/ops_undef.h"
enum { JOINS = sizeof joins / sizeof *joins };

static const op_row *row_at(int op) { return op < OPS ? &ops[op] : &joins[op - OPS]; }
static bool is_join(int op) { return op >= OPS; }

int op_count(void) { return OPS + JOINS; }
const char *op_name(int op) { return row_at(op)->name; }
int op_arity(int op) { return row_at(op)->arity; }
krf_expr op_build(int op, const krf_expr *x) { return row_at(op)->build(x); }

int op_find(const char *name) {
    for (int op = 0; op < op_count(); op++) {
        if (strcmp(op_name(op), name) == 0) {
            return op;
        }
    }
    return -1;
}

static bool is_among(int op, const char *const *names, int n) {
    bool is = false;
    for (int i = 0; i < n; i++) {
        is |= strcmp(op_name(op), names[i]) == 0;
    }
    return is;
}

bool op_is_arithmetic(int op) { return is_among(op, (const char *const[]){"add", "subtract", "multiply", "divide"}, 4); }
bool op_compares(int op) { return is_among(op, (const char *const[]){"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}, 6); }

bool op_converts(int op, int k) { return is_join(op) || ops[op].reference->rule != WHERE || k > 0; }

bool dtypes_promote(krf_dtype a, krf_dtype b, krf_dtype *common) {
    *common = promote(a, b);
    return *common != NO_DTYPE;
}

bool op_is_power(int op) { return strcmp(op_name(op), "power") == 0; }

/* The dtype of all; NO_DTYPE for none. *strong: whether one of them is. */
static krf_dtype common_dtype(int n, const facts *const *args, bool *strong) {
    bool weak_int = false, weak_real = false, weak_complex = false;
    krf_dtype common = KRF_BOOL;
    *strong = false;
    for (int k = 0; k < n; k++) {
        if (args[k]->weak) {
            *(is_complex(args[k]->dtype) ? &weak_complex : is_real(args[k]->dtype) ? &weak_real : &weak_int) = true;
        } else {
            common = *strong ? promote(common, args[k]->dtype) : args[k]->dtype;
            *strong = true;
        }
    }
    if (!*strong) {
        return weak_complex ? KRF_C128 : weak_real ? KRF_F64 : KRF_I64;
    }
    return weak_complex ? with_weak_complex(common) : weak_real ? with_weak_real(common) : weak_int ? with_weak_int(common) : common;
}

bool operands_promote(int n, const facts *const *args, krf_dtype *common) {
    bool strong;
    *common = common_dtype(n, args, &strong);
    return *common != NO_DTYPE;
}

krf_dtype float_dtype(krf_dtype dtype) { return float_of(dtype); }

bool op_typing(int op, const facts *const *args, krf_dtype *compute, krf_dtype *result, bool *weak) {
    const rule r = is_join(op) ? REAL : ops[op].reference->rule;
    const int first = r == WHERE ? 1 : 0;
    bool strong;
    const krf_dtype common = common_dtype(op_arity(op) - first, args + first, &strong);
    if (common == NO_DTYPE && r != LOGIC) {
        return false;
    }
    if (is_complex(common) && r != LOGIC) {
        *compute = common;
        *result = op_takes_complex(op) ? complex_result(op, common) : common;
        *weak = !strong && *result != KRF_BOOL && r != WHERE && r != ORDER;
        return op_takes_complex(op);
    }
    *compute = r == REAL || r == CLOSE ? float_of(common) : r == LOGIC ? KRF_BOOL : common;
    *result = r == COMPARE || r == TEST || r == CLOSE ? KRF_BOOL : r != ORDER ? *compute : *compute == KRF_F64 ? KRF_I64 : KRF_I32;
    *weak = !strong && *result != KRF_BOOL && r != WHERE && r != ORDER;
    if (is_join(op)) {
        *compute = is_half(*compute) ? KRF_F32 : *compute;
        *result = *compute == KRF_F64 ? KRF_C128 : KRF_C64;
    }
    switch (r) {
    case NUMBER: return common != KRF_BOOL;
    case BITS: return !is_real(common);
    case ORDER: return is_real(common);
    case SHIFT: return !is_real(common) && common != KRF_BOOL;
    default: return true;
    }
}

value power_chain(krf_dtype dtype, value x, int64_t k) {
    int64_t magnitude = k < 0 ? -k : k, top = 1;
    value v[2] = {convert(x, dtype), {.dtype = dtype, .i = 1, .f = 1}}; /* the base, and the result so far */
    static int multiply = -1, divide = -1;
    multiply = multiply < 0 ? op_find("multiply") : multiply;
    divide = divide < 0 ? op_find("divide") : divide;
    if (k == 0) {
        return convert((value){.dtype = KRF_I64, .i = 1}, dtype);
    }
    while (2 * top <= magnitude) {
        top *= 2;
    }
    value r = v[0];
    for (int64_t bit = top / 2; bit > 0; bit /= 2) {
        r = op_value(multiply, dtype, dtype, (value[2]){r, r});
        r = (magnitude & bit) != 0 ? op_value(multiply, dtype, dtype, (value[2]){r, v[0]}) : r;
    }
    return k > 0 ? r : op_value(divide, dtype, dtype, (value[2]){convert((value){.dtype = KRF_I64, .i = 1}, dtype), r});
}

static bool is_floor_divide(int op) { return ops[op].reference->f64 == double_floor_divide; }

/* The sign of a NaN is not promised, and these read it. */
bool op_reads_sign(int op) { return strcmp(op_name(op), "copysign") == 0 || strcmp(op_name(op), "signbit") == 0; }

bool op_open(int op, krf_dtype compute) {
    return is_real(compute) && !is_join(op) && (op_reads_sign(op) || ops[op].reference->ulp[0][0] > 0 || is_floor_divide(op));
}

bool op_accepts(int op, krf_dtype compute, const value *x, value got, bool cuda) {
    const reference *f = ops[op].reference;
    value a = convert(x[0], compute), b = ops[op].arity > 1 ? convert(x[1], compute) : a;
    value c = ops[op].arity > 2 && ops[op].reference->rule != WHERE ? convert(x[2], compute) : b;
    if (is_floor_divide(op)) { /* a quotient that has all digits of the dtype may be the next whole number */
        value want = exact_value(f, compute, a, b, c);
        double whole = compute == KRF_F64 ? 0x1p51 : 0x1p22;
        return same(got, want) || (fabs(want.f) >= whole
                                   && (fabs(got.f - want.f) <= 1 || ulp_distance(got, (long double)want.f, 0) <= 1));
    }
    if (op_reads_sign(op)) {
        const bool two = ops[op].arity > 1, either = isnan(two ? b.f : a.f);
        value want = convert(exact_value(f, compute, a, b, c), got.dtype);
        want.f = two && either ? copysign(want.f, got.f) : want.f;
        return same(got, want) || (!two && either);
    }
    const long double x0 = (long double)a.f, x1 = (long double)b.f;
    return ulp_distance(got, f->exact(x0, x1, (long double)c.f), amplitude(f->name, compute, x0, x1, cuda)) <= ulp_bound(f, compute, cuda);
}

value op_value(int op, krf_dtype compute, krf_dtype result, const value *x) {
    if (is_join(op)) {
        return (value){.dtype = result, .f = convert(x[0], compute).f, .im = convert(x[1], compute).f};
    }
    const reference *f = ops[op].reference;
    value a = convert(x[0], compute), b = ops[op].arity > 1 ? convert(x[1], compute) : a;
    value c = ops[op].arity > 2 && ops[op].reference->rule != WHERE ? convert(x[2], compute) : b;
    if (f->rule == WHERE) {
        return convert(convert(x[0], KRF_BOOL).i != 0 ? x[1] : x[2], compute);
    }
    if (is_real(compute)) {
        return convert(exact_value(f, compute, a, b, c), result);
    }
    int bits = 8 * (int)bytes_of(compute);
    value r = {.dtype = result};
    r.i = compute == KRF_BOOL ? f->boolean((int)a.i, (int)b.i) : wrap_to(compute, f->integer(wide_of(a), wide_of(b), wide_of(c), bits));
    return r;
}
