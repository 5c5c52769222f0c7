/* Checked construction of elementwise nodes, arrays and reductions: promotion, weak scalars, broadcasting. Views are in build_view.c. */
#include "ir/build.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/complex_op.h"
#include "ir/compose.h"

#include <string.h>

/* The float dtype that integers and bools of this dtype compute in; complex ones are their own. */
krf_dtype krf__build_float_of(krf_dtype dtype) {
    return krf__is_real(dtype) || krf__is_complex(dtype) ? dtype : krf__dtype(dtype)->bytes <= 2 ? KRF_F32 : KRF_F64;
}

uint32_t krf__build_complex(krf_graph *g, double re, double im, bool literal) {
    return krf__build(g, KRF__complex_of, 2, (uint32_t[]){krf__build_real(g, re, literal), krf__build_real(g, im, literal)});
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

/* A weak operand of a composed function stays weak, so that the result is; beside complex ones a real number stays real. */
static uint32_t convert_weak(krf_graph *g, uint32_t x, krf_dtype dtype) {
    const krf_dtype own = (krf_dtype)krf__node_of(g, x)->dtype, part = krf__is_complex(dtype) ? krf__part_of(dtype) : dtype;
    return own == dtype || own == part ? x : krf__build(g, KRF__multiply, 2, (uint32_t[]){x, krf__build_real(g, 1, true)});
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
    const bool rounds = composed && krf__is_half(dtype); /* a composed function, too, rounds once: from f32 */
    for (int i = 0; i < n; i++) {
        args[i] = i < first ? args[i] : composed && weak ? convert_weak(g, args[i], dtype) : krf__build_convert(g, info->name, args[i], dtype);
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

/* The bit mask of the axes to reduce; false (and the error) when they are not valid. */
bool krf__build_axes(krf_graph *g, const char *name, int rank, int n_axes, const int *axes, int64_t *mask) {
    *mask = axes == NULL ? ((int64_t)1 << rank) - 1 : 0;
    for (int i = 0; axes != NULL && i < n_axes; i++) {
        int axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: axis %d is out of range for rank %d", name, axes[i], rank);
            return false;
        }
        if ((*mask >> axis & 1) != 0) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: axis %d is given twice", name, axes[i]);
            return false;
        }
        *mask |= (int64_t)1 << axis;
    }
    return true;
}

static bool axis_mask(krf_graph *g, krf__op op, uint32_t x, int n_axes, const int *axes, int64_t *mask) {
    return krf__build_axes(g, krf__op_info_of(op)->name, krf__node_of(g, x)->rank, n_axes, axes, mask);
}

krf_dtype krf__accumulator(krf__op op, krf_dtype given) {
    bool small = krf__is_half(given), floats = krf__is_real(given) || krf__is_complex(given);
    switch (krf__op_info_of(op)->rule) {
    case KRF__RULE_SUM:
        return small ? KRF_F32 : floats ? given : krf__dtype(given)->kind == KRF__KIND_UINT ? KRF_U64 : KRF_I64;
    case KRF__RULE_MEAN: return small ? KRF_F32 : floats ? given : KRF_F64;
    case KRF__RULE_BOOLEAN: return KRF_BOOL;
    default: return given;
    }
}

/* Complex numbers have no extremes, and no products of their parts for cumprod (prod is made of multiplications). False, with the error, for these. */
static bool folds_by_parts(krf_graph *g, krf__op op, uint32_t x) {
    krf__op reduction = krf__op_reduction(op);
    bool product = reduction == KRF__prod && op != KRF__prod;
    if (!krf__is_complex((krf_dtype)krf__node_of(g, x)->dtype) || (!product && krf__op_info_of(reduction)->rule != KRF__RULE_SAME)) {
        return true;
    }
    not_in(g, op, &x, 1, product ? "use exp(cumsum(log(x)))" : "complex numbers have no order: reduce abs(x)");
    return false;
}

uint32_t krf__build_scan(krf_graph *g, krf__op op, uint32_t x, int axis) {
    int64_t mask;
    if (x == 0) {
        return 0;
    }
    if (krf__node_of(g, x)->rank == 0) {
        return krf__graph_fail(g, KRF_E_SHAPE, "%s: a value of rank 0 has no axis: reshape it to (1,)", krf__op_info_of(op)->name);
    }
    if (!axis_mask(g, op, x, 1, &axis, &mask) || !folds_by_parts(g, op, x)) {
        return 0;
    }
    krf_dtype given = (krf_dtype)krf__node_of(g, x)->dtype;
    krf_dtype dtype = krf__accumulator(krf__op_reduction(op), given);
    x = krf__build_cast(g, x, dtype);
    if (x == 0) {
        return 0;
    }
    int rank = krf__node_of(g, x)->rank;
    if (krf__shape_of(g, x)[axis < 0 ? axis + rank : axis] > 1) {
        krf__node node = {.op = (uint16_t)op, .dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .args = {x}, .n_ints = 1};
        x = krf__graph_add(g, &node, krf__shape_of(g, x), &mask);
    }
    return krf__is_half(given) ? krf__build_cast(g, x, given) : x;
}

uint32_t krf__build_reduce(krf_graph *g, krf__op op, uint32_t x, int n_axes, const int *axes, bool keepdims) {
    int64_t mask;
    if (x == 0 || !axis_mask(g, op, x, n_axes, axes, &mask) || !folds_by_parts(g, op, x)) {
        return 0;
    }
    krf_dtype given = (krf_dtype)krf__node_of(g, x)->dtype, dtype = krf__accumulator(op, given);
    if (krf__is_half(given) && dtype == KRF_F32) {
        uint32_t sum = krf__build_reduce(g, op, krf__build_cast(g, x, KRF_F32), n_axes, axes, keepdims);
        return krf__build_cast(g, sum, given);
    }
    x = krf__build_cast(g, x, dtype);
    if (x == 0 || mask == 0) {
        return x;
    }
    const krf__node *n = krf__node_of(g, x);
    const int64_t *extents = krf__shape_of(g, x);
    int64_t shape[KRF_MAX_RANK];
    int rank = 0;
    bool empty = false;
    for (int i = 0; i < n->rank; i++) {
        bool reduced = (mask >> i & 1) != 0;
        empty |= reduced && extents[i] == 0;
        if (!reduced || keepdims) {
            shape[rank++] = reduced ? 1 : extents[i];
        }
    }
    if (empty && krf__op_info_of(op)->rule == KRF__RULE_SAME && krf__shape_size(rank, shape) > 0) {
        krf__str text = {0};
        krf__str_shape(&text, n->rank, extents);
        krf__graph_fail(g, KRF_E_SHAPE, "%s: no elements to reduce in shape %s", krf__op_info_of(op)->name,
                        text.data != NULL ? text.data : "?");
        krf__str_free(&text);
        return 0;
    }
    krf__node node = {.op = (uint16_t)op, .dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .keepdims = keepdims,
                      .args = {x}, .n_ints = 1};
    return krf__graph_add(g, &node, shape, &mask);
}

uint32_t krf__build_input(krf_graph *g, krf_array *array) {
    if (g->nil || g->status != KRF_OK) {
        return 0;
    }
    if (array == NULL) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "input: the array is NULL");
    }
    if (g->context != NULL && krf_array_context(array) != g->context) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "input: the array belongs to another context than the graph: copy it to an array of this one with krf_array_copy");
    }
    size_t index = 0;
    while (index < g->n_arrays && g->arrays[index] != array) {
        index++;
    }
    if (index == g->n_arrays) {
        if (!krf__grow(&g->arrays, &g->arrays_capacity, g->n_arrays + 1, sizeof(krf_array *))) {
            return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (inputs)");
        }
        g->arrays[g->n_arrays++] = krf_array_retain(array);
    }
    krf__node node = {.op = KRF__input, .dtype = (uint8_t)array->dtype, .rank = (uint8_t)array->rank, .value = index};
    return krf__graph_add(g, &node, array->shape, NULL);
}

uint32_t krf__build_placeholder(krf_graph *g, const char *name, krf_dtype dtype, bool weak, int rank,
                                const int64_t *shape, const int64_t *strides) {
    if (g->nil || g->status != KRF_OK) {
        return 0;
    }
    const char *shown = name != NULL ? name : "placeholder";
    const char *fault = (unsigned)dtype >= KRF__DTYPE_COUNT ? "the dtype is none" : krf__shape_fault(rank, shape);
    if (fault != NULL) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %s", shown, fault);
    }
    if (weak && dtype != KRF_I64 && dtype != KRF_F64 && dtype != KRF_C128) {
        return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: a weak scalar is KRF_I64, KRF_F64 or KRF_C128", shown);
    }
    for (size_t i = 0; name != NULL && i < g->n_placeholders; i++) {
        if (g->placeholders[i].name != NULL && strcmp(g->placeholders[i].name, name) == 0) {
            return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: a placeholder of this name is there already", shown);
        }
    }
    if (!krf__grow(&g->placeholders, &g->placeholders_capacity, g->n_placeholders + 1, sizeof *g->placeholders)) {
        return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (placeholders)");
    }
    krf__placeholder p = {.name = name != NULL ? krf__strdup(name) : NULL, .strided = strides != NULL};
    if (name != NULL && p.name == NULL) {
        return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (placeholders)");
    }
    if (strides != NULL) {
        memcpy(p.strides, strides, (size_t)rank * sizeof *strides);
    } else {
        krf__shape_c_strides(rank, shape, p.strides);
    }
    krf__node node = {.op = KRF__placeholder, .dtype = (uint8_t)dtype, .weak = weak, .rank = (uint8_t)rank,
                      .value = g->n_placeholders};
    p.node = krf__graph_add(g, &node, shape, NULL);
    if (p.node == 0) {
        krf__mem_free(p.name);
        return 0;
    }
    g->placeholders[g->n_placeholders++] = p;
    return p.node;
}
