/* Reductions over rows of up to 256 bytes (schedule reduce_short), which a GPU folds four at once: sums, products, the largest and the smallest of u8, i8 and bool, of all lengths of a row and many numbers of rows; kernels for all
 * lengths, and those in whose text the length stands; rows that begin anywhere, have gaps, lie backwards or across. Against loops over int. Beside the rows lie the highest and the lowest bytes: nothing of them may reach a result.
 * And which of these kernels take words, which stage their rows, and which must not. */
#include "helpers.h"
#include "ops/common.h"
#include "ops/programs.h"
#include "sched/context.h"

enum { MOST_RESULTS = 3, MOST = 1100000, MOST_ROWS = 5000, AROUND = 64, LONGEST = 256, MOST_WRITTEN_OUT = 8 };

static runs all, known; /* on a GPU, known: the length of a row is text */

/* ---- what is computed of an element, and what of a row ---- */

typedef int64_t element(int64_t x, int64_t y, int64_t v, int64_t w);

static int64_t x_itself(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, (void)w, x; }
static int64_t y_itself(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)x, (void)v, (void)w, y; }
static int64_t is_set(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, (void)w, x != 0; }
static int64_t by_v(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)w, x * v; }
static int64_t by_w(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, x * w; }
static int64_t by_v_u32(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)w, (int64_t)(uint32_t)(x * v); }
static int64_t by_v_u8(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)w, x * v & 255; }
static int64_t by_y(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)v, (void)w, x * y; }
static int64_t squared(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, (void)w, x * x; }
static int64_t cubed(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, (void)w, x * x * x; }
static int64_t squared_i8(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, (void)w, (int8_t)(uint8_t)(x * x); }
static int64_t as_i8(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, (void)w, (int8_t)(uint8_t)x; }
static int64_t as_u8(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, (void)w, (uint8_t)x; }
static int64_t as_u32(int64_t x, int64_t y, int64_t v, int64_t w) { return (void)y, (void)v, (void)w, (uint32_t)x; }

typedef enum how { ADDED, LEAST, MOST_OF, SOME, EVERY, MULTIPLIED, SPAN, AVERAGE, ROOT, ABOVE_100 } how;

/* What is loaded: x alone; v or w, one for all rows, as well; y, which has rows too; or so that words are not taken, whatever is loaded. */
typedef enum loads { ALONE, SHARED, BOTH, NO_WORDS } loads;

typedef struct byte_case {
    const char *text; /* ~ stands for the axes */
    krf_dtype x, v, w; /* y is of x's dtype */
    loads loads;
    const char *words; /* what a kernel that takes words has in its text */
    struct {
        element *of;
        how how;
        krf_dtype gives;
    } results[MOST_RESULTS];
} byte_case;

#define DP4A "__dp4a("
#define MIXED_DOT "krf_dot_u8i8x4("

static const byte_case cases[] = {
    {"return sum(x~), max(x~), min(x~)", KRF_U8, KRF_U8, KRF_I8, ALONE, DP4A, {{x_itself, ADDED, KRF_U64}, {x_itself, MOST_OF, KRF_U8}, {x_itself, LEAST, KRF_U8}}},
    {"return sum(x~), max(x~), min(x~)", KRF_I8, KRF_I8, KRF_U8, ALONE, DP4A, {{x_itself, ADDED, KRF_I64}, {x_itself, MOST_OF, KRF_I8}, {x_itself, LEAST, KRF_I8}}},
    {"return sum(x~), any(x~), all(x~)", KRF_BOOL, KRF_U8, KRF_I8, ALONE, DP4A, {{x_itself, ADDED, KRF_I64}, {x_itself, SOME, KRF_BOOL}, {x_itself, EVERY, KRF_BOOL}}},
    {"return sum(i64(i32(x) * i32(x))~), min(x~)", KRF_I8, KRF_I8, KRF_U8, ALONE, DP4A, {{squared, ADDED, KRF_I64}, {x_itself, LEAST, KRF_I8}}},
    {"return max(x~) - min(x~), sum(u16(x) * u16(x)~)", KRF_U8, KRF_U8, KRF_I8, ALONE, "krf_take_bytes<krf_min_u8_tops>(", {{x_itself, SPAN, KRF_U8}, {squared, ADDED, KRF_U64}}},
    {"return max(x~), min(x~), sum(x~)", KRF_BOOL, KRF_U8, KRF_I8, ALONE, "krf_take_bools<krf_all_tops>(", {{x_itself, MOST_OF, KRF_BOOL}, {x_itself, LEAST, KRF_BOOL}, {x_itself, ADDED, KRF_I64}}},
    {"max(x~) - min(x~)", KRF_I8, KRF_I8, KRF_U8, ALONE, "krf_take_bytes<krf_min_i8_tops>(", {{x_itself, SPAN, KRF_I8}}},
    {"sum(x~, keepdims=True)", KRF_U8, KRF_U8, KRF_I8, ALONE, DP4A, {{x_itself, ADDED, KRF_U64}}},
    {"return sqrt(f32(sum(x~))), max(x~) > 100", KRF_U8, KRF_U8, KRF_I8, ALONE, DP4A, {{x_itself, ROOT, KRF_F32}, {x_itself, ABOVE_100, KRF_BOOL}}},
    {"return sum(i16(x) * i16(x)~), sum(u32(x) * u32(x)~), max(x~)", KRF_I8, KRF_I8, KRF_U8, ALONE, "krf_take_bytes<krf_max_i8_tops>(", {{squared, ADDED, KRF_I64}, {squared, ADDED, KRF_U64}, {x_itself, MOST_OF, KRF_I8}}},
    {"return sum(i64(x)~), max(x~) > 100", KRF_I8, KRF_I8, KRF_U8, ALONE, DP4A, {{x_itself, ADDED, KRF_I64}, {x_itself, ABOVE_100, KRF_BOOL}}},
    {"return mean(x~), sum(x~)", KRF_I8, KRF_I8, KRF_U8, ALONE, DP4A, {{x_itself, AVERAGE, KRF_F64}, {x_itself, ADDED, KRF_I64}}},
    {"min(x~)", KRF_U8, KRF_U8, KRF_I8, ALONE, "krf_take_bytes<krf_min_u8_tops>(", {{x_itself, LEAST, KRF_U8}}},
    {"sum(i32(x) * i32(v)~)", KRF_U8, KRF_U8, KRF_I8, SHARED, DP4A, {{by_v, ADDED, KRF_I64}}},
    {"return sum(i32(x) * i32(v)~), max(x~)", KRF_I8, KRF_I8, KRF_U8, SHARED, DP4A, {{by_v, ADDED, KRF_I64}, {x_itself, MOST_OF, KRF_I8}}},
    {"sum(i32(x) * i32(w)~)", KRF_U8, KRF_U8, KRF_I8, SHARED, MIXED_DOT, {{by_w, ADDED, KRF_I64}}},
    {"sum(i16(w) * i16(x)~)", KRF_I8, KRF_I8, KRF_U8, SHARED, MIXED_DOT, {{by_w, ADDED, KRF_I64}}},
    {"return sum(i32(x) * i32(w)~), sum(x~)", KRF_BOOL, KRF_U8, KRF_I8, SHARED, MIXED_DOT, {{by_w, ADDED, KRF_I64}, {x_itself, ADDED, KRF_I64}}},
    {"return sum(i32(x) * i32(y)~), max(y~)", KRF_U8, KRF_U8, KRF_I8, BOTH, DP4A, {{by_y, ADDED, KRF_I64}, {y_itself, MOST_OF, KRF_U8}}},
    {"return sum(i32(x) * i32(y)~), min(x~)", KRF_I8, KRF_I8, KRF_U8, BOTH, DP4A, {{by_y, ADDED, KRF_I64}, {x_itself, LEAST, KRF_I8}}},
    {"return sum(x~), sum(y~)", KRF_I8, KRF_I8, KRF_U8, BOTH, DP4A, {{x_itself, ADDED, KRF_I64}, {y_itself, ADDED, KRF_I64}}},
    /* What is no sum of bytes as they are loaded, or of products that never wrap. */
    {"return count_nonzero(x~), any(x~), all(x~)", KRF_U8, KRF_U8, KRF_I8, NO_WORDS, NULL, {{is_set, ADDED, KRF_I64}, {is_set, SOME, KRF_BOOL}, {is_set, EVERY, KRF_BOOL}}},
    {"return prod(x~), sum(i32(x) * i32(x) * i32(x)~)", KRF_I8, KRF_I8, KRF_U8, NO_WORDS, NULL, {{x_itself, MULTIPLIED, KRF_I64}, {cubed, ADDED, KRF_I64}}},
    {"return sum(x~), prod(x~)", KRF_U8, KRF_U8, KRF_I8, NO_WORDS, NULL, {{x_itself, ADDED, KRF_U64}, {x_itself, MULTIPLIED, KRF_U64}}},
    {"return sum(u32(x) * u32(v)~), sum(u32(x)~)", KRF_I8, KRF_I8, KRF_U8, NO_WORDS, NULL, {{by_v_u32, ADDED, KRF_U64}, {as_u32, ADDED, KRF_U64}}},
    {"return sum(x * v~), max(x.astype(i8)~)", KRF_U8, KRF_U8, KRF_I8, NO_WORDS, NULL, {{by_v_u8, ADDED, KRF_U64}, {as_i8, MOST_OF, KRF_I8}}},
    {"return sum(x * x~), sum(x.astype(u8)~)", KRF_I8, KRF_I8, KRF_U8, NO_WORDS, NULL, {{squared_i8, ADDED, KRF_I64}, {as_u8, ADDED, KRF_U64}}},
};
enum { CASES = sizeof cases / sizeof *cases };

static int n_results(const byte_case *c) { return c->results[1].of == NULL ? 1 : c->results[2].of == NULL ? 2 : 3; }
static int64_t lowest(krf_dtype dtype) { return dtype == KRF_I8 ? -128 : 0; }
static int64_t highest(krf_dtype dtype) { return dtype == KRF_I8 ? 127 : dtype == KRF_U8 ? 255 : 1; }

/* Products wrap where 64 bits have no room. */
static int64_t folded(how by, int64_t a, int64_t b) {
    switch (by) {
    case LEAST: return b < a ? b : a;
    case MOST_OF:
    case ABOVE_100: return b > a ? b : a;
    case SOME: return a != 0 || b != 0;
    case EVERY: return a != 0 && b != 0;
    case MULTIPLIED: return (int64_t)((uint64_t)a * (uint64_t)b);
    default: return a + b;
    }
}

static int64_t fold_row(how by, const int64_t *row, int64_t n) {
    int64_t now = by == EVERY ? 1 : by == SOME || by == ADDED || by == AVERAGE || by == ROOT ? 0 : row[0];
    for (int64_t j = by == LEAST || by == MOST_OF || by == ABOVE_100 || by == MULTIPLIED; j < n; j++) {
        now = folded(by, now, row[j]);
    }
    return now;
}

static value result_of(how by, krf_dtype gives, const int64_t *row, int64_t n) {
    if (by == SPAN) {
        return whole_number(gives, fold_row(MOST_OF, row, n) - fold_row(LEAST, row, n));
    }
    const int64_t now = fold_row(by, row, n);
    if (by == AVERAGE || by == ROOT) {
        return (value){.dtype = gives, .f = by == AVERAGE ? (double)now / (double)n : nearest_float(sqrt(nearest_float((double)now)))};
    }
    return by == ABOVE_100 ? (value){.dtype = gives, .i = now > 100} : whole_number(gives, now);
}

/* ---- where rows lie ---- */

typedef enum layout { PLAIN, ROWS_ON, COLUMNS_ON, TWO_ROWS, TWO_COLUMNS, BACK, ROWS_BACK, WORDS_ON, THREE, LAST_TWO, LAST_TWO_ON, MIDDLE, LAYOUTS } layout;

static const struct {
    const char *view, *axes;
} views[LAYOUTS] = {
    [PLAIN] = {"", "1"}, [ROWS_ON] = {"[1:]", "1"}, [COLUMNS_ON] = {"[:, 1:]", "1"}, [TWO_ROWS] = {"[::2]", "1"}, [TWO_COLUMNS] = {"[:, ::2]", "1"}, [BACK] = {"[:, ::-1]", "1"}, [ROWS_BACK] = {"[::-1]", "1"},
    [WORDS_ON] = {"[:, 16:]", "1"}, [THREE] = {"", "2"}, [LAST_TWO] = {"", "(1, 2)"}, [LAST_TWO_ON] = {"[:, :, 16:]", "(1, 2)"}, [MIDDLE] = {"", "1"},
};

/* Memory has `offset` elements before the array; that which all rows share has as many of its own. */
typedef struct example {
    const byte_case *of;
    layout layout;
    int64_t rows, n, offset, shared_offset;
} example;

static int shape_of(const example *e, int64_t shape[3]) {
    const int64_t r = e->rows, n = e->n;
    const int64_t shapes[LAYOUTS][3] = {
        [PLAIN] = {r, n}, [ROWS_ON] = {r + 1, n}, [COLUMNS_ON] = {r, n + 1}, [TWO_ROWS] = {2 * r, n}, [TWO_COLUMNS] = {r, 2 * n}, [BACK] = {r, n}, [ROWS_BACK] = {r, n}, [WORDS_ON] = {r, n + 16},
        [THREE] = {3, r / 3, n}, [LAST_TWO] = {r, 2, n / 2}, [LAST_TWO_ON] = {r, 2, n / 2 + 16}, [MIDDLE] = {2, n, r / 2},
    };
    memcpy(shape, shapes[e->layout], sizeof shapes[0]);
    return e->layout < THREE ? 2 : 3;
}

/* The same of what all rows share. */
static int shared_shape_of(const example *e, int64_t shape[2]) {
    const bool two = e->layout == LAST_TWO || e->layout == LAST_TWO_ON;
    shape[0] = two ? 2 : e->n;
    shape[1] = two ? e->n / 2 : 1;
    return two || e->layout == MIDDLE ? 2 : 1;
}

static int64_t place_of(const example *e, int64_t i, int64_t j) {
    const int64_t n = e->n, half = n / 2, beside = e->rows / 2;
    switch (e->layout) {
    case ROWS_ON: return (i + 1) * n + j;
    case COLUMNS_ON: return i * (n + 1) + 1 + j;
    case TWO_ROWS: return 2 * i * n + j;
    case TWO_COLUMNS: return i * 2 * n + 2 * j;
    case BACK: return i * n + n - 1 - j;
    case ROWS_BACK: return (e->rows - 1 - i) * n + j;
    case WORDS_ON: return i * (n + 16) + 16 + j;
    case LAST_TWO_ON: return (2 * i + j / half) * (half + 16) + 16 + j % half;
    case MIDDLE: return (i / beside * n + j) * beside + i % beside;
    default: return i * n + j;
    }
}

/* Layouts of three dimensions have what these take. */
static void fit(example *e) {
    e->rows = e->layout == THREE ? (e->rows + 2) / 3 * 3 : e->layout == MIDDLE ? (e->rows + 1) / 2 * 2 : e->rows;
    e->n += (e->layout == LAST_TWO || e->layout == LAST_TWO_ON) && e->n % 2 != 0;
}

/* ---- elements ---- */

enum { X, Y, V, W, ARRAYS };

static char memory[ARRAYS][MOST + 2 * AROUND];
static int64_t of_row[LONGEST]; /* what is reduced */

static int64_t number(krf_dtype dtype, char byte) { return dtype == KRF_I8 ? (int64_t)(signed char)byte : (int64_t)(unsigned char)byte; }

/* Rows in turn have anything, all that is highest, all that is lowest, one that is high and one that is low, in each place. */
static int64_t drawn(krf_dtype dtype, int64_t i, int64_t j, int64_t n, uint64_t *seed) {
    const int64_t single = n - 1 - i / 5 % n, from = lowest(dtype), to = highest(dtype);
    switch (i % 5) {
    case 1: return to;
    case 2: return from;
    case 3: return j == single ? to : dtype == KRF_I8 ? -1 : from;
    case 4: return j == single ? from : to;
    default: return from + random_below(seed, to - from + 1);
    }
}

static void fill(const example *e, int64_t size) {
    uint64_t seed = (uint64_t)(e->n * 1000 + e->rows);
    const krf_dtype dtypes[ARRAYS] = {e->of->x, e->of->x, e->of->v, e->of->w};
    for (int a = 0; a < ARRAYS; a++) {
        const int64_t count = (a < V ? e->offset + size : e->shared_offset + e->n) + AROUND;
        for (int64_t k = 0; k < count; k++) {
            memory[a][k] = (char)((k + a) % 3 == 0 ? lowest(dtypes[a]) : highest(dtypes[a]));
        }
        for (int64_t i = 0; i < (a < V ? e->rows : 1); i++) {
            for (int64_t j = 0; j < e->n; j++) {
                const int64_t place = a < V ? e->offset + place_of(e, i, j) : e->shared_offset + j;
                memory[a][place] = (char)drawn(dtypes[a], a == Y ? i / 5 * 5 + (i * 3 + 1) % 5 : a < V ? i : 0, j, e->n, &seed);
            }
        }
    }
}

/* ---- the evaluation ---- */

static krf_array *make(krf_context *context, krf_dtype dtype, int a, int rank, const int64_t *shape, int64_t offset) {
    krf_array *base = NULL, *view = NULL;
    int64_t size = offset + AROUND, elements = 1;
    for (int d = 0; d < rank; d++) {
        elements *= shape[d];
    }
    size += elements;
    assert_ok(krf_array_from_host(context, dtype, 1, &size, memory[a], &base));
    assert_ok(krf_array_view(base, rank, shape, NULL, offset, &view));
    krf_array_release(base);
    return view;
}

static void write_text(const example *e, char *text, size_t bytes) {
    const char *view = views[e->layout].view;
    size_t at = 0;
    at += (size_t)snprintf(text, bytes, *view != '\0' ? "x = a%s\ny = b%s\n" : "x = a\ny = b\n", view, view);
    at += (size_t)snprintf(text + at, bytes - at, "%s", strncmp(e->of->text, "return ", 7) == 0 ? "" : "return ");
    for (const char *p = e->of->text; *p != '\0'; p++) {
        at += *p == '~' ? (size_t)snprintf(text + at, bytes - at, ", axis=%s", views[e->layout].axes) : (size_t)snprintf(text + at, bytes - at, "%c", *p);
    }
}

/* The room that a block has for its rows. */
static int64_t bytes_of_tile(krf_plan *plan) {
    krf_kernel_info info = {.size = sizeof info};
    assert_ok(krf_plan_kernel(plan, 0, &info));
    const char *at = strstr(info.source, "uint4 tile_in0[");
    return at != NULL ? 16 * strtoll(at + strlen("uint4 tile_in0["), NULL, 10) : 0;
}

/* How a GPU must go about rows that follow one another and begin with words; a plan has other kernels for arrays that do not, of which it tells nothing. The shortest rows are written out as maps. */
static void look(const run *r, const example *e, krf_plan *plan, const char *what) {
    char length[32];
    const bool bytes = e->of->loads != NO_WORDS;
    const int v = e->n % 16 == 0 ? 16 : e->n % 8 == 0 ? 8 : e->n % 4 == 0 ? 4 : 1;
    const bool parted = e->of->loads == ALONE && v == 1 && e->n > 32, words = bytes && (v > 1 || parted);
    const bool staged = v == 1 ? e->n > 1 : e->of->loads != BOTH && ((v == 4 && e->n > 16) || (v == 8 && e->n > 32 && bytes));
    if (has_text(plan, "krf_window<unsigned>(") != parted) {
        COMPLAIN("%s: words across two of shared memory should%s be taken", what, parted ? "" : " not");
    }
    if (has_text(plan, "int four[") != words || (words && !has_text(plan, e->of->words))) {
        COMPLAIN("%s: bytes should%s be folded by fours, with %s", what, words ? "" : " not", words ? e->of->words : "none");
    }
    if (bytes && (v > 1 || e->of->loads == ALONE) && has_text(plan, "uint4 tile_in") != staged) { /* others may have several rows of a thread instead */
        COMPLAIN("%s: rows should%s be staged", what, staged ? "" : " not");
    }
    snprintf(length, sizeof length, "const int n1 = %" PRId64 ";", e->n);
    if ((v > 1 || staged) && e->of->loads != NO_WORDS && has_text(plan, length) != (r == &known.run[0])) {
        COMPLAIN("%s: the length should%s stand in the text", what, r == &known.run[0] ? "" : " not");
    }
    if (r == &known.run[0] && staged && rows_of_block(plan) * e->n % 16 != 0) {
        COMPLAIN("%s: blocks of %" PRId64 " rows do not begin with words", what, rows_of_block(plan));
    }
    if (r == &known.run[0] && parted) { /* the last bytes of all are taken out of the two words around them; no sanitizer sees what lies behind a tile */
        const int64_t from = rows_of_block(plan) * e->n - e->n % 4, end = from / 4 * 4 + (from % 4 != 0 ? 8 : 4);
        if (bytes_of_tile(plan) < end) {
            COMPLAIN("%s: words of %" PRId64 " bytes are read in %" PRId64, what, end, bytes_of_tile(plan));
        }
    }
}

static void compare(const example *e, krf_array *const *got, const char *what) {
    static char found[MOST_ROWS * 8];
    const krf_dtype shared[2] = {e->of->v, e->of->w};
    for (int k = 0; k < n_results(e->of); k++) {
        const krf_dtype gives = e->of->results[k].gives;
        if (krf_array_dtype(got[k]) != gives || krf_array_size(got[k]) != e->rows) {
            fail_msg("%s: result %d is %" PRId64 " of %s", what, k, krf_array_size(got[k]), name_of(krf_array_dtype(got[k])));
        }
        read_back(got[k], found, (size_t)e->rows * bytes_of(gives));
        for (int64_t i = 0; i < e->rows; i++) {
            char a[64], b[64];
            for (int64_t j = 0; j < e->n; j++) {
                const int64_t place = e->offset + place_of(e, i, j);
                of_row[j] = e->of->results[k].of(number(e->of->x, memory[X][place]), number(e->of->x, memory[Y][place]), number(shared[0], memory[V][e->shared_offset + j]), number(shared[1], memory[W][e->shared_offset + j]));
            }
            const value wanted = result_of(e->of->results[k].how, gives, of_row, e->n), now = get(found, gives, i);
            if (!same(now, wanted)) {
                COMPLAIN("%s: result %d, row %" PRId64 " is %s, not %s", what, k, i, show(now, a, 64), show(wanted, b, 64));
                break;
            }
        }
    }
}

static void try_on(const run *r, const example *e, int rank, const int64_t *shape) {
    const bool text_has_length = r == &known.run[0];
    char text[400], what[500];
    int64_t shared[2];
    const int shared_rank = shared_shape_of(e, shared);
    krf_array *got[MOST_RESULTS] = {NULL};
    krf_array *const arrays[] = {make(r->context, e->of->x, X, rank, shape, e->offset), make(r->context, e->of->x, Y, rank, shape, e->offset), make(r->context, e->of->v, V, shared_rank, shared, e->shared_offset),
                                 make(r->context, e->of->w, W, shared_rank, shared, e->shared_offset)};
    const krf_binding bindings[] = {krf_bind_array("a", arrays[0]), krf_bind_array("b", arrays[1]), krf_bind_array("v", arrays[2]), krf_bind_array("w", arrays[3])};
    if (text_has_length) { /* a context has one for each kind of kernel: each example is the first */
        krf__lengths *l = &r->context->lengths;
        memset(l->kinds, 0, sizeof l->kinds);
    }
    write_text(e, text, sizeof text);
    krf_plan *plan = run_program(r, text, bindings, 4, n_results(e->of), got);
    snprintf(what, sizeof what, "%s%s, %s of %s, %" PRId64 " rows of %" PRId64 ", from %" PRId64 " and %" PRId64, r->label, text_has_length ? ", length known" : "", text, name_of(e->of->x), e->rows, e->n, e->offset, e->shared_offset);
    if (!collecting) {
        if (all.cuda && e->layout == PLAIN && e->rows > 1 && e->n > MOST_WRITTEN_OUT && e->offset == 0 && e->shared_offset == 0) {
            look(r, e, plan, what);
        }
        compare(e, got, what);
    }
    for (int k = 0; k < n_results(e->of); k++) {
        krf_array_release(got[k]);
    }
    for (int k = 0; k < ARRAYS; k++) {
        krf_array_release(arrays[k]);
    }
    krf_plan_release(plan);
}

static void try_example(const runs *where, example e, bool compiled) {
    int64_t shape[3], size = 1;
    fit(&e);
    const int rank = shape_of(&e, shape);
    for (int d = 0; d < rank; d++) {
        size *= shape[d];
    }
    assert_true(size + e.offset <= MOST && e.rows <= MOST_ROWS && e.n <= LONGEST);
    if (!collecting) {
        fill(&e, size);
    }
    for (int r = 0; r < where->n; r++) {
        if (!passed_over(&where->run[r]) && (compiled || !where->run[r].compiled)) {
            try_on(&where->run[r], &e, rank, shape);
        }
    }
}

/* ---- lengths ---- */

static int64_t lengths[LONGEST];
static int n_lengths;

static void list_lengths(void) {
    static const int64_t spans[][2] = {{1, 70}, {96, 104}, {126, 130}, {196, 204}, {247, 256}};
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++) {
        for (int64_t n = spans[s][0]; n <= spans[s][1]; n++) {
            lengths[n_lengths++] = n;
        }
    }
}

/* Blocks that are one too few or too many, and several; of the shortest rows these take thousands. */
static int64_t rows_for(int64_t n, int turn) {
    static const int64_t counts[] = {2, 1000, 31, 97, 33, 96, 1, 95};
    return counts[turn % 8] == 1000 && n <= 8 ? MOST_ROWS : counts[turn % 8];
}

static int64_t offset_for(int turn) { return (int64_t[]){0, 0, 1, 0, 2, 0, 3, 4, 0, 8, 0}[turn % 11]; }

static void test_lengths(void **unused) {
    (void)unused;
    for (int c = 0; c < CASES; c++) {
        for (int l = 0; l < n_lengths; l++) {
            const int turn = 5 * c + l + l / 8;
            if (lengths[l] <= MOST_WRITTEN_OUT && (c + l) % 5 != 0) { /* each is a map of its own */
                continue;
            }
            try_example(&all, (example){.of = &cases[c], .rows = rows_for(lengths[l], turn), .n = lengths[l], .offset = offset_for(c + l), .shared_offset = offset_for(2 * c + 3 * l)}, (c + l) % 29 == 0);
        }
    }
    assert_int_equal(failures, 0);
}

/* Each length is a kernel of its own; of several results, of one, and one of any case. */
static void test_known_lengths(void **unused) {
    (void)unused;
    for (int l = 0; l < n_lengths; l++) {
        const int several[] = {l % 6, 6 + (l + l / 7) % 7, 13 + l % (CASES - 13)};
        for (int k = 0; k < 3; k++) {
            if (k < 2 || l % 2 == 0) {
                try_example(&known, (example){.of = &cases[several[k]], .rows = rows_for(lengths[l], 3 * l + k), .n = lengths[l], .offset = l % 7 == 6 ? offset_for(l) : 0, .shared_offset = l % 5 == 4 ? 1 : 0}, false);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* All of a block's rows but some, and one more than it has, of rows whose blocks are rounded to whole words. */
static void test_numbers_of_rows(void **unused) {
    static const int64_t some[] = {33, 36, 40, 51, 100, 127, 129, 200, 250, 255};
    (void)unused;
    for (int l = 0; l < 10; l++) {
        for (int64_t rows = 2; rows <= 200; rows += rows < 8 ? 1 : rows % 16 == 15 || rows % 16 == 0 ? 1 : 15 - rows % 16) {
            try_example(&known, (example){.of = &cases[l % 3], .rows = rows, .n = some[l]}, false);
        }
    }
    assert_int_equal(failures, 0);
}

static void test_views(void **unused) {
    static const int64_t some[] = {5, 16, 24, 33, 36, 48, 64, 99, 100, 129, 250, 256};
    (void)unused;
    for (int c = 0; c < CASES; c++) {
        for (int v = 1; v < LAYOUTS; v++) {
            for (int l = (c + v) % 3; l < 12; l += 3) {
                try_example(&all, (example){.of = &cases[c], .layout = (layout)v, .rows = rows_for(100, c + l + v), .n = some[l], .offset = offset_for(c * v + l)}, c == 0 && v % 4 == 0 && l < 3);
            }
        }
        const layout some_views[] = {ROWS_ON, ROWS_BACK, THREE, LAST_TWO, WORDS_ON};
        try_example(&known, (example){.of = &cases[c], .layout = some_views[c % 5], .rows = 1000, .n = some[c % 12]}, false);
    }
    assert_int_equal(failures, 0);
}

/* Bools that kernels have made, each row in the place of one of them. */
static void test_comparisons(void **unused) {
    enum { N_ROWS = 100 };
    static const char *const texts[] = {"x > 100", "(x > 3) & (x < 200)", "x == 0"};
    static unsigned char x[N_ROWS * LONGEST];
    (void)unused;
    for (int64_t k = 0; k < N_ROWS * LONGEST; k++) {
        x[k] = (unsigned char)(k * 37 % 256 * (k % 5 != 0));
    }
    for (int r = 0; r < all.n + known.n; r++) {
        const run *now = r < all.n ? &all.run[r] : &known.run[0];
        for (int t = 0; t < 12 && !passed_over(now) && !(now->compiled && t > 2); t++) {
            const int64_t n = (int64_t[]){51, 36, 128, 200}[t / 3], shape[] = {N_ROWS, n};
            krf_array *a = NULL, *got[3] = {NULL};
            int64_t sums[N_ROWS];
            unsigned char some[N_ROWS], every[N_ROWS];
            assert_ok(krf_array_from_host(now->context, KRF_U8, 2, shape, x, &a));
            krf_array *m = evaluate_of(now, texts[t % 3], a);
            krf_plan_release(run_program(now, "return sum(m, axis=1), any(m, axis=1), all(m, axis=1)", (krf_binding[]){krf_bind_array("m", m)}, 1, 3, got));
            read_back(got[0], sums, sizeof sums);
            read_back(got[1], some, sizeof some);
            read_back(got[2], every, sizeof every);
            for (int64_t i = 0; i < N_ROWS && !collecting; i++) {
                int64_t sum = 0;
                for (int64_t j = 0; j < n; j++) {
                    const int b = x[i * n + j];
                    sum += t % 3 == 0 ? b > 100 : t % 3 == 1 ? b > 3 && b < 200 : b == 0;
                }
                if (sums[i] != sum || some[i] != (sum > 0) || every[i] != (sum == n)) {
                    COMPLAIN("%s of rows of %" PRId64 ", %s: row %" PRId64 " has %" PRId64 ", %d, %d, not %" PRId64, texts[t % 3], n, now->label, i, sums[i], some[i], every[i], sum);
                    break;
                }
            }
            for (int k = 0; k < 3; k++) {
                krf_array_release(got[k]);
            }
            krf_array_release(m);
            krf_array_release(a);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- texts, which no result shows ---- */

#define TILE "uint4 tile_in"
#define WINDOW "krf_window<unsigned>("
#define FOUR "int four["

static const struct looked_at {
    const char *text;
    krf_dtype x, y; /* [100000, n], rows `pitch` apart; s has one element a row, v one a column */
    int64_t n, pitch;
    const char *has[2], *lacks[2];
} looks[] = {
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 51, 51, {WINDOW, DP4A}, {NULL}},
    {"sum(x, axis=1)", KRF_BOOL, KRF_U8, 33, 33, {WINDOW, DP4A}, {NULL}},
    {"max(x, axis=1)", KRF_I8, KRF_U8, 255, 255, {WINDOW, "krf_take_bytes<krf_max_i8_tops>("}, {NULL}},
    {"any(x, axis=1)", KRF_BOOL, KRF_U8, 201, 201, {WINDOW, "krf_take_bools<krf_any_tops>("}, {NULL}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 31, 31, {TILE}, {WINDOW, FOUR}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 32, 32, {DP4A, "int four[4]"}, {TILE}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 256, 256, {DP4A, "int four[4]"}, {TILE}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 248, 248, {TILE, "int four[2]"}, {WINDOW}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 24, 24, {DP4A, "int four[2]"}, {TILE}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 20, 20, {TILE, "int four[1]"}, {WINDOW}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 12, 12, {DP4A, "int four[1]"}, {TILE}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 36, 44, {DP4A, "int four[1]"}, {TILE}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 48, 64, {DP4A, "int four[4]"}, {TILE}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 40, 48, {DP4A, "int four[2]"}, {TILE}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 36, 37, {NULL}, {TILE, FOUR}},
    {"sum(x, axis=1)", KRF_U8, KRF_U8, 51, 52, {NULL}, {TILE, WINDOW}},
    {"latest(x, axis=1)", KRF_U8, KRF_U8, 36, 36, {NULL}, {DP4A, FOUR}},
    {"latest(x, axis=1)", KRF_U8, KRF_U8, 51, 51, {NULL}, {WINDOW, FOUR}},
    {"sum(i32(x) * i32(x) * i32(x), axis=1)", KRF_I8, KRF_U8, 51, 51, {NULL}, {WINDOW, FOUR}},
    {"sum(i32(x) * i32(x) * i32(v), axis=1)", KRF_I8, KRF_U8, 36, 36, {NULL}, {DP4A, FOUR}},
    {"sum(i32(x) * i32(x), axis=1)", KRF_I8, KRF_U8, 51, 51, {WINDOW, DP4A}, {NULL}},
    {"sum(sqrt(f32(x)), axis=1)", KRF_U8, KRF_U8, 36, 36, {TILE}, {DP4A, FOUR}},
    {"sum(sqrt(f32(x)), axis=1)", KRF_U8, KRF_U8, 51, 51, {TILE}, {WINDOW, FOUR}},
    {"return sum(x, axis=1), sum(sqrt(f32(x)), axis=1)", KRF_U8, KRF_U8, 36, 36, {NULL}, {DP4A, FOUR}},
    {"return sum(x, axis=1), sum(sqrt(f32(x)), axis=1)", KRF_U8, KRF_U8, 51, 51, {NULL}, {WINDOW, FOUR}},
    {"sum(i32(x) * i32(s[:, None]), axis=1)", KRF_U8, KRF_U8, 36, 36, {NULL}, {DP4A, FOUR}},
    {"sum(i32(x) * i32(s[:, None]), axis=1)", KRF_U8, KRF_U8, 51, 51, {NULL}, {WINDOW, FOUR}},
    {"sum(i32(x) * i32(v), axis=1)", KRF_U8, KRF_U8, 36, 36, {TILE, DP4A}, {WINDOW}},
    {"sum(i32(x) * i32(v), axis=1)", KRF_U8, KRF_U8, 51, 51, {NULL}, {WINDOW, FOUR}},
    {"sum(i32(x) * i32(v), axis=1)", KRF_U8, KRF_I8, 48, 48, {MIXED_DOT}, {TILE}},
    {"sum(u32(x) * u32(v), axis=1)", KRF_I8, KRF_I8, 36, 36, {NULL}, {DP4A, FOUR}},
    {"sum(i32(x) * i32(y), axis=1)", KRF_U8, KRF_U8, 36, 36, {DP4A}, {TILE}},
    {"sum(i32(x) * i32(y), axis=1)", KRF_U8, KRF_U8, 51, 51, {NULL}, {WINDOW, FOUR}},
    {"return sum(x, axis=1), sum(y, axis=1)", KRF_U8, KRF_I8, 51, 51, {NULL}, {WINDOW, FOUR}},
    {"sum(x[:, ::-1], axis=1)", KRF_U8, KRF_U8, 36, 36, {NULL}, {TILE, FOUR}},
    {"sum(x > 3, axis=1)", KRF_U8, KRF_U8, 51, 51, {NULL}, {WINDOW}},
};

static void test_texts(void **unused) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    krf_reduction *latest = NULL;
    (void)unused;
    options.device = "cpu";
    assert_ok(krf_context_create(&options, &context));
    assert_ok(krf_reduction_define(context, "latest", "T x", "T v", "0", "v = x;", "v = b_v != 0 ? b_v : a_v;", NULL, NULL, &latest));
    for (size_t k = 0; k < sizeof looks / sizeof *looks; k++) {
        const struct looked_at *l = &looks[k];
        const int64_t shape[] = {100000, l->n}, strides[] = {l->pitch, 1};
        krf_graph *g = krf_graph_create(context);
        krf_expr results[MOST_RESULTS];
        char *source = NULL;
        size_t bytes = 0;
        int n = 0;
        const krf_binding bindings[] = {krf_bind_expr("x", krf_placeholder_strided(g, "x", l->x, 2, shape, strides)), krf_bind_expr("y", krf_placeholder(g, "y", l->y, 2, shape)), krf_bind_expr("v", krf_placeholder(g, "v", l->y, 1, shape + 1)),
                                        krf_bind_expr("s", krf_placeholder(g, "s", l->y, 1, shape))};
        if (krf_parse_many(g, l->text, bindings, 4, MOST_RESULTS, results, &n) != KRF_OK || krf_dump(g, n, results, KRF_DUMP_SOURCE, "cuda", NULL, &source, &bytes) != KRF_OK) {
            fail_msg("%s: %s", l->text, krf_error_message());
        }
        for (int i = 0; i < 2; i++) {
            if ((l->has[i] != NULL && strstr(source, l->has[i]) == NULL) || (l->lacks[i] != NULL && strstr(source, l->lacks[i]) != NULL)) {
                COMPLAIN("%s of %s, rows of %" PRId64 ", %" PRId64 " apart: the kernel should have %s, and not %s", l->text, name_of(l->x), l->n, l->pitch, l->has[i] != NULL ? l->has[i] : "anything", l->lacks[i] != NULL ? l->lacks[i] : "nothing");
            }
        }
        krf_free(source);
        krf_graph_destroy(g);
    }
    krf_reduction_release(latest);
    krf_context_destroy(context);
    assert_int_equal(failures, 0);
}

/* ---- the program ---- */

/* A GPU's again, for which arrays of any size are large enough. */
static void open_known(void) {
    krf_context_options options = krf_context_options_default();
    run *now = &known.run[0];
    if (!on_gpu()) {
        return;
    }
    options.device = asked_device();
    options.fusion = "literal_from=1";
    options.blocking_compile = true;
    options.cache = KRF_CACHE_OFF;
    now->context = open_or_skip(&options);
    now->noted = true;
    batch_install(now->context);
    snprintf(now->label, sizeof now->label, "cuda");
    known.n = 1;
}

int main(void) {
    list_lengths();
    open_noted_runs(&all, false);
    open_known();
    const int failed = run_part(TESTS(noted_test(test_lengths), noted_test(test_known_lengths), noted_test(test_numbers_of_rows), noted_test(test_views), noted_test(test_comparisons), cmocka_unit_test(test_texts)));
    close_runs(&all);
    close_runs(&known);
    return failed;
}
