/* The values in blocks of memory: each element follows from the seed, the block and its own place, so that a graph
 * needs no data to be reproduced. */
#include "fuzz/graph.h"

const char *filling_name(filling f) {
    static const char *const names[FILLINGS] = {"small", "everyday", "wide", "large", "special"};
    return names[f];
}

static double special_real(krf_dtype dtype, uint64_t bits) {
    static const double common[] = {0.0, -0.0, 1, -1, 0.5, 2, -2, 3, 10, 88.7, -87.5, 709.5, -745, 0x1p24, 0x1p31, -0x1p31, 0x1p53, 0x1p63,
                                    -0x1p63, M_PI, M_PI / 2, 1e-3, 1e30, -1e-30, INFINITY, -INFINITY, NAN, -NAN};
    const dtype_facts *f = facts_of(dtype);
    const double normal = ldexp(1, f->lowest), last = ldexp(1, 1 - f->digits);
    const double limits[] = {normal * last, normal - normal * last, normal, (2 - last) * ldexp(1, 1 - f->lowest), 1 - last / 2, 1 + last};
    const size_t n = sizeof common / sizeof *common, m = sizeof limits / sizeof *limits;
    size_t at = bits % (n + 2 * m);
    return at < n ? common[at] : at < n + m ? limits[at - n] : -limits[at - n - m];
}

static int64_t special_integer(krf_dtype dtype, uint64_t bits) {
    const int width = 8 * (int)bytes_of(dtype);
    const int64_t high = (int64_t)(UINT64_MAX >> (65 - width)), low = -high - 1; /* of a signed one: an unsigned one wraps them */
    const int64_t all[] = {0, 1, -1, 2, 7, -7, 31, 32, 33, 63, 64, 65, -32, 46341, 16777217, high, low, high - 1, low + 1, high / 2 + 1};
    return all[bits % (sizeof all / sizeof *all)];
}

/* Whole numbers about those at which integer dtypes, and the digits of floats, end. */
static double large_real(uint64_t bits) {
    static const int ends[] = {7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64};
    const double x = ldexp(1, ends[bits % 11]) + (double)(int)(bits / 16 % 9) - 4;
    return (bits >> 60 & 1) != 0 ? -x : x;
}

/* Half of them near an end of the dtype, above its middle where it has no sign; the others any: sums leave narrower dtypes at once, and as f32 most are
 * rounded. */
static int64_t large_integer(krf_dtype dtype, uint64_t bits, uint64_t other) {
    const int width = 8 * (int)bytes_of(dtype);
    const uint64_t low = UINT64_C(1) << (width - 1), step = bits / 64 % 64;
    switch (bits % 8) {
    case 0: return (int64_t)(low + step); /* wrapped: the lowest of a signed dtype */
    case 1: return (int64_t)(low - 1 - step);
    case 2: return (int64_t)(UINT64_MAX - step); /* the highest of an unsigned dtype */
    case 3: return (int64_t)(low / 2 + step);
    default: return (int64_t)other;
    }
}

static value real_element(krf_dtype dtype, filling fill, uint64_t bits, uint64_t *state) {
    const dtype_facts *f = facts_of(dtype);
    value v = {.dtype = KRF_F64};
    switch (fill) {
    case FILL_SMALL: v.f = (double)(bits % 9) - 4; break;
    case FILL_EVERYDAY: v.f = (random_unit(state) - 0.5) * 8; break;
    case FILL_WIDE:
        v.f = (random_unit(state) - 0.5) * pow(2, (double)(bits % 1600 % (uint64_t)(-f->lowest * 3 / 2)) + f->lowest * 3 / 4);
        break;
    case FILL_LARGE: v.f = large_real(bits); break;
    default: v.f = bits % 10 < 4 ? special_real(dtype, bits / 16) : (random_unit(state) - 0.5) * 20; break;
    }
    return convert(v, dtype);
}

static value integer_element(krf_dtype dtype, filling fill, uint64_t bits, uint64_t *state) {
    value v = {.dtype = KRF_I64};
    switch (fill) {
    case FILL_SMALL: v.i = (int64_t)(bits % 9) - 4; break;
    case FILL_EVERYDAY: v.i = (int64_t)(bits % 41) - 20; break;
    case FILL_WIDE: v.i = (int64_t)(next_random(state) >> (bits % 64)); break;
    case FILL_LARGE: v.i = large_integer(dtype, bits, next_random(state)); break;
    default: v.i = bits % 10 < 5 ? special_integer(dtype, bits / 16) : (int64_t)(bits / 16 % 200) - 100; break;
    }
    return convert(v, dtype);
}

value block_element(const graph *g, int index, int64_t element) {
    const block *b = &g->blocks[index];
    uint64_t state =
        g->seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)index * UINT64_C(0xd1342543de82ef95) + (uint64_t)element;
    uint64_t bits = next_random(&state);
    if (b->dtype == KRF_BOOL) {
        return (value){.dtype = KRF_BOOL, .i = (int64_t)(bits % (b->fill == FILL_SPECIAL ? 7 : 2) != 0)};
    }
    if (is_complex(b->dtype)) {
        value re = real_element(part_of(b->dtype), b->fill, bits, &state), im;
        bits = next_random(&state);
        im = real_element(part_of(b->dtype), b->fill, bits, &state);
        return (value){.dtype = b->dtype, .f = re.f, .im = im.f};
    }
    return is_real(b->dtype) ? real_element(b->dtype, b->fill, bits, &state)
                             : integer_element(b->dtype, b->fill, bits, &state);
}

void *block_memory(const graph *g, int index) {
    const block *b = &g->blocks[index];
    void *memory = malloc((size_t)b->count * bytes_of(b->dtype) + 1);
    assert_non_null(memory);
    for (int64_t i = 0; i < b->count; i++) {
        put(memory, i, block_element(g, index, i));
    }
    return memory;
}
