/* The CUDA target's long bodies under reductions by warps: what stands in the holes of skeleton/warp_passes.cu. */
#include "codegen/cuda.h"

bool krf__cuda_passes(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    bool long_body = (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW) && k->vector <= 2 && krf__costly_domain(e);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        long_body &= k->instrs[i].op != KRF__store;
    }
    return long_body;
}

static void start(krf__emitter *e, krf__str *out) {
    const int V = e->k->vector;
    krf__str_printf(out, "const int V = %d;\n", V);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__cuda_accumulator_type(e, r);
        krf__str_printf(out, "%s acc%u[%d]", type, r, V);
        for (int level = 0; 1 << level < krf__lane_vectors(e->k); level++) {
            krf__str_printf(out, ", level%d_%u[%d]", level, r, V);
        }
        krf__str_put(out, ";\n");
    }
}

static void passes(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__lane_vectors(e->k)); }

static void pass(krf__emitter *e, krf__str *out) {
    const int n = krf__lane_vectors(e->k);
    krf__str_put(out, n == 8 ? "(turn >> 2 & 1) | (turn & 2) | (turn & 1) << 2" : n == 4 ? "turn >> 1 | (turn & 1) << 1" : "turn");
}

static void identity(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    acc%u[k] = ", e->k->vector, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

/* What a pass found joins that of the pass before it, where its number says so; else it waits for the next. */
static void fold(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", e->k->vector);
        for (int level = 0; 1 << level < krf__lane_vectors(e->k); level++) {
            krf__str_printf(out, "    if ((turn & %d) == %d) {\n        level%d_%u[k] = acc%u[k];\n    } else if ((turn & %d) == %d) {\n", 2 * (1 << level) - 1,
                            (1 << level) - 1, level, r, r, 2 * (1 << level) - 1, 2 * (1 << level) - 1);
            krf__str_printf(out, "        acc%u[k] = red%u(level%d_%u[k], acc%u[k]);\n    }\n", r, e->reduction + r, level, r, r);
        }
        krf__str_put(out, "}\n");
    }
}

static void tree(krf__emitter *e, krf__str *out) { krf__cuda_put_tree(e, e->k->vector, "16", out); }

const krf__hole krf__cuda_pass_holes[] = {
    {"PASS_START", start}, {"PASSES", passes}, {"PASS", pass}, {"PASS_IDENTITY", identity}, {"PASS_FOLD", fold}, {"PASS_TREE", tree}, {NULL, NULL},
};
