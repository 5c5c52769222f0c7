/* The places of the largest and the smallest element. */
#include "ir/composing.h"

#include "base/fail.h"
#include "ir/cut.h"

/* Whether the order of a number has room in 32 bits, and a place too; not where there is an error to find: complex numbers, no elements. */
static bool has_key(const krf__composing *c, uint32_t x, int64_t n) {
    const krf_dtype dtype = composed_dtype(c, x);
    return !krf__is_complex(dtype) && krf_dtype_size(dtype) <= 4 && n > 0 && n <= (int64_t)1 << 32;
}

/* An i32 that is larger where x is, or (smallest) where x is smaller; the largest for NaN. */
static uint32_t order(const krf__composing *c, bool smallest, uint32_t x) {
    const krf_dtype dtype = composed_dtype(c, x);
    if (krf__is_real(dtype)) {
        return composed1(c, KRF__order_key, smallest ? composed1(c, KRF__negative, x) : x);
    }
    if (dtype == KRF_U32) {
        x = composed2(c, KRF__bitwise_xor, x, krf__build_int(c->g, (int64_t)1 << 31, true));
    }
    x = krf__build_cast(c->g, x, KRF_I32);
    return smallest ? composed1(c, KRF__invert, x) : x;
}

/* The order in the high half of an i64 and the place in the low one, inverted: the first is the largest. order: an i32. */
static uint32_t long_key(const krf__composing *c, uint32_t order_of, uint32_t places) {
    uint32_t high = composed2(c, KRF__left_shift, krf__build_cast(c->g, order_of, KRF_I64), krf__build_int(c->g, 32, true));
    uint32_t low = krf__build_cast(c->g, composed1(c, KRF__invert, krf__build_cast(c->g, places, KRF_U32)), KRF_I64);
    return composed2(c, KRF__bitwise_or, high, low);
}

static uint32_t place_of_long_key(const krf__composing *c, uint32_t key) {
    return krf__build_cast(c->g, composed1(c, KRF__invert, krf__build_cast(c->g, key, KRF_U32)), KRF_I64);
}

static uint32_t place_by_key(const krf__composing *c, bool smallest, uint32_t x, uint32_t places) {
    return place_of_long_key(c, composed_reduce(c, KRF__max, long_key(c, order(c, smallest, x), places)));
}

/* Bits of 32 that a place has beside the order of a number: of f16, as f32, its sign, 8 bits of exponent and 10 of mantissa are the others; of bytes as many as a GPU counts beside two of them (plan/place.c). */
static int bits_for_place(krf_dtype dtype) {
    switch (dtype) {
    case KRF_BOOL:
    case KRF_I8:
    case KRF_U8:
    case KRF_I16:
    case KRF_U16:
    case KRF_BF16: return 16;
    case KRF_F16: return 13;
    default: return 0;
    }
}

/* The same within an i32. */
static uint32_t short_key(const krf__composing *c, bool smallest, uint32_t x, uint32_t places) {
    const krf_dtype dtype = composed_dtype(c, x);
    const int bits = bits_for_place(dtype);
    const uint32_t most = krf__build_int(c->g, ((int64_t)1 << bits) - 1, true), above = krf__build_int(c->g, -((int64_t)1 << bits), true);
    if (dtype == KRF_U8 || dtype == KRF_U16) {
        x = composed2(c, KRF__subtract, krf__build_cast(c->g, x, KRF_I32), krf__build_int(c->g, dtype == KRF_U8 ? 128 : 32768, true));
    }
    uint32_t high = order(c, smallest, x);
    high = krf__is_real(dtype) ? composed2(c, KRF__bitwise_and, high, above) : composed2(c, KRF__left_shift, high, krf__build_int(c->g, bits, true));
    return composed2(c, KRF__bitwise_or, high, composed2(c, KRF__subtract, most, krf__build_cast(c->g, places, KRF_I32)));
}

static uint32_t place_of_short_key(const krf__composing *c, int bits, uint32_t key) {
    const uint32_t most = krf__build_int(c->g, ((int64_t)1 << bits) - 1, true);
    return krf__build_cast(c->g, composed2(c, KRF__subtract, most, composed2(c, KRF__bitwise_and, key, most)), KRF_I64);
}

static uint32_t place_by_short_key(const krf__composing *c, bool smallest, uint32_t x, uint32_t places) {
    return place_of_short_key(c, bits_for_place(composed_dtype(c, x)), composed_reduce(c, KRF__max, short_key(c, smallest, x, places)));
}

/* Where an element is the largest (smallest) one; NaN is not equal to itself. */
static uint32_t is_extreme(const krf__composing *c, uint32_t x, uint32_t extreme) {
    const uint32_t hit = extreme == 0 ? 0 : composed2(c, KRF__equal, x, extreme);
    return hit != 0 && krf__is_real(composed_dtype(c, x)) ? composed2(c, KRF__logical_or, hit, composed1(c, KRF__isnan, x)) : hit;
}

/* The least place at which the element is the largest (smallest) one, in 32 bits where it has room. */
static uint32_t place_by_value(const krf__composing *c, krf__op op, uint32_t x, uint32_t places, int64_t none) {
    const uint32_t hit = is_extreme(c, x, composed_reduce(c, op, x)), own = none > INT32_MAX ? places : krf__build_cast(c->g, places, KRF_I32);
    return hit == 0 ? 0 : krf__build_cast(c->g, composed_reduce(c, KRF__min, composed_where(c, hit, own, krf__build_int(c->g, none, false))), KRF_I64);
}

/* From how many elements on places are found by parts: those of 64 bits are read once so, and narrow ones have keys of 32 bits; those of bytes and f16 have no room for more. */
#define PARTS 131072
#define PARTS_DOWN 8192
#define PARTS_NARROW 16384
#define PARTS_SHORT 8192
#define PART 8192 /* elements of a part at most, and least: as many parts as give each multiprocessor work */
#define PART_LEAST 1024
#define ENOUGH 4096
#define PART_DOWN 512
#define MANY ((int64_t)1 << 20) /* elements in all; fewer take less time than a second kernel */

/* How to find the places of an operand of so many elements for each result by parts; false: there is no need. */
static bool cut_of(const krf__composing *c, uint32_t x, int axis, int64_t n, krf__cut *cut) {
    const krf_dtype dtype = composed_dtype(c, x);
    const int rank = krf__node_of(c->g, x)->rank, last = rank - 1;
    const bool down = axis >= 0 && axis != last, wide = krf_dtype_size(dtype) == 8;
    const bool has_room = krf_dtype_size(dtype) == 2 && dtype != KRF_F16;
    const int64_t from = !wide ? (has_room || down ? PARTS_NARROW : PARTS_SHORT) : down ? PARTS_DOWN : PARTS, all = krf__shape_size(rank, krf__shape_of(c->g, x));
    int64_t target = down ? PART_DOWN : PART;
    while (!down && target > PART_LEAST && all / target < ENOUGH) {
        target /= 2;
    }
    return !krf__is_complex(dtype) && (wide || bits_for_place(dtype) > 0) && n > from && n <= (int64_t)1 << 32 && all >= MANY && krf__cut_of(c->g, x, c->axes, target, true, cut);
}

static bool is_inner(const krf__piece *piece, int axis) {
    bool inner = false;
    for (int i = 0; i < piece->n_inner; i++) {
        inner |= piece->inner[i] == axis;
    }
    return inner;
}

/* A piece of an operand, with the places within its parts as i32, and the place that is each part's first. */
typedef struct in_parts {
    uint32_t x, inside, first;
} in_parts;

static in_parts piece_of(const krf__composing *c, const krf__cut *cut, int piece, uint32_t x, uint32_t places) {
    const krf__piece *p = &cut->piece[piece];
    in_parts of = {.x = krf__cut_out(c->g, cut, piece, x), .first = krf__cut_out(c->g, cut, piece, places)};
    const int rank = of.x == 0 ? 0 : krf__node_of(c->g, of.x)->rank;
    int64_t shape[KRF_MAX_RANK];
    krf_range first[KRF_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        const bool inner = is_inner(p, i);
        shape[i] = inner ? krf__shape_of(c->g, of.x)[i] : 1;
        first[i] = (krf_range){inner ? 0 : KRF_NONE, inner ? 1 : KRF_NONE, 1};
    }
    of.inside = krf__build_cast(c->g, krf__build_reshape(c->g, krf__build_arange(c->g, 0, p->size, 1), rank, shape), KRF_I32);
    of.first = of.first == 0 ? 0 : krf__build_slice(c->g, of.first, rank, first);
    return of;
}

/* The largest (smallest) of each part and the least place where it is; then the least of those whose part has the extreme of all. */
static uint32_t value_by_parts(const krf__composing *c, const krf__cut *cut, krf__op op, uint32_t x, uint32_t places, int64_t n) {
    const uint32_t none = krf__build_int(c->g, n, false);
    uint32_t extreme[2], place[2], of_all = 0, found = 0;
    for (int i = 0; i < cut->n_pieces; i++) {
        const in_parts of = piece_of(c, cut, i, x, places);
        extreme[i] = krf__cut_inner(c->g, cut, i, op, of.x);
        const uint32_t inside = composed_where(c, is_extreme(c, of.x, extreme[i]), of.inside, krf__build_int(c->g, INT32_MAX, true));
        place[i] = composed2(c, KRF__add, of.first, krf__build_cast(c->g, krf__cut_inner(c->g, cut, i, KRF__min, inside), KRF_I64));
        const uint32_t of_piece = krf__cut_outer(c->g, cut, i, op, extreme[i]);
        of_all = i == 0 ? of_piece : composed2(c, op == KRF__max ? KRF__maximum : KRF__minimum, of_all, of_piece);
    }
    for (int i = 0; i < cut->n_pieces; i++) {
        const uint32_t least = krf__cut_outer(c->g, cut, i, KRF__min, composed_where(c, is_extreme(c, extreme[i], of_all), place[i], none));
        found = i == 0 ? least : composed2(c, KRF__minimum, found, least);
    }
    return found;
}

/* By the largest key of each part, whose place is within the part, and is counted from the first of all where there is room. */
static uint32_t key_by_parts(const krf__composing *c, const krf__cut *cut, bool smallest, uint32_t x, uint32_t places) {
    const int bits = bits_for_place(composed_dtype(c, x));
    uint32_t all = 0;
    for (int i = 0; i < cut->n_pieces; i++) {
        const in_parts of = piece_of(c, cut, i, x, places);
        if (of.x == 0 || of.inside == 0) {
            return 0;
        }
        const uint32_t best = krf__cut_inner(c->g, cut, i, KRF__max, short_key(c, smallest, of.x, of.inside)), above = krf__build_int(c->g, -((int64_t)1 << bits), true);
        const uint32_t place = composed2(c, KRF__add, of.first, place_of_short_key(c, bits, best)), order_of = composed2(c, KRF__bitwise_and, best, above);
        const uint32_t key = krf__cut_outer(c->g, cut, i, KRF__max, long_key(c, order_of, place));
        all = i == 0 ? key : composed2(c, KRF__maximum, all, key);
    }
    return place_of_long_key(c, all);
}

uint32_t krf__compose_place(const krf__composing *c, krf__op op, uint32_t x) {
    const int rank = krf__node_of(c->g, x)->rank;
    const bool smallest = op == KRF__min;
    int64_t shape[KRF_MAX_RANK], n;
    int axis = -1;
    uint32_t places;
    krf__cut cut;
    for (int i = 0; i < rank; i++) {
        shape[i] = krf__shape_of(c->g, x)[i];
    }
    if (c->axes->of == NULL) {
        n = krf__shape_size(rank, shape);
        places = krf__build_reshape(c->g, krf__build_arange(c->g, 0, n, 1), rank, shape);
    } else {
        axis = c->axes->n != 1 ? 0 : c->axes->of[0] < 0 ? c->axes->of[0] + rank : c->axes->of[0];
        if (c->axes->n != 1) {
            return krf__graph_fail(c->g, KRF_E_ARGUMENT, "%s: takes one axis, or none for all elements, not %d",
                                   c->name, c->axes->n);
        }
        if (axis < 0 || axis >= rank) {
            return composed_reduce(c, op, x); /* which says why not */
        }
        n = shape[axis];
        places = krf__build_places(c->g, rank, shape, axis);
    }
    if (cut_of(c, x, axis, n, &cut)) {
        return krf_dtype_size(composed_dtype(c, x)) == 8 ? value_by_parts(c, &cut, op, x, places, n) : key_by_parts(c, &cut, smallest, x, places);
    }
    if (n > 1 && n <= (int64_t)1 << bits_for_place(composed_dtype(c, x))) {
        return place_by_short_key(c, smallest, x, places);
    }
    return has_key(c, x, n) ? place_by_key(c, smallest, x, places) : place_by_value(c, op, x, places, n);
}
