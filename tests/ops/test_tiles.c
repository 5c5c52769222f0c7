/* Maps by tiles: operands whose elements lie in memory in other orders than the result's, against plain loops over the places where they lie. Extents
 * around multiples of a tile, batches, every layout of memory, results in memory with gaps and over an operand. Elements are small whole numbers:
 * every sum of them is exact. */
#include "ops/common.h"

#define RANK 4
#define OPERANDS 7

static runs all_runs;

/* ---- operands ---- */

typedef struct operand {
    krf_dtype dtype;
    int64_t strides[RANK], offset, count; /* elements; of memory that holds them all */
    void *memory;
} operand;

typedef struct layout {
    int order[RANK];  /* dimensions, from the slowest in memory to the fastest */
    int flipped, stretched; /* sets of dimensions: backwards, and of stride 0 */
    int64_t gap;      /* elements between rows, and before the first one */
} layout;

static operand make_operand(krf_dtype dtype, int rank, const int64_t *shape, const layout *l, uint64_t *seed) {
    operand o = {.dtype = dtype, .offset = l->gap};
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        int d = l->order[i];
        if ((l->stretched >> d & 1) != 0) {
            continue;
        }
        o.strides[d] = (l->flipped >> d & 1) != 0 ? -step : step;
        o.offset += o.strides[d] < 0 ? step * (shape[d] - 1) : 0;
        step = step * shape[d] + l->gap;
    }
    o.count = step + 2 * l->gap + 1;
    o.memory = malloc((size_t)o.count * bytes_of(dtype));
    assert_non_null(o.memory);
    for (int64_t i = 0; i < o.count; i++) {
        value v = {.dtype = KRF_I64, .i = random_below(seed, dtype == KRF_BOOL ? 2 : 10)};
        put(o.memory, i, convert(v, dtype));
    }
    return o;
}

static krf_array *array_of(krf_context *context, const operand *o, int rank, const int64_t *shape) {
    krf_array *base = NULL, *view = NULL;
    if (krf_array_from_host(context, o->dtype, 1, &o->count, o->memory, &base) != KRF_OK
        || krf_array_view(base, rank, shape, o->strides, o->offset, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    krf_array_release(base);
    return view;
}

/* ---- one case ---- */

typedef struct example {
    krf_dtype dtype; /* of the result */
    int rank, n;
    int64_t shape[RANK];
    operand operands[OPERANDS];
    bool counts; /* plus the index along the last dimension, and along the first */
} example;

static void write_text(const example *e, char *text, size_t bytes) {
    size_t at = 0;
    for (int i = 0; i < e->n; i++) {
        at += (size_t)snprintf(text + at, bytes - at, "%s%s(x%d)", i == 0 ? "" : e->dtype == KRF_BOOL ? " ^ " : " + ", name_of(e->dtype), i);
    }
    if (e->counts) {
        at += (size_t)snprintf(text + at, bytes - at, " + %s(arange(%" PRId64 "))", name_of(e->dtype), e->shape[e->rank - 1]);
        snprintf(text + at, bytes - at, " + reshape(%s(arange(%" PRId64 ")), (%" PRId64 "%s))", name_of(e->dtype), e->shape[0], e->shape[0],
                 e->rank == 2 ? ", 1" : e->rank == 3 ? ", 1, 1" : ", 1, 1, 1");
    }
}

static value expected(const example *e, const int64_t *index) {
    int64_t sum = e->counts ? index[e->rank - 1] + index[0] : 0;
    for (int i = 0; i < e->n; i++) {
        const operand *o = &e->operands[i];
        int64_t at = o->offset;
        for (int d = 0; d < e->rank; d++) {
            at += index[d] * o->strides[d];
        }
        value v = get(o->memory, o->dtype, at);
        int64_t whole = is_real(v.dtype) ? (int64_t)v.f : v.i;
        sum = e->dtype == KRF_BOOL ? sum != (whole != 0) : sum + whole;
    }
    return convert((value){.dtype = KRF_I64, .i = sum}, e->dtype);
}

static void check(const example *e, krf_array *got, const char *what) {
    void *data = collecting ? NULL : to_host(got, e->dtype, e->rank, e->shape, what);
    int64_t index[RANK] = {0}, size = 1;
    for (int d = 0; d < e->rank; d++) {
        size *= e->shape[d];
    }
    for (int64_t i = 0; data != NULL && i < size; i++) {
        int64_t left = i;
        for (int d = e->rank - 1; d >= 0; d--) {
            index[d] = left % e->shape[d];
            left /= e->shape[d];
        }
        value a = get(data, e->dtype, i), b = expected(e, index);
        if (!same(a, b)) {
            char x[64], y[64];
            COMPLAIN("%s: element %" PRId64 " is %s, not %s", what, i, show(a, x, sizeof x), show(b, y, sizeof y));
            break;
        }
    }
    free(data);
}

/* Evaluates it on every run into new memory, into memory with gaps, and over operand `over` (-1: none); `schedule`: what it must be, or NULL. Returns how
 * many of these kernels were of tiles. */
static int try_example(const example *e, int over, const char *schedule) {
    char text[640], what[800];
    int tiles = 0;
    write_text(e, text, sizeof text);
    for (int r = 0; r < all_runs.n; r++) {
        const run *now = &all_runs.run[r];
        if (passed_over(now)) {
            continue;
        }
        krf_binding bindings[OPERANDS];
        krf_array *arrays[OPERANDS], *result = NULL, *room = NULL, *gaps = NULL;
        char names[OPERANDS][16];
        krf_graph *g = krf_graph_create(now->context);
        krf_expr x;
        krf_plan *plan = NULL;
        krf_kernel_info info = {.size = sizeof info};
        for (int i = 0; i < e->n; i++) {
            arrays[i] = array_of(now->context, &e->operands[i], e->rank, e->shape);
            snprintf(names[i], sizeof names[i], "x%d", i);
            bindings[i] = krf_bind_array(names[i], arrays[i]);
        }
        snprintf(what, sizeof what, "%s: %s of [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", now->label, text, e->shape[0], e->shape[1],
                 e->rank > 2 ? e->shape[2] : 0, e->rank > 3 ? e->shape[3] : 0);
        if (krf_parse(g, text, bindings, e->n, &x) != KRF_OK || krf_compile(g, 1, &x, NULL, &plan) != KRF_OK
            || krf_plan_kernel(plan, 0, &info) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, &result) != KRF_OK) {
            fail_msg("%s: %s", what, krf_error_message());
        }
        assert_int_equal(krf_plan_kernels(plan), 1);
        if (schedule != NULL && strcmp(info.schedule, schedule) != 0) {
            COMPLAIN("%s: the schedule is %s, not %s", what, info.schedule, schedule);
        }
        tiles += strcmp(info.schedule, "tile") == 0;
        check(e, result, what);

        int64_t strides[RANK] = {0}, all = 1;
        for (int d = e->rank - 1; d >= 0; d--) {
            strides[d] = all;
            all = all * e->shape[d] + 3;
        }
        all += 3;
        assert_int_equal(krf_array_create(now->context, e->dtype, 1, &all, &room), KRF_OK);
        assert_int_equal(krf_array_view(room, e->rank, e->shape, strides, 2, &gaps), KRF_OK);
        if (krf_eval(x, &gaps) != KRF_OK) {
            fail_msg("%s: %s", what, krf_error_message());
        }
        check(e, gaps, what);
        if (over >= 0) {
            if (krf_eval(x, &arrays[over]) != KRF_OK) {
                fail_msg("%s: %s", what, krf_error_message());
            }
            check(e, arrays[over], what);
        }
        krf_plan_release(plan);
        krf_graph_destroy(g);
        krf_array_release(result);
        krf_array_release(gaps);
        krf_array_release(room);
        for (int i = 0; i < e->n; i++) {
            krf_array_release(arrays[i]);
        }
    }
    return tiles;
}

static void free_example(example *e) {
    for (int i = 0; i < e->n; i++) {
        free(e->operands[i].memory);
    }
}

/* ---- tests ---- */

static const layout straight = {.order = {0, 1, 2, 3}};
static const layout transposed[RANK + 1] = {[2] = {.order = {1, 0}}, [3] = {.order = {0, 2, 1}}, [4] = {.order = {3, 1, 2, 0}}};

/* Extents on both sides of whole tiles; the sum of an array and a transposed one. */
static void test_extents(void **unused) {
    static const int64_t shapes[][RANK] = {{16, 16}, {16, 17}, {31, 33}, {32, 32}, {33, 65}, {64, 64}, {65, 129}, {1000, 16}, {16, 1000}, {97, 63}};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_I8, KRF_F64, KRF_F16};
    uint64_t seed = 1;
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            example e = {.dtype = dtypes[d], .rank = 2, .n = 2};
            memcpy(e.shape, shapes[s], sizeof e.shape);
            e.operands[0] = make_operand(e.dtype, 2, e.shape, &straight, &seed);
            e.operands[1] = make_operand(e.dtype, 2, e.shape, &transposed[2], &seed);
            try_example(&e, e.shape[0] == e.shape[1] ? 1 : 0, "tile");
            free_example(&e);
        }
    }
    assert_int_equal(failures, 0);
}

/* Batches before, between and after; several transposed operands; a narrow dimension or an operand too many, and it is a map. */
static void test_choice(void **unused) {
    uint64_t seed = 2;
    (void)unused;
    for (int rank = 3; rank <= 4; rank++) {
        static const int64_t shapes[][RANK] = {{3, 33, 65}, {20, 3, 40, 18}};
        example e = {.dtype = KRF_I32, .rank = rank, .n = 1};
        memcpy(e.shape, shapes[rank - 3], sizeof e.shape);
        e.operands[0] = make_operand(KRF_I32, rank, e.shape, &transposed[rank], &seed);
        try_example(&e, -1, "tile");
        free_example(&e);
    }
    for (int n = 5; n <= 6; n++) { /* tiles of 8448 bytes */
        example e = {.dtype = KRF_F64, .rank = 2, .n = n, .shape = {40, 50}};
        for (int i = 0; i < n; i++) {
            e.operands[i] = make_operand(KRF_F64, 2, e.shape, &transposed[2], &seed);
        }
        try_example(&e, -1, n == 5 ? "tile" : "map");
        free_example(&e);
    }
    for (int narrow = 0; narrow < 2; narrow++) {
        example e = {.dtype = KRF_F32, .rank = 2, .n = 1, .shape = {narrow == 0 ? 15 : 70, narrow == 0 ? 70 : 15}};
        e.operands[0] = make_operand(KRF_F32, 2, e.shape, &transposed[2], &seed);
        try_example(&e, -1, "map");
        free_example(&e);
    }
    assert_int_equal(failures, 0);
}

/* Few rows whose elements are interleaved in memory, as the colours of pixels: one image and several, beside operands that lie straight, and places. */
static void test_few_rows(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_U8, KRF_F64, KRF_BF16};
    static const int64_t few[] = {2, 3, 4, 7, 8, 15};
    uint64_t seed = 5;
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t f = 0; f < sizeof few / sizeof *few; f++) {
            for (int rank = 2; rank <= 3; rank++) {
                example e = {.dtype = dtypes[d], .rank = rank, .n = 1 + (int)(f % 3), .shape = {few[f], 1301}};
                if (rank == 3) {
                    memcpy(e.shape, (int64_t[RANK]){3, few[f], 259}, sizeof e.shape);
                }
                e.counts = !is_half(e.dtype) && f % 2 == 1;
                for (int i = 0; i < e.n; i++) {
                    e.operands[i] = make_operand(e.dtype, rank, e.shape, i == 1 ? &straight : &transposed[rank], &seed);
                }
                try_example(&e, -1, "map");
                free_example(&e);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Operands of any layout and dtype: an axis stretched, backwards, gaps between rows; indices as operands. */
static void test_layouts(void **unused) {
    static const krf_dtype dtypes[] = {KRF_BOOL, KRF_U8, KRF_I16, KRF_F16, KRF_BF16, KRF_F32, KRF_I64, KRF_F64};
    static const int64_t shapes[][RANK] = {{33, 65}, {2, 35, 20}, {37, 2, 33}, {17, 40, 3}, {2, 18, 3, 36}};
    uint64_t seed = 3;
    int tiles = 0;
    (void)unused;
    for (int round = 0; round < 40; round++) {
        const int64_t *shape = shapes[round % 5];
        example e = {.dtype = dtypes[round / 5], .rank = shape[2] == 0 ? 2 : shape[3] == 0 ? 3 : 4, .n = 1 + (int)random_below(&seed, 4)};
        memcpy(e.shape, shape, sizeof e.shape);
        e.counts = !is_half(e.dtype) && bytes_of(e.dtype) > 2 && random_below(&seed, 2) == 0;
        for (int i = 0; i < e.n; i++) {
            layout l = straight;
            for (int d = e.rank - 1; d > 0; d--) {
                int at = (int)random_below(&seed, d + 1), swap = l.order[d];
                l.order[d] = l.order[at];
                l.order[at] = swap;
            }
            l.flipped = (int)(random_below(&seed, 16) & random_below(&seed, 16));
            l.stretched = i > 0 && random_below(&seed, 3) == 0 ? 1 << random_below(&seed, e.rank) : 0;
            l.gap = random_below(&seed, 2) * random_below(&seed, 5);
            for (int at = 0; i == 0 && at < e.rank; at++) { /* one to make tiles of: fastest along the longest of the other dimensions */
                int longest = e.rank == 3 && shape[0] < shape[1] ? 1 : e.rank == 4 ? 1 : 0;
                l.order[at] = at == e.rank - 1 ? longest : at < longest ? at : at + 1;
                l.flipped &= ~(1 << longest);
            }
            krf_dtype dtype = e.dtype != KRF_BOOL && random_below(&seed, 4) == 0 ? KRF_I8 : e.dtype;
            e.operands[i] = make_operand(dtype, e.rank, e.shape, &l, &seed);
        }
        tiles += try_example(&e, e.operands[0].dtype == e.dtype ? 0 : -1, NULL);
        free_example(&e);
    }
    assert_int_equal(failures, 0);
    assert_true(collecting || tiles >= 30 * all_runs.n); /* all but those of a narrow last dimension */
}

/* Narrow elements in whole words, and in words cut short: around the squares' sides, in batches, beside operands that lie straight, across or along one dimension. */
static void test_words(void **unused) {
    static const krf_dtype dtypes[] = {KRF_BOOL, KRF_U8, KRF_I8, KRF_U16, KRF_I16, KRF_F16, KRF_BF16};
    static const int64_t shapes[][RANK] = {{64, 64}, {128, 128}, {36, 40}, {68, 132}, {132, 260}, {130, 34}, {3, 36, 136}, {44, 3, 132}, {2, 40, 3, 36}, {129, 64}, {64, 127}};
    uint64_t seed = 4;
    (void)unused;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            example e = {.dtype = dtypes[d], .rank = shapes[s][2] == 0 ? 2 : shapes[s][3] == 0 ? 3 : 4, .n = 1 + (int)random_below(&seed, 4)};
            memcpy(e.shape, shapes[s], sizeof e.shape);
            const int tile = e.rank == 3 && e.shape[0] < e.shape[1] ? 1 : e.rank == 4 ? 1 : 0;
            layout across = straight;
            for (int at = 0; at < e.rank; at++) {
                across.order[at] = at == e.rank - 1 ? tile : at < tile ? at : at + 1;
            }
            for (int i = 0; i < e.n; i++) {
                layout l = i == 0 || random_below(&seed, 2) == 0 ? across : straight;
                if (i > 0 && e.rank > 2 && random_below(&seed, 4) == 0) { /* a third way: fastest along a dimension that is neither */
                    l = (layout){.order = {0, 1, 2, 3}};
                    l.order[e.rank - 1] = tile == 0 ? 1 : 0;
                    l.order[tile == 0 ? 1 : 0] = e.rank - 1;
                }
                l.stretched = i > 0 && random_below(&seed, 2) == 0 ? 1 << random_below(&seed, e.rank) : 0;
                l.gap = random_below(&seed, 4) == 0 ? 16 : 0;
                e.operands[i] = make_operand(e.dtype, e.rank, e.shape, &l, &seed);
            }
            try_example(&e, -1, "tile");
            free_example(&e);
        }
    }
    assert_int_equal(failures, 0);
}

/* Views that begin within a word, and rows that end within one. */
static void test_cut_words(void **unused) {
    enum { ROWS = 80, SIDE = 64 };
    (void)unused;
    for (int width = 72; width <= 75; width++) {
        int16_t data[ROWS * 75], got[SIDE * SIDE];
        for (int i = 0; i < ROWS * width; i++) {
            data[i] = (int16_t)i;
        }
        for (int r = 0; r < all_runs.n; r++) {
            const run *now = &all_runs.run[r];
            krf_array *x = NULL;
            assert_int_equal(krf_array_from_host(now->context, KRF_I16, 2, (int64_t[]){ROWS, width}, data, &x), KRF_OK);
            for (int from = 0; from < 10; from++) {
                char text[96];
                krf_binding b = krf_bind_array("x", x);
                krf_graph *g = krf_graph_create(now->context);
                krf_expr y;
                krf_array *out = NULL;
                const int row = from % 3, column = from * 7 % 9;
                snprintf(text, sizeof text, "x[%d:%d, %d:%d].T + 1", row, row + SIDE, column, column + SIDE);
                assert_int_equal(krf_parse(g, text, &b, 1, &y), KRF_OK);
                assert_int_equal(krf_eval(y, &out), KRF_OK);
                assert_int_equal(krf_array_to_host(out, got, sizeof got), KRF_OK);
                for (int i = 0; i < SIDE * SIDE; i++) {
                    const int want = data[(row + i % SIDE) * width + column + i / SIDE] + 1;
                    if (got[i] != want) {
                        COMPLAIN("%s: %s of rows of %d: element %d is %d, not %d", now->label, text, width, i, got[i], want);
                        break;
                    }
                }
                krf_array_release(out);
                krf_graph_destroy(g);
            }
            krf_array_release(x);
        }
    }
    assert_int_equal(failures, 0);
}

/* x.T + z[...] of 64 x 64, where z is read from `from` on in steps; the result's rows are cut after n elements, and lie in longer ones. */
static void try_beside(const run *now, int from, int step, int n) {
    enum { SIDE = 64, WIDTH = 144, ROOM = 72 };
    int16_t x[SIDE * SIDE], z[SIDE * WIDTH], got[SIDE * ROOM];
    char text[96];
    krf_array *in[2], *room, *out;
    krf_expr y;
    for (int i = 0; i < SIDE * WIDTH; i++) {
        x[i % (SIDE * SIDE)] = (int16_t)(3 * i);
        z[i] = (int16_t)(5 * i);
        got[i % (SIDE * ROOM)] = -1;
    }
    assert_int_equal(krf_array_from_host(now->context, KRF_I16, 2, (int64_t[]){SIDE, SIDE}, x, &in[0]), KRF_OK);
    assert_int_equal(krf_array_from_host(now->context, KRF_I16, 2, (int64_t[]){SIDE, WIDTH}, z, &in[1]), KRF_OK);
    assert_int_equal(krf_array_from_host(now->context, KRF_I16, 2, (int64_t[]){SIDE, ROOM}, got, &room), KRF_OK);
    assert_int_equal(krf_array_view(room, 2, (int64_t[]){SIDE, n}, (int64_t[]){ROOM, 1}, 0, &out), KRF_OK);
    const krf_binding b[] = {krf_bind_array("x", in[0]), krf_bind_array("z", in[1])};
    krf_graph *g = krf_graph_create(now->context);
    snprintf(text, sizeof text, "x[:%d].T + z[:, %d:%d:%d]", n, from, from + n * step, step);
    assert_int_equal(krf_parse(g, text, b, 2, &y), KRF_OK);
    assert_int_equal(krf_eval(y, &out), KRF_OK);
    assert_int_equal(krf_array_to_host(room, got, sizeof got), KRF_OK);
    for (int i = 0; i < SIDE * ROOM; i++) {
        const int row = i / ROOM, column = i % ROOM;
        const int16_t want = column < n ? (int16_t)(x[column * SIDE + row] + z[row * WIDTH + from + column * step]) : -1;
        if (got[i] != want) {
            COMPLAIN("%s: %s: element (%d, %d) is %d, not %d", now->label, text, row, column, got[i], want);
            break;
        }
    }
    krf_graph_destroy(g);
    krf_array_release(out);
    krf_array_release(room);
    krf_array_release(in[0]);
    krf_array_release(in[1]);
}

static void test_beside_words(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        for (int n = 61; n <= 64; n++) {
            for (int from = 0; from <= 2; from++) {
                try_beside(&all_runs.run[r], from, 1, n);
                try_beside(&all_runs.run[r], from, 2, n);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* x[from:] + 2 * z of n elements, into memory from `to` on: loads and stores that begin anywhere. */
static void try_anywhere(const run *now, int from, int to, int n) {
    enum { ROOM = 1100 };
    int32_t x[ROOM], z[ROOM], got[ROOM];
    char text[96];
    krf_array *in[2], *room, *out;
    krf_expr y;
    for (int i = 0; i < ROOM; i++) {
        x[i] = 3 * i;
        z[i] = 7 * i;
        got[i] = -1;
    }
    assert_int_equal(krf_array_from_host(now->context, KRF_I32, 1, (int64_t[]){ROOM}, x, &in[0]), KRF_OK);
    assert_int_equal(krf_array_from_host(now->context, KRF_I32, 1, (int64_t[]){ROOM}, z, &in[1]), KRF_OK);
    assert_int_equal(krf_array_from_host(now->context, KRF_I32, 1, (int64_t[]){ROOM}, got, &room), KRF_OK);
    assert_int_equal(krf_array_view(room, 1, (int64_t[]){n}, (int64_t[]){1}, to, &out), KRF_OK);
    const krf_binding b[] = {krf_bind_array("x", in[0]), krf_bind_array("z", in[1])};
    krf_graph *g = krf_graph_create(now->context);
    snprintf(text, sizeof text, "x[%d:%d] + 2 * z[:%d]", from, from + n, n);
    assert_int_equal(krf_parse(g, text, b, 2, &y), KRF_OK);
    assert_int_equal(krf_eval(y, &out), KRF_OK);
    assert_int_equal(krf_array_to_host(room, got, sizeof got), KRF_OK);
    for (int i = 0; i < ROOM; i++) {
        const int32_t want = i >= to && i < to + n ? x[from + i - to] + 2 * z[i - to] : -1;
        if (got[i] != want) {
            COMPLAIN("%s: %s from %d on: element %d is %d, not %d", now->label, text, to, i, got[i], want);
            break;
        }
    }
    krf_graph_destroy(g);
    krf_array_release(out);
    krf_array_release(room);
    krf_array_release(in[0]);
    krf_array_release(in[1]);
}

static void test_anywhere(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n; r++) {
        for (int k = 0; k < 16; k++) {
            try_anywhere(&all_runs.run[r], k % 4, k / 4, 1021 + k % 5);
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_part_on(open_noted_runs(&all_runs, false),
                       TESTS(noted_test(test_extents), noted_test(test_choice), noted_test(test_few_rows), noted_test(test_layouts), noted_test(test_words),
                             cmocka_unit_test(test_cut_words), cmocka_unit_test(test_beside_words), cmocka_unit_test(test_anywhere)));
}
