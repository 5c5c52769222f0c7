/* Maps of slices of one- and two-byte dtypes, whose rows lie apart (plan/flat.c): differences of neighbours, crops, flipped and transposed outer dimensions, masks and other dtypes beside, arrays of other widths, what belongs to columns, rows or
 * planes, of two to four dimensions and row lengths about those at which vectors begin; against plain loops over whole numbers. On a GPU the kernel's text says whether vectors go on over the ends of rows; the simulated one finds what is read
 * outside of an allocation, which each array fills from its first element to its last. */
#include "ops/common.h"

static runs all_runs;

enum { DIMS = 4, MOST = 24000, ARRAYS = 5 };

/* x, of the result's extents and more; y, of the same but more columns; m, a mask where x is; g of columns, h of rows. */
enum { X, Y, M, G, H };

static int64_t extents[ARRAYS][DIMS]; /* leading ones before an array's own */
static int shift;                     /* K of programs */

static int number(int array, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t at = ((a * extents[array][1] + b) * extents[array][2] + c) * extents[array][3] + d;
    static const int steps[ARRAYS] = {7, 5, 11, 3, 9}, most[ARRAYS] = {61, 31, 64, 23, 17};
    const int n = (int)(at * steps[array] % most[array]);
    return array == M ? n % 3 == 0 : n;
}

static int x_at(int64_t a, int64_t b, int64_t c, int64_t d) { return number(X, a, b, c, d); }
static int y_at(int64_t a, int64_t b, int64_t c, int64_t d) { return number(Y, a, b, c, d); }

/* An element of a result. */
typedef int formula(int64_t a, int64_t b, int64_t c, int64_t d);

static int neighbours(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d + shift) - x_at(a, b, c, d); }
static int crop(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c + 1, d + 3) + 1; }
static int two_crops(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c + 1, d + 3) + x_at(a, b, c + 2, d + 6); }
static int three(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c + 1, d + 1) + x_at(a, b, c, d) - x_at(a, b, c + 1, d); }
static int flipped(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, extents[X][2] - 1 - c, d + 2) + x_at(a, b, c, d); }
static int by_column(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d + 3) + number(G, 0, 0, 0, d); }
static int by_row(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d) + number(H, 0, 0, 0, c); }
static int masked(int64_t a, int64_t b, int64_t c, int64_t d) { return number(M, a, b, c, d + 1) != 0 ? x_at(a, b, c, d + 1) : x_at(a, b, c, d); }
static int mask_beside(int64_t a, int64_t b, int64_t c, int64_t d) { return number(M, a, b, c, d + 1) != 0 ? x_at(a, b, c, d + 1) : number(H, 0, 0, 0, c); }
static int with_other(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d + 1) * 2 + y_at(a, b, c, d + 3); }
static int converted(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d + 1); }
static int compared(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d + 1) > x_at(a, b, c, d); }
static int counted(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d + 1) + (int)(d % 50); }
static int alone(int64_t a, int64_t b, int64_t c, int64_t d) { return (void)a, (void)b, number(G, 0, 0, 0, d) + number(H, 0, 0, 0, c); }
static int backwards(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, extents[X][3] - 1 - d) + 1; }
static int every_second(int64_t a, int64_t b, int64_t c, int64_t d) { return d < 0 ? 0 : x_at(a, b, c + 1, d) + x_at(a, b, c, 2 * d); }
static int across(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b + 1, c + 1, d + 1) + x_at(a, b, c, d); }
static int turned(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, c, b, d + 1) + 1; }
static int both_flipped(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, extents[X][1] - 1 - b, c, d + 1) + x_at(a, b, extents[X][2] - 1 - c, d); }
static int one_plane(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d + 1) + y_at(0, 0, c, d + 1); }
static int of_four(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a + 1, b, c + 1, d + 2) - x_at(a, b, c, d); }
static int of_four_flipped(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(extents[X][0] - 1 - a, b, c, d + 1) + x_at(a, extents[X][1] - 1 - b, c, d); }
static int from_plane(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b + 1, c, d) + number(H, 0, 0, 0, c); }
static int beside_whole(int64_t a, int64_t b, int64_t c, int64_t d) { return x_at(a, b, c, d + 3) + y_at(a, b, c, d); }
static int either(int64_t a, int64_t b, int64_t c, int64_t d) { return number(M, a, b, c, d + 1) != 0 || number(M, a, b, c, d) != 0; }

enum { AS_X = -1 };

/* What goes by vectors: rows, that lie apart; whole, where x lies as the result does, but begins elsewhere; nothing. */
enum { ROWS, WHOLE, NONE };

static const struct {
    const char *program; /* with K for `shift`, and T for the dtype of x */
    formula *formula;
    int rank, gives; /* AS_X or a dtype */
    int more[DIMS];  /* extents of x beyond those of the result, from its first dimension on */
    int wider, low;  /* columns of y beyond those of the result; dimensions that y has, if fewer */
    int found;
    bool apart, masks; /* whether something is read for each element alone; and by vectors bytes beside */
    int loose;         /* operands that may begin anywhere: up to two have vectors of their own where rows come in such */
} cases[] = {
    {"x[:, K:] - x[:, :-K]", neighbours, 2, AS_X, {0, -1}, 0, 0, ROWS, false, false, 2},
    {"x[1:-1, 3:-3] + 1", crop, 2, AS_X, {2, 6}, 0, 0, ROWS, false, false, 1},
    {"x[1:-1, 3:-3] + x[2:, 6:]", two_crops, 2, AS_X, {2, 6}, 0, 0, ROWS, false, false, 2},
    {"x[1:, 1:] + x[:-1, :-1] - x[1:, :-1]", three, 2, AS_X, {1, 1}, 0, 0, ROWS, false, false, 3},
    {"x[::-1, 2:] + x[:, :-2]", flipped, 2, AS_X, {0, 2}, 0, 0, ROWS, false, false, 2},
    {"x[:, 3:] + g", by_column, 2, AS_X, {0, 3}, 0, 0, ROWS, true, false, 1},
    {"x[:, :-3] + h[:, None]", by_row, 2, AS_X, {0, 3}, 0, 0, ROWS, true, false, 1},
    {"where(m[:, 1:], x[:, 1:], x[:, :-1])", masked, 2, AS_X, {0, 1}, 0, 0, ROWS, false, true, 3},
    {"where(m[:, 1:], x[:, 1:], h[:, None])", mask_beside, 2, AS_X, {0, 1}, 0, 0, ROWS, true, true, 2},
    {"x[:, 1:] * 2 + y[:, 3:]", with_other, 2, AS_X, {0, 1}, 3, 0, ROWS, false, false, 2},
    {"x[:, 3:] + y", beside_whole, 2, AS_X, {0, 3}, 0, 0, ROWS, false, false, 1},
    {"u8(x[:, 1:])", converted, 2, KRF_U8, {0, 1}, 0, 0, ROWS, false, false, 1},
    {"i16(x[:, 1:])", converted, 2, KRF_I16, {0, 1}, 0, 0, ROWS, false, false, 1},
    {"bf16(x[:, 1:])", converted, 2, KRF_BF16, {0, 1}, 0, 0, ROWS, false, false, 1},
    {"f32(x[:, 1:])", converted, 2, KRF_F32, {0, 1}, 0, 0, NONE, false, false, 1},
    {"x[:, 1:] > x[:, :-1]", compared, 2, KRF_BOOL, {0, 1}, 0, 0, ROWS, false, false, 2},
    {"m[:, 1:] | m[:, :-1]", either, 2, KRF_BOOL, {0, 1}, 0, 0, ROWS, false, true, 2},
    {"x[:, 1:] + T(arange(N) % 50)", counted, 2, AS_X, {0, 1}, 0, 0, ROWS, true, false, 1},
    {"g + h[:, None]", alone, 2, AS_X, {0, 0}, 0, 0, NONE, true, false, 0},
    {"x[:, ::-1] + 1", backwards, 2, AS_X, {0, 0}, 0, 0, ROWS, false, false, 1},
    {"x[1:, :N] + x[:-1, ::2][:, :N]", every_second, 2, AS_X, {1, -2}, 0, 0, NONE, false, false, 2},
    {"x[1:, 1:, 1:] + x[:-1, :-1, :-1]", across, 3, AS_X, {1, 1, 1}, 0, 0, ROWS, false, false, 2},
    {"transpose(x, (1, 0, 2))[:, :, 1:] + 1", turned, 3, AS_X, {0, 0, 1}, 0, 0, ROWS, false, false, 1},
    {"x[::-1, :, 1:] + x[:, ::-1, :-1]", both_flipped, 3, AS_X, {0, 0, 1}, 0, 0, ROWS, false, false, 2},
    {"x[:, :, 1:] + y[:, 1:]", one_plane, 3, AS_X, {0, 0, 1}, 1, 2, ROWS, true, false, 1},
    {"x[1:] + h[:, None]", from_plane, 3, AS_X, {1, 0, 0}, 0, 0, WHOLE, true, false, 1},
    {"x[1:, :, 1:, 2:] - x[:-1, :, :-1, :-2]", of_four, 4, AS_X, {1, 0, 1, 2}, 0, 0, ROWS, false, false, 2},
    {"x[::-1, :, :, 1:] + x[:, ::-1, :, :-1]", of_four_flipped, 4, AS_X, {0, 0, 0, 1}, 0, 0, ROWS, false, false, 2},
};

static krf_array *filled(krf_context *context, int array, krf_dtype dtype, int rank, int64_t before) {
    static char data[(MOST + 64) * 8];
    int64_t size = before, strides[DIMS], stride = 1, n = 1;
    krf_array *base = NULL, *view = NULL;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= extents[array][DIMS - rank + i];
    }
    n = stride;
    size += n;
    assert_true(size <= MOST);
    for (int64_t i = 0; i < before; i++) {
        put(data, i, whole_number(dtype, 1));
    }
    for (int64_t i = 0; i < n; i++) {
        put(data, before + i, whole_number(dtype, number(array, 0, 0, 0, i)));
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, rank, extents[array] + DIMS - rank, strides, before, &view), KRF_OK);
    krf_array_release(base);
    return view;
}

static void write_program(const char *p, krf_dtype dtype, int64_t columns, char *text) {
    for (; *p != 0; p++) {
        if (*p == 'K' || (*p == 'N' && p[1] != 'o')) {
            text += sprintf(text, "%" PRId64, *p == 'K' ? (int64_t)shift : columns);
        } else if (*p == 'T') {
            text += sprintf(text, "%s", name_of(dtype));
        } else {
            *text++ = *p;
        }
    }
    *text = 0;
}

static int own_bytes(size_t k, krf_dtype dtype) { return (int)bytes_of(cases[k].formula == either ? KRF_BOOL : dtype); }

static int widest_of(size_t k, krf_dtype dtype, krf_dtype given) { return (int)bytes_of(given) > own_bytes(k, dtype) ? (int)bytes_of(given) : own_bytes(k, dtype); }

/* The rules of plan/flat.c: rows of four vectors or more are taken out of words around them; what has no such rows goes element by element. */
static bool has_rows(size_t k, krf_dtype dtype, const int64_t *shape) { return cases[k].found == ROWS && shape[DIMS - 1] >= 64 / own_bytes(k, dtype); }
/* Elements of vectors that go on: of what goes by them, and every second ones by eight. */
static int vector_of(size_t k, krf_dtype dtype, krf_dtype given, const int64_t *shape) {
    const int v = 16 / (has_rows(k, dtype, shape) || cases[k].found == WHOLE ? widest_of(k, dtype, given) : (int)bytes_of(given));
    return cases[k].formula == every_second && v > 8 ? 8 : v;
}

static bool goes_apart(size_t k, krf_dtype dtype, const int64_t *shape) { return cases[k].apart || (cases[k].found != WHOLE && !has_rows(k, dtype, shape)) || (cases[k].masks && shape[DIMS - 1] < 64); }

/* Where rows come in whole vectors, or in shorter ones of eight, those of each row are as good. */
static bool goes_on(size_t k, krf_dtype dtype, krf_dtype given, const int64_t *shape) {
    const int widest = widest_of(k, dtype, given), v = 16 / widest;
    const int64_t columns = shape[DIMS - 1];
    const bool eights = columns % 8 == 0 && (cases[k].found == WHOLE || cases[k].formula == alone || (cases[k].formula == neighbours && shift % 8 == 0));
    const bool whole = (columns % v == 0 && cases[k].loose <= 2 && cases[k].formula != backwards && cases[k].formula != every_second) || eights;
    const bool begins = cases[k].found != WHOLE || extents[X][2] * columns % v == 0 || columns >= 64 / own_bytes(k, dtype);
    return widest <= 2 && begins && !whole && cases[k].formula != alone && !(cases[k].formula == every_second && own_bytes(k, dtype) == 2);
}

static void release_all(krf_array **arrays) {
    for (int i = 0; i < ARRAYS; i++) {
        krf_array_release(arrays[i]);
    }
}

static void set_extents(size_t k, const int64_t *shape) {
    for (int i = 0; i < DIMS; i++) {
        const int own = i - (DIMS - cases[k].rank), more = own < 0 ? 0 : cases[k].more[own];
        extents[X][i] = extents[M][i] = more == -1 ? shape[i] + shift : more == -2 ? 2 * shape[i] : shape[i] + more;
        extents[Y][i] = cases[k].low != 0 && i < DIMS - cases[k].low ? 1 : shape[i] + (i == DIMS - 1 ? cases[k].wider : 0);
        extents[G][i] = i == DIMS - 1 ? shape[i] : 1;
        extents[H][i] = i == DIMS - 1 ? shape[DIMS - 2] : 1;
    }
    if (cases[k].formula == turned) {
        extents[X][1] = shape[2];
        extents[X][2] = shape[1];
    }
}

static void compare(size_t k, const run *r, const char *text, krf_array *out, krf_dtype dtype, krf_dtype given, const int64_t *shape) {
    char a[64], b[64];
    char *got = to_host(out, given, cases[k].rank, shape + DIMS - cases[k].rank, text);
    int64_t n = shape[0] * shape[1] * shape[2] * shape[3];
    for (int64_t i = 0; i < n && got != NULL; i++) {
        const int64_t d = i % shape[3], c = i / shape[3] % shape[2], p = i / shape[3] / shape[2] % shape[1], q = i / shape[3] / shape[2] / shape[1];
        const value want = whole_number(given, cases[k].formula(q, p, c, d)), found = get(got, given, i);
        if (!same(found, want)) {
            COMPLAIN("%s of %s, %s, [%d, %d, %d, %d]: element %d is %s, not %s", text, name_of(dtype), r->label, (int)shape[0], (int)shape[1], (int)shape[2], (int)shape[3], (int)i, show(found, a, 64), show(want, b, 64));
            break;
        }
    }
    free(got);
}

static void check(size_t k, const run *r, krf_dtype dtype, const int64_t *shape, int64_t before) {
    const krf_dtype given = cases[k].gives == AS_X ? dtype : (krf_dtype)cases[k].gives;
    const int rank = cases[k].rank;
    set_extents(k, shape);
    krf_array *arrays[ARRAYS] = {filled(r->context, X, dtype, rank, before), filled(r->context, Y, dtype, cases[k].low != 0 ? cases[k].low : rank, 0), filled(r->context, M, KRF_BOOL, rank, 0), filled(r->context, G, dtype, 1, 0),
                                 filled(r->context, H, dtype, 1, 0)};
    const krf_binding bindings[] = {krf_bind_array("x", arrays[X]), krf_bind_array("y", arrays[Y]), krf_bind_array("m", arrays[M]), krf_bind_array("g", arrays[G]), krf_bind_array("h", arrays[H])};
    krf_graph *g = krf_graph_create(r->context);
    krf_plan *plan = NULL;
    krf_array *out = NULL;
    krf_expr result;
    char text[200];
    write_program(cases[k].program, dtype, shape[DIMS - 1], text);
    krf_status status = krf_parse(g, text, bindings, ARRAYS, &result);
    status = status == KRF_OK ? krf_compile(g, 1, &result, NULL, &plan) : status;
    status = status == KRF_OK ? krf_plan_run(plan, NULL, 0, NULL, &out) : status;
    if (status != KRF_OK) {
        fail_msg("%s of %s, %s: %s", text, name_of(dtype), r->label, krf_error_message());
    }
    const bool wanted = goes_on(k, dtype, given, shape);
    const bool beyond = has_text(plan, " beyond = i"), apart = has_text(plan, " place = i + k <");
    if (all_runs.cuda && !(given == dtype && cases[k].formula == converted) && ((beyond || apart) != wanted || apart != (wanted && goes_apart(k, dtype, shape)) || (wanted && has_rows(k, dtype, shape) && !beyond))) {
        COMPLAIN("%s of %s, [%d, %d, %d, %d]: the kernel should%s go on over the ends of rows", text, name_of(dtype), (int)shape[0], (int)shape[1], (int)shape[2], (int)shape[3], wanted ? "" : " not");
    }
    if (all_runs.cuda && wanted && has_text(plan, "__stcs((uint4 *)") != ((int)bytes_of(given) * vector_of(k, dtype, given, shape) == 16)) {
        COMPLAIN("%s of %s, [%d, %d, %d, %d]: vectors should have %d elements", text, name_of(dtype), (int)shape[0], (int)shape[1], (int)shape[2], (int)shape[3], vector_of(k, dtype, given, shape));
    }
    if (all_runs.cuda && wanted && has_rows(k, dtype, shape) && cases[k].formula == neighbours && dtype != KRF_I16 && dtype != KRF_U16 && !has_text(plan, is_half(dtype) ? ".pair[k]" : ".four[k]")) {
        COMPLAIN("%s of %s: the kernel should subtract several at once", text, name_of(dtype));
    }
    if (!collecting) {
        compare(k, r, text, out, dtype, given, shape);
    }
    krf_plan_release(plan);
    krf_array_release(out);
    krf_graph_destroy(g);
    release_all(arrays);
}

static const int64_t lengths[] = {31, 32, 33, 63, 64, 65, 36, 68, 72, 100, 127, 129};

static void test_views(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_BF16, KRF_I16, KRF_I8, KRF_F16, KRF_U16};
    static const int64_t outer[3][3] = {{1, 1, 5}, {1, 3, 4}, {2, 3, 3}};
    static const int shifts[] = {1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 4};
    (void)unused;
    failures = 0;
    for (int r = 0; r < all_runs.n; r++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases && !passed_over(&all_runs.run[r]); k++) {
            for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
                const int64_t *rows = outer[cases[k].rank - 2], shape[DIMS] = {rows[0], rows[1], rows[2] + (int64_t)n % 3, lengths[n]};
                shift = shifts[n];
                check(k, &all_runs.run[r], dtypes[k % 2 * 3], shape, 0);
                check(k, &all_runs.run[r], dtypes[1 + (k + k / 4) % 2 + k / 2 % 2 * 3], shape, 0);
            }
        }
    }
    assert_int_equal(failures, 0);
}

static krf_array *copied(krf_context *context, krf_dtype dtype, int64_t n, char *data) {
    krf_array *array = NULL;
    assert_int_equal(krf_array_from_host(context, dtype, 1, &n, data, &array), KRF_OK);
    return array;
}

/* Arrays that begin at any element of an allocation, and end with it. */
static void test_begins(void **unused) {
    (void)unused;
    failures = 0;
    shift = 1;
    for (int r = 0; r < all_runs.n; r++) {
        for (int64_t before = 0; before < 18 && !passed_over(&all_runs.run[r]); before++) {
            check(0, &all_runs.run[r], KRF_U8, (const int64_t[DIMS]){1, 1, 3, 65}, before);
            check(1, &all_runs.run[r], KRF_BF16, (const int64_t[DIMS]){1, 1, 3, 33}, before);
        }
    }
    assert_int_equal(failures, 0);
}

/* Arrays whose last element is their allocation's last: of 512 bytes, as of pools. Slices begin and end there. */
static void test_last(void **unused) {
    static const size_t programs[] = {0, 1, 3, 4, 9};
    static const int64_t columns[] = {64, 65, 33, 79};
    (void)unused;
    failures = 0;
    shift = 1;
    for (int r = 0; r < all_runs.n; r++) {
        for (size_t i = 0; i < 2 * sizeof programs / sizeof *programs * sizeof columns / sizeof *columns && !passed_over(&all_runs.run[r]); i++) {
            const size_t k = programs[i / 2 % (sizeof programs / sizeof *programs)];
            const krf_dtype dtype = i % 2 == 0 ? KRF_U8 : KRF_BF16;
            const int64_t shape[DIMS] = {1, 1, 16 - cases[k].more[0], columns[i / 2 / (sizeof programs / sizeof *programs)]};
            set_extents(k, shape);
            const int64_t bytes = 16 * extents[X][3] * (int64_t)bytes_of(dtype);
            check(k, &all_runs.run[r], dtype, shape, (512 - bytes % 512) % 512 / (int64_t)bytes_of(dtype));
        }
    }
    assert_int_equal(failures, 0);
}

/* Several results of other widths from the same rows, and a sum of nothing else. */
static void test_results(void **unused) {
    static const int64_t shape[DIMS] = {1, 1, 5, 77};
    (void)unused;
    failures = 0;
    for (int r = 0; r < all_runs.n; r++) {
        krf_array *x, *results[3] = {NULL, NULL, NULL};
        if (passed_over(&all_runs.run[r])) {
            continue;
        }
        shift = 1;
        set_extents(0, shape);
        x = filled(all_runs.run[r].context, X, KRF_U8, 2, 0);
        evaluate_text(&all_runs.run[r], "x[:, 1:] - x[:, :-1], i16(x[:, 1:]), x[:, 1:] > x[:, :-1]", 1, (krf_binding[]){krf_bind_array("x", x)}, 3, results);
        for (int64_t i = 0; i < 5 * 77 && !collecting; i++) {
            static unsigned char least[5 * 77];
            static int16_t same_number[5 * 77];
            static bool larger[5 * 77];
            if (i == 0) {
                read_back(results[0], least, sizeof least);
                read_back(results[1], same_number, sizeof same_number);
                read_back(results[2], larger, sizeof larger);
            }
            const int left = number(X, 0, 0, i / 77, i % 77), right = number(X, 0, 0, i / 77, i % 77 + 1);
            assert_int_equal(least[i], (unsigned char)(right - left));
            assert_int_equal(same_number[i], right);
            assert_int_equal(larger[i], right > left);
        }
        for (int i = 0; i < 3; i++) {
            krf_array_release(results[i]);
        }
        krf_array_release(x);
    }
    assert_int_equal(failures, 0);
}

/* Into a view of the caller's memory, in which nothing else is written: rows that follow one another from the border of a vector on, from elsewhere on, rows that lie apart, and the memory of y, which is read. */
static void test_places_of_results(void **unused) {
    static const struct {
        int64_t from, pitch;
        bool in_place;
    } views[] = {{0, 77, false}, {16, 77, false}, {5, 77, false}, {16, 80, false}, {3, 85, false}, {0, 77, true}, {32, 77, true}, {16, 93, true}};
    enum { ROW = 77, LINES = 5, ALL = 512 };
    (void)unused;
    failures = 0;
    for (int r = 0; r < all_runs.n; r++) {
        for (size_t k = 0; k < sizeof views / sizeof *views && !passed_over(&all_runs.run[r]); k++) {
            const int64_t shape[2] = {LINES, ROW}, strides[2] = {views[k].pitch, 1}, from = views[k].from;
            krf_context *context = all_runs.run[r].context;
            char data[ALL];
            memset(data, 99, sizeof data);
            for (int64_t i = 0; i < LINES * ROW; i++) {
                data[from + i / ROW * views[k].pitch + i % ROW] = (char)(i % 29);
            }
            krf_array *memory = copied(context, KRF_U8, ALL, data), *out = NULL;
            set_extents(10, (const int64_t[DIMS]){1, 1, LINES, ROW});
            krf_array *x = filled(context, X, KRF_U8, 2, 0), *y = views[k].in_place ? NULL : filled(context, Y, KRF_U8, 2, 0);
            krf_graph *g = krf_graph_create(context);
            krf_expr sum;
            assert_int_equal(krf_array_view(memory, 2, shape, strides, from, &out), KRF_OK);
            assert_int_equal(krf_parse(g, "x[:, 3:] + y", (krf_binding[]){krf_bind_array("x", x), krf_bind_array("y", views[k].in_place ? out : y)}, 2, &sum), KRF_OK);
            assert_int_equal(krf_eval(sum, &out), KRF_OK);
            read_back(memory, data, sizeof data);
            for (int64_t i = 0; i < ALL && !collecting; i++) {
                const int64_t row = (i - from) / views[k].pitch, column = (i - from) % views[k].pitch;
                const bool inside = i >= from && row < LINES && column < ROW;
                const int want = !inside ? 99 : number(X, 0, 0, row, column + 3) + (views[k].in_place ? (int)((row * ROW + column) % 29) : number(Y, 0, 0, row, column));
                if (data[i] != (char)want) {
                    COMPLAIN("%s, view %d: byte %d is %d, not %d", all_runs.run[r].label, (int)k, (int)i, data[i], want);
                    break;
                }
            }
            krf_graph_destroy(g);
            krf_array_release(x);
            krf_array_release(y);
            krf_array_release(out);
            krf_array_release(memory);
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_part_on(open_noted_runs(&all_runs, false),
                       TESTS(noted_test(test_views), noted_test(test_begins), noted_test(test_last), noted_test(test_results), noted_test(test_places_of_results)));
}
