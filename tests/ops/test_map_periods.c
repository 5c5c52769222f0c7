/* Maps by periods (plan/period.c): beside rows, columns and what counts, over rows that no whole vectors end with; every dtype and mixtures, several results, operands that lie anywhere, results between guards, every place where the
 * last vector may be cut, threads of one period and of up to sixteen; against a formula an element over whole numbers. The limit "recur=0" sends small arrays that way too. KRF_TEST_DEVICE. */
#include "ops/common.h"

#include <ctype.h>

enum { RANK = 4, RESULTS = 3, GUARD = 0xa5, AROUND = 64, DEEPER = 16, WIDER = 3 };

static runs all, fast, whole; /* with that limit, of which NVRTC's options keep the fast kernels out of batches; and without */
static int by_periods, on_gpus;

/* ---- programs: T is the dtype of what lies as the domain does, U of the others, and R, C, P, Q are the extents of the domain from rows and columns on outwards ---- */

typedef struct place {
    int64_t i, c, r, p, q, C, R; /* in C order, and along each axis; extents */
    bool bits[2];                /* whether T, and U, is bool */
} place;

/* An array: its dtype, its axes of the domain, how many times as long the last is, how many elements more the first and the last have, and how many numbers there are (0: as many as columns, and some beyond both ends). */
typedef struct source {
    const char *name, *dtype, *axes;
    int times, deeper, wider, numbers;
} source;

static const source sources[] = {
    {"a", "T", "qprc", 1, 0, 0, 13}, {"b", "T", "qprc", 1, 0, 0, 5}, {"d", "T", "rc", 1, DEEPER, 0, 13}, {"w", "T", "rc", 1, 0, WIDER, 13}, {"t", "T", "cr", 1, 0, 0, 13}, {"m", "bool", "qprc", 1, 0, 0, 2},
    {"x", "U", "r", 1, 0, 0, 11},    {"u", "U", "r", 1, 0, 0, 7},    {"s", "U", "r", 2, 0, 0, 11},       {"y", "U", "c", 1, 0, 0, 17},      {"z", "U", "c", 1, 0, 0, 7},   {"v", "U", "c", 2, 0, 0, 17},
    {"p", "U", "p", 1, 0, 0, 9},     {"q", "U", "q", 1, 0, 0, 5},    {"e", "U", "pr", 1, 0, 0, 11},      {"f", "U", "pc", 1, 0, 0, 11},     {"g", "U", "", 1, 0, 0, 7},    {"l", "i64", "r", 1, 0, 0, 0},
    {"n", "i32", "r", 1, 0, 0, 0},
};
enum { SOURCES = sizeof sources / sizeof *sources };

static int64_t number(const place *e, char name, int64_t i) {
    const source *s = sources;
    while (*s->name != name) {
        s++;
    }
    const uint64_t mixed = (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)name << 40, random = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 33;
    const bool bit = *s->dtype == 'T' ? e->bits[0] : *s->dtype == 'U' && e->bits[1];
    return s->numbers == 0 ? (int64_t)(random % (uint64_t)(e->C + 3)) - 1 : (int64_t)(random % (bit ? 2 : (uint64_t)s->numbers));
}

#define OF(name, at) number(e, name, at)
#define FULL(name) OF(name, e->i)
#define ROW(name) OF(name, e->r)
#define COLUMN(name) OF(name, e->c)
#define NUMBERS "u8 f32 bf16 i8 f16 f64 i16 i32 i64 u16 u32 u64"

/* A name, the text, dtypes as T or T:U, those of the results, the rank, and element e of result k. */
#define PROGRAMS(P) \
    P(SUM, "x[:, None] + y[None, :]", NUMBERS, "U", 2, ROW('x') + COLUMN('y')) \
    P(PRODUCT, "x[:, None] * y[None, :]", "f32 u8 f64 bf16", "U", 2, ROW('x') * COLUMN('y')) \
    P(DIFFERENCE, "x[:, None] - y[None, :]", "i32 u8 f16 f64", "U", 2, ROW('x') - COLUMN('y')) \
    P(DIFFERENCE_BACK, "y[None, :] - x[:, None]", "f32 i8 bf16 u64", "U", 2, COLUMN('y') - ROW('x')) \
    P(LESS, "x[:, None] < y[None, :]", NUMBERS, "bool", 2, ROW('x') < COLUMN('y')) \
    P(BETWEEN, "(x[:, None] <= y[None, :]) & (y[None, :] < u[:, None])", "f32 u8 i64 f16", "bool", 2, ROW('x') <= COLUMN('y') && COLUMN('y') < ROW('u')) \
    P(TWO_COLUMNS, "(x[:, None] < y[None, :]) & (z[None, :] != x[:, None])", "i64 f64 f32 u8 bf16", "bool", 2, ROW('x') < COLUMN('y') && COLUMN('z') != ROW('x')) \
    P(CHOSEN, "where(x[:, None] < y[None, :], x[:, None], z[None, :])", "u8 f32 bf16 i64", "U", 2, ROW('x') < COLUMN('y') ? ROW('x') : COLUMN('z')) \
    P(BITS, "x[:, None] & y[None, :]", "bool u8 i16", "U", 2, ROW('x') & COLUMN('y')) \
    P(STEPS, "s[::2][:, None] + y[::-1][None, :]", "u8 bf16 f32 f64", "U", 2, OF('s', 2 * e->r) + OF('y', e->C - 1 - e->c)) \
    P(STEPS_BACK, "s[::-2][:, None] * v[None, ::2]", "f32 i16 u8", "U", 2, OF('s', 2 * (e->R - 1 - e->r) + 1) * OF('v', 2 * e->c)) \
    P(WIDE_PRODUCT, "f64(x[:, None]) * f64(y[None, :])", "u8 f32 i64", "f64", 2, ROW('x') * COLUMN('y')) \
    P(NARROW_PRODUCT, "i8(x[:, None] * y[None, :])", "i64 i16 f64:u8", "i8", 2, ROW('x') * COLUMN('y')) \
    P(ADD_COLUMN, "a + y[None, :]", NUMBERS, "T", 2, FULL('a') + COLUMN('y')) \
    P(LINE, "a * y[None, :] + z[None, :]", "u8 f16 f32 bf16 i16", "T", 2, FULL('a') * COLUMN('y') + COLUMN('z')) \
    P(LESS_COLUMN, "a < y[None, :]", NUMBERS, "bool", 2, FULL('a') < COLUMN('y')) \
    P(CLAMPED, "where(a < x[:, None], a, y[None, :])", "u8 bf16 f32 f64 i16", "T", 2, FULL('a') < ROW('x') ? FULL('a') : COLUMN('y')) \
    P(MASKED, "where(m, a, x[:, None])", "u8 f32 f16 f64 i64 bool", "T", 2, FULL('m') ? FULL('a') : ROW('x')) \
    P(MASK_AND, "m & y[None, :]", "bool", "bool", 2, FULL('m') & COLUMN('y')) \
    P(TURNED_BITS, "a ^ x[:, None]", "bool u8 i32", "T", 2, FULL('a') ^ ROW('x')) \
    P(SCALED, "a * x[:, None]", NUMBERS, "T", 2, FULL('a') * ROW('x')) \
    P(TWO_LOADS, "a * x[:, None] + b * y[None, :]", "f32 u8 bf16 f64", "T", 2, FULL('a') * ROW('x') + FULL('b') * COLUMN('y')) \
    P(BESIDE_ONE, "a + y[None, :] + g", "f16 i8 f32", "T", 2, FULL('a') + COLUMN('y') + OF('g', 0)) \
    P(SCALED_F32, "f32(a) * x[:, None]", "u8:f32 bf16:f32 i64:f32", "f32", 2, FULL('a') * ROW('x')) \
    P(SCALED_I8, "i8(a * x[:, None])", "f32 f64 i16", "i8", 2, FULL('a') * ROW('x')) \
    P(SUM_BF16, "bf16(a) + bf16(y[None, :])", "i8:bf16 f32:u8 u8:i64 f64", "bf16", 2, FULL('a') + COLUMN('y')) \
    P(SUM_F64, "f64(a) + f64(x[:, None])", "u8:f64 f16 f32:i8", "f64", 2, FULL('a') + ROW('x')) \
    P(SUM_F16, "f16(a) + y[None, :]", "u8:f16 i32:f16", "f16", 2, FULL('a') + COLUMN('y')) \
    P(LESS_F32, "f32(a) < f32(y[None, :])", "u8:f32 f16:f64 f32:i8", "bool", 2, FULL('a') < COLUMN('y')) \
    P(TWO_RESULTS, "return a + y[None, :], a < y[None, :]", "u8 f32 bf16 f64", "T bool", 2, k == 0 ? FULL('a') + COLUMN('y') : FULL('a') < COLUMN('y')) \
    P(OUTER_RESULTS, "return x[:, None] < y[None, :], x[:, None] * y[None, :], i16(x[:, None] + y[None, :])", "f32 u8 f64", "bool U i16", 2, \
      k == 0 ? ROW('x') < COLUMN('y') : k == 1 ? ROW('x') * COLUMN('y') : ROW('x') + COLUMN('y')) \
    P(THREE_RESULTS, "return a * x[:, None], f32(a), a == y[None, :]", "u8 f16 f32 i64", "T f32 bool", 2, k == 0 ? FULL('a') * ROW('x') : k == 1 ? FULL('a') : FULL('a') == COLUMN('y')) \
    P(LENGTHS, "arange(C)[None, :] < l[:, None]", "u8", "bool", 2, e->c < ROW('l')) \
    P(NARROW_LENGTHS, "i32(arange(C))[None, :] < n[:, None]", "u8", "bool", 2, e->c < ROW('n')) \
    P(LOWER, "arange(R)[:, None] >= arange(C)[None, :]", "u8", "bool", 2, e->r >= e->c) \
    P(PLACES, "arange(R)[:, None] * C + arange(C)[None, :]", "u8", "i64", 2, e->i) \
    P(PLACES_F64, "f64(arange(R)[:, None] * C + arange(C)[None, :])", "u8", "f64", 2, e->i) \
    P(PLACES_I32, "i32(arange(R)[:, None] * C + arange(C)[None, :])", "u8", "i32", 2, e->i) \
    P(FROM_BEHIND, "arange(C)[::-1][None, :] < l[:, None]", "u8", "bool", 2, e->C - 1 - e->c < ROW('l')) \
    P(COUNTING_STEPS, "arange(R)[::-1][:, None] * 5 > arange(C)[None, :] * 3 - 7", "u8", "bool", 2, 5 * (e->R - 1 - e->r) > 3 * e->c - 7) \
    P(CAUSAL, "where(arange(C)[None, :] < l[:, None], a, T(0))", "u8 f32 bf16 f64", "T", 2, e->c < ROW('l') ? FULL('a') : 0) \
    P(REMAINDERS, "a + T(arange(C) % 5)[None, :]", "u8 f32 f16", "T", 2, FULL('a') + e->c % 5) \
    P(TWO_REMAINDERS, "T(arange(R) % 7)[:, None] + T(arange(C) % 5)[None, :]", "u8 f32 bf16", "T", 2, e->r % 7 + e->c % 5) \
    P(DIAGONAL, "where(arange(R)[:, None] == arange(C)[None, :], a, y[None, :])", "u8 f32 i16", "T", 2, e->r == e->c ? FULL('a') : COLUMN('y')) \
    P(CHANNELS, "a * x[None, :, None] + u[None, :, None]", "f32 u8 f16 i8", "T", 3, FULL('a') * ROW('x') + ROW('u')) \
    P(PLANES, "a + p[:, None, None] + y[None, None, :] + g", "u8 bf16 f32", "T", 3, FULL('a') + OF('p', e->p) + COLUMN('y') + OF('g', 0)) \
    P(PLANES_ALONE, "x[None, :, None] * y[None, None, :] + p[:, None, None]", "f32 u8 i64", "U", 3, ROW('x') * COLUMN('y') + OF('p', e->p)) \
    P(OWN_ROWS, "a + e[:, :, None] + y[None, None, :]", "f32 i16 u8", "T", 3, FULL('a') + OF('e', e->p * e->R + e->r) + COLUMN('y')) \
    P(OWN_COLUMNS, "a + f[:, None, :]", "u8 f32", "T", 3, FULL('a') + OF('f', e->p * e->C + e->c)) \
    P(OWN_COLUMNS_ALONE, "f[:, None, :] < x[None, :, None]", "f32 u8", "bool", 3, OF('f', e->p * e->C + e->c) < ROW('x')) \
    P(THREE_PLACES, "arange(P)[:, None, None] + arange(R)[None, :, None] * 2 < arange(C)[None, None, :]", "u8", "bool", 3, e->p + 2 * e->r < e->c) \
    P(THIRD_AXIS, "a * p[None, :, None, None] + y[None, None, None, :] + q[:, None, None, None]", "f32 u8 bf16", "T", 4, FULL('a') * OF('p', e->p) + COLUMN('y') + OF('q', e->q)) \
    P(FOUR_AXES, "p[None, :, None, None] + x[None, None, :, None] < y[None, None, None, :] + q[:, None, None, None]", "f32 u8", "bool", 4, OF('p', e->p) + ROW('x') < COLUMN('y') + OF('q', e->q)) \
    P(SECOND_ROW, "d[1:-15] + y[None, :]", "u8 f32 bf16 f64", "T", 2, OF('d', e->i + e->C) + COLUMN('y')) \
    P(VECTORS_ON, "d[16:] - d[:-16] + y[None, :]", "f16 u8 i16 f32", "T", 2, OF('d', e->i + DEEPER * e->C) - OF('d', e->i) + COLUMN('y')) \
    P(UPWARDS, "d[:15:-1] + y[None, :]", "u8 f32", "T", 2, OF('d', (e->R + DEEPER - 1 - e->r) * e->C + e->c) + COLUMN('y')) \
    P(CROPPED, "w[:, :-3] + y[None, :]", "u8 f32", "T", 2, OF('w', e->r *(e->C + WIDER) + e->c) + COLUMN('y')) \
    P(CROPPED_FIRST, "w[:, 3:] * x[:, None]", "f16 f32", "T", 2, OF('w', e->r *(e->C + WIDER) + e->c + WIDER) * ROW('x')) \
    P(TURNED, "t.T + y[None, :]", "u8 f32", "T", 2, OF('t', e->c *e->R + e->r) + COLUMN('y')) \
    P(OWN_FIRST_ROW, "a + a[0]", "u8 f32 bf16", "T", 2, FULL('a') + OF('a', e->c)) \
    P(OWN_LAST_ROW, "a + a[-1]", "u8 f32 bf16", "T", 2, FULL('a') + OF('a', (e->R - 1) * e->C + e->c)) \
    P(OWN_FIRST_COLUMN, "a * a[:, :1]", "u8 f32 bf16", "T", 2, FULL('a') * OF('a', e->r *e->C)) \
    P(OWN_EDGES, "a[0:1, :] - a[:, -1:]", "i8 f32 bf16", "T", 2, OF('a', e->c) - OF('a', e->r *e->C + e->C - 1))

#define FUNCTION(name, text, dtypes, gives, rank, ...) static int64_t element_of_##name(const place *e, int k) { return (void)e, (void)k, __VA_ARGS__; }
PROGRAMS(FUNCTION)
#define NAME(name, ...) name,
enum { PROGRAMS(NAME) N_PROGRAMS };

typedef struct program {
    const char *text, *dtypes, *gives;
    int rank;
    int64_t (*element)(const place *e, int k);
} program;

#define ENTRY(name, text, dtypes, gives, rank, ...) {text, dtypes, gives, rank, element_of_##name},
static const program programs[] = {PROGRAMS(ENTRY)};

/* ---- arrays ---- */

typedef struct made {
    krf_dtype dtype;
    int rank;
    int64_t shape[RANK], strides[RANK], size, gap; /* between rows */
    void *data;                                    /* NULL: the program does not name it */
} made;

/* Where users have the arrays that lie as the domain does, and where they want the results: so many elements after a line of memory, and rows so far apart; or allocated, or in place of `a`. */
typedef struct lay {
    int64_t before, room, gap;
} lay;
enum { ALLOCATED = -1, IN_PLACE = -2 };

static bool names(const char *text, const char *name) {
    bool found = false;
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        found |= (at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[1]);
    }
    return found;
}

static krf_dtype dtype_of(const char *text, krf_dtype T, krf_dtype U) {
    const size_t n = strcspn(text, " :");
    for (int d = 0; d < ALL_DTYPES; d++) {
        if (strlen(name_of((krf_dtype)d)) == n && strncmp(text, name_of((krf_dtype)d), n) == 0) {
            return (krf_dtype)d;
        }
    }
    return *text == 'T' ? T : U;
}

/* The dtypes of T and U that are the k-th in a list; false behind the last. */
static bool dtypes_of(const char *list, int k, krf_dtype *T, krf_dtype *U) {
    for (; k > 0 && *list != 0; k--) {
        list += strcspn(list, " ");
        list += *list == ' ';
    }
    const char *second = list + strcspn(list, " :");
    *T = dtype_of(list, KRF_BOOL, KRF_BOOL);
    *U = *second == ':' ? dtype_of(second + 1, KRF_BOOL, KRF_BOOL) : *T;
    return *list != 0;
}

static place place_of(const int64_t *shape, krf_dtype T, krf_dtype U, int64_t i) {
    const int64_t r = i / shape[3], p = r / shape[2];
    return (place){.i = i, .c = i % shape[3], .r = r % shape[2], .p = p % shape[1], .q = p / shape[1], .C = shape[3], .R = shape[2], .bits = {T == KRF_BOOL, U == KRF_BOOL}};
}

static void set_strides(made *m) {
    m->size = 1;
    for (int d = m->rank - 1; d >= 0; d--) {
        m->strides[d] = m->size + (d == m->rank - 2 ? m->gap : 0);
        m->size = m->strides[d] * m->shape[d];
    }
}

static made make(const program *p, const source *s, krf_dtype T, krf_dtype U, const int64_t *shape) {
    const place e = place_of(shape, T, U, 0);
    made m = {.dtype = dtype_of(s->dtype, T, U)};
    for (const char *axis = s->axes; *axis != 0; axis++) {
        const int d = (int)(strchr("qprc", *axis) - "qprc");
        if (d >= RANK - p->rank) {
            m.shape[m.rank++] = shape[d] * (axis[1] == 0 ? s->times : 1) + (axis == s->axes ? s->deeper : 0) + (axis[1] == 0 ? s->wider : 0);
        }
    }
    set_strides(&m);
    m.data = malloc((size_t)m.size * bytes_of(m.dtype));
    assert_non_null(m.data);
    for (int64_t i = 0; i < m.size && !collecting; i++) {
        put(m.data, i, whole_number(m.dtype, number(&e, *s->name, i)));
    }
    return m;
}

/* An array `before` elements behind the begin of memory, with guards around it or nothing behind it. Guards are no bools, so that memory is of bytes, and wrapped. */
static krf_array *array_of(krf_context *context, const made *m, int64_t before, bool guarded, krf_array **memory) {
    const int64_t bytes = (int64_t)bytes_of(m->dtype), count = (before + m->size + (guarded ? AROUND : 0)) * bytes;
    char *data = malloc((size_t)count);
    krf_array *array = NULL;
    assert_non_null(data);
    memset(data, GUARD, (size_t)count);
    if (m->data != NULL) {
        memcpy(data + before * bytes, m->data, (size_t)(m->size * bytes));
    }
    if (krf_array_from_host(context, KRF_U8, 1, &count, data, memory) != KRF_OK || krf_array_wrap(context, m->dtype, m->rank, m->shape, m->strides, (char *)krf_array_data(*memory) + before * bytes, NULL, NULL, &array) != KRF_OK) {
        fail_msg("array: %s", krf_error_message());
    }
    free(data);
    return array;
}

/* ---- evaluation ---- */

static void write_program(const program *p, krf_dtype T, krf_dtype U, const int64_t *shape, char *text) {
    for (const char *from = p->text; *from != 0; from++) {
        const char *axis = strchr("QPRC", *from);
        if (axis != NULL) {
            text += sprintf(text, "%" PRId64, shape[axis - "QPRC"]);
        } else if (*from == 'U' || (*from == 'T' && (from == p->text || from[-1] != '.'))) {
            text += sprintf(text, "%s", name_of(*from == 'T' ? T : U));
        } else {
            *text++ = *from;
        }
    }
    *text = 0;
}

/* All of a result, in memory in which nothing else may be written. */
static void look_at(const program *p, krf_dtype T, krf_dtype U, const int64_t *shape, int k, const made *m, int64_t before, krf_array *memory, const char *what) {
    const size_t bytes = bytes_of(m->dtype), count = (size_t)krf_array_size(memory) * krf_dtype_size(krf_array_dtype(memory));
    const int64_t C = shape[3], size = C * shape[2] * shape[1] * shape[0];
    unsigned char *data = malloc(count);
    bool right = true;
    assert_non_null(data);
    read_back(memory, data, count);
    for (int64_t i = 0; i < size && right; i++) {
        const place e = place_of(shape, T, U, i);
        const int64_t at = before + i / C * (C + m->gap) + i % C;
        const value want = whole_number(m->dtype, p->element(&e, k)), found = get(data, m->dtype, at);
        char x[64], y[64];
        right = same(found, want);
        if (!right) {
            COMPLAIN("%s: element %" PRId64 " of %" PRId64 " of result %d is %s, not %s", what, i, size, k, show(found, x, sizeof x), show(want, y, sizeof y));
        }
        memset(data + (size_t)at * bytes, GUARD, bytes);
    }
    for (size_t i = 0; i < count && right; i++) {
        right = data[i] == GUARD;
        if (!right) {
            COMPLAIN("%s: result %d: byte %zu of %zu is written, which begins at %zu", what, k, i, count, (size_t)before * bytes);
        }
    }
    free(data);
}

/* One run, that should go by periods or not (-1: either). */
static void check_run(const run *now, const program *p, krf_dtype T, krf_dtype U, const int64_t *shape, lay where, const made *from, int expected) {
    char text[400], what[600];
    krf_array *arrays[SOURCES] = {NULL}, *memories[SOURCES] = {NULL}, *got[RESULTS] = {NULL}, *memory[RESULTS] = {NULL};
    krf_binding bindings[SOURCES];
    krf_expr results[RESULTS];
    krf_plan *plan = NULL;
    krf_graph *g = krf_graph_create(now->context);
    made result[RESULTS];
    int n = 0, bound = 0;
    write_program(p, T, U, shape, text);
    snprintf(what, sizeof what, "%s: %s of %s and %s [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "], from %" PRId64 ", results %" PRId64 ", gap %" PRId64, now->label, text, name_of(T), name_of(U), shape[0], shape[1], shape[2],
             shape[3], where.before, where.room, where.gap);
    for (int k = 0; k < SOURCES; k++) {
        if (from[k].data != NULL) {
            arrays[k] = array_of(now->context, &from[k], strchr("abdmw", *sources[k].name) != NULL ? where.before : 0, where.room == IN_PLACE && k == 0, &memories[k]);
            bindings[bound++] = krf_bind_array(sources[k].name, arrays[k]);
        }
    }
    if (krf_parse_many(g, text, bindings, bound, RESULTS, results, &n) != KRF_OK || krf_compile(g, n, results, NULL, &plan) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    const char *gives = p->gives;
    for (int k = 0; k < n; k++, gives += strcspn(gives, " "), gives += *gives == ' ') {
        result[k] = (made){.dtype = dtype_of(gives, T, U), .rank = p->rank, .gap = where.gap};
        memcpy(result[k].shape, shape + RANK - p->rank, (size_t)p->rank * sizeof *shape);
        set_strides(&result[k]);
        got[k] = where.room >= 0 ? array_of(now->context, &result[k], where.room, true, &memory[k]) : where.room == IN_PLACE && k == 0 ? arrays[0] : NULL;
    }
    if ((where.gap == 0 ? krf_plan_run(plan, NULL, 0, NULL, got) : krf_eval_many(n, results, got)) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    if (strncmp(now->label, "cuda", 4) == 0 && !collecting) {
        const bool found = has_text(plan, "a.period");
        by_periods += found;
        on_gpus++;
        if (expected >= 0 && (found != (expected != 0) || krf_plan_kernels(plan) != 1)) {
            COMPLAIN("%s: %d kernels, which should%s go by periods", what, krf_plan_kernels(plan), expected != 0 ? "" : " not");
        }
    }
    for (int k = 0; k < n; k++) {
        const bool in_place = where.room == IN_PLACE && k == 0;
        if (!collecting) {
            assert_true(krf_array_dtype(got[k]) == result[k].dtype && krf_array_size(got[k]) == shape[0] * shape[1] * shape[2] * shape[3]);
            look_at(p, T, U, shape, k, &result[k], where.room >= 0 ? where.room : in_place ? where.before : 0, where.room >= 0 ? memory[k] : in_place ? memories[0] : got[k], what);
        }
        krf_array_release(in_place ? NULL : got[k]);
        krf_array_release(memory[k]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    for (int k = 0; k < SOURCES; k++) {
        krf_array_release(arrays[k]);
        krf_array_release(memories[k]);
    }
}

static void check(const runs *r, int which, krf_dtype T, krf_dtype U, const int64_t *shape, lay where, int expected) {
    const program *p = &programs[which];
    made from[SOURCES] = {{0}};
    for (int k = 0; k < SOURCES; k++) {
        if (names(p->text, sources[k].name)) {
            from[k] = make(p, &sources[k], T, U, shape);
        }
    }
    for (int k = 0; k < r->n; k++) {
        if (!passed_over(&r->run[k])) {
            check_run(&r->run[k], p, T, U, shape, where, from, expected);
        }
    }
    for (int k = 0; k < SOURCES; k++) {
        free(from[k].data);
    }
}

static void none_failed(void) {
    const int n = failures;
    failures = 0;
    assert_int_equal(n, 0);
}

/* ---- tests ---- */

static const lay plain = {0, ALLOCATED, 0};
static const int64_t columns[] = {16, 17, 18, 20, 24, 31, 33, 40, 100, 101, 255, 257, 1001, 7, 9, 10, 12, 13, 14}, heights[] = {3, 8, 16, 33, 35, 37, 40, 47, 50, 64, 71, 102, 129, 301};
enum { COLUMNS = sizeof columns / sizeof *columns, HEIGHTS = sizeof heights / sizeof *heights };

static void test_programs(void **unused) {
    krf_dtype T, U;
    int turn = 0;
    (void)unused;
    for (int k = 0; k < N_PROGRAMS; k++) {
        for (int t = 0; dtypes_of(programs[k].dtypes, t, &T, &U); t++) {
            const bool ours = in_shard(turn++);
            for (int c = 0; c < COLUMNS && ours; c++) {
                const int64_t height = heights[(5 * c + k + 3 * t) % HEIGHTS], planes = programs[k].rank == 2 ? 1 : 2 + (c + t) % 3;
                const int64_t shape[RANK] = {programs[k].rank == 4 ? 2 + c % 2 : 1, planes, planes > 1 && height > 40 ? height / 4 : height, columns[c]};
                check(&all, k, T, U, shape, plain, -1);
                if (is_real(T) && bytes_of(T) < 8 && k % 5 == 0) {
                    check(&fast, k, T, U, shape, plain, -1);
                }
            }
        }
    }
    none_failed();
}

/* Every place where the last vector may end, and rows about as short as vectors, or of columns alone shorter; between guards. */
static void test_ends(void **unused) {
    static const struct {
        int which;
        krf_dtype T, U;
    } some[] = {{SUM, KRF_U8, KRF_U8},         {LESS, KRF_F32, KRF_F32}, {ADD_COLUMN, KRF_BF16, KRF_BF16}, {MASKED, KRF_U8, KRF_U8},       {SCALED, KRF_F32, KRF_F32},     {SCALED_F32, KRF_U8, KRF_F32},
                {LESS_COLUMN, KRF_F32, KRF_F32}, {LOWER, KRF_U8, KRF_U8},  {DIFFERENCE, KRF_F64, KRF_F64},   {TWO_RESULTS, KRF_F32, KRF_F32}, {CAUSAL, KRF_BF16, KRF_BF16},
                {ADD_COLUMN, KRF_U8, KRF_U8},    {LINE, KRF_I16, KRF_I16}, {REMAINDERS, KRF_U8, KRF_U8}};
    (void)unused;
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) {
        for (int64_t c = 2; c < 52 && in_shard(k); c += c < 20 ? 1 : 3) {
            for (int64_t r = 32; r < 48; r++) {
                check(&all, some[k].which, some[k].T, some[k].U, (int64_t[]){1, 1, r, c}, (lay){0, (c + r) % 4 == 0 ? ALLOCATED : (c + r) % 4 == 1 ? 16 : 0, 0}, -1);
            }
        }
    }
    none_failed();
}

/* Where operands and results lie, and results that take the place of an operand, of which rows or columns may be others. */
static void test_lays(void **unused) {
    static const int some[] = {SUM, ADD_COLUMN, CLAMPED, TWO_LOADS, LINE, CAUSAL, LESS_COLUMN}, own[] = {ADD_COLUMN, CLAMPED, TWO_LOADS, TWO_RESULTS, OWN_FIRST_ROW, OWN_LAST_ROW, OWN_FIRST_COLUMN, OWN_EDGES};
    static const lay lays[] = {{16, 16, 0}, {3, ALLOCATED, 0}, {0, 1, 0}, {0, 8, 0}, {8, 4, 0}, {4, 0, 0}, {2, 2, 0}, {64, 12, 0}, {0, 0, 3}, {0, 0, 8}, {16, 1, 1}};
    static const krf_dtype dtypes[] = {KRF_U8, KRF_F32, KRF_BF16, KRF_F64};
    (void)unused;
    for (int d = 0; d < 4; d++) {
        for (int l = 0; l < (int)(sizeof lays / sizeof *lays); l++) {
            for (int k = 0; k < (int)(sizeof some / sizeof *some) && in_shard(d); k++) {
                check(&all, some[k], dtypes[d], dtypes[d], (int64_t[]){1, 1, heights[(3 * k + l + d) % HEIGHTS], columns[(5 * k + 3 * l + d) % COLUMNS]}, lays[l], -1);
            }
        }
        for (int k = 0; k < (int)(sizeof own / sizeof *own) && in_shard(d); k++) {
            for (int c = 0; c < COLUMNS; c++) {
                check(&all, own[k], dtypes[d], dtypes[d], (int64_t[]){1, 1, heights[(3 * k + c + d) % HEIGHTS], columns[c]}, (lay){(c + k) % 3 == 0 ? 5 : (c + k) % 3 == 1 ? 16 : 0, IN_PLACE, 0}, -1);
            }
        }
    }
    none_failed();
}

/* What goes by periods on a GPU, and what does not: of 8 bytes an element with loads, of rows that end with a vector or, beside what rows have, are shorter than half a longest one, of operands that lie otherwise. Arrays that begin elsewhere have another kernel, which
 * a plan does not show: the doubles see vectors that lie so. */
static void test_kernels(void **unused) {
    static const struct {
        int which;
        krf_dtype T, U;
        int64_t columns, before;
        bool expected;
    } some[] = {
        {SUM, KRF_U8, KRF_U8, 101, 0, true},      {SUM, KRF_F32, KRF_F32, 101, 0, true},   {SUM, KRF_F64, KRF_F64, 101, 0, true},        {LESS, KRF_F32, KRF_F32, 255, 0, true},    {ADD_COLUMN, KRF_U8, KRF_U8, 100, 0, true},
        {SCALED, KRF_F32, KRF_F32, 101, 0, true}, {SCALED_F32, KRF_U8, KRF_F32, 33, 0, true}, {MASKED, KRF_U8, KRF_U8, 24, 0, true},     {LOWER, KRF_U8, KRF_U8, 18, 0, true},      {ADD_COLUMN, KRF_BF16, KRF_BF16, 20, 16, true},
        {SUM, KRF_U8, KRF_U8, 17, 0, true},       {VECTORS_ON, KRF_U8, KRF_U8, 33, 0, true},  {ADD_COLUMN, KRF_F64, KRF_F64, 101, 0, false}, {SCALED, KRF_I64, KRF_I64, 101, 0, false}, {SUM, KRF_U8, KRF_U8, 7, 0, false},
        {SUM, KRF_U8, KRF_U8, 64, 0, false},      {SCALED, KRF_F32, KRF_F32, 40, 0, false},   {SECOND_ROW, KRF_U8, KRF_U8, 33, 0, false},  {TURNED, KRF_U8, KRF_U8, 101, 0, false},
        {CROPPED, KRF_U8, KRF_U8, 33, 0, false},  {SUM, KRF_U8, KRF_U8, 9, 0, true},           {ADD_COLUMN, KRF_U8, KRF_U8, 9, 0, true},      {ADD_COLUMN, KRF_U8, KRF_U8, 8, 0, false},
    };
    (void)unused;
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) {
        check(&all, some[k].which, some[k].T, some[k].U, (int64_t[]){1, 1, 64, some[k].columns}, (lay){some[k].before, ALLOCATED, 0}, some[k].expected);
        check(&whole, some[k].which, some[k].T, some[k].U, (int64_t[]){1, 1, 64, some[k].columns}, (lay){some[k].before, ALLOCATED, 0}, false);
    }
    none_failed();
}

/* Threads of 2, 4, 8 and 16 periods, of which there are 2^18 then, and a last group that is not full. */
static void test_groups(void **unused) {
    static const struct {
        int which;
        krf_dtype T, U;
        int64_t planes, rows, columns;
        bool many; /* as many as go so by themselves */
    } some[] = {{DIFFERENCE, KRF_F64, KRF_F64, 1, 10403, 101, false}, {DIFFERENCE, KRF_F64, KRF_F64, 1, 8391, 251, false}, {SCALED, KRF_F32, KRF_F32, 1, 20797, 101, false}, {CAUSAL, KRF_F32, KRF_F32, 1, 8443, 255, false},
                {CHANNELS, KRF_F32, KRF_F32, 7, 2971, 101, false},    {SCALED_F32, KRF_U8, KRF_F32, 1, 4203, 1001, true},   {LESS_COLUMN, KRF_F32, KRF_F32, 1, 16399, 513, true}, {LESS, KRF_F32, KRF_F32, 1, 65543, 257, true},
                {LOWER, KRF_U8, KRF_U8, 1, 16843, 1001, true},        {DIFFERENCE, KRF_F16, KRF_F16, 1, 16799, 1001, true}, {SUM, KRF_U8, KRF_U8, 1, 67157, 1001, true}};
    (void)unused;
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) {
        check(some[k].many ? &whole : &all, some[k].which, some[k].T, some[k].U, (int64_t[]){1, some[k].planes, some[k].rows, some[k].columns}, plain, true);
    }
    none_failed();
}

int main(void) {
    setenv("FAKECUDA_SEED", "3", 0);    /* threads in another order than their own */
    setenv("KRF_EXACT_MEMORY", "1", 0); /* AddressSanitizer sees what is read behind arrays */
    open_runs(&whole, false);
    setenv("KRF_FUSION", "recur=0", 1);
    open_noted_runs(&all, false);
    setenv("KRF_MATH", "fast", 1);
    open_runs(&fast, false);
    int failed = run_whole(TESTS(noted_test(test_programs), noted_test(test_ends), noted_test(test_lays), cmocka_unit_test(test_kernels), cmocka_unit_test(test_groups)));
    if (all.cuda) {
        printf("%d of %d runs by periods\n", by_periods, on_gpus);
        failed += 3 * by_periods < on_gpus; /* else this tests something else */
    }
    close_runs(&all);
    close_runs(&fast);
    close_runs(&whole);
    return failed;
}
