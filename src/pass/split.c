/* Makes two real nodes of every complex one, so that nothing behind it knows complex numbers: what an input of complex dtype holds becomes `part`
 * nodes, which lower turns into strides; results of complex dtype stay, as complex_of nodes that outputs alone use. */
#include "base/fail.h"
#include "base/mem.h"
#include "ir/build_raw.h"
#include "ir/complex.h"
#include "ir/raw.h"
#include "pass/pass.h"

typedef struct splitting {
    const krf_graph *in;
    krf_graph *out;
    krf__pair *map; /* of in's nodes; real ones have no imaginary part */
} splitting;

static bool is_complex(const krf_graph *g, uint32_t id) { return krf__is_complex((krf_dtype)krf__node_of(g, id)->dtype); }

bool krf__has_complex(const krf_graph *g) {
    for (uint32_t id = 1; id < g->n_nodes; id++) {
        if (is_complex(g, id)) {
            return true;
        }
    }
    return false;
}

/* A half of in's node `like`, in that node's shape. */
static uint32_t whole(const splitting *s, uint32_t half, uint32_t like) {
    return half == 0 ? 0 : krf__build_broadcast_to(s->out, half, krf__node_of(s->in, like)->rank, krf__shape_of(s->in, like));
}

static uint32_t copy(const splitting *s, uint32_t id) {
    krf__node n = *krf__node_of(s->in, id);
    uint32_t leaf;
    if (krf__copy_leaf(s->in, id, s->out, &leaf)) {
        return leaf;
    }
    for (int k = 0; k < 3; k++) {
        n.args[k] = s->map[n.args[k]].re;
    }
    return krf__graph_add(s->out, &n, krf__shape_of(s->in, id), krf__ints_of(s->in, id));
}

static uint32_t part(const splitting *s, uint32_t leaf, uint64_t which) {
    const krf__node *n = krf__node_of(s->out, leaf);
    krf__node node = {.op = KRF__part, .dtype = (uint8_t)krf__part_of((krf_dtype)n->dtype), .rank = n->rank, .args = {leaf}, .value = which};
    return leaf == 0 ? 0 : krf__graph_add(s->out, &node, krf__shape_of(s->out, leaf), NULL);
}

/* A view, a take or a reduction of one half. */
static uint32_t over_half(const splitting *s, uint32_t id, uint32_t half) {
    krf__node n = *krf__node_of(s->in, id);
    half = whole(s, half, n.args[0]);
    n.args[0] = half;
    n.args[1] = s->map[n.args[1]].re; /* places */
    n.dtype = (uint8_t)krf__part_of((krf_dtype)n.dtype);
    return half == 0 ? 0 : krf__graph_add(s->out, &n, krf__shape_of(s->in, id), krf__ints_of(s->in, id));
}

/* Elements [first, first + n) of the last axis. */
static krf__pair last_axis(const splitting *s, krf__pair x, int64_t first, int64_t n) {
    krf_range ranges[KRF_MAX_RANK];
    int rank = krf__node_of(s->out, x.re)->rank;
    for (int i = 0; i < rank; i++) {
        ranges[i] = i + 1 < rank ? (krf_range){KRF_NONE, KRF_NONE, 1} : (krf_range){first, first + n, 1};
    }
    return (krf__pair){krf__build_slice(s->out, x.re, rank, ranges), krf__build_slice(s->out, x.im, rank, ranges)};
}

static krf__pair multiply(const splitting *s, krf__pair a, krf__pair b) {
    krf__pair operands[3] = {a, b, {0, 0}};
    return krf__complex_apply(s->out, KRF__multiply, (krf_dtype)krf__node_of(s->out, a.re)->dtype, operands);
}

/* A product has no accumulator of its own: the first half of the elements times the second half, until one is left; odd ones wait and follow one by
 * one. The reduced axes become one axis, the last. */
static krf__pair product(const splitting *s, uint32_t id) {
    const krf__node *n = krf__node_of(s->in, id);
    const int64_t mask = krf__ints_of(s->in, id)[0], *extents = krf__shape_of(s->in, n->args[0]);
    int rank = krf__node_of(s->in, n->args[0])->rank, axes[KRF_MAX_RANK], kept = 0, all = 0;
    int64_t shape[KRF_MAX_RANK], left = 1;
    for (int reduced = 0; reduced < 2; reduced++) {
        for (int i = 0; i < rank; i++) {
            if ((mask >> i & 1) == reduced) {
                axes[all++] = i;
                left *= reduced ? extents[i] : 1;
                shape[kept] = extents[i];
                kept += !reduced;
            }
        }
    }
    krf__pair x = {whole(s, s->map[n->args[0]].re, n->args[0]), whole(s, s->map[n->args[0]].im, n->args[0])}, rest = {0, 0};
    if (left == 0) {
        uint32_t one = krf__build_cast(s->out, krf__build_int(s->out, 1, true), krf__part_of((krf_dtype)n->dtype));
        return (krf__pair){whole(s, one, id), 0};
    }
    shape[kept] = left;
    x.re = krf__build_reshape(s->out, krf__build_transpose(s->out, x.re, axes), kept + 1, shape);
    x.im = krf__build_reshape(s->out, krf__build_transpose(s->out, x.im, axes), kept + 1, shape);
    for (; left > 1 && x.re != 0 && x.im != 0; left /= 2) {
        krf__pair odd = last_axis(s, x, left - left % 2, left % 2);
        if (left % 2 != 0) {
            rest = rest.re != 0 ? multiply(s, odd, rest) : odd;
        }
        x = multiply(s, last_axis(s, x, 0, left / 2), last_axis(s, x, left / 2, left / 2));
    }
    x = rest.re != 0 && x.re != 0 ? multiply(s, x, rest) : x;
    return (krf__pair){krf__build_reshape(s->out, x.re, n->rank, krf__shape_of(s->in, id)),
                       krf__build_reshape(s->out, x.im, n->rank, krf__shape_of(s->in, id))};
}

static krf__pair cast(const splitting *s, uint32_t id) {
    const krf__node *n = krf__node_of(s->in, id);
    krf__pair x = s->map[n->args[0]];
    krf_dtype dtype = krf__part_of((krf_dtype)n->dtype);
    if (n->dtype == KRF_BOOL) {
        uint32_t re = krf__build_cast(s->out, x.re, KRF_BOOL), im = x.im != 0 ? krf__build_cast(s->out, x.im, KRF_BOOL) : 0;
        return (krf__pair){im != 0 ? krf__build(s->out, KRF__logical_or, 2, (uint32_t[]){re, im}) : re, 0};
    }
    return (krf__pair){krf__build_cast(s->out, x.re, dtype), x.im != 0 ? krf__build_cast(s->out, x.im, dtype) : 0};
}

static krf__pair elementwise(const splitting *s, uint32_t id) {
    const krf__node *n = krf__node_of(s->in, id);
    const krf__op_info *info = krf__op_info_of(n->op);
    krf__pair operands[3] = {{0, 0}};
    if (n->op == KRF__complex_of) {
        return (krf__pair){s->map[n->args[0]].re, s->map[n->args[1]].re};
    }
    for (int k = 0; k < info->arity; k++) {
        operands[k] = s->map[n->args[k]];
    }
    return krf__complex_apply(s->out, n->op, krf__part_of((krf_dtype)krf__node_of(s->in, n->args[info->arity - 1])->dtype), operands);
}

/* The value as a result: its halves side by side. own: 0, or what makes it another node than all others. */
static uint32_t joined(const splitting *s, uint32_t id, int64_t own) {
    krf__pair x = s->map[id];
    krf_dtype dtype = (krf_dtype)krf__node_of(s->in, id)->dtype;
    uint32_t re = krf__build_cast(s->out, x.re, krf__part_of(dtype));
    uint32_t im = krf__build_cast(s->out, x.im != 0 ? x.im : krf__build_int(s->out, 0, true), krf__part_of(dtype));
    krf__node node = {.op = KRF__complex_of, .dtype = (uint8_t)dtype, .rank = krf__node_of(s->in, id)->rank, .args = {whole(s, re, id), im}, .n_ints = own != 0};
    return re == 0 || im == 0 || node.args[0] == 0 ? 0 : krf__graph_add(s->out, &node, krf__shape_of(s->in, id), &own);
}

/* The memory behind a complex value; 0 where it has none. */
static uint32_t memory(const splitting *s, uint32_t id) {
    const krf__op op = krf__node_of(s->in, id)->op;
    return is_complex(s->in, id) && (op == KRF__input || op == KRF__raw_result || (op == KRF__placeholder && krf__node_of(s->in, id)->rank > 0))
               ? krf__node_of(s->out, s->map[id].re)->args[0]
               : 0;
}

/* A complex operand of a raw kernel is its memory, or made whole. Who writes into it gets a copy of its own. */
static uint32_t argument(const splitting *s, uint32_t id) {
    krf__node n = *krf__node_of(s->in, id);
    const bool written = krf__raw_parameter_of(s->in, id)->role == KRF__ROLE_INOUT;
    const uint32_t leaf = written ? 0 : memory(s, n.args[1]);
    n.args[0] = s->map[n.args[0]].re;
    n.args[1] = leaf != 0 ? leaf : joined(s, n.args[1], written ? (int64_t)id : 0);
    return n.args[1] == 0 ? 0 : krf__graph_add(s->out, &n, NULL, krf__ints_of(s->in, id));
}

static krf__pair split(const splitting *s, uint32_t id) {
    const krf__node *n = krf__node_of(s->in, id);
    if (n->op == KRF__raw_argument) {
        return (krf__pair){argument(s, id), 0};
    }
    if (n->op == KRF__input || n->op == KRF__placeholder || n->op == KRF__raw_result) {
        uint32_t leaf = copy(s, id);
        return (krf__pair){part(s, leaf, 0), part(s, leaf, 1)};
    }
    krf__pair y;
    if (n->op == KRF__cast) {
        y = cast(s, id);
    } else if (krf__op_info_of(n->op)->class_ == KRF__CLASS_ELEMENTWISE) {
        y = elementwise(s, id);
    } else if (n->op == KRF__prod && s->map[n->args[0]].im != 0) {
        y = product(s, id);
    } else {
        krf__pair x = s->map[n->args[0]];
        y = (krf__pair){over_half(s, id, x.re), over_half(s, id, x.im)};
    }
    return is_complex(s->in, id) ? y : (krf__pair){whole(s, y.re, id), 0};
}

krf_status krf__split(const krf_graph *in, int n_outputs, uint32_t *outputs, krf_graph *out) {
    krf_status status = krf__canon(in, 0, NULL, out); /* placeholders alone */
    splitting s = {.in = in, .out = out};
    if (status != KRF_OK) {
        return status;
    }
    s.map = krf__calloc(in->n_nodes, sizeof *s.map);
    if (s.map == NULL) {
        status = krf__fail_memory();
        goto done;
    }
    for (uint32_t id = 1; id < in->n_nodes && status == KRF_OK; id++) {
        const krf__node *n = krf__node_of(in, id);
        bool any = is_complex(in, id);
        for (int k = 0; k < krf__op_info_of(n->op)->arity; k++) {
            any |= is_complex(in, n->args[k]);
        }
        s.map[id] = any ? split(&s, id) : (krf__pair){copy(&s, id), 0};
        status = s.map[id].re == 0 ? out->status : KRF_OK;
    }
    for (int k = 0; k < n_outputs && status == KRF_OK; k++) {
        const bool result = krf__node_of(in, outputs[k])->op == KRF__raw_result; /* it is whole already */
        outputs[k] = !is_complex(in, outputs[k]) ? s.map[outputs[k]].re : result ? memory(&s, outputs[k]) : joined(&s, outputs[k], 0);
        status = outputs[k] == 0 ? out->status : KRF_OK;
    }
done:
    krf__mem_free(s.map);
    if (status != KRF_OK) {
        krf__graph_free(out);
    }
    return status;
}
