/* The CUDA target's maps by strips: what stands in the holes of skeleton/tile_strip.cu. Operands whose rows another one reads too (krf__operand.rows_of) have none of their own. */
#include "codegen/cuda.h"

static int last_of(const krf__emitter *e) { return e->k->n_kept - 1; }

static void put_strip(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->strip); }

enum { NONE = -100 }; /* fewer elements than rows are ever needed for */

/* The thread's first element, and how many of its strip there are. */
static void place(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    const int last = last_of(e), d = e->k->tile;
    krf__str_printf(out, "const %s i%d = first%d + x, top = first%d + y * %d;\n", type, last, last, d, e->k->strip);
    krf__str_printf(out, "const %s left = i%d < n%d ? n%d - top : %d;\n", type, last, last, d, NONE);
}

static bool has_rows(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    return !o->store && !o->counts && o->rows_of == 0;
}

static void put_walk(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand];
    const int class_ = krf__stride_class(e->k, o, e->k->tile);
    krf__str_printf(out, "%s%s *at_%s = &", o->store ? "" : "const ", krf__storage_type(o->dtype), name);
    krf__cuda_put_tile_address(e, operand, out);
    krf__str_put(out, ";\n");
    if (class_ >= 2) {
        krf__str_printf(out, "const long long step_%s = %s_s%d;\n", name, name, e->k->tile);
    } else {
        krf__str_printf(out, "const long long step_%s = %d;\n", name, class_);
    }
}

/* Rows beyond the last element are there as far as that needs them. */
static void loads(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (has_rows(k, i)) {
            const int n = k->operands[i].strides[k->tile] == 0 ? 1 : k->strip + krf__strip_span(k, i);
            krf__str_printf(out, "%s v_%s[%d];\n", krf__storage_type(k->operands[i].dtype), e->operand_names[i], n);
        }
    }
    krf__str_printf(out, "{\n    const %s i%d = top;\n", krf__index_type(e), k->tile);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (has_rows(k, i)) {
            krf__str walk = {0};
            put_walk(e, i, &walk);
            krf__cuda_put_lines(out, "    ", walk.data);
            out->failed |= walk.failed;
            krf__str_free(&walk);
        }
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__storage_type(k->operands[i].dtype);
        if (has_rows(k, i) && k->operands[i].strides[k->tile] == 0) {
            krf__str_printf(out, "    v_%s[0] = left > 0 ? *at_%s : (%s)0;\n", name, name, type);
        } else if (has_rows(k, i)) {
            const int span = krf__strip_span(k, i);
            krf__str_printf(out, "    #pragma unroll\n    for (int q = 0; q < %d; q++) {\n        v_%s[q] = q < left + %d ? *at_%s : (%s)0;\n        at_%s += step_%s;\n    }\n",
                            k->strip + span, name, span, name, type, name, name);
        }
    }
    krf__str_put(out, "}\n");
}

static void walks(krf__emitter *e, krf__str *out) {
    krf__str stores = {0};
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].store) {
            krf__str address = {0};
            krf__str_printf(out, "%s *at_%s;\n", krf__storage_type(e->k->operands[i].dtype), e->operand_names[i]);
            krf__cuda_put_tile_address(e, i, &address);
            krf__str_printf(&stores, "    at_%s = &%s;\n", e->operand_names[i], address.data != NULL ? address.data : "");
            out->failed |= address.failed;
            krf__str_free(&address);
        }
    }
    krf__str_printf(out, "{\n    const %s i%d = top;\n", krf__index_type(e), e->k->tile);
    krf__str_put(out, stores.data != NULL ? stores.data : "");
    krf__str_put(out, "}\n");
    out->failed |= stores.failed;
    krf__str_free(&stores);
}

static void element(krf__emitter *e, krf__str *out) { krf__str_printf(out, "const %s i%d = top + q;\n", krf__index_type(e), e->k->tile); }

void krf__cuda_put_strip_load(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const uint32_t rows = o->rows_of != 0 ? (uint32_t)(o->rows_of - 1) : operand;
    if (o->strides[e->k->tile] == 0) {
        krf__str_printf(out, "v_%s[0]", e->operand_names[rows]);
    } else {
        krf__str_printf(out, "v_%s[q + %d]", e->operand_names[rows], o->row);
    }
}

const krf__hole krf__cuda_strip_holes[] = {
    {"STRIP", put_strip}, {"STRIP_PLACE", place}, {"STRIP_LOADS", loads}, {"STRIP_WALKS", walks}, {"STRIP_ELEMENT", element}, {NULL, NULL},
};
