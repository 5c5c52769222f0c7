/* What stands in the holes that the skeletons of both targets have. */
#include "codegen/emitter.h"

static void name(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->name); }
static void index_type(krf__emitter *e, krf__str *out) { krf__str_put(out, krf__index_type(e)); }
static void vector(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->vector); }

static void header(krf__emitter *e, krf__str *out) {
    krf__emit_arguments(e, out);
    krf__emit_rounds(e, krf__emit_combine_functions, out);
}

/* The product of a part's extents, in the index type. */
static void size_of_part(int first, int n, krf__str *out) {
    krf__str_put(out, n > 1 ? "(" : "");
    for (int d = first; d < first + n; d++) {
        krf__str_printf(out, "%sn%d", d > first ? " * " : "", d);
    }
    krf__str_put(out, n > 1 ? ")" : "");
}
static void kept_size(krf__emitter *e, krf__str *out) { size_of_part(0, e->k->n_kept, out); }
static void reduced_size(krf__emitter *e, krf__str *out) { size_of_part(e->k->n_kept, e->k->n_reduced, out); }

const krf__hole krf__common_holes[] = {
    {"NAME", name},           {"INDEX", index_type},           {"VECTOR", vector}, {"HEADER", header}, {"EXTENTS", krf__emit_extents},
    {"KEPT_SIZE", kept_size}, {"REDUCED_SIZE", reduced_size}, {NULL, NULL},
};
