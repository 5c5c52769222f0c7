/* The CUDA target's columns whose rows begin anywhere within a word (plan/column_drift.c): what stands in the holes of skeleton/column_drift.cu, and what of a thread's columns is its block's. Where groups of threads meet in
 * shared memory, values lie by columns, as each group has others. */
#include "codegen/cuda.h"

static uint32_t leader(const krf__emitter *e) {
    uint32_t i = 0;
    while (!krf__column_drifts(e->k, i)) {
        i++;
    }
    return i;
}

static void put_tile(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__column_tile(e->k)); }

/* How far within a word the block's columns of row `p` begin. */
static void put_beside(krf__emitter *e, const char *row, krf__str *out) {
    const uint32_t i = leader(e);
    const int bytes = (int)krf_dtype_size((krf_dtype)e->k->operands[i].dtype);
    const char *type = krf__index_type(e);
    krf__str_printf(out, "{\n    const %s o = from, p = %s;\n", type, row);
    krf__emit_position(e, KRF__PART_KEPT, "o", out);
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    krf__str_printf(out, "    beside = (int)(krf_beside<%s>(a.%s", krf__cuda_vector_type(bytes * krf__column_word(e->k)), e->operand_names[i]);
    krf__cuda_put_offset(e, i, true, out);
    krf__str_printf(out, ") / %d);\n}\n", bytes);
}

static void beside(krf__emitter *e, krf__str *out) { put_beside(e, "threadIdx.y", out); }
static void beside_word(krf__emitter *e, krf__str *out) { put_beside(e, "(int)threadIdx.y + down", out); }

const char *krf__cuda_column_at(const krf__emitter *e) { return e->k->drifts ? "inside ? at : from - beside" : "at"; }
void krf__cuda_put_column_own(const krf__emitter *e, bool begins, krf__str *out) {
    if (e->k->drifts) {
        krf__str_put(out, begins ? "if (at + k >= from && at + k < until) {\n" : "}\n");
    }
}

void krf__cuda_put_column_ends(const krf__emitter *e, uint32_t operand, krf__str *out) {
    for (int n = 0; n < 2; n++) {
        krf__str_printf(out, "a.%s", e->operand_names[operand]);
        krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, out);
        krf__str_put(out, n == 0 ? ", " : " + n0");
    }
}

void krf__cuda_put_column_apart(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *type = krf__index_type(e), *name = e->operand_names[operand];
    krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    const %s o = at + k < from ? from : at + k < until ? at + k : until - 1;\n", e->k->vector, type);
    krf__emit_position(e, KRF__PART_KEPT, "o", out);
    krf__str_printf(out, "    v_%s[g].at[k] = a.%s[0", name, name);
    krf__cuda_put_offset(e, operand, true, out);
    krf__str_put(out, "];\n}\n");
}

int krf__cuda_column_shared(const krf__emitter *e) { return krf__column_edge(e->k) * krf__column_groups(e->k) * e->k->vector; }

/* Of column `at + k`, of the threads n groups further down. */
static void put_shared(const krf__emitter *e, uint32_t r, bool below, krf__str *out) {
    const int v = e->k->vector, edge = krf__column_edge(e->k);
    krf__str_printf(out, "shared%u[((edge + k) %% %d * %d + threadIdx.y%s) * %d + (edge + k) / %d]", r, v, krf__column_groups(e->k), below ? " + n" : "", edge, v);
}

void krf__cuda_put_drifting_tree(const krf__emitter *e, krf__str *out) {
    const int v = e->k->vector;
    krf__str_printf(out, "const unsigned edge = (unsigned)(at - from + %d);\n__syncthreads();\n#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", krf__column_word(e->k), v);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_put(out, "    ");
        put_shared(e, r, false, out);
        krf__str_printf(out, " = part%u[k];\n", r);
    }
    krf__str_printf(out, "}\n#pragma unroll 1\nfor (int n = %d; n > 0; n /= 2) {\n    __syncthreads();\n    if ((int)threadIdx.y < n) {\n        #pragma unroll\n        for (int k = 0; k < %d; k++) {\n", krf__column_groups(e->k) / 2, v);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_put(out, "            ");
        put_shared(e, r, false, out);
        krf__str_printf(out, " = part%u[k] = red%u(part%u[k], ", r, r, r);
        put_shared(e, r, true, out);
        krf__str_put(out, ");\n");
    }
    krf__str_put(out, "        }\n    }\n}\n");
}

const krf__hole krf__cuda_column_drift_holes[] = {
    {"COLUMN_TILE", put_tile}, {"COLUMN_BESIDE", beside}, {"COLUMN_WORD_BESIDE", beside_word}, {NULL, NULL},
};
