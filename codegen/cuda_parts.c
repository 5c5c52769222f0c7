/* What a thread does with its vectors is written out, and takes a compiler longer the more of them there are. Where a round does no more than store them, or sums take long and many registers, they go by
 * parts, in a loop at the end of which those that come next move to where those at hand were: moves hide behind memory, half of the text takes half of the time (bench/results). */
#include "codegen/cuda.h"

enum { ROW_PART = 16, SIDE_PART = 8, LANES = 8 }; /* elements of a thread; smaller parts cost registers, or time */

static bool is_last(const krf__emitter *e) {
    const krf__kernel *whole = e->kernel;
    return whole->n_rounds > 0 && e->k->instrs == whole->instrs + whole->rounds[whole->n_rounds - 1].first;
}

/* Vectors of a part; 0: all are written out. Nothing is needed of the arrays of a row after its last round. */
static int vectors_of_part(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    const int quads = krf__cuda_quads(e);
    int vectors = 0;
    if (!k->whole || k->words || k->drifts || krf__short_rows(k)) {
        return 0;
    }
    if (e->kernel->n_rounds == 0) {
        vectors = krf__cuda_loads_tiles(e) && k->n_reductions > 1 && quads / 2 * k->vector % LANES == 0 ? quads / 2 : 0;
    } else if (is_last(e) && k->n_reductions == 0 && krf__cuda_row_stays(e) && !(krf__cuda_loads_late(e) && krf__cuda_loads_next(e))) { /* what is loaded ahead waits at each end of a part */
        vectors = (k->schedule == KRF__ROW_COL ? SIDE_PART : ROW_PART) / k->vector;
    }
    return vectors > 0 && quads > vectors && quads % vectors == 0 ? vectors : 0;
}

static void begin(krf__emitter *e, krf__str *out) {
    e->part = vectors_of_part(e);
    if (e->part > 0) {
        krf__str_printf(out, "#pragma unroll 1\nfor (int part = 0; part < %d; part++) {\n", krf__cuda_quads(e) / e->part);
    }
}

static void vectors(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->part > 0 ? e->part : krf__cuda_quads(e)); }

/* Whether the body at hand looks at an operand's elements, or at what took their place. */
static bool looks_at(const krf__emitter *e, uint32_t operand) {
    bool looks = e->replaced != UINT32_MAX && e->kept_slot == operand;
    for (uint32_t n = 0; n < e->k->n_domain && !looks; n++) {
        looks = (e->k->instrs[n].op == KRF__load || e->k->instrs[n].op == KRF__fetch) && e->k->instrs[n].slot == operand && (e->k == e->kernel || e->needed[n]);
    }
    return looks;
}

/* Whether vectors that come later are there already. */
static bool loaded(const krf__emitter *e, uint32_t operand) {
    const bool late = e->kernel->n_rounds > 0 && krf__cuda_loads_late(e) && krf__cuda_of_this_round(e, operand);
    return looks_at(e, operand) && e->k->operands[operand].inner == 0 && !late;
}

static void end(krf__emitter *e, krf__str *out) {
    const int left = krf__cuda_quads(e) - e->part;
    for (uint32_t i = 0; i < e->k->n_operands && e->part > 0; i++) {
        if (loaded(e, i)) {
            const bool wide = e->replaced != UINT32_MAX && e->kept_slot == i && e->k->instrs[e->replaced].dtype != e->k->operands[i].dtype; /* then nothing needs the operand's own */
            const char *name = e->operand_names[i], *word = wide ? "" : krf__cuda_as_word(e, i), kind = wide ? 'w' : 'v';
            krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    %c_%s[n]%s = %c_%s[n + %d]%s;\n}\n", left, kind, name, word, kind, name, e->part, word);
        }
    }
    krf__str_put(out, e->part > 0 ? "}\n" : "");
    e->part = 0;
}

const krf__hole krf__cuda_part_holes[] = {{"PARTS_BEGIN", begin}, {"PART_VECTORS", vectors}, {"PARTS_END", end}, {NULL, NULL}};
