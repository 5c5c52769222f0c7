/* The C target's scans along rows: what stands in the holes of skeleton/scan_along.c and scan_chain.c. A tile is folded, and what comes before it put before it, in the order of docs/architecture.md. */
#include "codegen/emitter.h"

enum { RUN = KRF__SCAN_RUN, RUNS = KRF__SCAN_TILE / KRF__SCAN_RUN };

/* Runs fold eight side by side: the first elements of all, then the second ones. Values of definitions may be structs, and theirs need not begin with the identity; those fold run by run. */
static bool runs_together(const krf__emitter *e, uint32_t r) { return krf__fold_op(krf__reduction(e, r)) == NULL; }

static int value_bytes(const krf__emitter *e, uint32_t r) { return krf__value_bytes((krf_dtype)krf__reduction(e, r)->dtype); }

static void put_runs(const krf__emitter *e, uint32_t r, const char *type, krf__str *out) {
    if (!runs_together(e, r)) {
        krf__str_printf(out, "    for (int j = 0; j < 32 * warps; j++) {\n        for (int i = 1; i < %d; i++) {\n", RUN);
        krf__str_printf(out, "            x[%d * j + i] = red%u(x[%d * j + i - 1], x[%d * j + i]);\n        }\n", RUN, r, RUN, RUN);
        krf__str_printf(out, "        even[j / 32][16 + j %% 32] = x[%d * j + %d];\n    }\n", RUN, RUN - 1);
        return;
    }
    krf__str_printf(out, "    for (int j = 0; j < 32 * warps; j += 8) {\n        %s (*const v)[8] = side[j / 8];\n        krf_turn_%d(v[0], 8, x + %d * j, %d, 8, %d);\n", type, value_bytes(e, r), RUN, RUN, RUN);
    krf__str_printf(out, "#pragma GCC unroll %d\n        for (int i = 1; i < %d; i++) {\n            for (int k = 0; k < 8; k++) {\n", RUN, RUN);
    krf__str_printf(out, "                v[i][k] = red%u(v[i - 1][k], v[i][k]);\n            }\n        }\n", r);
    krf__str_printf(out, "        for (int k = 0; k < 8; k++) {\n            even[j / 32][16 + j %% 32 + k] = v[%d][k];\n        }\n    }\n", RUN - 1);
}

/* The doubling steps of all warps' runs, from one array to the other and back. Before the first run of a warp lie as many identities as the longest step goes back, for those that fold side by side. */
static void put_steps(const krf__emitter *e, uint32_t r, krf__str *out) {
    for (int s = 1; s < 32; s *= 2) {
        const char *from = s == 1 || s == 4 || s == 16 ? "even" : "odd", *to = s == 1 || s == 4 || s == 16 ? "odd" : "even";
        krf__str_printf(out, "    for (int w = 0; w < warps; w++) {\n        for (int j = 16; j < 48; j++) {\n            %s[w][j] = ", to);
        if (!runs_together(e, r)) {
            krf__str_printf(out, "j < %d ? %s[w][j] : ", 16 + s, from);
        }
        krf__str_printf(out, "red%u(%s[w][j - %d], %s[w][j]);\n        }\n    }\n", r, from, s, from);
    }
}

/* scan0(x, n, side, prefixes): folds the n elements of a tile run by run, those of all runs into side[0], ... where they fold side by side; finds what comes before each run; and gives what all
 * of the tile come to. */
static void put_scan(krf__emitter *e, uint32_t r, const char *neutral, krf__str *out) {
    const char *type = krf__reduction_type(e, r);
    krf__str_printf(out, "static %s scan%u(%s *x, int n, %s (*side)[%d][8], %s *prefixes) {\n    const %s neutral = %s;\n", type, r, type, type, RUN, type, type, neutral);
    krf__str_printf(out, "    %s even[8][48], odd[8][48], before = neutral;\n    const int warps = (n + %d) / %d;\n", type, KRF__SCAN_SHARE - 1, KRF__SCAN_SHARE);
    krf__str_printf(out, "    for (int i = n; i < %d * warps; i++) {\n        x[i] = neutral;\n    }\n", KRF__SCAN_SHARE);
    krf__str_put(out, "    for (int w = 0; w < warps; w++) {\n        for (int j = 0; j < 16; j++) {\n            even[w][j] = odd[w][j] = neutral;\n        }\n    }\n");
    put_runs(e, r, type, out);
    put_steps(e, r, out);
    krf__str_printf(out, "    for (int w = 0; w < warps; w++) {\n        for (int j = 0; j < 32; j++) {\n            prefixes[32 * w + j] = red%u(before, odd[w][15 + j]);\n        }\n", r);
    krf__str_printf(out, "        before = red%u(before, odd[w][47]);\n    }\n    (void)side;\n    return before;\n}\n", r);
}

/* spread0(x, n, side, prefixes, base): and all of it behind what comes before the tile. */
static void put_spread(const krf__emitter *e, uint32_t r, krf__str *out) {
    const char *type = krf__reduction_type(e, r);
    krf__str_printf(out, "static void spread%u(%s *x, int n, %s (*side)[%d][8], const %s *prefixes, %s base) {\n    const int runs = (n + %d) / %d;\n", r, type, type, RUN, type, type, RUN - 1, RUN);
    if (!runs_together(e, r)) {
        krf__str_printf(out, "    for (int i = 0; i < %d * runs; i++) {\n        x[i] = red%u(red%u(base, prefixes[i / %d]), x[i]);\n    }\n    (void)side;\n}\n", RUN, r, r, RUN);
        return;
    }
    krf__str_printf(out, "    for (int j = 0; j < runs; j += 8) {\n        %s (*const v)[8] = side[j / 8], before[8];\n", type);
    krf__str_printf(out, "        for (int k = 0; k < 8; k++) {\n            before[k] = red%u(base, prefixes[j + k]);\n        }\n", r);
    krf__str_printf(out, "#pragma GCC unroll %d\n        for (int i = 0; i < %d; i++) {\n            for (int k = 0; k < 8; k++) {\n                v[i][k] = red%u(before[k], v[i][k]);\n            }\n        }\n", RUN, RUN, r);
    krf__str_printf(out, "        krf_turn_%d(x + %d * j, %d, v[0], 8, %d, 8);\n    }\n}\n", value_bytes(e, r), RUN, RUN, RUN);
}

static void functions(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str identity = {0};
        krf__emit_identity(e, r, &identity);
        put_scan(e, r, identity.data != NULL ? identity.data : "", out);
        put_spread(e, r, out);
        out->failed |= identity.failed;
        krf__str_free(&identity);
    }
}

/* carry0: of each row what the groups of tiles before come to, and what the tiles of this group do. */
static void carries(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s carry%u[%d][2];\nfor (int row = 0; row < rows; row++) {\n    carry%u[row][0] = carry%u[row][1] = ", krf__reduction_type(e, r), r,
                        krf__scans_columns(e->k) ? KRF__SCAN_ROWS_MOST : 1, r, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

static void tile_arrays(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str_printf(out, "%s acc%u[%d], side%u[%d][%d][8], prefixes%u[%d], *const before%u = carry%u[row];\n", type, r, KRF__SCAN_TILE, r, runs_together(e, r) ? RUNS / 8 : 1, RUN, r, RUNS, r, r);
    }
}

static void fold(krf__emitter *e, krf__str *out) {
    krf__emit_skeleton(e, "scan_fold", out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s all%u = scan%u(acc%u, (int)(last - first), side%u, prefixes%u);\n", krf__reduction_type(e, r), r, r, r, r, r);
    }
}

/* before0, of the tile, becomes that of the next one. */
static void carry(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s base%u = red%u(before%u[0], before%u[1]);\nbefore%u[1] = red%u(before%u[1], all%u);\n", krf__reduction_type(e, r), r, r, r, r, r, r, r, r);
        krf__str_printf(out, "if (first %% %d == %d) {\n    before%u[0] = red%u(before%u[0], before%u[1]);\n    before%u[1] = ", KRF__SCAN_GROUP * KRF__SCAN_TILE,
                        (KRF__SCAN_GROUP - 1) * KRF__SCAN_TILE, r, r, r, r, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

static void spread(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "spread%u(acc%u, (int)(last - first), side%u, prefixes%u, base%u);\n", r, r, r, r, r);
    }
    krf__emit_skeleton(e, "scan_spread", out);
}

/* Rows that go together. */
static void rows(krf__emitter *e, krf__str *out) {
    if (krf__scans_columns(e->k)) {
        krf__str_printf(out, "(int)n%d", e->k->n_kept - 1);
    } else {
        krf__str_put(out, "1");
    }
}

static void strip_places(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "int m = last - p < %d ? (int)(last - p) : %d;\n", KRF__LANES, KRF__LANES);
    krf__c_put_strip_places(e, out);
}

static void strip_results(krf__emitter *e, krf__str *out) {
    krf__str values = {0};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(&values, "const %s t%u = acc%u[at + k];\n", krf__reduction_type(e, r), e->k->n_domain + r, r);
    }
    krf__c_put_strip(e, values.data != NULL ? values.data : "", out);
    out->failed |= values.failed;
    krf__str_free(&values);
}

/* ---- chains ---- */

/* Words of a tile in scratch memory: whether it is known what all of the row up to its end come to, and what, for each reduction as before0. */
static void slot_place(const krf__emitter *e, uint32_t r, krf__str *out) { krf__str_printf(out, "slot + %u", 1 + 2 * krf__accumulator_words_before(e->k, r)); }

static void hear(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "const unsigned long long *const slot = a->scratch + %u * ((u - groups) * rows + row);\nkrf_await(slot);\n", krf__chain_words(e->k));
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__builtin_memcpy(before%u, ", r);
        slot_place(e, r, out);
        krf__str_printf(out, ", 2 * sizeof *before%u);\n", r);
    }
}

static void say(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "unsigned long long *const slot = a->scratch + %u * (u * rows + row);\n", krf__chain_words(e->k));
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_put(out, "__builtin_memcpy(");
        slot_place(e, r, out);
        krf__str_printf(out, ", before%u, 2 * sizeof *before%u);\n", r, r);
    }
    krf__str_put(out, "__atomic_store_n(slot, 1, __ATOMIC_RELEASE);\n");
}

static void tile(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, KRF__SCAN_TILE);
}

const krf__hole krf__c_scan_along_holes[] = {
    {"SCAN_TILE", tile}, {"SCAN_FUNCTIONS", functions}, {"SCAN_CARRIES", carries}, {"SCAN_TILE_ARRAYS", tile_arrays}, {"SCAN_ROWS", rows}, {"SCAN_FOLD", fold}, {"SCAN_CARRY", carry}, {"SCAN_SPREAD", spread},
    {"SCAN_STRIP_PLACES", strip_places}, {"SCAN_STRIP_RESULTS", strip_results}, {"SCAN_HEAR", hear}, {"SCAN_SAY", say}, {NULL, NULL},
};
