/* The CUDA target's scans: what stands in the holes of skeleton/scan_rows.cu and scan_long.cu. The order is that of docs/architecture.md. */
#include "codegen/cuda.h"

#include <stdio.h>

enum { RUN = KRF__SCAN_RUN, TILE = KRF__SCAN_TILE, STRIDE = RUN + 1 /* of runs in shared memory; what comes before a run lies behind it */, LINE = 128 /* bytes */ };

static bool is_long(const krf__emitter *e) { return e->k->chunks > 1; }

/* Runs that a thread folds: the nth of them lies a block's threads, or warps, further. */
static int runs_each(const krf__emitter *e) { return KRF__LANES / krf__scan_threads(e->k); }

static void scan(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, krf__scans_alone(e->k) ? "scan_alone" : e->k->side ? (is_long(e) ? "scan_side" : "scan_columns") : is_long(e) ? "scan_long" : krf__scan_runs(e->k) < KRF__LANES ? "scan_short" : "scan_rows", out); }

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        if (e->k->pairs) {
            krf__str_printf(out, "__shared__ %s tiles%u[2][%d], both%u[2][8];\n%s *const tile%u = tiles%u[team], *const warps%u = both%u[team];\n", type, r, KRF__LANES * STRIDE, r, type, r, r, r, r);
        } else {
            krf__str_printf(out, "__shared__ %s tile%u[%d], warps%u[8];\n", type, r, KRF__LANES * STRIDE, r);
        }
    }
}

void krf__cuda_put_nothing(krf__emitter *e, const char *name, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s %s%u = ", krf__reduction_type(e, r), name, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

static void carries(krf__emitter *e, krf__str *out) { krf__cuda_put_nothing(e, "carry", out); }

/* ---- elements ---- */

void krf__cuda_put_scan_value(krf__emitter *e, const char *to, const char *place, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    e->mode = 3;
    krf__cuda_put_statements(e, 0, k->n_domain, "", out);
    e->mode = 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "%s%u[%s] = ", to, r, place);
        krf__emit_value(e, krf__reduction(e, r)->args[0], out);
        krf__str_put(out, ";\n");
    }
}

static void put_element(krf__emitter *e, krf__str *out) { krf__cuda_put_scan_value(e, "tile", "slot", out); }

/* Where the block's threads are in shared memory, at element `thread` of a tile and behind its run. Those of later elements of a thread lie at distances that are known. */
static void put_slots(krf__str *out) {
    krf__str_printf(out, "const int own = thread + thread / %d, behind = thread / %d * %d + %d;\n", RUN, RUN, STRIDE, RUN);
}

/* A loop over a thread's elements of a tile, as far apart as a block has threads: all at once, but in the last tile of a row of many. */
static void put_loop(const krf__emitter *e, bool at_once, const char *unroll, krf__str *out) {
    const int threads = krf__scan_threads(e->k), step = threads / RUN * STRIDE;
    const char *type = krf__index_type(e);
    if (at_once) {
        krf__str_printf(out, "    #pragma unroll%s\n    for (int n = 0; n < %d; n++) {\n        const %s p = first + thread + %d * n;\n", unroll, TILE / threads, type, threads);
        krf__str_printf(out, "        const int slot = own + %d * n, end = behind + %d * n;\n", step, step);
    } else {
        krf__str_printf(out, "    #pragma unroll 1\n    for (int at = thread; at < %d; at += %d) {\n        const %s p = first + at;\n", TILE, threads, type);
        krf__str_printf(out, "        const int slot = at + at / %d, end = at / %d * %d + %d;\n", RUN, RUN, STRIDE, RUN);
    }
}

/* All are read before the first goes on to the tile: compilers may else wait for each. */
static void put_at_once(krf__emitter *e, bool whole, krf__str *out) {
    krf__str value = {0};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    %s held%u[%d];\n", krf__reduction_type(e, r), r, TILE / krf__scan_threads(e->k));
    }
    put_loop(e, true, "", out);
    for (uint32_t r = 0; r < e->k->n_reductions && !whole; r++) {
        krf__str_printf(out, "        held%u[n] = ", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
    krf__cuda_put_scan_value(e, "held", "n", &value);
    krf__str_put(out, whole ? "" : "        if (p < $) {\n");
    krf__cuda_put_lines(out, whole ? "        " : "            ", value.data != NULL ? value.data : "");
    krf__str_put(out, whole ? "    }\n" : "        }\n    }\n");
    put_loop(e, true, "", out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "        tile%u[slot] = held%u[n];\n", r, r);
    }
    krf__str_put(out, "    }\n");
    out->failed |= value.failed;
    krf__str_free(&value);
}

static void put_nothing(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "tile%u[slot] = ", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

void krf__cuda_put_scan_result(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = red%u(tile%u[end], tile%u[slot]);\n", krf__reduction_type(e, r), k->n_domain + r, r, r, r);
    }
    krf__cuda_put_scanned(e, out);
}

void krf__cuda_put_scanned(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const uint32_t first = k->n_domain + k->n_reductions;
    e->mode = 3;
    krf__cuda_put_statements(e, first, k->n_instrs, "", out);
    e->mode = 0;
    for (uint32_t i = first; i < k->n_instrs; i++) {
        const krf__instr *s = &k->instrs[i];
        if (s->op == KRF__store) {
            krf__cuda_put_store(e, s, true, out);
        }
    }
}

/* What is done with each element; where the row may end in the tile, with those that are there, and otherwise. */
static void put_elements(krf__emitter *e, bool whole, const char *unroll, void (*each)(krf__emitter *e, krf__str *out), void (*otherwise)(krf__emitter *e, krf__str *out), krf__str *out) {
    krf__str element = {0}, missing = {0};
    each(e, &element);
    if (otherwise != NULL) {
        otherwise(e, &missing);
    }
    put_loop(e, whole || !is_long(e), unroll, out);
    krf__str_put(out, whole ? "" : "        if (p < $) {\n");
    krf__cuda_put_lines(out, whole ? "        " : "            ", element.data);
    if (!whole && otherwise != NULL) {
        krf__str_put(out, "        } else {\n");
        krf__cuda_put_lines(out, "            ", missing.data);
    }
    krf__str_put(out, whole ? "    }\n" : "        }\n    }\n");
    out->failed |= element.failed || missing.failed;
    krf__str_free(&element);
    krf__str_free(&missing);
}

/* The text with the size of a row for every $. */
static void put_with_size(krf__emitter *e, const krf__str *text, krf__str *out) {
    for (const char *at = text->data; at != NULL && *at != '\0'; at++) {
        if (*at != '$') {
            krf__str_char(out, *at);
            continue;
        }
        krf__cuda_put_reduced_size(e, out);
    }
    out->failed |= text->failed;
}

static void load(krf__emitter *e, krf__str *out) {
    krf__str text = {0};
    put_slots(out);
    krf__str_printf(&text, "if (first + %d <= $) {\n", TILE);
    put_at_once(e, true, &text);
    krf__str_put(&text, "} else {\n");
    if (is_long(e)) {
        put_elements(e, false, "", put_element, put_nothing, &text);
    } else {
        put_at_once(e, false, &text);
    }
    krf__str_put(&text, "}\n");
    put_with_size(e, &text, out);
    krf__str_free(&text);
}

static void store(krf__emitter *e, krf__str *out) {
    krf__str text = {0};
    krf__str_printf(&text, "if (first + %d <= $) {\n", TILE);
    put_elements(e, true, " 4", krf__cuda_put_scan_result, NULL, &text); /* nothing waits for stores: more at once is only more to compile */
    krf__str_put(&text, "} else {\n");
    put_elements(e, false, " 4", krf__cuda_put_scan_result, NULL, &text);
    krf__str_put(&text, "}\n");
    put_with_size(e, &text, out);
    krf__str_free(&text);
}

/* Which tile of which row, by the number of a block; the second of a pair may be behind the row's last. */
static void row(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__scans_columns(e->k) ? "number % rows" : e->k->pairs ? "number / of_row" : "number / tiles"); }
static void part(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__scans_columns(e->k) ? "number / rows" : e->k->pairs ? "2 * (number % of_row) + team" : "number % tiles"); }
static void of_row(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->pairs ? "(tiles + 1) / 2" : "tiles"); }
static void last(krf__emitter *e, krf__str *out) { krf__str_i64(out, KRF__SCAN_GROUP - krf__scan_tiles(e->k)); }
static void block_threads(krf__emitter *e, krf__str *out) { krf__str_i64(out, (int64_t)krf__scan_tiles(e->k) * krf__scan_threads(e->k)); }

/* ---- a tile ---- */

static void runs(krf__emitter *e, krf__str *out) {
    const int all = krf__scan_runs(e->k), side = all < 32 ? all : 32; /* runs of a row in a warp */
    const int each = runs_each(e), apart = STRIDE * krf__scan_threads(e->k);
    char loop[64], later[32] = "lane + s < 32", first[32] = "lane == 31";
    if (side < 32) {
        snprintf(later, sizeof later, "run %% %d >= s", side);
        snprintf(first, sizeof first, "run %% %d == 0", side);
    }
    snprintf(loop, sizeof loop, "#pragma unroll\nfor (int r = 0; r < %d; r++) {\n", each);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str value = {0};
        krf__str_printf(&value, "sum%u[r]", r);
        krf__str_printf(out, "%s sum%u[%d], before%u[%d];\n%s    sum%u[r] = tile%u[%d * run + %d * r];\n}\n", type, r, each, r, each, loop, r, r, STRIDE, apart);
        krf__str_printf(out, "#pragma unroll 5\nfor (int i = 1; i < %d; i++) {\n    %s", RUN, "#pragma unroll\n");
        krf__str_printf(out, "    for (int r = 0; r < %d; r++) {\n        sum%u[r] = red%u(sum%u[r], tile%u[%d * run + %d * r + i]);\n", each, r, r, r, r, STRIDE, apart);
        krf__str_printf(out, "        tile%u[%d * run + %d * r + i] = sum%u[r];\n    }\n}\n", r, STRIDE, apart, r);
        krf__str_printf(out, "#pragma unroll\nfor (int s = 1; s < %d; s *= 2) {\n    %s    for (int r = 0; r < %d; r++) {\n        const %s left = ", side, "#pragma unroll\n", each, type);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "s", out);
        krf__str_printf(out, ";\n        sum%u[r] = %s ? red%u(left, sum%u[r]) : sum%u[r];\n    }\n}\n%s    before%u[r] = ", r, later, r, r, r, loop, r);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "1", out);
        krf__str_printf(out, ";\n    if (%s) {\n        before%u[r] = ", first, r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\n    }\n    if (lane == 0) {\n        warps%u[warp + %d * r] = sum%u[r];\n    }\n}\n", r, krf__scan_threads(e->k) / 32, r);
        out->failed |= value.failed;
        krf__str_free(&value);
    }
}

/* What the warps before this one come to, and all of them. */
static void totals(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s left%u[%d], all%u = ", krf__reduction_type(e, r), r, runs_each(e), r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\n#pragma unroll\nfor (int w = 0; w < 8; w++) {\n    #pragma unroll\n    for (int r = 0; r < %d; r++) {\n", runs_each(e));
        krf__str_printf(out, "        left%u[r] = w == 0 || w == warp + %d * r ? all%u : left%u[r];\n    }\n", r, krf__scan_threads(e->k) / 32, r, r);
        krf__str_printf(out, "    all%u = red%u(all%u, warps%u[w]);\n}\n", r, r, r, r);
    }
}

static void prefixes(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int r = 0; r < %d; r++) {\n", runs_each(e));
        krf__str_printf(out, "    tile%u[%d * run + %d * r + %d] = red%u(carry%u, red%u(left%u[r], before%u[r]));\n}\n", r, STRIDE, STRIDE * krf__scan_threads(e->k), RUN, r, r, r,
                        r, r);
    }
}

/* Lines of the tile that the block would do if blocks started in order: whoever does it finds them in the cache, and none waits for its number first. */
static void ahead(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const int last = k->n_kept + k->n_reduced - 1;
    krf__str lines = {0};
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->store || o->counts || o->gathered || o->inner != 0 || krf__stride_class(k, o, last) != 1) {
            continue;
        }
        const int line = LINE / (int)krf_dtype_size((krf_dtype)o->dtype);
        krf__str_printf(&lines, "#pragma unroll 1\nfor (int at = %d * thread; at < %d && first + at < $; at += %d) {\n    const %s p = first + at;\n    ", line, TILE,
                        line * krf__scan_threads(k), krf__index_type(e));
        krf__emit_position(e, KRF__PART_REDUCED, "p", &lines);
        krf__str_printf(&lines, "    krf_fetch_ahead(a.%s", e->operand_names[i]);
        krf__cuda_put_offset(e, i, true, &lines);
        krf__str_put(&lines, ");\n}\n");
    }
    put_with_size(e, &lines, out);
    krf__str_free(&lines);
}

/* Blocks hide each other's waiting: as many as shared memory, or threads, have room for, where few registers hold the scan. */
static void bounds(krf__emitter *e, krf__str *out) {
    krf__str_put(out, e->k->pairs ? "256, 6" : krf__scan_threads(e->k) < KRF__LANES ? "128, 12" : krf__scan_is_small(e->k) ? "256, 8" : "256");
}
static void threads(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__scan_threads(e->k)); }

static void tile(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, TILE);
}

const krf__hole krf__cuda_scan_holes[] = {
    {"SCAN", scan}, {"SCAN_SHARED", shared}, {"SCAN_CARRIES", carries}, {"SCAN_LOAD", load}, {"SCAN_RUNS", runs}, {"SCAN_TOTALS", totals},
    {"SCAN_PREFIXES", prefixes}, {"SCAN_STORE", store}, {"SCAN_TILE", tile}, {"SCAN_BOUNDS", bounds}, {"SCAN_AHEAD", ahead}, {"SCAN_THREADS", threads},
    {"SCAN_ROW", row}, {"SCAN_PART", part}, {"SCAN_OF_ROW", of_row}, {"SCAN_LAST", last},
    {"SCAN_BLOCK", block_threads}, {NULL, NULL},
};
