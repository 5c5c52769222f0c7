/* The CUDA target's rows that drift, as they begin and end within a word. Threads take the aligned words in which a row lies, so that its elements stand in other lanes of the canonical tree, all by as many, which
 * makes no difference where reductions commute; a mask tells which elements of a word belong to the row. */
#include "codegen/cuda.h"

/* An operand by whose words rows go: any that streams, as all begin alike. */
static uint32_t leader(const krf__emitter *e) {
    uint32_t i = 0;
    while (i + 1 < e->k->n_operands && (e->k->operands[i].store || !krf__cuda_vectored(e, i))) {
        i++;
    }
    return i;
}

static void drift(krf__emitter *e, krf__str *out) {
    if (e->k->drifts) {
        const uint32_t i = leader(e);
        krf__str_printf(out, "const int drift = (int)(krf_beside<%s>(", krf__cuda_word_type(e, i));
        krf__str_printf(out, "a.%s", e->operand_names[i]);
        krf__cuda_put_offset(e, i, false, out);
        krf__str_printf(out, ") / %d);\n", (int)krf_dtype_size((krf_dtype)e->k->operands[i].dtype));
    }
}

static void first(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->drifts ? "first - drift" : "first"); }

/* A chunk is a multiple of tiles, and with it goes a word more: a warp leaves out what there is nothing of, which is the end of its chunk. */
static void needed(krf__emitter *e, krf__str *out) {
    if (e->k->drifts && !e->k->once) {
        krf__str_printf(out, "if (p + q * %d >= last) {\n    break;\n}\n", 32 * e->k->vector);
    }
}

static void mask(krf__emitter *e, krf__str *out) {
    if (e->k->drifts) {
        krf__str_printf(out, "const %s p_v = p + (q * 32 + thread) * %d;\n", krf__index_type(e), e->k->vector);
        krf__str_put(out, "const unsigned there = whole ? ~0u : krf_there((int)(first - p_v), (int)(last - p_v));\n");
    }
}

void krf__cuda_put_there(const krf__emitter *e, krf__str *out) {
    if (e->k->drifts) {
        krf__str_printf(out, "(there >> (%s) & 1) != 0", krf__cuda_element(e));
    } else {
        krf__str_put(out, "valid");
    }
}

const krf__hole krf__cuda_drift_holes[] = {
    {"DRIFT", drift},
    {"DRIFT_FIRST", first},
    {"DRIFT_NEEDED", needed},
    {"DRIFT_MASK", mask},
    {NULL, NULL},
};
