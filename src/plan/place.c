/* Reductions that find the place of the largest or smallest element of a row, of one, two or four bytes, as src/ir/build_place.c composes them: the largest key, of an element above how far its place is before the last. */
#include "plan/kernel.h"

#define MOST 65536     /* elements of a row of halves, for keys have 16 bits for a place at most */
#define MOST_BYTES 8192 /* of one of bytes: a thread of a warp numbers its own in a byte */

static bool is_constant(const krf__kernel *k, uint32_t instr, int64_t value) { return k->instrs[instr].op == KRF__constant && (int64_t)(int32_t)(uint32_t)k->instrs[instr].value == value; }

/* What is cast to a dtype that has all its values: halves to f32, bytes and places to i32. */
static uint32_t uncast(const krf__kernel *k, uint32_t instr, krf_dtype to) { return k->instrs[instr].op == KRF__cast && k->instrs[instr].dtype == to ? k->instrs[instr].args[0] : instr; }

/* Whether it is the number of an element in its row, and some more, but below `most`. */
static bool is_count(const krf__kernel *k, uint32_t instr, int64_t most) {
    const krf__instr *i = &k->instrs[instr];
    const krf__operand *o = &k->operands[i->op == KRF__load ? i->slot : 0];
    bool counts = i->op == KRF__load && o->counts && k->n_reduced == 1 && o->strides[k->n_kept] == 1 && o->offset >= 0 && o->offset <= most - k->reduced_size;
    for (int d = 0; d < k->n_kept; d++) {
        counts &= o->strides[d] == 0;
    }
    return counts;
}

/* Whether it is the last number of so many bits less that of the element. */
static bool counts_down(const krf__kernel *k, uint32_t instr, int bits) {
    const krf__instr *i = &k->instrs[instr];
    return i->op == KRF__subtract && i->dtype == KRF_I32 && is_constant(k, i->args[0], (INT64_C(1) << bits) - 1) && is_count(k, uncast(k, i->args[1], KRF_I32), INT64_C(1) << bits);
}

/* Whether it is the complement of that number in 32 bits. */
static bool counts_inverted(const krf__kernel *k, uint32_t instr) {
    const krf__instr *wide = &k->instrs[instr], *i = &k->instrs[wide->args[0]];
    return wide->op == KRF__cast && wide->dtype == KRF_I64 && i->op == KRF__invert && i->dtype == KRF_U32 && is_count(k, uncast(k, i->args[0], KRF_U32), INT64_C(1) << 32);
}

static bool is_load(const krf__kernel *k, uint32_t instr, krf_dtype dtype) {
    const krf__instr *i = &k->instrs[instr];
    return i->op == KRF__load && i->dtype == dtype && i->from == dtype && !k->operands[i->slot].counts && k->operands[i->slot].inner == 0;
}

/* The order of a half, its lower bits left out, of which f16 has three more: the instruction that loads it, else -1. */
static int64_t half_of(const krf__kernel *k, const krf__instr *order, int bits, bool *smallest) {
    const krf__instr *key = &k->instrs[order->args[0]];
    if (order->op != KRF__bitwise_and || order->dtype != KRF_I32 || !is_constant(k, order->args[1], -(INT64_C(1) << bits)) || key->op != KRF__order_key || key->dtype != KRF_I32) {
        return -1;
    }
    uint32_t x = uncast(k, key->args[0], KRF_F32);
    *smallest = k->instrs[x].op == KRF__negative;
    x = *smallest ? uncast(k, k->instrs[x].args[0], KRF_F32) : x;
    return is_load(k, x, KRF_BF16) || (bits == 13 && is_load(k, x, KRF_F16)) ? (int64_t)x : -1;
}

/* The same of a byte, so far up. */
static int64_t byte_of(const krf__kernel *k, const krf__instr *order, int bits, bool *smallest) {
    if (order->op != KRF__left_shift || order->dtype != KRF_I32 || !is_constant(k, order->args[1], bits)) {
        return -1;
    }
    uint32_t x = order->args[0];
    *smallest = k->instrs[x].op == KRF__invert && k->instrs[x].dtype == KRF_I32;
    x = uncast(k, *smallest ? k->instrs[x].args[0] : x, KRF_I32);
    const bool from_zero = k->instrs[x].op == KRF__subtract && k->instrs[x].dtype == KRF_I32 && is_constant(k, k->instrs[x].args[1], 128);
    x = from_zero ? uncast(k, k->instrs[x].args[0], KRF_I32) : x;
    return is_load(k, x, from_zero ? KRF_U8 : KRF_I8) ? (int64_t)x : -1; /* no bools: codegen/cuda_place.c has the same dtypes */
}

/* The order of an element of four bytes, in the upper half of 64 bits. */
static int64_t word_of(const krf__kernel *k, const krf__instr *order, bool *smallest) {
    const krf__instr *shift = &k->instrs[order->args[1]], *wide = &k->instrs[order->args[0]];
    if (order->op != KRF__left_shift || order->dtype != KRF_I64 || shift->op != KRF__constant || shift->value != 32 || wide->op != KRF__cast || k->instrs[wide->args[0]].dtype != KRF_I32) {
        return -1;
    }
    uint32_t x = wide->args[0];
    const bool real = k->instrs[x].op == KRF__order_key;
    x = real ? k->instrs[x].args[0] : x;
    *smallest = k->instrs[x].op == (real ? KRF__negative : KRF__invert);
    x = *smallest ? k->instrs[x].args[0] : x;
    if (real) {
        return is_load(k, x, KRF_F32) ? (int64_t)x : -1;
    }
    const krf__instr *turned = &k->instrs[uncast(k, x, KRF_I32)];
    if (k->instrs[x].op == KRF__cast && turned->op == KRF__bitwise_xor && turned->dtype == KRF_U32 && is_constant(k, turned->args[1], INT32_MIN)) {
        return is_load(k, turned->args[0], KRF_U32) ? (int64_t)turned->args[0] : -1;
    }
    return is_load(k, x, KRF_I32) ? (int64_t)x : -1;
}

static int64_t load_of(const krf__kernel *k, const krf__instr *key, bool *smallest) {
    const krf__instr *order = &k->instrs[key->args[0]];
    if (key->dtype == KRF_I64) {
        return counts_inverted(k, key->args[1]) ? word_of(k, order, smallest) : -1;
    }
    for (int bits = 13; bits <= 16; bits += 3) {
        int64_t load = counts_down(k, key->args[1], bits) ? half_of(k, order, bits, smallest) : -1;
        load = load < 0 && bits == 16 && counts_down(k, key->args[1], bits) ? byte_of(k, order, bits, smallest) : load;
        if (load >= 0) {
            return load;
        }
    }
    return -1;
}

krf__place krf__place_of(const krf__kernel *k) {
    krf__place found = {0};
    if (k->n_rounds > 0 || k->n_reductions != 1 || k->instrs[k->n_domain].op != KRF__max) {
        return found;
    }
    const krf__instr *key = &k->instrs[k->instrs[k->n_domain].args[0]];
    const int64_t load = key->op == KRF__bitwise_or && key->dtype == k->instrs[k->n_domain].dtype ? load_of(k, key, &found.smallest) : -1;
    found.found = load >= 0;
    found.load = found.found ? (uint32_t)load : 0;
    return found;
}

bool krf__finds_place(const krf__kernel *k) {
    const krf__place place = krf__place_of(k);
    if (!place.found) {
        return false;
    }
    const krf__instr *load = &k->instrs[place.load];
    const bool rows = (k->schedule == KRF__REDUCE_ROW || k->schedule == KRF__REDUCE_SHORT) && k->n_reduced == 1 && k->chunks == 1 && k->team == 1 && k->lines == 1 && !k->outer && !krf__stores_elements(k);
    const krf__operand *o = &k->operands[load->slot];
    const int64_t longest = k->reduced_size + (k->drifts ? k->vector - 1 : 0);
    switch (krf_dtype_size((krf_dtype)load->dtype)) {
    case 1: return rows && o->aligned && longest <= MOST_BYTES && k->vector >= 4;
    case 2: return rows && o->aligned && longest <= MOST && k->vector >= 2;
    default: return rows && o->strides[k->n_kept] == 1 && k->reduced_size <= INT32_MAX;
    }
}
