/* A call of a raw kernel becomes a chain: the kernel, an argument node for each operand, the launch, and a node for each result. Operands are of any shape: they do not
 * broadcast. */
#include "ir/build_raw.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/build.h"

#include <string.h>

enum { LAUNCH_INTS = 7, MOST_INTS = 4 * KRF_MAX_RANK };

uint32_t krf__build_raw_kernel(krf_graph *g, krf__raw *raw) {
    size_t index = 0;
    if (g->nil || g->status != KRF_OK) {
        return 0;
    }
    while (index < g->n_raws && (g->raws[index]->key_bytes != raw->key_bytes || memcmp(g->raws[index]->key, raw->key, raw->key_bytes) != 0)) {
        index++;
    }
    if (index == g->n_raws) {
        if (!krf__grow(&g->raws, &g->raws_capacity, g->n_raws + 1, sizeof *g->raws)) {
            return krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (raw kernels)");
        }
        g->raws[g->n_raws++] = krf__raw_retain(raw);
    }
    return krf__graph_add(g, &(krf__node){.op = KRF__raw_kernel, .value = index}, NULL, NULL);
}

krf__raw *krf__raw_of(const krf_graph *g, uint32_t id) {
    while (krf__node_of(g, id)->op != KRF__raw_kernel) {
        id = krf__node_of(g, id)->args[0];
    }
    return g->raws[krf__node_of(g, id)->value];
}

const krf__parameter *krf__raw_parameter_of(const krf_graph *g, uint32_t id) { return &krf__raw_of(g, id)->parameters[krf__raw_index(krf__node_of(g, id))]; }

/* The message of the last failure becomes the graph's. */
static uint32_t pass_on(krf_graph *g, krf_status status) {
    char why[KRF__MESSAGE_SIZE];
    memcpy(why, krf_error_message(), strlen(krf_error_message()) + 1);
    return krf__graph_fail(g, status, "%s", why);
}

static uint32_t not_number(krf_graph *g, const krf__raw *raw, const krf__parameter *p, const char *why) {
    return krf__graph_fail(g, KRF_E_ARGUMENT, "%s: %.*s is passed by value: %s", raw->name, (int)p->name.length, p->name.at, why);
}

/* A number that is known when the kernel is launched: printed, given, or bound. Its dtype is converted then. */
static uint32_t number(krf_graph *g, const krf__raw *raw, const krf__parameter *p, uint32_t x) {
    const krf__node *n = krf__node_of(g, x);
    if (n->op == KRF__cast && krf__node_of(g, n->args[0])->op == KRF__scalar) {
        const krf__node *from = krf__node_of(g, n->args[0]);
        const krf__node converted = {.op = KRF__scalar, .dtype = n->dtype, .value = krf__bits_cast((krf_dtype)from->dtype, (krf_dtype)n->dtype, from->value)};
        return krf__graph_add(g, &converted, NULL, NULL);
    }
    if (n->rank != 0 || (n->op != KRF__constant && n->op != KRF__scalar && n->op != KRF__placeholder)) {
        return not_number(g, raw, p, "it takes a number or a placeholder of rank 0. What is computed is passed as an array, 'in f32 x[]'");
    }
    const krf_dtype part = krf__part_of(p->dtype);
    const bool known = n->op != KRF__placeholder && krf__is_int((krf_dtype)n->dtype) && krf__is_int(part);
    if (krf__is_real((krf_dtype)n->dtype) && !krf__is_real(part)) {
        return not_number(g, raw, p, "it is an integer, and the number is none: cast it");
    }
    if (known && !krf__int_fits(part, krf__bits_to_i64((krf_dtype)n->dtype, n->value))) {
        return not_number(g, raw, p, "the integer is out of the range of its dtype");
    }
    return x;
}

static uint32_t add_argument(krf_graph *g, uint32_t chain, uint32_t x, int parameter, uint64_t half, int64_t own) {
    const krf__node node = {.op = KRF__raw_argument, .args = {chain, x}, .n_ints = own != 0, .value = (uint64_t)parameter | half};
    return chain == 0 || x == 0 ? 0 : krf__graph_add(g, &node, NULL, &own);
}

/* A complex number is two real ones. */
static uint32_t add_complex(krf_graph *g, const krf__raw *raw, uint32_t chain, uint32_t x, int parameter, int64_t own) {
    const krf__parameter *p = &raw->parameters[parameter];
    const krf__node n = *krf__node_of(g, x);
    const bool made = n.op == KRF__complex_of, bound = n.op == KRF__placeholder && krf__is_complex((krf_dtype)n.dtype);
    if (n.rank != 0) {
        return not_number(g, raw, p, "it takes a number or a placeholder of rank 0");
    }
    for (int half = 0; half < 2 && chain != 0; half++) {
        uint32_t part = made ? n.args[half] : half == 0 ? x : krf__build_cast(g, krf__build_int(g, 0, true), krf__part_of(p->dtype));
        part = bound ? krf__build(g, half == 0 ? KRF__real_part : KRF__imag_part, 1, &x) : number(g, raw, p, part);
        chain = add_argument(g, chain, part, parameter, half == 0 ? 0 : KRF__RAW_IMAGINARY, own);
    }
    return chain;
}

static uint32_t add_array(krf_graph *g, const krf__raw *raw, uint32_t chain, uint32_t x, int parameter, int64_t own) {
    const krf__parameter *p = &raw->parameters[parameter];
    if (krf__node_of(g, x)->weak) {
        x = krf__build_cast(g, x, p->dtype);
    }
    if (x != 0 && (krf_dtype)krf__node_of(g, x)->dtype != p->dtype) {
        return krf__graph_fail(g, KRF_E_DTYPE, "%s: %.*s is %s, and %s was declared: cast it", raw->name, (int)p->name.length, p->name.at, krf_dtype_name((krf_dtype)krf__node_of(g, x)->dtype),
                               krf_dtype_name(p->dtype));
    }
    return add_argument(g, chain, x, parameter, 0, own);
}

/* What the results without brackets get from the caller, written behind the launch's own numbers; the number of them all. 0 and the error. */
static int put_shapes(krf_graph *g, const krf__raw *raw, const krf_result_shape *shapes, int64_t *ints) {
    int n = LAUNCH_INTS, next = 0;
    for (int i = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        if (p->role != KRF__ROLE_OUT || !p->any) {
            continue;
        }
        const krf_result_shape *s = shapes != NULL ? &shapes[next++] : NULL;
        if (s == NULL || s->rank < 0 || s->rank > KRF_MAX_RANK || (s->rank > 0 && s->shape == NULL) || krf__shape_size(s->rank, s->shape) < 0 || n + 1 + s->rank > MOST_INTS) {
            krf__graph_fail(g, KRF_E_ARGUMENT, "%s: the result %.*s has no brackets, and the call gives it no shape%s", raw->name, (int)p->name.length, p->name.at, s != NULL ? " that is one" : "");
            return 0;
        }
        ints[n++] = s->rank;
        for (int d = 0; d < s->rank; d++) {
            ints[n++] = s->shape[d];
        }
    }
    return n;
}

void krf__raw_read_launch(const krf_graph *g, uint32_t launch, krf__raw_arrays *arrays, krf_launch_shape *shape) {
    const int64_t *ints = krf__ints_of(g, launch);
    const krf__raw *raw = krf__raw_of(g, launch);
    for (int d = 0; d < 3; d++) {
        shape->grid[d] = (uint32_t)ints[d];
        shape->block[d] = (uint32_t)ints[3 + d];
    }
    shape->shared = (uint32_t)ints[6];
    ints += LAUNCH_INTS;
    for (int i = 0; i < raw->n_parameters; i++) {
        if (raw->parameters[i].role == KRF__ROLE_OUT && raw->parameters[i].any) {
            arrays->layouts[i] = krf__layout_c((int)ints[0], ints + 1);
            arrays->known[i] = true;
            ints += 1 + ints[0];
        }
    }
}

static uint32_t add_launch(krf_graph *g, const krf__raw *raw, uint32_t chain, const krf_result_shape *shapes, const krf_launch_shape *launch) {
    int64_t ints[MOST_INTS] = {0};
    for (int d = 0; launch != NULL && d < 3; d++) {
        ints[d] = launch->grid[d];
        ints[3 + d] = launch->block[d];
    }
    ints[6] = launch != NULL ? launch->shared : 0;
    const int n = put_shapes(g, raw, shapes, ints);
    const krf__node node = {.op = KRF__raw_launch, .args = {chain}, .n_ints = (uint32_t)n};
    return n == 0 ? 0 : krf__graph_add(g, &node, NULL, ints);
}

/* Shapes of the results; and whether the launch can be. Strides are not known before views are resolved: as if all lay in C order. */
static bool check_launch(krf_graph *g, const krf__raw *raw, uint32_t launch, krf__raw_arrays *arrays) {
    krf_launch_shape shape;
    krf__raw_launch found;
    krf__raw_read_launch(g, launch, arrays, &shape);
    for (uint32_t id = krf__node_of(g, launch)->args[0]; krf__node_of(g, id)->op == KRF__raw_argument; id = krf__node_of(g, id)->args[0]) {
        const uint32_t i = krf__raw_index(krf__node_of(g, id)), x = krf__node_of(g, id)->args[1];
        arrays->layouts[i] = krf__layout_c(krf__node_of(g, x)->rank, krf__shape_of(g, x));
        arrays->known[i] = raw->parameters[i].role != KRF__ROLE_SCALAR;
    }
    krf_status status = krf__raw_shapes(raw, arrays);
    status = status == KRF_OK ? krf__raw_launch_of(raw, arrays, &shape, &found) : status;
    if (status != KRF_OK) {
        pass_on(g, status);
    }
    return status == KRF_OK;
}

/* own: 0, or what makes the chain another one than all others. */
static uint32_t add_arguments(krf_graph *g, krf__raw *raw, const uint32_t *inputs, int64_t own) {
    uint32_t chain = krf__build_raw_kernel(g, raw);
    for (int i = 0, next = 0; i < raw->n_parameters && chain != 0; i++) {
        const krf__parameter *p = &raw->parameters[i];
        if (!krf__parameter_given(p)) {
            continue;
        }
        const uint32_t x = inputs[next++];
        if (p->role != KRF__ROLE_SCALAR) {
            chain = add_array(g, raw, chain, x, i, own);
        } else if (krf__is_complex(p->dtype)) {
            chain = add_complex(g, raw, chain, x, i, own);
        } else {
            chain = add_argument(g, chain, number(g, raw, p, x), i, 0, own);
        }
    }
    return chain;
}

static bool writes_operands(const krf__raw *raw) {
    bool writes = false;
    for (int i = 0; i < raw->n_parameters; i++) {
        writes |= raw->parameters[i].role == KRF__ROLE_INOUT;
    }
    return writes;
}

bool krf__build_raw_call(krf_graph *g, krf__raw *raw, int n, const uint32_t *inputs, const krf_result_shape *shapes, const krf_launch_shape *launch, uint32_t *results) {
    krf__raw_arrays *arrays = NULL;
    memset(results, 0, (size_t)raw->n_results * sizeof *results);
    if (g->nil || g->status != KRF_OK) {
        return false;
    }
    if (n != raw->n_given) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "%s: it takes %d input%s (%s), and the call has %d", raw->name, raw->n_given, raw->n_given == 1 ? "" : "s", raw->texts[0], n);
        return false;
    }
    uint32_t id = add_arguments(g, raw, inputs, 0);
    id = id != 0 ? add_launch(g, raw, id, shapes, launch) : 0;
    if (id != 0 && writes_operands(raw)) { /* which no other launch may go on with: its chain is its own from the first node on, and the same for an equal call */
        const uint32_t own = add_arguments(g, raw, inputs, id);
        id = own != 0 ? add_launch(g, raw, own, shapes, launch) : 0;
    }
    if (id != 0 && (arrays = krf__calloc(1, sizeof *arrays)) == NULL) {
        krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (%s)", raw->name);
    }
    bool valid = arrays != NULL && check_launch(g, raw, id, arrays);
    for (int i = 0, k = 0; i < raw->n_parameters && valid; i++) {
        const krf__parameter *p = &raw->parameters[i];
        if (krf__parameter_written(p)) {
            const krf__node node = {.op = KRF__raw_result, .dtype = (uint8_t)p->dtype, .rank = (uint8_t)arrays->layouts[i].rank, .args = {id}, .value = (uint64_t)i};
            results[k] = krf__graph_add(g, &node, arrays->layouts[i].shape, NULL);
            valid = results[k++] != 0;
        }
    }
    krf__mem_free(arrays);
    return valid;
}
