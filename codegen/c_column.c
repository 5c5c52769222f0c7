/* The C target's reductions of columns: all0 holds the accumulators of a group of lanes, a row of the tile's results for each, and then one such group a level of
 * the tree. */
#include "codegen/emitter.h"

/* As krf__column_side. */
static void side(krf__emitter *e, krf__str *out) {
    const int most = krf__column_most(e->k);
    if (most > KRF__COLUMN_SIDE) {
        krf__str_printf(out, "kept <= %d && a->chunks >= %d ? %d : ", most, KRF__COLUMN_CHUNKS, most);
    }
    krf__str_i64(out, KRF__COLUMN_SIDE);
}

/* Whether an operand's row p + 1 begins where row p ends. */
static void put_dense(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const int kept = krf__stride_class(e->k, o, 0), reduced = krf__stride_class(e->k, o, 1);
    if (kept == 0 || reduced < 2) {
        krf__str_put(out, kept == 0 && reduced == 0 ? "" : " && 0");
    } else {
        krf__str_printf(out, " && %s_s1 == ", e->operand_names[operand]);
        krf__str_printf(out, kept == 1 ? "n0" : "n0 * %s_s0", e->operand_names[operand]);
    }
}

static void dense(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    if (k->n_kept != 1 || k->n_reduced != 1) {
        krf__str_put(out, "0");
        return;
    }
    krf__str_put(out, "tiles == 1");
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (krf__c_in_domain(k, i)) {
            put_dense(e, i, out);
        }
    }
}

/* The results that follow one another in memory, which of few are all of the last dimension. */
static void run(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    if ((k->literal & 1) != 0) {
        krf__str_printf(out, "const long long j = 0;\nconst int m = n%d;\n", k->n_kept - 1);
    } else {
        krf__emit_skeleton(e, "column_run", out);
    }
}

/* Columns of rows without gaps that go through all rows of a lane before the next do. Where their accumulators take much, the first cache has those of 1 KiB of f32: means and variances of
 * [65536, 100] f32 take 0.8 of the time; sums alone as long, of bytes 1.2 times. */
static void at_once(krf__emitter *e, krf__str *out) {
    krf__str_put(out, krf__c_columns_in_pieces(e) ? "(dense ? 256 : all)" : "all");
}

static void end(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__c_columns_in_pieces(e) ? "dense && block + 256 < step * width ? block + 256 : step * width" : "step * width"); }

bool krf__c_columns_in_pieces(const krf__emitter *e) {
    enum { MUCH = 16 };
    return e->k->schedule == KRF__REDUCE_COL && (e->k->literal & 1) == 0 && krf__accumulator_bytes(e->k) >= MUCH;
}

static void groups(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__c_lane_type(e, r);
        krf__str_printf(out, "_Alignas(64) %s all%u[%d];\n%s *const acc%u = all%u;\n", type, r, krf__column_held(e->k), type, r, r);
    }
}

/* How many lanes a group has, 2 to the power of `bits` groups being all; in any order, as many as the first cache has accumulators for. */
static void group(krf__emitter *e, krf__str *out) {
    if (krf__all_order_free(e->k)) {
        krf__str_printf(out, "while (group < 256 && group < last - first && 2 * group * width * %d <= 8192) {\n    group *= 2;\n}\n", (int)krf__accumulator_bytes(e->k));
    } else {
        krf__str_printf(out, "while (bits < 8 && 1 << bits < last - first) {\n    bits++;\n}\nwhile (bits > 0 && 2 * group * width * (bits + 1) <= %d) {\n    group *= 2;\n    bits--;\n}\n", krf__column_held(e->k));
    }
}

static void apart(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__all_order_free(e->k) ? "group" : "256"); }

static void lane(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s *const acc%u = all%u + lane * width;\n", krf__c_lane_type(e, r), r, r);
    }
}

static void start(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < all; k++) {\n    all%u[k] = ", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

static void merge(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < all; k++) {\n    all%u[k] = red%u(all%u[(level + 1) * all + k], all%u[k]);\n}\n", r, e->reduction + r, r, r);
    }
}

static void push(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < all; k++) {\n    all%u[(level + 1) * all + k] = all%u[k];\n}\n", r, r);
    }
}

static void fold(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < s * width; k++) {\n    all%u[k] = red%u(all%u[k], all%u[k + s * width]);\n}\n", r, e->reduction + r, r, r);
    }
}

const krf__hole krf__c_column_holes[] = {
    {"COLUMN_SIDE", side}, {"COLUMNS_GROUP", group}, {"COLUMNS_APART", apart}, {"COLUMNS_DENSE", dense}, {"COLUMN_RUN", run}, {"COLUMNS", groups}, {"COLUMNS_AT_ONCE", at_once}, {"COLUMNS_END", end}, {"COLUMNS_LANE", lane}, {"COLUMNS_START", start},
    {"COLUMNS_MERGE", merge}, {"COLUMNS_PUSH", push}, {"COLUMNS_FOLD", fold}, {NULL, NULL},
};
