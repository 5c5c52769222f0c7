/* The C target's rows of several rounds that lie side by side in memory, as columns do: lanes of the canonical tree are taken in an order that needs few accumulators. */
#include "codegen/emitter.h"

#include <stdio.h>

enum { LINE_BYTES = 64, PAGE_BYTES = 4096, AHEAD = 8 /* elements of rows, that are fetched before they are wanted */, RADIX = 8 };

bool krf__c_lanes_have_one(const krf__emitter *e) { return e->side_by_side && (e->k->schedule != KRF__ROW_COL || e->k->length <= KRF__LANES); }

void krf__c_put_rows_beside(krf__emitter *e, krf__str *out) {
    e->side_by_side = true;
    krf__emit_skeleton(e, "row_col", out);
    e->side_by_side = false;
}

static void put_rows(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->kernel->columns); }

static void put_round(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->n_reductions > 0 ? "row_col_reduce" : "row_col_map", out); }
static void rounds(krf__emitter *e, krf__str *out) { krf__emit_rounds(e, put_round, out); }

/* Whether what follows is fetched: along rows that have one place each after the other. */
static bool goes_on(const krf__kernel *k, const krf__operand *o) { return k->n_reduced == 1 && krf__stride_class(k, o, k->n_kept - 1) == 1 && krf__stride_class(k, o, k->n_kept) != 1; }

/* Where rows follow one another in memory already, they stay there. The next tile is fetched meanwhile, unless its lines would have the same few places of a cache. */
static void put_tile(krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__kernel *k = e->k;
    const krf__operand *o = &k->operands[operand];
    const char *name = e->operand_names[operand], *type = krf__storage_type(o->dtype);
    krf__str_printf(out, "_Alignas(64) %s tile_%s[%d][%d];\nconst %s *base_%s = tile_%s[0];\nlong long step_%s = %d;\n", type, name, k->length, k->columns, type, name, name, name, k->columns);
    if (goes_on(k, o)) {
        krf__str_printf(out, "const %s *const own_%s = a->%s", type, name, name);
        krf__emit_offset(e, operand, KRF__PART_KEPT, -1, out);
        krf__str_printf(out, ";\nconst %s *next_%s = (long long)%s_s%d * %d %% %d != 0 ? own_%s + width : (void *)0;\n", type, name, name, k->n_kept, (int)krf_dtype_size((krf_dtype)o->dtype), PAGE_BYTES, name);
        krf__str_printf(out, "if (%s_s%d == width) {\n    base_%s = own_%s;\n    step_%s = width;\n    next_%s = own_%s + n%d * step_%s;\n}\n", name, k->n_kept, name, name, name, name, name, k->n_kept, name);
    }
}

/* What is copied, what is handed from round to round, and what stays. */
static void tiles(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__storage_type(k->operands[i].dtype);
        if (krf__c_turned(e, i)) {
            put_tile(e, i, out);
        } else if (k->operands[i].inner != 0 && k->operands[i].store) {
            krf__str_printf(out, "%s %s[%d];\n", type, name, k->columns);
        }
    }
    krf__c_put_kept_blocks(e, k->length, k->columns, out);
}

static void put_fetches(const char *from, int bytes, krf__str *out) {
    const int line = LINE_BYTES / bytes; /* which they may begin within */
    krf__str_printf(out, "for (int k = 0; k < m + %d; k += %d) {\n    __builtin_prefetch(%s + k);\n}\n", line - 1, line, from);
}

/* Elements p of the tile's rows. */
static void copies(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__storage_type(k->operands[i].dtype);
        const int fast = k->n_kept - 1, class_ = krf__stride_class(k, &k->operands[i], fast);
        if (!krf__c_turned(e, i)) {
            continue;
        }
        krf__str_printf(out, "if (base_%s == tile_%s[0]) {\nconst %s *const from = a->%s", name, name, type, name);
        krf__emit_offset(e, i, KRF__PART_KEPT, -1, out);
        krf__emit_offset(e, i, KRF__PART_REDUCED, -1, out);
        krf__str_put(out, ";\n");
        if (goes_on(k, &k->operands[i])) { /* what follows in this tile, or the next one */
            char step[32];
            snprintf(step, sizeof step, "%s_s%d", name, k->n_kept);
            krf__str_printf(out, "const long long ahead = p + %d < n%d ? %dLL * %s : m + (%dLL - n%d) * %s;\n", AHEAD, k->n_kept, AHEAD, step, AHEAD, k->n_kept, step);
            put_fetches("from + ahead", (int)krf_dtype_size((krf_dtype)k->operands[i].dtype), out);
        }
        krf__str_printf(out, class_ == 1 ? "for (int k = 0; k < m; k++) {\n    tile_%s[p][k] = from[k" : "for (int k = 0; k < m; k++) {\n    tile_%s[p][k] = from[k * %s_s%d", name, name, fast);
        krf__str_put(out, "];\n}\n}\n");
    }
}

/* Of the next tile, in the order of memory, while the first round goes over this one. */
static void ahead(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands && k->instrs == e->kernel->instrs; i++) {
        const char *name = e->operand_names[i];
        if (krf__c_turned(e, i) && goes_on(k, &k->operands[i])) {
            krf__str_printf(out, "if (next_%s != (void *)0) {\n    const %s *const from = next_%s + (p - place - q * turns + turn * radix + q) * %s_s%d;\n", name, krf__storage_type(k->operands[i].dtype), name, name, k->n_kept);
            put_fetches("from", (int)krf_dtype_size((krf_dtype)k->operands[i].dtype), out);
            krf__str_put(out, "}\n");
        }
    }
}

/* Lanes of the tree: each has one element of a row where there are no more than these. */
static int lanes_of(const krf__emitter *e) { return e->kernel->length < KRF__LANES ? e->kernel->length : KRF__LANES; }
static int radix_of(const krf__emitter *e) { return lanes_of(e) < RADIX ? lanes_of(e) : RADIX; }

static void lanes(krf__emitter *e, krf__str *out) { krf__str_i64(out, lanes_of(e)); }

/* Accumulators of the lanes that are folded at once, what they come to, and the same for each level above. */
static void parts(krf__emitter *e, krf__str *out) {
    int levels = 2;
    for (int n = radix_of(e); n < lanes_of(e); n *= 2) {
        levels++;
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str_printf(out, "_Alignas(64) %s part%u[%d][%d];\n_Alignas(64) %s all%u[%d];\n", type, r, radix_of(e), e->kernel->columns, type, r, levels * e->kernel->columns);
    }
}

/* Those of lane q; without an element, or with several, it begins with the identity. */
static void lane(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s *const acc%u = part%u[q];\n", krf__reduction_type(e, r), r, r);
    }
    krf__str_put(out, krf__c_lanes_have_one(e) ? "if (place + q * turns >= " : "{\n");
    if (krf__c_lanes_have_one(e)) {
        krf__str_printf(out, "n%d", e->k->n_kept);
        for (int d = e->k->n_kept + 1; d < e->k->n_kept + e->k->n_reduced; d++) {
            krf__str_printf(out, " * n%d", d);
        }
        krf__str_put(out, ") {\n");
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < width; k++) {\n    acc%u[k] = ", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
    krf__str_put(out, "}\n");
}

/* The tree over lanes [first, first + n * step) of those at hand, by halves. */
static void put_halves(uint32_t r, uint32_t function, int first, int n, int step, krf__str *out) {
    if (n == 1) {
        krf__str_printf(out, "part%u[%d][k]", r, first);
        return;
    }
    krf__str_printf(out, "red%u(", function);
    put_halves(r, function, first, n / 2, 2 * step, out);
    krf__str_put(out, ", ");
    put_halves(r, function, first + step, n / 2, 2 * step, out);
    krf__str_put(out, ")");
}

static void fold(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "for (int k = 0; k < width; k++) {\n    all%u[k] = ", r);
        put_halves(r, e->reduction + r, 0, radix_of(e), 1, out);
        krf__str_put(out, ";\n}\n");
    }
}

static void results(krf__emitter *e, krf__str *out) {
    krf__c_put_each_result(e, out);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = all%u[k];\n", krf__reduction_type(e, r), e->k->n_domain + r, r);
    }
    krf__c_put_results(e, out);
    krf__str_put(out, "    }\n}\n");
}

const krf__hole krf__c_row_col_holes[] = {
    {"BESIDE_ROWS", put_rows}, {"BESIDE_TILES", tiles}, {"BESIDE_ROUNDS", rounds}, {"BESIDE_COPIES", copies}, {"BESIDE_LANES", lanes}, {"BESIDE_PARTS", parts}, {"BESIDE_LANE", lane}, {"BESIDE_AHEAD", ahead}, {"BESIDE_FOLD", fold}, {"BESIDE_RESULTS", results}, {NULL, NULL},
};
