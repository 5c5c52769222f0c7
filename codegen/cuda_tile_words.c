/* The CUDA target's maps by tiles of narrow elements: what stands in the holes of skeleton/tile_words.cu. A word has `vector` elements, along dimension `tile` while the square is
 * filled and along the last one while it is used; extents are whole words. */
#include "codegen/cuda.h"

/* Words of a row of the square, and rows of them that the threads are on at a time. */
static int words(const krf__emitter *e) { return krf__tile_side(e->k) / e->k->vector; }
static int rows(const krf__emitter *e) { return krf__tile_threads(e->k) / words(e); }
static int turns(const krf__emitter *e) { return krf__tile_side(e->k) / rows(e); }

static bool crosses(const krf__emitter *e, uint32_t operand) { return krf__tile_crosses(e->k, &e->k->operands[operand]); }
static bool stays(const krf__emitter *e, uint32_t operand) { return !e->k->operands[operand].store && krf__cuda_vectored(e, operand) && !crosses(e, operand); }

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (crosses(e, i)) {
            krf__str_printf(out, "__shared__ %s tile_%s[%d][%d];\n", krf__cuda_word_type(e, i), e->operand_names[i], krf__tile_side(e->k), words(e));
        }
    }
}

/* The thread's place, at word x of row y, where words lie along dimension `row`; y counts so many rows. How many rows are left: none for a thread beside the array. */
static void put_place(const krf__emitter *e, int row, int column, int each, krf__str *out) {
    const char *type = krf__index_type(e);
    krf__str_printf(out, "const %s i%d = first%d + x * %d, i%d = first%d + y * %d;\n", type, row, row, e->k->vector, column, column, each);
    krf__str_printf(out, "const %s left = i%d < n%d ? n%d - i%d : 0;\n", type, row, row, column, column);
}

/* The address of an operand's first word, and how far the next row is. */
static void put_walk(const krf__emitter *e, uint32_t operand, int column, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand];
    const int class_ = krf__stride_class(e->k, o, column);
    krf__str_printf(out, "%s%s *at_%s = &", o->store ? "" : "const ", krf__storage_type(o->dtype), name);
    krf__cuda_put_tile_address(e, operand, out);
    krf__str_printf(out, ";\nconst long long row_%s = ", name);
    if (class_ >= 2) {
        krf__str_printf(out, "%s_s%d;\n", name, column);
    } else {
        krf__str_printf(out, "%d;\n", class_);
    }
}

/* Words of `each` rows that follow one another, turn by turn. */
static void put_loads(const krf__emitter *e, uint32_t operand, int row, int column, int each, krf__str *out) {
    const char *name = e->operand_names[operand], *word = krf__cuda_word_type(e, operand);
    const int n = turns(e) / each;
    krf__str lines = {0};
    put_place(e, row, column, each, &lines);
    put_walk(e, operand, column, &lines);
    krf__str_printf(&lines, "#pragma unroll\nfor (int q = 0; q < %d; q++) {\n    #pragma unroll\n    for (int j = 0; j < %d; j++) {\n", n, each);
    krf__str_printf(&lines, "        w_%s[q][j] = q * %d < left ? *(const %s *)(at_%s + j * row_%s) : %s{};\n    }\n", name, rows(e) * each, word, name, name, word);
    krf__str_printf(&lines, "    at_%s += %d * row_%s;\n}\n", name, rows(e) * each, name);
    krf__str_printf(out, "%s w_%s[%d][%d];\n{\n", word, name, n, each);
    krf__cuda_put_lines(out, "    ", lines.data);
    krf__str_put(out, "}\n");
    out->failed |= lines.failed;
    krf__str_free(&lines);
}

static void loads(krf__emitter *e, krf__str *out) {
    const int last = e->k->n_kept - 1, tile = e->k->tile;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (crosses(e, i)) {
            put_loads(e, i, tile, last, e->k->vector, out);
        } else if (stays(e, i)) {
            put_loads(e, i, last, tile, 1, out);
        }
    }
}

/* Rows of a small square become its columns. */
static void fill(krf__emitter *e, krf__str *out) {
    const int v = e->k->vector;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__storage_type(e->k->operands[i].dtype);
        if (crosses(e, i)) {
            krf__str_printf(out, "#pragma unroll\nfor (int q = 0; q < %d; q++) {\n    union { %s word; %s at[%d]; } row[%d], column;\n", turns(e) / v, krf__cuda_word_type(e, i), type, v, v);
            krf__str_printf(out, "    #pragma unroll\n    for (int j = 0; j < %d; j++) {\n        row[j].word = w_%s[q][j];\n    }\n", v, name);
            krf__str_printf(out, "    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        #pragma unroll\n        for (int j = 0; j < %d; j++) {\n", v, v);
            krf__str_printf(out, "            column.at[j] = row[j].at[k];\n        }\n        tile_%s[x * %d + k][(y + q * %d) ^ x] = column.word;\n    }\n}\n", name, v, rows(e));
        }
    }
}

static void start(krf__emitter *e, krf__str *out) {
    put_place(e, e->k->n_kept - 1, e->k->tile, 1, out);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].store) {
            put_walk(e, i, e->k->tile, out);
        }
    }
}

/* The words at hand; where an operand is read element by element, their place too. */
static void vectors(krf__emitter *e, krf__str *out) {
    bool reads = false;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (!krf__cuda_vectored(e, i)) {
            reads = true;
            continue;
        }
        krf__cuda_put_union(e, i, out);
        krf__str_put(out, ";\n");
        if (crosses(e, i)) {
            krf__str_printf(out, "v_%s.word = tile_%s[y + q * %d][x ^ (y + q * %d) / %d];\n", name, name, rows(e), rows(e), e->k->vector);
        } else if (stays(e, i)) {
            krf__str_printf(out, "v_%s.word = w_%s[q][0];\n", name, name);
        }
    }
    if (reads) {
        krf__str_printf(out, "const %s i%d = first%d + y + q * %d;\n", krf__index_type(e), e->k->tile, e->k->tile, rows(e));
    }
}

/* Not by __stcs, which is up to 1.4 % slower where rows lie far apart. */
static void stores(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const char *name = e->operand_names[i];
        if (e->k->operands[i].store) {
            krf__str_printf(out, "*(%s *)at_%s = v_%s.word;\n", krf__cuda_word_type(e, i), name, name);
        }
    }
}

static void next(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].store) {
            krf__str_printf(out, "at_%s += %d * row_%s;\n", e->operand_names[i], rows(e), e->operand_names[i]);
        }
    }
}

static void put_words(krf__emitter *e, krf__str *out) { krf__str_i64(out, words(e)); }
static void put_rows(krf__emitter *e, krf__str *out) { krf__str_i64(out, rows(e)); }
static void put_turns(krf__emitter *e, krf__str *out) { krf__str_i64(out, turns(e)); }

const krf__hole krf__cuda_tile_word_holes[] = {
    {"WORD_SHARED", shared},
    {"WORD_LOADS", loads},
    {"WORD_FILL", fill},
    {"WORD_START", start},
    {"WORD_VECTORS", vectors},
    {"WORD_STORES", stores},
    {"WORD_NEXT", next},
    {"WORD_ROWS", put_rows},
    {"WORD_TURNS", put_turns},
    {"WORDS", put_words},
    {NULL, NULL},
};
