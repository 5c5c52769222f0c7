/* The CUDA target's maps by tiles: what stands in the holes of skeleton/tile.cu and tile_each.cu; those of tile_words.cu are in cuda_tile_words.c. Dimension `tile` runs along a row of the square while it is filled, the
 * last one while it is used; a thread has an element in every so many rows. */
#include "codegen/cuda.h"

#include <stdio.h>

enum { MOST_REGISTERS = 48, MOST_STATEMENTS = 512 };

/* Rows of a tile that the threads are on at a time, and how often they go on. */
static int rows(const krf__emitter *e) { return krf__tile_threads(e->k) / krf__tile_side(e->k); }
static int turns(const krf__emitter *e) { return krf__tile_side(e->k) / rows(e); }

static bool crosses(const krf__emitter *e, uint32_t operand) { return krf__tile_crosses(e->k, &e->k->operands[operand]); }

static bool reads_memory(const krf__operand *o) { return !o->store && !o->counts; }

/* Whether a thread can hold all that it reads, and the body is short enough to be written out for each: else a tile is filled after the other, and other
 * operands are read where they are used. */
static bool holds(const krf__emitter *e) {
    int registers = 0;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const krf__operand *o = &e->k->operands[i];
        registers += reads_memory(o) ? turns(e) * (krf_dtype_size((krf_dtype)o->dtype) > 4 ? 2 : 1) : 0;
    }
    return e->k->vector == 1 && registers <= MOST_REGISTERS && turns(e) * (int)e->k->n_domain <= MOST_STATEMENTS;
}

static void shared(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (crosses(e, i)) {
            krf__str_printf(out, "__shared__ %s tile_%s[%d][%d];\n", krf__storage_type(k->operands[i].dtype), e->operand_names[i], krf__tile_side(k),
                            krf__tile_pitch(k, &k->operands[i]));
        }
    }
}

/* The square's corner, and the other dimensions' indices. */
static void position(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *type = krf__index_type(e);
    int last = k->n_kept - 1, side = krf__tile_side(k), down = krf__tile_down(k), left = k->n_kept - 2;
    krf__str_printf(out, "const %s across = (n%d + %d) / %d, block = (%s)blockIdx.x, q0 = block / across;\n", type, last, side - 1, side, type);
    krf__str_printf(out, "const %s first%d = block %% across * %d;\n", type, last, side);
    if (left == 0) {
        krf__str_printf(out, "const %s first%d = q0 * %d;\n", type, k->tile, down);
        return;
    }
    krf__str_printf(out, "const %s down = (n%d + %d) / %d, q1 = q0 / down, first%d = q0 %% down * %d;\n", type, k->tile, down - 1, down, k->tile, down);
    for (int d = k->n_kept - 2, q = 1; d >= 0; d--) {
        if (d == k->tile) {
            continue;
        }
        const int layers = d + 1 == k->layer ? krf__tile_layers(k) : 1;
        char times[24] = "";
        if (layers > 1) {
            snprintf(times, sizeof times, " * %d + z", layers);
        }
        if (--left == 0) {
            krf__str_printf(out, "const %s i%d = q%d%s;\n", type, d, q, times);
        } else if (layers > 1) {
            krf__str_printf(out, "const %s deep = (n%d + %d) / %d, i%d = q%d %% deep%s, q%d = q%d / deep;\n", type, d, layers - 1, layers, d, q, times, q + 1, q);
            q++;
        } else {
            krf__str_printf(out, "const %s i%d = q%d %% n%d, q%d = q%d / n%d;\n", type, d, q, d, q + 1, q, d);
            q++;
        }
    }
}

/* The place of the first turn, where rows run along dimension `row`, and how many rows of the array are left there: none for a thread beside it. */
static void put_start(const krf__emitter *e, int row, int column, krf__str *out) {
    const char *type = krf__index_type(e);
    krf__str_printf(out, "const %s i%d = first%d + x, i%d = first%d + y;\n", type, row, row, column, column);
    krf__str_printf(out, "const %s left = i%d < n%d ? n%d - i%d : 0;\n", type, row, row, column, column);
}

/* The place of turn q. */
static void put_place(const krf__emitter *e, int row, int column, krf__str *out) {
    const char *type = krf__index_type(e);
    krf__str_printf(out, "const %s i%d = first%d + x, i%d = first%d + y + q * %d;\n", type, row, row, column, column, rows(e));
    krf__str_printf(out, "const bool inside = q * %d < left;\n", rows(e));
}

/* An operand's address in the first turn, and how far the next one is: an addition a turn, where its place would take several operations. */
static void put_walk(const krf__emitter *e, uint32_t operand, int column, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand];
    const int class_ = krf__stride_class(e->k, o, column);
    krf__str_printf(out, "%s%s *at_%s = &", o->store ? "" : "const ", krf__storage_type(o->dtype), name);
    krf__cuda_put_tile_address(e, operand, out);
    krf__str_printf(out, class_ >= 2 ? ";\nconst long long step_%s = %dLL * %s_s%d;\n" : ";\nconst long long step_%s = %d;\n", name, class_ == 0 ? 0 : rows(e), name, column);
}

static void put_step(const krf__emitter *e, uint32_t operand, krf__str *out) { krf__str_printf(out, "at_%s += step_%s;\n", e->operand_names[operand], e->operand_names[operand]); }

/* Of what is stored. */
static void start(krf__emitter *e, krf__str *out) {
    put_start(e, e->k->n_kept - 1, e->k->tile, out);
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].store) {
            put_walk(e, i, e->k->tile, out);
        }
    }
}

static void element(krf__emitter *e, krf__str *out) { put_place(e, e->k->n_kept - 1, e->k->tile, out); }

static void next(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        const krf__operand *o = &e->k->operands[i];
        if (o->store && e->k->strip == 0) {
            put_step(e, i, out);
        } else if (o->store && krf__stride_class(e->k, o, e->k->tile) >= 2) {
            krf__str_printf(out, "at_%s += %s_s%d;\n", e->operand_names[i], e->operand_names[i], e->k->tile);
        } else if (o->store) {
            krf__str_printf(out, "at_%s += %d;\n", e->operand_names[i], krf__stride_class(e->k, o, e->k->tile));
        }
    }
}

/* Loads of one operand into registers; of all that are `crossing`, or of all that are not. */
static void put_loads(const krf__emitter *e, bool crossing, krf__str *out) {
    const krf__kernel *k = e->k;
    const int last = k->n_kept - 1, row = crossing ? k->tile : last, column = crossing ? last : k->tile;
    krf__str walks = {0}, lines = {0};
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (reads_memory(&k->operands[i]) && crosses(e, i) == crossing) {
            const char *name = e->operand_names[i], *type = krf__storage_type(k->operands[i].dtype);
            krf__str_printf(out, "%s v_%s[%d];\n", type, name, turns(e));
            put_walk(e, i, column, &walks);
            krf__str_printf(&lines, "v_%s[q] = q * %d < left ? *at_%s : (%s)0;\n", name, rows(e), name, type);
            put_step(e, i, &lines);
        }
    }
    if (lines.data != NULL && walks.data != NULL) {
        krf__str begin = {0};
        put_start(e, row, column, &begin);
        krf__str_put(out, "{\n");
        krf__cuda_put_lines(out, "    ", begin.data);
        krf__cuda_put_lines(out, "    ", walks.data);
        krf__str_printf(out, "    #pragma unroll\n    for (int q = 0; q < %d; q++) {\n", turns(e));
        krf__cuda_put_lines(out, "        ", lines.data);
        krf__str_put(out, "    }\n}\n");
        out->failed |= begin.failed;
        krf__str_free(&begin);
    }
    out->failed |= lines.failed || walks.failed;
    krf__str_free(&walks);
    krf__str_free(&lines);
}

static void loads(krf__emitter *e, krf__str *out) {
    if (holds(e)) {
        put_loads(e, true, out);
        put_loads(e, false, out);
    }
}

static void fill(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const bool held = holds(e);
    krf__str begin = {0}, place = {0};
    put_start(e, k->tile, k->n_kept - 1, &begin);
    put_place(e, k->tile, k->n_kept - 1, &place);
    krf__str_put(out, held ? "" : "{\n");
    krf__cuda_put_lines(out, "    ", held ? NULL : begin.data);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (!crosses(e, i)) {
            continue;
        }
        krf__str_printf(out, "#pragma unroll\nfor (int q = 0; q < %d; q++) {\n", turns(e));
        if (!held) {
            krf__cuda_put_lines(out, "    ", place.data);
        }
        krf__str_printf(out, "    tile_%s[y + q * %d][x] = ", e->operand_names[i], rows(e));
        if (held) {
            krf__str_printf(out, "v_%s[q];\n}\n", e->operand_names[i]);
        } else {
            krf__str_put(out, "inside ? ");
            krf__cuda_put_tile_address(e, i, out);
            krf__str_printf(out, " : (%s)0;\n}\n", krf__storage_type(k->operands[i].dtype));
        }
    }
    krf__str_put(out, held ? "" : "}\n");
    out->failed |= begin.failed || place.failed;
    krf__str_free(&begin);
    krf__str_free(&place);
}

void krf__cuda_put_tile_load(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand];
    if (o->counts) {
        krf__str_printf(out, "(a.%s", name);
        krf__cuda_put_offset(e, operand, false, out);
        krf__str_put(out, ")");
    } else if (crosses(e, operand)) {
        krf__str_printf(out, "tile_%s[x][y + q * %d]", name, rows(e));
    } else if (holds(e)) {
        krf__str_printf(out, "v_%s[q]", name);
    } else {
        krf__cuda_put_tile_address(e, operand, out);
    }
}

static void put_strips(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "tile_strip", out); }

static void square(krf__emitter *e, krf__str *out) {
    if (e->k->strip > 0) {
        krf__cuda_unrolled(e, put_strips, out);
    } else {
        krf__emit_skeleton(e, e->k->vector > 1 ? "tile_words" : "tile_each", out);
    }
}

static void put_side(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__tile_side(e->k)); }
static void put_threads(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__tile_threads(e->k)); }
static void put_unroll(krf__emitter *e, krf__str *out) { krf__str_put(out, holds(e) ? "#pragma unroll\n" : "#pragma unroll 2\n"); }
static void put_turns(krf__emitter *e, krf__str *out) { krf__str_i64(out, turns(e)); }

const krf__hole krf__cuda_tile_holes[] = {
    {"TILE_SQUARE", square},
    {"TILE_SHARED", shared},
    {"TILE_POSITION", position},
    {"TILE_LOADS", loads},
    {"TILE_FILL", fill},
    {"TILE_START", start},
    {"TILE_ELEMENT", element},
    {"TILE_NEXT", next},
    {"TILE_SIDE", put_side},
    {"TILE_THREADS", put_threads},
    {"TILE_TURNS", put_turns},
    {"TILE_UNROLL", put_unroll},
    {NULL, NULL},
};
