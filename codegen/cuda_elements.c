/* Elements that a kernel of the CUDA target stores beside its reductions, or in a round: they go into vectors, which are stored whole. */
#include "codegen/cuda.h"

static bool stores_element(const krf__emitter *e, uint32_t instr) { return e->k->instrs[instr].op == KRF__store; }

void krf__cuda_put_vectors(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *s = &k->instrs[i];
        if (stores_element(e, i)) {
            if (krf__cuda_vectored(e, s->slot)) {
                krf__cuda_put_union(e, s->slot, out);
                krf__str_put(out, ";\n");
            } else {
                krf__str_printf(out, "struct { %s at[%d]; } v_%s;\n", krf__storage_type(s->dtype), k->vector, e->operand_names[s->slot]);
            }
        }
    }
}

static void put_taken(krf__emitter *e, uint32_t store, krf__str *out) {
    const krf__instr *s = &e->k->instrs[store];
    const char *name = e->operand_names[s->slot];
    if (krf__cuda_adds_up(e, s->slot)) {
        krf__str_put(out, "if (");
        krf__emit_stored(e, s->args[0], (krf_dtype)s->dtype, out);
        krf__str_printf(out, ") {\n    v_%s.four[k / 4] += 1u << k %% 4 * 8;\n}\n", name);
        return;
    }
    krf__str_printf(out, "v_%s.at[%s] = ", name, krf__cuda_element(e));
    krf__emit_stored(e, s->args[0], (krf_dtype)s->dtype, out);
    krf__str_put(out, ";\n");
}

void krf__cuda_put_taken(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        if (stores_element(e, i) && e->bytes4) {
            krf__cuda_put_taken_byte4(e, i, out);
        } else if (stores_element(e, i) && e->twos && krf__is_half((krf_dtype)e->k->instrs[i].dtype)) {
            krf__cuda_put_taken_twos(e, i, out);
        } else if (stores_element(e, i)) {
            krf__cuda_put_each(e, put_taken, i, out);
        }
    }
}

void krf__cuda_put_turns(krf__emitter *e, krf__str *out) { krf__str_i64(out, e->k->vector / (e->k->places ? krf__cuda_place_elements(e) : krf__cuda_by_fours(e) || e->bytes4 ? 4 : e->twos ? 2 : 1)); }

void krf__cuda_put_elements(krf__emitter *e, const char *condition, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str position = {0};
    bool any = false;
    krf__emit_position(e, KRF__PART_REDUCED, "p_q", &position);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *s = &k->instrs[i];
        if (!stores_element(e, i)) {
            continue;
        }
        if (!any) {
            krf__str_printf(out, "if (%s) {\n    ", condition);
            krf__cuda_put_vector_start(e, out);
            krf__cuda_put_lines(out, "    ", position.data);
            any = true;
        }
        const char *name = e->operand_names[s->slot];
        if (k->operands[s->slot].staged) {
            krf__str_put(out, "    ");
            krf__cuda_put_staged(e, s->slot, out);
            krf__str_printf(out, k->vector > 1 ? " = v_%s.word;\n" : " = v_%s.at[0];\n", name);
        } else if (k->words) {
            krf__str_printf(out, "    krf_store_row_word(a.%s", name);
            krf__cuda_put_offset(e, s->slot, true, out);
            krf__str_printf(out, ", v_%s.word, (int)-p_q);\n", name);
        } else if (krf__cuda_vectored(e, s->slot)) {
            const bool stays = k->cluster > 1 && krf__holds_rows(k); /* rows of shared memory that blocks share 1.01 to 1.03 times as fast; other rows by __stcs, without which they are 0.9 to 1.0 */
            krf__str_printf(out, stays ? "    *(%s *)(a.%s" : "    __stcs((%s *)(a.%s", krf__cuda_word_type(e, s->slot), name);
            krf__cuda_put_offset(e, s->slot, true, out);
            krf__str_printf(out, stays ? ") = v_%s.word;\n" : "), v_%s.word);\n", name);
        } else if (krf__cuda_walks(e)) {
            krf__str_printf(out, "    a.%s[side_%s + ", name, name);
            krf__cuda_put_vector_of_all(e, out);
            krf__str_printf(out, " * step_%s] = v_%s.at[0];\n", name, name);
        } else {
            const bool streams = krf__cuda_goes_by(e);
            krf__str_printf(out, streams ? "    __stcs(&a.%s[0" : "    a.%s[0", name);
            krf__cuda_put_offset(e, s->slot, true, out);
            krf__str_printf(out, streams ? "], v_%s.at[0]);\n" : "] = v_%s.at[0];\n", name);
        }
    }
    krf__str_put(out, any ? "}\n" : "");
    out->failed |= position.failed;
    krf__str_free(&position);
}

void krf__cuda_put_element(krf__emitter *e, const char *indent, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (stores_element(e, i)) {
            krf__str_put(out, indent);
            krf__cuda_put_store(e, &k->instrs[i], true, out);
        }
    }
}
