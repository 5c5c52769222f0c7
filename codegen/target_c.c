/* The C target: its table, and where a body finds its operands. What it prints is what compilers vectorise. */
#include "codegen/emitter.h"

static void load(const krf__emitter *e, const krf__instr *i, krf__str *out) {
    const krf__operand *o = &e->k->operands[i->slot];
    const char *name = e->operand_names[i->slot];
    const bool place = o->counts || o->gathered;
    if (o->inner != 0) {
        krf__str_printf(out, e->side_by_side ? "%s[at + k]" : e->together ? "%s[row]" : "%s", name);
        return;
    }
    if (e->mode == 1 && e->k->schedule == KRF__SCAN && krf__c_turned(e, i->slot)) {
        krf__str_printf(out, "tile_%s[p][at + k]", name);
        return;
    }
    if (e->mode == 1) { /* over results: one at a time */
        krf__str_printf(out, place ? "(a->%s" : "a->%s[0", name);
        krf__c_put_result_offset(e, i->slot, out);
        krf__str_put(out, place ? ")" : "]");
        return;
    }
    if (place && krf__c_laid_out(e, i->slot)) {
        krf__str_printf(out, o->counts ? "p_%s[j + k]" : "(a->%s + p_%s[j + k])", name, name);
        return;
    }
    if (place) {
        const int class_ = krf__c_class(e, i->slot);
        krf__str_printf(out, class_ == 0 ? "p_%s" : class_ == 1 ? "(p_%s + j + k)" : "(p_%s + (j + k) * ", name);
        if (class_ >= 2) {
            krf__str_printf(out, "%s_s%d)", name, krf__c_fast_dim(e));
        }
        return;
    }
    switch (krf__c_class(e, i->slot)) {
    case 0: krf__str_printf(out, "p_%s[0]", name); break;
    case 1: krf__str_printf(out, "p_%s[j + k]", name); break;
    default:
        if (o->beside != 0) {
            name = e->operand_names[o->beside - 1];
        }
        krf__str_printf(out, o->beside != 0 ? "p_%s[(j + k) * %s_s%d + %d]" : "p_%s[(j + k) * %s_s%d]", name, name, krf__c_fast_dim(e), o->apart);
    }
}

static void pointers(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const bool domain = krf__c_in_domain(k, i);
        if (domain && k->narrow) {
            krf__c_put_narrow_pointer(e, i, out);
        } else if (domain && krf__c_crosses(e, i)) {
            const char *name = e->operand_names[i];
            krf__str_printf(out, "%s%s *const p_%s = ", o->store ? "" : "const ", krf__storage_type(o->dtype), name);
            if (k->schedule == KRF__ROW_COL) {
                krf__str_printf(out, "base_%s + p * step_%s;\n", name, name);
            } else {
                krf__str_printf(out, "tile_%s[%s;\n", name, e->side_by_side ? "p] + at" : "r]");
            }
        } else if (domain && o->inner == 0) {
            if (o->counts) {
                krf__str_printf(out, "const long long p_%s = a->%s", e->operand_names[i], e->operand_names[i]);
            } else {
                krf__str_printf(out, "%s%s *const p_%s = a->%s", o->store ? "" : "const ", krf__storage_type(o->dtype), e->operand_names[i],
                                e->operand_names[i]);
            }
            krf__emit_offset(e, i, KRF__PART_KEPT, -1, out);
            krf__emit_offset(e, i, KRF__PART_REDUCED, -1, out);
            krf__str_put(out, ";\n");
        }
    }
}

static void fast_extent(krf__emitter *e, krf__str *out) { krf__str_printf(out, "n%d", krf__c_fast_dim(e)); }
static void fast_index(krf__emitter *e, krf__str *out) { krf__str_printf(out, "i%d", krf__c_fast_dim(e)); }
static void strip(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__c_strip_length(e)); }
static void reduced_position(krf__emitter *e, krf__str *out) { krf__emit_position(e, KRF__PART_REDUCED, "p", out); }
static void kept_position(krf__emitter *e, krf__str *out) {
    krf__emit_position(e, KRF__PART_KEPT, krf__is_map(e->k) ? "i" : "o", out);
}

static const krf__hole own[] = {
    {"POINTERS", pointers},
    {"FAST_EXTENT", fast_extent},
    {"FAST_INDEX", fast_index},
    {"STRIP", strip},
    {"KEPT_POSITION", kept_position},
    {"REDUCED_POSITION", reduced_position},
    {NULL, NULL},
};

static const krf__hole *const holes[] = {own, krf__c_body_holes, krf__c_reduce_holes, krf__c_scan_holes, krf__c_scan_along_holes, krf__c_row_holes, krf__c_short_holes, krf__c_row_col_holes, krf__c_tile_holes, krf__c_column_holes, krf__c_store_holes, krf__c_narrow_holes, NULL};

static const char *const sources[] = {"prelude.h", "cast.h",    "half.h", "numbers.h", "real.h", "trig.h", "explog.h", "hyper.h", "gates.h", "single.h", "floats.h", "tails.h", "powers.h",
                                      "roots.h",   "arcs.h", "inverse.h", "pairs.h", "erf.h",  "special.h", "gammas.h", "bessel.h", "libm.h", "random.h", "lines.h", "wait.h", "turn.h", "rows.h", NULL};

/* Threaded jumps part what gcc vectorises else (minimum and maximum together take 1.4 to 1.5 times as long, softmaxes 1.1 to 1.2); without them, and without the elimination of what is redundant on some paths or after registers are given out, text of many
 * operations compiles in half to two thirds of the time. Calls of memcpy for short rows of lanes take twice the time of what is computed from these. */
#define FEWER_PASSES "#ifndef __clang__\n#pragma GCC optimize(\"no-thread-jumps\", \"no-gcse\", \"no-tree-pre\", \"no-gcse-after-reload\", \"no-tree-loop-distribute-patterns\")\n#endif\n"

const krf__target krf__target_c = {
    .name = "c",
    .suffix = ".c",
    .skeletons = {"map", "reduce", "reduce", "reduce", "reduce_col", "scan", "row", "row", "row", "tile"},
    .arguments = "a->",
    .function_prefix = "krf_",
    .definitions = FEWER_PASSES "#define KRF_FN static inline __attribute__((always_inline))\n#define KRF_F32(name) __builtin_##name##f\n#define KRF_F64(name) __builtin_##name\n",
    .sources = sources,
    .hides_places = true,
    .fetched = krf__c_put_fetched,
    .chooses_bools = true,
    .bool_type = krf__c_bool_type,
    .stores_unrounded = true,
    .turns_bits = true,
    .fast = "#ifdef __clang__\n#pragma STDC FP_CONTRACT ON\n#else\n#pragma GCC optimize(\"fp-contract=fast\")\n#endif\n",
    .inline_function = "static inline",
    .infinity_f32 = "__builtin_inff()",
    .infinity_f64 = "__builtin_inf()",
    .nan_f32 = "__builtin_nanf(\"\")",
    .nan_f64 = "__builtin_nan(\"\")",
    .holes = holes,
    .load = load,
};
