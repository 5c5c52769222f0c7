/* The CUDA target's maps of narrow elements whose rows lie apart (plan/flat.c): a vector is taken out of the words around its place, where a row ends within it out of those of two rows. */
#include "codegen/cuda.h"

bool krf__cuda_in_rows(const krf__emitter *e, uint32_t operand) { return e->k->flat && e->k->operands[operand].loose; }

/* Of what lies backwards, a vector's last element is its first in memory. */
static void put_row_address(krf__emitter *e, uint32_t operand, const char *further, const char *turned, krf__str *out) {
    krf__str_printf(out, "a.%s", e->operand_names[operand]);
    krf__cuda_put_offset(e, operand, false, out);
    if (e->k->operands[operand].turned) {
        krf__str_printf(out, "%s - %d, %d)", turned, e->k->vector - 1, e->k->vector);
    } else {
        krf__str_printf(out, "%s, %d)", further, e->k->vector);
    }
}

/* Of each operand whose rows lie apart: the words around its vector; the first vector of the next row, where that is there; and what is between them. */
static void put_row_words(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand], *type = krf__cuda_word_type(e, operand);
    krf__str_printf(out, "%s next_%s = {};\nconst krf_words<%s> words_%s = krf_words_around<%s>(", type, name, type, name, type);
    put_row_address(e, operand, " - beyond", " + beyond", out);
    krf__str_put(out, ";\n");
}

static const char *turning(const krf__emitter *e, uint32_t operand) {
    const bool bytes = krf_dtype_size((krf_dtype)e->k->operands[operand].dtype) == 1;
    return !e->k->operands[operand].turned ? "" : bytes ? "krf_turned_bytes" : "krf_turned_pairs";
}

static void put_row_next(krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "next_%s = %s(krf_window<%s>(", e->operand_names[operand], turning(e, operand), krf__cuda_word_type(e, operand));
    put_row_address(e, operand, "", "", out);
    krf__str_put(out, ");\n");
}

static void put_row_first(krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "v_%s.word = %s(krf_word_of(words_%s));\n", e->operand_names[operand], turning(e, operand), e->operand_names[operand]);
}

static void put_row_between(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand];
    krf__str_printf(out, "v_%s.word = krf_between(v_%s.word, next_%s, (unsigned)beyond * %du);\n", name, name, name, (unsigned)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype));
}

static void put_each_in_rows(krf__emitter *e, void (*put)(krf__emitter *e, uint32_t operand, krf__str *out), const char *indent, krf__str *out) {
    krf__str lines = {0};
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__cuda_in_rows(e, i)) {
            put(e, i, &lines);
        }
    }
    krf__cuda_put_lines(out, indent, lines.data);
    out->failed |= lines.failed;
    krf__str_free(&lines);
}

/* Vectors of rows that lie apart, all at once. Where a row ends within them: the last vector of that and the first of the next, for which there is no waiting before those are under way; behind the last row there may be anything. */
void krf__cuda_put_row_loads(krf__emitter *e, krf__str *out) {
    const int row = e->k->n_kept - 1, v = e->k->vector;
    const char *type = krf__index_type(e);
    krf__str position = {0};
    krf__str_printf(out, "const %s beyond = i%d + %d > n%d ? i%d + %d - n%d : 0;\n", type, row, v, row, row, v, row);
    put_each_in_rows(e, put_row_words, "", out);
    krf__str_printf(out, "if (whole && beyond > 0) {\n    const %s place = i + %d - beyond;\n", type, v);
    krf__emit_position(e, KRF__PART_KEPT, "place", &position);
    krf__cuda_put_lines(out, "    ", position.data);
    put_each_in_rows(e, put_row_next, "    ", out);
    krf__str_put(out, "}\n");
    put_each_in_rows(e, put_row_first, "", out);
    krf__str_put(out, "if (beyond > 0) {\n");
    put_each_in_rows(e, put_row_between, "    ", out);
    krf__str_put(out, "}\n");
    out->failed |= position.failed;
    krf__str_free(&position);
}
