/* What all CUDA skeletons print: operands that a thread holds, their loads and stores. Operands of a vector kernel travel through
 * unions of a 16-byte word (or less) and its elements; every load is issued before the first use. Streaming hints (.cs): most operands are read or written once. No
 * __restrict__: an output may be an input. */
#include "codegen/cuda.h"

#include <string.h>

void krf__cuda_put_offset(const krf__emitter *e, uint32_t operand, bool reduced, krf__str *out) {
    if (e->k->flat && e->k->operands[operand].aligned && krf__cuda_vectored(e, operand) && !e->k->operands[operand].loose) {
        krf__str_put(out, " + i");
        return;
    }
    krf__emit_offset(e, operand, KRF__PART_KEPT, -1, out);
    if (reduced && e->stepping) {
        const uint32_t of = e->k->operands[operand].places_of;
        krf__str_printf(out, " + at_%s", e->operand_names[of != 0 ? of - 1 : operand]);
    } else if (reduced) {
        krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, out);
    }
}

void krf__cuda_put_reduced_size(const krf__emitter *e, krf__str *out) {
    for (int d = e->k->n_kept; d < e->k->n_kept + e->k->n_reduced; d++) {
        krf__str_printf(out, d > e->k->n_kept ? " * n%d" : "n%d", d);
    }
}

void krf__cuda_put_domain_size(const krf__emitter *e, krf__str *out) {
    const int first = e->k->across ? 1 : 0;
    for (int d = first; d < e->k->n_kept; d++) {
        krf__str_printf(out, d > first ? " * n%d" : "n%d", d);
    }
}

/* What is asked of halves is no comparison but arithmetic with their bits (isfinite 0.051 -> 0.061 ms so). */
bool krf__cuda_adds_up(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    bool may = o->store && o->dtype == KRF_BOOL && o->record == 0 && (e->k->strip > 0 || e->k->schedule == KRF__MAP) && e->k->vector % 4 == 0 && !e->bytes4 && !e->twos;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        may &= e->k->period > 0 || !krf__is_half((krf_dtype)e->k->operands[i].dtype);
    }
    return may;
}

bool krf__cuda_has_fours(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    return (o->dtype == KRF_I8 || o->dtype == KRF_U8) && e->k->vector % 4 == 0 && !e->bytes4 && !krf__cuda_by_fours(e) && o->record == 0;
}

void krf__cuda_put_union(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf_dtype dtype = (krf_dtype)e->k->operands[operand].dtype;
    const int words = krf__cuda_words(e, operand);
    krf__str_printf(out, words > 1 ? "union { %s word[%d]; " : "union { %s word; ", krf__cuda_word_type(e, operand), words);
    krf__str_printf(out, "%s at[%d]; ", krf__storage_type((int)dtype), e->k->vector);
    if (krf__is_half(dtype) && e->k->vector % 2 == 0) {
        krf__str_printf(out, "unsigned pair[%d]; ", e->k->vector / 2);
    }
    if (krf__cuda_by_fours(e)) {
        krf__str_printf(out, "int four[%d]; ", e->k->vector / 4);
    }
    if (e->bytes4 || krf__cuda_has_fours(e, operand) || krf__cuda_adds_up(e, operand)) {
        krf__str_printf(out, "unsigned four[%d]; ", e->k->vector / 4);
    }
    krf__str_printf(out, "} v_%s", e->operand_names[operand]);
}

void krf__cuda_put_stored(const krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__cuda_put_union(e, operand, out);
    krf__str_put(out, krf__cuda_adds_up(e, operand) ? " = {};\n" : ";\n");
}

void krf__cuda_put_held(const krf__emitter *e, uint32_t operand, int n, const char *initially, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand], *type = krf__storage_type(o->dtype);
    if (krf__cuda_vectored(e, operand)) {
        krf__cuda_put_union(e, operand, out);
        krf__str_printf(out, "[%d]%s;\n", n, initially);
    } else {
        krf__str_printf(out, "%s%s %sv_%s[%d]%s;\n", o->gathered ? "const " : "", o->counts ? "long long" : type, o->gathered ? "*" : "", name, n, initially);
    }
}

/* The first element of a row. */
static void put_row(const krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "a.%s", e->operand_names[operand]);
    krf__cuda_put_offset(e, operand, false, out);
}

void krf__cuda_put_row_ends(const krf__emitter *e, uint32_t operand, krf__str *out) {
    put_row(e, operand, out);
    krf__str_put(out, ", ");
    put_row(e, operand, out);
    krf__str_printf(out, " + n%d", e->k->n_kept);
}

/* Words of rows that drift, and vectors taken out of two. */
void krf__cuda_put_word(const krf__emitter *e, uint32_t operand, const char *offset, krf__str *out) {
    const char *name = e->operand_names[operand];
    if (e->k->words && e->k->operands[operand].loose) {
        krf__str_printf(out, "krf_row_window<%s>(a.%s%s, ", krf__cuda_word_type(e, operand), name, offset);
        put_row(e, operand, out);
        krf__str_put(out, ")");
    } else if (e->k->words || e->k->drifts) {
        krf__str_printf(out, "krf_row_word<%s>(", krf__cuda_word_type(e, operand));
        krf__cuda_put_base(e, operand, out);
        krf__str_printf(out, "%s, ", offset);
        (e->k->schedule == KRF__REDUCE_COL ? krf__cuda_put_column_ends : krf__cuda_put_row_ends)(e, operand, out);
        krf__str_put(out, ")");
    } else {
        krf__str_printf(out, "krf_window<%s>(a.%s%s, %d)", krf__cuda_word_type(e, operand), name, offset, e->k->vector);
    }
}

void krf__cuda_put_fetched_word(const krf__emitter *e, uint32_t instr, const char *words, const char *of_one, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    if (i->value == KRF__FETCH_STEPS) {
        krf__str_printf(out, "(end%u ? %s(edge%u) : run%u.%s[k])", i->args[0], of_one, instr, instr, words);
    } else {
        krf__str_printf(out, "run%u.%s[k]", instr, words);
    }
}

void krf__cuda_put_first(const krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, e->k->operands[operand].numbers ? "0" : "a.%s", e->operand_names[operand]);
}

void krf__cuda_put_held_load(const krf__emitter *e, uint32_t operand, const char *index, const char *offset, bool again, krf__str *out) {
    const char *name = e->operand_names[operand];
    const bool place = e->k->operands[operand].counts || e->k->operands[operand].gathered;
    if (krf__cuda_vectored(e, operand) && (e->k->operands[operand].loose || e->k->drifts || e->k->words)) {
        krf__str_printf(out, "v_%s%s.word = ", name, index);
        krf__cuda_put_word(e, operand, offset, out);
        krf__str_put(out, ";\n");
    } else if (krf__cuda_vectored(e, operand)) {
        const bool once = !again && !krf__cuda_reads_again(e, operand);
        krf__str_printf(out, once ? "v_%s%s.word = __ldcs((const %s *)(" : "v_%s%s.word = *(const %s *)(", name, index, krf__cuda_word_type(e, operand));
        krf__cuda_put_base(e, operand, out);
        krf__str_printf(out, once ? "%s));\n" : "%s);\n", offset);
    } else if (e->k->operands[operand].beside != 0) {
        const uint32_t first = e->k->operands[operand].beside - 1u;
        krf__str_printf(out, "v_%s%s = a.%s[0", name, index, e->operand_names[first]);
        krf__cuda_put_offset(e, first, true, out);
        krf__str_printf(out, " + %d];\n", e->k->operands[operand].apart);
    } else if (place) {
        krf__str_printf(out, "v_%s%s = ", name, index);
        krf__cuda_put_first(e, operand, out);
        krf__str_printf(out, "%s;\n", offset);
    } else {
        const bool once = krf__cuda_goes_by(e) && e->k->operands[operand].strides[e->k->n_kept + e->k->n_reduced - 1] == 1;
        krf__str_printf(out, once ? "v_%s%s = __ldcs(&" : "v_%s%s = ", name, index);
        krf__cuda_put_base(e, operand, out);
        krf__str_printf(out, once ? "[0%s]);\n" : "[0%s];\n", offset);
    }
}

/* They lie as in the row, from the warp's first one on: "p" is where a tile of it begins, whose vector it is the given one; or "p_q" is the element at hand. */
void krf__cuda_put_held_element(const krf__emitter *e, uint32_t operand, const char *quad, krf__str *out) {
    if (e->k->vector > 1) {
        krf__str_printf(out, "held_%s[(unsigned)(p - first) / %d + %s * 32 + thread]", e->operand_names[operand], e->k->vector, quad);
    } else {
        krf__str_printf(out, "held_%s[p_q - first]", e->operand_names[operand]);
    }
}

void krf__cuda_put_tile_address(const krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "a.%s[0", e->operand_names[operand]);
    krf__cuda_put_offset(e, operand, false, out);
    krf__str_put(out, "]");
}

void krf__cuda_put_store(const krf__emitter *e, const krf__instr *store, bool reduced, krf__str *out) {
    if (e->k->schedule == KRF__TILE) {
        krf__str_printf(out, "*at_%s = ", e->operand_names[store->slot]); /* cuda_tile.c walks there */
    } else {
        krf__str_printf(out, "a.%s[0", e->operand_names[store->slot]);
        krf__cuda_put_offset(e, store->slot, reduced, out);
        krf__str_put(out, "] = ");
    }
    krf__emit_stored(e, store->args[0], (krf_dtype)store->dtype, out);
    krf__str_put(out, ";\n");
}

void krf__cuda_unrolled(krf__emitter *e, void (*print)(krf__emitter *e, krf__str *out), krf__str *out) {
    krf__str loops = {0};
    print(e, &loops);
    krf__unroll(loops.data, out);
    out->failed |= loops.failed;
    krf__str_free(&loops);
}

void krf__cuda_put_lines(krf__str *out, const char *indent, const char *text) {
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n'; /* the last line has none where memory ran out in it */
        krf__str_put(out, indent);
        krf__str_putn(out, text, length);
        text += length;
    }
}
