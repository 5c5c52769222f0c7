/* The C target's maps by tiles: what stands in the holes of skeleton/tile.c. Operands that lie across are copied into rows first, for each line of memory
 * is then read once, and bodies find neighbours side by side. */
#include "codegen/emitter.h"

static void position(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *type = krf__index_type(e);
    const int down = k->tile, across = k->n_kept - 1, rows = KRF__TILE_ROWS, columns = KRF__TILE_COLUMNS;
    int left = k->n_kept - 2;
    krf__str_printf(out, "const long long down = (n%d + %d) / %d, across = (n%d + %d) / %d, ", down, rows - 1, rows, across, columns - 1, columns);
    krf__str_printf(out, "top = u %% down * %d, left = u / down %% across * %d;\n", rows, columns);
    krf__str_printf(out, "const int rows = n%d - top < %d ? (int)(n%d - top) : %d;\n", down, rows, down, rows);
    krf__str_printf(out, "const long long right = n%d - left < %d ? n%d : left + %d;\n", across, columns, across, columns);
    krf__str_put(out, left > 0 ? "const long long q0 = u / down / across;\n" : "");
    for (int d = k->n_kept - 2, q = 0; d >= 0; d--) {
        if (d == k->tile) {
            continue;
        }
        if (--left == 0) {
            krf__str_printf(out, "const %s i%d = (%s)q%d;\n", type, d, type, q);
        } else {
            krf__str_printf(out, "const %s i%d = (%s)(q%d %% n%d);\nconst long long q%d = q%d / n%d;\n", type, d, type, q, d, q + 1, q, d);
            q++;
        }
    }
}

static void put_place(const krf__emitter *e, const char *row, krf__str *out) {
    const char *type = krf__index_type(e);
    krf__str_printf(out, "const %s i%d = (%s)(%s), i%d = (%s)at;\n", type, e->k->tile, type, row, e->k->n_kept - 1, type);
}

static void place(krf__emitter *e, krf__str *out) { put_place(e, "top + r", out); }

void krf__c_put_turn(const krf__emitter *e, uint32_t operand, int to_step, const char *from_step, const char *rows, const char *columns, krf__str *out) {
    const int bytes = (int)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype);
    krf__str_printf(out, "krf_turn_%d(tile_%s[0], %d, from, %s, %s, %s);\n", bytes, e->operand_names[operand], to_step, from_step, rows, columns);
}

static void copies(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__storage_type(k->operands[i].dtype);
        if (!krf__c_crosses(e, i)) {
            continue;
        }
        krf__str_printf(out, "%s tile_%s[%d][%d];\n{\n", type, name, KRF__TILE_ROWS, krf__c_strip_length(e));
        put_place(e, "top", out);
        krf__str_printf(out, "const long long step = %s_s%d;\nconst %s *const from = a->%s", name, k->n_kept - 1, type, name);
        krf__emit_offset(e, i, KRF__PART_KEPT, -1, out);
        krf__str_put(out, ";\n");
        krf__c_put_turn(e, i, krf__c_strip_length(e), "step", "m", "rows", out);
        krf__str_put(out, "}\n");
    }
}

const krf__hole krf__c_tile_holes[] = {{"TILE_POSITION", position}, {"TILE_COPIES", copies}, {"TILE_PLACE", place}, {NULL, NULL}};
