/* The CUDA target's maps by periods (plan/period.c): what stands in the holes of skeleton/map_period.cu. What is the same in all rows are vectors that stay, "v_in0"; of the next period there are, "next_in0", vectors of elements, or
 * what a whole row has, and "beyond_in0", what the row behind it has. */
#include "codegen/cuda.h"

#define SHORT_BODY 12 /* instructions, loads and stores among them */
#define MANY 8 /* elements of a vector */

static bool loads(const krf__emitter *e, uint32_t operand, krf__in_period kind) { return !e->k->operands[operand].store && krf__period_of(e->k, &e->k->operands[operand]) == kind; }

static int size_of(const krf__emitter *e, uint32_t operand) { return (int)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype); }

static const char *type_of(const krf__emitter *e, uint32_t operand) {
    return e->k->operands[operand].counts ? "long long" : krf__storage_type(e->k->operands[operand].dtype);
}

/* Whether a vector of what two rows have is put together as a word. */
static bool in_a_word(const krf__emitter *e, uint32_t operand) { return size_of(e, operand) <= 2 && krf__cuda_words(e, operand) == 1; }

/* How many periods are under way while one is computed: two where a vector is less than a word of memory (f32(x) * s[:, None] of u8 0.0876 -> 0.0842 ms of an H200), of others one, with which there are more threads. */
static int ahead_of(const krf__emitter *e) {
    bool little = false;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        little |= loads(e, i, KRF__OF_ELEMENT) && size_of(e, i) * e->k->vector < 16;
    }
    return little ? 2 : 1;
}

static bool loads_elements(const krf__emitter *e) {
    bool any = false;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        any |= loads(e, i, KRF__OF_ELEMENT);
    }
    return any;
}

static bool of_rows(const krf__emitter *e, uint32_t operand) { return loads(e, operand, KRF__OF_ROW) || loads(e, operand, KRF__COUNTS); }

/* Short bodies of halves: left alone ptxas 13.0 takes a few registers too many for all the threads that a multiprocessor may have (x * w[None, :, None] + b[None, :, None] of bf16 0.0532 -> 0.0517 ms of an H200). */
bool krf__cuda_period_crowds(const krf__emitter *e) { return e->k->period > 0 && e->k->vector == 8 && e->k->n_domain <= SHORT_BODY && loads_elements(e) && ahead_of(e) == 1; }

/* Whether warps of which no vector goes over the end of a row have a text of their own: short bodies of many elements, which to choose between two rows for each would be most of. */
static bool goes_either_way(const krf__emitter *e) {
    bool chooses = false;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        chooses |= loads(e, i, KRF__COUNTS) || (loads(e, i, KRF__OF_ROW) && !in_a_word(e, i) && e->k->vector >= MANY);
    }
    return chooses && !loads_elements(e) && e->k->n_domain <= SHORT_BODY;
}

static void declared(krf__emitter *e, krf__str *out) {
    const int n = ahead_of(e);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (of_rows(e, i)) {
            krf__str_printf(out, "%s next_%s[%d] = {}, beyond_%s[%d] = {};\n", type_of(e, i), name, n, name, n);
        } else if (!e->k->operands[i].store) {
            krf__cuda_put_union(e, i, out);
            krf__str_put(out, " = {}");
            if (loads(e, i, KRF__OF_ELEMENT)) {
                krf__str_printf(out, ", next_%s[%d] = {}", name, n);
            }
            krf__str_put(out, ";\n");
        }
    }
    if (goes_either_way(e)) {
        krf__str_put(out, "bool crosses; // whether a vector of the warp does the end of a row\n");
    }
}

static void first(krf__emitter *e, krf__str *out) {
    const int last = e->k->n_kept - 1;
    krf__emit_position(e, KRF__PART_KEPT, "first", out);
    krf__str_printf(out, "column = i%d;\nrest = n%d - column < %d ? (int)(n%d - column) : %d;\n", last, last, e->k->vector, last, e->k->vector);
    if (goes_either_way(e)) {
        krf__str_printf(out, "crosses = __any_sync(0xffffffffu, rest < %d);\n", e->k->vector);
    }
}

static void put_element(krf__emitter *e, const char *to, uint32_t operand, krf__str *out) {
    krf__str_printf(out, "%s = ", to);
    if (e->k->operands[operand].counts) {
        krf__cuda_put_first(e, operand, out);
        krf__cuda_put_offset(e, operand, false, out);
    } else {
        krf__cuda_put_tile_address(e, operand, out);
    }
    krf__str_put(out, ";\n");
}

/* Whether a block stages a column's elements: those of several words, of which a thread's lie too far from its neighbour's. */
static bool stages(const krf__emitter *e, uint32_t operand) { return loads(e, operand, KRF__OF_COLUMN) && krf__cuda_words(e, operand) > 1; }

/* In shared memory threads have their words of columns one after the other, with a gap where several of a thread's would be in the same banks. */
static int place_of(const krf__emitter *e, uint32_t operand) { return krf__cuda_words(e, operand) + 1; }

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (stages(e, i)) {
            krf__str_printf(out, "__shared__ %s columns_%s[%d];\n", krf__cuda_word_type(e, i), e->operand_names[i], 256 * place_of(e, i));
        }
    }
}

/* The columns of a block's vectors follow one another, behind the last the first. */
static void staged(krf__emitter *e, krf__str *out) {
    const int v = e->k->vector;
    krf__str elements = {0}, position = {0};
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (stages(e, i)) {
            krf__str to = {0};
            const int elements_of_word = v / krf__cuda_words(e, i);
            krf__str_printf(&to, "    ((%s *)columns_%s)[n / %d * %d + n %% %d]", type_of(e, i), e->operand_names[i], v, place_of(e, i) * elements_of_word, v);
            put_element(e, to.data != NULL ? to.data : "", i, &elements);
            elements.failed |= to.failed;
            krf__str_free(&to);
        }
    }
    if (elements.length > 0) {
        krf__str_printf(out, "#pragma unroll\nfor (int m = 0; m < %d; m++) {\n    const int n = m * 256 + (int)threadIdx.x;\n    const %s place = begin %% period * %d + n;\n", v, krf__index_type(e), v);
        krf__emit_position(e, KRF__PART_KEPT, "place", &position);
        krf__cuda_put_lines(out, "    ", position.data);
        krf__str_printf(out, "%s}\n__syncthreads();\n", elements.data);
    }
    out->failed |= elements.failed || position.failed;
    krf__str_free(&elements);
    krf__str_free(&position);
}

static void put_each_column(krf__emitter *e, krf__str *out) {
    const int last = e->k->n_kept - 1;
    krf__str elements = {0};
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (loads(e, i, KRF__OF_COLUMN) && !stages(e, i)) {
            krf__str to = {0};
            krf__str_printf(&to, "    v_%s.at[k]", e->operand_names[i]);
            put_element(e, to.data != NULL ? to.data : "", i, &elements);
            elements.failed |= to.failed;
            krf__str_free(&to);
        }
    }
    if (elements.length > 0) {
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    const %s i%d = ", e->k->vector, krf__index_type(e), last);
        krf__str_printf(out, e->k->extents[last] < e->k->vector ? "(column + k) %% n%d;\n%s}\n" : "k < rest ? column + k : column + k - n%d;\n%s}\n", last, elements.data);
    }
    out->failed |= elements.failed;
    krf__str_free(&elements);
}

static void columns(krf__emitter *e, krf__str *out) {
    put_each_column(e, out);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        for (int w = 0; stages(e, i) && w < krf__cuda_words(e, i); w++) {
            krf__str_printf(out, "v_%s.word[%d] = columns_%s[threadIdx.x * %d + %d];\n", e->operand_names[i], w, e->operand_names[i], place_of(e, i), w);
        }
    }
}

static void moves(krf__emitter *e, krf__str *out) {
    const int n = ahead_of(e);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (of_rows(e, i)) {
            krf__str_printf(out, "const %s row_%s = next_%s[0], end_%s = beyond_%s[0];\n", type_of(e, i), name, name, name, name);
        } else if (loads(e, i, KRF__OF_ELEMENT)) {
            krf__str_printf(out, "v_%s = next_%s[0];\n", name, name);
        }
        for (int d = 0; d + 1 < n && (of_rows(e, i) || loads(e, i, KRF__OF_ELEMENT)); d++) {
            krf__str_printf(out, "next_%s[%d] = next_%s[%d];\n", name, d, name, d + 1);
            if (of_rows(e, i)) {
                krf__str_printf(out, "beyond_%s[%d] = beyond_%s[%d];\n", name, d, name, d + 1);
            }
        }
    }
}

static void put_ahead(krf__emitter *e, krf__str *out) { krf__str_i64(out, ahead_of(e)); }

static void put_vector(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand], *word = krf__cuda_word_type(e, operand);
    const int words = krf__cuda_words(e, operand);
    if (words > 1) {
        krf__str_printf(out, "    #pragma unroll\n    for (int w = 0; w < %d; w++) {\n        next_%s[%d].word[w] = ((const %s *)(a.%s + i))[w];\n    }\n", words, name, ahead_of(e) - 1, word, name);
    } else {
        krf__str_printf(out, "    next_%s[%d].word = __ldcs((const %s *)(a.%s + i));\n", name, ahead_of(e) - 1, word, name);
    }
}

static void put_last_vector(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand];
    krf__str_printf(out, "    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        next_%s[%d].at[k] = i + k < ", e->k->vector, name, ahead_of(e) - 1);
    krf__cuda_put_domain_size(e, out);
    krf__str_printf(out, " ? a.%s[i + k] : (%s)0;\n    }\n", name, type_of(e, operand));
}

static void whole(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "i + %d <= ", e->k->vector);
    krf__cuda_put_domain_size(e, out);
}

static void vector_loads(krf__emitter *e, krf__str *out) {
    krf__str vectors = {0}, last = {0};
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (loads(e, i, KRF__OF_ELEMENT)) {
            put_vector(e, i, &vectors);
            put_last_vector(e, i, &last);
        }
    }
    if (vectors.length > 0) {
        krf__str_put(out, "if (");
        whole(e, out);
        krf__str_printf(out, ") {\n%s} else {\n%s}\n", vectors.data, last.data != NULL ? last.data : "");
    }
    out->failed |= vectors.failed || last.failed;
    krf__str_free(&vectors);
    krf__str_free(&last);
}

/* Of what counts, `beyond` is what an element would have before the row behind began. */
static void row_loads(krf__emitter *e, krf__str *out) {
    const int last = e->k->n_kept - 1, n = ahead_of(e) - 1;
    krf__str here = {0}, behind = {0}, position = {0};
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        krf__str to = {0};
        if (!of_rows(e, i)) {
            continue;
        }
        krf__str_printf(&to, "next_%s[%d]", name, n);
        put_element(e, to.data != NULL ? to.data : "", i, &here);
        krf__str_free(&to);
        krf__str_printf(&here, "beyond_%s[%d] = next_%s[%d];\n", name, n, name, n);
        krf__str_printf(&to, "beyond_%s[%d]", name, n);
        put_element(e, to.data != NULL ? to.data : "", i, &behind);
        here.failed |= to.failed;
        krf__str_free(&to);
        if (e->k->operands[i].counts) {
            const int class_ = krf__stride_class(e->k, &e->k->operands[i], last);
            if (class_ == 1) {
                krf__str_printf(&behind, "beyond_%s[%d] -= rest;\n", name, n);
            } else if (class_ >= 2) {
                krf__str_printf(&behind, "beyond_%s[%d] -= rest * %s_s%d;\n", name, n, name, last);
            }
        }
    }
    if (here.length > 0) {
        krf__str_put(out, here.data);
        krf__str_printf(out, "if (rest < %d && i + rest < ", e->k->vector);
        krf__cuda_put_domain_size(e, out);
        krf__str_printf(out, ") {\n    const %s place = i + rest;\n", krf__index_type(e));
        krf__emit_position(e, KRF__PART_KEPT, "place", &position);
        krf__cuda_put_lines(out, "    ", position.data);
        krf__cuda_put_lines(out, "    ", behind.data);
        krf__str_put(out, "}\n");
    }
    out->failed |= here.failed || behind.failed || position.failed;
    krf__str_free(&here);
    krf__str_free(&behind);
    krf__str_free(&position);
}

static void period_loads(krf__emitter *e, krf__str *out) {
    vector_loads(e, out);
    row_loads(e, out);
}

/* A vector of what rows have: two at most, as none is shorter. */
static void put_row(krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand], *word = krf__cuda_word_type(e, operand);
    const int v = e->k->vector;
    krf__cuda_put_union(e, operand, out);
    if (in_a_word(e, operand)) {
        krf__str_printf(out, ";\nv_%s.word = krf_filled<%s>(row_%s);\nif (rest < %d) {\n", name, word, name, v);
        krf__str_printf(out, "    v_%s.word = krf_between(v_%s.word, krf_filled<%s>(end_%s), (unsigned)(%d - rest) * %du);\n}\n", name, name, word, name, v, size_of(e, operand));
    } else {
        krf__str_printf(out, ";\n#pragma unroll\nfor (int k = 0; k < %d; k++) {\n    v_%s.at[k] = k < rest ? row_%s : end_%s;\n}\n", v, name, name, name);
    }
}

static void rows(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (loads(e, i, KRF__OF_ROW)) {
            put_row(e, i, out);
        }
    }
}

static void computed(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].store) {
            krf__cuda_put_stored(e, i, out);
        }
    }
    krf__emit_skeleton(e, goes_either_way(e) ? "period_either" : "period_rows", out);
}

void krf__cuda_put_period_count(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const int last = e->k->n_kept - 1, class_ = krf__stride_class(e->k, &e->k->operands[operand], last);
    const char *name = e->operand_names[operand];
    krf__str_printf(out, "((k < rest ? row_%s : end_%s)", name, name);
    krf__str_put(out, class_ == 0 ? "" : " + k");
    if (class_ >= 2) {
        krf__str_printf(out, " * %s_s%d", name, last);
    }
    krf__str_put(out, ")");
}

const krf__hole krf__cuda_period_holes[] = {
    {"PERIOD_SHARED", shared},    {"PERIOD_STAGED", staged},      {"PERIOD_DECLARED", declared}, {"PERIOD_FIRST", first}, {"PERIOD_COLUMNS", columns}, {"PERIOD_AHEAD", put_ahead}, {"PERIOD_MOVES", moves},
    {"PERIOD_LOADS", period_loads}, {"PERIOD_WHOLE", whole}, {"PERIOD_COMPUTED", computed}, {"PERIOD_ROWS", rows},   {NULL, NULL},
};
