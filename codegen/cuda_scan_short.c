/* The CUDA target's scans of rows several of which share a tile: what stands in the holes of skeleton/scan_short.cu besides those of all scans (cuda_scan.c). */
#include "codegen/cuda.h"

enum { STRIDE = KRF__SCAN_RUN + 1 };

/* Elements of a tile that a row has to itself. */
static int room(const krf__emitter *e) { return krf__scan_runs(e->k) * KRF__SCAN_RUN; }

static void rows(krf__emitter *e, krf__str *out) { krf__str_i64(out, KRF__SCAN_TILE / room(e)); }

/* A loop over a thread's elements of the tile, and where they are: in which row, at which place of it, and in shared memory. */
static void put_loop(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    krf__str position = {0};
    krf__emit_position(e, KRF__PART_KEPT, "o", &position);
    krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n", KRF__SCAN_TILE / KRF__LANES);
    krf__str_printf(out, "    const int at = (int)threadIdx.x + %d * n, slot = at + at / %d, end = at / %d * %d + %d;\n", KRF__LANES, KRF__SCAN_RUN, KRF__SCAN_RUN, STRIDE,
                    KRF__SCAN_RUN);
    krf__str_printf(out, "    const %s o = base + at / %d, p = at %% %d;\n", type, room(e), room(e));
    krf__cuda_put_lines(out, "    ", position.data != NULL ? position.data : "");
    out->failed |= position.failed;
    krf__str_free(&position);
}

static const char inside[] = "    if (p < length && o < count) {\n";

/* All elements are read before the first goes on to the tile: compilers may else wait for each. */
static void load(krf__emitter *e, krf__str *out) {
    krf__str value = {0};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s held%u[%d];\n", krf__reduction_type(e, r), r, KRF__SCAN_TILE / KRF__LANES);
    }
    put_loop(e, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    held%u[n] = ", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
    krf__str_put(out, inside);
    krf__cuda_put_scan_value(e, "held", "n", &value);
    krf__cuda_put_lines(out, "        ", value.data != NULL ? value.data : "");
    krf__str_put(out, "    }\n}\n");
    put_loop(e, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    tile%u[slot] = held%u[n];\n", r, r);
    }
    krf__str_put(out, "}\n");
    out->failed |= value.failed;
    krf__str_free(&value);
}

static void store(krf__emitter *e, krf__str *out) {
    krf__str result = {0};
    put_loop(e, out);
    krf__str_put(out, inside);
    krf__cuda_put_scan_result(e, &result);
    krf__cuda_put_lines(out, "        ", result.data != NULL ? result.data : "");
    krf__str_put(out, "    }\n}\n");
    out->failed |= result.failed;
    krf__str_free(&result);
}

/* What the warps before this one, of its row, come to. */
static void totals(krf__emitter *e, krf__str *out) {
    const int warps = krf__scan_runs(e->k) / 32;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s left%u[1] = {", krf__reduction_type(e, r), r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, "};\n");
        if (warps > 1) {
            krf__str_printf(out, "#pragma unroll\nfor (int w = 0; w < %d; w++) {\n    left%u[0] = w < warp %% %d ? red%u(left%u[0], warps%u[warp / %d * %d + w]) : left%u[0];\n}\n",
                            warps - 1, r, warps, r, r, r, warps, warps, r);
        }
    }
}

const krf__hole krf__cuda_scan_short_holes[] = {
    {"SCAN_ROWS", rows}, {"SCAN_SHORT_LOAD", load}, {"SCAN_SHORT_TOTALS", totals}, {"SCAN_SHORT_STORE", store}, {NULL, NULL},
};
