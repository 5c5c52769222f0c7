/* The C target: what compilers vectorise. Bodies are cut into stages after each costly function, whose results go through a local block: a long
 * dependent chain in one loop would leave the processor waiting. */
#include "codegen/emitter.h"

#include <stdio.h>
#include <string.h>

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
    default: krf__str_printf(out, "p_%s[(j + k) * %s_s%d]", name, name, krf__c_fast_dim(e));
    }
}

/* Whether an instruction uses a value in a stage: stores do in the last one, calls in all that they take. */
static bool uses_in(const krf__emitter *e, uint32_t user, uint32_t value, uint32_t stage, uint32_t last) {
    const bool store = e->k->instrs[user].op == KRF__store;
    const uint32_t end = store ? last : e->stage_of[user], first = store ? last : e->first_stage_of[user];
    return first <= stage && stage <= end && krf__instr_uses(e->k, user, value);
}

/* Whether the operands of an instruction are not looked at. */
static bool passed_over(const krf__emitter *e, uint32_t instr) { return krf__c_left_out(e, instr) || krf__c_is_there(e, instr); }

static void put_statement(krf__emitter *e, uint32_t instr, krf__str *out) {
    krf__str_put(out, "    ");
    if (krf__c_is_there(e, instr)) {
        krf__c_put_kept(e, instr, out);
    } else if (krf__c_draws(e, instr)) {
        krf__c_put_drawn(e, instr, out);
    } else {
        krf__c_put_statement(e, instr, out);
    }
}

/* Marks what stage `stage` needs from earlier ones: loads are repeated, other values come from their blocks. */
static void put_stage_inputs(krf__emitter *e, uint32_t stage, uint32_t last, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        bool used = false;
        if (e->stage_of[i] >= stage || krf__c_left_out(e, i) || krf__c_is_fixed(e, i) || krf__instr_free(&k->instrs[i]) || k->instrs[i].op == KRF__store || k->instrs[i].op == KRF__bind) {
            continue;
        }
        for (uint32_t u = i + 1; u < k->n_domain && !used; u++) {
            used |= !passed_over(e, u) && uses_in(e, u, i, stage, last);
        }
        for (uint32_t r = 0; r < k->n_reductions; r++) {
            used |= stage == last && k->instrs[k->n_domain + r].args[0] == i;
        }
        if (used && (k->instrs[i].op == KRF__load || krf__c_is_there(e, i))) {
            put_statement(e, i, out);
        } else if (used) {
            krf__str_printf(out, "    const %s t%u = b%u[k];\n", krf__instr_type(e, i), i, i);
        }
    }
}

static bool used_later(const krf__emitter *e, uint32_t instr, uint32_t last) {
    const krf__kernel *k = e->k;
    if (k->instrs[instr].op == KRF__bind) {
        return false;
    }
    for (uint32_t u = instr + 1; u < k->n_domain + k->n_reductions; u++) {
        if (u < k->n_domain && passed_over(e, u)) {
            continue;
        }
        uint32_t at = u >= k->n_domain || k->instrs[u].op == KRF__store ? last : e->stage_of[u];
        if (at > e->stage_of[instr] && (u < k->n_domain ? krf__instr_uses(k, u, instr) : k->instrs[u].args[0] == instr)) {
            return true;
        }
    }
    return false;
}

/* An element of an output, into its block: what an earlier stage or round handed on is rounded already, else the store rounds, or the conversion behind the loops. */
static void put_stored(krf__emitter *e, const krf__instr *store, uint32_t last, krf__str *out) {
    const uint32_t value = store->args[0];
    const bool half = krf__is_half((krf_dtype)store->dtype), converts = krf__c_converts_store(e, store->slot);
    const bool rounded = half && !krf__instr_free(&e->k->instrs[value]) && (e->stage_of[value] < last || krf__c_is_there(e, value));
    krf__str_printf(out, "    %s_%s[k] = ", converts ? "f" : "b", e->operand_names[store->slot]);
    if (half && !converts) {
        krf__str_printf(out, "krf_store_%s(", krf_dtype_name((krf_dtype)store->dtype));
    }
    if (rounded) {
        krf__emit_value(e, value, out);
    } else {
        krf__emit_unrounded(e, value, out);
    }
    krf__str_put(out, half && !converts ? ");\n" : ";\n");
}

/* The last stage hands values on: to the blocks of outputs, and to the accumulators. */
static void put_consumers(krf__emitter *e, uint32_t last, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (k->instrs[i].op == KRF__store) {
            put_stored(e, &k->instrs[i], last, out);
        }
    }
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        bool scan = k->schedule == KRF__SCAN;
        krf__str_printf(out, scan ? "    acc%u[at + k] = " : "    acc%u[at + k] = red%u(", r, e->reduction + r);
        if (!scan && (e->side_by_side || krf__c_once(e))) { /* the only element of its lane */
            krf__emit_identity(e, r, out);
        } else if (!scan) {
            krf__str_printf(out, "acc%u[at + k]", r);
        }
        krf__str_put(out, scan ? "" : ", ");
        krf__emit_value(e, k->instrs[k->n_domain + r].args[0], out);
        krf__str_put(out, scan ? ";\n" : ");\n");
    }
}

static void put_copy_out(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        if (e->k->instrs[i].op == KRF__store) {
            krf__c_copy_out(e, e->k->instrs[i].slot, out);
        }
    }
}

static void body(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    uint32_t last = krf__c_find_stages(e);
    krf__c_find_fixed(e);
    int strip = krf__c_strip_length(e);
    uint32_t key = 0;
    e->mode = 0;
    krf__c_put_prefetch(e, out);
    krf__c_put_conversions(e, strip, out);
    const bool compares = krf__c_compares_first(e, &key);
    if (compares) {
        krf__c_put_comparison(e, key, out);
    }
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *instr = &k->instrs[i];
        if (instr->op == KRF__store) {
            krf__c_put_block(e, instr->slot, strip, out);
        } else if (instr->op != KRF__load && !krf__instr_free(instr) && !passed_over(e, i) && !krf__c_is_fixed(e, i) && used_later(e, i, last)) {
            krf__str_printf(out, "%s b%u[%d];\n", krf__instr_type(e, i), i, strip);
        }
        if (!passed_over(e, i)) {
            krf__emit_call_blocks(e, i, strip, out);
        }
    }
    krf__c_put_draws(e, strip, out);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (krf__c_is_fixed(e, i)) {
            krf__c_put_statement(e, i, out);
        }
    }
    krf__c_put_runs(e, strip, out);
    for (uint32_t stage = 0; stage <= last; stage++) {
        krf__str_put(out, compares ? "for (int k = from; k < to; k++) {\n" : "for (int k = 0; k < m; k++) {\n");
        put_stage_inputs(e, stage, last, out);
        for (uint32_t i = 0; i < k->n_domain; i++) {
            const krf__instr *instr = &k->instrs[i];
            if (krf__c_left_out(e, i) || krf__c_is_fixed(e, i)) {
                continue;
            }
            if (e->first_stage_of[i] <= stage && stage < e->stage_of[i]) {
                krf__emit_call_stage(e, i, (int)(stage - e->first_stage_of[i]), out);
            }
            if (e->stage_of[i] != stage || krf__instr_free(instr) || instr->op == KRF__store || instr->op == KRF__bind) {
                continue;
            }
            put_statement(e, i, out);
            krf__c_keep(e, i, out);
            if (instr->op != KRF__load && !krf__c_is_there(e, i) && used_later(e, i, last)) {
                krf__str_printf(out, "    b%u[k] = t%u;\n", i, i);
            }
        }
        if (stage == last) {
            put_consumers(e, last, out);
        }
        krf__str_put(out, "}\n");
    }
    put_copy_out(e, out);
}

static void pointers(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const bool domain = krf__c_in_domain(k, i);
        if (domain && k->narrow) {
            krf__c_put_narrow_pointer(e, i, out);
        } else if (domain && krf__c_crosses(e, i)) {
            krf__str_printf(out, "%s%s *const p_%s = tile_%s[%s;\n", o->store ? "" : "const ", krf__storage_type(o->dtype), e->operand_names[i], e->operand_names[i], e->side_by_side ? "p] + at" : "r]");
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

static void tree(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (e->folds) { /* loops of known length, of which nothing is left over */
            krf__str_printf(out, "for (int k = 0; k < s; k += %d) {\n    for (int h = k; h < k + %d; h++) {\n        acc%u[h] = red%u(acc%u[h], acc%u[h + s]);\n    }\n}\n", KRF__FOLDED, KRF__FOLDED, r,
                            e->reduction + r, r, r);
        } else {
            krf__str_printf(out, "for (int k = 0; k < s; k++) {\n    acc%u[k] = red%u(acc%u[k], acc%u[k + s]);\n}\n", r, e->reduction + r, r, r);
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
    krf__str_printf(out, "void %s_finish(const struct krf_arguments *a, long long lo, long long hi) {\n    const int lanes = 256;\n", k->name);
    krf__str_put(out, "    for (long long o = lo; o < hi; o++) {\n");
    put_lanes(e, true, out);
    krf__str_put(out, "for (long long c = 0; c < a->chunks; c++) {\n");
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "acc%u[c %% 256] = red%u(acc%u[c %% 256], ", r, r, r);
        put_partial(e, r, "const ", out);
        krf__str_put(out, ");\n");
    }
    krf__str_put(out, "}\nfor (int s = lanes / 2; s > 0; s /= 2) {\n");
    tree(e, out);
    krf__str_put(out, "}\nresults(a, o");
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, ", acc%u[0]", r);
    }
    krf__str_put(out, ");\n    }\n}\n");
}

static void chunk_lanes(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "chunk", out); }

static const krf__hole own[] = {
    {"CHUNK_LANES", chunk_lanes},
    {"BODY", body},
    {"POINTERS", pointers},
    {"FAST_EXTENT", fast_extent},
    {"FAST_INDEX", fast_index},
    {"STRIP", strip},
    {"KEPT_POSITION", kept_position},
    {"REDUCED_POSITION", reduced_position},
    {"LANES", lanes},
    {"TREE", tree},
    {"UNIT_PLACE", unit_place},
    {"UNIT_DONE", unit_done},
    {"RESULTS_FUNCTION", results_function},
    {"FINISH_FUNCTION", finish_function},
    {NULL, NULL},
};

static const krf__hole *const holes[] = {own, krf__c_scan_holes, krf__c_scan_along_holes, krf__c_row_holes, krf__c_short_holes, krf__c_tile_holes, krf__c_column_holes, krf__c_store_holes, krf__c_narrow_holes, NULL};

static const char *const sources[] = {"prelude.h", "cast.h",    "half.h", "numbers.h", "real.h", "trig.h", "explog.h", "hyper.h", "gates.h",
                                      "roots.h",   "inverse.h", "pairs.h", "erf.h",  "special.h", "bessel.h", "libm.h", "random.h", "lines.h", "wait.h", "turn.h", "rows.h", NULL};

/* Threaded jumps part what gcc vectorises else (minimum and maximum together take 1.4 to 1.5 times as long, softmaxes 1.1 to 1.2); without them, and without the elimination of what is redundant on some paths, text of many
 * operations compiles in half to two thirds of the time. Calls of memcpy for short rows of lanes take twice the time of what is computed from these. */
#define FEWER_PASSES "#ifndef __clang__\n#pragma GCC optimize(\"no-thread-jumps\", \"no-gcse\", \"no-tree-pre\", \"no-tree-loop-distribute-patterns\")\n#endif\n"

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
