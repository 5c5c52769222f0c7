/* The C target's random numbers: neighbours share a block of Philox, which is the dear part and which compilers compute anew for each element. So the blocks of a strip
 * are drawn before its loops, and an element takes its word, or its pair of words, from there. */
#include "codegen/emitter.h"

/* What an instruction draws: word (or pair) number `place` of the sequence that begins with block `first`. */
typedef struct draw {
    uint32_t operand; /* counts the places */
    uint32_t first, key;
    int shift; /* a block has 2**shift of them */
} draw;

static bool is_number(const krf__kernel *k, uint32_t i, uint64_t value) { return k->instrs[i].op == KRF__constant && k->instrs[i].value == value; }

/* The operand of `op` beside the number; UINT32_MAX: it is no such operation. */
static uint32_t beside(const krf__kernel *k, uint32_t i, krf__op op, uint64_t number) {
    const krf__instr *n = &k->instrs[i];
    const bool commutes = op != KRF__left_shift && op != KRF__right_shift;
    if (n->op != op || n->dtype != KRF_U64 || n->from != KRF_U64) {
        return UINT32_MAX;
    }
    return is_number(k, n->args[1], number) ? n->args[0] : commutes && is_number(k, n->args[0], number) ? n->args[1] : UINT32_MAX;
}

static bool steps_by_one(const krf__emitter *e, uint32_t instr) {
    const krf__instr *place = &e->k->instrs[instr];
    const krf__instr *load = place->op == KRF__cast && place->dtype == KRF_U64 && place->from == KRF_I64 ? &e->k->instrs[place->args[0]] : NULL;
    if (load == NULL || load->op != KRF__load) {
        return false;
    }
    const krf__operand *o = &e->k->operands[load->slot];
    return o->counts && o->inner == 0 && krf__stride_class(e->k, o, krf__c_fast_dim(e)) == 1 && !krf__c_laid_out(e, load->slot);
}

/* Whether philox instruction p counts as build_random.c has it: twice (first + place >> shift), and which half of the block. */
static bool read_counter(const krf__emitter *e, uint32_t p, draw *d) {
    const krf__kernel *k = e->k;
    const krf__instr *counter = &k->instrs[k->instrs[p].args[0]];
    d->key = k->instrs[p].args[1];
    if (counter->op != KRF__bitwise_or || !krf__instr_free(&k->instrs[d->key])) {
        return false;
    }
    for (int side = 0; side < 2; side++) {
        const uint32_t sum = beside(k, counter->args[side], KRF__left_shift, 1), half = beside(k, counter->args[1 - side], KRF__bitwise_and, 1);
        if (sum == UINT32_MAX || half == UINT32_MAX || k->instrs[sum].op != KRF__add) {
            continue;
        }
        for (int other = 0; other < 2; other++) {
            d->first = k->instrs[sum].args[other];
            for (d->shift = 1; d->shift <= 2; d->shift++) {
                const uint32_t place = beside(k, k->instrs[sum].args[1 - other], KRF__right_shift, (uint64_t)d->shift);
                const uint32_t in_half = d->shift == 1 ? half : beside(k, half, KRF__right_shift, 1);
                if (krf__instr_free(&k->instrs[d->first]) && place != UINT32_MAX && place == in_half && steps_by_one(e, place)) {
                    d->operand = k->instrs[k->instrs[place].args[0]].slot;
                    return true;
                }
            }
        }
    }
    return false;
}

/* Whether nobody looks at more than 32 bits of an instruction. */
static bool only_low_bits(const krf__kernel *k, uint32_t instr) {
    for (uint32_t u = instr + 1; u < k->n_domain + k->n_reductions; u++) {
        const krf__instr *n = &k->instrs[u];
        const bool cut = n->op == KRF__cast && krf_dtype_size((krf_dtype)n->dtype) <= 4 && krf__is_int((krf_dtype)n->dtype);
        if (!cut && (u < k->n_domain ? krf__instr_uses(k, u, instr) : n->args[0] == instr)) {
            return false;
        }
    }
    return true;
}

static bool read_draw(const krf__emitter *e, uint32_t instr, draw *d) {
    const krf__kernel *k = e->k;
    const krf__instr *n = &k->instrs[instr];
    if (n->op == KRF__philox && n->dtype == KRF_U64) {
        return read_counter(e, instr, d) && d->shift == 1;
    }
    if (n->op != KRF__right_shift || k->instrs[n->args[0]].op != KRF__philox || k->instrs[n->args[0]].dtype != KRF_U64 || !read_counter(e, n->args[0], d) || d->shift != 2) {
        return false;
    }
    const uint32_t odd = beside(k, n->args[1], KRF__multiply, 32), place = odd != UINT32_MAX ? beside(k, odd, KRF__bitwise_and, 1) : UINT32_MAX;
    return place != UINT32_MAX && steps_by_one(e, place) && k->instrs[k->instrs[place].args[0]].slot == d->operand && only_low_bits(k, instr);
}

bool krf__c_draws(const krf__emitter *e, uint32_t instr) {
    draw d;
    return read_draw(e, instr, &d);
}

void krf__c_put_drawn(const krf__emitter *e, uint32_t instr, krf__str *out) {
    krf__str_printf(out, "const %s t%u = drawn%u[k + skipped%u];\n", krf__instr_type(e, instr), instr, instr, instr);
}

void krf__c_put_draws(const krf__emitter *e, int strip, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        draw d;
        if (krf__c_left_out(e, i) || !read_draw(e, i, &d)) {
            continue;
        }
        const int each = 1 << d.shift;
        const char *name = e->operand_names[d.operand], *type = each == 4 ? "unsigned" : "unsigned long long";
        krf__str_printf(out, "%s drawn%u[%d];\nconst long long first%u = (p_%s + j) & -%dLL;\nconst int skipped%u = (int)(p_%s + j - first%u);\n", type, i, strip + 2 * each, i, name,
                        each, i, name, i);
        krf__str_printf(out, "for (int k = 0; k < (m + skipped%u + %d) / %d; k++) {\n    const krf_philox_words x = krf_philox_block(", i, each - 1, each);
        krf__str_put(out, "(");
        krf__emit_value(e, d.first, out);
        krf__str_printf(out, " + ((unsigned long long)(first%u + %d * k) >> %d)) << 1 >> 1, 0, ", i, each, d.shift); /* a counter of pairs has no room for the highest bit */
        krf__emit_value(e, d.key, out);
        krf__str_put(out, ");\n");
        if (each == 4) {
            krf__str_printf(out, "    drawn%u[4 * k] = x.a;\n    drawn%u[4 * k + 1] = x.b;\n    drawn%u[4 * k + 2] = x.c;\n    drawn%u[4 * k + 3] = x.d;\n}\n", i, i, i, i);
        } else {
            krf__str_printf(out, "    drawn%u[2 * k] = (%s)x.b << 32 | x.a;\n    drawn%u[2 * k + 1] = (%s)x.d << 32 | x.c;\n}\n", i, type, i, type);
        }
    }
}
