/* The CUDA target: its table, and the value of a load under each schedule. */
#include "codegen/cuda.h"

/* Which of a thread's loads, or of its vectors, is at hand. */
static const char *element(const krf__kernel *k) {
    return k->schedule == KRF__REDUCE_COL ? "[g]" : k->schedule != KRF__MAP ? "[q]" : krf__map_each(k) > 1 ? "[u]" : "";
}

/* The value of an operand that counts, or the address of one that is gathered, which takes the k-th element of a vector as one step along the fast dimension more. */
static void place(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *name = e->operand_names[operand];
    int fast = k->schedule == KRF__REDUCE_COL ? k->n_kept - 1 : k->n_kept + k->n_reduced - 1, class_ = krf__stride_class(k, &k->operands[operand], fast);
    bool along = e->mode == 0 && !k->flat;
    if (k->period > 0) {
        krf__cuda_put_period_count(e, operand, out);
        return;
    }
    if (along && k->operands[operand].counts && k->operands[operand].aligned) { /* so that compilers see which bits the element's number has to itself */
        krf__str_printf(out, "((v_%s%s & -%dLL) | k)", name, element(k), k->vector);
        return;
    }
    if (along) {
        krf__str_printf(out, "(v_%s%s", name, element(k));
    } else {
        krf__str_printf(out, "(a.%s", name);
        krf__cuda_put_offset(e, operand, e->mode != 1, out);
    }
    if (along && k->vector > 1 && class_ != 0) {
        krf__str_put(out, " + k");
    }
    if (along && k->vector > 1 && class_ >= 2) {
        krf__str_printf(out, " * %s_s%d", name, fast);
    }
    krf__str_put(out, ")");
}

static void put_of_vector(const krf__emitter *e, uint32_t operand, krf__str *out) {
    if (krf__cuda_vectored(e, operand)) {
        krf__str_printf(out, e->lane == 3 ? ".pair[k]" : ".at[%s]", krf__cuda_element(e));
    }
}

/* The value of a load in the innermost loop. */
static void load(const krf__emitter *e, const krf__instr *i, krf__str *out) {
    const char *name = e->operand_names[i->slot];
    if (e->k->schedule == KRF__TILE && e->k->strip > 0 && !e->k->operands[i->slot].counts) {
        krf__cuda_put_strip_load(e, i->slot, out);
    } else if (e->k->schedule == KRF__TILE && !krf__cuda_vectored(e, i->slot)) {
        krf__cuda_put_tile_load(e, i->slot, out);
    } else if (e->k->operands[i->slot].inner != 0) {
        krf__str_put(out, name);
    } else if (e->k->operands[i->slot].counts || i->op == KRF__fetch) {
        place(e, i->slot, out);
    } else if (e->mode == 1 || (e->k->flat && !krf__cuda_vectored(e, i->slot))) { /* over results, or of the element's own place */
        krf__str_printf(out, "a.%s[0", name);
        krf__cuda_put_offset(e, i->slot, e->mode != 1, out);
        krf__str_put(out, "]");
    } else if (e->mode == 3 && krf__cuda_keeps_rest(e, i->slot)) {
        krf__str_printf(out, "rest_%s", name);
    } else if (e->mode == 3) {
        krf__str_printf(out, "a.%s[0", name);
        krf__cuda_put_offset(e, i->slot, true, out);
        krf__str_put(out, "]");
    } else if (e->k->spread && e->k->operands[i->slot].record != 0) {
        krf__cuda_put_field(e, i->slot, krf__cuda_element(e), out);
    } else if (krf__is_map(e->k)) {
        krf__str_printf(out, "v_%s%s", name, krf__cuda_vectored(e, i->slot) && !e->k->several ? "" : element(e->k));
        put_of_vector(e, i->slot, out);
    } else {
        krf__str_printf(out, "v_%s%s", name, element(e->k));
        put_of_vector(e, i->slot, out);
    }
}

/* Vectors may hang over the end of the domain: what lies there has no place. */
static const char *fetch_condition(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    if (e->mode != 0 || k->schedule == KRF__REDUCE_COL) {
        return NULL;
    }
    return k->schedule != KRF__MAP ? "valid" : k->vector > 1 && k->n_kept == 1 ? "i + k < n0" : NULL;
}

static void extents(krf__emitter *e, krf__str *out) {
    krf__emit_extents(e, out);
    krf__cuda_put_fixed(e, out);
}

static void kept_position(krf__emitter *e, krf__str *out) {
    krf__emit_position(e, KRF__PART_KEPT, e->k->schedule == KRF__MAP ? "i" : "o", out);
}

static const krf__hole own[] = {
    {"EXTENTS", extents},
    {"KEPT_POSITION", kept_position},
    {NULL, NULL},
};

static const krf__hole *const holes[] = {own, krf__cuda_begin_holes, krf__cuda_map_holes, krf__cuda_each_holes, krf__cuda_period_holes, krf__cuda_load_holes, krf__cuda_part_holes, krf__cuda_drift_holes, krf__cuda_chunk_holes, krf__cuda_reduce_holes, krf__cuda_option_holes, krf__cuda_partial_holes, krf__cuda_skeleton_holes, krf__cuda_column_holes, krf__cuda_column_any_holes, krf__cuda_column_ahead_holes, krf__cuda_column_flat_holes, krf__cuda_column_drift_holes, krf__cuda_scan_holes, krf__cuda_scan_back_holes, krf__cuda_row_holes, krf__cuda_tile_holes, krf__cuda_tile_word_holes, krf__cuda_short_holes, krf__cuda_outer_holes, krf__cuda_line_holes, krf__cuda_stage_holes, krf__cuda_scan_column_holes, krf__cuda_scan_alone_holes, krf__cuda_scan_short_holes, krf__cuda_team_holes, krf__cuda_team_tile_holes, krf__cuda_strip_holes, krf__cuda_word_holes, NULL};

static const char *const sources[] = {"builtins.h", "prelude.h", "cast.h", "half.h",    "numbers.h", "random.h",      "real.h",
                                      "trig.h",     "explog.h",  "pairs.h", "floats.h", "tails.h", "powers.h", "erf.h",  "special.h", "gammas.h", "tell.h", "device.h",  "device_f64.h", "division.h", "device_math.h", "half_math.h", "half2.h", "byte4.h", "quotient.h", "fast.h", NULL};

const krf__target krf__target_cuda = {
    .name = "cuda",
    .suffix = ".cu",
    .skeletons = {"map", "reduce_all", "reduce_row", "reduce_short", "reduce_col", "scan", "row", "row_short", "row", "tile"},
    .arguments = "a.",
    .function_prefix = "",
    .definitions = "#define KRF_FN static __device__ __forceinline__\n#define KRF_F32(name) name##f\n#define KRF_F64(name) name\n",
    .sources = sources,
    .gpu = true,
    .cuts_integers = true,
    .multiplies = true,
    .hides_constants = true,
    .stores_unrounded = true,
    .fast = "// NVRTC option: --fmad=true\n// NVRTC option: --ftz=true\n// NVRTC option: --prec-div=false\n// NVRTC option: --prec-sqrt=false\n",
    .approximates = true,
    .inline_function = "static __device__ __forceinline__",
    .infinity_f32 = "__int_as_float(0x7f800000)",
    .infinity_f64 = "__longlong_as_double(0x7ff0000000000000LL)",
    .nan_f32 = "__int_as_float(0x7fc00000)",
    .nan_f64 = "__longlong_as_double(0x7ff8000000000000LL)",
    .holes = holes,
    .load = load,
    .fetch_condition = fetch_condition,
    .fetched = krf__cuda_put_fetched,
    .converted = krf__cuda_put_converted,
};
