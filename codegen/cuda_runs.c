/* The CUDA target's maps that gather what lies in memory as whole vectors (plan/runs.c): the places of a thread's vector follow one another, or all are the first or the last of one. So a load brings all
 * of its elements, and which of them is which follows from the first place and the last. Or rows are gathered, each from one place on. */
#include "codegen/cuda.h"

/* Not where a loop takes the elements of a vector in turn: they have no numbers then. */
static bool is_run(const krf__emitter *e, uint32_t instr) { return e->k->instrs[instr].op == KRF__fetch && e->k->instrs[instr].value != 0 && !e->in_turn; }

bool krf__cuda_put_fetched(const krf__emitter *e, const krf__instr *i, krf__str *out) {
    const uint32_t instr = (uint32_t)(i - e->k->instrs);
    if (!is_run(e, instr)) {
        return false;
    }
    if (i->value == KRF__FETCH_ROWS) {
        krf__str_printf(out, "run%u.at[k]", instr);
    } else {
        krf__str_printf(out, "(end%u ? edge%u : run%u.at[k])", i->args[0], instr, instr);
    }
    return true;
}

/* What a place is computed of, anew for each element. */
static void put_computed(krf__emitter *e, uint32_t place, krf__str *out) {
    krf__mark_needed(e, place);
    for (uint32_t n = 0; n <= place; n++) {
        if (e->needed[n] && e->taint[n]) {
            krf__str line = {0};
            krf__emit_statement(e, n, &line);
            krf__cuda_put_lines(out, "    ", line.data);
            out->failed |= line.failed;
            krf__str_free(&line);
        }
    }
}

static void put_place(krf__emitter *e, uint32_t place, const char *name, int k, krf__str *out) {
    krf__str_printf(out, "long long %s%u;\n{\n    const int k = %d;\n", name, place, k);
    put_computed(e, place, out);
    krf__str_printf(out, "    %s%u = ", name, place);
    krf__emit_value(e, place, out);
    krf__str_put(out, ";\n}\n");
}

static void put_places(krf__emitter *e, uint32_t place, bool steps, krf__str *out) {
    const int last = e->k->vector - 1;
    put_place(e, place, "place", 0, out);
    if (!steps) {
        return;
    }
    put_place(e, place, "until", last, out);
    krf__str_printf(out, "const bool end%u = place%u == until%u, high%u = (place%u & %d) != 0;\n", place, place, place, place, place, last);
}

static void put_run(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    const uint32_t place = i->args[0];
    const int v = e->k->vector, bytes = v * (int)krf_dtype_size((krf_dtype)i->dtype), word = bytes > 16 ? 16 : bytes;
    const char *type = krf__storage_type(i->dtype), *word_type = word == 16 ? "uint4" : word == 8 ? "uint2" : "unsigned";
    krf__str_printf(out, "union { %s word[%d]; %s at[%d]; } run%u;\n", word_type, bytes / word, type, v, instr);
    krf__str_printf(out, "#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    run%u.word[n] = ((const %s *)(v_%s + (place%u & -%d)))[n];\n}\n", bytes / word, instr, word_type, e->operand_names[i->slot], place, v);
}

/* The one element that all are then. */
static void put_edge(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    krf__str_printf(out, "const %s edge%u = high%u ? run%u.at[%d] : run%u.at[0];\n", krf__storage_type(i->dtype), instr, i->args[0], instr, e->k->vector - 1, instr);
}

bool krf__cuda_has_runs(const krf__emitter *e) {
    bool any = false;
    for (uint32_t n = 0; n < e->k->n_domain; n++) {
        any |= is_run(e, n);
    }
    return any;
}

void krf__cuda_put_runs(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t n = 0; n < k->n_domain; n++) {
        bool known = false;
        for (uint32_t before = 0; before < n && is_run(e, n); before++) {
            known |= is_run(e, before) && k->instrs[before].args[0] == k->instrs[n].args[0] && k->instrs[before].value == k->instrs[n].value;
        }
        if (is_run(e, n) && !known) {
            put_places(e, k->instrs[n].args[0], k->instrs[n].value == KRF__FETCH_STEPS, out);
        }
    }
    for (uint32_t n = 0; n < k->n_domain; n++) {
        if (is_run(e, n)) {
            put_run(e, n, out);
        }
    }
    for (uint32_t n = 0; n < k->n_domain; n++) {
        if (is_run(e, n) && k->instrs[n].value == KRF__FETCH_STEPS) {
            put_edge(e, n, out);
        }
    }
}
