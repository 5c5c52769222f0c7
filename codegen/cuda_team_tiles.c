/* The CUDA target's chunks that warps share and go over by whole tiles (krf__kernel.tiles): what stands in the holes of skeleton/team_chunk.cu. Nothing is asked of an element there, and no place is divided to
 * find it (krf__kernel.steps): "column_at" is where the next one lies in its row, "at_in0" how far from an operand's first; both go on by a step, from the end of a row to the next. */
#include "codegen/cuda.h"

static bool has_place(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    return krf__cuda_in_domain(e, operand, KRF__load) && o->beside == 0 && o->places_of == 0;
}

static void put_stride(const krf__emitter *e, uint32_t operand, int d, krf__str *out) {
    const int class_ = krf__stride_class(e->k, &e->k->operands[operand], d);
    if (class_ < 2) {
        krf__str_i64(out, class_);
    } else {
        krf__str_printf(out, "%s_s%d", e->operand_names[operand], d);
    }
}

/* The place of the thread's first element, and steps. */
static void put_first_place(krf__emitter *e, krf__str *out) {
    const int last = e->k->n_kept + e->k->n_reduced - 1;
    const char *type = krf__index_type(e);
    krf__str places = {0};
    krf__emit_position(e, KRF__PART_REDUCED, "(p + thread)", &places);
    krf__str_printf(out, "%s column_at;\n", type);
    krf__str_printf(&places, "column_at = i%d;\n", last);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (!has_place(e, i)) {
            continue;
        }
        krf__str_printf(&places, "at_%s = 0", name);
        krf__emit_offset(e, i, KRF__PART_REDUCED, -1, &places);
        krf__str_put(&places, ";\n");
        krf__str_printf(out, "%s at_%s;\nconst %s step_%s = %d * ", type, name, type, name, krf__cuda_together(e));
        put_stride(e, i, last, out);
        krf__str_printf(out, ", turn_%s = ", name);
        put_stride(e, i, last - 1, out);
        krf__str_printf(out, " - n%d * ", last);
        put_stride(e, i, last, out);
        krf__str_put(out, ";\n");
    }
    krf__str_put(out, "{\n");
    krf__cuda_put_lines(out, "    ", places.data);
    krf__str_put(out, "}\n");
    out->failed |= places.failed;
    krf__str_free(&places);
}

static void put_step(krf__emitter *e, krf__str *out) {
    const int last = e->k->n_kept + e->k->n_reduced - 1;
    krf__str turns = {0};
    krf__str_printf(out, "column_at += %d;\n", krf__cuda_together(e));
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (has_place(e, i)) {
            krf__str_printf(out, "at_%s += step_%s;\n", e->operand_names[i], e->operand_names[i]);
            krf__str_printf(&turns, "    at_%s += turn_%s;\n", e->operand_names[i], e->operand_names[i]);
        }
    }
    krf__str_printf(out, "if (column_at >= n%d) {\n    column_at -= n%d;\n%s}\n", last, last, turns.data != NULL ? turns.data : "");
    out->failed |= turns.failed;
    krf__str_free(&turns);
}

/* Loads of element q of the tile that begins `tile` elements on. */
static void put_loads(krf__emitter *e, const char *loads, int tile, krf__str *out) {
    if (e->k->steps) {
        krf__str_put(out, loads);
        put_step(e, out);
        return;
    }
    krf__str_printf(out, "const %s p_q = p + %d + q * %d + thread;\n", krf__index_type(e), tile, krf__cuda_together(e));
    krf__emit_position(e, KRF__PART_REDUCED, "p_q", out);
    krf__str_put(out, loads);
}

static void put_tile(krf__emitter *e, bool first, krf__str *out) {
    krf__str declarations = {0}, loads = {0}, lines = {0};
    e->stepping = e->k->steps;
    krf__cuda_put_domain_loads(e, &declarations, &loads);
    e->stepping = false;
    krf__str_put(out, first && declarations.data != NULL ? declarations.data : "");
    if (loads.data != NULL) {
        put_loads(e, loads.data, first ? 0 : krf__cuda_tile(e), &lines);
    }
    if (first && e->k->steps) {
        put_first_place(e, out);
    }
    if (first) {
        krf__str_printf(out, "if (p + %d <= last) {\n    #pragma unroll\n    for (int q = 0; q < %d; q++) {\n", krf__cuda_tile(e), krf__cuda_quads(e));
        krf__cuda_put_lines(out, "        ", lines.data != NULL ? lines.data : "");
        krf__str_put(out, "    }\n}\n");
    } else {
        krf__str_put(out, "if (more) {\n");
        krf__cuda_put_lines(out, "    ", lines.data != NULL ? lines.data : "");
        krf__str_put(out, "}\n");
    }
    out->failed |= declarations.failed || loads.failed || lines.failed;
    krf__str_free(&declarations);
    krf__str_free(&loads);
    krf__str_free(&lines);
}

static void first_tile(krf__emitter *e, krf__str *out) { put_tile(e, true, out); }
static void next_tile(krf__emitter *e, krf__str *out) { put_tile(e, false, out); }
static void together(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__cuda_together(e)); }

/* An element that is loaded when it is needed. */
static void rest(krf__emitter *e, krf__str *out) {
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    e->mode = 3;
    krf__cuda_put_statements(e, 0, e->k->n_domain, "", out);
    e->mode = 0;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "acc%u[0] = red%u(acc%u[0], ", r, r, r);
        krf__cuda_put_summand(e, r, out);
        krf__str_put(out, ");\n");
    }
}

const krf__hole krf__cuda_team_tile_holes[] = {{"TILES_FIRST", first_tile}, {"TILES_NEXT", next_tile}, {"TILES_TOGETHER", together}, {"TILES_REST", rest}, {NULL, NULL}};
