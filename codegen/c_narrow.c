/* The C target's results in short rows. Strips are of results that follow one another, over the ends of rows. An operand whose elements do not is laid out in a tile: row by row for each
 * strip, or once, where all rows of a map are the same. */
#include "codegen/emitter.h"

static void map_loop(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->narrow ? "map_narrow" : "map_runs", out); }

/* Whether what is laid out are places: of what counts their numbers, of what is gathered how far they lie from the first. */
static bool of_places(const krf__emitter *e, uint32_t operand) { return e->k->operands[operand].counts || e->k->operands[operand].gathered; }

static const char *type_of(const krf__emitter *e, uint32_t operand) { return of_places(e, operand) ? "long long" : krf__storage_type(e->k->operands[operand].dtype); }

static krf__narrow_place place_of(const krf__emitter *e, uint32_t operand) { return krf__narrow_place_of(e->k, &e->k->operands[operand]); }

/* Whether that happens once. */
static bool once(const krf__emitter *e, uint32_t operand) { return krf__is_map(e->k) && place_of(e, operand) == KRF__NARROW_PERIOD; }

/* " * in0_s1", of a stride that is not known. */
static void put_stride(const krf__emitter *e, uint32_t operand, int dim, krf__str *out) {
    if (krf__stride_class(e->k, &e->k->operands[operand], dim) >= 2) {
        krf__str_printf(out, " * %s_s%d", e->operand_names[operand], dim);
    }
}

static void tiles(krf__emitter *e, krf__str *out) {
    const int fast = e->k->n_kept - 1, strip = krf__c_strip_length(e);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (!krf__c_laid_out(e, i)) {
            continue;
        }
        krf__str_printf(out, "_Alignas(64) %s tile_%s[%d];\n", type_of(e, i), name, strip + 2 * KRF__NARROW_SLACK);
        if (once(e, i)) {
            const krf__operand *o = &e->k->operands[i];
            krf__str_printf(out, "for (int k = 0, c = 0; k < %d + n%d; k++) {\n    tile_%s[%d + k] = ", strip, fast, name, KRF__NARROW_SLACK);
            krf__str_printf(out, o->counts ? "a->%s + c" : o->gathered ? "c" : "a->%s[c", name);
            put_stride(e, i, fast, out);
            krf__str_printf(out, "%s;\n    c = c + 1 < n%d ? c + 1 : 0;\n}\n", of_places(e, i) ? "" : "]", fast);
        }
    }
    krf__c_put_periods(e, out);
}

/* From a row to the next one, in dimension d or, behind its last one, in those around it. */
static void put_next(const krf__emitter *e, uint32_t operand, int d, krf__str *out) {
    const bool moves = krf__stride_class(e->k, &e->k->operands[operand], d) != 0;
    if (moves) {
        krf__str_put(out, "row += 1");
        put_stride(e, operand, d, out);
        krf__str_put(out, ";\n");
    }
    if (d == 0) {
        return;
    }
    krf__str_printf(out, "if (++at%d == n%d) {\n    at%d = 0;\n", d, d, d);
    if (moves) {
        krf__str_printf(out, "    row -= (long long)n%d", d);
        put_stride(e, operand, d, out);
        krf__str_put(out, ";\n");
    }
    put_next(e, operand, d - 1, out);
    krf__str_put(out, "}\n");
}

static void put_row(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const int fast = e->k->n_kept - 1, bytes = (int)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype);
    const int class_ = krf__stride_class(e->k, &e->k->operands[operand], fast);
    if (of_places(e, operand)) {
        krf__str_printf(out, "for (int c = 0; c < n%d; c++) {\n    to[c] = row", fast);
        krf__str_put(out, class_ == 0 ? "" : " + c");
        put_stride(e, operand, fast, out);
        krf__str_put(out, ";\n}\n");
    } else if (class_ == 0) {
        krf__str_printf(out, "krf_fill_row_%d(to, row, n%d);\n", bytes, fast);
    } else if (class_ == 1) {
        krf__str_printf(out, "krf_copy_row(to, row, n%d * %d);\n", fast, bytes);
    } else {
        krf__str_printf(out, "for (int c = 0; c < n%d; c++) {\n    to[c] = row[c", fast);
        put_stride(e, operand, fast, out);
        krf__str_put(out, "];\n}\n");
    }
}

static void rows(krf__emitter *e, krf__str *out) {
    const int fast = e->k->n_kept - 1;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = type_of(e, i);
        if (!krf__c_laid_out(e, i) || once(e, i)) {
            continue;
        }
        if (of_places(e, i)) {
            krf__str_printf(out, e->k->operands[i].counts ? "{\nlong long row = a->%s" : "{\nlong long row = 0", name);
        } else {
            krf__str_printf(out, "{\nconst %s *row = a->%s", type, name);
        }
        krf__emit_offset(e, i, KRF__PART_KEPT, fast, out);
        krf__emit_offset(e, i, KRF__PART_REDUCED, -1, out);
        krf__str_put(out, ";\n");
        for (int d = 1; d < fast; d++) {
            krf__str_printf(out, "long long at%d = i%d;\n", d, d);
        }
        krf__str_printf(out, "for (int t = -(int)i%d; t < m; t += (int)n%d) {\n%s *const to = tile_%s + %d + t;\n", fast, fast, type, name, KRF__NARROW_SLACK);
        krf__str_put(out, of_places(e, i) ? "" : "__builtin_prefetch((const char *)row + 1024);\n");
        put_row(e, i, out);
        put_next(e, i, fast - 1, out);
        krf__str_put(out, "}\n}\n");
    }
    krf__c_put_period_pointers(e, out);
}

/* How many results are left of those that follow one another: all of a strip, or of a row. */
static void left(krf__emitter *e, krf__str *out) {
    const int fast = krf__c_fast_dim(e);
    krf__str_printf(out, e->k->narrow ? "%d" : "n%d - i%d", e->k->narrow ? krf__c_strip_length(e) : fast, fast);
}

void krf__c_put_narrow_pointer(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand];
    const int fast = e->k->n_kept - 1;
    if (krf__c_laid_out(e, operand)) {
        krf__str_printf(out, "const %s *const p_%s = tile_%s + %d", type_of(e, operand), name, name, KRF__NARROW_SLACK);
    } else if (o->counts) {
        krf__str_printf(out, "const long long p_%s = a->%s", name, name);
    } else {
        krf__str_printf(out, "%s%s *const p_%s = a->%s", o->store ? "" : "const ", krf__storage_type(o->dtype), name, name);
    }
    if (once(e, operand)) {
        krf__str_printf(out, " + i%d", fast);
    } else if (!krf__c_laid_out(e, operand)) {
        krf__c_put_narrow_offset(e, operand, krf__is_map(e->k) ? "i" : "o", out);
        krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, out);
    }
    krf__str_put(out, ";\n");
}

const krf__hole krf__c_narrow_holes[] = {{"MAP_LOOP", map_loop}, {"ROW_LEFT", left}, {"NARROW_TILES", tiles}, {"NARROW_ROWS", rows}, {NULL, NULL}};
