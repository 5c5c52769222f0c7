/* The C target's kernels of several rounds: what stands in the holes of skeleton/row.c and of the skeletons of its rounds. The chunks' results of a row are
 * combined by the canonical tree, over as many lanes as there can be chunks. */
#include "codegen/emitter.h"

static void put_round(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->n_reductions > 0 ? "row_reduce" : "row_map", out); }
static void rounds(krf__emitter *e, krf__str *out) { krf__emit_rounds(e, put_round, out); }

static void chunk(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->chunk); }

static void totals(krf__emitter *e, krf__str *out) {
    const int most = krf__row_warps(e->k);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s total%u[%d];\n", krf__reduction_type(e, r), r, most);
        if (most > 1) {
            krf__str_printf(out, "for (int k = 0; k < %d; k++) {\n    total%u[k] = ", most, r);
            krf__emit_identity(e, r, out);
            krf__str_put(out, ";\n}\n");
        }
    }
}

static void total(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "total%u[c] = acc%u[0];\n", r, r);
    }
}

static void tree(krf__emitter *e, krf__str *out) {
    const int most = krf__row_warps(e->k);
    for (uint32_t r = 0; r < e->k->n_reductions && most > 1; r++) {
        const uint32_t f = e->reduction + r;
        krf__str_printf(out, "for (int k = 0; k < %d; k++) {\n    total%u[k] = red%u(", most, r, f);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ", total%u[k]);\n}\n", r);
        krf__str_printf(out, "for (int s = %d; s > 0; s /= 2) {\n    for (int k = 0; k < s; k++) {\n", most / 2);
        krf__str_printf(out, "        total%u[k] = red%u(total%u[k], total%u[k + s]);\n    }\n}\n", r, f, r, r);
    }
}

static void results(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = total%u[0];\n", krf__reduction_type(e, r), e->k->n_domain + r, r);
    }
    krf__c_put_results(e, out);
}

static void values(krf__emitter *e, krf__str *out) {
    krf__emit_row_values(e, out);
    krf__c_put_kept_blocks(e, 1, (int)e->kernel->chunk * krf__row_warps(e->kernel), out);
}

const krf__hole krf__c_row_holes[] = {
    {"ROW_VALUES", values},
    {"ROUNDS", rounds},
    {"CHUNK", chunk},
    {"ROUND_TOTALS", totals},
    {"ROUND_TOTAL", total},
    {"ROUND_TREE", tree},
    {"ROUND_RESULTS", results},
    {NULL, NULL},
};
