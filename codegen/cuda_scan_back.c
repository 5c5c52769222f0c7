/* The CUDA target's scans of long rows: what blocks say to one another, and what stands in the holes of skeleton/scan_back.cu, scan_side_back.cu and scan_look.cu. */
#include "codegen/cuda.h"

#include <stdio.h>

/* Whether what a tile says fits beside its state: into half a word, or into halves of two (krf_said). */
static bool in_words(const krf__emitter *e) { return krf__scan_words(e->k) > 1; }
static bool in_halves(const krf__emitter *e) { return krf__scan_words(e->k) > 2; }

typedef enum what { OF_TILE, OF_GROUP, UP_TO_GROUP, OF_SHARE } what;

/* scratch, where words have no room for values: of each scan what each tile comes to, what each group does, and what all of its row up to its end come to; behind these of each what
 * the shares do. */
static void put_place(krf__emitter *e, uint32_t r, what w, const char *place, krf__str *out) {
    static const char *const from[] = {"", "all_tiles + ", "all_tiles + all_groups + ", ""};
    krf__str_printf(out, "*(volatile %s *)(a.scratch + %uLL * all_tiles + ", krf__reduction_type(e, r), 2 * (w == OF_SHARE ? e->k->n_reductions : r));
    if (w == OF_SHARE) {
        krf__str_printf(out, "%uLL * all_shares + ", r);
    }
    krf__str_printf(out, "%s%s)", from[w], place);
}

/* Says what is known now, and that it is. */
static void say(krf__emitter *e, what w, krf__str *out) {
    static const char *const states[] = {"me", "all_tiles + my_group", "all_tiles + my_group", "all_tiles + all_groups + my_share"}, *const places[] = {"me", "my_group", "my_group", "my_share"};
    const int state = w == UP_TO_GROUP ? 2 : 1;
    const char *up_to_last = e->k->pairs ? "up_to_second" : "within", *last = e->k->pairs ? "second" : "all";
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (in_words(e)) {
            krf__str_put(out, "said.value");
        } else {
            put_place(e, r, w, places[w], out);
        }
        krf__str_put(out, " = ");
        switch (w) {
        case OF_SHARE:
        case OF_TILE: krf__str_printf(out, "all%u;\n", r); break;
        case OF_GROUP: krf__str_printf(out, "red%u(%s%u, %s%u);\n", r, up_to_last, r, last, r); break;
        case UP_TO_GROUP: krf__str_printf(out, "red%u(before%u, red%u(%s%u, %s%u));\n", r, r, r, up_to_last, r, last, r); break;
        }
    }
    if (in_halves(e)) {
        krf__str_printf(out, "krf_say_halves((unsigned long long *)states + 2 * (%s), %du, said.bits);\n", states[w], state);
    } else if (in_words(e)) {
        krf__str_printf(out, "krf_say((unsigned long long *)states + %s, %dull << 32 | said.bits);\n", states[w], state);
    } else {
        krf__str_printf(out, "krf_publish(states + %s, %du);\n", states[w], state);
    }
}

static void say_share(krf__emitter *e, krf__str *out) { say(e, OF_SHARE, out); }
static void say_total(krf__emitter *e, krf__str *out) { say(e, OF_TILE, out); }
static void say_group(krf__emitter *e, krf__str *out) { say(e, OF_GROUP, out); }
static void say_prefix(krf__emitter *e, krf__str *out) { say(e, UP_TO_GROUP, out); }

static const char *one_of(const krf__emitter *e, const char *halves, const char *words, const char *apart) { return in_halves(e) ? halves : in_words(e) ? words : apart; }

static void hear(krf__emitter *e, const char *at, krf__str *out) {
    krf__str_printf(out, "%s(%s))", one_of(e, "krf_hear_halves((const unsigned long long *)states + 2 * ", "krf_hear((const unsigned long long *)states + ", "krf_observe(states + "), at);
}

static void hear_share(krf__emitter *e, krf__str *out) { hear(e, "all_tiles + all_groups + my_share - sooner + lane", out); }
static void hear_tile(krf__emitter *e, krf__str *out) { hear(e, "me - ahead + lane", out); }
static void hear_group(krf__emitter *e, krf__str *out) { hear(e, "all_tiles + my_group - 1 - lane", out); }
static void put_heard(krf__emitter *e, krf__str *out) { krf__str_put(out, one_of(e, "struct krf_said", "unsigned long long", "unsigned")); }
static void put_one(krf__emitter *e, krf__str *out) { krf__str_put(out, one_of(e, "krf_said{1u, 0}", "1ull << 32", "1u")); }
static void put_state(krf__emitter *e, krf__str *out) { krf__str_put(out, one_of(e, "heard.state", "(unsigned)(heard >> 32)", "heard")); }

static void said(krf__emitter *e, krf__str *out) {
    if (in_words(e)) {
        krf__str_printf(out, "union {\n    %s value;\n    %s bits;\n} said;\nsaid.bits = 0;\n", krf__reduction_type(e, 0), in_halves(e) ? "unsigned long long" : "unsigned");
    }
}

/* word0: what the thread has heard, where the condition holds; elsewhere nothing, whatever it comes to. In words: what was said; else the caller puts where it lies in memory. */
static void put_word(krf__emitter *e, uint32_t r, const char *condition, const char *nothing, krf__str *out) {
    krf__str_put(out, one_of(e, "said.bits = heard.bits;\n", "said.bits = (unsigned)heard;\n", ""));
    krf__str_printf(out, "const %s word%u = %s ? %s%u : ", krf__reduction_type(e, r), r, condition, nothing, r);
    krf__str_put(out, in_words(e) ? "said.value;\n" : "");
}

/* One after the other, some at once. Of words, those beyond the last are nothing, which compiles sooner than a loop over what is left; where values are read from memory that takes 1.04 times as long. */
static void fold(krf__emitter *e, uint32_t r, const char *name, const char *loop, const char *sign, krf__str *out) {
    const int at_once = e->k->side ? 1 : 4, step = in_words(e) ? at_once : 1;
    char word[16], lane[16];
    snprintf(word, sizeof word, "word%u", r);
    snprintf(lane, sizeof lane, step > 1 ? "i %s k" : "i", sign);
    krf__str_printf(out, "#pragma unroll %d\nfor (int %s; i %s= %d) {\n", step > 1 ? 1 : at_once, loop, sign, step);
    if (step > 1) {
        krf__str_printf(out, "    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n    ", step);
    }
    krf__str_printf(out, "    %s%u = red%u(%s%u, ", name, r, r, name, r);
    krf__cuda_put_shuffle(e, r, NULL, word, lane, out);
    krf__str_put(out, step > 1 ? ");\n    }\n}\n" : ");\n}\n");
}

/* What those before come to that were all heard, `ahead` of them. */
static void fold_heard(krf__emitter *e, what w, const char *name, const char *ahead, const char *place, krf__str *out) {
    char loop[64], beyond[64];
    snprintf(loop, sizeof loop, "i = 0; i < %s", ahead);
    snprintf(beyond, sizeof beyond, "lane >= %s", ahead);
    krf__str_put(out, in_words(e) ? "" : "__threadfence();\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_word(e, r, beyond, name, out);
        if (!in_words(e)) {
            put_place(e, r, w, place, out);
            krf__str_put(out, ";\n");
        }
        fold(e, r, name, loop, "+", out);
    }
}

static void within(krf__emitter *e, krf__str *out) {
    krf__cuda_put_nothing(e, "within", out);
    fold_heard(e, OF_TILE, "within", "ahead", "me - ahead + lane", out);
    for (uint32_t r = 0; r < e->k->n_reductions && e->k->pairs; r++) {
        const char *type = krf__reduction_type(e, r);
        krf__str_printf(out, "const %s up_to_second%u = red%u(within%u, all%u);\n", type, r, r, r, r);
        krf__str_printf(out, "%s second%u = ", type, r);
        krf__emit_identity(e, r, out);
        krf__str_printf(out, ";\n#pragma unroll\nfor (int w = 0; w < 8; w++) {\n    second%u = red%u(second%u, both%u[1][w]);\n}\n", r, r, r, r);
    }
}

static void shares(krf__emitter *e, krf__str *out) { fold_heard(e, OF_SHARE, "shares", "sooner", "my_share - sooner + lane", out); }
static void no_shares(krf__emitter *e, krf__str *out) { krf__cuda_put_nothing(e, "shares", out); }

/* The tile's, where its last share ends. */
static void with_shares(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "all%u = red%u(shares%u, all%u);\n", r, r, r, r);
    }
}

static void nothing_before(krf__emitter *e, krf__str *out) { krf__cuda_put_nothing(e, "before", out); }

static void before(krf__emitter *e, krf__str *out) {
    krf__str_put(out, in_words(e) ? "" : "__threadfence();\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_word(e, r, "lane > (int)nearest", "before", out);
        if (!in_words(e)) {
            krf__str_put(out, "lane == (int)nearest ? ");
            put_place(e, r, UP_TO_GROUP, "my_group - 1 - lane", out);
            krf__str_put(out, " : ");
            put_place(e, r, OF_GROUP, "my_group - 1 - lane", out);
            krf__str_put(out, ";\n");
        }
        fold(e, r, "before", "i = (int)nearest; i >= 0", "-", out); /* lanes below 0 are the last ones, which are nothing where the nearest is none of them */
    }
}

static void back_shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, e->k->pairs ? "__shared__ %s back%u[2];\n" : "__shared__ %s back%u;\n", krf__reduction_type(e, r), r);
    }
}

static void found(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        if (e->k->pairs) {
            krf__str_printf(out, "back%u[0] = red%u(before%u, within%u);\nback%u[1] = red%u(before%u, up_to_second%u);\n", r, r, r, r, r, r, r, r);
        } else {
            krf__str_printf(out, "back%u = red%u(before%u, within%u);\n", r, r, r, r);
        }
    }
}

static void carry(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, e->k->pairs ? "carry%u = back%u[team];\n" : "carry%u = back%u;\n", r, r);
    }
}

static void look_back(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "scan_back", out); }
static void look(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "scan_look", out); }

static void put_words(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__scan_words(e->k)); }

const krf__hole krf__cuda_scan_back_holes[] = {
    {"SCAN_WORDS", put_words}, {"SCAN_LOOK_BACK", look_back}, {"SCAN_SAID", said}, {"SCAN_SAY_TOTAL", say_total}, {"SCAN_SAY_GROUP", say_group},
    {"SCAN_SAY_PREFIX", say_prefix}, {"SCAN_HEARD", put_heard}, {"SCAN_ONE", put_one}, {"SCAN_STATE", put_state}, {"SCAN_HEAR_TILE", hear_tile},
    {"SCAN_HEAR_GROUP", hear_group}, {"SCAN_WITHIN", within}, {"SCAN_NOTHING", nothing_before}, {"SCAN_BEFORE", before}, {"SCAN_BACK_SHARED", back_shared},
    {"SCAN_FOUND", found}, {"SCAN_CARRY", carry}, {"SCAN_LOOK", look}, {"SCAN_SAY_SHARE", say_share}, {"SCAN_HEAR_SHARE", hear_share},
    {"SCAN_NO_SHARES", no_shares}, {"SCAN_SHARES", shares}, {"SCAN_WITH_SHARES", with_shares}, {NULL, NULL},
};
