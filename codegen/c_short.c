/* The C target's short rows side by side: lane0[l][k] is lane l of the canonical tree of row k. A lane has one element, as rows have no more than there are lanes. */
#include "codegen/emitter.h"
#include "pass/pass.h"

#include <stdio.h>

enum { LANES = KRF__ROW_BESIDE, ROWS = 64, FEWER_ROWS = 32 };
enum { TOGETHER_ELEMENTS = 4096, TOGETHER_ROWS = 16 }; /* of rows of several rounds that go on together: what they keep stays in the nearest cache */

/* Rows of several rounds have more than one tile each, which should stay in the nearest cache together. Where they are long, so are the loops over fewer of them. */
static int rows_of(const krf__emitter *e) {
    const bool few = krf__literal_rows(e->kernel) && e->kernel->reduced_size <= 8;
    return e->kernel->n_rounds > 0 && !few ? FEWER_ROWS : ROWS;
}

static void put_rows(krf__emitter *e, krf__str *out) {
    krf__str_i64(out, rows_of(e));
}

/* Values of definitions may be structs: those rows fold by themselves. */
static bool folds(const krf__emitter *e) {
    bool all = true;
    for (uint32_t n = 0; n < e->kernel->n_instrs; n++) {
        all &= krf__fold_op(&e->kernel->instrs[n]) == NULL;
    }
    return all;
}

static void put_side_loop(krf__emitter *e, krf__str *out) {
    e->side_by_side = true;
    krf__emit_skeleton(e, "side_loop", out);
    e->side_by_side = false;
}

static void row_loop(krf__emitter *e, krf__str *out) {
    if (e->k->side) {
        put_side_loop(e, out);
        return;
    }
    if (e->k->schedule == KRF__ROW_COL) {
        krf__c_put_rows_beside(e, out);
        return;
    }
    e->together = e->k->n_rounds > 0 && krf__row_warps(e->k) == 1 && folds(e);
    e->folds = e->together;
    krf__emit_skeleton(e, e->together ? "row_together" : "row_loop", out);
    e->together = e->folds = false;
}

static void reduce_loop(krf__emitter *e, krf__str *out) {
    if (e->k->side) {
        put_side_loop(e, out);
        return;
    }
    e->folds = krf__short_rows(e->k) && folds(e);
    krf__emit_skeleton(e, e->folds ? "fold_loop" : "reduce_loop", out);
    e->folds = false;
}

static void put_values(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].inner != 0 && e->k->operands[i].store) {
            krf__str_printf(out, "%s %s[%d];\n", krf__storage_type(e->k->operands[i].dtype), e->operand_names[i], rows_of(e));
        }
    }
}

static void values(krf__emitter *e, krf__str *out) {
    put_values(e, out);
    krf__c_put_kept_blocks(e, LANES, rows_of(e), out);
}

static void put_round(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "side_round", out); }
static void rounds(krf__emitter *e, krf__str *out) { krf__emit_rounds(e, put_round, out); }

static void position(krf__emitter *e, krf__str *out) { krf__emit_position(e, KRF__PART_KEPT, "o", out); }

static void start(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s lane%u[%d][%d];\n", krf__reduction_type(e, r), r, LANES, rows_of(e));
    }
}

static void missing(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < width; k++) {\n    lane%u[l][k] = ", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

static void place(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s *const acc%u = lane%u[p];\n", krf__reduction_type(e, r), r, r);
    }
}

static void results(krf__emitter *e, krf__str *out) {
    if (e->k->n_reductions > 0) {
        krf__emit_skeleton(e, "side_results", out);
    }
}

static void tree(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int l = 0; l < s; l++) {\n    for (int k = 0; k < width; k++) {\n        lane%u[l][k] = red%u(lane%u[l][k], lane%u[l + s][k]);\n    }\n}\n",
                        r, e->reduction + r, r, r);
    }
}

static void each(krf__emitter *e, krf__str *out) {
    krf__c_put_each_result(e, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = lane%u[0][at + k];\n", krf__reduction_type(e, r), e->k->n_domain + r, r);
    }
    krf__c_put_results(e, out);
    krf__str_put(out, "    }\n}\n");
}

/* ---- rows that are folded first ---- */

static void fold_start(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s fold%u[%d][%d];\n", krf__c_lane_type(e, r), r, rows_of(e), KRF__FOLDED);
    }
}

static void fold_keep(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < %d; k++) {\n    fold%u[row][k] = acc%u[k];\n}\n", KRF__FOLDED, r, r);
    }
}

static void fold_turn(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const int bytes = krf__sums_narrow(e, r) ? (int)sizeof(int) : krf__value_bytes((krf_dtype)krf__reduction(e, r)->dtype);
        krf__str_printf(out, "%s lane%u[%d][%d];\nkrf_turn_%d(lane%u[0], %d, fold%u[0], %d, width, %d);\n", krf__c_lane_type(e, r), r, KRF__FOLDED, rows_of(e), bytes, r, rows_of(e), r, KRF__FOLDED, KRF__FOLDED);
    }
}

static void fold_results(krf__emitter *e, krf__str *out) {
    e->side_by_side = true;
    krf__emit_skeleton(e, "fold_results", out);
    e->side_by_side = false;
}

/* ---- rows of several rounds that are folded together ---- */

static void put_together_elements(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, TOGETHER_ELEMENTS);
}

static void put_together_rows(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, TOGETHER_ROWS);
}

static void together_values(krf__emitter *e, krf__str *out) {
    put_values(e, out);
    krf__c_put_kept_blocks(e, 1, TOGETHER_ELEMENTS, out);
}

static void put_together_round(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->n_reductions > 0 ? "together_reduce" : "together_map", out); }
static void together_rounds(krf__emitter *e, krf__str *out) { krf__emit_rounds(e, put_together_round, out); }
static void row_map(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "row_map", out); }

/* ---- rows whose elements lie side by side ---- */

/* Whether rows of the operand have one place each after the other, and their elements too. */
static bool plain_rows(const krf__kernel *k, const krf__operand *o) { return k->n_kept == 1 && k->n_reduced == 1 && krf__stride_class(k, o, 1) == 1; }

static void put_copy(krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *name = e->operand_names[operand];
    krf__str_put(out, "for (int p = 0; p < 1");
    for (int d = k->n_kept; d < k->n_kept + k->n_reduced; d++) {
        krf__str_printf(out, " * n%d", d);
    }
    krf__str_put(out, "; p++) {\n");
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    krf__str_printf(out, "tile_%s[p][k] = from[0", name);
    krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, out);
    krf__str_put(out, "];\n}\n");
}

/* Each is read once, row by row, and stored where its neighbours in the column are. */
static void copies(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const char *name = e->operand_names[i], *type = krf__storage_type(o->dtype);
        const bool plain = plain_rows(k, o);
        if (!krf__c_turned(e, i)) {
            continue;
        }
        krf__str_printf(out, "%s tile_%s[%d][%d];\n", type, name, e->k->schedule == KRF__SCAN ? KRF__SCAN_BESIDE : LANES, rows_of(e));
        if (o->store) {
            continue;
        }
        krf__str_printf(out, "%s {\nconst long long o = tile%s;\n", plain ? "" : "for (int k = 0; k < width; k++)", plain ? "" : " + k");
        krf__emit_position(e, KRF__PART_KEPT, "o", out);
        krf__str_printf(out, "const %s *const from = a->%s", type, name);
        krf__emit_offset(e, i, KRF__PART_KEPT, -1, out);
        krf__str_put(out, ";\n");
        if (plain) {
            char step[64];
            snprintf(step, sizeof step, "%s_s0", name);
            krf__c_put_turn(e, i, rows_of(e), step, "width", "n1", out);
        } else {
            put_copy(e, i, out);
        }
        krf__str_put(out, "}\n");
    }
}

/* The way back, of rows that have one place each after the other. */
static void copies_out(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (e->k->operands[i].store && krf__c_turned(e, i)) {
            krf__str_printf(out, "krf_turn_%d(a->%s + tile * (long long)%s_s0, %s_s0, tile_%s[0], %d, (int)n1, width);\n",
                            (int)krf_dtype_size((krf_dtype)e->k->operands[i].dtype), name, name, name, name, rows_of(e));
        }
    }
}

const krf__hole krf__c_short_holes[] = {
    {"ROW_LOOP", row_loop}, {"REDUCE_LOOP", reduce_loop}, {"SIDE_ROWS", put_rows},
    {"SIDE_VALUES", values}, {"SIDE_COPIES", copies}, {"SIDE_COPIES_OUT", copies_out}, {"SIDE_ROUNDS", rounds}, {"SIDE_POSITION", position}, {"SIDE_START", start}, {"SIDE_MISSING", missing}, {"SIDE_PLACE", place},
    {"TOGETHER_ELEMENTS", put_together_elements}, {"TOGETHER_ROWS", put_together_rows}, {"TOGETHER_VALUES", together_values}, {"TOGETHER_ROUNDS", together_rounds}, {"ROW_MAP", row_map},
    {"FOLD_START", fold_start}, {"FOLD_KEEP", fold_keep}, {"FOLD_TURN", fold_turn}, {"FOLD_RESULTS", fold_results},
    {"SIDE_RESULTS", results}, {"SIDE_TREE", tree}, {"SIDE_EACH", each}, {NULL, NULL},
};
