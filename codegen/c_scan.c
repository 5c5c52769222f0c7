/* The C target's scans: a tile is folded as docs/architecture.md says. */
#include "codegen/emitter.h"

enum { RUN = KRF__SCAN_RUN, RUNS = KRF__SCAN_TILE / KRF__SCAN_RUN };

/* Runs fold side by side: the first elements of all, then the second ones. Values of definitions may be structs, and theirs need not begin with the identity; those fold run by run. */
static bool runs_together(const krf__emitter *e, uint32_t r) { return krf__fold_op(krf__reduction(e, r)) == NULL; }

static int value_bytes(const krf__emitter *e, uint32_t r) { return krf__value_bytes((krf_dtype)krf__reduction(e, r)->dtype); }

static void put_runs(const krf__emitter *e, uint32_t r, const char *type, krf__str *out) {
    if (!runs_together(e, r)) {
        krf__str_printf(out, "    for (int j = 0; j < runs; j++) {\n        for (int i = 1; i < %d; i++) {\n", RUN);
        krf__str_printf(out, "            x[%d * j + i] = red%u(x[%d * j + i - 1], x[%d * j + i]);\n        }\n", RUN, r, RUN, RUN);
        krf__str_printf(out, "        total[j] = x[%d * j + %d];\n    }\n", RUN, RUN - 1);
        return;
    }
    krf__str_printf(out, "    %s side[%d][%d], prefixes[%d];\n    krf_turn_%d(side[0], %d, x, %d, runs, %d);\n", type, RUN, RUNS, RUNS, value_bytes(e, r), RUNS, RUN, RUN);
    krf__str_printf(out, "    for (int i = 1; i < %d; i++) {\n        for (int j = 0; j < runs; j++) {\n", RUN);
    krf__str_printf(out, "            side[i][j] = red%u(side[i - 1][j], side[i][j]);\n        }\n    }\n", r);
    krf__str_printf(out, "    for (int j = 0; j < runs; j++) {\n        total[j] = side[%d][j];\n    }\n", RUN - 1);
}

/* The doubling steps of a warp's runs. Before the first lie as many identities as the longest step goes back. */
static void put_steps(const krf__emitter *e, uint32_t r, const char *type, krf__str *out) {
    if (!runs_together(e, r)) {
        krf__str_put(out, "        for (int s = 1; s < 32; s *= 2) {\n            for (int j = 31; j >= s; j--) {\n");
        krf__str_printf(out, "                t[j] = red%u(t[j - s], t[j]);\n            }\n        }\n", r);
        return;
    }
    krf__str_printf(out, "        %s back[16 + 32], next[32];\n        for (int j = 0; j < 48; j++) {\n            back[j] = j < 16 ? neutral : t[j - 16];\n        }\n", type);
    krf__str_put(out, "#pragma GCC unroll 5\n        for (int s = 1; s < 32; s *= 2) {\n            for (int j = 0; j < 32; j++) {\n");
    krf__str_printf(out, "                next[j] = red%u(back[16 + j - s], back[16 + j]);\n            }\n", r);
    krf__str_put(out, "            for (int j = 0; j < 32; j++) {\n                back[16 + j] = next[j];\n            }\n        }\n");
    krf__str_put(out, "        for (int j = 0; j < 32; j++) {\n            t[j] = back[16 + j];\n        }\n");
}

static void put_prefixes(const krf__emitter *e, uint32_t r, const char *type, krf__str *out) {
    krf__str_put(out, "        for (int j = 0; j < 32 && 32 * w + j < runs; j++) {\n");
    krf__str_printf(out, "            const %s prefix = red%u(base, red%u(before, j > 0 ? t[j - 1] : neutral));\n", type, r, r);
    if (runs_together(e, r)) {
        krf__str_put(out, "            prefixes[32 * w + j] = prefix;\n        }\n");
        return;
    }
    krf__str_printf(out, "            for (int i = 0; i < %d; i++) {\n", RUN);
    krf__str_printf(out, "                x[%d * (32 * w + j) + i] = red%u(prefix, x[%d * (32 * w + j) + i]);\n            }\n        }\n", RUN, r, RUN);
}

static void put_back(const krf__emitter *e, uint32_t r, krf__str *out) {
    if (runs_together(e, r)) {
        krf__str_printf(out, "    for (int i = 0; i < %d; i++) {\n        for (int j = 0; j < runs; j++) {\n", RUN);
        krf__str_printf(out, "            side[i][j] = red%u(prefixes[j], side[i][j]);\n        }\n    }\n", r);
        krf__str_printf(out, "    krf_turn_%d(x, %d, side[0], %d, %d, runs);\n", value_bytes(e, r), RUN, RUNS, RUN);
    }
}

/* scan0(x, n, first, carry), ...: folds n elements of a tile in place; carry holds what the groups of tiles before come to and what the tiles of this group do, and
 * then the same at its end. */
static void functions(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str identity = {0};
        krf__emit_identity(e, r, &identity);
        const char *neutral = identity.data != NULL ? identity.data : "";
        krf__str_printf(out, "static void scan%u(%s *x, int n, long long first, %s *carry) {\n    const %s neutral = %s, base = red%u(carry[0], carry[1]);\n", r, type, type, type,
                        neutral, r);
        krf__str_printf(out, "    %s total[%d], before = neutral;\n    const int runs = (n + %d) / %d, warps = (runs + 31) / 32;\n", type, RUNS, RUN - 1, RUN);
        krf__str_printf(out, "    for (int i = n; i < %d * runs; i++) {\n        x[i] = neutral;\n    }\n", RUN);
        put_runs(e, r, type, out);
        krf__str_put(out, "    for (int j = runs; j < 32 * warps; j++) {\n        total[j] = neutral;\n    }\n");
        krf__str_printf(out, "    for (int w = 0; w < warps; w++) {\n        %s *t = total + 32 * w;\n", type);
        put_steps(e, r, type, out);
        put_prefixes(e, r, type, out);
        krf__str_printf(out, "        before = red%u(before, t[31]);\n    }\n    carry[1] = red%u(carry[1], before);\n", r, r);
        krf__str_printf(out, "    if (first %% %d == %d) {\n        carry[0] = red%u(carry[0], carry[1]);\n        carry[1] = neutral;\n    }\n",
                        KRF__SCAN_GROUP * KRF__SCAN_TILE, (KRF__SCAN_GROUP - 1) * KRF__SCAN_TILE, r);
        put_back(e, r, out);
        krf__str_put(out, "}\n");
        out->failed |= identity.failed;
        krf__str_free(&identity);
    }
}

static void carries(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str_printf(out, "%s acc%u[%d], carry%u[2] = {", type, r, KRF__SCAN_TILE, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ", ");
        krf__emit_identity(e, r, out);
        krf__str_put(out, "};\n");
    }
}

static void tiles(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "scan%u(acc%u, (int)(last - first), first, carry%u);\n", r, r, r);
    }
}

static void results(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "results(a, o, p");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, ", acc%u[p - first]", r);
    }
    krf__str_put(out, ");\n");
}

static void tile(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, KRF__SCAN_TILE);
}

/* ---- columns side by side ---- */

static void scan(krf__emitter *e, krf__str *out) {
    e->side_by_side = e->k->side && !krf__scans_columns(e->k);
    krf__emit_skeleton(e, krf__scans_beside(e->k) ? "scan_columns" : "scan_along", out);
    e->side_by_side = false;
}

static void width(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, KRF__SCAN_COLUMNS);
}

static void run_length(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, RUN);
}

/* acc0: elements; sum0: their runs so far; total0: of the warp up to its last run; before0: of the tile's warps; within0: of the tiles of the
 * group; groups0: of the groups before; carry0: of both; ring0: 1, 2, 4, 8 and 16
 * results of the doubling steps. */
static void columns(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str_printf(out, "%s acc%u[%d], sum%u[%d], prefix%u[%d], total%u[%d], before%u[%d], carry%u[%d], ring%u[31][%d];\n", type, r, KRF__SCAN_COLUMNS, r,
                        KRF__SCAN_COLUMNS, r, KRF__SCAN_COLUMNS, r, KRF__SCAN_COLUMNS, r, KRF__SCAN_COLUMNS, r, KRF__SCAN_COLUMNS, r, KRF__SCAN_COLUMNS);
        krf__str_printf(out, "%s groups%u[%d], within%u[%d];\n", type, r, KRF__SCAN_COLUMNS, r, KRF__SCAN_COLUMNS);
        krf__str_printf(out, "const %s neutral%u = ", type, r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\nfor (int k = 0; k < width; k++) {\n    total%u[k] = before%u[k] = groups%u[k] = within%u[k] = carry%u[k] = neutral%u;\n}\n", r, r, r, r, r, r);
    }
}

static void next_tile(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < width; k++) {\n    within%u[k] = red%u(within%u[k], before%u[k]);\n    before%u[k] = neutral%u;\n", r, r, r, r, r, r);
        krf__str_printf(out, "    if (p %% %d == 0) {\n        groups%u[k] = red%u(groups%u[k], within%u[k]);\n        within%u[k] = neutral%u;\n    }\n",
                        KRF__SCAN_GROUP * KRF__SCAN_TILE, r, r, r, r, r, r);
        krf__str_printf(out, "    carry%u[k] = red%u(groups%u[k], within%u[k]);\n}\n", r, r, r, r);
    }
}

static void next_warp(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < width; k++) {\n    before%u[k] = red%u(before%u[k], total%u[k]);\n    total%u[k] = neutral%u;\n}\n", r, r, r, r, r, r);
    }
}

static void prefixes(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < width; k++) {\n    prefix%u[k] = red%u(carry%u[k], red%u(before%u[k], total%u[k]));\n}\n", r, r, r, r, r, r);
    }
}

static void step(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "if (place == 0) {\n    for (int k = at; k < at + m; k++) {\n        sum%u[k] = acc%u[k];\n    }\n} else {\n", r, r);
        krf__str_printf(out, "    for (int k = at; k < at + m; k++) {\n        sum%u[k] = red%u(sum%u[k], acc%u[k]);\n    }\n}\n", r, r, r, r);
    }
}

static void totals(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str_printf(out, "for (int k = 0; k < width; k++) {\n    total%u[k] = sum%u[k];\n}\nfor (int s = 1; s < 32; s *= 2) {\n", r, r);
        krf__str_printf(out, "    %s *const back = ring%u[s - 1 + run %% s];\n    for (int k = 0; k < width; k++) {\n", type, r);
        krf__str_printf(out, "        const %s now = total%u[k];\n        total%u[k] = run >= s ? red%u(back[k], now) : now;\n        back[k] = now;\n    }\n}\n", type, r,
                        r, r);
    }
}

/* The part over results for the elements [at, at + m) of a row. */
static void column_results(krf__emitter *e, krf__str *out) {
    krf__c_put_each_result(e, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = red%u(prefix%u[at + k], sum%u[at + k]);\n", krf__reduction_type(e, r), e->k->n_domain + r, r, r, r);
    }
    krf__c_put_results(e, out);
    krf__str_put(out, "    }\n}\n");
}

const krf__hole krf__c_scan_holes[] = {
    {"SCAN", scan}, {"SCAN_TILE", tile}, {"SCAN_WIDTH", width}, {"SCAN_RUN", run_length},
    {"SCAN_FUNCTIONS", functions}, {"SCAN_CARRIES", carries}, {"SCAN_TILES", tiles}, {"SCAN_RESULTS", results},
    {"SCAN_COLUMNS", columns}, {"SCAN_NEXT_TILE", next_tile}, {"SCAN_NEXT_WARP", next_warp}, {"SCAN_PREFIXES", prefixes}, {"SCAN_STEP", step},
    {"SCAN_TOTALS", totals}, {"SCAN_COLUMN_RESULTS", column_results}, {NULL, NULL},
};
