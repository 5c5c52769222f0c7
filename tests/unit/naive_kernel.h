/* Kernels built by hand for tests, and `naive_run`, which evaluates one element after the other, keeps every reduced
 * value, and folds them by the canonical tree as written in the design: it shares nothing with the library but the
 * kernel's structs. Included by the test that needs it, after cmocka.h. */
#ifndef KRF_TESTS_NAIVE_KERNEL_H
#define KRF_TESTS_NAIVE_KERNEL_H

#include "plan/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What runs for each element is no subject of the sanitizers, which would take most of their time there. */
#define NAIVE __attribute__((no_sanitize("address"), no_sanitize("undefined")))

/* ---- kernels by hand --------------------------------------------------------------------------------------------- */

enum { MAX_OPERANDS = 24, MAX_INSTRS = 4096, MAX_SCALARS = 4 };

typedef struct builder {
    krf__kernel k;
    krf__operand operands[MAX_OPERANDS];
    krf__instr instrs[MAX_INSTRS];
    krf__kernel_scalar scalar_info[MAX_SCALARS];
    uint64_t scalars[MAX_SCALARS];
    char *memory[MAX_OPERANDS]; /* of each operand, freed by the builder unless shared */
    size_t bytes[MAX_OPERANDS];
    void *pointers[MAX_OPERANDS];
    int shared[MAX_OPERANDS]; /* the operand whose memory this one has; -1 */
} builder;

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return random_state * 2685821657736338717u;
}

static int64_t random_below(int64_t n) { return (int64_t)(random_bits() >> 11) % n; }

NAIVE static int size_of(int dtype) {
    static const int sizes[] = {[KRF_BOOL] = 1, [KRF_I8] = 1,  [KRF_I16] = 2, [KRF_I32] = 4,  [KRF_I64] = 8, [KRF_U8] = 1, [KRF_U16] = 2,
                                [KRF_U32] = 4,  [KRF_U64] = 8, [KRF_F16] = 2, [KRF_BF16] = 2, [KRF_F32] = 4, [KRF_F64] = 8};
    return sizes[dtype];
}

/* What the naive implementation knows: other dtypes are compared with references in tests/ops. */
static const int naive_dtypes[] = {KRF_I32, KRF_I64, KRF_F32, KRF_F64, KRF_BOOL};
enum { NAIVE_NUMBERS = 4, NAIVE_DTYPES = 5 };

static builder *begin(krf__schedule schedule, int n_kept, int n_reduced, const int64_t *extents) {
    builder *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->k = (krf__kernel){.schedule = schedule,
                         .n_kept = n_kept,
                         .n_reduced = n_reduced,
                         .operands = b->operands,
                         .scalars = b->scalar_info,
                         .instrs = b->instrs,
                         .vector = 1,
                         .name = "krf_test"};
    b->k.kept_size = b->k.reduced_size = 1;
    for (int d = 0; d < n_kept + n_reduced; d++) {
        b->k.extents[d] = extents[d];
        *(d < n_kept ? &b->k.kept_size : &b->k.reduced_size) *= extents[d];
    }
    b->k.chunk = 1024;
    b->k.chunks = b->k.reduced_size > 0 ? (b->k.reduced_size + 1023) / 1024 : 1;
    return b;
}

static void finish(builder *b) {
    for (uint32_t o = 0; o < b->k.n_operands; o++) {
        if (b->shared[o] < 0) {
            free(b->memory[o]);
        }
    }
    free(b);
}

/* A few small values, so that integers stay exact and equal ones occur, with NaN-free floats. */
static void fill(char *memory, int dtype, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t v = random_below(2001) - 1000;
        float f = (float)v / 64;
        double d = (double)v / 1024 + 1e-9 * (double)random_below(1000);
        int32_t w = (int32_t)v;
        unsigned char t = v & 1;
        const void *from = dtype == KRF_BOOL  ? (void *)&t
                           : dtype == KRF_I32 ? (void *)&w
                           : dtype == KRF_I64 ? (void *)&v
                           : dtype == KRF_F32 ? (void *)&f
                                              : (void *)&d;
        memcpy(memory + i * (size_t)size_of(dtype), from, (size_t)size_of(dtype));
    }
}

/* An operand with memory of its own that holds exactly what the strides reach; or with another operand's. */
static uint32_t operand(builder *b, int dtype, bool store, const int64_t *strides, int shared) {
    const uint32_t o = b->k.n_operands++;
    const int rank = b->k.n_kept + b->k.n_reduced;
    int64_t low = 0, high = 0;
    for (int d = 0; d < rank; d++) {
        int64_t reach = (b->k.extents[d] > 0 ? b->k.extents[d] - 1 : 0) * strides[d];
        low += reach < 0 ? reach : 0, high += reach > 0 ? reach : 0;
    }
    b->operands[o] = (krf__operand){.dtype = (uint8_t)dtype, .store = store};
    memcpy(b->operands[o].strides, strides, (size_t)rank * sizeof *strides);
    b->shared[o] = shared;
    if (shared >= 0) {
        b->memory[o] = b->memory[shared], b->bytes[o] = b->bytes[shared], b->pointers[o] = b->pointers[shared];
        return o;
    }
    b->bytes[o] = (size_t)(high - low + 1) * (size_t)size_of(dtype);
    b->memory[o] = malloc(b->bytes[o]);
    fill(b->memory[o], dtype, (size_t)(high - low + 1));
    b->pointers[o] = b->memory[o] - low * size_of(dtype);
    return o;
}

static uint32_t add(builder *b, krf__instr in) {
    assert_true(b->k.n_instrs < MAX_INSTRS);
    b->instrs[b->k.n_instrs] = in;
    return b->k.n_instrs++;
}

static uint32_t load_from(builder *b, uint32_t o) {
    return add(b,
               (krf__instr){.op = KRF__load, .dtype = b->operands[o].dtype, .from = b->operands[o].dtype, .slot = o});
}

static uint32_t load(builder *b, int dtype, const int64_t *strides) {
    return load_from(b, operand(b, dtype, false, strides, -1));
}

static uint32_t store_shared(builder *b, uint32_t value, const int64_t *strides, int shared) {
    const uint8_t dtype = b->instrs[value].dtype;
    const uint32_t o = operand(b, dtype, true, strides, shared);
    return add(b, (krf__instr){.op = KRF__store, .dtype = dtype, .from = dtype, .args = {value}, .slot = o});
}

static uint32_t store(builder *b, uint32_t value, const int64_t *strides) {
    return store_shared(b, value, strides, -1);
}

static uint32_t op(builder *b, krf__op code, uint32_t x, uint32_t y) {
    const uint8_t from = b->instrs[x].dtype;
    return add(b, (krf__instr){.op = (uint16_t)code, .dtype = (uint8_t)krf__op_result(code, (krf_dtype)from), .from = from, .args = {x, y}});
}

static uint32_t where(builder *b, uint32_t x, uint32_t y, uint32_t z) {
    const uint8_t from = b->instrs[y].dtype;
    return add(b, (krf__instr){.op = KRF__where, .dtype = from, .from = from, .args = {x, y, z}});
}

static uint32_t cast(builder *b, uint32_t x, int dtype) {
    return add(b, (krf__instr){.op = KRF__cast, .dtype = (uint8_t)dtype, .from = b->instrs[x].dtype, .args = {x}});
}

static uint32_t number(builder *b, int dtype, double value) {
    return add(b, (krf__instr){.op = KRF__constant,
                               .dtype = (uint8_t)dtype,
                               .from = (uint8_t)dtype,
                               .value = krf__bits_from_f64((krf_dtype)dtype, value)});
}

static uint32_t scalar(builder *b, int dtype, double value) {
    const uint32_t s = b->k.n_scalars++;
    b->scalar_info[s].dtype = (uint8_t)dtype;
    b->scalars[s] = krf__bits_from_f64((krf_dtype)dtype, value);
    return add(b, (krf__instr){.op = KRF__scalar, .dtype = (uint8_t)dtype, .from = (uint8_t)dtype, .slot = s});
}

/* Ends the domain's part. */
static void end_domain(builder *b) { b->k.n_domain = b->k.n_instrs; }

static uint32_t reduce(builder *b, krf__op code, uint32_t x) {
    const uint8_t dtype = b->instrs[x].dtype;
    b->k.n_reductions++;
    return add(b, (krf__instr){.op = (uint16_t)code, .dtype = dtype, .from = dtype, .args = {x}});
}

/* ---- the naive implementation ------------------------------------------------------------------------------------ */

typedef struct value {
    int64_t i; /* bool and integers */
    double f;  /* both floats: an f32 is rounded to one after every operation */
} value;

NAIVE static value read_value(const void *p, int dtype) {
    value v = {0, 0};
    float f;
    int32_t w;
    switch (dtype) {
    case KRF_BOOL: v.i = *(const unsigned char *)p; break;
    case KRF_I32: memcpy(&w, p, 4), v.i = w; break;
    case KRF_I64: memcpy(&v.i, p, 8); break;
    case KRF_F32: memcpy(&f, p, 4), v.f = (double)f; break;
    default: memcpy(&v.f, p, 8); break;
    }
    return v;
}

NAIVE static void write_value(void *p, int dtype, value v) {
    if (dtype != KRF_BOOL && dtype != KRF_I32 && dtype != KRF_I64 && dtype < KRF_F32) {
        memcpy(p, &v.i, (size_t)size_of(dtype)); /* any bits */
        return;
    }
    float f = (float)v.f;
    int32_t w = (int32_t)v.i;
    unsigned char t = (unsigned char)v.i;
    const void *from = dtype == KRF_BOOL  ? (void *)&t
                       : dtype == KRF_I32 ? (void *)&w
                       : dtype == KRF_I64 ? (void *)&v.i
                       : dtype == KRF_F32 ? (void *)&f
                                          : (void *)&v.f;
    memcpy(p, from, (size_t)size_of(dtype));
}

static value fit(value v, int dtype) {
    unsigned char buffer[8];
    write_value(buffer, dtype, v);
    return read_value(buffer, dtype);
}

/* The larger by the total order that puts -0 below +0; NaN when either is. */
static double larger(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return a > b || (a == b && !signbit(a)) ? a : b;
}

NAIVE static value naive_op(unsigned code, int dtype, value a, value b, value c) {
    const bool real = dtype == KRF_F32 || dtype == KRF_F64;
    value r = {0, 0};
    switch (code) {
    case KRF__add:
    case KRF__sum: r.f = a.f + b.f, r.i = (int64_t)((uint64_t)a.i + (uint64_t)b.i); break;
    case KRF__subtract: r.f = a.f - b.f, r.i = (int64_t)((uint64_t)a.i - (uint64_t)b.i); break;
    case KRF__multiply:
    case KRF__prod: r.f = a.f * b.f, r.i = (int64_t)((uint64_t)a.i * (uint64_t)b.i); break;
    case KRF__divide: r.f = a.f / b.f; break;
    case KRF__sqrt: r.f = dtype == KRF_F32 ? (double)sqrtf((float)a.f) : sqrt(a.f); break;
    case KRF__negative: r.f = -a.f, r.i = (int64_t)(0 - (uint64_t)a.i); break;
    case KRF__maximum:
    case KRF__max: r.f = larger(a.f, b.f), r.i = a.i > b.i ? a.i : b.i; break;
    case KRF__minimum:
    case KRF__min: r.f = -larger(-a.f, -b.f), r.i = a.i < b.i ? a.i : b.i; break;
    case KRF__less: r.i = real ? a.f < b.f : a.i < b.i; return r;
    case KRF__any: r.i = a.i | b.i; return r;
    case KRF__all: r.i = a.i & b.i; return r;
    case KRF__where: r = a.i ? b : c; break;
    default: fail_msg("naive_op: %s", krf__op_info_of((krf__op)code)->name);
    }
    return fit(r, dtype);
}

static value naive_cast(int from, int to, value a) {
    const bool from_real = from == KRF_F32 || from == KRF_F64, to_real = to == KRF_F32 || to == KRF_F64;
    value r = a;
    if (to == KRF_BOOL) {
        r.i = from_real ? a.f != 0 : a.i != 0;
    } else if (to_real && !from_real) {
        r.f = to == KRF_F32 ? (double)(float)a.i : (double)a.i;
    } else if (!to_real && from_real) {
        const double top = to == KRF_I32 ? 0x1p31 : 0x1p63;
        r.i = isnan(a.f)   ? 0
              : a.f >= top ? (to == KRF_I32 ? INT32_MAX : INT64_MAX)
              : a.f < -top ? (to == KRF_I32 ? INT32_MIN : INT64_MIN)
                           : (int64_t)a.f;
    }
    return fit(r, to);
}

/* The canonical tree over one chunk. */
NAIVE static value naive_chunk(unsigned code, int dtype, const value *x, int64_t n) {
    value acc[256];
    for (int j = 0; j < 256; j++) {
        uint64_t bits = krf__identity_bits((krf__op)code, (krf_dtype)dtype);
        acc[j] = read_value(&bits, dtype);
        for (int64_t i = j; i < n; i += 256) {
            acc[j] = naive_op(code, dtype, acc[j], x[i], x[i]);
        }
    }
    for (int s = 128; s > 0; s /= 2) {
        for (int j = 0; j < s; j++) {
            acc[j] = naive_op(code, dtype, acc[j], acc[j + s], acc[j]);
        }
    }
    return acc[0];
}

static value naive_tree(const krf__kernel *k, const krf__instr *in, const value *x) {
    value *partials = calloc((size_t)k->chunks, sizeof *partials);
    for (int64_t c = 0; c < k->chunks; c++) {
        int64_t left = k->reduced_size - c * k->chunk;
        partials[c] = naive_chunk(in->op, in->dtype, x + c * k->chunk, left < k->chunk ? left : k->chunk);
    }
    value result = k->chunks == 1 ? partials[0] : naive_chunk(in->op, in->dtype, partials, k->chunks);
    free(partials);
    return result;
}

static void *naive_address(const builder *b, uint32_t o, int64_t kept, int64_t reduced, void *const *pointers) {
    const krf__kernel *k = &b->k;
    int64_t offset = 0;
    for (int d = k->n_kept + k->n_reduced - 1; d >= 0; d--) {
        int64_t *position = d < k->n_kept ? &kept : &reduced;
        if (k->extents[d] > 0) { /* none reduced: the results' part still has an address */
            offset += *position % k->extents[d] * b->operands[o].strides[d];
            *position /= k->extents[d];
        }
    }
    return (char *)pointers[o] + offset * size_of(b->operands[o].dtype);
}

static void naive_instruction(const builder *b, uint32_t i, int64_t kept, int64_t reduced, void *const *from,
                              void *const *to, value *v) {
    const krf__instr *in = &b->instrs[i];
    switch (in->op) {
    case KRF__load: v[i] = read_value(naive_address(b, in->slot, kept, reduced, from), in->dtype); break;
    case KRF__store: write_value(naive_address(b, in->slot, kept, reduced, to), in->dtype, v[in->args[0]]); break;
    case KRF__constant: v[i] = read_value(&in->value, in->dtype); break;
    case KRF__scalar: v[i] = read_value(&b->scalars[in->slot], in->dtype); break;
    case KRF__cast: v[i] = naive_cast(in->from, in->dtype, v[in->args[0]]); break;
    default: v[i] = naive_op(in->op, in->from, v[in->args[0]], v[in->args[1]], v[in->args[2]]); break;
    }
}

/* Reads `from`, writes `to`: loads never see what is stored. */
static void naive_run(const builder *b, void *const *from, void *const *to) {
    const krf__kernel *k = &b->k;
    const uint32_t body = k->n_domain + k->n_reductions;
    value *v = calloc(k->n_instrs + 1, sizeof *v);
    value *kept = calloc((size_t)(k->n_reductions * k->reduced_size + 1), sizeof *kept);
    for (uint32_t i = 0; i < k->n_domain; i++) {
        if (b->instrs[i].op == KRF__constant || b->instrs[i].op == KRF__scalar) { /* serve the results' part as well */
            naive_instruction(b, i, 0, 0, from, to, v);
        }
    }
    for (int64_t o = 0; o < k->kept_size; o++) {
        for (int64_t e = 0; e < k->reduced_size; e++) {
            for (uint32_t i = 0; i < k->n_domain; i++) {
                naive_instruction(b, i, o, e, from, to, v);
            }
            for (uint32_t r = 0; r < k->n_reductions; r++) {
                kept[r * k->reduced_size + e] = v[b->instrs[k->n_domain + r].args[0]];
            }
        }
        for (uint32_t r = 0; r < k->n_reductions; r++) {
            const krf__instr *in = &b->instrs[k->n_domain + r];
            uint64_t empty = krf__empty_bits((krf__op)in->op, (krf_dtype)in->dtype);
            v[k->n_domain + r] =
                k->reduced_size == 0 ? read_value(&empty, in->dtype) : naive_tree(k, in, kept + r * k->reduced_size);
        }
        for (uint32_t i = body; i < k->n_instrs; i++) {
            naive_instruction(b, i, o, 0, from, to, v);
        }
    }
    free(kept);
    free(v);
}

#endif
