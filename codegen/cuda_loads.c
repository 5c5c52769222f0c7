/* The CUDA target's loads of reductions and of rows: when each of the vectors is loaded that a thread has. */
#include "codegen/cuda.h"

#include <stdio.h>
#include <string.h>

/* Where warps share a chunk a thread has one vector of a tile, and the next one under way while it computes with that. */
static bool goes_ahead(const krf__emitter *e) { return e->k->team > 1 && krf__costly_domain(e->k); }

/* How far an element lies from an operand's first. The distance of a short row is computed once: its vectors are many for the little that is done with them. */
static void put_distance(krf__emitter *e, uint32_t operand, krf__str *declaration, krf__str *load) {
    if (krf__short_rows(e->k)) {
        krf__str_printf(declaration, "const %s row_%s = 0", krf__index_type(e), e->operand_names[operand]);
        krf__emit_offset(e, operand, KRF__PART_KEPT, -1, declaration);
        krf__str_put(declaration, ";\n");
        krf__str_printf(load, " + (row_%s", e->operand_names[operand]);
        krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, load);
        krf__str_put(load, ")");
    } else if (krf__cuda_walks(e)) {
        krf__cuda_put_walk(e, operand, declaration);
        krf__str_printf(load, " + (side_%s + ", e->operand_names[operand]);
        krf__cuda_put_vector_of_all(e, load);
        krf__str_printf(load, " * step_%s)", e->operand_names[operand]);
    } else {
        krf__cuda_put_offset(e, operand, true, load);
    }
}

static void put_load(krf__emitter *e, uint32_t operand, krf__str *declaration, krf__str *load) {
    krf__str distance = {0};
    if (e->k->operands[operand].record != 0) {
        if (e->k->operands[operand].record == operand + 1) {
            put_distance(e, operand, declaration, &distance);
            krf__cuda_put_held_records(e, operand, krf__cuda_quads(e), distance.data != NULL ? distance.data : "", declaration, load);
        }
        load->failed |= distance.failed;
        krf__str_free(&distance);
        return;
    }
    krf__cuda_put_held(e, operand, krf__cuda_quads(e) + (goes_ahead(e) ? 1 : 0), " = {}", declaration);
    if (e->kernel->n_rounds > 0 && krf__cuda_keeps_wide(e, operand)) {
        if (e->k->vector > 1) {
            krf__str_printf(declaration, "struct { float at[%d]; } w_%s[%d];\n", e->k->vector, e->operand_names[operand], krf__cuda_quads(e));
        } else {
            krf__str_printf(declaration, "float w_%s[%d];\n", e->operand_names[operand], krf__cuda_quads(e));
        }
    }
    if (e->k->operands[operand].held) {
        krf__str_printf(load, e->k->vector > 1 ? "v_%s[q].word = " : "v_%s[q] = ", e->operand_names[operand]);
        krf__cuda_put_held_element(e, operand, e->quad, load);
        krf__str_put(load, ";\n");
        return;
    }
    if (e->k->operands[operand].staged) {
        krf__str_printf(load, "v_%s[q]%s = ", e->operand_names[operand], krf__cuda_as_word(e, operand));
        krf__cuda_put_staged(e, operand, load);
        krf__str_put(load, ";\n");
        return;
    }
    if (krf__cuda_has_row(e, operand)) {
        krf__str_printf(declaration, "const %s *from_%s = krf_at_hand(a.%s", krf__storage_type(e->k->operands[operand].dtype), e->operand_names[operand], e->operand_names[operand]);
        krf__emit_offset(e, operand, KRF__PART_KEPT, -1, declaration);
        krf__str_put(declaration, ");\n");
        krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, &distance);
    } else {
        put_distance(e, operand, declaration, &distance);
    }
    char index[16];
    snprintf(index, sizeof index, "[%s]", e->quad);
    krf__cuda_put_held_load(e, operand, index, distance.data != NULL ? distance.data : "", e->k->outer || e->k->lines > 1 || (e->kernel->n_rounds > 0 && krf__shared_by_rows(e->k, &e->k->operands[operand])), load);
    load->failed |= distance.failed;
    krf__str_free(&distance);
}

static void put_each(krf__emitter *e, bool (*wanted)(const krf__emitter *e, uint32_t operand), krf__str *declarations, krf__str *loads) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (wanted(e, i)) {
            put_load(e, i, declarations, loads);
        }
    }
}

/* Whether an operand has one element for a whole tile (krf__kernel.along). */
static bool is_of_tile(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    return e->k->along && !o->gathered && o->strides[e->k->n_kept + e->k->n_reduced - 1] == 0;
}

/* Where element p_q lies, of the tile whose place is at hand by that name. */
static void put_place(krf__emitter *e, const char *tile, krf__str *out) {
    e->tile = e->k->along ? tile : NULL;
    krf__emit_position(e, KRF__PART_REDUCED, "p_q", out);
    e->tile = NULL;
}

/* A loop over the vectors of a tile, and when one is loaded. */
static void put_tile(krf__emitter *e, const char *condition, const char *loads, const char *indent, krf__str *out) {
    krf__str position = {0};
    put_place(e, "tile", &position);
    krf__str_printf(out, "%s#pragma unroll\n%sfor (int q = 0; q < %d; q++) {\n", indent, indent, krf__cuda_quads(e));
    krf__str_printf(out, "%s    ", indent);
    krf__cuda_put_vector_start(e, out);
    krf__str_printf(out, "%s    %s{\n", indent, condition);
    krf__cuda_put_lines(out, indent[0] != '\0' ? "            " : "        ", position.data);
    krf__cuda_put_lines(out, indent[0] != '\0' ? "            " : "        ", loads);
    krf__str_printf(out, "%s    }\n%s}\n", indent, indent);
    out->failed |= position.failed;
    krf__str_free(&position);
}

/* Whether compilers see which vectors are inside. */
static bool known(const krf__emitter *e) { return e->k->once || (krf__literal_chunk(e->k) && krf__cuda_row_stays(e)); }

void krf__cuda_put_whole(krf__emitter *e, krf__str *out) {
    if (known(e) && !e->k->whole) {
        krf__str_put(out, "const bool whole = false;\n");
    } else if (!e->k->whole && !krf__cuda_loops_over_held(e)) {
        krf__str_printf(out, e->k->drifts ? "const bool whole = p >= first && p + %d <= last;\n" : "const bool whole = p + %d <= last;\n", krf__cuda_tile(e));
    }
}

static void valid(krf__emitter *e, krf__str *out) {
    if (e->k->whole) {
        krf__str_put(out, "true");
    } else {
        krf__str_put(out, krf__cuda_loops_over_held(e) ? "p + (" : "whole || p + (");
        krf__cuda_put_vector_number(e, out);
        krf__str_printf(out, e->k->drifts ? ") * %d < last" : " + 1) * %d <= last", e->k->vector);
    }
}

/* Whether all that is loaded lies in shared memory, which has room for whole chunks. */
static bool all_held(const krf__emitter *e, bool (*wanted)(const krf__emitter *e, uint32_t operand)) {
    bool all = true;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        all &= e->k->operands[i].held || !wanted(e, i);
    }
    return all;
}

/* Whole tiles load without a condition on each vector: so all loads are under way at once. */
static void put_tiles(krf__emitter *e, const char *loads, bool anywhere, krf__str *out) {
    krf__str inside = {0};
    if (loads == NULL) {
        return;
    }
    krf__str_printf(&inside, e->k->drifts ? "if (p_q < last) " : "if (p_q + %d <= last) ", e->k->vector);
    const char *condition = inside.data != NULL ? inside.data : "";
    if (e->k->whole || known(e) || anywhere) {
        put_tile(e, e->k->whole || anywhere ? "" : condition, loads, "", out);
    } else {
        krf__str_printf(out, "if (p + %d <= last) {\n", krf__cuda_tile(e));
        put_tile(e, "", loads, "    ", out);
        krf__str_put(out, "} else {\n");
        put_tile(e, condition, loads, "    ", out);
        krf__str_put(out, "}\n");
    }
    out->failed |= inside.failed;
    krf__str_free(&inside);
}

/* All loads of a tile, before the first use. What lies along the row is loaded where it is inside; what is constant there, always. */
void krf__cuda_put_loads(krf__emitter *e, bool (*wanted)(const krf__emitter *e, uint32_t operand), krf__str *out) {
    krf__str loads = {0};
    put_each(e, wanted, out, &loads);
    if (!krf__short_rows(e->k)) {
        put_tiles(e, loads.data, all_held(e, wanted), out);
    } else if (loads.data != NULL) {
        put_tile(e, "if (p_q < last) ", loads.data, "", out);
    }
    out->failed |= loads.failed;
    krf__str_free(&loads);
}

void krf__cuda_put_late_loads(krf__emitter *e, bool (*wanted)(const krf__emitter *e, uint32_t operand), bool declare, const char *quad, krf__str *out) {
    krf__str declarations = {0}, loads = {0}, position = {0};
    e->quad = quad != NULL ? quad : "q";
    put_each(e, wanted, &declarations, &loads);
    krf__str_put(out, declare && declarations.data != NULL ? declarations.data : "");
    if (loads.data != NULL && quad != NULL) {
        krf__emit_position(e, KRF__PART_REDUCED, "p_q", &position);
        if (strcmp(quad, "q") == 0) {
            krf__str_put(out, "if (valid) {\n    ");
        } else {
            krf__str_put(out, "if (");
            krf__cuda_put_vector_of_all(e, out);
            krf__str_printf(out, " < %d && (", krf__cuda_quads(e));
            valid(e, out);
            krf__str_put(out, ")) {\n    ");
        }
        krf__cuda_put_vector_start(e, out);
        krf__cuda_put_lines(out, "    ", position.data);
        krf__cuda_put_lines(out, "    ", loads.data);
        krf__str_put(out, "}\n");
    }
    e->quad = "q";
    out->failed |= declarations.failed || loads.failed || position.failed;
    krf__str_free(&declarations);
    krf__str_free(&loads);
    krf__str_free(&position);
}

static bool in_domain(const krf__emitter *e, uint32_t operand) { return krf__cuda_in_domain(e, operand, KRF__load); }
static bool is_counted(const krf__emitter *e, uint32_t operand) { return e->k->places && e->k->operands[operand].counts; } /* by vectors, not by elements */
static bool in_vectors(const krf__emitter *e, uint32_t operand) { return in_domain(e, operand) && !is_of_tile(e, operand) && !is_counted(e, operand); }
static bool of_tile(const krf__emitter *e, uint32_t operand) { return in_domain(e, operand) && is_of_tile(e, operand); }
static void reduce_loads(krf__emitter *e, krf__str *out) { krf__cuda_put_loads(e, in_vectors, out); }

/* What a tile has one element of. */
static void put_tile_loads(krf__emitter *e, krf__str *out) {
    krf__str loads = {0}, position = {0};
    const char *quad = e->quad;
    e->quad = "0";
    put_each(e, of_tile, out, &loads);
    e->quad = quad;
    if (loads.data != NULL) {
        krf__str_printf(out, "{\n    const %s p_q = p;\n", krf__index_type(e));
        put_place(e, "tile", &position);
        krf__cuda_put_lines(out, "    ", position.data);
        krf__cuda_put_lines(out, "    ", loads.data);
        krf__str_put(out, "}\n");
    }
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (of_tile(e, i)) {
            krf__str_printf(out, "#pragma unroll\nfor (int n = 1; n < %d; n++) {\n    v_%s[n] = v_%s[0];\n}\n", krf__cuda_quads(e), e->operand_names[i], e->operand_names[i]);
        }
    }
    out->failed |= loads.failed || position.failed;
    krf__str_free(&loads);
    krf__str_free(&position);
}

void krf__cuda_put_domain_loads(krf__emitter *e, krf__str *declarations, krf__str *loads) { put_each(e, in_domain, declarations, loads); }

/* Whether a vector's place takes that of the next tile as soon as it has been used, so that loads are always under way. What 64-bit arithmetic uses is free too late
 * for that, and what stores elements as well waits for other things, but where warps share chunks. */
static bool refills(const krf__emitter *e) {
    bool refill = true;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        refill &= krf__sums_narrow(e, r) || krf_dtype_size((krf_dtype)krf__reduction(e, r)->dtype) <= 4;
    }
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        refill &= e->k->instrs[i].op != KRF__store || krf__cuda_goes_by(e);
    }
    return refill;
}

/* Whether a warp that has several chunks of a row loads the next one's while it adds up those of this. Sums of bytes, of which nothing is computed, lose 2 % by that; products with a vector gain 9. */
static bool goes_on(const krf__emitter *e) {
    const bool bytes = krf_dtype_size((krf_dtype)e->k->operands[0].dtype) == 1 && e->k->n_domain <= 2;
    return e->k->schedule == KRF__REDUCE_ROW && e->k->chunks > 1 && e->k->whole && refills(e) && !goes_ahead(e) && !bytes;
}

static void put_tile_place(const krf__emitter *e, krf__str *out) {
    if (e->k->along) {
        krf__emit_tile_place(e, "tile", "p", out);
    }
}

/* No instruction, but ptxas moves no load behind it: it issued three, waited for the first, and then issued the others. */
static void put_loads_end(bool all, krf__str *out) { krf__str_put(out, all ? "__syncwarp();\n" : ""); }

/* Whether a tile's first vectors, or all of them, are loaded before the loop over tiles. */
static bool loads_before(const krf__emitter *e) { return refills(e) || goes_ahead(e) || e->k->relay; }

static void first_loads(krf__emitter *e, krf__str *out) {
    if (loads_before(e) && !goes_on(e)) {
        put_tile_place(e, out);
        reduce_loads(e, out);
        put_loads_end(e->k->once, out);
    }
}

static void row_loads(krf__emitter *e, krf__str *out) {
    if (goes_on(e)) {
        krf__str_printf(out, "const %s p = 0;\n", krf__index_type(e));
        put_tile_place(e, out);
        reduce_loads(e, out);
    }
}

static void put_next_is_there(const krf__emitter *e, krf__str *out) {
    if (goes_on(e)) {
        krf__str_printf(out, "if (p + %d < ", krf__cuda_tile(e));
        krf__cuda_put_reduced_size(e, out);
        krf__str_put(out, ") {\n");
    } else {
        krf__str_printf(out, e->k->whole ? "if (p + %d < last) {\n" : e->k->drifts ? "if (p_q < last) {\n" : "if (p_q + %d <= last) {\n", e->k->whole ? krf__cuda_tile(e) : e->k->vector);
    }
}

bool krf__cuda_loads_tiles(const krf__emitter *e) { return !loads_before(e); }

static void all_loads(krf__emitter *e, krf__str *out) {
    put_tile_place(e, out);
    if (e->k->along && refills(e)) {
        char next[32];
        snprintf(next, sizeof next, "p + %d", krf__cuda_tile(e));
        krf__emit_tile_place(e, "next", next, out);
    }
    put_tile_loads(e, out);
    if (krf__cuda_loads_tiles(e)) {
        reduce_loads(e, out);
        put_loads_end(true, out);
    }
}

/* Vector q of the tile after this one, into place `to`. */
static void put_next(krf__emitter *e, const char *to, krf__str *out) {
    krf__str declarations = {0}, loads = {0}, position = {0};
    const char *quad = e->quad;
    put_place(e, "next", &position);
    e->quad = to;
    put_each(e, in_vectors, &declarations, &loads);
    e->quad = quad;
    if (loads.data != NULL) {
        krf__str_printf(out, "const %s p_q = p + %d + (q * %d + thread) * %d;\n", krf__index_type(e), krf__cuda_tile(e), krf__cuda_together(e), e->k->vector);
        put_next_is_there(e, out);
        krf__cuda_put_lines(out, "    ", position.data);
        krf__cuda_put_lines(out, "    ", loads.data);
        krf__str_put(out, "}\n");
    }
    out->failed |= declarations.failed || loads.failed || position.failed;
    krf__str_free(&declarations);
    krf__str_free(&loads);
    krf__str_free(&position);
}

static void reduce_ahead(krf__emitter *e, krf__str *out) {
    if (goes_ahead(e)) {
        put_next(e, "1", out);
    }
}

/* In the place of this tile's, or moved there. */
static void reduce_next(krf__emitter *e, krf__str *out) {
    if (goes_ahead(e)) {
        for (uint32_t i = 0; i < e->k->n_operands; i++) {
            if (in_domain(e, i)) {
                krf__str_printf(out, "v_%s[0] = v_%s[1];\n", e->operand_names[i], e->operand_names[i]);
            }
        }
    } else if (refills(e) && !e->k->once) {
        put_next(e, "q", out);
    }
}

static void tiles_begin(krf__emitter *e, krf__str *out) {
    if (e->k->once) {
        krf__str_put(out, "{\n");
    } else {
        krf__str_printf(out, "#pragma unroll 1\nfor (; p < last; p += %d) {\n", krf__cuda_tile(e));
    }
}

const krf__hole krf__cuda_load_holes[] = {
    {"TILES_BEGIN", tiles_begin},
    {"REDUCE_FIRST_LOADS", first_loads},
    {"ROW_FIRST_LOADS", row_loads},
    {"TILE_WHOLE", krf__cuda_put_whole},
    {"TILE_VALID", valid},
    {"REDUCE_LOADS", all_loads},
    {"REDUCE_AHEAD", reduce_ahead},
    {"REDUCE_NEXT", reduce_next},
    {NULL, NULL},
};
