/* The CUDA target's scans of columns: what stands in the holes of skeleton/scan_columns.cu and scan_side.cu. The order is that of docs/architecture.md. */
#include "codegen/cuda.h"

enum { RUN = KRF__SCAN_RUN, THREADS = 32 * KRF__SIDE_COLUMNS };

/* Columns that a block has, and its warps: with fewer columns than warps each has several shares of one. */
static int columns(const krf__emitter *e) { return e->k->columns; }
static int runs_of(const krf__emitter *e) { return THREADS / columns(e); }
static int pitch(const krf__emitter *e) { return columns(e) + 1; } /* of runs in shared memory */

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s runs%u[%d * %d], totals%u[%d];\n", krf__reduction_type(e, r), r, runs_of(e), pitch(e), r, KRF__SIDE_COLUMNS);
    }
}

/* What the groups before come to, the tiles before in the group, the warps before in the tile. */
static void carries(krf__emitter *e, krf__str *out) {
    krf__cuda_put_nothing(e, "groups", out);
    krf__cuda_put_nothing(e, "group", out);
    krf__cuda_put_nothing(e, "tile", out);
}

typedef enum at_end { WHOLE, CONDITION, LAST } at_end;

/* The text for each element of the thread's run, where that may go beyond the end: with a condition, or with the last element in place of those that are not there. */
static void put_each(krf__emitter *e, at_end at, const krf__str *element, krf__str *out) {
    krf__str_printf(out, "    #pragma unroll\n    for (int i = 0; i < %d; i++) {\n        const %s %s = first + run * %d + i", RUN, krf__index_type(e), at == LAST ? "place" : "p", RUN);
    if (at == LAST) {
        krf__str_put(out, ", p = place < ");
        krf__cuda_put_reduced_size(e, out);
        krf__str_put(out, " ? place : ");
        krf__cuda_put_reduced_size(e, out);
        krf__str_put(out, " - 1");
    }
    krf__str_put(out, ";\n");
    if (at == CONDITION) {
        krf__str_put(out, "        if (p < ");
        krf__cuda_put_reduced_size(e, out);
        krf__str_put(out, ") {\n");
    }
    krf__cuda_put_lines(out, at == CONDITION ? "            " : "        ", element->data);
    krf__str_put(out, at == CONDITION ? "        }\n    }\n" : "    }\n");
    out->failed |= element->failed;
}

static void put_run(krf__emitter *e, at_end at, const krf__str *element, krf__str *out) {
    krf__str_printf(out, "if (first + %d <= ", RUN * runs_of(e));
    krf__cuda_put_reduced_size(e, out);
    krf__str_put(out, ") {\n");
    put_each(e, WHOLE, element, out);
    krf__str_put(out, "} else {\n");
    put_each(e, at, element, out);
    krf__str_put(out, "}\n");
}

/* What comes of elements beyond the end goes nowhere, and a condition around each load takes long to compile. */
static void runs(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str element = {0};
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "%s sum%u[%d];\n", krf__reduction_type(e, r), r, RUN);
    }
    krf__cuda_put_scan_value(e, "sum", "i", &element);
    put_run(e, LAST, &element, out);
    krf__str_free(&element);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int i = 1; i < %d; i++) {\n    sum%u[i] = red%u(sum%u[i - 1], sum%u[i]);\n}\nruns%u[run * %d + column] = sum%u[%d];\n", RUN, r, r, r, r, r, pitch(e), r,
                        RUN - 1);
    }
}

/* A warp has the runs of a column, from the last one on: the run before then belongs to the next lane. */
static void warp(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str value = {0};
        krf__str_printf(&value, "all%u", r);
        krf__str_printf(out, "%s all%u = runs%u[own];\n#pragma unroll\nfor (int s = 1; s < 32; s *= 2) {\n    const %s left = ", type, r, r, type);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "s", out);
        krf__str_printf(out, ";\n    all%u = lane + s < 32 ? red%u(left, all%u) : all%u;\n}\n%s left%u = ", r, r, r, r, type, r);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "1", out);
        krf__str_printf(out, ";\nif (lane == 31) {\n    left%u = ", r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\n}\nif (lane == 0) {\n    totals%u[warp] = all%u;\n}\nruns%u[own] = left%u;\n", r, r, r, r);
        out->failed |= value.failed;
        krf__str_free(&value);
    }
}

static void prefixes(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s prefix%u = red%u(red%u(groups%u, group%u), red%u(tile%u, runs%u[run * %d + column]));\n", krf__reduction_type(e, r), r, r, r, r, r, r, r, r, pitch(e));
    }
}

void krf__cuda_put_run_result(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = red%u(prefix%u, sum%u[i]);\n", krf__reduction_type(e, r), k->n_domain + r, r, r, r);
    }
    krf__cuda_put_scanned(e, out);
}

/* Whether what is scanned is stored as it is: nothing else is computed, or loaded, before it. */
static bool only_stores(const krf__kernel *k) {
    uint32_t n = k->n_domain + k->n_reductions;
    while (n < k->n_instrs && k->instrs[n].op == KRF__store) {
        n++;
    }
    return n == k->n_instrs;
}

static void store(krf__emitter *e, krf__str *out) {
    krf__str element = {0};
    krf__cuda_put_run_result(e, &element);
    krf__str_put(out, "if (inside) {\n");
    if (only_stores(e->k)) {
        put_each(e, CONDITION, &element, out);
    } else {
        put_run(e, CONDITION, &element, out);
    }
    krf__str_put(out, "}\n");
    krf__str_free(&element);
}

/* What a warp found before its share, for the threads of its column. */
static void back_shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s back%u[3 * %d];\n", krf__reduction_type(e, r), r, KRF__SIDE_COLUMNS);
    }
}

static void found(krf__emitter *e, krf__str *out) {
    static const char *const names[] = {"before", "within", "shares"};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        for (int i = 0; i < 3; i++) {
            krf__str_printf(out, "back%u[%d + warp] = %s%u;\n", r, i * KRF__SIDE_COLUMNS, names[i], r);
        }
    }
}

static void carry(krf__emitter *e, krf__str *out) {
    static const char *const names[] = {"groups", "group", "tile"};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        for (int i = 0; i < 3; i++) {
            krf__str_printf(out, "const %s %s%u = back%u[%d + finder];\n", krf__reduction_type(e, r), names[i], r, r, i * KRF__SIDE_COLUMNS);
        }
    }
}

static void look_back(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "scan_side_back", out); }

static void put_columns(krf__emitter *e, krf__str *out) { krf__str_i64(out, columns(e)); }
static void put_pitch(krf__emitter *e, krf__str *out) { krf__str_i64(out, pitch(e)); }
static void put_rows(krf__emitter *e, krf__str *out) { krf__str_i64(out, RUN * runs_of(e)); }

/* Of a multiprocessor: more hide each other's waiting, where what they hold allows it. */
static void put_blocks(krf__emitter *e, krf__str *out) { krf__str_put(out, columns(e) < KRF__SIDE_COLUMNS && krf__scan_is_small(e->k) ? "3" : "2"); }

/* to = red(to, from), and nothing is left in from. */
static void move_up(krf__emitter *e, const char *to, const char *from, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s%u = red%u(%s%u, %s%u);\n%s%u = ", to, r, r, to, r, from, r, from, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

static void next_warp(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "tile%u = red%u(tile%u, totals%u[column]);\n", r, r, r, r);
    }
}

static void next_tile(krf__emitter *e, krf__str *out) { move_up(e, "group", "tile", out); }
static void next_group(krf__emitter *e, krf__str *out) { move_up(e, "groups", "group", out); }

const krf__hole krf__cuda_scan_column_holes[] = {
    {"SIDE_SHARED", shared}, {"SIDE_CARRIES", carries},     {"SIDE_RUNS", runs},           {"SIDE_WARP", warp},
    {"SIDE_PREFIXES", prefixes}, {"SIDE_STORE", store},     {"SIDE_NEXT_WARP", next_warp}, {"SIDE_NEXT_TILE", next_tile},
    {"SIDE_NEXT_GROUP", next_group}, {"SIDE_BACK_SHARED", back_shared}, {"SIDE_FOUND", found}, {"SIDE_CARRY", carry},
    {"SIDE_LOOK_BACK", look_back}, {"SIDE_COLUMNS", put_columns}, {"SIDE_PITCH", put_pitch}, {"SIDE_ROWS", put_rows},
    {"SIDE_BLOCKS", put_blocks}, {NULL, NULL},
};
