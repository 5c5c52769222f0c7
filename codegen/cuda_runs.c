/* The CUDA target's maps that gather what lies in memory as whole vectors (plan/runs.c): the places of a thread's vector follow one another, or all are the first or the last of one. So a load brings all
 * of its elements, and which of them is which follows from the first place and the last. Or rows are gathered, each from one place on. Or places follow one another from anywhere on: most vectors are taken out of the
 * two words in which they lie, and those around an end of the places element by element. */
#include "codegen/cuda.h"

/* Not where a loop takes the elements of a vector in turn: they have no numbers then. */
static bool is_run(const krf__emitter *e, uint32_t instr) { return e->k->instrs[instr].op == KRF__fetch && e->k->instrs[instr].value != 0 && !e->in_turn; }

bool krf__cuda_put_fetched(const krf__emitter *e, const krf__instr *i, krf__str *out) {
    const uint32_t instr = (uint32_t)(i - e->k->instrs);
    if (!is_run(e, instr)) {
        return false;
    }
    if (i->value == KRF__FETCH_STEPS) {
        krf__str_printf(out, "(end%u ? edge%u : run%u.at[%s])", i->args[0], instr, instr, krf__cuda_element(e));
    } else {
        krf__str_printf(out, "run%u.at[%s]", instr, krf__cuda_element(e));
    }
    return true;
}

/* Words of a few elements, as which a vector is taken too. */
static void put_words(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf_dtype dtype = (krf_dtype)e->k->instrs[instr].dtype;
    if (e->bytes4) {
        krf__str_printf(out, "unsigned four[%d]; ", e->k->vector / 4);
    } else if (e->twos && krf__is_half(dtype)) {
        krf__str_printf(out, "unsigned pair[%d]; ", e->k->vector / 2);
    }
    krf__str_printf(out, "} run%u;\n", instr);
}

static bool is_window(const krf__emitter *e, uint32_t instr) { return is_run(e, instr) && e->k->instrs[instr].value == KRF__FETCH_WINDOWS; }

/* Whether an instruction is the place of a run for which `of` holds. */
static bool is_place(const krf__emitter *e, uint32_t place, bool (*of)(const krf__emitter *e, uint32_t instr)) {
    bool any = false;
    for (uint32_t n = place + 1; n < e->k->n_domain && !any; n++) {
        any = of(e, n) && e->k->instrs[n].args[0] == place;
    }
    return any;
}

/* What such places are computed of, anew for element k. */
static void put_computed(krf__emitter *e, bool (*of)(const krf__emitter *e, uint32_t instr), krf__str *out) {
    for (uint32_t n = 0; n < e->k->n_domain; n++) {
        e->needed[n] = is_place(e, n, of);
    }
    krf__mark_operands(e, e->k->n_domain);
    for (uint32_t n = 0; n < e->k->n_domain; n++) {
        if (e->needed[n] && e->taint[n]) {
            krf__str line = {0};
            krf__emit_statement(e, n, &line);
            krf__cuda_put_lines(out, "    ", line.data);
            out->failed |= line.failed;
            krf__str_free(&line);
        }
    }
}

static bool goes_on(const krf__emitter *e, uint32_t instr) { return is_run(e, instr) && e->k->instrs[instr].value != KRF__FETCH_ROWS; }

/* The places of element k of a vector, by name. */
static void put_places_of(krf__emitter *e, const char *name, int k, bool (*of)(const krf__emitter *e, uint32_t instr), krf__str *out) {
    int n = 0;
    for (uint32_t place = 0; place < e->k->n_domain; place++) {
        if (is_place(e, place, of)) {
            krf__str_printf(out, n++ == 0 ? "long long %s%u" : ", %s%u", name, place);
        }
    }
    if (n == 0) {
        return;
    }
    krf__str_printf(out, ";\n{\n    const int k = %d;\n", k);
    put_computed(e, of, out);
    for (uint32_t place = 0; place < e->k->n_domain; place++) {
        if (is_place(e, place, of)) {
            krf__str_printf(out, "    %s%u = ", name, place);
            krf__emit_value(e, place, out);
            krf__str_put(out, ";\n");
        }
    }
    krf__str_put(out, "}\n");
}

static bool is_stepping(const krf__emitter *e, uint32_t instr) { return is_run(e, instr) && e->k->instrs[instr].value == KRF__FETCH_STEPS; }

static void put_places(krf__emitter *e, krf__str *out) {
    const int last = e->k->vector - 1;
    put_places_of(e, "place", 0, is_run, out);
    put_places_of(e, "until", last, goes_on, out);
    for (uint32_t place = 0; place < e->k->n_domain; place++) {
        if (is_place(e, place, is_stepping)) {
            krf__str_printf(out, "const bool end%u = place%u == until%u, high%u = (place%u & %d) != 0;\n", place, place, place, place, place, last);
        }
    }
}

static int vector_bytes(const krf__emitter *e, const krf__instr *i) { return e->k->vector * (int)krf_dtype_size((krf_dtype)i->dtype); }

static void put_window(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    krf__str_printf(out, "    run%u.word = krf_window<%s>(v_%s + place%u, %d);\n", instr, krf__cuda_vector_type(vector_bytes(e, i)), e->operand_names[i->slot], i->args[0], e->k->vector);
}

/* Behind the elements before it. */
static void put_one(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    const char *condition = e->target->fetch_condition(e);
    krf__str_printf(out, "        run%u.word = krf_behind(run%u.word, ", instr, instr);
    if (condition != NULL) {
        krf__str_printf(out, "!(%s) ? (%s)0 : ", condition, krf__storage_type(i->dtype));
    }
    krf__str_printf(out, "(v_%s)[", e->operand_names[i->slot]);
    krf__emit_value(e, i->args[0], out);
    krf__str_put(out, "]);\n");
}

static void put_of_windows(const krf__emitter *e, void (*put)(const krf__emitter *e, uint32_t instr, krf__str *out), krf__str *out) {
    for (uint32_t n = 0; n < e->k->n_domain; n++) {
        if (is_window(e, n)) {
            put(e, n, out);
        }
    }
}

static void declare_window(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    krf__str_printf(out, "union { %s word; %s at[%d]; ", krf__cuda_vector_type(vector_bytes(e, i)), krf__storage_type(i->dtype), e->k->vector);
    put_words(e, instr, out);
}

/* Where no window has an end of the places in it, which is nearly always, all are taken out of words, whose loads are under way at once; else their elements come one by one. */
static void put_windows(krf__emitter *e, krf__str *out) {
    krf__str computed = {0};
    int n = 0;
    put_of_windows(e, declare_window, out);
    for (uint32_t place = 0; place < e->k->n_domain; place++) {
        if (is_place(e, place, is_window)) {
            krf__str_printf(out, n++ > 0 ? " && until%u - place%u == %d" : krf__cuda_has_tail(e->k) ? "if (whole && until%u - place%u == %d" : "if (until%u - place%u == %d", place, place, e->k->vector - 1);
        }
    }
    if (n == 0) {
        return;
    }
    put_computed(e, is_window, &computed);
    krf__str_put(out, ") {\n");
    put_of_windows(e, put_window, out);
    krf__str_printf(out, "} else {\n    #pragma unroll 1\n    for (int k = 0; k < %d; k++) {\n", e->k->vector);
    krf__cuda_put_lines(out, "    ", computed.data);
    put_of_windows(e, put_one, out);
    krf__str_put(out, "    }\n}\n");
    out->failed |= computed.failed;
    krf__str_free(&computed);
}

static void put_run(krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *i = &e->k->instrs[instr];
    const uint32_t place = i->args[0];
    const int v = e->k->vector, bytes = vector_bytes(e, i), word = bytes > 16 ? 16 : bytes;
    const char *type = krf__storage_type(i->dtype), *word_type = krf__cuda_vector_type(word);
    krf__str_printf(out, "union { %s word[%d]; %s at[%d]; ", word_type, bytes / word, type, v);
    put_words(e, instr, out);
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
    if (!krf__cuda_has_runs(e)) {
        return;
    }
    put_places(e, out);
    for (uint32_t n = 0; n < k->n_domain; n++) {
        if (is_run(e, n) && !is_window(e, n)) {
            put_run(e, n, out);
        }
    }
    put_windows(e, out);
    for (uint32_t n = 0; n < k->n_domain; n++) {
        if (is_stepping(e, n)) {
            put_edge(e, n, out);
        }
    }
}
