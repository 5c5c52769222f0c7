/* The CUDA target's scans of short columns: what stands in the holes of skeleton/scan_alone.cu. The order is that of docs/architecture.md: what comes before a run is the first one, and behind it those between. */
#include "codegen/cuda.h"

enum { RUN = KRF__SCAN_RUN };

static void carries(krf__emitter *e, krf__str *out) {
    krf__cuda_put_nothing(e, "earliest", out);
    krf__cuda_put_nothing(e, "between", out);
}

/* The text for each element that there is. */
static void put_run(krf__emitter *e, const krf__str *element, krf__str *out) {
    krf__str_printf(out, "#pragma unroll\nfor (int i = 0; i < %d; i++) {\n    const %s p = first + i;\n    if (p < ", RUN, krf__index_type(e));
    krf__cuda_put_reduced_size(e, out);
    krf__str_put(out, ") {\n");
    krf__cuda_put_lines(out, "        ", element->data != NULL ? element->data : "");
    krf__str_put(out, "    }\n}\n");
    out->failed |= element->failed;
}

static void run(krf__emitter *e, krf__str *out) {
    krf__str element = {0};
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s sum%u[%d];\n#pragma unroll\nfor (int i = 0; i < %d; i++) {\n    sum%u[i] = ", krf__reduction_type(e, r), r, RUN, RUN, r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
    krf__cuda_put_scan_value(e, "sum", "i", &element);
    put_run(e, &element, out);
    krf__str_free(&element);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "#pragma unroll\nfor (int i = 1; i < %d; i++) {\n    sum%u[i] = red%u(sum%u[i - 1], sum%u[i]);\n}\nconst %s prefix%u = red%u(earliest%u, between%u);\n", RUN, r, r, r, r,
                        krf__reduction_type(e, r), r, r, r, r);
    }
}

static void store(krf__emitter *e, krf__str *out) {
    krf__str element = {0};
    krf__cuda_put_run_result(e, &element);
    put_run(e, &element, out);
    krf__str_free(&element);
}

static void next(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "if (first > 0) {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    between%u = red%u(between%u, sum%u[%d]);\n", r, r, r, r, RUN - 1);
    }
    krf__str_put(out, "} else {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    earliest%u = sum%u[%d];\n", r, r, RUN - 1);
    }
    krf__str_put(out, "}\n");
}

const krf__hole krf__cuda_scan_alone_holes[] = {
    {"ALONE_CARRIES", carries}, {"ALONE_RUN", run}, {"ALONE_STORE", store}, {"ALONE_NEXT", next}, {NULL, NULL},
};
