/* Reductions that find the place of the largest or smallest byte or half of a row, as src/ir/build_place.c composes them: the largest key, of an element above how far its place is before the last. */
#include "plan/kernel.h"

#define MOST 65536     /* elements of a row of halves, for keys have 16 bits for a place at most */
#define MOST_BYTES 8192 /* of one of bytes: a thread of a warp numbers its own in a byte */

static bool is_constant(const krf__kernel *k, uint32_t instr, int64_t value) { return k->instrs[instr].op == KRF__constant && (int64_t)(int32_t)(uint32_t)k->instrs[instr].value == value; }

static uint32_t uncast(const krf__kernel *k, uint32_t instr) { return k->instrs[instr].op == KRF__cast ? k->instrs[instr].args[0] : instr; }

/* Whether it is most - (the number of an element). */
static bool counts_down(const krf__kernel *k, uint32_t instr, int64_t most) {
    const krf__instr *i = &k->instrs[instr];
    const krf__instr *number = i->op == KRF__subtract ? &k->instrs[uncast(k, i->args[1])] : i;
    return i->op == KRF__subtract && i->dtype == KRF_I32 && is_constant(k, i->args[0], most) && number->op == KRF__load && k->operands[number->slot].counts;
}

static bool is_load(const krf__kernel *k, uint32_t instr) {
    const krf__instr *i = &k->instrs[instr];
    return i->op == KRF__load && i->from == i->dtype && !k->operands[i->slot].counts && k->operands[i->slot].inner == 0;
}

/* The order of a half, its lower bits left out, or that of a byte, so far up: the instruction that loads it, else -1. */
static int64_t half_of(const krf__kernel *k, const krf__instr *order, int bits, bool *smallest) {
    const krf__instr *key = &k->instrs[order->args[0]];
    uint32_t x = key->args[0];
    if (order->op != KRF__bitwise_and || !is_constant(k, order->args[1], -(INT64_C(1) << bits)) || key->op != KRF__order_key || key->dtype != KRF_I32) {
        return -1;
    }
    *smallest = k->instrs[uncast(k, x)].op == KRF__negative;
    x = *smallest ? k->instrs[uncast(k, x)].args[0] : x;
    x = uncast(k, x);
    return is_load(k, x) && krf__is_half((krf_dtype)k->instrs[x].dtype) ? (int64_t)x : -1;
}

static int64_t byte_of(const krf__kernel *k, const krf__instr *order, int bits, bool *smallest) {
    if (order->op != KRF__left_shift || order->dtype != KRF_I32 || !is_constant(k, order->args[1], bits)) {
        return -1;
    }
    uint32_t x = order->args[0];
    *smallest = k->instrs[x].op == KRF__invert;
    x = uncast(k, *smallest ? k->instrs[x].args[0] : x);
    const bool from_zero = k->instrs[x].op == KRF__subtract && k->instrs[x].dtype == KRF_I32 && is_constant(k, k->instrs[x].args[1], 128);
    x = from_zero ? uncast(k, k->instrs[x].args[0]) : x;
    return is_load(k, x) && k->instrs[x].dtype == (from_zero ? KRF_U8 : KRF_I8) ? (int64_t)x : -1; /* no bools: codegen/cuda_place.c has the same four dtypes */
}

krf__place krf__place_of(const krf__kernel *k) {
    krf__place none = {0}, found = {.found = true};
    const krf__instr *largest = &k->instrs[k->n_domain], *key = &k->instrs[largest->args[0]];
    if (k->n_rounds > 0 || k->n_reductions != 1 || largest->op != KRF__max || largest->dtype != KRF_I32 || key->op != KRF__bitwise_or) {
        return none;
    }
    const krf__instr *order = &k->instrs[key->args[0]];
    for (int bits = 13; bits <= 16; bits += 3) {
        int64_t load = half_of(k, order, bits, &found.smallest);
        load = load < 0 && bits == 16 ? byte_of(k, order, bits, &found.smallest) : load;
        if (load >= 0 && counts_down(k, key->args[1], (INT64_C(1) << bits) - 1)) {
            found.load = (uint32_t)load;
            return found;
        }
    }
    return none;
}

bool krf__finds_place(const krf__kernel *k) {
    const krf__place place = krf__place_of(k);
    const krf__instr *load = &k->instrs[place.load];
    const bool rows = k->schedule == KRF__REDUCE_ROW && k->n_reduced == 1 && k->chunks == 1 && k->team == 1 && k->lines == 1 && !k->outer && !k->drifts && !krf__stores_elements(k);
    const bool halves = krf__is_half((krf_dtype)load->dtype);
    return place.found && rows && k->operands[load->slot].aligned && k->reduced_size <= (halves ? MOST : MOST_BYTES) && k->vector >= (halves ? 2 : 4);
}
