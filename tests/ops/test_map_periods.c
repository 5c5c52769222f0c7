/* Maps by periods (plan/period.c): beside rows, columns and what counts, over rows that no whole vectors end with; every dtype and mixtures, several results, operands that lie anywhere, results between guards, every place where the
 * last vector may be cut, threads of one period and of up to sixteen; against a formula over whole numbers an element. The limit "recur=0" sends small arrays that way too. KRF_TEST_DEVICE. */
#include "ops/common.h"

#include <ctype.h>

enum { RANK = 4, RESULTS = 3, GUARD = 0xa5, AROUND = 64, DEEPER = 16 };

static runs all, fast, whole; /* with that limit, which NVRTC's options of fast kernels keep out of batches; and without */
static int by_periods, runs_of_gpu;

/* ---- programs: T is the dtype of what lies as the domain does, U of the others, and R, C, P, Q are the extents of the domain from rows and columns on outwards ---- */

typedef struct place {
    int64_t i, c, r, p, q, C, R, P; /* in C order, and along each axis; extents */
    bool narrow[2];                 /* whether T, and U, is bool */
} place;

/* An array: whether it is of T, which axes of the domain it has, how many times as long the last of them is, how many elements more the first has, and the largest number + 1. */
typedef struct operand {
    const char *name, *dtype, *axes;
    int times, more, most;
} source;

static const source operands[] = {
    {"a", "T", "qprc", 1, 0, 13}, {"b", "T", "qprc", 1, 0, 5},  {"d", "T", "rc", 1, DEEPER, 13}, {"t", "T", "cr", 1, 0, 13}, {"m", "bool", "qprc", 1, 0, 2}, {"x", "U", "r", 1, 0, 11}, {"u", "U", "r", 1, 0, 7}, {"s", "U", "r", 2, 0, 11},
    {"y", "U", "c", 1, 0, 17},    {"z", "U", "c", 1, 0, 7},     {"v", "U", "c", 2, 0, 17},    {"p", "U", "p", 1, 0, 9},   {"q", "U", "q", 1, 0, 5},       {"e", "U", "pr", 1, 0, 11}, {"f", "U", "pc", 1, 0, 11}, {"g", "U", "", 1, 0, 7},
    {"l", "i64", "r", 1, 0, 0},   {"n", "i32", "r", 1, 0, 0},
};
enum { OPERANDS = sizeof operands / sizeof *operands };

/* Element i of an array; lengths go a bit beyond both ends of rows. */
static int64_t number(const place *e, char name, int64_t i) {
    for (int k = 0; k < OPERANDS; k++) {
        const source *o = &operands[k];
        if (o->name[0] == name) {
            const bool truth = *o->dtype == 'T' ? e->narrow[0] : *o->dtype == 'U' && e->narrow[1];
            const uint64_t random = (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)name << 40, mixed = (random ^ random >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 33;
            return o->most == 0 ? (int64_t)(mixed % (uint64_t)(e->C + 3)) - 1 : (int64_t)(mixed % (truth ? 2 : (uint64_t)o->most));
        }
    }
    abort();
}

typedef int64_t formula(const place *e, int result);

#define GIVES(name, ...) static int64_t name(const place *e, int k) { return (void)e, (void)k, __VA_ARGS__; }
#define OF(name, at) number(e, name, at)
#define A OF('a', e->i)
#define B OF('b', e->i)
#define M OF('m', e->i)
#define X OF('x', e->r)
#define U OF('u', e->r)
#define Y OF('y', e->c)
#define Z OF('z', e->c)
#define L OF('l', e->r)

GIVES(sum, X + Y)
GIVES(product, X * Y)
GIVES(row_less, X - Y)
GIVES(column_less, Y - X)
GIVES(is_less, X < Y)
GIVES(between, X <= Y && Y < U)
GIVES(between_columns, X < Y && Z != X)
GIVES(chosen, X < Y ? X : Z)
GIVES(both, X & Y)
GIVES(stepped, OF('s', 2 * e->r) + OF('y', e->C - 1 - e->c))
GIVES(stepped_back, OF('s', 2 * (e->R - 1 - e->r) + 1) * OF('v', 2 * e->c))
GIVES(as_float, X * Y)
GIVES(add_column, A + Y)
GIVES(line, A * Y + Z)
GIVES(less_column, A < Y)
GIVES(clamped, A < X ? A : Y)
GIVES(masked, M ? A : X)
GIVES(mask_and, M & Y)
GIVES(scaled, A * X)
GIVES(two_loads, A * X + B * Y)
GIVES(beside_one, A + Y + OF('g', 0))
GIVES(bit, A ^ X)
GIVES(added, A + X)
GIVES(two_results, k == 0 ? A + Y : A < Y)
GIVES(outer_results, k == 0 ? X < Y : k == 1 ? X * Y : X + Y)
GIVES(three_results, k == 0 ? A * X : k == 1 ? A : A == Y)
GIVES(shorter, e->c < L)
GIVES(shorter_narrow, e->c < OF('n', e->r))
GIVES(lower, e->r >= e->c)
GIVES(both_places, e->r * e->C + e->c)
GIVES(from_behind, e->C - 1 - e->c < L)
GIVES(steps_back, 5 * (e->R - 1 - e->r) > 3 * e->c - 7)
GIVES(causal, e->c < L ? A : 0)
GIVES(remainders, A + e->c % 5)
GIVES(two_remainders, e->r % 7 + e->c % 5)
GIVES(on_diagonal, e->r == e->c ? A : Y)
GIVES(channels, A * X + U)
GIVES(planes, A + OF('p', e->p) + Y + OF('g', 0))
GIVES(planes_alone, X * Y + OF('p', e->p))
GIVES(own_rows, A + OF('e', e->p * e->R + e->r) + Y)
GIVES(own_columns, A + OF('f', e->p * e->C + e->c))
GIVES(own_columns_alone, OF('f', e->p * e->C + e->c) < X)
GIVES(three_places, e->p + 2 * e->r < e->c)
GIVES(third_axis, A * OF('p', e->p) + Y + OF('q', e->q))
GIVES(cube, OF('q', e->q) + X < Y)
GIVES(second_row, OF('d', e->i + e->C) + Y)
GIVES(vectors_on, OF('d', e->i + DEEPER * e->C) - OF('d', e->i) + Y)
GIVES(turned, OF('t', e->c * e->R + e->r) + Y)
GIVES(upwards, OF('d', (e->R + DEEPER - 1 - e->r) * e->C + e->c) + Y)

#undef U

/* Dtypes as T or T:U, and of results, with blanks between them. */
typedef struct program {
    const char *text, *dtypes, *gives;
    formula *formula;
    int rank;
} program;

#define NUMBERS "u8 f32 bf16 i8 f16 f64 i16 i32 i64 u16 u32 u64"
#define ROW "[:, None]"
#define COLUMN "[None, :]"

static const program programs[] = {
    {"x" ROW " + y" COLUMN, NUMBERS, "U", sum, 2},
    {"x" ROW " * y" COLUMN, "f32 u8 f64 bf16", "U", product, 2},
    {"x" ROW " - y" COLUMN, "i32 u8 f16 f64", "U", row_less, 2},
    {"y" COLUMN " - x" ROW, "f32 i8 bf16 u64", "U", column_less, 2},
    {"x" ROW " < y" COLUMN, NUMBERS, "bool", is_less, 2},
    {"(x" ROW " <= y" COLUMN ") & (y" COLUMN " < u" ROW ")", "f32 u8 i64 f16", "bool", between, 2},
    {"(x" ROW " < y" COLUMN ") & (z" COLUMN " != x" ROW ")", "i64 f64 f32 u8 bf16", "bool", between_columns, 2},
    {"where(x" ROW " < y" COLUMN ", x" ROW ", z" COLUMN ")", "u8 f32 bf16 i64", "U", chosen, 2},
    {"x" ROW " & y" COLUMN, "bool u8 i16", "U", both, 2},
    {"s[::2]" ROW " + y[::-1]" COLUMN, "u8 bf16 f32 f64", "U", stepped, 2},
    {"s[::-2][:, None] * v[None, ::2]", "f32 i16 u8", "U", stepped_back, 2},
    {"f64(x" ROW ") * f64(y" COLUMN ")", "u8 f32 i64", "f64", as_float, 2},
    {"i8(x" ROW " * y" COLUMN ")", "i64 i16 f64:u8", "i8", as_float, 2},
    {"a + y" COLUMN, NUMBERS, "T", add_column, 2},
    {"a * y" COLUMN " + z" COLUMN, "u8 f16 f32 bf16 i16", "T", line, 2},
    {"a < y" COLUMN, NUMBERS, "bool", less_column, 2},
    {"where(a < x" ROW ", a, y" COLUMN ")", "u8 bf16 f32 f64 i16", "T", clamped, 2},
    {"where(m, a, x" ROW ")", "u8 f32 f16 f64 i64 bool", "T", masked, 2},
    {"m & y" COLUMN, "bool", "bool", mask_and, 2},
    {"a ^ x" ROW, "bool u8 i32", "T", bit, 2},
    {"a * x" ROW, NUMBERS, "T", scaled, 2},
    {"a * x" ROW " + b * y" COLUMN, "f32 u8 bf16 f64", "T", two_loads, 2},
    {"a + y" COLUMN " + g", "f16 i8 f32", "T", beside_one, 2},
    {"f32(a) * x" ROW, "u8:f32 bf16:f32 i64:f32", "f32", scaled, 2},
    {"i8(a * x" ROW ")", "f32 f64 i16", "i8", scaled, 2},
    {"bf16(a) + bf16(y" COLUMN ")", "i8:bf16 f32:u8 u8:i64 f64", "bf16", add_column, 2},
    {"f64(a) + f64(x" ROW ")", "u8:f64 f16 f32:i8", "f64", added, 2},
    {"f16(a) + y" COLUMN, "u8:f16 i32:f16", "f16", add_column, 2},
    {"f32(a) < f32(y" COLUMN ")", "u8:f32 f16:f64 f32:i8", "bool", less_column, 2},
    {"return a + y" COLUMN ", a < y" COLUMN, "u8 f32 bf16 f64", "T bool", two_results, 2},
    {"return x" ROW " < y" COLUMN ", x" ROW " * y" COLUMN ", i16(x" ROW " + y" COLUMN ")", "f32 u8 f64", "bool U i16", outer_results, 2},
    {"return a * x" ROW ", f32(a), a == y" COLUMN, "u8 f16 f32 i64", "T f32 bool", three_results, 2},
    {"arange(C)" COLUMN " < l" ROW, "u8", "bool", shorter, 2},
    {"i32(arange(C))" COLUMN " < n" ROW, "u8", "bool", shorter_narrow, 2},
    {"arange(R)" ROW " >= arange(C)" COLUMN, "u8", "bool", lower, 2},
    {"arange(R)" ROW " * C + arange(C)" COLUMN, "u8", "i64", both_places, 2},
    {"f64(arange(R)" ROW " * C + arange(C)" COLUMN ")", "u8", "f64", both_places, 2},
    {"i32(arange(R)" ROW " * C + arange(C)" COLUMN ")", "u8", "i32", both_places, 2},
    {"arange(C)[::-1]" COLUMN " < l" ROW, "u8", "bool", from_behind, 2},
    {"arange(R)[::-1]" ROW " * 5 > arange(C)" COLUMN " * 3 - 7", "u8", "bool", steps_back, 2},
    {"where(arange(C)" COLUMN " < l" ROW ", a, T(0))", "u8 f32 bf16 f64", "T", causal, 2},
    {"a + T(arange(C) % 5)" COLUMN, "u8 f32 f16", "T", remainders, 2},
    {"T(arange(R) % 7)" ROW " + T(arange(C) % 5)" COLUMN, "u8 f32 bf16", "T", two_remainders, 2},
    {"where(arange(R)" ROW " == arange(C)" COLUMN ", a, y" COLUMN ")", "u8 f32 i16", "T", on_diagonal, 2},
    {"a * x[None, :, None] + u[None, :, None]", "f32 u8 f16 i8:i8", "T", channels, 3},
    {"a + p[:, None, None] + y[None, None, :] + g", "u8 bf16 f32", "T", planes, 3},
    {"x[None, :, None] * y[None, None, :] + p[:, None, None]", "f32 u8 i64", "U", planes_alone, 3},
    {"a + e[:, :, None] + y[None, None, :]", "f32 i16 u8", "T", own_rows, 3},
    {"a + f[:, None, :]", "u8 f32", "T", own_columns, 3},
    {"f[:, None, :] < x[None, :, None]", "f32 u8", "bool", own_columns_alone, 3},
    {"arange(P)[:, None, None] + arange(R)[None, :, None] * 2 < arange(C)[None, None, :]", "u8", "bool", three_places, 3},
    {"a * p[None, :, None, None] + y[None, None, None, :] + q[:, None, None, None]", "f32 u8 bf16", "T", third_axis, 4},
    {"q[:, None, None, None] + x[None, None, :, None] < y[None, None, None, :] + full((P, 1, 1), U(0))", "f32 u8", "bool", cube, 4},
    {"d[1:-15] + y" COLUMN, "u8 f32 bf16 f64", "T", second_row, 2},
    {"d[16:] - d[:-16] + y" COLUMN, "f16 u8 i16 f32:f32", "T", vectors_on, 2},
    {"d[:15:-1] + y" COLUMN, "u8 f32", "T", upwards, 2},
    {"t.T + y" COLUMN, "u8 f32", "T", turned, 2},
};

/* ---- arrays ---- */

typedef struct made {
    krf_dtype dtype;
    int rank;
    int64_t shape[RANK], strides[RANK], size;
    void *data; /* NULL: the program does not name it */
} made;

/* Where users have the arrays that lie as the domain does, and where they want the results: so many elements after a line of memory; negative: results are allocated, or are in place of `a`. */
typedef struct lay {
    int64_t before, room;
} lay;
enum { ALLOCATED = -1, IN_PLACE = -2 };

static bool names(const char *text, const char *name) {
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[1])) {
            return true;
        }
    }
    return false;
}

static krf_dtype dtype_of(const char *text, krf_dtype T, krf_dtype U) {
    const size_t n = strcspn(text, " :");
    for (int d = 0; d < ALL_DTYPES; d++) {
        if (strlen(name_of((krf_dtype)d)) == n && strncmp(text, name_of((krf_dtype)d), n) == 0) {
            return (krf_dtype)d;
        }
    }
    assert_true(n == 1);
    return *text == 'T' ? T : U;
}

static place place_of(const int64_t *shape, int64_t i) {
    return (place){.i = i, .c = i % shape[3], .r = i / shape[3] % shape[2], .p = i / shape[3] / shape[2] % shape[1], .q = i / shape[3] / shape[2] / shape[1], .C = shape[3], .R = shape[2], .P = shape[1]};
}

static made make(const program *p, const source *o, krf_dtype T, krf_dtype U, const int64_t *shape, place e) {
    made m = {.dtype = dtype_of(o->dtype, T, U), .size = 1};
    for (const char *axis = o->axes; *axis != 0; axis++) {
        const int d = (int)(strchr("qprc", *axis) - "qprc");
        if (d >= RANK - p->rank) {
            m.shape[m.rank++] = shape[d] * (axis[1] == 0 ? o->times : 1) + (axis == o->axes ? o->more : 0);
        }
    }
    for (int d = m.rank - 1; d >= 0; d--) {
        m.strides[d] = m.size;
        m.size *= m.shape[d];
    }
    m.data = malloc((size_t)m.size * bytes_of(m.dtype) + 1);
    assert_non_null(m.data);
    for (int64_t i = 0; i < m.size && !collecting; i++) {
        put(m.data, i, whole_number(m.dtype, number(&e, *o->name, i)));
    }
    return m;
}

/* An array in memory between guards, of which the dtype may not be that of memory, as guards are no bools. */
static krf_array *between_guards(krf_context *context, const made *m, int64_t before, krf_array **memory) {
    const int64_t bytes = (int64_t)bytes_of(m->dtype), count = (before + m->size + AROUND) * bytes;
    char *guards = malloc((size_t)count);
    krf_array *view = NULL;
    assert_non_null(guards);
    memset(guards, GUARD, (size_t)count);
    if (m->data != NULL) {
        memcpy(guards + before * bytes, m->data, (size_t)(m->size * bytes));
    }
    if (krf_array_from_host(context, KRF_U8, 1, &count, guards, memory) != KRF_OK || krf_array_wrap(context, m->dtype, m->rank, m->shape, m->strides, (char *)krf_array_data(*memory) + before * bytes, NULL, NULL, &view) != KRF_OK) {
        fail_msg("guards: %s", krf_error_message());
    }
    free(guards);
    return view;
}

static krf_array *array_of(krf_context *context, const made *m, int64_t before) {
    const int64_t count = before + m->size;
    char *data = calloc((size_t)count, bytes_of(m->dtype));
    krf_array *base = NULL, *view = NULL;
    assert_non_null(data);
    memcpy(data + (size_t)before * bytes_of(m->dtype), m->data, (size_t)m->size * bytes_of(m->dtype));
    if (krf_array_from_host(context, m->dtype, 1, &count, data, &base) != KRF_OK || krf_array_view(base, m->rank, m->shape, m->strides, before, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    krf_array_release(base);
    free(data);
    return view;
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

static void must_be(const program *p, const place *first, const int64_t *shape, int k, krf_dtype dtype, const void *data, int64_t size, const char *what) {
    char x[64], y[64];
    for (int64_t i = 0; i < size; i++) {
        place e = place_of(shape, i);
        memcpy(e.narrow, first->narrow, sizeof e.narrow);
        const value want = whole_number(dtype, p->formula(&e, k)), found = get(data, dtype, i);
        if (!same(found, want)) {
            COMPLAIN("%s: element %" PRId64 " of %" PRId64 " of result %d is %s, not %s", what, i, size, k, show(found, x, sizeof x), show(want, y, sizeof y));
            return;
        }
    }
}

/* What stands in memory between guards, which must be as they were. */
static void look_between(const program *p, const place *first, const int64_t *shape, int k, const made *m, int64_t before, krf_array *memory, const char *what) {
    const size_t bytes = bytes_of(m->dtype), start = (size_t)before * bytes, all_bytes = (size_t)m->size * bytes, count = start + all_bytes + AROUND * bytes;
    unsigned char *after = malloc(count);
    assert_non_null(after);
    read_back(memory, after, count);
    must_be(p, first, shape, k, m->dtype, after + start, m->size, what);
    for (size_t i = 0; i < count; i++) {
        if ((i < start || i >= start + all_bytes) && after[i] != GUARD) {
            COMPLAIN("%s: result %d: byte %" PRId64 " is written, of %zu bytes", what, k, (int64_t)i - (int64_t)start, all_bytes);
            break;
        }
    }
    free(after);
}

/* The results of one run; whether they came by periods, -1 where that does not matter. */
static void check_run(const run *now, const program *p, krf_dtype T, krf_dtype U, const int64_t *shape, lay where, const made *operand, int expected) {
    char text[400], what[600];
    krf_array *arrays[OPERANDS] = {NULL}, *got[RESULTS] = {NULL}, *memory[RESULTS] = {NULL}, *in_place = NULL;
    krf_binding bindings[OPERANDS];
    krf_expr results[RESULTS];
    krf_plan *plan = NULL;
    krf_graph *g = krf_graph_create(now->context);
    place first = {.narrow = {T == KRF_BOOL, U == KRF_BOOL}};
    made result[RESULTS];
    int n = 0, bound = 0;
    const int64_t size = shape[0] * shape[1] * shape[2] * shape[3];
    write_program(p, T, U, shape, text);
    snprintf(what, sizeof what, "%s: %s of %s and %s [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "], from %" PRId64 ", results %" PRId64, now->label, text, name_of(T), name_of(U), shape[0], shape[1], shape[2], shape[3], where.before, where.room);
    for (int k = 0; k < OPERANDS; k++) {
        const bool full = strchr("abdm", *operands[k].name) != NULL;
        if (operand[k].data != NULL) {
            arrays[k] = where.room == IN_PLACE && *operands[k].name == 'a' ? between_guards(now->context, &operand[k], where.before, &in_place) : array_of(now->context, &operand[k], full ? where.before : 0);
            bindings[bound++] = krf_bind_array(operands[k].name, arrays[k]);
        }
    }
    if (krf_parse_many(g, text, bindings, bound, RESULTS, results, &n) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    const char *gives = p->gives;
    for (int k = 0; k < n; k++, gives += strcspn(gives, " "), gives += *gives == ' ') {
        result[k] = (made){.dtype = dtype_of(gives, T, U), .rank = p->rank, .size = 1};
        for (int d = p->rank - 1; d >= 0; d--) {
            result[k].shape[d] = shape[RANK - p->rank + d];
            result[k].strides[d] = result[k].size;
            result[k].size *= result[k].shape[d];
        }
        if (where.room >= 0) {
            got[k] = between_guards(now->context, &result[k], where.room, &memory[k]);
        } else if (where.room == IN_PLACE && k == 0) {
            got[0] = arrays[0];
        }
    }
    if (krf_compile(g, n, results, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, got) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    if (strncmp(now->label, "cuda", 4) == 0 && !collecting) {
        const bool found = has_text(plan, "a.period");
        by_periods += found;
        runs_of_gpu++;
        if (expected >= 0 && (found != (expected != 0) || krf_plan_kernels(plan) != 1)) {
            COMPLAIN("%s: %d kernels, which should%s go by periods", what, krf_plan_kernels(plan), expected != 0 ? "" : " not");
        }
    }
    for (int k = 0; k < n; k++) {
        if (collecting) {
        } else if (where.room >= 0) {
            look_between(p, &first, shape, k, &result[k], where.room, memory[k], what);
        } else if (where.room == IN_PLACE && k == 0) {
            look_between(p, &first, shape, 0, &result[0], where.before, in_place, what);
        } else {
            void *data = to_host(got[k], result[k].dtype, p->rank, result[k].shape, what);
            if (data != NULL) {
                must_be(p, &first, shape, k, result[k].dtype, data, size, what);
            }
            free(data);
        }
        if (got[k] != arrays[0] || where.room != IN_PLACE) {
            krf_array_release(got[k]);
        }
        krf_array_release(memory[k]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    for (int k = 0; k < OPERANDS; k++) {
        krf_array_release(arrays[k]);
    }
    krf_array_release(in_place);
}

static void check_on(const runs *r, const program *p, krf_dtype T, krf_dtype U, const int64_t *shape, lay where, int expected) {
    made operand[OPERANDS] = {{0}};
    place e = place_of(shape, 0);
    e.narrow[0] = T == KRF_BOOL;
    e.narrow[1] = U == KRF_BOOL;
    for (int k = 0; k < OPERANDS; k++) {
        if (names(p->text, operands[k].name)) {
            operand[k] = make(p, &operands[k], T, U, shape, e);
        }
    }
    for (int k = 0; k < r->n; k++) {
        if (!passed_over(&r->run[k])) {
            check_run(&r->run[k], p, T, U, shape, where, operand, expected);
        }
    }
    for (int k = 0; k < OPERANDS; k++) {
        free(operand[k].data);
    }
}

static void none_failed(void) {
    const int n = failures;
    failures = 0;
    assert_int_equal(n, 0);
}

/* The dtypes of T and U that are the k-th in a list; false behind the last. */
static bool dtypes_of(const char *list, int k, krf_dtype *T, krf_dtype *U) {
    for (; k > 0 && *list != 0; k--) {
        list += strcspn(list, " ");
        list += *list == ' ';
    }
    if (*list == 0) {
        return false;
    }
    const size_t n = strcspn(list, " :");
    *T = dtype_of(list, KRF_BOOL, KRF_BOOL);
    *U = list[n] == ':' ? dtype_of(list + n + 1, KRF_BOOL, KRF_BOOL) : *T;
    return true;
}

/* ---- tests ---- */

static const int64_t columns[] = {16, 17, 18, 20, 24, 31, 33, 40, 100, 101, 255, 257, 1001, 9, 10, 12, 14}, heights[] = {3, 8, 16, 33, 35, 37, 40, 47, 50, 64, 71, 102, 129, 301};
enum { COLUMNS = sizeof columns / sizeof *columns, HEIGHTS = sizeof heights / sizeof *heights, PROGRAMS = sizeof programs / sizeof *programs };

static const program *found(const char *text) {
    for (int k = 0; k < PROGRAMS; k++) {
        if (strcmp(programs[k].text, text) == 0) {
            return &programs[k];
        }
    }
    fail_msg("no program %s", text);
    return NULL;
}

static void test_programs(void **unused) {
    krf_dtype T, U;
    int turn = 0;
    (void)unused;
    for (int k = 0; k < PROGRAMS; k++) {
        for (int t = 0; dtypes_of(programs[k].dtypes, t, &T, &U); t++) {
            for (int c = 0; c < COLUMNS; c++) {
                const int64_t height = heights[(5 * c + k + 3 * t) % HEIGHTS], outer = programs[k].rank == 2 ? 1 : 2 + (c + t) % 3;
                const int64_t shape[RANK] = {programs[k].rank == 4 ? 2 + c % 2 : 1, outer, outer > 1 && height > 40 ? height / 4 : height, columns[c]};
                if (in_shard(turn++)) {
                    check_on(&all, &programs[k], T, U, shape, (lay){0, ALLOCATED}, -1);
                }
            }
        }
    }
    none_failed();
}

/* Every place where the last vector may end, and rows about as short as vectors, between guards. */
static void test_ends(void **unused) {
    static const struct {
        const char *text;
        krf_dtype T;
    } some[] = {{"x" ROW " + y" COLUMN, KRF_U8}, {"x" ROW " < y" COLUMN, KRF_F32}, {"a + y" COLUMN, KRF_BF16}, {"where(m, a, x" ROW ")", KRF_U8}, {"a * x" ROW, KRF_F32}, {"f32(a) * x" ROW, KRF_U8}, {"a < y" COLUMN, KRF_F32},
                {"arange(R)" ROW " >= arange(C)" COLUMN, KRF_U8}, {"x" ROW " - y" COLUMN, KRF_F64}, {"return a + y" COLUMN ", a < y" COLUMN, KRF_F32}};
    int turn = 0;
    (void)unused;
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) {
        for (int64_t c = 2; c < 52; c += c < 20 ? 1 : 3) {
            for (int64_t r = 32; r < 48; r++) {
                if (c > 8 ? in_shard(turn++) : r == 32 + c) { /* short ones have kernels of their own */
                    const int64_t shape[RANK] = {1, 1, r, c};
                    check_on(&all, found(some[k].text), some[k].T, strcmp(some[k].text, "f32(a) * x" ROW) == 0 ? KRF_F32 : some[k].T, shape, (lay){0, (c + r) % 4 == 0 ? ALLOCATED : (c + r) % 4 == 1 ? 16 : 0}, -1);
                }
            }
        }
    }
    none_failed();
}

/* Where operands and results lie, and results that take the place of an operand. */
static void test_lays(void **unused) {
    static const char *const texts[] = {"x" ROW " + y" COLUMN, "a + y" COLUMN, "where(a < x" ROW ", a, y" COLUMN ")", "a * x" ROW " + b * y" COLUMN, "a * y" COLUMN " + z" COLUMN, "where(arange(C)" COLUMN " < l" ROW ", a, T(0))"};
    static const lay lays[] = {{16, 16}, {3, ALLOCATED}, {0, 1}, {0, 8}, {8, 4}, {4, 0}, {2, 2}, {64, 12}, {0, IN_PLACE}, {16, IN_PLACE}, {5, IN_PLACE}};
    static const krf_dtype dtypes[] = {KRF_U8, KRF_F32, KRF_BF16, KRF_F64};
    (void)unused;
    for (int k = 0; k < (int)(sizeof texts / sizeof *texts); k++) {
        for (int l = 0; l < (int)(sizeof lays / sizeof *lays); l++) {
            for (int d = 0; d < 4; d++) {
                const int64_t shape[RANK] = {1, 1, heights[(3 * k + l + d) % HEIGHTS], columns[(5 * k + 3 * l + d) % COLUMNS]};
                check_on(&all, found(texts[k]), dtypes[d], dtypes[d], shape, lays[l].room == IN_PLACE && k == 0 ? (lay){0, 0} : lays[l], -1);
            }
        }
    }
    none_failed();
}

/* Results in place of an array of which rows and columns are read. */
static void test_own_rows(void **unused) {
    static const char *const texts[] = {"a + a[0]", "a + a[-1]", "a + a[:, :1]", "a + a[:, -1:]", "a[0:1, :] + a[:, 0:1]"};
    static const krf_dtype dtypes[] = {KRF_U8, KRF_F32, KRF_BF16};
    static const int64_t R = 23, C = 101, shape[] = {23, 101};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int k = 0; k < 5 * 3; k++) {
            const krf_dtype dtype = dtypes[k / 5];
            char data[23 * 101 * 4];
            krf_array *a = NULL;
            krf_expr x;
            krf_graph *g = krf_graph_create(all.run[r].context);
            if (passed_over(&all.run[r])) {
                continue;
            }
            for (int64_t i = 0; i < R * C; i++) {
                put(data, i, whole_number(dtype, i * 7 % 61));
            }
            assert_int_equal(krf_array_from_host(all.run[r].context, dtype, 2, shape, data, &a), KRF_OK);
            if (krf_parse(g, texts[k % 5], (krf_binding[]){krf_bind_array("a", a)}, 1, &x) != KRF_OK || krf_eval(x, &a) != KRF_OK) {
                fail_msg("%s: %s", texts[k % 5], krf_error_message());
            }
            read_back(a, data, sizeof data / 4 * bytes_of(dtype));
            for (int64_t i = 0; i < R * C && !collecting; i++) {
                const int64_t column[] = {i % C, (R - 1) * C + i % C, i / C * C, i / C * C + C - 1, i / C * C}, own = k % 5 == 4 ? i % C : i;
                const value want = whole_number(dtype, own * 7 % 61 + column[k % 5] * 7 % 61), found_ = get(data, dtype, i);
                if (!same(want, found_)) {
                    COMPLAIN("%s in place, %s of %s: element %" PRId64 " is wrong", texts[k % 5], all.run[r].label, name_of(dtype), i);
                    break;
                }
            }
            krf_array_release(a);
            krf_graph_destroy(g);
        }
    }
    none_failed();
}

static void test_fast(void **unused) {
    static const char *const texts[] = {"x" ROW " * y" COLUMN, "a * y" COLUMN " + z" COLUMN, "a * x" ROW " + b * y" COLUMN, "where(a < x" ROW ", a, y" COLUMN ")", "return a + y" COLUMN ", a < y" COLUMN};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_BF16, KRF_F16};
    (void)unused;
    for (int k = 0; k < 5 * 3; k++) {
        for (int c = k % 2; c < COLUMNS; c += 2) {
            const int64_t shape[RANK] = {1, 1, heights[(5 * c + k) % HEIGHTS], columns[c]};
            check_on(&fast, found(texts[k % 5]), dtypes[k / 5], dtypes[k / 5], shape, (lay){0, ALLOCATED}, -1);
        }
    }
    none_failed();
}

/* What goes by periods on a GPU, and what does not. */
static void test_kernels(void **unused) {
    static const struct {
        const char *text;
        krf_dtype T, U;
        int64_t rows, columns;
        bool expected;
    } some[] = {
        {"x" ROW " + y" COLUMN, KRF_U8, KRF_U8, 64, 101, true},         {"x" ROW " + y" COLUMN, KRF_F32, KRF_F32, 64, 101, true},      {"x" ROW " + y" COLUMN, KRF_F64, KRF_F64, 64, 101, true},
        {"x" ROW " < y" COLUMN, KRF_F32, KRF_F32, 64, 255, true},       {"a + y" COLUMN, KRF_U8, KRF_U8, 64, 100, true},               {"a * x" ROW, KRF_F32, KRF_F32, 64, 101, true},
        {"f32(a) * x" ROW, KRF_U8, KRF_F32, 64, 33, true},              {"where(m, a, x" ROW ")", KRF_U8, KRF_U8, 64, 24, true},       {"arange(R)" ROW " >= arange(C)" COLUMN, KRF_U8, KRF_U8, 64, 18, true},
        {"a + y" COLUMN, KRF_BF16, KRF_BF16, 64, 20, true},             {"d[16:] - d[:-16] + y" COLUMN, KRF_U8, KRF_U8, 64, 33, true},
        {"a + y" COLUMN, KRF_F64, KRF_F64, 64, 101, false},             {"a * x" ROW, KRF_I64, KRF_I64, 64, 101, false},               {"x" ROW " + y" COLUMN, KRF_U8, KRF_U8, 64, 9, false},
        {"x" ROW " + y" COLUMN, KRF_U8, KRF_U8, 64, 64, false},         {"a * x" ROW, KRF_F32, KRF_F32, 64, 40, false},                {"d[1:-15] + y" COLUMN, KRF_U8, KRF_U8, 64, 33, false},
        {"t.T + y" COLUMN, KRF_U8, KRF_U8, 64, 101, false},
    };
    (void)unused;
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) {
        const int64_t shape[RANK] = {1, 1, some[k].rows, some[k].columns};
        check_on(&all, found(some[k].text), some[k].T, some[k].U, shape, (lay){0, ALLOCATED}, some[k].expected);
        check_on(&whole, found(some[k].text), some[k].T, some[k].U, shape, (lay){0, ALLOCATED}, false);
    }
    none_failed();
}

/* Threads of 2, 4, 8 and 16 periods, of which there are 2^18 then, and a last group that is not full. */
static void test_groups(void **unused) {
    static const struct {
        const char *text;
        krf_dtype T, U;
        int64_t rows, columns;
    } some[] = {
        {"x" ROW " - y" COLUMN, KRF_F64, KRF_F64, 10403, 101}, {"x" ROW " - y" COLUMN, KRF_F64, KRF_F64, 8391, 251}, {"a * x" ROW, KRF_F32, KRF_F32, 20797, 101}, {"f32(a) * x" ROW, KRF_U8, KRF_F32, 4203, 1001},
        {"a < y" COLUMN, KRF_F32, KRF_F32, 16399, 513}, {"x" ROW " < y" COLUMN, KRF_F32, KRF_F32, 65543, 257}, {"arange(R)" ROW " >= arange(C)" COLUMN, KRF_U8, KRF_U8, 16843, 1001},
        {"x" ROW " - y" COLUMN, KRF_F16, KRF_F16, 16799, 1001}, {"x" ROW " + y" COLUMN, KRF_U8, KRF_U8, 67157, 1001},
    };
    (void)unused;
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) {
        const int64_t shape[RANK] = {1, 1, some[k].rows, some[k].columns};
        check_on(&whole, found(some[k].text), some[k].T, some[k].U, shape, (lay){0, ALLOCATED}, -1);
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
    int failed = run_whole(TESTS(noted_test(test_programs), noted_test(test_ends), noted_test(test_lays), noted_test(test_own_rows), cmocka_unit_test(test_fast), cmocka_unit_test(test_kernels), cmocka_unit_test(test_groups)));
    if (all.cuda) {
        printf("%d of %d runs by periods\n", by_periods, runs_of_gpu);
        failed += 2 * by_periods < runs_of_gpu; /* else this tests something else */
    }
    close_runs(&all);
    close_runs(&fast);
    close_runs(&whole);
    return failed;
}
