/* What the CPU does with short rows and with large results: maps and reductions whose results lie in rows of up to 63 elements, stores past the caches, scans
 * of short rows. Against plain loops over the places where elements lie; nothing beside a result may change. Elements are small whole numbers: all that is
 * computed from them is exact. */
#include "ops/common.h"

enum { RANK = 4, OPERANDS = 9, GUARD = 0xA5, LARGE = 16 << 20 };

static runs all_runs;

/* That of this test. */
static void none_failed(void) {
    const int n = failures;
    failures = 0;
    assert_int_equal(n, 0);
}

/* ---- operands ---- */

typedef enum stretch { NOT, OUTER, LAST, FIRST, LAST_AND_FIRST, EVERY } stretch; /* which dimensions all are in one place */

typedef struct layout {
    int64_t step, gap; /* elements: from one to the next of a row, and between rows */
    bool back, all_back;
    bool swapped, turned; /* the dimensions before the last one in reverse order; all of them */
    stretch stretched;
} layout;

static const layout flat = {.step = 1}, backwards = {.step = 1, .all_back = true}, steps = {.step = 2}, constant = {.step = 1, .stretched = EVERY},
                    period = {.step = 1, .stretched = OUTER}, period_back = {.step = 1, .stretched = OUTER, .back = true}, period_steps = {.step = 3, .stretched = OUTER},
                    spread = {.step = 1, .stretched = LAST}, spread_first = {.step = 1, .gap = 1, .stretched = LAST_AND_FIRST}, gaps = {.step = 1, .gap = 3},
                    gaps_back = {.step = 1, .gap = 1, .back = true}, gaps_steps = {.step = 2, .gap = 5}, swapped = {.step = 1, .gap = 2, .swapped = true},
                    stretched = {.step = 1, .stretched = FIRST}, turned = {.step = 1, .turned = true};

typedef struct operand {
    krf_dtype dtype;
    int rank;
    int64_t shape[RANK], strides[RANK], offset, count; /* elements; of memory that holds them all */
    void *memory;
} operand;

static bool is_stretched(stretch s, int d, int rank) {
    const bool last = d == rank - 1;
    return s == EVERY || (s == OUTER && !last) || ((s == LAST || s == LAST_AND_FIRST) && last) || ((s == FIRST || s == LAST_AND_FIRST) && d == 0);
}

/* The dimension that is the n-th from the fastest one in memory. */
static int place_in_memory(const layout *l, int n, int rank) { return l->turned ? n : n == 0 ? rank - 1 : l->swapped ? n - 1 : rank - 1 - n; }

static operand make_operand(krf_dtype dtype, int rank, const int64_t *shape, const layout *l, int most, uint64_t *seed) {
    operand o = {.dtype = dtype, .rank = rank, .offset = 2};
    int64_t size = l->step;
    memcpy(o.shape, shape, (size_t)rank * sizeof *shape);
    for (int n = 0; n < rank; n++) {
        const int d = place_in_memory(l, n, rank);
        if (!is_stretched(l->stretched, d, rank)) {
            const bool back = l->all_back || (l->back && n == 0);
            o.strides[d] = back ? -size : size;
            o.offset += back ? size * (shape[d] - 1) : 0;
            size = size * shape[d] + (n == 0 ? l->gap : 0);
        }
    }
    o.count = size + 4;
    o.memory = malloc((size_t)o.count * bytes_of(dtype));
    assert_non_null(o.memory);
    for (int64_t i = 0; i < o.count; i++) {
        value v = {.dtype = is_complex(dtype) ? KRF_C128 : KRF_I64, .i = random_below(seed, dtype == KRF_BOOL ? 2 : most)};
        v.f = (double)v.i;
        v.im = (double)random_below(seed, most);
        put(o.memory, i, convert(v, dtype));
    }
    return o;
}

static krf_array *array_of(krf_context *context, const operand *o) {
    krf_array *base = NULL, *view = NULL;
    if (krf_array_from_host(context, o->dtype, 1, &o->count, o->memory, &base) != KRF_OK ||
        krf_array_view(base, o->rank, o->shape, o->strides, o->offset, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    krf_array_release(base);
    return view;
}

/* ---- examples ---- */

typedef struct number {
    int64_t re, im;
} number;

typedef struct example {
    char text[400]; /* of x0, x1, ... */
    krf_dtype dtype;
    int rank, n, over; /* over: the operand that is written too, or 0 for none */
    int64_t shape[RANK];
    operand operands[OPERANDS];
    int64_t reduced, inner; /* elements that a result has; likewise, of those that need another number */
    number (*want)(const struct example *e, const int64_t *index);
    bool narrow; /* what lies in rows must be laid out */
    bool apart;  /* the results too in memory with gaps */
    const char *part; /* that the kernel's text must have, or NULL */
} example;

static number element(const example *e, int k, const int64_t *index) {
    const operand *o = &e->operands[k];
    int64_t at = o->offset;
    for (int d = 0; d < o->rank; d++) {
        at += index[d] * o->strides[d];
    }
    const value v = get(o->memory, o->dtype, at);
    return is_real(v.dtype) || is_complex(v.dtype) ? (number){(int64_t)v.f, (int64_t)v.im} : (number){.re = v.i};
}

static number add(number a, number b) { return (number){a.re + b.re, a.im + b.im}; }
static number times(number a, number b) { return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

static int64_t size_of(int rank, const int64_t *shape) {
    int64_t size = 1;
    for (int d = 0; d < rank; d++) {
        size *= shape[d];
    }
    return size;
}

static void index_of(int64_t i, int rank, const int64_t *shape, int64_t *index) {
    for (int d = rank - 1; d >= 0; d--) {
        index[d] = i % shape[d];
        i /= shape[d];
    }
}

/* All results, in C order. */
static char *expect(const example *e) {
    const int64_t size = size_of(e->rank, e->shape);
    char *all = malloc((size_t)size * bytes_of(e->dtype));
    int64_t index[RANK] = {0};
    assert_non_null(all);
    for (int64_t i = 0; i < size && !collecting; i++) {
        index_of(i, e->rank, e->shape, index);
        const number x = e->want(e, index);
        const value v = is_complex(e->dtype) ? (value){.dtype = KRF_C128, .f = (double)x.re, .im = (double)x.im} : (value){.dtype = KRF_I64, .i = x.re};
        put(all, i, convert(v, e->dtype));
    }
    return all;
}

static void compare(const example *e, const char *got, const char *want, const char *what) {
    const size_t bytes = bytes_of(e->dtype);
    const int64_t size = size_of(e->rank, e->shape);
    for (int64_t i = 0; i < size; i++) {
        if (memcmp(got + (size_t)i * bytes, want + (size_t)i * bytes, bytes) != 0) {
            char x[64], y[64];
            COMPLAIN("%s: element %" PRId64 " is %s, not %s", what, i, show(get(got, e->dtype, i), x, sizeof x), show(get(want, e->dtype, i), y, sizeof y));
            return;
        }
    }
}

static void check(const example *e, krf_array *array, const char *want, const char *what) {
    char *got = collecting ? NULL : to_host(array, e->dtype, e->rank, e->shape, what);
    if (got != NULL) {
        compare(e, got, want, what);
    }
    free(got);
}

/* Into memory of an odd place, with a gap between rows or without one, and so many elements from one to the next. */
static void check_in_memory(const example *e, krf_context *context, krf_expr x, int64_t step, int64_t gap, const char *want, const char *what) {
    enum { BEFORE = 3 };
    const size_t bytes = bytes_of(e->dtype);
    int64_t strides[RANK] = {0}, all = step, index[RANK];
    for (int d = e->rank - 1; d >= 0; d--) {
        strides[d] = all;
        all = all * e->shape[d] + (d == e->rank - 1 ? gap : 0);
    }
    all += 2 * BEFORE;
    const int64_t size = size_of(e->rank, e->shape);
    char *memory = malloc((size_t)all * bytes), *got = malloc((size_t)size * bytes);
    krf_array *room = NULL, *view = NULL;
    assert_true(memory != NULL && got != NULL);
    memset(memory, e->dtype == KRF_BOOL ? 1 : GUARD, (size_t)all * bytes);
    assert_int_equal(krf_array_from_host(context, e->dtype, 1, &all, memory, &room), KRF_OK);
    assert_int_equal(krf_array_view(room, e->rank, e->shape, strides, BEFORE, &view), KRF_OK);
    if (krf_eval(x, &view) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    assert_int_equal(krf_array_to_host(room, memory, (size_t)all * bytes), KRF_OK);
    for (int64_t i = 0; i < size && !collecting; i++) {
        int64_t at = BEFORE;
        index_of(i, e->rank, e->shape, index);
        for (int d = 0; d < e->rank; d++) {
            at += index[d] * strides[d];
        }
        memcpy(got + (size_t)i * bytes, memory + (size_t)at * bytes, bytes);
        memset(memory + (size_t)at * bytes, e->dtype == KRF_BOOL ? 1 : GUARD, bytes);
    }
    for (size_t i = 0; i < (size_t)all * bytes && !collecting; i++) {
        if (memory[i] != (char)(e->dtype == KRF_BOOL ? 1 : GUARD)) {
            COMPLAIN("%s: byte %zu, which is of no element, was written", what, i);
            break;
        }
    }
    if (!collecting) {
        compare(e, got, want, what);
    }
    free(memory);
    free(got);
    krf_array_release(view);
    krf_array_release(room);
}

static void look_at_kernel(const example *e, const run *now, krf_plan *plan, const char *what) {
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    if (now->compiled && e->narrow && strstr(info.source, "for (int t = -(int)") == NULL && strstr(info.source, "all_out0[") == NULL) {
        COMPLAIN("%s: %s, whose rows are not laid out", what, info.schedule);
    }
    if (now->compiled && e->part != NULL && strstr(info.source, e->part) == NULL) {
        COMPLAIN("%s: %s, without %s", what, info.schedule, e->part);
    }
}

static void try_on(const example *e, const run *now, const char *want, const char *what) {
    krf_binding bindings[OPERANDS];
    krf_array *arrays[OPERANDS], *result = NULL;
    char names[OPERANDS][16];
    krf_graph *g = krf_graph_create(now->context);
    krf_expr x;
    krf_plan *plan = NULL;
    for (int i = 0; i < e->n; i++) {
        arrays[i] = array_of(now->context, &e->operands[i]);
        snprintf(names[i], sizeof names[i], "x%d", i);
        bindings[i] = krf_bind_array(names[i], arrays[i]);
    }
    if (krf_parse(g, e->text, bindings, e->n, &x) != KRF_OK || krf_compile(g, 1, &x, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, &result) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    look_at_kernel(e, now, plan, what);
    check(e, result, want, what);
    check_in_memory(e, now->context, x, 1, 0, want, what);
    if (e->apart) {
        check_in_memory(e, now->context, x, 1, 3, want, what);
        check_in_memory(e, now->context, x, 2, 0, want, what);
    }
    if (e->over > 0) {
        assert_int_equal(krf_eval(x, &arrays[e->over]), KRF_OK);
        check(e, arrays[e->over], want, what);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_array_release(result);
    for (int i = 0; i < e->n; i++) {
        krf_array_release(arrays[i]);
    }
}

/* On every run; frees the operands. */
static void try_example(example *e) {
    char *want = expect(e), what[640];
    for (int r = 0; r < all_runs.n; r++) {
        if (!passed_over(&all_runs.run[r])) {
            snprintf(what, sizeof what, "%s: %s of %s [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", all_runs.run[r].label, e->text, name_of(e->dtype), e->shape[0], e->shape[1],
                     e->shape[2], e->shape[3]);
            try_on(e, &all_runs.run[r], want, what);
        }
    }
    for (int i = 0; i < e->n; i++) {
        free(e->operands[i].memory);
    }
    free(want);
}

/* ---- maps ---- */

/* The sum of all operands; of bools the last bit of it. */
static number sum_of_all(const example *e, const int64_t *index) {
    number sum = {0};
    for (int i = 0; i < e->n; i++) {
        sum = add(sum, element(e, i, index));
    }
    return e->dtype == KRF_BOOL ? (number){.re = sum.re % 2} : sum;
}

static void write_sum(example *e) {
    size_t at = 0;
    for (int i = 0; i < e->n; i++) {
        at += (size_t)snprintf(e->text + at, sizeof e->text - at, "%s%s(x%d)", i == 0 ? "" : e->dtype == KRF_BOOL ? " ^ " : " + ", name_of(e->dtype), i);
    }
}

static const layout *const kinds[2][OPERANDS] = {{&flat, &period, &spread, &gaps, &backwards, &constant, &swapped, &period_back},
                                                 {&steps, &gaps_back, &gaps_steps, &spread_first, &stretched, &period_steps, &flat, &turned}};

/* From 1024 elements on, and so many that several threads have pieces of it. last: of the last dimension; middle: of those between. */
static void try_map(krf_dtype dtype, int rank, int64_t last, int64_t middle, int kind, bool many, uint64_t *seed) {
    example e = {.dtype = dtype, .rank = rank, .want = sum_of_all, .narrow = last < 64};
    e.n = last < 9 ? 8 : 7; /* operands that lie across longer rows make it one by squares */
    const int64_t row = last * (rank > 2 ? middle : 1) * (rank > 3 ? middle + 1 : 1);
    e.shape[0] = (many ? 40000 : 1500) / row + 2;
    e.shape[1] = rank > 3 ? middle + 1 : middle;
    e.shape[2] = middle;
    e.shape[rank - 1] = last;
    for (int i = 0; i < e.n; i++) {
        const krf_dtype own = i == 3 && (dtype == KRF_F32 || dtype == KRF_I64 || dtype == KRF_BF16) ? KRF_I8 : dtype;
        e.operands[i] = make_operand(own, rank, e.shape, kinds[kind][i], 10, seed);
    }
    e.over = kind == 1 ? 6 : 0;
    e.apart = last == 17 && (dtype == KRF_U8 || dtype == KRF_F32);
    write_sum(&e);
    try_example(&e);
}

static const int64_t lasts[] = {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 62, 63, 64};
enum { LASTS = sizeof lasts / sizeof *lasts, LITERAL = 6 }; /* of the first ones each has a kernel of its own */

/* Every dtype, and two with all kinds of operands. */
static void test_maps(void **unused) {
    uint64_t seed = 1;
    (void)unused;
    for (int d = 0; d < DTYPES; d++) {
        const bool all = d == KRF_U8 || d == KRF_F32;
        for (int turn = 0; turn < (all ? 2 : 1); turn++) {
            for (int l = LITERAL; l < LASTS - (d > 2); l++) {
                try_map((krf_dtype)d, 2 + (d + 2 * turn) % 3, lasts[l], 9 + l % 3, (d + turn) % 2, l % 3 == 0, &seed);
            }
        }
    }
    none_failed();
}

static void test_maps_of_few(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_F16, KRF_F32, KRF_F64};
    uint64_t seed = 2;
    (void)unused;
    for (int l = 0; l < 2 * LITERAL; l++) {
        try_map(dtypes[l * 3 / 2 % 4], 2 + l % 3, lasts[l / 2], 3, l % 2, l % 3 == 0, &seed);
    }
    none_failed();
}

static number complex_map(const example *e, const int64_t *index) { return add(times(element(e, 0, index), element(e, 1, index)), element(e, 2, index)); }

/* Complex numbers are two halves each. */
static void test_complex(void **unused) {
    static const layout *const third[] = {&backwards, &gaps, &period, &spread};
    uint64_t seed = 3;
    (void)unused;
    for (int k = 0; k < 4; k++) {
        for (int64_t last = 9; last <= 33; last += 24) {
            example e = {.text = "x0 * x1 + x2", .dtype = k % 3 == 0 ? KRF_C64 : KRF_C128, .rank = 3, .n = 3, .shape = {1300 / last, 12, last}, .want = complex_map, .narrow = true, .apart = k == 0};
            e.operands[0] = make_operand(e.dtype, 3, e.shape, &flat, 10, &seed);
            e.operands[1] = make_operand(k % 2 == 0 ? e.dtype : part_of(e.dtype), 3, e.shape, &spread, 10, &seed);
            e.operands[2] = make_operand(e.dtype, 3, e.shape, third[k], 10, &seed);
            try_example(&e);
        }
    }
    none_failed();
}

static number chosen(const example *e, const int64_t *index) {
    return element(e, 0, index).re != 0 ? element(e, 1, index) : times(element(e, 2, index), element(e, 3, index));
}

static number counted(const example *e, const int64_t *index) {
    const number at = {.re = (index[0] * e->shape[1] + index[1]) * e->shape[2] + index[2]};
    return add(add(element(e, 0, index), element(e, 1, index)), at);
}

static number counted_in_rows(const example *e, const int64_t *index) {
    return add(add(element(e, 0, index), element(e, 1, index)), (number){.re = index[2]});
}

/* x0's element of the row that x1 says. */
static number taken(const example *e, const int64_t *index) {
    int64_t at[] = {index[0], index[1], 0};
    at[2] = element(e, 1, index + 2).re;
    return add(element(e, 0, at), element(e, 2, index));
}

static void test_choices_and_places(void **unused) {
    static const layout *const masks[] = {&gaps, &spread, &period, &stretched};
    uint64_t seed = 4;
    (void)unused;
    for (int k = 0; k < 8; k++) {
        const int64_t last = k < 4 ? 11 : 31;
        example e = {.text = "where(x0, x1, x2 * x3)", .dtype = k % 2 == 0 ? KRF_F32 : KRF_I16, .rank = 3, .n = 4, .shape = {2000 / last, 13, last}, .want = chosen, .narrow = true};
        for (int i = 0; i < 4; i++) {
            e.operands[i] = make_operand(i == 0 ? KRF_BOOL : e.dtype, 3, e.shape, i == 0 ? masks[k % 4] : i == 1 ? &gaps : i == 2 ? &spread : &period, 10, &seed);
        }
        try_example(&e);
    }
    for (int k = 0; k < 4; k++) {
        const int64_t last = k < 2 ? 7 : 19;
        example e = {.dtype = k % 2 == 0 ? KRF_I32 : KRF_F64, .rank = 3, .n = 2, .shape = {600 / last, 12, last}, .want = counted, .narrow = true};
        e.operands[0] = make_operand(e.dtype, 3, e.shape, &gaps, 10, &seed);
        e.operands[1] = make_operand(e.dtype, 3, e.shape, &spread, 10, &seed);
        snprintf(e.text, sizeof e.text, "x0 + x1 + %s(reshape(arange(%" PRId64 "), (%" PRId64 ", 12, %" PRId64 ")))", name_of(e.dtype), size_of(3, e.shape), e.shape[0], last);
        try_example(&e);
        e.want = counted_in_rows;
        e.operands[0] = make_operand(e.dtype, 3, e.shape, &gaps, 10, &seed);
        e.operands[1] = make_operand(e.dtype, 3, e.shape, &spread, 10, &seed);
        snprintf(e.text, sizeof e.text, "x0 + x1 + %s(arange(%" PRId64 "))", name_of(e.dtype), last);
        try_example(&e);
    }
    for (int k = 0; k < 4; k++) {
        const int64_t last = k < 2 ? 9 : 50;
        example e = {.text = "take(x0, x1, axis=2) + x2", .dtype = k % 2 == 0 ? KRF_F32 : KRF_U8, .rank = 3, .n = 3, .shape = {1500 / last, 12, last}, .want = taken, .narrow = true};
        e.operands[0] = make_operand(e.dtype, 3, (const int64_t[]){e.shape[0], 12, 10}, &gaps, 10, &seed);
        e.operands[1] = make_operand(KRF_I32, 1, &last, &flat, 10, &seed);
        e.operands[2] = make_operand(e.dtype, 3, e.shape, &gaps_back, 10, &seed);
        try_example(&e);
    }
    for (int k = 0; k < 4; k++) { /* kernels of one text and one kind of strides each */
        example e = {.text = "x0 * x1 + x2", .dtype = KRF_I32, .rank = 3, .n = 3, .shape = {70, 11, 13}, .want = complex_map, .narrow = true};
        e.operands[0] = make_operand(e.dtype, 3, e.shape, k % 2 == 0 ? &flat : &gaps, 10, &seed);
        e.operands[1] = make_operand(e.dtype, 3, e.shape, &spread, 10, &seed);
        e.operands[2] = make_operand(e.dtype, 3, e.shape, &period, 10, &seed);
        try_example(&e);
    }
    none_failed();
}

/* ---- reductions ---- */

static krf_dtype sum_dtype(krf_dtype x) { return is_real(x) || is_complex(x) ? x : facts_of(x)->is_unsigned && x != KRF_BOOL ? KRF_U64 : KRF_I64; }

/* Of [n, r, c] over r: the sum of x0 * x1 + x2. */
static number middle_sum(const example *e, const int64_t *index) {
    number sum = {0};
    for (int64_t p = 0; p < e->reduced; p++) {
        const int64_t at[] = {index[0], p, index[1]};
        sum = add(sum, add(times(element(e, 0, at), element(e, 1, at)), element(e, 2, at)));
    }
    return sum;
}

static number middle_after(const example *e, const int64_t *index) { return add(times(middle_sum(e, index), element(e, 3, index)), element(e, 4, index)); }

/* The largest less the smallest of x0, and the sum. */
static number middle_range(const example *e, const int64_t *index) {
    int64_t sum = 0, most = INT64_MIN, least = INT64_MAX;
    for (int64_t p = 0; p < e->reduced; p++) {
        const int64_t x = element(e, 0, (const int64_t[]){index[0], p, index[1]}).re;
        sum += x;
        most = x > most ? x : most;
        least = x < least ? x : least;
    }
    return (number){.re = sum + most - least};
}

static number middle_first(const example *e, const int64_t *index) {
    int64_t first = 0, most = INT64_MIN;
    for (int64_t p = 0; p < e->reduced; p++) {
        const int64_t x = element(e, 0, (const int64_t[]){index[0], p, index[1]}).re;
        first = x > most ? p : first;
        most = x > most ? x : most;
    }
    return (number){.re = first};
}

static number middle_any(const example *e, const int64_t *index) {
    int64_t any = 0;
    for (int64_t p = 0; p < e->reduced; p++) {
        const int64_t at[] = {index[0], p, index[1]};
        any |= element(e, 0, at).re > element(e, 1, at).re + 1;
    }
    return (number){.re = any};
}

/* Of [n, c, r] over r. */
static number last_sum(const example *e, const int64_t *index) {
    number sum = {0};
    for (int64_t p = 0; p < e->reduced; p++) {
        const int64_t at[] = {index[0], index[1], p};
        sum = add(sum, add(times(element(e, 0, at), element(e, 1, at)), element(e, 2, at)));
    }
    return sum;
}

static number product_of_matrices(const example *e, const int64_t *index) {
    number sum = {0};
    for (int64_t p = 0; p < e->reduced; p++) {
        sum = add(sum, times(element(e, 0, (const int64_t[]){index[0], index[1], p}), element(e, 1, (const int64_t[]){index[0], p, index[2]})));
    }
    return add(times(sum, element(e, 2, index)), element(e, 3, index));
}

typedef struct form {
    const char *text;
    number (*want)(const example *e, const int64_t *index);
    int before, after; /* operands of the domain, and of the results */
    bool last;         /* what is reduced lies behind the results */
} form;

static const form forms[] = {
    {"sum(x0 * x1 + x2, axis=1)", middle_sum, 3, 0, false},
    {"sum(x0 * x1 + x2, axis=1) * x3 + x4", middle_after, 3, 2, false},
    {"sum(x0, axis=1) + (max(x0, axis=1) - min(x0, axis=1))", middle_range, 1, 0, false},
    {"argmax(x0, axis=1)", middle_first, 1, 0, false},
    {"any(x0 > x1 + 1, axis=1)", middle_any, 2, 0, false},
    {"sum(x0 * x1 + x2, axis=2)", last_sum, 3, 0, true},
};
enum { FORMS = sizeof forms / sizeof *forms };

static void try_reduction(const form *f, krf_dtype dtype, int64_t n, int64_t r, int64_t c, int turn, uint64_t *seed) {
    static const layout *const domain[4][3] = {{&flat, &spread_first, &stretched}, {&gaps, &flat, &spread}, {&gaps_back, &gaps_steps, &flat}, {&flat, &stretched, &swapped}};
    static const layout *const results[4][2] = {{&flat, &flat}, {&flat, &constant}, {&flat, &period}, {&spread, &gaps}};
    const krf_dtype to = f->want == middle_first ? KRF_I64 : f->want == middle_any ? KRF_BOOL : sum_dtype(dtype);
    example e = {.dtype = to, .rank = 2, .n = f->before + f->after, .shape = {n, c}, .reduced = r, .want = f->want};
    const int64_t shape[] = {n, f->last ? c : r, f->last ? r : c};
    snprintf(e.text, sizeof e.text, "%s", f->text);
    for (int i = 0; i < e.n; i++) {
        const bool after = i >= f->before;
        const layout *l = after ? results[turn % 4][i - f->before] : domain[turn % 4][i];
        e.operands[i] = make_operand(after ? to : dtype, after ? 2 : 3, after ? e.shape : shape, l, is_half(dtype) ? 2 : 4, seed);
    }
    e.apart = turn == 1;
    try_example(&e);
}

static void test_reductions(void **unused) {
    static const int64_t many[] = {9, 15, 16, 17, 31, 33, 62, 63, 64}, few[] = {2, 3, 4, 8};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_U8, KRF_I32, KRF_F64, KRF_F16, KRF_I16, KRF_BF16, KRF_U64, KRF_I8, KRF_U32, KRF_U16, KRF_I64};
    uint64_t seed = 5;
    int at = 0;
    (void)unused;
    for (int f = 0; f < FORMS; f++) {
        const bool all = f == 0 || f == 1 || f == FORMS - 1;
        for (int turn = 0; turn < (all ? 4 : 1); turn++, at++) {
            for (int c = 0; c < (at % 6 == 0 ? 9 : 8); c++) {
                try_reduction(&forms[f], dtypes[at % 12], 1500 / many[c] + 1, 40 - c % 2, many[c], turn, &seed);
            }
            if (turn % 2 == 0) {
                try_reduction(&forms[f], dtypes[(at + 5) % 12], 801, f == 1 ? 40 : 8, few[(turn + f) % 4], turn, &seed);
            }
        }
    }
    none_failed();
}

/* Chunks: of long columns several are folded apart. */
static void test_long_reductions(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F64, KRF_F32, KRF_I32};
    uint64_t seed = 6;
    (void)unused;
    for (int d = 0; d < 3; d++) {
        try_reduction(&forms[d % 2 == 0 ? 0 : FORMS - 1], dtypes[d], d % 2 == 0 ? 7 : 60, d % 2 == 0 ? 20001 : 300, 19, d, &seed);
    }
    none_failed();
}

static void try_matrices(krf_dtype dtype, int64_t n, int64_t a, int64_t b, int64_t c, const layout *left, const layout *after, uint64_t *seed) {
    example e = {.text = "sum(x0[:, :, :, None] * x1[:, None, :, :], axis=2) * x2 + x3", .dtype = sum_dtype(dtype), .rank = 3, .n = 4, .shape = {n, a, c}, .reduced = b, .want = product_of_matrices};
    e.operands[0] = make_operand(dtype, 3, (const int64_t[]){n, a, b}, left, 4, seed);
    e.operands[1] = make_operand(dtype, 3, (const int64_t[]){n, b, c}, &flat, 4, seed);
    e.operands[2] = make_operand(e.dtype, 3, e.shape, &flat, 4, seed);
    e.operands[3] = make_operand(e.dtype, 3, e.shape, after, 4, seed);
    try_example(&e);
}

static void test_matrices(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_U8, KRF_F16, KRF_C64, KRF_C128};
    uint64_t seed = 7;
    (void)unused;
    for (int d = 0; d < 6; d++) {
        try_matrices(dtypes[d], 301, 2 + d % 2, 2 + d % 2, 2 + d % 2, d % 3 == 0 ? &stretched : &flat, &flat, &seed);
        if (d % 2 == 0) {
            try_matrices(dtypes[d], 77, 4, 8, 5, d == 0 ? &turned : &gaps, d == 2 ? &period : &constant, &seed);
        } else {
            try_matrices(dtypes[d], 33, 9, 9, 10, &flat, &flat, &seed);
        }
    }
    none_failed();
}

/* ---- scans of short rows ---- */

/* x0's prefix: the sum, or the largest or the product of what came. */
static number prefix_sum(const example *e, const int64_t *index) {
    number sum = {0};
    int64_t at[RANK] = {index[0], index[1], index[2]};
    for (int64_t p = 0; p <= index[e->rank - 1]; p++) {
        at[e->rank - 1] = p;
        sum = add(sum, element(e, 0, at));
    }
    return sum;
}

static number prefix_sum_after(const example *e, const int64_t *index) { return add(times(prefix_sum(e, index), element(e, 1, index)), element(e, 2, index)); }

static number prefix_largest(const example *e, const int64_t *index) {
    int64_t at[RANK] = {index[0], index[1], index[2]}, most = INT64_MIN;
    for (int64_t p = 0; p <= index[e->rank - 1]; p++) {
        at[e->rank - 1] = p;
        const int64_t x = element(e, 0, at).re;
        most = x > most ? x : most;
    }
    return (number){.re = most};
}

static void try_scan(int kind, krf_dtype dtype, int rank, const int64_t *shape, int turn, bool beside, uint64_t *seed) {
    static const char *const texts[] = {"cumsum(x0, axis=-1)", "cummax(x0, axis=-1)", "cumsum(x0, axis=-1) * x1 + x2"};
    static const layout *const layouts[4][3] = {{&flat, &flat, &period}, {&gaps, &spread, &flat}, {&gaps_back, &flat, &gaps}, {&gaps_steps, &flat, &constant}};
    const krf_dtype to = kind == 1 ? dtype : sum_dtype(dtype);
    example e = {.dtype = to, .rank = rank, .n = kind == 2 ? 3 : 1, .want = kind == 0 ? prefix_sum : kind == 1 ? prefix_largest : prefix_sum_after};
    memcpy(e.shape, shape, (size_t)rank * sizeof *shape);
    snprintf(e.text, sizeof e.text, "%s", texts[kind]);
    for (int i = 0; i < e.n; i++) {
        e.operands[i] = make_operand(i == 0 ? dtype : to, rank, shape, layouts[turn][i], is_half(dtype) ? 2 : 4, seed);
    }
    e.over = kind == 2 && turn >= 2 ? 1 : 0;
    e.apart = turn == 1;
    e.part = beside ? "width" : NULL;
    try_example(&e);
}

static void test_scans(void **unused) {
    static const int64_t rows[] = {16, 17, 63, 64, 65, 127, 128, 129, 200, 700}, lengths[] = {2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128};
    uint64_t seed = 8;
    (void)unused;
    for (int d = 0; d < ALL_DTYPES; d++) {
        const krf_dtype dtype = (krf_dtype)d;
        const bool all = dtype == KRF_U8 || dtype == KRF_F32;
        for (int kind = is_complex(dtype) ? 2 : all ? 0 : d % 3; kind < (all ? 3 : is_complex(dtype) ? 3 : d % 3 + 1); kind++) {
            for (int l = 0; l < (dtype == KRF_C128 ? 1 : 13); l++) {
                try_scan(kind, dtype, 2, (const int64_t[]){rows[(3 * l + kind) % 10], lengths[l]}, (d + kind) % 4, dtype != KRF_C128, &seed);
            }
        }
    }
    try_scan(0, KRF_F32, 2, (const int64_t[]){15, 40}, 0, false, &seed);
    try_scan(0, KRF_F32, 2, (const int64_t[]){70, 129}, 0, false, &seed);
    try_scan(0, KRF_F32, 2, (const int64_t[]){70, 1}, 0, false, &seed);
    none_failed();
}

/* Of three dimensions, whose rows lie in two. */
static void test_scans_of_batches(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_U8, KRF_F64, KRF_F16};
    static const int64_t shapes[][3] = {{7, 10, 33}, {3, 64, 16}, {13, 5, 128}, {5, 13, 65}};
    uint64_t seed = 9;
    (void)unused;
    for (int d = 0; d < 4; d++) {
        try_scan(d % 3, dtypes[d], 3, shapes[d], 1 + d % 3, true, &seed);
        try_scan(d % 3, dtypes[d], 3, shapes[(d + 1) % 4], 1 + d % 3, true, &seed);
    }
    none_failed();
}

/* ---- large results: past the caches by whole lines ---- */

/* Element i of x is i % 199, and x + 1 is what is wanted; h and z are 1. Of complex elements the imaginary part is i % 199 + 200. Only on the compiled runs of a CPU. */
typedef struct store {
    krf_dtype dtype;
    int64_t gap, offset; /* elements: behind a row, and from a line on to the first element */
    char *memory;
    krf_array *array;
} store;

enum { LINE = 64 };

static char *ramp(krf_dtype dtype, int64_t n, int64_t from, bool real) {
    char *all = malloc((size_t)n * bytes_of(dtype));
    assert_non_null(all);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)(i % 199 + from);
        const double f[2] = {(double)x, (double)(i % 199 + 200)};
        const float single[2] = {(float)f[0], (float)f[1]};
        const void *element = dtype == KRF_C64 ? (const void *)single : real || dtype == KRF_C128 ? (const void *)f : (const void *)&x;
        memcpy(all + (size_t)i * bytes_of(dtype), element, bytes_of(dtype));
    }
    return all;
}

static size_t bytes_of_store(const store *s, int64_t rows, int64_t length) { return (size_t)(s->offset + rows * (length + s->gap)) * bytes_of(s->dtype) + 2 * LINE; }

static void open_store(store *s, krf_context *context, int64_t rows, int64_t length) {
    const size_t bytes = (bytes_of_store(s, rows, length) + LINE - 1) / LINE * LINE;
    s->memory = aligned_alloc(LINE, bytes);
    assert_non_null(s->memory);
    memset(s->memory, GUARD, bytes);
    char *first = s->memory + LINE + (size_t)s->offset * bytes_of(s->dtype);
    assert_int_equal(krf_array_wrap(context, s->dtype, 2, (int64_t[]){rows, length}, (int64_t[]){length + s->gap, 1}, first, NULL, NULL, &s->array), KRF_OK);
}

static bool is_guard(const char *from, const char *to) {
    bool all = true;
    for (const char *p = from; p < to; p++) {
        all &= *p == (char)GUARD;
    }
    return all;
}

/* want: rows of `step` elements, of which the first `length` are the results. */
static void close_store(store *s, int64_t rows, int64_t length, const char *want, int64_t step, const char *what) {
    const size_t size = bytes_of(s->dtype), row = (size_t)length * size;
    const char *at = s->memory + LINE + (size_t)s->offset * size, *end = s->memory + bytes_of_store(s, rows, length);
    bool guards = is_guard(s->memory, at);
    for (int64_t r = 0; r < rows; r++, at += (size_t)(length + s->gap) * size) {
        if (memcmp(at, want + (size_t)(r * step) * size, row) != 0) {
            COMPLAIN("%s, gap %" PRId64 ", offset %" PRId64 ": row %" PRId64 " of %" PRId64 " is wrong", what, s->gap, s->offset, r, rows);
            break;
        }
        guards &= is_guard(at + row, at + (size_t)(length + s->gap) * size);
    }
    guards &= at > end || is_guard(at, end);
    if (!guards) {
        COMPLAIN("%s, gap %" PRId64 ", offset %" PRId64 ": what lies beside the result was written", what, s->gap, s->offset);
    }
    krf_array_release(s->array);
    free(s->memory);
}

/* x lies in rows of length + apart elements, a spare one before each; its elements are want's, less 1. */
static void store_on(const run *now, const char *text, krf_dtype from, char *x, int64_t apart, int n, store *stores, char *const *want, int64_t rows, int64_t length) {
    double one[2] = {1, 0};
    char what[160];
    krf_array *in[3], *outputs[2] = {NULL, NULL};
    krf_expr results[2];
    int count = 0;
    krf_graph *g = krf_graph_create(now->context);
    assert_int_equal(krf_array_wrap(now->context, from, 2, (int64_t[]){rows, length}, (int64_t[]){length + apart, 1}, x, NULL, NULL, &in[0]), KRF_OK);
    assert_int_equal(krf_array_wrap(now->context, KRF_F64, 0, NULL, NULL, one, NULL, NULL, &in[1]), KRF_OK);
    assert_int_equal(krf_array_wrap(now->context, KRF_C128, 0, NULL, NULL, one, NULL, NULL, &in[2]), KRF_OK);
    const krf_binding bindings[] = {krf_bind_array("x", in[0]), krf_bind_array("h", in[1]), krf_bind_array("z", in[2])};
    snprintf(what, sizeof what, "%s: %s of %s [%" PRId64 ", %" PRId64 "]", now->label, text, name_of(from), rows, length);
    for (int k = 0; k < n; k++) {
        open_store(&stores[k], now->context, rows, length);
        outputs[k] = stores[k].array;
    }
    if (krf_parse_many(g, text, bindings, 3, 2, results, &count) != KRF_OK || count != n || krf_eval_many(n, results, outputs) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    for (int k = 0; k < n; k++) {
        close_store(&stores[k], rows, length, want[k], length + apart, what);
    }
    krf_graph_destroy(g);
    for (int k = 0; k < 3; k++) {
        krf_array_release(in[k]);
    }
}

static int compiled_runs(const run **found) {
    int n = 0;
    for (int r = 0; r < all_runs.n; r++) {
        if (all_runs.run[r].compiled) {
            found[n++] = &all_runs.run[r];
        }
    }
    return n;
}

/* Rows around multiples of a strip and around half of one, which is the least that gets a head of its own; memory from all places of a line on. */
static void try_large(const char *text, krf_dtype dtype, int64_t strip, int64_t offsets) {
    const int64_t size = (int64_t)bytes_of(dtype), lengths[] = {strip / 2 - 1, strip / 2, strip / 2 + 1, strip - 1, strip, strip + 1, strip * 3 / 4 + 1, 2 * strip - 1, 2 * strip + 1, 5 * strip + 7, 3 * strip};
    const int64_t room = LARGE / size + 6 * strip;
    char *x = ramp(dtype, room, 0, false), *want = ramp(dtype, room, 1, false);
    const run *found[MAX_RUNS];
    const int n = compiled_runs(found);
    for (int l = 0; l < 11; l++) {
        for (int64_t k = l % 2; k < offsets; k += 2) {
            const int64_t offset = k * (LINE / size) / offsets + (k % 2 == 1 && size == 1 ? l % 5 : 0), rows = (LARGE / size - 1) / lengths[l] + 1;
            store s = {.dtype = dtype, .gap = k % 4 == 0 && l % 2 == 0 ? LINE / size : 1 + (l + k) % 5, .offset = offset % (LINE / size)};
            for (int r = 0; r < n; r++) {
                store_on(found[r], text, dtype, x, 0, 1, &s, &want, rows, lengths[l]);
            }
        }
    }
    free(x);
    free(want);
}

static void test_large(void **unused) {
    (void)unused;
    try_large("x + 1", KRF_U8, 512, 4);
    try_large("x + 1", KRF_U16, 256, 4);
    try_large("x + 1", KRF_U32, 128, 4);
    try_large("x + 1", KRF_U64, 64, 4);
    none_failed();
}

/* Elements narrower than what computes them: a head may be longer than half a strip. */
static void test_large_of_wide(void **unused) {
    (void)unused;
    try_large("u8(f64(x) + h)", KRF_U8, 64, 4);
    try_large("u16(real(x + z))", KRF_U16, 32, 4);
    none_failed();
}

/* Halves of complex numbers are stored together. */
static void test_large_complex(void **unused) {
    (void)unused;
    try_large("x + 1", KRF_C64, 128, 4);
    try_large("x + 1", KRF_C128, 64, 4);
    none_failed();
}

/* All in one row, from each place of a line on: pieces of several threads begin within lines. */
static void test_large_rows(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_U16, KRF_U32, KRF_U64};
    const run *found[MAX_RUNS];
    const int n = compiled_runs(found);
    (void)unused;
    for (int d = 0; d < 4; d++) {
        const int64_t size = (int64_t)bytes_of(dtypes[d]), length = LARGE / size + 5;
        char *x = ramp(dtypes[d], 2 * length, 0, false), *want = ramp(dtypes[d], 2 * length, 1, false);
        for (int64_t offset = 0; offset < LINE / size; offset += size == 1 ? 5 : size == 2 ? 3 : 2) {
            for (int r = 0; r < n; r++) {
                store s = {.dtype = dtypes[d], .offset = offset, .gap = offset % 2 * 3};
                store_on(found[r], "x + 1", dtypes[d], x, 0, 1, &s, &want, 1 + offset / 2 % 2, length);
            }
        }
        free(x);
        free(want);
    }
    none_failed();
}

/* Two results of different dtypes, whose lines begin at different elements. */
static void test_large_pairs(void **unused) {
    static const struct {
        const char *text;
        krf_dtype from, to[2];
    } pairs[] = {{"x + 1, u32(x) + 1", KRF_U16, {KRF_U16, KRF_U32}}, {"f64(x) + 1, x + 1", KRF_U32, {KRF_F64, KRF_U32}}};
    const run *found[MAX_RUNS];
    const int n = compiled_runs(found);
    (void)unused;
    for (int p = 0; p < 2; p++) {
        const int64_t elements = LARGE / (int64_t)bytes_of(pairs[p].from), lengths[] = {61, 64, 127, 129, 1001, 4096};
        char *x = ramp(pairs[p].from, elements + 4096, 0, false);
        char *want[] = {ramp(pairs[p].to[0], elements + 4096, 1, pairs[p].to[0] == KRF_F64), ramp(pairs[p].to[1], elements + 4096, 1, false)};
        for (int l = 0; l < 6; l++) {
            for (int r = 0; r < n; r++) {
                store s[] = {{.dtype = pairs[p].to[0], .offset = l, .gap = l % 3}, {.dtype = pairs[p].to[1], .offset = (3 * l + 1) % 16, .gap = l % 2}};
                store_on(found[r], pairs[p].text, pairs[p].from, x, 0, 2, s, want, (elements - 1) / lengths[l] + 1, lengths[l]);
            }
        }
        free(x);
        free(want[0]);
        free(want[1]);
    }
    none_failed();
}

/* Results in short rows that lie one after the other, of operands with gaps. */
static void test_large_of_short_rows(void **unused) {
    static const struct {
        const char *text;
        krf_dtype dtype;
    } cases[] = {{"x + 1", KRF_U8}, {"x + 1", KRF_U16}, {"x + 1", KRF_U32}, {"x + 1", KRF_U64}, {"u8(f64(x) + h)", KRF_U8}, {"u16(real(x + z))", KRF_U16}, {"x + 1", KRF_C64}, {"x + 1", KRF_C128}};
    static const int64_t lengths[] = {3, 17, 63};
    const run *found[MAX_RUNS];
    const int n = compiled_runs(found);
    (void)unused;
    for (int c = 0; c < 8; c++) {
        const int64_t size = (int64_t)bytes_of(cases[c].dtype), elements = LARGE / size;
        char *x = ramp(cases[c].dtype, 2 * elements, 0, false), *want = ramp(cases[c].dtype, 2 * elements, 1, false);
        for (int k = 0; k < 6; k++) {
            const int64_t length = lengths[k % 3], rows = (elements - 1) / length + 2;
            for (int r = 0; r < n; r++) {
                store s = {.dtype = cases[c].dtype, .offset = (1 + 7 * k) % (LINE / size)};
                store_on(found[r], cases[c].text, cases[c].dtype, x, 1 + k % 2, 1, &s, &want, rows, length);
            }
        }
        free(x);
        free(want);
    }
    none_failed();
}

/* ---- the program ---- */

int main(void) {
    setenv("KRF_FUSION", "narrow_from=0", 1); /* however few elements there are */
    open_noted_runs(&all_runs, false);
    return run_part_on(&all_runs, TESTS(noted_test(test_maps), noted_test(test_maps_of_few), noted_test(test_complex), noted_test(test_choices_and_places),
                                        noted_test(test_reductions), noted_test(test_long_reductions), noted_test(test_matrices), noted_test(test_scans),
                                        noted_test(test_scans_of_batches), cmocka_unit_test(test_large), cmocka_unit_test(test_large_of_wide), cmocka_unit_test(test_large_complex),
                                        cmocka_unit_test(test_large_rows), cmocka_unit_test(test_large_pairs), cmocka_unit_test(test_large_of_short_rows)));
}
