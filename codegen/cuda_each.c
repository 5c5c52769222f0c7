/* The CUDA target's maps of several elements a thread (skeleton/map_each.cu): 256 apart, so that neighbouring threads read neighbours and enough loads are under way; or those of all rows, which are few and next to each other in memory.
 * What looks elements up while it computes does that for all of a thread's before it stores the first: a load does not pass a store, and each would wait for the one before it (odd rows of f32 rolled 0.178 and 0.130 ms of an H200, joined 0.190 and 0.139). */
#include "codegen/cuda.h"

/* Elements of a block, of which threads have the first; and those of all blocks. */
static void each_block(krf__emitter *e, krf__str *out) { krf__str_printf(out, e->k->across ? "256" : "(256 * %d)", e->k->vector * krf__map_each(e->k)); }

/* Of what it has by twos, a thread's first is twice as far on. */
static void each_vector(krf__emitter *e, krf__str *out) {
    if (e->k->vector > 1) {
        krf__str_printf(out, " * %d", e->k->vector);
    }
}

static void each_size(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "(");
    krf__cuda_put_domain_size(e, out);
    krf__str_put(out, ")");
}

static void each_there(krf__emitter *e, krf__str *out) {
    if (e->k->across) {
        krf__str_put(out, "true");
    } else {
        krf__str_printf(out, "first + u * %d < ", 256 * e->k->vector);
        each_size(e, out);
    }
}

static void each_inside(krf__emitter *e, krf__str *out) {
    if (e->k->across) {
        krf__str_put(out, "first");
    } else {
        each_there(e, out);
        krf__str_printf(out, " ? first + u * %d : first", 256 * e->k->vector);
    }
}

static void each(krf__emitter *e, krf__str *out) { krf__str_i64(out, krf__map_each(e->k)); }

static void each_declared(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (!e->k->operands[i].store) {
            krf__cuda_put_held(e, i, krf__map_each(e->k), "", out);
        }
    }
}

static void each_loads(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        krf__str offset = {0};
        if (e->k->operands[i].store) {
            continue;
        }
        krf__cuda_put_offset(e, i, false, &offset);
        krf__cuda_put_held_load(e, i, "[u]", offset.data != NULL ? offset.data : "", false, out);
        out->failed |= offset.failed;
        krf__str_free(&offset);
    }
}

static void results(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_domain && krf__looks_up(e->k); i++) {
        const krf__instr *s = &e->k->instrs[i];
        if (s->op == KRF__store) {
            krf__str_printf(out, "%s found_%s[%d];\n", e->k->vector > 1 ? krf__cuda_word_type(e, s->slot) : krf__storage_type(s->dtype), e->operand_names[s->slot], krf__map_each(e->k));
        }
    }
}

static void unions(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands && e->k->vector > 1; i++) {
        if (e->k->operands[i].store) {
            krf__cuda_put_stored(e, i, out);
        }
    }
}

static void computed(krf__emitter *e, krf__str *out) {
    if (krf__looks_up(e->k)) {
        krf__str_put(out, "true");
    } else {
        each_there(e, out);
    }
}

static void put_stores(krf__emitter *e, void (*put)(krf__emitter *e, const krf__instr *store, krf__str *out), krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        if (e->k->instrs[i].op == KRF__store) {
            put(e, &e->k->instrs[i], out);
        }
    }
}

static void put_stored(krf__emitter *e, const krf__instr *store, krf__str *out) { krf__cuda_put_store(e, store, false, out); }

static void put_taken(krf__emitter *e, const krf__instr *store, krf__str *out) {
    krf__str_printf(out, "found_%s[u] = ", e->operand_names[store->slot]);
    if (e->k->vector > 1) {
        krf__str_printf(out, "v_%s.word", e->operand_names[store->slot]);
    } else {
        krf__emit_stored(e, store->args[0], (krf_dtype)store->dtype, out);
    }
    krf__str_put(out, ";\n");
}

static void put_kept(krf__emitter *e, const krf__instr *store, krf__str *out) {
    const char *name = e->operand_names[store->slot];
    if (e->k->vector > 1) {
        krf__str_printf(out, "*(%s *)(a.%s", krf__cuda_word_type(e, store->slot), name);
    } else {
        krf__str_printf(out, "a.%s[0", name);
    }
    krf__cuda_put_offset(e, store->slot, false, out);
    krf__str_printf(out, "%s = found_%s[u];\n", e->k->vector > 1 ? ")" : "]", name);
}

static void taken(krf__emitter *e, krf__str *out) { put_stores(e, krf__looks_up(e->k) ? put_taken : put_stored, out); }
static void kept(krf__emitter *e, krf__str *out) { put_stores(e, put_kept, out); }

static void stores(krf__emitter *e, krf__str *out) {
    if (krf__looks_up(e->k)) {
        krf__emit_skeleton(e, "map_each_stores", out);
    }
}

void krf__cuda_put_several(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, "map_each", out); }

const krf__hole krf__cuda_each_holes[] = {
    {"MAP_EACH", each},          {"EACH_BLOCK", each_block},   {"EACH_SIZE", each_size},      {"EACH_INSIDE", each_inside}, {"EACH_THERE", each_there},   {"EACH_DECLARED", each_declared},
    {"EACH_VECTOR", each_vector}, {"EACH_UNIONS", unions},
    {"EACH_LOADS", each_loads},  {"EACH_RESULTS", results},    {"EACH_COMPUTED", computed},   {"EACH_TAKEN", taken},        {"EACH_KEPT", kept},          {"EACH_STORES", stores},
    {NULL, NULL},
};
