/* Indices: the argument struct, local copies of extents and strides, positions from linear indices, and offsets of operands. */
#include "codegen/emitter.h"
#include "plan/arguments.h"

#include <stdio.h>

static int part_first(const krf__kernel *k, krf__part part) { return part == KRF__PART_KEPT ? 0 : k->n_kept; }
static int part_dims(const krf__kernel *k, krf__part part) { return part == KRF__PART_KEPT ? k->n_kept : k->n_reduced; }

const char *krf__index_type(const krf__emitter *e) { return e->k->wide ? "long long" : "int"; }

/* Every field takes 8 bytes: narrower scalars are padded. */
static void put_scalar_field(krf__str *out, int dtype, uint32_t index) {
    int padding = 8 / (int)krf_dtype_size((krf_dtype)dtype) - 1;
    krf__str_printf(out, "    %s s%u", krf__storage_type(dtype), index);
    if (padding > 0) {
        krf__str_printf(out, ", s%u_[%d]", index, padding);
    }
    krf__str_put(out, ";\n");
}

void krf__emit_arguments(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    krf__str_put(out, "struct krf_arguments {\n");
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        if (o->inner != 0) {
            continue;
        }
        if (o->counts) {
            krf__str_printf(out, "    long long %s;\n", e->operand_names[i]);
            continue;
        }
        krf__str_printf(out, "    %s%s *%s;\n", o->store ? "" : "const ", krf__storage_type(o->dtype), e->operand_names[i]);
    }
    for (uint32_t i = 0; i < k->n_scalars; i++) {
        put_scalar_field(out, k->scalars[i].dtype, i);
    }
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        krf__str_printf(out, "    long long n%d;\n", d);
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        for (int d = 0; d < k->n_kept + k->n_reduced && k->operands[i].inner == 0; d++) {
            if (krf__stride_class(k, &k->operands[i], d) == 2) {
                krf__str_printf(out, "    long long %s_s%d;\n", e->operand_names[i], d);
            }
        }
    }
    if (k->n_reductions > 0) {
        krf__str_put(out, "    long long chunk, chunks;\n    unsigned long long *scratch;\n    unsigned *tickets;\n");
    }
    if (k->period > 0) {
        krf__str_put(out, "    long long period, periods;\n");
    }
    if (k->ahead) {
        krf__str_put(out, "    long long apart;\n");
    }
    krf__str_put(out, "};\n");
}

static bool multiplies(const krf__emitter *e, int d) { return e->target->multiplies && krf__divides_by(e->k, d); }

void krf__emit_extents(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *type = krf__index_type(e), *a = e->target->arguments;
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        if ((k->literal >> d & 1) != 0) {
            krf__str_printf(out, "const %s n%d = %lld;\n", type, d, (long long)k->extents[d]);
        } else {
            krf__str_printf(out, "const %s n%d = (%s)%sn%d;\n", type, d, type, a, d);
        }
        if (multiplies(e, d)) {
            krf__str_printf(out, "const unsigned m%d = (unsigned)(%sn%d >> 32);\n", d, a, d);
        }
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        for (int d = 0; d < k->n_kept + k->n_reduced && k->operands[i].inner == 0; d++) {
            if (krf__stride_class(k, &k->operands[i], d) == 2) {
                krf__str_printf(out, "const %s %s_s%d = (%s)%s%s_s%d;\n", type, e->operand_names[i], d, type, a, e->operand_names[i], d);
            } else if (krf__stride_class(k, &k->operands[i], d) == 3) { /* known, so that compilers see both halves interleaved, or the fields of records */
                krf__str_printf(out, "const %s %s_s%d = %lld;\n", type, e->operand_names[i], d, (long long)k->operands[i].strides[d]);
            }
        }
    }
}

/* Of what a thread has all along the first dimension, "linear" is the place in the others, and u goes along that one. */
void krf__emit_position(const krf__emitter *e, krf__part part, const char *linear, krf__str *out) {
    int first = part_first(e->k, part), last = first + part_dims(e->k, part) - 1;
    const char *type = krf__index_type(e);
    if (e->k->across && part == KRF__PART_KEPT) {
        krf__str_printf(out, "const %s i0 = u;\n", type);
        first = 1;
    }
    if (first == last) {
        krf__str_printf(out, "const %s i%d = %s;\n", type, first, linear);
        return;
    }
    char from[32];
    snprintf(from, sizeof from, "%s", linear);
    for (int d = last; d > first; d--) {
        if (e->tile != NULL && part == KRF__PART_REDUCED && d == last) {
            krf__str_printf(out, "const %s q%d = %s_q%d, i%d = %s_i%d + (%s - %s_p);\n", type, d, e->tile, d, d, e->tile, d, linear, e->tile);
        } else if (multiplies(e, d)) {
            krf__str_printf(out, "const %s q%d = krf_quotient_of_place(%s, n%d, m%d), i%d = %s - q%d * n%d;\n", type, d, from, d, d, d, from, d, d);
        } else if (e->target->multiplies) { /* unsigned: of a length that is text, compilers know which bits are none */
            krf__str_printf(out, "const %s i%d = (%s)((unsigned %s)%s %% n%d), q%d = (%s)((unsigned %s)%s / n%d);\n", type, d, type, type, from, d, d, type, type, from, d);
        } else {
            krf__str_printf(out, "const %s i%d = %s %% n%d, q%d = %s / n%d;\n", type, d, from, d, d, from, d);
        }
        snprintf(from, sizeof from, "q%d", d);
    }
    krf__str_printf(out, "const %s i%d = %s;\n", type, first, from);
}

void krf__emit_tile_place(const krf__emitter *e, const char *name, const char *start, krf__str *out) {
    const int d = e->k->n_kept + e->k->n_reduced - 1;
    const char *type = krf__index_type(e);
    if (multiplies(e, d)) {
        krf__str_printf(out, "const %s %s_p = %s, %s_q%d = krf_quotient_of_place(%s_p, n%d, m%d), %s_i%d = %s_p - %s_q%d * n%d;\n", type, name, start, name, d, name, d, d, name, d, name, name, d, d);
    } else {
        krf__str_printf(out, "const %s %s_p = %s, %s_q%d = %s_p / n%d, %s_i%d = %s_p - %s_q%d * n%d;\n", type, name, start, name, d, name, d, name, d, name, name, d, d);
    }
}

void krf__emit_offset(const krf__emitter *e, uint32_t operand, krf__part part, int except, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    int first = part_first(e->k, part);
    for (int d = first; d < first + part_dims(e->k, part); d++) {
        int class_ = krf__stride_class(e->k, o, d);
        if (d != except && class_ == 1) {
            krf__str_printf(out, " + i%d", d);
        } else if (d != except && class_ >= 2) {
            krf__str_printf(out, " + i%d * %s_s%d", d, e->operand_names[operand], d);
        }
    }
}
