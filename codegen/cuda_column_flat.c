/* The CUDA target's columns whose rows follow one another without a gap (plan/flat_columns.c): what stands in the holes of skeleton/column_flat.cu. Element f of a stretch is lane f / C of column f % C, so that the tree
 * over lanes is one over places C apart. */
#include "codegen/cuda.h"

#include <stdio.h>

#define STAGE 8 /* lanes that a thread folds before all threads meet */

static int vectors(const krf__emitter *e) { return krf__flat_vectors(e->k); }
static int steps(const krf__emitter *e) { return e->k->flat_steps; }

/* Elements of a thread lie as far apart in shared memory as there are threads, and a bit. */
static int apart(const krf__emitter *e) { return krf__flat_shared(e->k) / e->k->vector; }

static void put_vectors(krf__emitter *e, krf__str *out) { krf__str_i64(out, vectors(e)); }
static void put_steps(krf__emitter *e, krf__str *out) { krf__str_i64(out, steps(e)); }
static void put_together(krf__emitter *e, krf__str *out) { krf__str_i64(out, steps(e) * vectors(e)); }
static void totals(krf__emitter *e, krf__str *out) { krf__cuda_put_column_arrays(e, "all", 1, true, out); }

static void put_shared(krf__emitter *e, uint32_t r, const char *element, krf__str *out) {
    krf__str_printf(out, "shared%u[threadIdx.y * %d + (unsigned)(%s) %% %d * %d + (unsigned)(%s) / %d]", r, krf__flat_shared(e->k), element, e->k->vector, apart(e), element, e->k->vector);
}

static void found(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int g = 0; g < %d; g++) {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        const int f = (g * %d + threadIdx.x) * %d + k;\n        if (threadIdx.y == 0 && f < (int)gridDim.y * kept) {\n", vectors(e), e->k->vector, e->k->abreast, e->k->vector);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "            acc%u[g * %d + k] = red%u(acc%u[g * %d + k], ", r, e->k->vector, r, r, e->k->vector);
        krf__cuda_put_column_partial(e, r, true, NULL, out);
        krf__str_put(out, ");\n");
    }
    krf__str_put(out, "        }\n    }\n}\n");
}

static bool is_vector(const krf__emitter *e, uint32_t operand) { return krf__cuda_in_domain(e, operand, KRF__load) && krf__cuda_vectored(e, operand); }

static void put_declared(krf__emitter *e, const char *of, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_vector(e, i)) {
            krf__cuda_put_union(e, i, out);
            krf__str_printf(out, "%s[%d];\n", of, steps(e) * vectors(e));
        }
    }
}

static void declared(krf__emitter *e, krf__str *out) { put_declared(e, "", out); }
static void declared_next(krf__emitter *e, krf__str *out) { put_declared(e, "_next", out); }

static void move(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int g = 0; g < %d; g++) {\n", steps(e) * vectors(e));
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (is_vector(e, i)) {
            krf__str_printf(out, "    v_%s[g].word = v_%s_next[g].word;\n", e->operand_names[i], e->operand_names[i]);
        }
    }
    krf__str_put(out, "}\n");
}

/* Loads of a turn: all of them, or those that are there, of which the last vector may hang over the end. */
static void put_loads(krf__emitter *e, bool all, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (!is_vector(e, i)) {
            continue;
        }
        if (all || e->k->whole) {
            krf__str_put(out, all ? "" : "if (i < end) {\n    ");
            krf__cuda_put_held_load(e, i, "_next[g]", " + i", false, out);
            krf__str_put(out, all ? "" : "}\n");
        } else {
            krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    if (i + k < end) {\n        v_%s_next[g].at[k] = a.%s[i + k];\n    }\n}\n", e->k->vector, name, name);
        }
    }
}

static void all_loads(krf__emitter *e, krf__str *out) { put_loads(e, true, out); }
static void last_loads(krf__emitter *e, krf__str *out) { put_loads(e, false, out); }

static void valid(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->whole ? "true" : "i + k < end"); }

/* Whether something does not lie as the stretch does, so that it matters which row and column an element is of. */
static bool needs_places(const krf__emitter *e) {
    bool any = false;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        any |= krf__cuda_in_domain(e, i, KRF__load) && !krf__cuda_vectored(e, i);
    }
    return any;
}

/* Where a vector begins: of the places of its elements compilers would have each in a register. */
static void row(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    if (needs_places(e)) {
        krf__str_printf(out, "const %s row = (unsigned %s)i / n0, column = i - row * n0;\n", type, type);
    }
}

/* Beyond the last row an element is in its vector's first. */
static void place(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    if (!needs_places(e)) {
        return;
    }
    if (e->k->vector <= e->k->kept_size) {
        krf__str_printf(out, "const bool beyond = column + k >= n0;\nconst %s o = beyond ? column + k - n0 : column + k, p = valid && beyond ? row + 1 : row;\n", type);
    } else {
        krf__str_printf(out, "const %s o = (column + k) %% n0, p = valid ? row + (column + k) / n0 : row;\n", type);
    }
    krf__emit_position(e, KRF__PART_KEPT, "o", out);
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
}

/* The tree over a thread's own lanes. */
static void halves(krf__emitter *e, krf__str *out) {
    const int v = e->k->vector;
    for (int n = vectors(e) / 2; n > 0; n /= 2) {
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", n * v);
        for (uint32_t r = 0; r < e->k->n_reductions; r++) {
            krf__str_printf(out, "    acc%u[k] = red%u(acc%u[k], acc%u[%d + k]);\n", r, r, r, r, n * v);
        }
        krf__str_put(out, "}\n");
    }
}

static void put(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", e->k->vector);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    shared%u[threadIdx.y * %d + k * %d + threadIdx.x] = acc%u[k];\n", r, krf__flat_shared(e->k), apart(e), r);
    }
    krf__str_put(out, "}\n");
}

/* So many lanes of each column, `of` of which a thread folds, are left as one. It reads nothing that others write. */
static void put_stage(krf__emitter *e, int lanes, int of, krf__str *out) {
    krf__str_printf(out, "__syncthreads();\n#pragma unroll 1\nfor (int f = threadIdx.x; f < %d * n0; f += %d) {\n", lanes / of, e->k->abreast);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        for (int j = 0; j < of; j++) {
            char element[48];
            snprintf(element, sizeof element, "f + %d * n0", j * (lanes / of));
            krf__str_printf(out, "    %s l%u_%d = ", type, r, j);
            put_shared(e, r, element, out);
            krf__str_put(out, ";\n");
        }
        for (int half = of / 2; half > 0; half /= 2) {
            for (int j = 0; j < half; j++) {
                krf__str_printf(out, "    l%u_%d = red%u(l%u_%d, l%u_%d);\n", r, j, r, r, j, r, j + half);
            }
        }
        krf__str_put(out, "    ");
        put_shared(e, r, "f", out);
        krf__str_printf(out, " = l%u_0;\n", r);
    }
    krf__str_put(out, "}\n");
}

static void tree(krf__emitter *e, krf__str *out) {
    for (int lanes = KRF__LANES / vectors(e); lanes > 1; lanes /= lanes < STAGE ? lanes : STAGE) {
        put_stage(e, lanes, lanes < STAGE ? lanes : STAGE, out);
    }
}

static void fold(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "{\n    const %s part = shared%u[team * %d + at %% %d * %d + at / %d];\n    all%u[0] = again ? part : red%u(all%u[0], part);\n}\n", krf__reduction_type(e, r), r, krf__flat_shared(e->k), e->k->vector, apart(e), e->k->vector, r, r, r);
    }
}

static void clear(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", vectors(e) * e->k->vector);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    acc%u[k] = ", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
    krf__str_put(out, "}\n");
}

static void bounds(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_flat_bounds", out); }
static void load_loops(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_flat_load", out); }
static void load(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, load_loops, out); }
static void element_loops(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "column_flat_elements", out); }
static void elements(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, element_loops, out); }

const krf__hole krf__cuda_column_flat_holes[] = {
    {"FLAT_VECTORS", put_vectors}, {"FLAT_STEPS", put_steps}, {"FLAT_TOGETHER", put_together}, {"FLAT_TOTALS", totals}, {"FLAT_FOUND", found}, {"FLAT_DECLARED", declared}, {"FLAT_DECLARED_NEXT", declared_next}, {"FLAT_BOUNDS", bounds},
    {"FLAT_LOAD", load}, {"FLAT_ALL_LOADS", all_loads}, {"FLAT_LAST_LOADS", last_loads}, {"FLAT_ELEMENTS", elements}, {"FLAT_VALID", valid}, {"FLAT_ROW", row}, {"FLAT_PLACE", place}, {"FLAT_HALVES", halves}, {"FLAT_PUT", put}, {"FLAT_TREE", tree}, {"FLAT_FOLD", fold}, {"FLAT_CLEAR", clear}, {"FLAT_MOVE", move}, {NULL, NULL},
};
