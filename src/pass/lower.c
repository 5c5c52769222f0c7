/* Pushes views and takes to the leaves, so that elementwise chains see them as strides and places only (lower_under.c); reductions over small windows
 * or few elements become operations (lower_window.c). */
#include "base/fail.h"
#include "base/mem.h"
#include "pass/lower_joined.h"
#include "pass/lower_raw.h"
#include "pass/lower_take.h"
#include "pass/lower_under.h"
#include "pass/lower_unit.h"
#include "pass/lower_window.h"
#include "pass/pass.h"

#include <string.h>

/* Half of a complex array: its memory as real numbers, every second one. Half of an argument stays as it is. */
static uint32_t lower_part(krf__lowering *l, const krf__node *part, uint32_t leaf) {
    const krf__node *n = krf__node_of(l->out, leaf);
    krf__layout layout = krf__memory_layout(l->out, leaf);
    int64_t ints[KRF_MAX_RANK + 1] = {2 * layout.offset + (int64_t)part->value};
    for (int i = 0; i < layout.rank; i++) {
        ints[i + 1] = 2 * layout.strides[i];
    }
    krf__node node = {.op = KRF__view, .dtype = part->dtype, .rank = n->rank, .args = {leaf}, .n_ints = (uint32_t)layout.rank + 1};
    if (n->op == KRF__placeholder && n->rank == 0) {
        node = *part;
        node.args[0] = leaf;
        return krf__lower_add(l, &node, krf__shape_of(l->out, leaf), NULL);
    }
    return krf__lower_add(l, &node, krf__shape_of(l->out, leaf), ints);
}

/* Where a take finds its elements, aligned with what it gives. */
static uint32_t places_of(krf__lowering *l, uint32_t take) {
    const krf__node *n = krf__node_of(l->in, take);
    const int behind = krf__node_of(l->in, n->args[0])->rank - 1 - (int)krf__ints_of(l->in, take)[0];
    const uint32_t place = krf__lower_places(l, take);
    return n->op == KRF__take && place != 0 ? krf__lower_widened(l, place, behind) : place;
}

static uint32_t lower_change(krf__lowering *l, uint32_t node) {
    krf__change change = {.node = node};
    if (krf__lower_takes(l, &change) && (change.places = places_of(l, node)) == 0) {
        return 0;
    }
    uint32_t base = l->map[krf__node_of(l->in, node)->args[0]], id = krf__lower_unit(l, node, base);
    if (id == 0 && l->out->status == KRF_OK) {
        id = krf__lower_under(l, &change, base);
    }
    if (id != 0 && (krf__node_of(l->in, node)->op == KRF__sliding_window_view || l->traits[base].windows)) {
        l->traits[id].windows = true;
    }
    return id;
}

/* Integers beside ranges become arguments: an array rolled by more, or joined with a longer one, needs no other kernel. Small divisors stay: compilers
 * multiply instead. */
static void pass_numbers(krf__lowering *l, krf__node *n) {
    const bool divides = n->op == KRF__floor_divide || n->op == KRF__remainder;
    const bool sums = n->op == KRF__add || n->op == KRF__subtract || n->op == KRF__minimum || n->op == KRF__maximum || n->op == KRF__less ||
                      n->op == KRF__greater_equal || n->op == KRF__equal;
    for (int k = 0; (divides || sums) && k < 2; k++) {
        const krf__node *c = krf__node_of(l->out, n->args[k]);
        int64_t value = krf__bits_to_i64(KRF_I64, c->value);
        if (c->op == KRF__constant && c->dtype == KRF_I64 && l->traits[n->args[1 - k]].places && (value < -1 || value > (divides ? 16 : 2))) {
            krf__node scalar = {.op = KRF__scalar, .dtype = c->dtype, .weak = c->weak, .value = c->value};
            n->args[k] = krf__lower_add(l, &scalar, NULL, NULL);
        }
    }
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* For reductions alone: without one there is nothing to know. */
static bool note_largest(krf__lowering *l, int n_outputs, const uint32_t *outputs) {
    bool reduces = false;
    for (uint32_t id = 1; id < l->in->n_nodes && !reduces; id++) {
        reduces = krf__op_folds((krf__op)krf__node_of(l->in, id)->op);
    }
    if (!reduces) {
        return true;
    }
    l->largest = krf__calloc(l->in->n_nodes, sizeof *l->largest);
    l->rounds = krf__calloc(l->in->n_nodes, sizeof *l->rounds);
    if (l->largest == NULL || l->rounds == NULL) {
        return false;
    }
    for (uint32_t id = (uint32_t)l->in->n_nodes - 1; id > 0; id--) {
        const krf__node *n = krf__node_of(l->in, id);
        const int64_t own = krf__shape_size(n->rank, krf__shape_of(l->in, id));
        const bool back = krf__op_folds((krf__op)n->op) && l->largest[id] > own;
        for (int k = 0; k < 3; k++) {
            l->largest[n->args[k]] = larger(l->largest[n->args[k]], larger(l->largest[id], own));
            l->rounds[n->args[k]] |= back || (l->rounds[id] && !krf__op_folds((krf__op)n->op));
        }
    }
    l->largest[0] = 0;
    for (int k = 0; k < n_outputs; k++) {
        l->largest[0] = larger(l->largest[0], krf__shape_size(krf__node_of(l->in, outputs[k])->rank, krf__shape_of(l->in, outputs[k])));
    }
    return true;
}

krf_status krf__lower(const krf_graph *in, const krf__limits *limits, int n_outputs, uint32_t *outputs, krf_graph *out) {
    krf_status status = krf__canon(in, 0, NULL, out);
    krf__lowering l = {.in = in, .out = out, .unrolled = limits->unrolled, .columns_unrolled = limits->columns_unrolled, .many_threads = limits->many_threads != 0,
                     .repeated = limits->repeated < KRF__MOST_REPEATED ? (int)limits->repeated : KRF__MOST_REPEATED};
    if (status != KRF_OK) {
        return status;
    }
    l.map = krf__calloc(in->n_nodes, sizeof *l.map);
    if (l.map == NULL || !note_largest(&l, n_outputs, outputs) || !krf__grow(&l.traits, &l.traits_capacity, in->n_nodes + out->n_nodes, sizeof *l.traits)) {
        status = krf__fail_memory();
        goto done;
    }
    memset(l.traits, 0, l.traits_capacity * sizeof *l.traits);
    for (uint32_t id = 1; id < in->n_nodes && status == KRF_OK; id++) {
        krf__node n = *krf__node_of(in, id);
        if (n.op == KRF__placeholder) {
            l.map[id] = out->placeholders[n.value].node;
        } else if (n.op == KRF__input) {
            l.map[id] = krf__lower_input(&l, in->arrays[n.value]);
        } else if (n.op == KRF__raw_kernel) {
            l.map[id] = krf__lower_raw_kernel(&l, in->raws[n.value]);
        } else if (n.op == KRF__part) {
            l.map[id] = lower_part(&l, &n, l.map[n.args[0]]);
        } else if (n.op >= KRF__transpose && n.op <= KRF__take_along_axis) {
            l.map[id] = lower_change(&l, id);
        } else if (krf__op_info_of(n.op)->class_ == KRF__CLASS_REDUCE && (l.map[id] = krf__lower_windows(&l, id)) != 0) {
            continue;
        } else if (out->status == KRF_OK) {
            for (int k = 0; k < 3; k++) {
                n.args[k] = l.map[n.args[k]];
            }
            pass_numbers(&l, &n);
            n.args[1] = n.op == KRF__raw_argument ? krf__lower_argument(&l, id, n.args[1]) : n.args[1];
            l.map[id] = krf__lower_add(&l, &n, krf__shape_of(in, id), krf__ints_of(in, id));
        }
        status = l.map[id] == 0 ? out->status : KRF_OK;
    }
    for (int k = 0; k < n_outputs; k++) {
        outputs[k] = l.map[outputs[k]];
    }
    for (int k = n_outputs - 1; k > 0 && status == KRF_OK; k--) {
        outputs[k] = krf__lower_result(&l, k, outputs);
        status = outputs[k] == 0 ? out->status : KRF_OK;
    }
    for (int k = n_outputs - 1; k >= 0 && status == KRF_OK; k--) { /* what is made of others comes behind them more often than not */
        outputs[k] = krf__lower_joined(&l, k, n_outputs, outputs);
        status = outputs[k] == 0 ? out->status : KRF_OK;
    }
done:
    krf__mem_free(l.map);
    krf__mem_free(l.largest);
    krf__mem_free(l.rounds);
    krf__mem_free(l.traits);
    if (status != KRF_OK) {
        krf__graph_free(out);
    }
    return status;
}
