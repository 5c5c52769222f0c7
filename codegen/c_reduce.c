/* The C target's reductions: the lanes of a chunk and their tree, where its result is put, and how the results of several are combined. */
#include "codegen/emitter.h"

#include <stdio.h>

/* How many lanes are folded, where the text says so, else 0. A loop of known length is a few vectors, of any length two loops more for what is left over: so all lanes are folded where rows fill them, if
 * not in their last chunk, for those beyond it hold the identity, which changes no bits. What users call an identity may change some. */
static int known_lanes(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    int lanes = KRF__FOLDED;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        if (krf__fold_op(krf__reduction(e, r)) != NULL) {
            return 0;
        }
    }
    if (!krf__short_rows(k)) {
        return KRF__LANES;
    }
    if (!e->folds || !krf__literal_rows(k)) {
        return 0;
    }
    while (lanes < k->reduced_size) {
        lanes *= 2;
    }
    return lanes;
}

static void lane_count(krf__emitter *e, krf__str *out) {
    const int known = known_lanes(e);
    if (known != 0) {
        krf__str_printf(out, "const int lanes = %d;\n", known);
    } else {
        krf__str_printf(out, "int lanes = %d;\nwhile (lanes < %d && lanes < last - first) {\n    lanes *= 2;\n}\n", e->folds ? KRF__FOLDED : 1, KRF__LANES);
    }
}

static void put_lanes(krf__emitter *e, bool of_chunks, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s acc%u[256];\nfor (int k = %s; k < lanes; k++) {\n    acc%u[k] = ", of_chunks ? krf__reduction_type(e, r) : krf__c_lane_type(e, r), r,
                        krf__c_once(e) ? "(int)last" : "0", r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n}\n");
    }
}

static void lanes(krf__emitter *e, krf__str *out) {
    uint32_t key;
    put_lanes(e, false, out);
    krf__str_put(out, krf__c_compares_first(e, &key) ? "long long so_far = -9223372036854775807LL - 1;\n" : "");
}

static void put_halving(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (e->folds) { /* loops of known length, of which nothing is left over */
            krf__str_printf(out, "for (int k = 0; k < s; k += %d) {\n    for (int h = k; h < k + %d; h++) {\n        acc%u[h] = red%u(acc%u[h], acc%u[h + s]);\n    }\n}\n", KRF__FOLDED, KRF__FOLDED, r,
                            e->reduction + r, r, r);
        } else {
            krf__str_printf(out, "for (int k = 0; k < s; k++) {\n    acc%u[k] = red%u(acc%u[k], acc%u[k + s]);\n}\n", r, e->reduction + r, r, r);
        }
    }
}

static void tree(krf__emitter *e, krf__str *out) {
    const int known = known_lanes(e), left = e->folds ? KRF__FOLDED / 2 : 0;
    if (known == 0) {
        krf__str_printf(out, "for (int s = lanes / 2; s > %d; s /= 2) {\n", left);
        put_halving(e, out);
        krf__str_put(out, "}\n");
    }
    for (int s = known / 2; s > left; s /= 2) {
        for (uint32_t r = 0; r < e->k->n_reductions; r++) {
            krf__str_printf(out, "for (int k = 0; k < %d; k++) {\n    acc%u[k] = red%u(acc%u[k], acc%u[k + %d]);\n}\n", s, r, e->reduction + r, r, r, s);
        }
    }
}

/* The partial result of chunk c of result o. */
static void put_partial(const krf__emitter *e, uint32_t r, const char *qualifier, krf__str *out) {
    const uint32_t words = krf__accumulator_words(e->k, r), before = krf__accumulator_words_before(e->k, r);
    krf__str_printf(out, "*(%s%s *)(a->scratch + ", qualifier, krf__reduction_type(e, r));
    if (words == 1) {
        krf__str_printf(out, "(%u * (long long)KEPT + o) * a->chunks + c)", before);
    } else {
        krf__str_printf(out, "%u * (long long)KEPT * a->chunks + (o * a->chunks + c) * %u)", before, words);
    }
}

/* Which chunk of which result: the chunks of a result one after the other, unless memory has those of neighbouring results side by side. */
static void unit_place(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const int result = k->n_kept - 1, outer = k->n_kept;
    for (uint32_t i = 0; i < k->n_operands && k->n_kept > 0 && k->n_reduced > 1 && k->chunks > 1; i++) {
        const krf__operand *o = &k->operands[i];
        const int class_ = krf__stride_class(k, o, result);
        if (!krf__c_in_domain(k, i) || o->store || o->counts || class_ == 0 || krf__stride_class(k, o, outer) < 2) {
            continue;
        }
        char stride[32] = "1";
        if (class_ >= 2) {
            snprintf(stride, sizeof stride, "%s_s%d", e->operand_names[i], result);
        }
        krf__str_printf(out, "const int beside = %s < %s_s%d;\n", stride, e->operand_names[i], outer);
        krf__str_put(out, "const long long o = beside ? u % KEPT : u / a->chunks, c = beside ? u / KEPT : u % a->chunks;\n");
        return;
    }
    krf__str_put(out, k->chunks == 1 ? "const long long o = u, c = 0;\n" : "const long long o = u / a->chunks, c = u % a->chunks;\n");
}

static void unit_done(krf__emitter *e, krf__str *out) {
    const char *at = e->k->schedule == KRF__REDUCE_COL ? "at" : "0";
    if (e->k->chunks == 1) {
        krf__str_put(out, "results(a, o");
        for (uint32_t r = 0; r < e->k->n_reductions; r++) {
            krf__str_printf(out, ", acc%u[%s]", r, at);
        }
        krf__str_put(out, ");\n");
        return;
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_partial(e, r, "", out);
        krf__str_printf(out, " = acc%u[%s];\n", r, at);
    }
}

/* results(a, o, ...): the part over results, for result o and its reduced values. */
static void results_function(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str_put(out, "#define KEPT (1LL");
    for (int d = 0; d < k->n_kept; d++) {
        krf__str_printf(out, " * (%s)a->n%d", krf__index_type(e), d);
    }
    krf__str_put(out, ")\nstatic inline void results(const struct krf_arguments *a, long long o");
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, ", %s t%u", krf__reduction_type(e, r), k->n_domain + r);
    }
    krf__str_put(out, ") {\n");
    krf__str inner = {0};
    krf__emit_extents(e, &inner);
    if (!k->narrow) {
        krf__emit_position(e, KRF__PART_KEPT, "o", &inner);
    }
    krf__c_put_results(e, &inner);
    krf__str_put(out, inner.data != NULL ? inner.data : "");
    out->failed |= inner.failed;
    krf__str_free(&inner);
    krf__str_put(out, "}\n");
}

/* Combines the chunks' partial results [lo, hi) by the rule of one chunk over them. */
static void finish_function(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    if (k->chunks == 1) {
        return;
    }
    krf__str_printf(out, "void %s_finish(const struct krf_arguments *a, long long lo, long long hi) {\n    int lanes = 1;\n    while (lanes < 256 && lanes < a->chunks) {\n        lanes *= 2;\n    }\n", k->name);
    krf__str_put(out, "    for (long long o = lo; o < hi; o++) {\n");
    put_lanes(e, true, out);
    krf__str_put(out, "for (long long c = 0; c < a->chunks; c++) {\n");
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "acc%u[c %% 256] = red%u(acc%u[c %% 256], ", r, r, r);
        put_partial(e, r, "const ", out);
        krf__str_put(out, ");\n");
    }
    krf__str_put(out, "}\nfor (int s = lanes / 2; s > 0; s /= 2) {\n");
    put_halving(e, out);
    krf__str_put(out, "}\nresults(a, o");
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, ", acc%u[0]", r);
    }
    krf__str_put(out, ");\n    }\n}\n");
}

static void chunk_lanes(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "chunk", out); }

const krf__hole krf__c_reduce_holes[] = {
    {"CHUNK_LANES", chunk_lanes},
    {"LANE_COUNT", lane_count},
    {"LANES", lanes},
    {"TREE", tree},
    {"UNIT_PLACE", unit_place},
    {"UNIT_DONE", unit_done},
    {"RESULTS_FUNCTION", results_function},
    {"FINISH_FUNCTION", finish_function},
    {NULL, NULL},
};
