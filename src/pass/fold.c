/* Constants: exactly rounded operations over them are computed now (functions that IEEE does not round exactly are not: devices differ), reductions
 * over no elements become their value, mean becomes a sum divided once by an argument, so that the count is not part of the kernel, and sums of whole numbers that are exact are those of integers. */
#include "base/fail.h"
#include "base/mem.h"
#include "ir/build_call.h"
#include "ir/build_raw.h"
#include "pass/pass.h"

#include <math.h>

static uint32_t constant(krf_graph *g, const krf__node *like, uint64_t bits) {
    krf__node node = {.op = KRF__constant, .dtype = like->dtype, .weak = like->weak, .value = bits};
    return krf__graph_add(g, &node, NULL, NULL);
}

static bool fold_real(krf__op op, krf_dtype dtype, const double *v, double *result) {
    switch (op) {
    case KRF__add: *result = v[0] + v[1]; break;
    case KRF__subtract: *result = v[0] - v[1]; break;
    case KRF__multiply: *result = v[0] * v[1]; break;
    case KRF__divide: *result = v[0] / v[1]; break;
    case KRF__negative: *result = -v[0]; break;
    case KRF__sqrt: *result = sqrt(v[0]); break;
    case KRF__abs: *result = fabs(v[0]); break;
    default: return false;
    }
    /* Rounding twice is innocuous: 53 bits are more than twice 24 plus two, and more than twice 11, for each of these operations. */
    *result = krf__bits_to_f64(dtype, krf__bits_from_f64(dtype, *result));
    return true;
}

static bool fold_int(krf__op op, const int64_t *v, int64_t *result) {
    switch (op) {
    case KRF__add: *result = (int64_t)((uint64_t)v[0] + (uint64_t)v[1]); return true;
    case KRF__subtract: *result = (int64_t)((uint64_t)v[0] - (uint64_t)v[1]); return true;
    case KRF__multiply: *result = (int64_t)((uint64_t)v[0] * (uint64_t)v[1]); return true;
    case KRF__negative: *result = (int64_t)(0 - (uint64_t)v[0]); return true;
    default: return false;
    }
}

/* The folded node, or 0 when it is not of a kind that is folded. args are ids of g. */
static uint32_t fold_elementwise(krf_graph *g, const krf__node *n) {
    int arity = krf__op_info_of(n->op)->arity;
    double reals[3];
    int64_t ints[3], i;
    double r;
    if (n->rank != 0) {
        return 0;
    }
    for (int k = 0; k < arity; k++) {
        const krf__node *a = krf__node_of(g, n->args[k]);
        if (a->op != KRF__constant) {
            return 0;
        }
        reals[k] = krf__bits_to_f64((krf_dtype)a->dtype, a->value);
        ints[k] = krf__is_real((krf_dtype)a->dtype) ? 0 : krf__bits_to_i64((krf_dtype)a->dtype, a->value);
    }
    krf_dtype from = (krf_dtype)krf__node_of(g, n->args[0])->dtype;
    if (n->op == KRF__cast) {
        return constant(g, n, krf__bits_cast(from, (krf_dtype)n->dtype, krf__node_of(g, n->args[0])->value));
    }
    if (krf__is_real((krf_dtype)n->dtype) && from == (krf_dtype)n->dtype &&
        fold_real(n->op, (krf_dtype)n->dtype, reals, &r)) {
        return constant(g, n, krf__bits_from_f64((krf_dtype)n->dtype, r));
    }
    if (krf__is_int((krf_dtype)n->dtype) && from == (krf_dtype)n->dtype && fold_int(n->op, ints, &i)) {
        return constant(g, n, krf__bits_from_i64((krf_dtype)n->dtype, i));
    }
    return 0;
}

/* The logarithm to base 2 of a base that is a constant power of 2 whose products with any exponent are exact: 2, 4, 16, 256, 65536 and their like, and 1 over these. 0: it is none. */
static int exact_logarithm(const krf_graph *g, uint32_t base) {
    const krf__node *n = krf__node_of(g, krf__unbroadcast(g, base));
    if (n->op != KRF__constant || !krf__is_real((krf_dtype)n->dtype)) {
        return 0;
    }
    const uint64_t bits = krf__bits_from_f64(KRF_F64, krf__bits_to_f64((krf_dtype)n->dtype, n->value));
    const int exponent = (int)(bits >> 52); /* with the sign, as 2048 more */
    if (bits << 12 != 0 || exponent == 0 || exponent > 2046) {
        return 0;
    }
    const int logarithm = exponent - 1023, magnitude = logarithm < 0 ? -logarithm : logarithm;
    return (magnitude & (magnitude - 1)) == 0 ? logarithm : 0;
}

/* Powers of such a base are powers of 2, which take less (all of mu-law decoding on an H100 0.2133 -> 0.1252 ms). 0: it is another power. */
static uint32_t fold_power(const krf_graph *in, uint32_t id, krf_graph *g, const krf__node *n) {
    const int logarithm = n->op == KRF__power && krf__is_real((krf_dtype)n->dtype) ? exact_logarithm(g, n->args[0]) : 0;
    uint32_t x = n->args[1];
    const bool whole = krf__shape_equal(krf__node_of(g, x)->rank, krf__shape_of(g, x), n->rank, krf__shape_of(in, id)); /* else the base has more elements than the exponent */
    if (logarithm == 0 || !whole || krf__node_of(g, x)->dtype != n->dtype) {
        return 0;
    }
    if (logarithm != 1) {
        const krf__node like = {.dtype = n->dtype};
        x = krf__build(g, KRF__multiply, 2, (uint32_t[]){x, constant(g, &like, krf__bits_from_f64((krf_dtype)n->dtype, logarithm))});
    }
    return krf__build(g, KRF__exp2, 1, &x);
}

static int64_t reduced_count(const krf_graph *g, uint32_t x, int64_t mask) {
    int64_t count = 1;
    for (int i = 0; i < krf__node_of(g, x)->rank; i++) {
        count *= (mask >> i & 1) != 0 ? krf__shape_of(g, x)[i] : 1;
    }
    return count;
}

static uint32_t empty_fold(const krf_graph *in, uint32_t id, krf_graph *g) {
    const krf__result *result = krf__result_of(krf__node_of(in, id)->value);
    uint32_t operands[KRF__MOST_DEFINED];
    uint8_t dtypes[KRF__MOST_DEFINED], letters[26];
    for (int i = krf__operands(in, id, operands) - 1; i >= 0; i--) {
        dtypes[i] = krf__node_of(in, operands[i])->dtype;
    }
    krf__op_letters(result->op, dtypes, letters);
    return krf__build_fold_empty(g, result, letters);
}

#define MOST_MULTIPLIED 8 /* elements of a mean, a power of two, whose sum is multiplied: the bits are the division's, of which a GPU makes a dozen instructions for each mean. Rows of more are a kernel less for all lengths, and the division little beside the sum */

/* The number of bits of the largest magnitude of such a dtype, bools and integers of 8 or 16 bits. */
static int bits_of(krf_dtype dtype) { return dtype == KRF_BOOL ? 0 : 8 * (int)krf_dtype_size(dtype) - (krf__dtype(dtype)->kind == KRF__KIND_SINT); }

/* What a sum in f64 or f32 takes of bools and integers of 8 or 16 bits; 0: it is another sum. Their sum in 64 bits is that in f64, which is exact up to 2^53, or in f32 up to 2^24, and takes less: any order will do, and a GPU has instructions for four
 * bytes. Not where others compute with the same numbers (shared), for a kernel of both has to convert them as well. */
static uint32_t narrow_integers(const krf_graph *g, const krf__node *sum, int64_t count, bool shared) {
    enum { F32_BITS = 24 };
    const krf__node *cast = krf__node_of(g, sum->args[0]);
    if (cast->op != KRF__cast || !krf__is_narrow(krf__dtype_of(g, cast->args[0]))) {
        return 0;
    }
    const bool exact = sum->dtype == KRF_F64 || (sum->dtype == KRF_F32 && count <= (int64_t)1 << (F32_BITS - bits_of(krf__dtype_of(g, cast->args[0]))));
    return exact && !shared ? cast->args[0] : 0;
}

/* n: the reduction with operands in g; id: where its shape and axes stand, in `in`; shared: whether others take its operand. */
static uint32_t fold_reduce(const krf_graph *in, uint32_t id, krf_graph *g, krf__node n, bool shared) {
    int64_t mask = krf__ints_of(in, id)[0], count = reduced_count(g, n.args[0], mask);
    bool mean = n.op == KRF__mean;
    const krf_dtype dtype = (krf_dtype)n.dtype;
    const uint32_t integers = mean || n.op == KRF__sum ? narrow_integers(g, &n, count, shared && !(mean && dtype == KRF_F64)) : 0;
    uint32_t result;
    n.op = mean ? KRF__sum : n.op;
    if (count == 0) {
        result = n.op == KRF__fold ? empty_fold(in, id, g) : constant(g, &(krf__node){.dtype = n.dtype}, krf__empty_bits(n.op, (krf_dtype)n.dtype));
        result = result == 0 ? 0 : krf__build_broadcast_to(g, result, n.rank, krf__shape_of(in, id));
    } else if (integers != 0) {
        n.dtype = (uint8_t)krf__accumulator(KRF__sum, krf__dtype_of(g, integers));
        n.args[0] = krf__build_cast(g, integers, (krf_dtype)n.dtype);
        result = n.args[0] == 0 ? 0 : krf__graph_add(g, &n, krf__shape_of(in, id), &mask);
        result = result == 0 ? 0 : krf__build_cast(g, result, dtype);
        n.dtype = (uint8_t)dtype;
    } else {
        result = krf__graph_add(g, &n, krf__shape_of(in, id), &mask);
    }
    if (!mean || result == 0) {
        return result;
    }
    const int64_t shapes = KRF__OF_SHAPES;
    const bool multiplies = count <= MOST_MULTIPLIED && (count & (count - 1)) == 0;
    const uint64_t value = multiplies ? krf__bits_from_f64((krf_dtype)n.dtype, 1.0 / (double)count) : krf__bits_from_i64((krf_dtype)n.dtype, count);
    krf__node factor = {.op = KRF__scalar, .dtype = n.dtype, .n_ints = 1, .value = value};
    return krf__build(g, multiplies ? KRF__multiply : KRF__divide, 2, (uint32_t[]){result, krf__graph_add(g, &factor, NULL, &shapes)});
}

static void use(uint8_t *uses, uint32_t id) { uses[id] = uses[id] == 0 ? 1 : 2; }

static void count_uses(const krf_graph *g, int n_outputs, const uint32_t *outputs, uint8_t *uses) {
    for (uint32_t id = 1; id < g->n_nodes; id++) {
        uint32_t operands[KRF__MOST_DEFINED];
        for (int k = krf__operands(g, id, operands) - 1; k >= 0; k--) {
            use(uses, operands[k]);
        }
    }
    for (int k = 0; k < n_outputs; k++) {
        use(uses, outputs[k]);
    }
}

krf_status krf__fold(const krf_graph *in, int n_outputs, uint32_t *outputs, krf_graph *out) {
    /* Only placeholders and inputs must be carried over as they are; canon without outputs does that. */
    krf_status status = krf__canon(in, 0, NULL, out);
    uint32_t *map = NULL;
    uint8_t *uses = NULL; /* of nodes: 2 of more */
    if (status != KRF_OK) {
        return status;
    }
    map = krf__calloc(in->n_nodes, sizeof *map);
    uses = krf__calloc(in->n_nodes, 1);
    if (map == NULL || uses == NULL) {
        status = krf__fail_memory();
        goto done;
    }
    count_uses(in, n_outputs, outputs, uses);
    for (uint32_t id = 1; id < in->n_nodes; id++) {
        krf__node n = *krf__node_of(in, id);
        for (int k = 0; k < 3; k++) {
            n.args[k] = map[n.args[k]];
        }
        krf__op_class class_ = krf__op_info_of(n.op)->class_;
        krf__copy_leaf(in, id, out, &map[id]); /* of nodes that are none it stays 0 */
        if (n.op == KRF__stop_gradient) {
            map[id] = n.args[0];
        } else if (class_ == KRF__CLASS_REDUCE) {
            map[id] = fold_reduce(in, id, out, n, uses[krf__node_of(in, id)->args[0]] > 1);
        } else if (class_ == KRF__CLASS_ELEMENTWISE || n.op == KRF__cast) {
            map[id] = fold_elementwise(out, &n);
            map[id] = map[id] == 0 ? fold_power(in, id, out, &n) : map[id];
        }
        if (map[id] == 0 && out->status == KRF_OK) {
            map[id] = krf__graph_add(out, &n, krf__shape_of(in, id), krf__ints_of(in, id));
        }
        if (map[id] == 0) {
            status = out->status;
            goto done;
        }
    }
    for (int k = 0; k < n_outputs; k++) {
        outputs[k] = map[outputs[k]];
    }
done:
    krf__mem_free(map);
    krf__mem_free(uses);
    if (status != KRF_OK) {
        krf__graph_free(out);
    }
    return status;
}
