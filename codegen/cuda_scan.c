/* The CUDA target's scans: what stands in the holes of skeleton/scan.cu. The order is that of docs/architecture.md. */
#include "codegen/cuda.h"

static const char *type_of(const krf__emitter *e, uint32_t r) { return krf__c_type(krf__reduction(e, r)->dtype); }

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s tile%u[2304], warps%u[8];\n", type_of(e, r), r, r);
    }
}

static void carries(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s carry%u = ", type_of(e, r), r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

static void element(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    e->mode = 3;
    krf__cuda_put_statements(e, 0, k->n_domain, "", out);
    e->mode = 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "tile%u[at + at / 8] = ", r);
        krf__emit_value(e, krf__reduction(e, r)->args[0], out);
        krf__str_put(out, ";\n");
    }
}

static void nothing(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "tile%u[at + at / 8] = ", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

static void runs(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = type_of(e, r);
        krf__str value = {0};
        krf__str_printf(&value, "sum%u", r);
        krf__str_printf(out, "%s run%u[8];\nrun%u[0] = tile%u[9 * run];\n#pragma unroll\nfor (int i = 1; i < 8; i++) {\n", type, r, r, r);
        krf__str_printf(out, "    run%u[i] = red%u(run%u[i - 1], tile%u[9 * run + i]);\n}\n%s sum%u = run%u[7];\n", r, r, r, r, type, r, r);
        krf__str_printf(out, "#pragma unroll\nfor (int s = 1; s < 32; s *= 2) {\n    const %s left = ", type);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "s", out);
        krf__str_printf(out, ";\n    sum%u = lane + s < 32 ? red%u(left, sum%u) : sum%u;\n}\n%s before%u = ", r, r, r, r, type, r);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "1", out);
        krf__str_printf(out, ";\nif (lane == 31) {\n    before%u = ", r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\n}\nif (lane == 0) {\n    warps%u[warp] = sum%u;\n}\n", r, r);
        out->failed |= value.failed;
        krf__str_free(&value);
    }
}

static void prefixes(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s all%u = ", type_of(e, r), r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ", left%u = all%u;\n#pragma unroll\nfor (int w = 0; w < 8; w++) {\n", r, r);
        krf__str_printf(out, "    left%u = w == warp ? all%u : left%u;\n    all%u = red%u(all%u, warps%u[w]);\n}\n", r, r, r, r, r, r, r);
        krf__str_printf(out, "before%u = red%u(carry%u, red%u(left%u, before%u));\n", r, r, r, r, r, r);
        krf__str_printf(out, "#pragma unroll\nfor (int i = 0; i < 8; i++) {\n    tile%u[9 * run + i] = red%u(before%u, run%u[i]);\n}\n", r, r, r, r);
        krf__str_printf(out, "carry%u = red%u(carry%u, all%u);\n", r, r, r, r);
    }
}

static void result(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const uint32_t first = k->n_domain + k->n_reductions;
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = tile%u[at + at / 8];\n", type_of(e, r), k->n_domain + r, r);
    }
    e->mode = 3;
    krf__cuda_put_statements(e, first, k->n_instrs, "", out);
    e->mode = 0;
    for (uint32_t i = first; i < k->n_instrs; i++) {
        const krf__instr *s = &k->instrs[i];
        if (s->op == KRF__store) {
            krf__str_printf(out, "a.%s[0", e->operand_names[s->slot]);
            krf__cuda_put_offset(e, s->slot, true, out);
            krf__str_put(out, "] = ");
            krf__emit_stored(e, s->args[0], (krf_dtype)s->dtype, out);
            krf__str_put(out, ";\n");
        }
    }
}

const krf__hole krf__cuda_scan_holes[] = {
    {"SCAN_SHARED", shared}, {"SCAN_CARRIES", carries},   {"SCAN_ELEMENT", element}, {"SCAN_NOTHING", nothing},
    {"SCAN_RUNS", runs},     {"SCAN_PREFIXES", prefixes}, {"SCAN_RESULT", result},   {NULL, NULL},
};
