/* Variances, and places of the largest and smallest, of so many elements that they are taken by parts of a reduced axis
 * (ir/cut.c, ir/build_variance.c, ir/build_place.c): axes that come in whole parts and others, of any place in the
 * shape, over views and expressions; against two passes in long double and against a loop over all elements. All runs
 * must have the same bits. */
#include "ops/common.h"

static runs all;

enum { RANK = 3, MOST = 1400000, MOST_RESULTS = 130, LEAST_TO_CUT = 1 << 20 /* elements of which places are found by parts */ };

/* What is computed of x, which lies in C order. */
typedef struct example {
    const char *program; /* of places the operand, x if NULL */
    unsigned reduced;    /* the axes of what it sees, a bit each */
    int rank;
    int64_t base[RANK];
    bool keepdims, whole, bound, changed; /* whole: not in parts; bound: x is the view itself; changed: of variances 2 x + y, of places abs(x) */
    int seen_rank;                 /* 0: it sees the base, else the elements at offset + sum(index * stride) */
    int64_t shape[RANK], strides[RANK], offset;
} example;

/* The elements that an example sees, in C order. */
static struct operand {
    int64_t size, count; /* count: of each result */
    int results, rank;
    int64_t shape[RANK];             /* of the result */
    int of[MOST], at[MOST], k[MOST]; /* to which result an element belongs; where it lies in the base; its last index */
} operand;

static char data[MOST * 16];

static int64_t product_of(int rank, const int64_t *shape) {
    int64_t size = 1;
    for (int d = 0; d < rank; d++) {
        size *= shape[d];
    }
    return size;
}

static void look_at(const example *e) {
    const bool plain = e->seen_rank == 0;
    const int rank = plain ? e->rank : e->seen_rank;
    const int64_t *shape = plain ? e->base : e->shape;
    int64_t index[RANK] = {0}, strides[RANK], steps[RANK] = {0};
    operand.size = product_of(rank, shape);
    operand.results = 1;
    operand.rank = 0;
    assert_true(operand.size <= MOST && product_of(e->rank, e->base) <= MOST);
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = plain ? (d == rank - 1 ? 1 : strides[d + 1] * shape[d + 1]) : e->strides[d];
        if ((e->reduced >> d & 1) == 0) {
            steps[d] = operand.results;
            operand.results *= (int)shape[d];
        }
    }
    assert_true(operand.results <= MOST_RESULTS);
    operand.count = operand.size / operand.results;
    for (int d = 0; d < rank; d++) {
        const bool gone = (e->reduced >> d & 1) != 0;
        if (!gone || e->keepdims) {
            operand.shape[operand.rank++] = gone ? 1 : shape[d];
        }
    }
    for (int64_t i = 0; i < operand.size; i++) {
        int64_t at = e->offset, of = 0;
        for (int d = 0; d < rank; d++) {
            at += index[d] * strides[d];
            of += index[d] * steps[d];
        }
        operand.at[i] = (int)at;
        operand.of[i] = (int)of;
        operand.k[i] = (int)index[rank - 1];
        for (int d = rank - 1; d >= 0 && ++index[d] == shape[d]; d--) {
            index[d] = 0;
        }
    }
}

/* The results of one run; *count of them, NULL each where they do not fit. */
static void evaluate(const run *r, const example *e, krf_dtype dtype, const char *program, krf_dtype gives, int count, char **got) {
    static double y_values[MOST];
    const int64_t last = e->changed ? e->base[e->rank - 1] : 1;
    krf_array *base = NULL, *x = NULL, *y = NULL, *out[2] = {NULL};
    for (int64_t i = 0; i < last; i++) {
        y_values[i] = 0.25 * (double)(i % 9);
    }
    assert_int_equal(krf_array_from_host(r->context, dtype, e->rank, e->base, data, &base), KRF_OK);
    assert_int_equal(krf_array_from_host(r->context, KRF_F64, 1, &last, y_values, &y), KRF_OK);
    if (e->bound) {
        assert_int_equal(krf_array_view(base, e->seen_rank, e->shape, e->strides, e->offset, &x), KRF_OK);
    }
    const krf_binding bindings[] = {krf_bind_array("x", e->bound ? x : base), krf_bind_array("y", y)};
    evaluate_text(r, program, 2, bindings, count, out);
    for (int k = 0; k < count; k++) {
        got[k] = collecting ? NULL : to_host(out[k], gives, operand.rank, operand.shape, program);
        krf_array_release(out[k]);
    }
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(base);
}

static void must_be_same(const char *first, const char *got, krf_dtype dtype, const char *what) {
    char a[64], b[64];
    for (int j = 0; j < operand.results; j++) {
        const value one = get(first, dtype, j), other = get(got, dtype, j);
        if (!same(one, other)) {
            COMPLAIN("%s: result %d is %s, and %s elsewhere", what, j, show(other, a, sizeof a), show(one, b, sizeof b));
            return;
        }
    }
}

/* Of one test: the next one has none of its own yet. */
static int complaints(void) {
    const int n = failures;
    failures = 0;
    return n;
}

/* ---- variances ---- */

typedef enum filling { NEAR, FAR, STEPS, FEW, CONSTANT, ONES, HUGE_ONES, HUGE_SUMS, INFINITE, INFINITE_END, NAN_FIRST, NAN_END, WHOLE, LONG, FILLINGS } filling;

static const char *const filling_names[FILLINGS] = {"near 1e8", "near 1e12", "in steps", "near 1000", "0.1", "1", "near 1e200", "near 1e307", "one inf", "-inf at the end", "a NaN first", "a NaN at the end", "whole", "long"};

static double sample(filling f, int64_t i, int64_t n, double unit) {
    switch (f) {
    case NEAR: return 1e8 + unit;
    case FAR: return 1e12 + unit; /* a mean is off by more than 1e-4: what is not corrected for that is wrong from the 8th digit on */
    case STEPS: return 1e8 + 1000 * (double)(i * 20 / n) + unit;
    case FEW: return 1000 + unit;
    case CONSTANT: return 0.1;
    case ONES: return 1;
    case HUGE_ONES: return 1e200 * (unit - 0.5);
    case HUGE_SUMS: return 1e307 * unit; /* sums are infinite too, and what is taken from them */
    case INFINITE: return i == n / 2 ? (double)INFINITY : unit;
    case INFINITE_END: return i == n - 1 ? -(double)INFINITY : unit;
    case NAN_FIRST: return i == 0 ? (double)NAN : unit;
    case NAN_END: return i == n - 1 ? (double)NAN : unit;
    case WHOLE: return floor(1e9 + 1e6 * unit);
    case LONG: return 0x1p60 + floor(0x1p24 * unit);
    case FILLINGS: break;
    }
    return unit;
}

/* Over what the arithmetic sees: integers are f64 before anything else. */
static void variances(const example *e, krf_dtype dtype, int ddof, double *wanted) {
    static double parts[2][MOST];
    static long double near[2][MOST_RESULTS], means[2][MOST_RESULTS], sums[MOST_RESULTS]; /* near: an element, which the others are taken from: a sum of large ones would be rounded too much */
    memset(means, 0, sizeof means);
    memset(sums, 0, sizeof sums);
    for (int64_t i = operand.size - 1; i >= 0; i--) {
        const value v = get(data, dtype, operand.at[i]);
        const double x = is_real(dtype) || is_complex(dtype) ? v.f : (double)wide_of(v);
        parts[0][i] = e->changed ? x * 2 + 0.25 * (operand.k[i] % 9) : x;
        parts[1][i] = v.im;
        near[0][operand.of[i]] = (long double)parts[0][i];
        near[1][operand.of[i]] = (long double)v.im;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < operand.size; i++) {
            const int j = operand.of[i];
            const long double re = (long double)parts[0][i] - near[0][j], im = (long double)parts[1][i] - near[1][j], n = (long double)operand.count;
            if (pass == 0) {
                means[0][j] += re / n;
                means[1][j] += im / n;
            } else {
                sums[j] += (re - means[0][j]) * (re - means[0][j]) + (im - means[1][j]) * (im - means[1][j]);
            }
        }
    }
    for (int j = 0; j < operand.results; j++) {
        wanted[j] = (double)(sums[j] / (long double)(operand.count - ddof));
    }
}

static bool near_enough(krf_dtype dtype, double got, double wanted) {
    const double relative = dtype == KRF_C64 ? 1e-5 : 1e-13, least = dtype == KRF_C64 ? 1e-14 : 1e-30;
    return isnan(wanted) || isinf(wanted) ? same_real(got, wanted) : fabs(got - wanted) <= relative * wanted + least;
}

static void check_variance(const example *e, krf_dtype dtype, filling f) {
    static double wanted[MOST_RESULTS];
    const int64_t n = product_of(e->rank, e->base);
    const krf_dtype gives = dtype == KRF_C64 ? KRF_F32 : KRF_F64;
    const bool root = strncmp(e->program, "std", 3) == 0;
    char what[200], *first = NULL;
    uint64_t seed = (uint64_t)f + 1;
    if (!collecting) {
        look_at(e);
        for (int64_t i = 0; i < n; i++) {
            const value v = {.dtype = is_complex(dtype) ? KRF_C128 : KRF_F64, .f = sample(f, i, n, random_unit(&seed)), .im = is_complex(dtype) ? sample(f, n - 1 - i, n, random_unit(&seed)) : 0};
            put(data, i, convert(v, dtype));
        }
        variances(e, dtype, strstr(e->program, "ddof=1") != NULL, wanted);
    }
    for (int r = 0; r < all.n; r++) {
        char *got = NULL;
        if (passed_over(&all.run[r])) {
            continue;
        }
        evaluate(&all.run[r], e, dtype, e->program, gives, 1, &got);
        snprintf(what, sizeof what, "%s of %s [%" PRId64 ", %" PRId64 ", %" PRId64 "], %s, %s", e->program, name_of(dtype), e->base[0], e->base[1], e->base[2], filling_names[f], all.run[r].label);
        for (int j = 0; j < operand.results && got != NULL; j++) {
            const double found = get(got, gives, j).f, want = root ? sqrt(wanted[j]) : wanted[j];
            if (!near_enough(dtype, found, want)) {
                COMPLAIN("%s: result %d is %.17g, not %.17g", what, j, found, want);
                break;
            }
        }
        if (first != NULL && got != NULL) {
            must_be_same(first, got, gives, what);
        }
        if (first == NULL) {
            first = got;
        } else {
            free(got);
        }
    }
    free(first);
}

/* Of more than 131072 elements a result, or of 8192 where the last axis stays, which may be parts of columns or not. */
static const example variance_examples[] = {
    {"var(x)", 1, 1, .base = {200003}},
    {"var(x, axis=1)", 2, 2, .base = {3, 140001}},
    {"var(x)", 1, 1, .base = {200000}},
    {"var(x, ddof=1)", 1, 1, .base = {131073}},
    {"var(x)", 3, 2, .base = {150, 1000}},
    {"var(x, keepdims=True)", 3, 2, .base = {2, 131080}, .keepdims = true},
    {"std(x, axis=(-1, 1), ddof=1)", 6, 3, .base = {2, 301, 500}},
    {"var(x, axis=0)", 1, 2, .base = {9001, 5}},
    {"std(x, axis=(0, 1), ddof=1)", 3, 3, .base = {2, 9000, 3}},
    {"var(x, axis=1, keepdims=True)", 2, 3, .base = {2, 8200, 3}, .keepdims = true},
    {"var(x, axis=(0, 2))", 5, 3, .base = {400, 7, 500}, .whole = true},                   /* in parts of fewer than 1024: not cut */
    {"var(x, axis=(0, 2), keepdims=True)", 5, 3, .base = {150, 2, 1087}, .keepdims = true}, /* one part each, and a rest */
    {"var(x, axis=(0, 2))", 5, 3, .base = {20, 2, 8193}},                                   /* a rest of one */
    {"var(x)", 7, 3, .base = {300, 1, 1000}},
    {"var(x, axis=(0, 2))", 5, 3, .base = {300, 1, 1000}, .whole = true},
    {"var(x, axis=1)", 2, 3, .base = {3, 140001, 1}},
    {"var(x.reshape(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 200003))", 1, 1, .base = {200003}},                    /* which has room for one more axis */
    {"var(x.reshape(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 200003))", 1, 1, .base = {200003}, .whole = true}, /* and this one not */
    /* Views, of the program's and the array's own making. */
    {"var(x.T, axis=1)", 2, 2, .base = {140001, 3}, .seen_rank = 2, .shape = {3, 140001}, .strides = {1, 3}},
    {"var(x[::-1])", 1, 1, .base = {200003}, .seen_rank = 1, .shape = {200003}, .strides = {-1}, .offset = 200002},
    {"var(x[1:, 3::2])", 3, 2, .base = {20001, 21}, .seen_rank = 2, .shape = {20000, 9}, .strides = {21, 2}, .offset = 24},
    {"var(x, axis=0)", 1, 2, .base = {9001, 9}, .bound = true, .seen_rank = 2, .shape = {9001, 4}, .strides = {-9, -2}, .offset = 9000 * 9 + 7},
    {"var(x, axis=1)", 2, 2, .base = {140001, 3}, .bound = true, .seen_rank = 2, .shape = {3, 140000}, .strides = {1, -3}, .offset = 140000 * 3},
    {"var(x * 2 + y, axis=1)", 2, 2, .base = {3, 140001}, .changed = true},
    {"var(x * 2 + y)", 3, 2, .base = {20001, 9}, .changed = true},
};

/* Whether its means are corrected: not where it takes two passes, nor where columns do. */
static bool is_corrected(const example *e) {
    const int64_t *shape = e->seen_rank > 0 ? e->shape : e->base;
    int last = (e->seen_rank > 0 ? e->seen_rank : e->rank) - 1;
    while (last > 0 && shape[last] == 1) {
        last--;
    }
    return !e->whole && (e->reduced >> last & 1) != 0;
}

enum { VARIANCES = sizeof variance_examples / sizeof *variance_examples };

static void test_variances(void **unused) {
    (void)unused;
    for (int k = 0; k < VARIANCES; k++) {
        if (!in_shard(k)) {
            continue;
        }
        check_variance(&variance_examples[k], KRF_F64, k % 2 == 0 ? STEPS : NEAR);
        if (!collecting && is_corrected(&variance_examples[k])) {
            check_variance(&variance_examples[k], KRF_F64, FAR);
        }
        for (filling f = CONSTANT; f < WHOLE && k < 2 && !collecting; f++) { /* the same kernels */
            check_variance(&variance_examples[k], KRF_F64, f);
        }
    }
    assert_int_equal(complaints(), 0);
}

static void test_variances_of_others(void **unused) {
    static const struct {
        krf_dtype dtype;
        filling fillings[5];
    } cases[] = {
        {KRF_I64, {LONG, WHOLE, ONES, LONG, LONG}},
        {KRF_I32, {WHOLE, ONES, ONES, WHOLE, WHOLE}},
        {KRF_U32, {WHOLE, ONES, ONES, WHOLE, WHOLE}},
        {KRF_U64, {LONG, WHOLE, ONES, LONG, LONG}},
        {KRF_C128, {NEAR, FAR, CONSTANT, HUGE_ONES, NAN_END}},
        {KRF_C64, {FEW, CONSTANT, INFINITE, FEW, NAN_FIRST}},
    };
    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int k = 0; in_shard((int64_t)c) && k < (cases[c].dtype == KRF_I32 || cases[c].dtype == KRF_U32 ? 1 : 2); k++) { /* of 32 bits only how they become f64 is another thing */
            for (int f = 0; f < (collecting ? 1 : 5); f++) {
                check_variance(&variance_examples[k], cases[c].dtype, cases[c].fillings[f]);
            }
        }
    }
    assert_int_equal(complaints(), 0);
}

/* 2 (x - mean) / n, by way of all that the parts are composed of; of equal elements it is 0. */
static void test_gradient(void **unused) {
    static const example e = {"grad(var(x), x)", 0, 1, .base = {200003}};
    static double got[200003];
    (void)unused;
    for (int again = 0; again < (collecting ? 1 : 2); again++) {
        long double mean = 0;
        uint64_t seed = 1;
        for (int i = 0; i < 200003; i++) {
            const double x = again == 1 ? 1 : sample(STEPS, i, 200003, random_unit(&seed)) - 1e8;
            put(data, i, (value){.dtype = KRF_F64, .f = x});
            mean += (long double)x / 200003;
        }
        for (int r = 0; r < all.n; r++) {
            krf_array *x = NULL;
            if (passed_over(&all.run[r])) {
                continue;
            }
            assert_int_equal(krf_array_from_host(all.run[r].context, KRF_F64, 1, e.base, data, &x), KRF_OK);
            krf_array *out = evaluate_of(&all.run[r], e.program, x);
            read_back(out, got, sizeof got);
            for (int i = 0; i < 200003 && !collecting; i++) {
                const double want = (double)(2 * ((long double)get(data, KRF_F64, i).f - mean) / 200003);
                if (!(fabs(got[i] - want) <= 1e-13)) { /* the largest are 0.1 */
                    COMPLAIN("%s, %s: element %d is %.17g, not %.17g", e.program, all.run[r].label, i, got[i], want);
                    break;
                }
            }
            krf_array_release(out);
            krf_array_release(x);
        }
    }
    assert_int_equal(complaints(), 0);
}

/* ---- places ---- */

enum { ORDINARY = 16, LOWEST = ORDINARY, LOW, ZERO_BELOW, ZERO, HIGH, HIGHEST, NOT, SLOTS };

/* Ordinary ones differ in the last digit, LOW and HIGH are just beyond them. */
static value number_of(krf_dtype dtype, int slot, bool odd) {
    const dtype_facts *f = facts_of(dtype);
    const int steps = slot < ORDINARY ? slot : slot == HIGH ? 20 : slot == LOW ? -20 : 0;
    value v = {.dtype = dtype};
    if (f->digits > 0) {
        const double one = 1 + abs(slot < ORDINARY ? steps / 2 : steps) * ldexp(1, 1 - f->digits), infinity = (double)INFINITY;
        v.f = slot == NOT ? (double)NAN : slot == HIGHEST ? infinity : slot == LOWEST ? -infinity : slot == ZERO ? 0 : slot == ZERO_BELOW ? -0.0 : (slot < ORDINARY ? slot % 2 == 1 : slot == LOW) ? -one : one;
        return v;
    }
    const int bits = 8 * f->bytes;
    const wide lowest = f->is_unsigned ? 0 : -((wide)1 << (bits - 1)), highest = lowest + ((wide)1 << bits) - 1;
    const wide middle = dtype == KRF_I64 ? (wide)1 << 54 : f->is_unsigned ? (wide)1 << (bits - 1) : -5;
    const wide number = slot == LOWEST ? lowest : slot == NOT || slot == HIGHEST ? highest : slot == ZERO || slot == ZERO_BELOW ? 0 : middle + steps;
    v.i = dtype == KRF_BOOL ? (slot < ORDINARY ? odd : slot > ZERO) : wrap_to(dtype, number);
    return v;
}

typedef enum pattern { TIES, UP, DOWN, EQUAL, NANS, ZEROS, EXTREMES, ALL_LOWEST, PATTERNS } pattern;

static const char *const pattern_names[PATTERNS] = {"ties", "least first", "largest first", "equal", "NaNs", "zeros", "extremes", "all but one lowest"};

/* Element w of n of result j. */
static int slot_at(pattern p, int64_t w, int64_t n, int j, bool odd, uint64_t *seed) {
    const int any = (int)(next_random(seed) % ORDINARY), from = w == 0 ? 1 : w == n - 1 ? 2 : 0;
    switch (p) {
    case UP: return from == 1 ? LOW : from == 2 ? HIGH : any;
    case DOWN: return from == 1 ? HIGH : from == 2 ? LOW : any;
    case EQUAL: return 1;
    case NANS: return w == n / 3 ? HIGHEST : (w == n / 2 + j % 7 && (odd ? j % 3 == 1 : j % 3 < 2)) || (from == 2 && j % 3 != 1) ? NOT : any; /* later than the largest; or in the rest alone */
    case ZEROS: /* of which none is the larger one; others are below them, or above */
        return w == n / 4 ? (odd ? ZERO_BELOW : ZERO) : w == n / 2 || from == 2 ? (odd ? ZERO : ZERO_BELOW) : odd ? any | 1 : any & ~1;
    case EXTREMES: return w == n / 5 + j || from == 2 ? HIGHEST : w == n / 2 + j || w == n - 2 ? LOWEST : any;
    case ALL_LOWEST: return w == n - 1 - j ? (odd ? LOW : HIGH) : odd ? LOWEST : HIGHEST;
    case TIES:
    case PATTERNS: break;
    }
    return any;
}

static void fill_places(krf_dtype dtype, pattern p, bool odd) {
    static int64_t met[MOST_RESULTS];
    static char slots[SLOTS * 8];
    const size_t bytes = bytes_of(dtype);
    uint64_t seed = (uint64_t)p + 7;
    memset(met, 0, sizeof met);
    memset(data, 0, sizeof data); /* what it does not see */
    for (int s = 0; s < SLOTS; s++) {
        put(slots, s, number_of(dtype, s, odd));
    }
    for (int64_t i = 0; i < operand.size; i++) {
        const int j = operand.of[i];
        memcpy(data + (size_t)operand.at[i] * bytes, slots + (size_t)slot_at(p, met[j]++, operand.count, j, odd, &seed) * bytes, bytes);
    }
}

/* The first element that is beyond all others, or NaN. */
static void find_places(krf_dtype dtype, bool absolute, bool smallest, int64_t *places) {
    static value best[MOST_RESULTS];
    static int64_t met[MOST_RESULTS];
    const bool real = is_real(dtype);
    memset(met, 0, sizeof met);
    for (int64_t i = 0; i < operand.size; i++) {
        const int j = operand.of[i];
        value v = get(data, dtype, operand.at[i]);
        v.f = absolute ? fabs(v.f) : v.f;
        const bool beyond = real ? (smallest ? v.f < best[j].f : v.f > best[j].f) || (isnan(v.f) && !isnan(best[j].f)) : smallest ? wide_of(v) < wide_of(best[j]) : wide_of(v) > wide_of(best[j]);
        if (met[j] == 0 || beyond) {
            best[j] = v;
            places[j] = met[j];
        }
        met[j]++;
    }
}

static void check_places(const example *e, krf_dtype dtype, const char *program, int count, bool smallest_first, pattern p, bool odd) {
    static int64_t wanted[2][MOST_RESULTS];
    if (!collecting) {
        fill_places(dtype, p, odd);
        for (int k = 0; k < count; k++) {
            find_places(dtype, e->changed, smallest_first != (k == 1), wanted[k]);
        }
    }
    for (int r = 0; r < all.n; r++) {
        char *got[2] = {NULL};
        if (passed_over(&all.run[r])) {
            continue;
        }
        evaluate(&all.run[r], e, dtype, program, KRF_I64, count, got);
        for (int k = 0; k < count; k++) {
            for (int j = 0; j < operand.results && got[k] != NULL; j++) {
                const int64_t found = get(got[k], KRF_I64, j).i;
                if (found != wanted[k][j]) {
                    COMPLAIN("%s of %s [%" PRId64 ", %" PRId64 ", %" PRId64 "], %s (%d), %s: result %d of program %d is %" PRId64 ", not %" PRId64, program, name_of(dtype), e->base[0], e->base[1], e->base[2],
                             pattern_names[p], odd, all.run[r].label, j, k, found, wanted[k][j]);
                    break;
                }
            }
            free(got[k]);
        }
    }
}

/* Reduced axes are all or one. */
static const example place_examples[] = {
    {NULL, 1, 1, .base = {LEAST_TO_CUT + 3}},
    {NULL, 1, 1, .base = {LEAST_TO_CUT}},
    {NULL, 2, 2, .base = {3, 400000}},
    {NULL, 1, 2, .base = {20000, 60}},
    {NULL, 3, 2, .base = {64, 17000}},
    {NULL, 2, 2, .base = {64, 17000}, .keepdims = true},
    {NULL, 1, 2, .base = {9000, 120}},
    {NULL, 2, 3, .base = {2, 17001, 31}},
    {"x[::-1]", 1, 1, .base = {LEAST_TO_CUT + 3}, .seen_rank = 1, .shape = {LEAST_TO_CUT + 3}, .strides = {-1}, .offset = LEAST_TO_CUT + 2},
    {"x.T", 1, 2, .base = {30, 36001}, .seen_rank = 2, .shape = {36001, 30}, .strides = {1, 36001}},
    {NULL, 2, 2, .base = {20001, 60}, .bound = true, .seen_rank = 2, .shape = {59, 20001}, .strides = {-1, -60}, .offset = 20000 * 60 + 58},
    {"abs(x)", 3, 2, .base = {64, 17000}, .changed = true}, /* of floats */
};

enum { PLACES = sizeof place_examples / sizeof *place_examples };

static void test_places(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F64, KRF_I64, KRF_U64, KRF_I8, KRF_F16, KRF_U16, KRF_BF16, KRF_U8, KRF_I16, KRF_BOOL, KRF_F32, KRF_I32, KRF_U32};
    enum { CUT = 10 }; /* the others are not */
    (void)unused;
    for (int k = 0; k < PLACES; k++) {
        if (!in_shard(k)) {
            continue;
        }
        const example *e = &place_examples[k];
        look_at(e);
        for (int d = 0, turn = k; d < (int)(sizeof dtypes / sizeof *dtypes); d++, turn++) {
            static const char *const names[] = {"argmax", "argmin"};
            const char *x = e->program != NULL ? e->program : "x";
            char options[40] = "", program[160];
            const int one = turn % 2, count = turn % 3 == 0 ? 2 : 1;
            if ((e->changed && !is_real(dtypes[d])) || (d >= CUT && k != d - CUT) || (d > 0 && d < CUT && k > 0 && (k + d) % 4 != 0)) {
                continue;
            }
            if (e->reduced != (1u << (e->seen_rank > 0 ? e->seen_rank : e->rank)) - 1) {
                snprintf(options, sizeof options, ", axis=%d%s", e->reduced == 1 ? 0 : 1, e->keepdims ? ", keepdims=True" : "");
            }
            const int length = snprintf(program, sizeof program, "%s(%s%s)", names[one], x, options);
            if (count == 2) {
                snprintf(program + length, sizeof program - (size_t)length, ", %s(%s%s)", names[1 - one], x, options);
            }
            for (int p = 0; p < (collecting || all.cuda ? 1 : 3); p++) {
                check_places(e, dtypes[d], program, count, one == 1, (pattern)((turn * 3 + k + p) % PATTERNS), (turn + p) % 2 == 1);
            }
        }
    }
    assert_int_equal(complaints(), 0);
}

/* ---- plans ---- */

/* One kernel goes over the array, reads it once, and leaves what a second one takes together. */
static void test_kernels(void **unused) {
    static const struct {
        const char *text;
        int64_t read;
    } cases[] = {
        {"x: f64[1048576]; return var(x)", 8388608},
        {"x: f64[1024, 1024]; return std(x)", 8388608},
        {"x: f64[1048576]; return argmax(x)", 8388608},
        {"x: i64[1048576]; return argmin(x)", 8388608},
        {"x: i8[1048576]; return argmax(x)", 1048576},
        {"x: f16[1048576]; return argmin(x)", 2097152},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krf_graph *g = krf_graph_create(all.run[0].context);
        krf_expr result;
        krf_plan *plan = NULL;
        krf_kernel_info info = {.size = sizeof info};
        int count = 0;
        assert_int_equal(krf_parse_many(g, cases[i].text, NULL, 0, 1, &result, &count), KRF_OK);
        assert_int_equal(krf_compile(g, 1, &result, NULL, &plan), KRF_OK);
        assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
        if (krf_plan_kernels(plan) != 2 || info.bytes_read != cases[i].read) {
            COMPLAIN("%s: %d kernels, the first reads %" PRId64 " bytes", cases[i].text, krf_plan_kernels(plan), info.bytes_read);
        }
        krf_plan_release(plan);
        krf_graph_destroy(g);
    }
    assert_int_equal(complaints(), 0);
}

/* No results, of many elements each; and results of none. */
static void test_empty(void **unused) {
    static const struct {
        const char *program;
        int rank, size;
    } cases[] = {{"var(full((0, 200000), f64(1)), axis=1)", 1, 0}, {"var(full((200000, 0), f64(1)), axis=0)", 1, 0}, {"argmax(full((0, 2000000), f64(1)), axis=1)", 1, 0},
                 {"argmax(full((2000000, 0), i8(1)), axis=0)", 1, 0}, {"var(full((0, 200000), f64(1)))", 0, 1}, {"var(full((200000, 0), f64(1)), axis=1)", 1, 200000}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static double got[200000];
        krf_array *out = NULL;
        evaluate_text(&all.run[0], cases[i].program, 0, NULL, 1, &out);
        assert_int_equal(krf_array_rank(out), cases[i].rank);
        assert_true(cases[i].rank == 0 || krf_array_shape(out)[0] == cases[i].size);
        read_back(out, got, (size_t)cases[i].size * sizeof *got);
        assert_true(cases[i].size == 0 || isnan(got[cases[i].size - 1]));
        krf_array_release(out);
    }
}

int main(void) {
    open_noted_runs(&all, getenv("KRF_TEST_DEVICE") != NULL); /* a GPU has the interpreter beside it */
    return run_on(&all, TESTS(noted_test(test_variances), noted_test(test_variances_of_others), noted_test(test_gradient), noted_test(test_places), cmocka_unit_test(test_kernels),
                              cmocka_unit_test(test_empty)));
}
