/* The C target's scans of columns, and of short rows side by side: what stands in the holes of skeleton/scan_columns.c. The order is that of docs/architecture.md. */
#include "codegen/emitter.h"

enum { RUN = KRF__SCAN_RUN };

static void scan(krf__emitter *e, krf__str *out) {
    e->side_by_side = e->k->side;
    krf__emit_skeleton(e, krf__scans_beside(e->k) ? "scan_columns" : e->k->chained ? "scan_chain" : "scan_along", out);
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
    krf__str values = {0};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(&values, "const %s t%u = red%u(prefix%u[at + k], sum%u[at + k]);\n", krf__reduction_type(e, r), e->k->n_domain + r, r, r, r);
    }
    const char *text = values.data != NULL ? values.data : "";
    if (e->side_by_side) {
        krf__c_put_each_result(e, out);
        krf__str_put(out, text);
        krf__c_put_results(e, out);
        krf__str_put(out, "    }\n}\n");
    } else {
        krf__c_put_strip_places(e, out);
        krf__c_put_strip(e, text, out);
    }
    out->failed |= values.failed;
    krf__str_free(&values);
}

const krf__hole krf__c_scan_holes[] = {
    {"SCAN", scan}, {"SCAN_WIDTH", width}, {"SCAN_RUN", run_length},
    {"SCAN_COLUMNS", columns}, {"SCAN_NEXT_TILE", next_tile}, {"SCAN_NEXT_WARP", next_warp}, {"SCAN_PREFIXES", prefixes}, {"SCAN_STEP", step},
    {"SCAN_TOTALS", totals}, {"SCAN_COLUMN_RESULTS", column_results}, {NULL, NULL},
};
