/* The CUDA target's reductions by columns: what stands in the holes of skeleton/reduce_col.cu, column_lanes.cu and column_chunk.cu. A thread holds a
 * vector of columns and as many of the 256 lanes of each as there are threads side by side. Those of integers are in cuda_column_any.c. */
#include "codegen/cuda.h"
#include "plan/copies.h"

#include <stdio.h>

#define LONG_BODY 12 /* instructions: longer ones are written out less often */

static void put_together(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__cuda_columns_together(e)); }
static void threads(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->abreast); }
static size_t widest_load(const krf__kernel *k) {
    size_t widest = 1;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const size_t size = k->instrs[i].op == KRF__load ? krf_dtype_size((krf_dtype)k->instrs[i].dtype) : 1;
        widest = size > widest ? size : widest;
    }
    return widest;
}

/* Left to itself ptxas 13.0 takes so few registers that loads wait for each other, or that it spills, where columns are few or long or what a thread adds up is much, or in any order. */
static bool wants_registers(const krf__kernel *k) {
    return krf__any_order(k) || k->abreast < 32 || k->n_kept > 1 || k->n_reductions > 1 || (k->chunks > 1 && widest_load(k) <= 4);
}

/* Sums in f64 of what is narrower leave 64 registers no room for loads that are under way: means and deviations of columns of f32 0.1496 -> 0.1245 ms with 80 (0.1306 with 128), of bf16 0.1395 -> 0.1190 with 128
 * (0.1435 with 80). Three sums of 4 bytes take 1.1 times as long with either. */
static void bounds(krf__emitter *e, krf__str *out) {
    size_t bytes = 0;
    if (e->k->flat) {
        krf__str_printf(out, "%d, %d", e->k->abreast * e->k->flat_teams, e->k->flat_alone ? 1 : 2);
        return;
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        bytes += krf__cuda_accumulator_bytes(e, r);
    }
    const bool much = bytes > 16 && widest_load(e->k) <= 4 && !krf__any_order(e->k);
    if (e->k->copied) {
        krf__str_printf(out, "256, %d", krf__copying_blocks(e->k));
        return;
    }
    if (e->k->drifts) {
        const int all = e->k->abreast * e->k->groups;
        krf__str_printf(out, "%d, %d", all, krf__drifting_blocks(e->k, all));
        return;
    }
    krf__str_put(out, !wants_registers(e->k) ? "256" : !much ? "256, 4" : widest_load(e->k) == 4 ? "256, 3" : "256, 2");
}

static void groups(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__column_groups(e->k)); }
static void each(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__column_each(e->k)); }
static void put_at(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__cuda_column_at(e)); }

/* The lane, of a thread's own, from which a turn starts. */
static void put_turn(krf__emitter *e, const char *number, krf__str *out) {
    if (krf__column_levels(e->k) == 0) {
        krf__str_put(out, "0");
    } else {
        krf__str_printf(out, "(int)(__brev((unsigned)%s) >> %d)", number, 30 - krf__column_levels(e->k));
    }
}

static void turn(krf__emitter *e, krf__str *out) { put_turn(e, "turn", out); }
static void next_turn(krf__emitter *e, krf__str *out) { put_turn(e, "(turn + 4)", out); }

/* Of a vector of each thread, or of a warp's columns. */
static void shared(krf__emitter *e, krf__str *out) {
    const int columns = e->k->abreast * e->k->vector, places = e->k->flat ? krf__flat_shared(e->k) * e->k->flat_teams : e->k->drifts ? krf__cuda_column_shared(e) : !krf__any_order(e->k) ? 256 * e->k->vector : columns < 32 ? 256 : 8 * columns;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s shared%u[%d];\n", krf__reduction_type(e, r), r, places);
    }
}

void krf__cuda_put_column_arrays(krf__emitter *e, const char *name, int n, bool identity, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s %s%u[%d]", krf__reduction_type(e, r), name, r, n);
        krf__str_put(out, identity ? " = {" : ";\n");
        for (int i = 0; i < n && identity; i++) {
            krf__emit_identity(e, r, out);
            krf__str_put(out, i < n - 1 ? ", " : "};\n");
        }
    }
}

static void totals(krf__emitter *e, krf__str *out) { krf__cuda_put_column_arrays(e, "all", e->k->vector, true, out); }

static void stacks(krf__emitter *e, krf__str *out) {
    krf__cuda_put_column_arrays(e, "part", e->k->vector, false, out);
    if (krf__column_levels(e->k) > 0) {
        krf__cuda_put_column_arrays(e, "stack", krf__column_levels(e->k) * e->k->vector, false, out);
    }
}

static void start(krf__emitter *e, krf__str *out) { krf__cuda_put_column_arrays(e, "acc", krf__cuda_columns_together(e) * e->k->vector, true, out); }

/* So that 8 loads of 16 bytes are under way, or 16 narrower ones; where what a load brings takes long, as many of one operand. Single sums and the like of elements of four bytes or more
 * are as fast with 4 on an H200 (exponentials 0.985, columns of f64 1.03), and compile in two thirds of the time; of halves, and of several reductions, 0.95 to 0.99. */
static void unroll(krf__emitter *e, krf__str *out) {
    const int together = krf__cuda_columns_together(e);
    const bool costly = e->k->n_domain > LONG_BODY || krf__costly_domain(e->k), alone = e->k->vector > 1 && krf__cuda_column_loads(e) == 1 && e->k->n_reductions == 1;
    const krf__op op = (krf__op)krf__reduction(e, 0)->op;
    const bool compares = widest_load(e->k) > 4 && (op == KRF__max || op == KRF__min); /* some ten operations, one after the other (the largest f64 of [16K, 1000] 0.048 -> 0.043 ms) */
    const bool plain = !compares && e->k->n_reductions == 1 && together == 4 && e->k->vector > 1 && krf__narrowest(e->k) >= 4 && !(costly && widest_load(e->k) > 4);
    const int several = costly ? 1 : e->k->vector > 1 ? 2 : 4;
    krf__str_i64(out, plain ? 1 : (alone && (costly || (krf__any_order(e->k) && !e->k->drifts)) ? 2 * several : several) * 4 / together);
}

static void declared(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_in_domain(e, i, KRF__load)) {
            krf__cuda_put_held(e, i, krf__cuda_columns_together(e), "", out);
        }
    }
}

static void loads(krf__emitter *e, krf__str *out) {
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        krf__str offset = {0};
        if (!krf__cuda_in_domain(e, i, KRF__load)) {
            continue;
        }
        if (e->k->drifts && e->k->operands[i].loose) {
            krf__cuda_put_column_apart(e, i, out);
            continue;
        }
        krf__cuda_put_offset(e, i, true, &offset);
        krf__cuda_put_held_load(e, i, "[g]", offset.data != NULL ? offset.data : "", false, out);
        out->failed |= offset.failed;
        krf__str_free(&offset);
    }
}

void krf__cuda_put_column_element(krf__emitter *e, const char *condition, krf__str *out) {
    const krf__kernel *k = e->k;
    bool stores = false;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        stores |= k->instrs[i].op == KRF__store;
    }
    krf__cuda_put_statements(e, 0, k->n_domain, "", out);
    if (stores) {
        krf__str_printf(out, "if (%s) {\n", condition);
        krf__emit_position(e, KRF__PART_REDUCED, "p", out);
        krf__cuda_put_element(e, "    ", out);
        krf__str_put(out, "}\n");
    }
}

static void body(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__cuda_put_column_element(e, "valid && inside", out);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        char lane[32];
        if (k->flat) {
            snprintf(lane, sizeof lane, "acc%u[g %% %d * %d + k]", r, krf__flat_vectors(k), k->vector);
        } else {
            snprintf(lane, sizeof lane, "acc%u[g * %d + k]", r, k->vector);
        }
        if (krf__cuda_takes_product(e, r)) {
            krf__str_printf(out, "%s = valid ? ", lane);
            krf__cuda_put_product_added(e, r, lane, out);
            krf__str_printf(out, " : %s;\n", lane);
            continue;
        }
        krf__str_printf(out, "%s = red%u(%s, valid ? ", lane, r, lane);
        krf__emit_value(e, krf__reduction(e, r)->args[0], out);
        krf__str_put(out, " : ");
        krf__emit_identity(e, r, out);
        krf__str_put(out, ");\n");
    }
}

/* ---- the tree over a thread's lanes ---- */

static void merge(krf__emitter *e, krf__str *out) {
    const int v = e->k->vector;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", v);
        if (krf__cuda_columns_together(e) == 4) {
            krf__str_printf(out, "    part%u[k] = red%u(red%u(acc%u[k], acc%u[%d + k]), red%u(acc%u[%d + k], acc%u[%d + k]));\n", r, r, r, r, r, v, r, r, 2 * v, r, 3 * v);
        } else if (krf__cuda_columns_together(e) == 2) {
            krf__str_printf(out, "    part%u[k] = red%u(acc%u[k], acc%u[%d + k]);\n", r, r, r, r, v);
        } else {
            krf__str_printf(out, "    part%u[k] = acc%u[k];\n", r, r);
        }
        krf__str_put(out, "}\n");
    }
    if (krf__column_levels(e->k) == 0) {
        return;
    }
    krf__str_printf(out, "bool carry = true;\n#pragma unroll\nfor (int level = 0; level < %d; level++) {\n    const bool full = carry && (turn >> (level + 2) & 1) != 0;\n", krf__column_levels(e->k));
    krf__str_printf(out, "    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        if (full) {\n", v);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "            part%u[k] = red%u(stack%u[level * %d + k], part%u[k]);\n", r, r, r, v, r);
    }
    krf__str_put(out, "        } else if (carry) {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "            stack%u[level * %d + k] = part%u[k];\n", r, v, r);
    }
    krf__str_put(out, "        }\n    }\n    carry = full;\n}\n");
}

/* ---- over the groups of threads ---- */

static void tree(krf__emitter *e, krf__str *out) {
    const int v = e->k->vector, side = e->k->abreast;
    if (e->k->drifts) {
        krf__cuda_put_drifting_tree(e, out);
        return;
    }
    krf__str_printf(out, "__syncthreads();\n#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", v);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    shared%u[k * 256 + thread] = part%u[k];\n", r, r);
    }
    krf__str_printf(out, "}\n#pragma unroll 1\nfor (int n = %d; n > 0; n /= 2) {\n    __syncthreads();\n    if ((int)threadIdx.y < n) {\n", 128 / side);
    krf__str_printf(out, "        #pragma unroll\n        for (int k = 0; k < %d; k++) {\n", v);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "            shared%u[k * 256 + thread] = part%u[k] = red%u(part%u[k], shared%u[k * 256 + thread + n * %d]);\n", r, r, r, r, r, side);
    }
    krf__str_put(out, "        }\n    }\n}\n");
}

static void fold(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "all%u[k] = again ? part%u[k] : red%u(all%u[k], part%u[k]);\n", r, r, r, r, r);
    }
}

/* ---- over chunks: those of a lane are one partial result ---- */

static const char *lane_count(const krf__emitter *e) { return e->k->copied ? "lanes" : "(int)gridDim.y"; }

void krf__cuda_put_column_partial(krf__emitter *e, uint32_t r, bool read, const char *index, krf__str *out) {
    const uint32_t words = krf__accumulator_words(e->k, r), before = krf__accumulator_words_before(e->k, r);
    krf__str_put(out, words > 1 && read ? krf__reduction_type(e, r) : ""); /* ?: takes no volatile struct */
    krf__str_printf(out, words > 1 && read ? "_read(*(%s%s *)(a.scratch + " : "*(%s%s *)(a.scratch + ", read ? "volatile const " : words > 1 ? "" : "volatile ", krf__reduction_type(e, r));
    if (words == 1) {
        krf__str_printf(out, index != NULL ? "((long long)%u * %s + %s) * kept + at + k)" : "(long long)%u * %s * kept + f)", before, lane_count(e), index);
    } else {
        krf__str_printf(out, "%uLL * %s * kept + (", before, lane_count(e));
        krf__str_printf(out, index != NULL ? "(long long)(%s) * kept + at + k" : "f", index);
        krf__str_printf(out, ") * %u%s", words, read ? "))" : ")");
    }
}

/* What blocks found lies as columns do. */
static void go_again(krf__emitter *e, krf__str *out) {
    if (e->k->drifts) {
        krf__emit_skeleton(e, "column_drift_again", out);
    }
}

static void done(krf__emitter *e, krf__str *out) {
    krf__cuda_put_column_own(e, true, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__cuda_put_column_partial(e, r, false, e->k->copied ? "of" : "blockIdx.y", out);
        krf__str_printf(out, " = all%u[k];\n", r);
    }
    krf__cuda_put_column_own(e, false, out);
}

static void clear(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    all%u[k] = ", e->k->vector, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

static void partials(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "acc%u[g * %d + k] = red%u(acc%u[g * %d + k], ", r, e->k->vector, r, r, e->k->vector);
        krf__cuda_put_column_partial(e, r, true, "found", out);
        krf__str_put(out, ");\n");
    }
}

static void results(krf__emitter *e, krf__str *out) {
    krf__cuda_put_column_own(e, true, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s r%u = all%u[k];\n", krf__reduction_type(e, r), r, r);
    }
    krf__cuda_put_results(e, out);
    krf__cuda_put_column_own(e, false, out);
}

/* ---- */

static void found(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_found", out); }
static void elements(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->copied ? "column_ahead" : "column_each", out); }
static void chunk_loops(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_chunk", out); }
static void chunk(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, chunk_loops, out); }

static void chunks(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->copied ? "column_several" : "column_lane", out); }
static void put_lane_count(krf__emitter *e, krf__str *out) { krf__str_put(out, lane_count(e)); }

static void block(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->flat ? "column_flat" : krf__any_order(e->k) && !e->k->drifts ? "column_any" : "column_lanes", out); }
static void place(krf__emitter *e, krf__str *out) {
    if (!e->k->flat) {
        krf__emit_skeleton(e, e->k->drifts ? "column_drift" : "column_place", out);
    }
}
static void ticket(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_ticket", out); }

const krf__hole krf__cuda_column_holes[] = {
    {"COLUMN_PLACE", place},
    {"COLUMN_BLOCK", block},
    {"COLUMN_TICKET", ticket},
    {"COLUMN_BOUNDS", bounds},
    {"COLUMN_THREADS", threads},
    {"COLUMN_GROUPS", groups},
    {"COLUMN_EACH", each},
    {"COLUMN_AT", put_at},
    {"COLUMN_AGAIN", go_again},
    {"COLUMN_SHARED", shared},
    {"COLUMN_TOTALS", totals},
    {"COLUMN_CHUNKS", chunks},
    {"COLUMN_LANE_COUNT", put_lane_count},
    {"COLUMN_CHUNK", chunk},
    {"COLUMN_STACKS", stacks},
    {"COLUMN_START", start},
    {"COLUMN_TOGETHER", put_together},
    {"COLUMN_TURN", turn},
    {"COLUMN_NEXT_TURN", next_turn},
    {"COLUMN_FOUND", found},
    {"COLUMN_ELEMENTS", elements},
    {"COLUMN_UNROLL", unroll},
    {"COLUMN_DECLARED", declared},
    {"COLUMN_LOADS", loads},
    {"COLUMN_BODY", body},
    {"COLUMN_MERGE", merge},
    {"COLUMN_TREE", tree},
    {"COLUMN_FOLD", fold},
    {"COLUMN_DONE", done},
    {"COLUMN_CLEAR", clear},
    {"COLUMN_PARTIALS", partials},
    {"COLUMN_RESULTS", results},
    {NULL, NULL},
};
