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

/* ---- map ---- */

static void map_loads(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    bool tail = k->vector > 1 && k->n_kept == 1;
    if (tail) {
        krf__str_printf(out, "const bool whole = i + %d <= n0;\n", k->vector);
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const char *name = e->operand_names[i], *type = krf__storage_type(k->operands[i].dtype);
        if (krf__cuda_vectored(e, i)) {
            krf__str_printf(out, "union { %s word; %s at[%d]; } v_%s;\n", krf__cuda_word_type(e, i), type, k->vector, name);
        }
        if (k->operands[i].store) {
            continue;
        }
        if (k->operands[i].counts || k->operands[i].gathered) {
            krf__str_printf(out, "const %s%s v_%s = a.%s", k->operands[i].counts ? "long long" : type, k->operands[i].counts ? "" : " *", name, name);
            krf__cuda_put_offset(e, i, false, out);
            krf__str_put(out, ";\n");
            continue;
        }
        if (!krf__cuda_vectored(e, i)) {
            krf__str_printf(out, "const %s v_%s = a.%s[0", type, name, name);
            krf__cuda_put_offset(e, i, false, out);
            krf__str_put(out, "];\n");
            continue;
        }
        const char *lead = tail ? "if (whole) {\n    " : "";
        krf__str_printf(out, "%sv_%s.word = __ldcs((const %s *)(a.%s", lead, name, krf__cuda_word_type(e, i), name);
        krf__cuda_put_offset(e, i, false, out);
        krf__str_put(out, "));\n");
        if (tail) {
            krf__str_printf(out, "} else {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        v_%s.at[k] = i + k < n0 ? a.%s[i + k] : (%s)0;\n    }\n}\n",
                            k->vector, name, name, type);
        }
    }
}

/* The value of an operand that counts, or the address of one that is gathered, which takes the k-th element of a vector as one step along the fast dimension more. */
static void place(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *name = e->operand_names[operand];
    int fast = k->n_kept + k->n_reduced - 1, class_ = krf__stride_class(k, &k->operands[operand], fast);
    bool along = e->mode == 0 && k->schedule != KRF__REDUCE_COL;
    if (along) {
        krf__str_printf(out, k->schedule == KRF__MAP ? "(v_%s" : "(v_%s[q]", name);
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
    } else if (e->mode == 3 || e->k->schedule == KRF__REDUCE_COL) {
        krf__str_printf(out, "a.%s[0", name);
        krf__cuda_put_offset(e, i->slot, true, out);
        krf__str_put(out, "]");
    } else if (e->k->schedule == KRF__MAP) {
        krf__str_printf(out, krf__cuda_vectored(e, i->slot) ? "v_%s.at[k]" : "v_%s", name);
    } else if (krf__cuda_vectored(e, i->slot)) {
        krf__str_printf(out, "v_%s[q].at[k]", name);
    } else {
        krf__str_printf(out, "v_%s[q]", name);
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
        if (i < e->k->n_domain && e->taint[i] != varying) {
            continue;
        }
        krf__emit_statement(e, i, &line);
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

static void map_body(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    e->mode = 0;
    const char *indent = k->vector > 1 ? "    " : "";
    if (k->vector > 1) {
        krf__str_printf(out, "#pragma unroll\nfor (int k = 0; k < %d; k++) {\n", k->vector);
    }
    krf__cuda_put_statements(e, 0, k->n_domain, indent, out);
    for (uint32_t i = 0; i < k->n_domain && k->vector > 1; i++) {
        if (k->instrs[i].op == KRF__store) {
            krf__str_printf(out, "    v_%s.at[k] = ", e->operand_names[k->instrs[i].slot]);
            krf__emit_stored(e, k->instrs[i].args[0], (krf_dtype)k->instrs[i].dtype, out);
            krf__str_put(out, ";\n");
        }
    }
    krf__str_put(out, k->vector > 1 ? "}\n" : "");
}

static void map_stores(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    bool tail = k->vector > 1 && k->n_kept == 1;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *s = &k->instrs[i];
        const char *name = s->op == KRF__store ? e->operand_names[s->slot] : NULL;
        if (name == NULL) {
            continue;
        }
        if (k->vector == 1) {
            krf__cuda_put_store(e, s, false, out);
            continue;
        }
        krf__str_printf(out, "%s__stcs((%s *)(a.%s", tail ? "if (whole) {\n    " : "", krf__cuda_word_type(e, s->slot), name);
        krf__cuda_put_offset(e, s->slot, false, out);
        krf__str_printf(out, "), v_%s.word);\n", name);
        if (tail) {
            krf__str_printf(out, "} else {\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        if (i + k < n0) {\n            a.%s[i + k] = v_%s.at[k];\n        }\n    }\n}\n",
                            k->vector, name, name);
        }
    }
}

static void kept_position(krf__emitter *e, krf__str *out) {
    krf__emit_position(e, KRF__PART_KEPT, e->k->schedule == KRF__MAP ? "i" : "o", out);
}

static const krf__hole own[] = {
    {"EXTENTS", extents},
    {"KEPT_POSITION", kept_position},
    {"MAP_LOADS", map_loads},
    {"MAP_BODY", map_body},
    {"MAP_STORES", map_stores},
    {NULL, NULL},
};

static const krf__hole *const holes[] = {own, krf__cuda_reduce_holes, krf__cuda_scan_holes, krf__cuda_row_holes, krf__cuda_tile_holes, krf__cuda_short_holes, NULL};

static const char *const sources[] = {"builtins.h", "prelude.h", "cast.h", "half.h",    "numbers.h", "random.h",      "real.h",
                                      "trig.h",     "explog.h",  "erf.h",  "special.h", "device.h",  "device_math.h", NULL};

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
    .inline_function = "static __device__ __forceinline__",
    .infinity_f32 = "__int_as_float(0x7f800000)",
    .infinity_f64 = "__longlong_as_double(0x7ff0000000000000LL)",
    .nan_f32 = "__int_as_float(0x7fc00000)",
    .nan_f64 = "__longlong_as_double(0x7ff8000000000000LL)",
    .holes = holes,
    .load = load,
    .fetch_condition = fetch_condition,
};
