/* Reverse mode: from the result down to the variables, each node hands the gradient on to its operands; what several users hand to one node is added. Each node is visited once, in the order of the graph. */
#include "ir/grad.h"

#include "base/mem.h"
#include "ir/adjoint.h"
#include "ir/derive.h"
#include "ir/differentiate.h"

#include <string.h>

/* A gradient that was handed to a node. It broadcasts to the shape of `like`, to which the node's own value was stretched; sums over what was stretched
 * wait until all have come. */
typedef struct contribution {
    uint32_t gradient, like, next;
} contribution;

typedef struct handing {
    krf__differentiating d;
    contribution *list; /* to nodes, of which each has the first in d.found */
    size_t n_list, capacity;
} handing;

enum { SHAPES = 4 };

static uint32_t add(krf_graph *g, uint32_t x, uint32_t y) { return krf__build(g, KRF__add, 2, (uint32_t[]){x, y}); }

static bool give(handing *h, uint32_t id, uint32_t gradient, uint32_t like) {
    if (gradient == 0 || !krf__grow(&h->list, &h->capacity, h->n_list + 2, sizeof *h->list)) {
        if (h->d.g->status == KRF_OK) {
            krf__graph_fail(h->d.g, KRF_E_MEMORY, "out of host memory (%s)", h->d.name);
        }
        return false;
    }
    h->n_list += h->n_list == 0; /* 0 stands for none */
    h->list[h->n_list] = (contribution){gradient, like, h->d.found[id]};
    h->d.found[id] = (uint32_t)h->n_list++;
    return true;
}

/* A contribution in the dtype of the node, summed over what was stretched. */
static uint32_t own_shape(handing *h, uint32_t id, const contribution *c) {
    krf_graph *g = h->d.g;
    const krf_dtype dtype = krf__dtype_of(g, id);
    int64_t from[KRF_MAX_RANK], to[KRF_MAX_RANK];
    const int from_rank = krf__node_of(g, c->like)->rank, to_rank = krf__node_of(g, id)->rank;
    uint32_t x = c->gradient;
    memcpy(from, krf__shape_of(g, c->like), (size_t)from_rank * sizeof *from);
    memcpy(to, krf__shape_of(g, id), (size_t)to_rank * sizeof *to);
    if (krf__is_complex(krf__dtype_of(g, x)) && !krf__is_complex(dtype)) {
        x = krf__build(g, KRF__real_part, 1, &x);
    }
    x = krf__adjoint_stretched(g, x, from_rank, from, to_rank, to);
    return krf__build_astype(g, x, dtype);
}

/* Adds what was handed to a node in one shape, before it is summed: one sum instead of several. rest: of further shapes, summed; 0 for nothing. */
static int gather(handing *h, uint32_t id, contribution *sums, uint32_t *rest) {
    krf_graph *g = h->d.g;
    int n = 0;
    *rest = 0;
    for (uint32_t at = h->d.found[id]; at != 0; at = h->list[at].next) {
        const contribution c = h->list[at];
        int k = 0;
        while (k < n && !(krf__same_shape(g, sums[k].gradient, c.gradient) && krf__same_shape(g, sums[k].like, c.like))) {
            k++;
        }
        if (k == SHAPES) {
            uint32_t x = own_shape(h, id, &c);
            *rest = *rest == 0 ? x : add(g, *rest, x);
        } else if (k == n) {
            sums[n++] = c;
        } else {
            sums[k].gradient = add(g, sums[k].gradient, c.gradient);
        }
    }
    return n;
}

/* All that was handed to a node, in its shape. */
static uint32_t total(handing *h, uint32_t id) {
    contribution sums[SHAPES];
    uint32_t all;
    const int n = gather(h, id, sums, &all);
    for (int k = 0; k < n; k++) {
        uint32_t x = own_shape(h, id, &sums[k]);
        all = all == 0 ? x : add(h->d.g, all, x);
    }
    return h->d.g->status == KRF_OK ? all : 0;
}

static bool hand_on_elementwise(handing *h, uint32_t id, uint32_t G) {
    krf_graph *g = h->d.g;
    uint32_t operands[KRF__MOST_DEFINED];
    for (int k = krf__operands(g, id, operands) - 1; k >= 0; k--) {
        if (!krf__depends_by(&h->d, id, k, operands[k])) {
            continue;
        }
        uint32_t c = krf__derive_elementwise(g, id, k, operands, G, false);
        if (c == 0) {
            krf__derivative_unknown(&h->d, id); /* unless there was another error */
            return false;
        }
        if (!give(h, operands[k], c, id)) {
            return false;
        }
    }
    return true;
}

/* Sums and differences of single numbers: what is to be summed waits further, for the sums of their operands. */
static bool passes_unsummed(const handing *h, uint32_t id) {
    const krf__node *n = krf__node_of(h->d.g, id);
    return n->rank == 0 && h->d.depends[id] != KRF__VARIABLE && (n->op == KRF__add || n->op == KRF__subtract || n->op == KRF__negative);
}

static bool pass_unsummed(handing *h, uint32_t id) {
    const krf__node n = *krf__node_of(h->d.g, id);
    contribution sums[SHAPES];
    uint32_t rest;
    const int shapes = gather(h, id, sums, &rest);
    for (int s = 0; s < shapes + (rest != 0); s++) {
        const contribution c = s < shapes ? sums[s] : (contribution){rest, id, 0};
        for (int k = krf__op_info_of(n.op)->arity - 1; k >= 0; k--) {
            const bool minus = n.op == KRF__negative || (n.op == KRF__subtract && k == 1);
            if (h->d.depends[n.args[k]] != KRF__INDEPENDENT && !give(h, n.args[k], minus ? krf__derive_negative(h->d.g, c.gradient) : c.gradient, c.like)) {
                return false;
            }
        }
    }
    return h->d.g->status == KRF_OK;
}

/* Whether a gradient goes below a node; it ends at a variable above nothing that depends on one. A call's argument is a chain that never depends: its operands are asked. */
static bool goes_on(const handing *h, uint32_t id) {
    uint32_t operands[KRF__MOST_DEFINED];
    bool any = false;
    for (int k = krf__operands(h->d.g, id, operands) - 1; k >= 0; k--) {
        any = any || krf__depends_by(&h->d, id, k, operands[k]);
    }
    return any;
}

static bool hand_on(handing *h, uint32_t id, uint32_t G) {
    krf_graph *g = h->d.g;
    const krf__node n = *krf__node_of(g, id);
    const krf__op_class class_ = krf__op_info_of(n.op)->class_;
    uint32_t c;
    if (class_ == KRF__CLASS_ELEMENTWISE) {
        return hand_on_elementwise(h, id, G);
    }
    if (!goes_on(h, id)) {
        return true;
    }
    if (krf__op_is_fold((krf__op)n.op) || krf__op_is_raw((krf__op)n.op)) {
        krf__derivative_unknown(&h->d, id);
        return false;
    }
    if (n.op == KRF__cast) {
        return give(h, n.args[0], G, n.args[0]); /* which the node below converts to its own dtype */
    }
    G = krf__derivative_whole(g, G, id);
    if (G == 0) {
        return false;
    }
    if (class_ == KRF__CLASS_REDUCE) {
        c = krf__adjoint_reduce(g, id, G);
    } else if (class_ == KRF__CLASS_SCAN) {
        c = krf__adjoint_scan(g, id, G);
    } else {
        c = n.op == KRF__take || n.op == KRF__take_along_axis ? krf__adjoint_take(g, id, G) : krf__adjoint_view(g, id, G);
    }
    return give(h, n.args[0], c, n.args[0]);
}

static bool valid_result(krf_graph *g, const char *name, uint32_t y) {
    const krf__node *n = krf__node_of(g, y);
    if (n->rank != 0) {
        krf__str text = {0};
        krf__str_shape(&text, n->rank, krf__shape_of(g, y));
        krf__graph_fail(g, KRF_E_SHAPE, "%s: what is differentiated has shape %s; a gradient is of one number: take its sum, or use jvp", name,
                        text.data != NULL ? text.data : "?");
        krf__str_free(&text);
        return false;
    }
    if (!krf__is_real((krf_dtype)n->dtype)) {
        krf__graph_fail(g, KRF_E_DTYPE, "%s: what is differentiated is %s; a gradient is of a real number%s", name, krf_dtype_name((krf_dtype)n->dtype),
                        krf__is_complex((krf_dtype)n->dtype) ? ": take its real part, or abs" : "");
        return false;
    }
    return true;
}

bool krf__build_grad(krf_graph *g, uint32_t y, int n, const uint32_t *by, uint32_t *gradients) {
    handing h = {0};
    krf__differentiating *d = &h.d;
    for (int k = 0; k < n; k++) {
        gradients[k] = 0;
    }
    bool valid = y != 0 && y < g->n_nodes && valid_result(g, "grad", y) && krf__differentiating_begin(d, g, "grad", y, n, by);
    if (valid) {
        valid = give(&h, y, krf__build_astype(g, krf__build_int(g, 1, true), krf__dtype_of(g, y)), y);
    }
    for (uint32_t id = y; valid && id > 0; id--) {
        if (d->found[id] == 0 || d->depends[id] == KRF__INDEPENDENT) {
            continue;
        }
        if (passes_unsummed(&h, id)) {
            valid = pass_unsummed(&h, id);
            continue;
        }
        uint32_t G = total(&h, id);
        for (int k = 0; k < n; k++) {
            gradients[k] = by[k] == id ? krf__derivative_whole(g, G, id) : gradients[k];
        }
        valid = G != 0 && hand_on(&h, id, G);
    }
    for (int k = 0; valid && k < n; k++) {
        if (gradients[k] == 0 && g->status == KRF_OK) {
            gradients[k] = krf__zeros(g, krf__dtype_of(g, by[k]), krf__node_of(g, by[k])->rank, krf__shape_of(g, by[k]));
        }
        valid = gradients[k] != 0;
    }
    for (int k = 0; !valid && k < n; k++) {
        gradients[k] = 0;
    }
    krf__differentiating_end(d);
    krf__mem_free(h.list);
    return valid;
}
