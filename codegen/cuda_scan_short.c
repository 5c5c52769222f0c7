/* The CUDA target's scans of rows several of which share a tile: what stands in the holes of skeleton/scan_short.cu besides those of all scans (cuda_scan.c). */
#include "codegen/cuda.h"

enum { STRIDE = KRF__SCAN_RUN + 1 };

/* Elements of a tile that a row has to itself. */
static int room(const krf__emitter *e) { return krf__scan_runs(e->k) * KRF__SCAN_RUN; }

static void rows(krf__emitter *e, krf__str *out) { krf__str_i64(out, KRF__SCAN_TILE / room(e)); }

enum { EACH = KRF__SCAN_TILE / KRF__LANES /* elements of a thread, KRF__LANES apart */ };

/* Whether all elements of a thread have the same place in their rows. */
static bool same_place(const krf__emitter *e) { return room(e) <= KRF__LANES; }

/* Where the thread's nth element is: in which row, and at which place of it. */
static void put_place(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    if (same_place(e)) {
        krf__str_printf(out, "    const %s o = base + (%s)(threadIdx.x / %d + %d * n), p = place;\n", type, type, room(e), KRF__LANES / room(e));
    } else {
        krf__str_printf(out, "    const %s o = base + n / %d, p = (%s)threadIdx.x + n %% %d * %d;\n", type, room(e) / KRF__LANES, type, room(e) / KRF__LANES, KRF__LANES);
    }
}

/* A loop over a thread's elements of the tile where all rows are there, or over any. */
static void put_loop(krf__emitter *e, bool whole, const char *unroll, krf__str *out) {
    krf__str position = {0};
    krf__emit_position(e, KRF__PART_KEPT, "o", &position);
    if (whole) {
        krf__str_printf(out, "#pragma unroll%s\nfor (int n = 0; n < %d; n++) {\n", unroll, EACH);
        put_place(e, out);
        krf__str_printf(out, "    const int slot = own + %d * n, end = behind + %d * n;\n", KRF__LANES / KRF__SCAN_RUN * STRIDE, KRF__LANES / KRF__SCAN_RUN * STRIDE);
    } else {
        krf__str_printf(out, "#pragma unroll 1\nfor (unsigned at = threadIdx.x; at < %d; at += %d) {\n", KRF__SCAN_TILE, KRF__LANES);
        krf__str_printf(out, "    const %s o = base + (%s)(at / %d), p = (%s)(at %% %d);\n", krf__index_type(e), krf__index_type(e), room(e), krf__index_type(e), room(e));
        krf__str_printf(out, "    const int slot = (int)(at + at / %d), end = (int)(at / %d * %d + %d);\n", KRF__SCAN_RUN, KRF__SCAN_RUN, STRIDE, KRF__SCAN_RUN);
    }
    krf__cuda_put_lines(out, "    ", position.data != NULL ? position.data : "");
    out->failed |= position.failed;
    krf__str_free(&position);
}

/* The text for each element that there is; all of a thread are, or none, where they have the same place. */
static void put_each(krf__emitter *e, bool whole, const char *unroll, const char *before, const krf__str *text, krf__str *out) {
    krf__str loop = {0};
    const bool once = whole && same_place(e);
    put_loop(e, whole, unroll, &loop);
    krf__str_put(&loop, before);
    krf__str_put(&loop, once ? "" : whole ? "    if (p < length) {\n" : "    if (p < length && o < count) {\n");
    krf__cuda_put_lines(&loop, once ? "    " : "        ", text->data != NULL ? text->data : "");
    krf__str_put(&loop, once ? "}\n" : "    }\n}\n");
    krf__str_put(out, once ? "    if (place < length) {\n" : "");
    krf__cuda_put_lines(out, once ? "        " : "    ", loop.data != NULL ? loop.data : "");
    krf__str_put(out, once ? "    }\n" : "");
    out->failed |= loop.failed || text->failed;
    krf__str_free(&loop);
}

static void put_identities(krf__emitter *e, const char *to, const char *place, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    %s%u[%s] = ", to, r, place);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

/* All elements are read before the first goes on to the tile: compilers may else wait for each. */
static void load_whole(krf__emitter *e, krf__str *out) {
    krf__str value = {0}, identities = {0}, moves = {0};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    %s held%u[%d];\n", krf__reduction_type(e, r), r, EACH);
    }
    krf__str_printf(&identities, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n", EACH);
    put_identities(e, "held", "n", &identities);
    krf__cuda_put_lines(out, "    ", identities.data);
    krf__str_put(out, "    }\n");
    krf__cuda_put_scan_value(e, "held", "n", &value);
    put_each(e, true, "", "", &value, out);
    krf__str_printf(&moves, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n", EACH);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(&moves, "    tile%u[own + %d * n] = held%u[n];\n", r, KRF__LANES / KRF__SCAN_RUN * STRIDE, r);
    }
    krf__cuda_put_lines(out, "    ", moves.data);
    krf__str_put(out, "    }\n");
    out->failed |= identities.failed || moves.failed;
    krf__str_free(&value);
    krf__str_free(&identities);
    krf__str_free(&moves);
}

static void load(krf__emitter *e, krf__str *out) {
    krf__str value = {0}, identities = {0};
    krf__str_printf(out, "const int own = (int)(threadIdx.x + threadIdx.x / %d), behind = (int)(threadIdx.x / %d * %d + %d);\n", KRF__SCAN_RUN, KRF__SCAN_RUN, STRIDE, KRF__SCAN_RUN);
    if (same_place(e)) {
        krf__str_printf(out, "const %s place = (%s)(threadIdx.x %% %d);\n", krf__index_type(e), krf__index_type(e), room(e));
    }
    krf__str_printf(out, "const bool whole = base + %d <= count;\nif (whole) {\n", KRF__SCAN_TILE / room(e));
    load_whole(e, out);
    krf__str_put(out, "} else {\n");
    put_identities(e, "tile", "slot", &identities);
    krf__cuda_put_scan_value(e, "tile", "slot", &value);
    put_each(e, false, "", identities.data != NULL ? identities.data : "", &value, out);
    krf__str_put(out, "}\n");
    out->failed |= identities.failed;
    krf__str_free(&value);
    krf__str_free(&identities);
}

static void store(krf__emitter *e, krf__str *out) {
    krf__str result = {0};
    krf__cuda_put_scan_result(e, &result);
    krf__str_put(out, "if (whole) {\n");
    put_each(e, true, " 4", "", &result, out); /* nothing waits for stores: more at once is only more to compile */
    krf__str_put(out, "} else {\n");
    put_each(e, false, "", "", &result, out);
    krf__str_put(out, "}\n");
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
