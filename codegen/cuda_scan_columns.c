/* The CUDA target's scans of columns: what stands in the holes of skeleton/scan_columns.cu. The order is that of docs/architecture.md. */
#include "codegen/cuda.h"

enum { RUN = KRF__SCAN_RUN, PITCH = KRF__SIDE_COLUMNS + 1 /* of runs in shared memory */ };

static void declare(krf__emitter *e, const char *name, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s %s%u = ", krf__reduction_type(e, r), name, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s runs%u[32 * %d], totals%u[%d];\n", krf__reduction_type(e, r), r, PITCH, r, KRF__SIDE_COLUMNS);
    }
}

/* What the groups before come to, the tiles before in the group, the warps before in the tile. */
static void carries(krf__emitter *e, krf__str *out) {
    declare(e, "groups", out);
    declare(e, "group", out);
    declare(e, "tile", out);
}

/* The text for each element of the thread's run, of whole runs without a condition. */
static void put_run(krf__emitter *e, const krf__str *element, krf__str *out) {
    for (int whole = 1; whole >= 0; whole--) {
        krf__str_put(out, whole ? "if (first + 512 <= " : "} else {\n");
        if (whole) {
            krf__cuda_put_reduced_size(e, out);
            krf__str_put(out, ") {\n");
        }
        krf__str_printf(out, "    #pragma unroll\n    for (int i = 0; i < %d; i++) {\n        const %s p = first + run * %d + i;\n", RUN, krf__index_type(e), RUN);
        if (!whole) {
            krf__str_put(out, "        if (p < ");
            krf__cuda_put_reduced_size(e, out);
            krf__str_put(out, ") {\n");
        }
        krf__cuda_put_lines(out, whole ? "        " : "            ", element->data);
        krf__str_put(out, whole ? "    }\n" : "        }\n    }\n}\n");
    }
    out->failed |= element->failed;
}

static void runs(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str element = {0};
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "%s sum%u[%d];\n#pragma unroll\nfor (int i = 0; i < %d; i++) {\n    sum%u[i] = ", krf__reduction_type(e, r), r, RUN, RUN, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
    krf__cuda_put_scan_value(e, "sum", "i", &element);
    put_run(e, &element, out);
    krf__str_free(&element);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int i = 1; i < %d; i++) {\n    sum%u[i] = red%u(sum%u[i - 1], sum%u[i]);\n}\nruns%u[run * %d + column] = sum%u[%d];\n", RUN, r, r, r, r, r, PITCH, r,
                        RUN - 1);
    }
}

/* A warp has the runs of a column, from the last one on: the run before then belongs to the next lane. */
static void warp(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str value = {0};
        krf__str_printf(&value, "all%u", r);
        krf__str_printf(out, "%s all%u = runs%u[(31 - lane) * %d + warp];\n#pragma unroll\nfor (int s = 1; s < 32; s *= 2) {\n    const %s left = ", type, r, r, PITCH, type);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "s", out);
        krf__str_printf(out, ";\n    all%u = lane + s < 32 ? red%u(left, all%u) : all%u;\n}\n%s left%u = ", r, r, r, r, type, r);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "1", out);
        krf__str_printf(out, ";\nif (lane == 31) {\n    left%u = ", r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\n}\nif (lane == 0) {\n    totals%u[warp] = all%u;\n}\nruns%u[(31 - lane) * %d + warp] = left%u;\n", r, r, r, PITCH, r);
        out->failed |= value.failed;
        krf__str_free(&value);
    }
}

static void prefixes(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s prefix%u = red%u(red%u(groups%u, group%u), red%u(tile%u, runs%u[run * %d + column]));\n", krf__reduction_type(e, r), r, r, r, r, r, r, r, r, PITCH);
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

static void store(krf__emitter *e, krf__str *out) {
    krf__str element = {0};
    krf__cuda_put_run_result(e, &element);
    krf__str_put(out, "if (inside) {\n");
    put_run(e, &element, out);
    krf__str_put(out, "}\n");
    krf__str_free(&element);
}

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
    {"SIDE_NEXT_GROUP", next_group}, {NULL, NULL},
};
