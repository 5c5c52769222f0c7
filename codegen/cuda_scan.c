/* The CUDA target's scans: what stands in the holes of skeleton/scan_rows.cu and scan_long.cu. The order is that of docs/architecture.md. */
#include "codegen/cuda.h"

enum { RUN = KRF__SCAN_RUN, TILE = KRF__SCAN_TILE, STRIDE = RUN + 1 /* of runs in shared memory */, PLAIN = 16 /* instructions */ };

static bool is_long(const krf__emitter *e) { return e->k->chunks > 1; }

/* Whether what a tile says fits into half a word beside its state. */
static bool in_words(const krf__emitter *e) { return e->k->n_reductions == 1 && krf_dtype_size((krf_dtype)krf__reduction(e, 0)->dtype) <= 4; }

static void scan(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->side ? "scan_columns" : is_long(e) ? "scan_long" : "scan_rows", out); }

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s tile%u[%d], warps%u[8], prefix%u[%d];\n", krf__reduction_type(e, r), r, KRF__LANES * STRIDE, r, r, KRF__LANES);
    }
}

static void carries(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s carry%u = ", krf__reduction_type(e, r), r);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

/* ---- elements ---- */

static void put_element(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    e->mode = 3;
    krf__cuda_put_statements(e, 0, k->n_domain, "", out);
    e->mode = 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "tile%u[at + at / %d] = ", r, RUN);
        krf__emit_value(e, krf__reduction(e, r)->args[0], out);
        krf__str_put(out, ";\n");
    }
}

static void put_nothing(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "tile%u[at + at / %d] = ", r, RUN);
        krf__emit_identity(e, r, out);
        krf__str_put(out, ";\n");
    }
}

static void put_result(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const uint32_t first = k->n_domain + k->n_reductions;
    krf__emit_position(e, KRF__PART_REDUCED, "p", out);
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        krf__str_printf(out, "const %s t%u = red%u(prefix%u[at / %d], tile%u[at + at / %d]);\n", krf__reduction_type(e, r), k->n_domain + r, r, r, RUN, r, RUN);
    }
    e->mode = 3;
    krf__cuda_put_statements(e, first, k->n_instrs, "", out);
    e->mode = 0;
    for (uint32_t i = first; i < k->n_instrs; i++) {
        const krf__instr *s = &k->instrs[i];
        if (s->op == KRF__store) {
            krf__cuda_put_store(e, s, true, out);
        }
    }
}

/* A thread's elements of a tile, 256 apart: of whole tiles without a condition on each, several at once. */
static void put_elements(krf__emitter *e, void (*each)(krf__emitter *e, krf__str *out), void (*otherwise)(krf__emitter *e, krf__str *out), krf__str *out) {
    krf__str element = {0}, missing = {0};
    each(e, &element);
    if (otherwise != NULL) {
        otherwise(e, &missing);
    }
    for (int whole = 1; whole >= 0; whole--) {
        krf__str_printf(out, whole ? "if (first + %d <= $) {\n" : "} else {\n", TILE);
        krf__str_printf(out, "    #pragma unroll %d\n    for (int at = threadIdx.x; at < %d; at += 256) {\n        const %s p = first + at;\n", whole ? 16 : 1, TILE,
                        krf__index_type(e));
        krf__str_put(out, whole ? "" : "        if (p < $) {\n");
        krf__cuda_put_lines(out, whole ? "        " : "            ", element.data);
        if (!whole && otherwise != NULL) {
            krf__str_put(out, "        } else {\n");
            krf__cuda_put_lines(out, "            ", missing.data);
        }
        krf__str_put(out, whole ? "    }\n" : "        }\n    }\n}\n");
    }
    out->failed |= element.failed || missing.failed;
    krf__str_free(&element);
    krf__str_free(&missing);
}

/* The text with the size of a row for every $. */
static void put_with_size(krf__emitter *e, const krf__str *text, krf__str *out) {
    for (const char *at = text->data; at != NULL && *at != '\0'; at++) {
        if (*at != '$') {
            krf__str_char(out, *at);
            continue;
        }
        krf__cuda_put_reduced_size(e, out);
    }
    out->failed |= text->failed;
}

static void load(krf__emitter *e, krf__str *out) {
    krf__str text = {0};
    put_elements(e, put_element, put_nothing, &text);
    put_with_size(e, &text, out);
    krf__str_free(&text);
}

static void store(krf__emitter *e, krf__str *out) {
    krf__str text = {0};
    put_elements(e, put_result, NULL, &text);
    put_with_size(e, &text, out);
    krf__str_free(&text);
}

/* ---- a tile ---- */

static void runs(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str value = {0};
        krf__str_printf(&value, "sum%u", r);
        krf__str_printf(out, "%s sum%u = tile%u[%d * run];\n#pragma unroll\nfor (int i = 1; i < %d; i++) {\n", type, r, r, STRIDE, RUN);
        krf__str_printf(out, "    sum%u = red%u(sum%u, tile%u[%d * run + i]);\n    tile%u[%d * run + i] = sum%u;\n}\n", r, r, r, r, STRIDE, r, STRIDE, r);
        krf__str_printf(out, "#pragma unroll\nfor (int s = 1; s < 32; s *= 2) {\n    const %s left = ", type);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "s", out);
        krf__str_printf(out, ";\n    sum%u = lane + s < 32 ? red%u(left, sum%u) : sum%u;\n}\n%s before%u = ", r, r, r, r, type, r);
        krf__cuda_put_shuffle(e, r, "down", value.data != NULL ? value.data : "", "1", out);
        krf__str_printf(out, ";\nif (lane == 31) {\n    before%u = ", r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\n}\nif (lane == 0) {\n    warps%u[warp] = sum%u;\n}\n", r, r);
        out->failed |= value.failed;
        krf__str_free(&value);
    }
}

/* What the warps before this one come to, and all of them. */
static void totals(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "%s all%u = ", krf__reduction_type(e, r), r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ", left%u = all%u;\n#pragma unroll\nfor (int w = 0; w < 8; w++) {\n", r, r);
        krf__str_printf(out, "    left%u = w == warp ? all%u : left%u;\n    all%u = red%u(all%u, warps%u[w]);\n}\n", r, r, r, r, r, r, r);
    }
}

static void prefixes(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "prefix%u[run] = red%u(carry%u, red%u(left%u, before%u));\n", r, r, r, r, r, r);
    }
}

/* ---- tiles before ---- */

typedef enum what { OF_TILE, OF_GROUP, UP_TO_GROUP } what;

/* scratch, where words have no room for values: of each scan what each tile comes to, what each group does, and what all of its row up to its end come to. */
static void put_place(krf__emitter *e, uint32_t r, what w, const char *place, krf__str *out) {
    static const char *const from[] = {"", "all_tiles + ", "all_tiles + all_groups + "};
    krf__str_printf(out, "*(volatile %s *)(a.scratch + %uLL * all_tiles + %s%s)", krf__reduction_type(e, r), 2 * r, from[w], place);
}

/* Says what is known now, and that it is. */
static void say(krf__emitter *e, what w, krf__str *out) {
    const char *at = w == OF_TILE ? "me" : "all_tiles + my_group";
    const int state = w == UP_TO_GROUP ? 2 : 1;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (in_words(e)) {
            krf__str_put(out, "said.value");
        } else {
            put_place(e, r, w, w == OF_TILE ? "me" : "my_group", out);
        }
        krf__str_put(out, " = ");
        switch (w) {
        case OF_TILE: krf__str_printf(out, "all%u;\n", r); break;
        case OF_GROUP: krf__str_printf(out, "red%u(within%u, all%u);\n", r, r, r); break;
        case UP_TO_GROUP: krf__str_printf(out, "red%u(before%u, red%u(within%u, all%u));\n", r, r, r, r, r); break;
        }
    }
    if (in_words(e)) {
        krf__str_printf(out, "krf_say((unsigned long long *)states + %s, %dull << 32 | said.bits);\n", at, state);
    } else {
        krf__str_printf(out, "krf_publish(states + %s, %du);\n", at, state);
    }
}

static void say_total(krf__emitter *e, krf__str *out) { say(e, OF_TILE, out); }
static void say_group(krf__emitter *e, krf__str *out) { say(e, OF_GROUP, out); }
static void say_prefix(krf__emitter *e, krf__str *out) { say(e, UP_TO_GROUP, out); }

static void hear(krf__emitter *e, const char *at, krf__str *out) {
    krf__str_printf(out, in_words(e) ? "krf_hear((const unsigned long long *)states + (%s))" : "krf_observe(states + (%s))", at);
}

static void hear_tile(krf__emitter *e, krf__str *out) { hear(e, "me - ahead + lane", out); }
static void hear_group(krf__emitter *e, krf__str *out) { hear(e, "all_tiles + my_group - 1 - lane", out); }
static void put_heard(krf__emitter *e, krf__str *out) { krf__str_put(out, in_words(e) ? "unsigned long long" : "unsigned"); }
static void put_one(krf__emitter *e, krf__str *out) { krf__str_put(out, in_words(e) ? "1ull << 32" : "1u"); }
static void put_state(krf__emitter *e, krf__str *out) { krf__str_put(out, in_words(e) ? "(unsigned)(heard >> 32)" : "heard"); }

static void said(krf__emitter *e, krf__str *out) {
    if (in_words(e)) {
        krf__str_printf(out, "union {\n    %s value;\n    unsigned bits;\n} said;\nsaid.bits = 0;\n", krf__reduction_type(e, 0));
    }
}

/* word0: what the thread has heard. */
static void put_word(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_printf(out, in_words(e) ? "said.bits = (unsigned)heard;\nconst %s word%u = said.value;\n" : "const %s word%u = ", krf__reduction_type(e, r), r);
}

static void fold(krf__emitter *e, uint32_t r, const char *name, const char *loop, krf__str *out) {
    krf__str word = {0};
    krf__str_printf(&word, "word%u", r);
    krf__str_printf(out, "#pragma unroll 8\nfor (%s) {\n    %s%u = red%u(%s%u, ", loop, name, r, r, name, r);
    krf__cuda_put_shuffle(e, r, NULL, word.data != NULL ? word.data : "", "i", out);
    krf__str_put(out, ");\n}\n");
    out->failed |= word.failed;
    krf__str_free(&word);
}

static void nothing(krf__emitter *e, const char *name, uint32_t r, krf__str *out) {
    krf__str_printf(out, "%s %s%u = ", krf__reduction_type(e, r), name, r);
    krf__emit_identity(e, r, out);
    krf__str_put(out, ";\n");
}

static void within(krf__emitter *e, krf__str *out) {
    krf__str_put(out, in_words(e) ? "" : "__threadfence();\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        nothing(e, "within", r, out);
        put_word(e, r, out);
        if (!in_words(e)) {
            krf__str_put(out, "lane < ahead ? ");
            put_place(e, r, OF_TILE, "me - ahead + lane", out);
            krf__str_printf(out, " : within%u;\n", r);
        }
        fold(e, r, "within", "int i = 0; i < ahead; i++", out);
    }
}

static void nothing_before(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        nothing(e, "before", r, out);
    }
}

static void before(krf__emitter *e, krf__str *out) {
    krf__str_put(out, in_words(e) ? "" : "__threadfence();\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_word(e, r, out);
        if (!in_words(e)) {
            krf__str_printf(out, "lane > (int)nearest ? before%u : lane == (int)nearest ? ", r);
            put_place(e, r, UP_TO_GROUP, "my_group - 1 - lane", out);
            krf__str_put(out, " : ");
            put_place(e, r, OF_GROUP, "my_group - 1 - lane", out);
            krf__str_put(out, ";\n");
        }
        fold(e, r, "before", "int i = (int)nearest; i >= 0; i--", out);
    }
}

static void back_shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s back%u;\n", krf__reduction_type(e, r), r);
    }
}

static void found(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "back%u = red%u(before%u, within%u);\n", r, r, r, r);
    }
}

static void carry(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "carry%u = back%u;\n", r, r);
    }
}

static void look_back(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "scan_back", out); }

/* Blocks hide each other's waiting: as many as a multiprocessor has threads for, where 32 registers hold the scan. */
static void bounds(krf__emitter *e, krf__str *out) { krf__str_put(out, in_words(e) && e->k->n_instrs < PLAIN ? "256, 8" : "256"); }
static void put_words(krf__emitter *e, krf__str *out) { krf__str_put(out, in_words(e) ? "2" : "1"); }

static void tile(krf__emitter *e, krf__str *out) {
    (void)e;
    krf__str_i64(out, TILE);
}

const krf__hole krf__cuda_scan_holes[] = {
    {"SCAN", scan},           {"SCAN_SHARED", shared},       {"SCAN_CARRIES", carries},        {"SCAN_LOAD", load},
    {"SCAN_RUNS", runs},      {"SCAN_TOTALS", totals},       {"SCAN_PREFIXES", prefixes},      {"SCAN_STORE", store},
    {"SCAN_TILE", tile},      {"SCAN_BOUNDS", bounds},       {"SCAN_WORDS", put_words},        {"SCAN_LOOK_BACK", look_back},
    {"SCAN_SAID", said},      {"SCAN_SAY_TOTAL", say_total}, {"SCAN_SAY_GROUP", say_group},    {"SCAN_SAY_PREFIX", say_prefix},
    {"SCAN_HEARD", put_heard}, {"SCAN_ONE", put_one},        {"SCAN_STATE", put_state},        {"SCAN_HEAR_TILE", hear_tile},
    {"SCAN_HEAR_GROUP", hear_group}, {"SCAN_WITHIN", within}, {"SCAN_NOTHING", nothing_before}, {"SCAN_BEFORE", before},
    {"SCAN_BACK_SHARED", back_shared}, {"SCAN_FOUND", found}, {"SCAN_CARRY", carry},           {NULL, NULL},
};
