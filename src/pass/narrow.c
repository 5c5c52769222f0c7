/* Places are i64, and what is made of them; a GPU has no such numbers, and the vectors of a CPU hold half as many. Where the interval of a value and those of its operands lie within 32 bits, it is computed in these, and
 * widened for what needs it wide. */
#include "base/fail.h"
#include "base/mem.h"
#include "ir/build.h"
#include "ir/build_raw.h"
#include "pass/from_end.h"
#include "pass/interval.h"
#include "pass/pass.h"
#include "pass/run.h"

#include <string.h>

typedef struct narrowing {
    const krf_graph *in;
    krf_graph *out;
    krf__interval *intervals;    /* of nodes of `in` */
    krf__run *runs;
    uint8_t *behind;             /* axes of one element after that along which a kernel goes that computes it */
    uint32_t *wide, *narrow;     /* what became of them; narrow: in 32 bits. 0: not made so far */
} narrowing;

static bool fits(krf__interval i) { return i.low >= INT32_MIN && i.high <= INT32_MAX; }

static bool computes(krf__op op) {
    switch (op) {
    case KRF__add:
    case KRF__subtract:
    case KRF__multiply:
    case KRF__negative:
    case KRF__abs:
    case KRF__minimum:
    case KRF__maximum:
    case KRF__remainder:
    case KRF__floor_divide:
    case KRF__where: return true;
    default: return false;
    }
}

static bool compares(krf__op op) { return op == KRF__equal || op == KRF__not_equal || op == KRF__less || op == KRF__less_equal || op == KRF__greater || op == KRF__greater_equal; }

/* Whether a node takes operands of 64 bits, all of which have room in 32, as has the result. */
static bool narrows(const narrowing *p, uint32_t id) {
    const krf__node *n = krf__node_of(p->in, id);
    const bool real = n->op == KRF__cast && krf__is_real((krf_dtype)n->dtype);
    bool any = false, all = real || compares((krf__op)n->op) || (computes((krf__op)n->op) && n->dtype == KRF_I64 && fits(p->intervals[id]));
    for (int k = 0; k < krf__op_info_of(n->op)->arity && all; k++) {
        const bool wide = krf__dtype_of(p->in, n->args[k]) == KRF_I64;
        any |= wide;
        all &= !wide || fits(p->intervals[n->args[k]]);
    }
    return all && any;
}

static uint32_t add(narrowing *p, uint32_t id, const krf__node *node) { return krf__graph_add(p->out, node, krf__shape_of(p->in, id), krf__ints_of(p->in, id)); }

static uint32_t cast(narrowing *p, uint32_t id, krf_dtype dtype, uint32_t x) {
    const krf__node *n = krf__node_of(p->in, id);
    const krf__node node = {.op = KRF__cast, .dtype = (uint8_t)dtype, .weak = n->weak, .rank = n->rank, .args = {x}};
    return x == 0 ? 0 : add(p, id, &node);
}

static uint32_t wide_of(narrowing *p, uint32_t id) {
    if (p->wide[id] == 0) {
        p->wide[id] = cast(p, id, KRF_I64, p->narrow[id]);
    }
    return p->wide[id];
}

/* Numbers become narrow ones; what was narrow before it was cast is so again. */
static uint32_t narrow_of(narrowing *p, uint32_t id) {
    const krf__node *n = krf__node_of(p->in, id);
    if (p->narrow[id] == 0 && (n->op == KRF__constant || n->op == KRF__scalar)) {
        krf__node number = *n;
        number.dtype = KRF_I32;
        number.value = krf__bits_from_i64(KRF_I32, krf__bits_to_i64(KRF_I64, n->value));
        p->narrow[id] = add(p, id, &number);
    } else if (p->narrow[id] == 0 && n->op == KRF__cast && !krf__is_real(krf__dtype_of(p->in, n->args[0]))) {
        p->narrow[id] = krf__dtype_of(p->in, n->args[0]) == KRF_I32 ? wide_of(p, n->args[0]) : cast(p, id, KRF_I32, wide_of(p, n->args[0]));
    } else if (p->narrow[id] == 0) {
        p->narrow[id] = cast(p, id, KRF_I32, wide_of(p, id));
    }
    return p->narrow[id];
}

/* Whether a node is a place that counts from the end, whose sum leaves 32 bits only where it is not taken. */
static bool is_from_end(const narrowing *p, uint32_t id, uint32_t *end) {
    const krf__node *n = krf__node_of(p->in, id);
    return n->dtype == KRF_I64 && krf__counts_from_end(p->in, id, end) && fits(p->intervals[n->args[2]]) && p->intervals[*end].low >= 0 && fits(p->intervals[*end]);
}

static krf__interval of_from_end(krf__interval x, krf__interval end) {
    const int64_t low = x.low < 0 && x.low + end.low < 0 ? x.low + end.low : 0, high = x.high > end.high - 1 ? x.high : end.high - 1;
    return (krf__interval){low, high > 0 ? high : 0};
}

static bool narrow_from_end(narrowing *p, uint32_t id, uint32_t end) {
    krf__node node = *krf__node_of(p->in, id), sum = *krf__node_of(p->in, node.args[1]);
    const uint32_t x = narrow_of(p, node.args[2]), extent = narrow_of(p, end), less = wide_of(p, node.args[0]);
    sum.dtype = node.dtype = KRF_I32;
    sum.args[0] = x;
    sum.args[1] = extent;
    node.args[0] = less;
    node.args[2] = x;
    node.args[1] = x == 0 || extent == 0 || less == 0 ? 0 : add(p, krf__node_of(p->in, id)->args[1], &sum);
    p->narrow[id] = node.args[1] == 0 ? 0 : add(p, id, &node);
    return p->narrow[id] != 0;
}

static bool narrow_node(narrowing *p, uint32_t id) {
    uint32_t end;
    if (is_from_end(p, id, &end)) {
        return narrow_from_end(p, id, end);
    }
    krf__node node = *krf__node_of(p->in, id);
    const bool narrower = narrows(p, id);
    bool known = true;
    if (node.op == KRF__gather) {
        const int axis = node.rank - 1 - p->behind[id];
        node.value = axis >= 0 && krf__shape_of(p->in, id)[axis] > 1 && p->runs[node.args[1]].behind == p->behind[id] ? krf__run_blocks(&p->runs[node.args[1]]) : 1;
    }
    for (int k = 0; k < 3; k++) {
        const uint32_t x = node.args[k];
        node.args[k] = x == 0 ? 0 : narrower && krf__dtype_of(p->in, x) == KRF_I64 ? narrow_of(p, x) : wide_of(p, x);
        known &= x == 0 || node.args[k] != 0;
    }
    if (!known) {
        return false;
    }
    if (narrower && node.dtype == KRF_I64) {
        node.dtype = KRF_I32;
        p->narrow[id] = add(p, id, &node);
        return p->narrow[id] != 0;
    }
    p->wide[id] = add(p, id, &node);
    return p->wide[id] != 0;
}

/* Leaves that canon has copied already. */
bool krf__has_places(const krf_graph *g) {
    bool any = false;
    for (uint32_t id = 1; id < g->n_nodes && !any; id++) {
        const krf__op op = (krf__op)krf__node_of(g, id)->op;
        any = op == KRF__iota || op == KRF__gather;
    }
    return any;
}

static uint8_t single_axes(const krf_graph *g, uint32_t id) {
    const krf__node *n = krf__node_of(g, id);
    uint8_t n_axes = 0;
    while (n_axes < n->rank && krf__shape_of(g, id)[n->rank - 1 - n_axes] == 1) {
        n_axes++;
    }
    return n_axes;
}

/* As many as of all that it is computed for; what nothing uses any more is left as it is. */
static void find_axes(narrowing *p, int n, const uint32_t *outputs) {
    memset(p->behind, UINT8_MAX, p->in->n_nodes);
    for (int k = 0; k < n; k++) {
        p->behind[outputs[k]] = single_axes(p->in, outputs[k]);
    }
    for (uint32_t id = (uint32_t)p->in->n_nodes - 1; id > 0; id--) {
        const krf__node *node = krf__node_of(p->in, id);
        const krf__op_class class = krf__op_info_of((krf__op)node->op)->class_;
        const bool own = node->op == KRF__joined || class == KRF__CLASS_REDUCE || class == KRF__CLASS_SCAN; /* it goes over the operand itself */
        for (int k = 0; k < 3 && node->args[k] != 0 && p->behind[id] != UINT8_MAX; k++) {
            uint8_t *of = &p->behind[node->args[k]];
            const uint8_t axes = own ? single_axes(p->in, node->args[k]) : p->behind[id];
            *of = axes < *of ? axes : *of;
        }
    }
}

krf_status krf__narrow(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out) {
    krf_status status = krf__canon(in, 0, NULL, out);
    narrowing p = {.in = in, .out = out};
    if (status != KRF_OK) {
        return status;
    }
    p.intervals = krf__calloc(in->n_nodes, sizeof *p.intervals);
    p.runs = krf__calloc(in->n_nodes, sizeof *p.runs);
    p.behind = krf__calloc(in->n_nodes, sizeof *p.behind);
    p.wide = krf__calloc(in->n_nodes, sizeof *p.wide);
    p.narrow = krf__calloc(in->n_nodes, sizeof *p.narrow);
    status = p.intervals == NULL || p.runs == NULL || p.behind == NULL || p.wide == NULL || p.narrow == NULL ? krf__fail_memory() : KRF_OK;
    if (status == KRF_OK) {
        find_axes(&p, n, outputs);
    }
    for (uint32_t id = 1; id < in->n_nodes && status == KRF_OK; id++) {
        const uint32_t *args = krf__node_of(in, id)->args;
        uint32_t end;
        p.intervals[id] = krf__interval_from(in, id, (krf__interval[]){p.intervals[args[0]], p.intervals[args[1]], p.intervals[args[2]]});
        p.intervals[id] = is_from_end(&p, id, &end) ? of_from_end(p.intervals[args[2]], p.intervals[end]) : p.intervals[id];
        p.runs[id] = krf__run_from(in, id, p.intervals[id], p.behind[id], (krf__run[]){p.runs[args[0]], p.runs[args[1]], p.runs[args[2]]});
        if (krf__copy_leaf(in, id, out, &p.wide[id]) ? p.wide[id] == 0 : !narrow_node(&p, id)) {
            status = out->status;
        }
    }
    for (int k = 0; k < n && status == KRF_OK; k++) {
        outputs[k] = wide_of(&p, outputs[k]);
        status = outputs[k] == 0 ? out->status : KRF_OK;
    }
    krf__mem_free(p.intervals);
    krf__mem_free(p.runs);
    krf__mem_free(p.behind);
    krf__mem_free(p.wide);
    krf__mem_free(p.narrow);
    if (status != KRF_OK) {
        krf__graph_free(out);
    }
    return status;
}
