/* The CUDA target. Operands of a vector kernel travel through unions of a 16-byte word (or less) and its elements; every load is issued before the
 * first use. Streaming hints (.cs): most operands are read or written once. No __restrict__: an output may be an input. */
#include "codegen/cuda.h"

#include <string.h>

bool krf__cuda_in_domain(const krf__emitter *e, uint32_t operand, krf__op op) {
    for (uint32_t n = 0; n < e->k->n_domain; n++) {
        krf__op is = e->k->instrs[n].op == KRF__fetch ? KRF__load : (krf__op)e->k->instrs[n].op;
        if (is == op && e->k->instrs[n].slot == operand) {
            return true;
        }
    }
    return false;
}

bool krf__cuda_vectored(const krf__emitter *e, uint32_t operand) { return e->k->operands[operand].aligned; }

/* The builtin type of a whole vector of an operand. */
const char *krf__cuda_word_type(const krf__emitter *e, uint32_t operand) {
    switch (krf_dtype_size((krf_dtype)e->k->operands[operand].dtype) * (size_t)e->k->vector) {
    case 16: return "uint4";
    case 8: return "uint2";
    case 4: return "unsigned";
    case 2: return "unsigned short";
    default: return "unsigned char";
    }
}

void krf__cuda_put_offset(const krf__emitter *e, uint32_t operand, bool reduced, krf__str *out) {
    krf__emit_offset(e, operand, KRF__PART_KEPT, -1, out);
    if (reduced) {
        krf__emit_offset(e, operand, KRF__PART_REDUCED, -1, out);
    }
}

void krf__cuda_put_held(const krf__emitter *e, uint32_t operand, int n, const char *initially, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand], *type = krf__storage_type(o->dtype);
    if (krf__cuda_vectored(e, operand)) {
        krf__str_printf(out, "union { %s word; %s at[%d]; } v_%s[%d]%s;\n", krf__cuda_word_type(e, operand), type, e->k->vector, name, n, initially);
    } else {
        krf__str_printf(out, "%s%s %sv_%s[%d]%s;\n", o->gathered ? "const " : "", o->counts ? "long long" : type, o->gathered ? "*" : "", name, n, initially);
    }
}

void krf__cuda_put_held_load(const krf__emitter *e, uint32_t operand, const char *index, const char *offset, bool again, krf__str *out) {
    const char *name = e->operand_names[operand];
    const bool place = e->k->operands[operand].counts || e->k->operands[operand].gathered;
    if (krf__cuda_vectored(e, operand)) {
        krf__str_printf(out, again ? "v_%s%s.word = *(const %s *)(a.%s%s);\n" : "v_%s%s.word = __ldcs((const %s *)(a.%s%s));\n", name, index,
                        krf__cuda_word_type(e, operand), name, offset);
    } else {
        krf__str_printf(out, place ? "v_%s%s = a.%s%s;\n" : "v_%s%s = a.%s[0%s];\n", name, index, name, offset);
    }
}

void krf__cuda_put_store(const krf__emitter *e, const krf__instr *store, bool reduced, krf__str *out) {
    krf__str_printf(out, "a.%s[0", e->operand_names[store->slot]);
    krf__cuda_put_offset(e, store->slot, reduced, out);
    krf__str_put(out, "] = ");
    krf__emit_stored(e, store->args[0], (krf_dtype)store->dtype, out);
    krf__str_put(out, ";\n");
}

void krf__cuda_unrolled(krf__emitter *e, void (*print)(krf__emitter *e, krf__str *out), krf__str *out) {
    krf__str loops = {0};
    print(e, &loops);
    krf__unroll(loops.data, out);
    out->failed |= loops.failed;
    krf__str_free(&loops);
}

/* Which of a thread's loads, or of its vectors, is at hand. */
static const char *element(const krf__kernel *k) {
    return k->schedule == KRF__REDUCE_COL ? "[g]" : k->schedule != KRF__MAP ? "[q]" : krf__map_each(k) > 1 ? "[u]" : "";
}

/* The value of an operand that counts, or the address of one that is gathered, which takes the k-th element of a vector as one step along the fast dimension more. */
static void place(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *name = e->operand_names[operand];
    int fast = k->schedule == KRF__REDUCE_COL ? k->n_kept - 1 : k->n_kept + k->n_reduced - 1, class_ = krf__stride_class(k, &k->operands[operand], fast);
    bool along = e->mode == 0;
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

/* The value of a load in the innermost loop. */
static void load(const krf__emitter *e, const krf__instr *i, krf__str *out) {
    const char *name = e->operand_names[i->slot];
    if (e->k->schedule == KRF__TILE) {
        krf__cuda_put_tile_load(e, i->slot, out);
    } else if (e->k->operands[i->slot].inner != 0) {
        krf__str_put(out, name);
    } else if (e->k->operands[i->slot].counts || i->op == KRF__fetch) {
        place(e, i->slot, out);
    } else if (e->mode == 1) { /* over results */
        krf__str_printf(out, "a.%s[0", name);
        krf__cuda_put_offset(e, i->slot, false, out);
        krf__str_put(out, "]");
    } else if (e->mode == 3) {
        krf__str_printf(out, "a.%s[0", name);
        krf__cuda_put_offset(e, i->slot, true, out);
        krf__str_put(out, "]");
    } else if (e->k->schedule == KRF__MAP) {
        krf__str_printf(out, krf__cuda_vectored(e, i->slot) ? "v_%s.at[k]" : "v_%s%s", name, element(e->k));
    } else if (krf__cuda_vectored(e, i->slot)) {
        krf__str_printf(out, "v_%s%s.at[k]", name, element(e->k));
    } else {
        krf__str_printf(out, "v_%s%s", name, element(e->k));
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

void krf__cuda_put_lines(krf__str *out, const char *indent, const char *text) {
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n'; /* the last line has none where memory ran out in it */
        krf__str_put(out, indent);
        krf__str_putn(out, text, length);
        text += length;
    }
}

/* Of the domain part, only what depends on a load (varying), or only what does not. */
static void put_some(krf__emitter *e, uint32_t first, uint32_t last, bool varying, const char *indent, krf__str *out) {
    for (uint32_t i = first; i < last; i++) {
        krf__str line = {0};
        const bool in_round = i < e->k->n_domain && e->k != e->kernel;
        if ((i < e->k->n_domain && e->taint[i] != varying) || (in_round && !e->needed[i])) {
            continue;
        }
        if (in_round && i == e->replaced) {
            krf__cuda_put_kept(e, i, &line);
        } else {
            krf__emit_statement(e, i, &line);
        }
        if (in_round && i == e->saved) {
            krf__str_put(&line, indent);
            krf__cuda_put_kept(e, i, &line);
        }
        if (line.data != NULL) {
            krf__str_printf(out, "%s%s", indent, line.data);
        }
        out->failed |= line.failed;
        krf__str_free(&line);
    }
}

void krf__cuda_put_statements(krf__emitter *e, uint32_t first, uint32_t last, const char *indent, krf__str *out) {
    put_some(e, first, last, true, indent, out);
}

/* Computed once a thread, because the compiler may not fold it. */
void krf__cuda_put_fixed(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        e->taint[i] = k->instrs[i].op == KRF__load || k->instrs[i].op == KRF__fetch;
        for (int a = 0; a < krf__op_info_of(k->instrs[i].op)->arity; a++) {
            e->taint[i] |= e->taint[k->instrs[i].args[a]];
        }
    }
    put_some(e, 0, k->n_domain, false, "", out);
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

static const krf__hole *const holes[] = {own, krf__cuda_map_holes, krf__cuda_reduce_holes, krf__cuda_column_holes, krf__cuda_scan_holes, krf__cuda_row_holes, krf__cuda_tile_holes, krf__cuda_short_holes, NULL};

static const char *const sources[] = {"builtins.h", "prelude.h", "cast.h", "half.h",    "numbers.h", "random.h",      "real.h",
                                      "trig.h",     "explog.h",  "pairs.h", "erf.h",  "special.h", "device.h",  "device_math.h", "half_math.h", "quotient.h", "fast.h", NULL};

const krf__target krf__target_cuda = {
    .name = "cuda",
    .suffix = ".cu",
    .skeletons = {"map", "reduce_all", "reduce_row", "reduce_short", "reduce_col", "scan", "row", "row_short", "tile"},
    .arguments = "a.",
    .function_prefix = "",
    .definitions = "#define KRF_FN static __device__ __forceinline__\n#define KRF_F32(name) name##f\n#define KRF_F64(name) name\n",
    .sources = sources,
    .cuts_integers = true,
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
};
