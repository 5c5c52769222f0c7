/* The CUDA target's maps by strips: what stands in the holes of skeleton/tile_strip.cu. Operands whose rows another one reads too (krf__operand.rows_of) have none of their own. */
#include "codegen/cuda.h"

#include <stdio.h>
#include <string.h>

static int last_of(const krf__emitter *e) { return e->k->n_kept - 1; }

static void put_strip(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->strip); }

/* A thread's place in its block. */
static void thread(krf__emitter *e, krf__str *out) {
    const int side = krf__tile_side(e->k) / e->k->vector, down = krf__tile_down(e->k) / e->k->strip;
    if (e->k->layer == 0) {
        krf__str_printf(out, "const int x = threadIdx.x %% %d, y = threadIdx.x / %d;\n", side, side);
    } else {
        krf__str_printf(out, "const int x = threadIdx.x %% %d, y = threadIdx.x / %d %% %d, z = threadIdx.x / %d;\n", side, side, down, side * down);
    }
}

enum { NONE = -100 }; /* fewer elements than rows are ever needed for */

/* The thread's first element, and how many of its strip there are. */
static void place(krf__emitter *e, krf__str *out) {
    const char *type = krf__index_type(e);
    const int last = last_of(e), d = e->k->tile;
    char times[16] = "";
    if (e->k->vector > 1) {
        snprintf(times, sizeof times, " * %d", e->k->vector);
    }
    krf__str_printf(out, "const %s i%d = first%d + x%s, top = first%d + y * %d;\n", type, last, last, times, d, e->k->strip);
    krf__str_printf(out, "const %s left = i%d < n%d", type, last, last);
    if (e->k->layer > 0) {
        krf__str_printf(out, " && i%d < n%d", e->k->layer - 1, e->k->layer - 1);
    }
    krf__str_printf(out, " ? n%d - top : %d;\n", d, NONE);
}

static bool has_rows(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    return !o->store && !o->counts && o->rows_of == 0;
}

static int rows_of(const krf__kernel *k, uint32_t operand) { return k->operands[operand].strides[k->tile] == 0 ? 1 : k->strip + krf__strip_span(k, operand); }

/* From a row to the next: the stride along the strip, as text. */
static void put_step(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand];
    const int class_ = krf__stride_class(e->k, &e->k->operands[operand], e->k->tile);
    krf__str_printf(out, "const long long step_%s = ", name);
    if (class_ >= 2) {
        krf__str_printf(out, "%s_s%d;\n", name, e->k->tile);
    } else {
        krf__str_printf(out, "%d;\n", class_);
    }
}

static void put_walk(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const int before = krf__strip_by_words(e->k, operand) ? krf__strip_first(e->k, operand) * e->k->vector - o->element : 0;
    krf__str_printf(out, "const %s *at_%s = &", krf__storage_type(o->dtype), e->operand_names[operand]);
    krf__cuda_put_tile_address(e, operand, out);
    if (before != 0) {
        krf__str_printf(out, before < 0 ? " - %d" : " + %d", before < 0 ? -before : before);
    }
    krf__str_put(out, ";\n");
    put_step(e, operand, out);
}

static void declare(krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *type = krf__storage_type(k->operands[operand].dtype), *name = e->operand_names[operand];
    if (krf__strip_by_words(k, operand)) {
        const int words = krf__strip_words(k, operand);
        krf__str_printf(out, "union { %s word[%d]; %s at[%d]; ", krf__cuda_word_type(e, operand), words * krf__cuda_words(e, operand), type, words * k->vector);
        if (e->twos && krf__is_half((krf_dtype)k->operands[operand].dtype)) {
            krf__str_printf(out, "unsigned pair[%d]; ", words * k->vector / 2);
        }
        krf__str_printf(out, "} v_%s[%d];\n", name, rows_of(k, operand));
    } else {
        krf__str_printf(out, "%s v_%s[%d];\n", type, name, rows_of(k, operand));
    }
}

/* The elements of a word that lie apart. */
static void put_elements(const krf__emitter *e, uint32_t operand, int row, krf__str *out) {
    const char *name = e->operand_names[operand], *type = krf__storage_type(e->k->operands[operand].dtype);
    for (int n = 0; n < e->k->vector; n++) {
        krf__str_printf(out, "v_%s[%d].at[%d] = %d < left ? at_%s[%d * (long long)%s_s%d] : (%s)0;\n", name, row, n, row, name, n, name, last_of(e), type);
    }
}

/* A row's words, or its element, if those of the strip need it; rows beyond its last element are there as far as that does. */
static void put_row(krf__emitter *e, uint32_t operand, int row, krf__str *out) {
    const krf__kernel *k = e->k;
    const krf__operand *o = &k->operands[operand];
    const char *name = e->operand_names[operand], *type = krf__strip_by_words(k, operand) ? krf__cuda_word_type(e, operand) : krf__storage_type(o->dtype);
    const bool vector = strncmp(type, "uint", 4) == 0;
    const int each = krf__strip_by_words(k, operand) ? krf__cuda_words(e, operand) : 1; /* of memory, in a word of elements */
    for (int w = 0; w < krf__strip_words(k, operand) * each; w++) {
        const int reach = krf__strip_reach(k, operand, row, w, each);
        if (reach < 0) {
            continue;
        }
        if (krf__strip_apart(k, o)) {
            put_elements(e, operand, row, out); /* of which no word is more than one of memory (plan/strip.c) */
            continue;
        }
        krf__str_printf(out, krf__strip_by_words(k, operand) ? "v_%s[%d].word[%d] = " : "v_%s[%d] = ", name, row, w);
        krf__str_printf(out, reach > 0 ? "%d < left + %d ? " : "%d < left ? ", row, reach);
        if (krf__strip_by_words(k, operand)) {
            krf__str_printf(out, "((const %s *)at_%s)[%d] : %s%s;\n", type, name, w, vector ? type : "0", vector ? "()" : "");
        } else {
            krf__str_printf(out, "*at_%s : (%s)0;\n", name, type);
        }
    }
}

static void put_rows(krf__emitter *e, uint32_t operand, krf__str *out) {
    const int n = rows_of(e->k, operand);
    put_walk(e, operand, out);
    for (int row = 0; row < n; row++) {
        put_row(e, operand, row, out);
        if (row + 1 < n) {
            krf__str_printf(out, "at_%s += step_%s;\n", e->operand_names[operand], e->operand_names[operand]);
        }
    }
}

static void loads(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str rows = {0};
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (has_rows(k, i)) {
            declare(e, i, out);
            put_rows(e, i, &rows);
        }
    }
    krf__str_printf(out, "{\n    const %s i%d = top;\n", krf__index_type(e), k->tile);
    krf__cuda_put_lines(out, "    ", rows.data);
    krf__str_put(out, "}\n");
    out->failed |= rows.failed;
    krf__str_free(&rows);
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

/* The words that are stored. */
static void vectors(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_vectored(e, i)) {
            krf__cuda_put_stored(e, i, out);
        }
    }
}

/* The element at hand; or, of elements by twos, the word of both, of which each may lie in another. */
static void put_of_words(const krf__emitter *e, const char *row, int from, krf__str *out) {
    if (e->lane != 3) {
        krf__str_printf(out, "%s.at[%s + %d]", row, krf__cuda_element(e), from);
    } else if (from % 2 == 0) {
        krf__str_printf(out, "%s.pair[k + %d]", row, from / 2);
    } else {
        krf__str_printf(out, "(%s.pair[k + %d] >> 16 | %s.pair[k + %d] << 16)", row, from / 2, row, from / 2 + 1);
    }
}

void krf__cuda_put_strip_load(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const uint32_t rows = o->rows_of != 0 ? (uint32_t)(o->rows_of - 1) : operand;
    krf__str row = {0};
    if (o->strides[e->k->tile] == 0) {
        krf__str_printf(&row, "v_%s[0]", e->operand_names[rows]);
    } else {
        krf__str_printf(&row, "v_%s[q + %d]", e->operand_names[rows], o->row);
    }
    if (krf__strip_by_words(e->k, operand)) {
        put_of_words(e, row.data != NULL ? row.data : "", o->element - krf__strip_first(e->k, rows) * e->k->vector, out);
    } else {
        krf__str_put(out, row.data != NULL ? row.data : "");
    }
    out->failed |= row.failed;
    krf__str_free(&row);
}

const krf__hole krf__cuda_strip_holes[] = {
    {"STRIP_THREAD", thread},       {"STRIP_PLACE", place},     {"STRIP_LOADS", loads},   {"STRIP_WALKS", walks},
    {"STRIP_ELEMENT", element},     {"STRIP_VECTORS", vectors}, {"STRIP", put_strip},     {NULL, NULL},
};
