/* Checked construction of elementwise nodes: promotion, weak scalars, broadcasting. Reductions are in build_reduce.c, leaves in build_leaf.c, views in build_view.c. */
#include "ir/build.h"

#include "ir/complex_op.h"
#include "ir/compose.h"

/* The float dtype that integers and bools of this dtype compute in; complex ones are their own. */
krf_dtype krf__build_float_of(krf_dtype dtype) {
    return krf__is_real(dtype) || krf__is_complex(dtype) ? dtype : krf__dtype(dtype)->bytes <= 2 ? KRF_F32 : KRF_F64;
}

uint32_t krf__build_complex(krf_graph *g, double re, double im, bool literal) {
    return krf__build(g, KRF__complex_of, 2, (uint32_t[]){krf__build_real(g, re, literal), krf__build_real(g, im, literal)});
}

uint32_t krf__build_astype(krf_graph *g, uint32_t x, krf_dtype dtype) {
    const bool joins = x != 0 && (unsigned)dtype < KRF__DTYPE_COUNT && krf__is_complex(dtype) && !krf__is_complex((krf_dtype)krf__node_of(g, x)->dtype);
    if (!joins) {
        return krf__build_cast(g, x, dtype);
    }
    const krf_dtype part = krf__part_of(dtype);
    return krf__build(g, KRF__complex_of, 2, (uint32_t[]){krf__build_cast(g, x, part), krf__build_cast(g, krf__build_int(g, 0, true), part)});
}

/* An operand in the dtype of its operation. Weak integers that are known must fit. */
uint32_t krf__build_convert(krf_graph *g, const char *name, uint32_t x, krf_dtype dtype) {
    const krf__node *n = krf__node_of(g, x);
    if ((krf_dtype)n->dtype == dtype) {
        return x;
    }
    bool known = n->op == KRF__constant || n->op == KRF__scalar;
    if (n->weak && known && krf__is_int((krf_dtype)n->dtype) && krf__is_int(dtype)) {
        int64_t value = krf__bits_to_i64(KRF_I64, n->value);
        bool large = n->dtype == KRF_U64 && value < 0;
        if (large ? dtype != KRF_U64 : !krf__int_fits(dtype, value)) {
            krf__str text = {0};
            krf__str_printf(&text, large ? "%llu" : "%lld", (unsigned long long)value);
            krf__graph_fail(g, KRF_E_DTYPE, "%s: the integer %s is out of the range of %s; cast the array first", name,
                            text.data != NULL ? text.data : "?", krf_dtype_name(dtype));
            krf__str_free(&text);
            return 0;
        }
    }
    return krf__build_cast(g, x, dtype);
}

uint32_t krf__build_given(krf_graph *g, const char *name, uint32_t value, krf_dtype dtype) {
    value = krf__is_complex(dtype) ? value : krf__build_convert(g, name, value, dtype);
    return value == 0 ? 0 : krf__build_astype(g, value, dtype);
}

/* The dtype that operands [first, n) are promoted to, and whether all of them are weak. False where there is none. */
static bool common_dtype(const krf_graph *g, int first, int n, const uint32_t *args, krf_dtype *dtype, bool *weak) {
    bool any_strong = false, weak_int = false, weak_real = false, weak_complex = false;
    krf_dtype strong = KRF_BOOL, whole = KRF_I64; /* of weak integers: u64 where one of them needs it */
    for (int i = first; i < n; i++) {
        const krf__node *a = krf__node_of(g, args[i]);
        if (!a->weak) {
            if (!krf__promote(strong, (krf_dtype)a->dtype, &strong)) {
                return false;
            }
            any_strong = true;
        } else if (krf__is_complex((krf_dtype)a->dtype)) {
            weak_complex = true;
        } else if (krf__is_real((krf_dtype)a->dtype)) {
            weak_real = true;
        } else {
            weak_int = true;
            whole = a->dtype == KRF_U64 ? KRF_U64 : whole;
        }
    }
    *weak = !any_strong;
    *dtype = !any_strong                        ? (weak_complex ? KRF_C128 : weak_real ? KRF_F64 : whole)
             : weak_complex                     ? krf__complex_of(strong)
             : weak_real                        ? krf__build_float_of(strong)
             : weak_int && strong == KRF_BOOL ? whole
                                                : strong;
    return true;
}

bool krf__build_common(const krf_graph *g, int n, const uint32_t *args, krf_dtype *dtype) {
    bool weak;
    return common_dtype(g, 0, n, args, dtype, &weak);
}

static uint32_t not_in(krf_graph *g, krf__op op, const uint32_t *args, int n, const char *advice) {
    krf__str list = {0};
    for (int i = 0; i < n; i++) {
        krf__str_printf(&list, "%s%s", i > 0 ? " and " : "", krf_dtype_name((krf_dtype)krf__node_of(g, args[i])->dtype));
    }
    krf__graph_fail(g, KRF_E_DTYPE, "%s: not defined for %s; %s", krf__op_info_of(op)->name,
                    list.data != NULL ? list.data : "?", advice);
    krf__str_free(&list);
    return 0;
}

static uint32_t shapes_differ(krf_graph *g, krf__op op, const uint32_t *args, int n) {
    krf__str list = {0};
    for (int i = 0; i < n; i++) {
        krf__str_put(&list, i == 0 ? "" : i + 1 < n ? ", " : " and ");
        krf__str_shape(&list, krf__node_of(g, args[i])->rank, krf__shape_of(g, args[i]));
    }
    krf__graph_fail(g, KRF_E_SHAPE, "%s: shapes %s do not broadcast", krf__op_info_of(op)->name,
                    list.data != NULL ? list.data : "?");
    krf__str_free(&list);
    return 0;
}

/* x ** k for |k| <= 8 by squaring from the highest bit down, so that every back end multiplies in the same order. 0 when it is not that case. */
static uint32_t power_chain(krf_graph *g, uint32_t x, uint32_t exponent) {
    const krf__node *e = krf__node_of(g, exponent);
    bool known = e->op == KRF__constant || e->op == KRF__scalar;
    if (!known || !e->weak || e->dtype != KRF_I64) {
        return 0;
    }
    int64_t k = krf__bits_to_i64(KRF_I64, e->value);
    if (krf__node_of(g, x)->dtype == KRF_BOOL) {
        x = krf__build_cast(g, x, KRF_I64); /* what a bool becomes beside a weak integer */
        if (x == 0) {
            return 0;
        }
    }
    bool complex = krf__is_complex((krf_dtype)krf__node_of(g, x)->dtype), real = complex || krf__is_real((krf_dtype)krf__node_of(g, x)->dtype);
    if (k > 8 || k < -8 || (k < 0 && !real)) {
        return 0;
    }
    if (k == 0 && krf__node_of(g, x)->weak) {
        return complex ? krf__build_complex(g, 1, 0, true) : real ? krf__build_real(g, 1, true) : krf__build_int(g, 1, true);
    }
    if (k == 0) {
        uint32_t one = krf__build_cast(g, krf__build_int(g, 1, true), (krf_dtype)krf__node_of(g, x)->dtype);
        return krf__build_broadcast_to(g, one, krf__node_of(g, x)->rank, krf__shape_of(g, x));
    }
    int64_t magnitude = k < 0 ? -k : k;
    uint32_t r = x;
    for (int bit = 62 - __builtin_clzll((unsigned long long)magnitude); bit >= 0; bit--) {
        r = krf__build(g, KRF__multiply, 2, (uint32_t[]){r, r});
        if ((magnitude >> bit & 1) != 0) {
            r = krf__build(g, KRF__multiply, 2, (uint32_t[]){r, x});
        }
    }
    return k > 0 ? r : krf__build(g, KRF__divide, 2, (uint32_t[]){krf__build_int(g, 1, true), r});
}

/* An operand of a composed function: a weak one stays weak, so that the result is; beside complex ones a real number stays real. */
static uint32_t convert_composed(krf_graph *g, const char *name, uint32_t x, krf_dtype dtype, bool weak) {
    const krf_dtype own = (krf_dtype)krf__node_of(g, x)->dtype, to = krf__is_complex(dtype) && !krf__is_complex(own) ? krf__part_of(dtype) : dtype;
    return own == to ? x : weak ? krf__build(g, KRF__multiply, 2, (uint32_t[]){x, krf__build_real(g, 1, true)}) : krf__build_convert(g, name, x, to);
}

/* Why a function takes no complex operands. */
static const char *complex_advice(krf__op op) {
    switch (op) {
    case KRF__less:
    case KRF__less_equal:
    case KRF__greater:
    case KRF__greater_equal:
    case KRF__maximum:
    case KRF__minimum:
    case KRF__fmax:
    case KRF__fmin:
    case KRF__clip: return "complex numbers have no order: compare abs(x), real(x) or imag(x)";
    case KRF__complex_of: return "it takes two real numbers";
    default: return "use real(x), imag(x) or abs(x)";
    }
}

/* Operands before it are conditions. */
static int first_promoted(krf__op op) { return krf__op_info_of(op)->rule == KRF__RULE_WHERE ? 1 : 0; }

/* The dtype that an elementwise operation computes its operands in, and whether its result is weak; false, and the error, where it is not defined. */
static bool find_dtype(krf_graph *g, krf__op op, int n, const uint32_t *args, krf_dtype *dtype, bool *weak) {
    const krf__rule rule = krf__op_info_of(op)->rule;
    const char *advice = NULL;
    *dtype = KRF_BOOL;
    *weak = false;
    if (!common_dtype(g, first_promoted(op), n, args, dtype, weak) && rule != KRF__RULE_LOGIC) {
        advice = "no integer holds both: cast one of them";
    } else if (krf__is_complex(*dtype) && rule != KRF__RULE_LOGIC && !krf__complex_defined(op)) {
        advice = complex_advice(op);
    } else {
        switch (rule) {
        case KRF__RULE_PARTS: *dtype = krf__is_half(*dtype) ? KRF_F32 : krf__build_float_of(*dtype); break;
        case KRF__RULE_NUMBER: advice = *dtype == KRF_BOOL ? "cast to a number, or use logical and bitwise operations" : NULL; break;
        case KRF__RULE_REAL: *dtype = krf__build_float_of(*dtype); break;
        case KRF__RULE_LOGIC: *dtype = KRF_BOOL; break;
        case KRF__RULE_BITS: {
            const bool bits = !krf__is_real(*dtype) && (*dtype != KRF_BOOL || krf__op_code(op, KRF__KIND_BOOL, false) != NULL);
            advice = bits ? NULL : "cast to an integer";
            break;
        }
        case KRF__RULE_ORDER: advice = krf__is_real(*dtype) ? NULL : "integers are in order as they are"; break;
        default: break;
        }
    }
    *weak &= rule != KRF__RULE_LOGIC && rule != KRF__RULE_WHERE;
    if (advice != NULL) {
        not_in(g, op, args, n, advice);
    }
    return advice == NULL;
}

bool krf__build_defined(krf_graph *g, krf__op op, int n, const uint32_t *args) {
    krf_dtype dtype;
    bool weak;
    return find_dtype(g, op, n, args, &dtype, &weak);
}

uint32_t krf__build(krf_graph *g, krf__op op, int n, const uint32_t *operands) {
    const krf__op_info *info = krf__op_info_of(op);
    uint32_t args[3] = {0};
    if (info->class_ != KRF__CLASS_ELEMENTWISE || n != info->arity) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: takes %d operands, not %d", info->name, info->arity, n);
    }
    for (int i = 0; i < n; i++) {
        if (operands[i] == 0 || operands[i] >= g->n_nodes) {
            return 0;
        }
        args[i] = operands[i];
    }
    if (op == KRF__power) {
        uint32_t chain = power_chain(g, args[0], args[1]);
        if (chain != 0 || g->status != KRF_OK) {
            return chain;
        }
    }
    const int first = first_promoted(op);
    bool weak;
    krf_dtype dtype;
    if (!find_dtype(g, op, n, args, &dtype, &weak)) {
        return 0;
    }
    const bool complex = krf__is_complex(dtype);
    if (first > 0) {
        args[0] = krf__build_convert(g, info->name, args[0], KRF_BOOL);
    }
    int rank = 0;
    int64_t shape[KRF_MAX_RANK];
    const bool composed = krf__is_composed(op);
    const bool rounds = krf__composed_rounds_often(op) && krf__is_half(dtype); /* a composed function, too, rounds once: from f32 */
    for (int i = 0; i < n; i++) {
        args[i] = i < first ? args[i] : composed ? convert_composed(g, info->name, args[i], dtype, weak) : krf__build_convert(g, info->name, args[i], dtype);
        args[i] = rounds ? krf__build_cast(g, args[i], KRF_F32) : args[i];
        if (args[i] == 0) {
            return 0;
        }
        const krf__node *a = krf__node_of(g, args[i]);
        if (!krf__shape_broadcast(rank, shape, a->rank, krf__shape_of(g, args[i]), &rank, shape)) {
            return shapes_differ(g, op, operands, n);
        }
    }
    if (krf__shape_size(rank, shape) < 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "%s: the result has more than 2^63 elements", info->name);
    }
    if (composed) {
        uint32_t y = krf__compose(g, op, args);
        return rounds && y != 0 && krf__node_of(g, y)->dtype == KRF_F32 ? krf__build_cast(g, y, dtype) : y;
    }
    const bool other = krf__op_gives_bool(op) || info->rule == KRF__RULE_ORDER; /* a dtype than the operands' */
    dtype = info->rule == KRF__RULE_PARTS                      ? krf__complex_of(dtype)
            : complex && krf__complex_gives_real(op) && !other ? krf__part_of(dtype)
                                                               : krf__op_result(op, dtype);
    krf__node node = {.op = (uint16_t)op,
                      .dtype = (uint8_t)dtype,
                      .weak = weak && !other,
                      .rank = (uint8_t)rank,
                      .args = {args[0], args[1], args[2]}};
    return krf__graph_add(g, &node, shape, NULL);
}
