/* Where elements lie that come together, as a GPU's threads take them. Complex operands that lie across the result, by squares through shared memory; stacks of a few fields, of which a thread has a record or a vector's element
 * knows its field's number; and the largest and smallest of columns of bytes whose rows begin anywhere. Lengths around squares, vectors and blocks; views, results in views and in place; what lies beside the elements of an
 * operand would show in a result, and nothing is written beside those of one. Against plain loops over numbers of which each sum and product is exact: bit for bit. */
#include "ops/common.h"

enum { MOST_OPERANDS = 12, MOST_RESULTS = 3, FROM = 3 };
static runs all;

/* ---- operands ---- */

typedef struct operand {
    char name;
    krf_dtype dtype;
    int rank;
    int64_t shape[3], before, gap; /* elements of memory before the first, and behind each row */
} operand;

static uint64_t drawn(const operand *o, int64_t p, int64_t q, int64_t s) {
    uint64_t state = (uint64_t)o->name * 1000003 + (uint64_t)(p * 1000 + q) * 5000 + (uint64_t)s;
    return next_random(&state);
}

/* Small, of both signs; among floats some that arithmetic could change: -0.0, infinities, NaN. What a letter below 'k' names has none of these. */
static double real_number(uint64_t bits, bool special) {
    static const double specials[] = {-0.0, INFINITY, NAN, -0.0, 0, -INFINITY};
    return special && bits % 61 < 6 ? specials[bits % 61] : (double)((int)(bits >> 32 & 127) - 64);
}

static value element(const operand *o, int64_t p, int64_t q, int64_t s) {
    const uint64_t bits = drawn(o, p, q, s);
    const bool special = o->name >= 'k' && o->name != 'z';
    if (is_complex(o->dtype)) {
        const bool bare = o->name == 'z'; /* one part is 0 */
        return (value){.dtype = o->dtype, .f = bare && bits % 2 == 0 ? 0 : real_number(bits, special), .im = bare && bits % 2 == 1 ? 0 : real_number(bits << 7 ^ bits >> 9, special)};
    }
    return is_real(o->dtype) ? (value){.dtype = o->dtype, .f = real_number(bits, special)} : whole_number(o->dtype, o->dtype == KRF_BOOL ? (int64_t)(bits >> 33 & 1) : (int64_t)(bits >> 32 & 127) - 64);
}

static value poison(krf_dtype dtype) { return is_complex(dtype) ? (value){.dtype = dtype, .f = 1009, .im = 2003} : whole_number(dtype, dtype == KRF_BOOL ? 1 : is_real(dtype) ? 1009 : 113); }

static krf_array *view_of(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, int64_t before, int64_t gap, bool in_columns, int64_t size, const void *data, krf_array **memory) {
    krf_array *base = NULL, *view = NULL;
    int64_t strides[3] = {1, 1, 1};
    for (int d = rank - 2; d >= 0; d--) {
        strides[d] = strides[d + 1] * shape[d + 1] + (d == rank - 2 ? gap : 0);
    }
    if (in_columns) {
        strides[1] = shape[0] + gap, strides[0] = 1;
    }
    assert_int_equal(krf_array_from_host(context, dtype, 1, &size, data, &base), KRF_OK);
    assert_int_equal(krf_array_view(base, rank, shape, strides, before, &view), KRF_OK);
    if (memory != NULL) {
        *memory = base;
    } else {
        krf_array_release(base);
    }
    return view;
}

static krf_array *make(krf_context *context, const operand *o) {
    const int64_t row = o->shape[o->rank - 1], pitch = row + o->gap;
    const int64_t planes = o->rank > 2 ? o->shape[0] : 1, rows = o->rank > 1 ? o->shape[o->rank - 2] : 1, size = o->before + planes * rows * pitch + 5;
    char *data = malloc((size_t)size * bytes_of(o->dtype));
    assert_non_null(data);
    for (int64_t i = 0; i < size; i++) {
        const int64_t at = i - o->before, q = at / pitch % rows, p = at / pitch / rows;
        const bool inside = at >= 0 && at % pitch < row && p < planes;
        put(data, i, !inside ? poison(o->dtype) : o->rank == 1 ? element(o, at, 0, 0) : o->rank == 2 ? element(o, q, at % pitch, 0) : element(o, p, q, at % pitch));
    }
    krf_array *view = view_of(context, o->dtype, o->rank, o->shape, o->before, o->gap, false, size, data, NULL);
    free(data);
    return view;
}

/* ---- running ---- */

typedef enum where { ALONE, IN_ROWS, IN_COLUMNS, IN_PLACE } where;

/* A program's one kernel, or several, its results, and those that are wanted: of rank dimensions. The first may lie in rows, or, of a matrix, in columns, of memory with something beside them, or where the first operand is. */
typedef struct task {
    const char *text;
    const operand *operands;
    const void *const *bytes; /* of operands, or NULL: they are made of element() */
    int n_operands, n_results, rank;
    int64_t shape[3];
    where where;
    const char *schedule, *source; /* on a GPU: the kernel's, and a part of its text */
    int64_t elements;              /* on a GPU, of the kernel's domain */
} task;

static void look(const run *r, const task *t, krf_array *got, krf_array *memory, int64_t gap, const value *want) {
    const krf_dtype dtype = krf_array_dtype(got);
    const bool in_columns = memory != NULL && t->where == IN_COLUMNS;
    const int64_t row = in_columns ? t->shape[0] : t->shape[t->rank - 1], pitch = row + gap, from = memory != NULL ? FROM : 0;
    krf_array *of = memory != NULL ? memory : got;
    const int64_t size = krf_array_size(of);
    char *data = malloc((size_t)size * bytes_of(dtype) + 1);
    assert_non_null(data);
    read_back(of, data, (size_t)size * bytes_of(dtype));
    for (int64_t i = 0; i < size; i++) {
        const int64_t at = i - from, n = in_columns ? at % pitch * t->shape[1] + at / pitch : at / pitch * row + at % pitch;
        const bool inside = at >= 0 && at % pitch < row && at / pitch * row < krf_array_size(got);
        const value found = get(data, dtype, i), wanted = !inside ? poison(dtype) : want[n].dtype == dtype ? want[n] : convert(want[n], dtype);
        char a[96], b[96];
        if (!same(found, wanted)) {
            COMPLAIN("%s, %s of %s, %" PRId64 " x %" PRId64 " x %" PRId64 ", operand from %" PRId64 ", gap %" PRId64 ": element %" PRId64 " is %s, not %s", t->text, r->label, name_of(t->operands[0].dtype), t->shape[0], t->shape[1], t->rank > 2 ? t->shape[2] : 1,
                     t->operands[0].before, t->operands[0].gap, i, show(found, a, 96), show(wanted, b, 96));
            break;
        }
    }
    free(data);
}

static void perform(const run *r, const task *t, const value *const *want) {
    krf_array *arrays[MOST_OPERANDS], *got[MOST_RESULTS] = {NULL}, *memory = NULL;
    krf_binding bindings[MOST_OPERANDS];
    krf_expr results[MOST_RESULTS];
    krf_graph *g = krf_graph_create(r->context);
    krf_plan *plan = NULL;
    int count = 0;
    char names[MOST_OPERANDS][2];
    const int64_t gap = t->where == IN_ROWS || t->where == IN_COLUMNS ? 4 : 0;
    assert_true(t->n_operands <= MOST_OPERANDS);
    for (int i = 0; i < t->n_operands; i++) {
        const operand *o = &t->operands[i];
        arrays[i] = t->bytes == NULL ? make(r->context, o) : view_of(r->context, o->dtype, o->rank, o->shape, o->before, o->gap, false, o->before + o->shape[0] * (o->shape[1] + o->gap) + 64, t->bytes[i], NULL);
        names[i][0] = o->name, names[i][1] = '\0';
        bindings[i] = krf_bind_array(names[i], arrays[i]);
    }
    krf_status status = krf_parse_many(g, t->text, bindings, t->n_operands, MOST_RESULTS, results, &count);
    status = status == KRF_OK ? krf_compile(g, count, results, NULL, &plan) : status;
    if (status != KRF_OK || count != t->n_results) {
        fail_msg("%s, %s: %s", t->text, r->label, krf_error_message());
    }
    if (gap > 0) {
        const krf_dtype dtype = krf_expr_dtype(results[0]);
        int64_t elements = 1;
        for (int d = 0; d < t->rank; d++) {
            elements *= t->shape[d];
        }
        const int64_t row = t->where == IN_COLUMNS ? t->shape[0] : t->shape[t->rank - 1], size = FROM + 5 + elements / row * (row + gap);
        char *data = malloc((size_t)size * bytes_of(dtype));
        assert_non_null(data);
        for (int64_t i = 0; i < size; i++) {
            put(data, i, poison(dtype));
        }
        got[0] = view_of(r->context, dtype, t->rank, t->shape, FROM, gap, t->where == IN_COLUMNS, size, data, &memory);
        free(data);
    } else if (t->where == IN_PLACE) {
        got[0] = krf_array_retain(arrays[0]);
    }
    if (krf_eval_many(count, results, got) != KRF_OK) {
        fail_msg("%s, %s: %s", t->text, r->label, krf_error_message());
    }
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    if (all.cuda && strcmp(r->label, "cuda") == 0 && t->schedule != NULL && strcmp(info.schedule, t->schedule) != 0) {
        COMPLAIN("%s of %s, %" PRId64 " x %" PRId64 ": goes by %s, not %s", t->text, name_of(t->operands[0].dtype), t->shape[0], t->shape[1], info.schedule, t->schedule);
    }
    if (all.cuda && strcmp(r->label, "cuda") == 0 && ((t->source != NULL && strstr(info.source, t->source) == NULL) || (t->elements > 0 && info.elements != t->elements))) {
        COMPLAIN("%s of %s, %" PRId64 " x %" PRId64 ": the kernel, of %" PRId64 " elements, not %" PRId64 ", should have \"%s\"", t->text, name_of(t->operands[0].dtype), t->shape[0], t->shape[1], info.elements, t->elements, t->source != NULL ? t->source : "");
    }
    for (int k = 0; k < count; k++) {
        if (!collecting) {
            look(r, t, got[k], k == 0 ? memory : NULL, k == 0 ? gap : 0, want[k]);
        }
        krf_array_release(got[k]);
    }
    krf_array_release(memory);
    for (int i = 0; i < t->n_operands; i++) {
        krf_array_release(arrays[i]);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

/* ---- arithmetic, in which nothing rounds but halves ---- */

static value numbered(krf_dtype dtype, double f, wide i) { return is_real(dtype) ? convert((value){.dtype = KRF_F64, .f = f}, dtype) : (value){.dtype = dtype, .i = wrap_to(dtype, i)}; }

static value plus(value a, value b) {
    return is_complex(a.dtype) ? (value){.dtype = a.dtype, .f = a.f + b.f, .im = a.im + b.im} : numbered(a.dtype, a.f + b.f, (wide)a.i + b.i);
}

static value minus(value a, value b) {
    return is_complex(a.dtype) ? (value){.dtype = a.dtype, .f = a.f - b.f, .im = a.im - b.im} : numbered(a.dtype, a.f - b.f, (wide)a.i - b.i);
}

/* A real number stays one, as conventions.md says. */
static value times(value a, value b) {
    if (!is_complex(a.dtype)) {
        return numbered(a.dtype, a.f * b.f, (wide)a.i * b.i);
    }
    return is_complex(b.dtype) ? (value){.dtype = a.dtype, .f = a.f * b.f - a.im * b.im, .im = a.f * b.im + a.im * b.f} : (value){.dtype = a.dtype, .f = a.f * b.f, .im = a.im * b.f};
}

static value conjugate(value a) { return (value){.dtype = a.dtype, .f = a.f, .im = -a.im}; }
static value real_of(value a) { return (value){.dtype = part_of(a.dtype), .f = a.f}; }
static value imag_of(value a) { return (value){.dtype = part_of(a.dtype), .f = a.im}; }

/* ---- squares ---- */

enum { X, Y, Z, W, V, R, Q };

/* Element (i, j) of a result of n rows and m columns, of batch b; the operands it is made of. */
typedef struct sample {
    int64_t b, i, j, batch, n, m;
    const operand *all;
} sample;

static value at(const sample *s, int which, int64_t p, int64_t q, int64_t last) { return element(&s->all[which], p, q, last); }
static value turned(const sample *s) { return at(s, X, s->j, s->i, 0); }
static value straight(const sample *s) { return at(s, Y, s->i, s->j, 0); }

static value moved(const sample *s) { return turned(s); }
static value added(const sample *s) { return plus(turned(s), straight(s)); }
static value conjugated(const sample *s) { return conjugate(turned(s)); }
static value multiplied(const sample *s) { return times(turned(s), straight(s)); }
static value by_real(const sample *s) { return times(turned(s), at(s, R, s->i, s->j, 0)); }
static value real_part(const sample *s) { return real_of(turned(s)); }
static value imaginary_less(const sample *s) { return minus(imag_of(turned(s)), at(s, R, s->i, s->j, 0)); }
static value square(const sample *s) { return plus(times(real_of(turned(s)), real_of(turned(s))), times(imag_of(turned(s)), imag_of(turned(s)))); }
static value magnitude(const sample *s) {
    const value z = at(s, Z, s->j, s->i, 0);
    return (value){.dtype = part_of(z.dtype), .f = fabs(z.f) + fabs(z.im)};
}
static value with_itself(const sample *s) { return plus(turned(s), at(s, X, s->i, s->j, 0)); }
static value onto_straight(const sample *s) { return plus(at(s, X, s->i, s->j, 0), at(s, Y, s->j, s->i, 0)); }
static value hermitian(const sample *s) { return plus(at(s, X, s->i, s->j, 0), conjugate(turned(s))); }
static value sliced(const sample *s) { return plus(at(s, X, s->j + 1, s->i + 2, 0), straight(s)); }
static value rows_back(const sample *s) { return plus(at(s, X, s->m - 1 - s->j, s->i, 0), straight(s)); }
static value columns_back(const sample *s) { return minus(at(s, X, s->j, s->n - 1 - s->i, 0), straight(s)); }
static value each_other_row(const sample *s) { return plus(at(s, X, 2 * s->j, s->i, 0), straight(s)); }
static value each_other_column(const sample *s) { return plus(at(s, X, s->j, 2 * s->i, 0), straight(s)); }
static value straight_each_other(const sample *s) { return plus(turned(s), at(s, Y, s->i, 2 * s->j, 0)); }
static value by_row(const sample *s) { return plus(turned(s), at(s, W, s->j, 0, 0)); }
static value by_column(const sample *s) { return times(turned(s), at(s, V, s->i, 0, 0)); }
static value masked(const sample *s) { return at(s, Q, s->i, s->j, 0).i != 0 ? turned(s) : straight(s); }
static value both_turned(const sample *s) { return plus(turned(s), conjugate(at(s, Y, s->j, s->i, 0))); }
static value one_other(const sample *s) { return plus(turned(s), at(s, Y, s->j, 2 * s->i, 0)); }
static value composed(const sample *s) { return (value){.dtype = s->all[X].dtype, .f = turned(s).im, .im = straight(s).f}; }
static value compared(const sample *s) { return (value){.dtype = KRF_BOOL, .i = turned(s).f == straight(s).f && turned(s).im == straight(s).im}; }
static value swapped(const sample *s) { return at(s, X, s->b, s->j, s->i); }
static value swapped_plus(const sample *s) { return plus(swapped(s), at(s, Y, s->b, s->i, s->j)); }
static value swapped_conjugate(const sample *s) { return conjugate(swapped(s)); }
static value all_turned(const sample *s) { return at(s, X, s->j, s->i, s->b); }
static value outer_turned(const sample *s) { return times(all_turned(s), at(s, Y, s->b, s->i, s->j)); }
static value to_front(const sample *s) { return plus(at(s, X, s->j, s->b, s->i), at(s, Y, s->b, s->i, s->j)); }
static value to_back(const sample *s) { return minus(at(s, X, s->i, s->j, s->b), at(s, Y, s->b, s->i, s->j)); }
static value first_two(const sample *s) { return at(s, X, s->i, s->b, s->j); }
static value for_each(const sample *s) { return plus(turned(s), at(s, Y, s->b, s->i, s->j)); }
static value swapped_part(const sample *s) { return times(at(s, X, s->b + 1, s->j + 1, s->i + 3), at(s, Y, s->b, s->i, s->j)); }
static value batches_back(const sample *s) { return plus(at(s, X, s->batch - 1 - s->b, s->m - 1 - s->j, s->i), at(s, Y, s->b, s->i, s->j)); }
static value stacked(const sample *s) {
    const value x = at(s, X, s->i, s->b, 0), y = at(s, Y, s->b, s->i, 0);
    return s->j == 0 ? real_of(x) : s->j == 1 ? imag_of(x) : s->j == 2 ? real_of(y) : imag_of(y);
}

/* Extents by letters, twice as many by large ones, and some more by digits behind them. By squares: where both are long enough, on a GPU. */
typedef struct map {
    const char *text, *x, *y;
    int rank, results;
    bool by_squares;
    value (*of[2])(const sample *);
} map;
static const map maps[] = {
    {"x.T + y", "ji", "ij", 2, 1, true, {added, NULL}},
    {"conj(x.T)", "ji", "ij", 2, 1, true, {conjugated, NULL}},
    {"x.T * y", "ji", "ij", 2, 1, true, {multiplied, NULL}},
    {"x.T", "ji", "ij", 2, 1, true, {moved, NULL}},
    {"x.T * r", "ji", "ij", 2, 1, true, {by_real, NULL}},
    {"real(x.T)", "ji", "ij", 2, 1, true, {real_part, NULL}},
    {"imag(x.T) - r", "ji", "ij", 2, 1, true, {imaginary_less, NULL}},
    {"real(x.T) * real(x.T) + imag(x.T) * imag(x.T)", "ji", "ij", 2, 1, true, {square, NULL}},
    {"abs(z.T)", "ji", "ij", 2, 1, true, {magnitude, NULL}},
    {"x[1:, 2:].T + y", "j1i2", "ij", 2, 1, true, {sliced, NULL}},
    {"x[::-1].T + y", "ji", "ij", 2, 1, true, {rows_back, NULL}},
    {"x[:, ::-1].T - y", "ji", "ij", 2, 1, false, {columns_back, NULL}},
    {"x[::2].T + y", "Ji", "ij", 2, 1, true, {each_other_row, NULL}},
    {"x[:, ::2].T + y", "jI", "ij", 2, 1, false, {each_other_column, NULL}},
    {"x.T + y[:, ::2]", "ji", "iJ", 2, 1, true, {straight_each_other, NULL}},
    {"x.T + w[None, :]", "ji", "ij", 2, 1, true, {by_row, NULL}},
    {"x.T * v[:, None]", "ji", "ij", 2, 1, true, {by_column, NULL}},
    {"where(q, x.T, y)", "ji", "ij", 2, 1, true, {masked, NULL}},
    {"x.T + conj(y.T)", "ji", "ji", 2, 1, true, {both_turned, NULL}},
    {"x.T + y[:, ::2].T", "ji", "jI", 2, 1, true, {one_other, NULL}},
    {"complex(imag(x.T), real(y))", "ji", "ij", 2, 1, true, {composed, NULL}},
    {"x.T == y", "ji", "ij", 2, 1, true, {compared, NULL}},
    {"return x.T + y, conj(x.T)", "ji", "ij", 2, 2, true, {added, conjugated}},
    {"return x.T * r, real(x.T)", "ji", "ij", 2, 2, true, {by_real, real_part}},
    {"swapaxes(x, 1, 2)", "bji", "bij", 3, 1, true, {swapped, NULL}},
    {"swapaxes(x, 1, 2) + y", "bji", "bij", 3, 1, true, {swapped_plus, NULL}},
    {"conj(swapaxes(x, 1, 2))", "bji", "bij", 3, 1, true, {swapped_conjugate, NULL}},
    {"transpose(x, (2, 1, 0))", "jib", "bij", 3, 1, false, {all_turned, NULL}},
    {"swapaxes(x, 0, 2) * y", "jib", "bij", 3, 1, false, {outer_turned, NULL}},
    {"transpose(x, (1, 2, 0)) + y", "jbi", "bij", 3, 1, true, {to_front, NULL}},
    {"transpose(x, (2, 0, 1)) - y", "ijb", "bij", 3, 1, false, {to_back, NULL}},
    {"swapaxes(x, 0, 1)", "ibj", "bij", 3, 1, false, {first_two, NULL}},
    {"x.T[None, :, :] + y", "ji", "bij", 3, 1, true, {for_each, NULL}},
    {"swapaxes(x[1:, 1:, 3:], 1, 2) * y", "b1j1i3", "bij", 3, 1, true, {swapped_part, NULL}},
    {"swapaxes(x[::-1, ::-1], 1, 2) + y", "bji", "bij", 3, 1, true, {batches_back, NULL}},
    {"return swapaxes(x, 1, 2) + y, swapaxes(x, 1, 2)", "bji", "bij", 3, 2, true, {swapped_plus, swapped}},
};
static const map with_itself_map = {"x.T + x", "ji", "ij", 2, 1, true, {with_itself, NULL}}, hermitian_map = {"x + conj(x.T)", "ji", "ij", 2, 1, true, {hermitian, NULL}};
static const map stacks[] = { /* of halves that lie across, as fields: of so many columns */
    {"stack((real(x.T), imag(x.T)), axis=-1)", "ib", "bi", 3, 1, false, {stacked, NULL}},
    {"stack((real(x.T), imag(x.T), real(y)), axis=-1)", "ib", "bi", 3, 1, false, {stacked, NULL}},
    {"stack((real(x.T), imag(x.T), real(y), imag(y)), axis=2)", "ib", "bi", 3, 1, false, {stacked, NULL}},
};
enum { MAPS = sizeof maps / sizeof *maps, PRIMARY = 3, FLAT_MAPS = 24 };

/* Around squares of 32 and of 64. */
static const int64_t sides[] = {1, 2, 31, 32, 33, 63, 64, 65, 100};
enum { SIDES = sizeof sides / sizeof *sides };

static operand shaped(char name, krf_dtype dtype, const char *extents, const int64_t *of, int64_t before, int64_t gap) {
    operand o = {.name = name, .dtype = dtype, .before = before, .gap = gap};
    for (const char *c = extents; *c != '\0'; c++) {
        if (*c >= '0' && *c <= '9') {
            o.shape[o.rank - 1] += *c - '0';
        } else {
            const int large = *c < 'a' ? 2 : 1;
            o.shape[o.rank++] = large * of[strchr("bij", *c + (large - 1) * ('a' - 'A')) - "bij"];
        }
    }
    return o;
}

static void try_map(const run *r, const map *m, krf_dtype dtype, int64_t batch, int64_t n, int64_t columns, int64_t before, int64_t gap, where lies) {
    const int64_t of[] = {batch, n, columns}, size = batch * n * columns;
    const operand operands[] = {shaped('x', dtype, m->x, of, before, gap), shaped('y', dtype, m->y, of, gap, before), shaped('z', dtype, "ji", of, 0, gap), shaped('w', dtype, "j", of, 0, 0), shaped('v', dtype, "i", of, 0, 0), shaped('r', part_of(dtype), "ij", of, before, 0), shaped('q', KRF_BOOL, "ij", of, 0, 0)};
    const bool squares = m->by_squares && lies < IN_COLUMNS && n > 1 && columns > 1 && n >= 16 && columns >= 16;
    const task t = {m->text, operands, NULL, sizeof operands / sizeof *operands, m->results, m->rank, {m->rank == 2 ? n : batch, m->rank == 2 ? columns : n, columns}, lies, squares ? "tile" : NULL, NULL, 0};
    value *want[2];
    for (int k = 0; k < 2; k++) {
        want[k] = malloc((size_t)size * sizeof **want);
        assert_non_null(want[k]);
        for (int64_t i = 0; i < size && k < m->results && !collecting; i++) {
            const sample s = {i / n / columns, i / columns % n, i % columns, batch, n, columns, operands};
            want[k][i] = m->of[k](&s);
        }
    }
    perform(r, &t, (const value *const *)want);
    free(want[0]);
    free(want[1]);
}

static krf_dtype complex_in_turn(int64_t k) { return k % 2 == 0 ? KRF_C64 : KRF_C128; }

/* C is compiled for some. */
static bool left_out(const run *r, int64_t t) { return passed_over(r) || (r->compiled && t % 14 != 0) || (!r->compiled && !all.cuda && t % 2 != 0); }

static void test_squares(void **unused) {
    static const int64_t before[] = {0, 1, 2, 5}, gaps[] = {0, 3, 1, 0, 2};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        int64_t t = 0;
        for (int k = 0; k < FLAT_MAPS; k++) {
            for (int n = 0; n < SIDES; n++) {
                for (int m = 0; m < SIDES; m++, t++) {
                    if ((k < PRIMARY || (n * SIDES + m + 5 * k) % 13 == 0) && !left_out(&all.run[r], t)) {
                        try_map(&all.run[r], &maps[k], complex_in_turn(n + m + k), 1, sides[n], sides[m], before[(n + 2 * m) % 4], gaps[(m + k) % 5], ALONE);
                    }
                }
            }
        }
        for (int n = 0; n < SIDES; n++) {
            for (int d = 0; d < 2; d++, t++) {
                if (!left_out(&all.run[r], t)) {
                    try_map(&all.run[r], &with_itself_map, complex_in_turn(d), 1, sides[n], sides[n], before[(n + d) % 4], gaps[n % 5], ALONE);
                    try_map(&all.run[r], &hermitian_map, complex_in_turn(d + 1), 1, sides[n], sides[n], 0, 0, ALONE);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_cubes(void **unused) {
    static const int64_t sizes[][3] = {{3, 33, 65}, {2, 64, 31}, {1, 32, 100}, {5, 16, 17}, {33, 2, 40}, {40, 33, 3}, {7, 1, 64}, {2, 15, 70}};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int k = FLAT_MAPS; k < MAPS; k++) {
            for (int n = 0; n < 8; n++) {
                if ((n + k) % 3 != 0 && !left_out(&all.run[r], 8 * k + n + k / 3)) {
                    try_map(&all.run[r], &maps[k], complex_in_turn(n / 2 + k), sizes[n][0], sizes[n][1], sizes[n][2], n % 3, (n + k) % 2 * 3, ALONE);
                }
            }
        }
        for (int n = 0; n < SIDES; n++) {
            for (int k = 0; k < 3; k++) {
                if (!left_out(&all.run[r], 5 * n + k)) {
                    try_map(&all.run[r], &stacks[k], complex_in_turn(n / 2 + k), sides[n], sides[(n + 3 * k + 2) % SIDES], k + 2, n % 2, n % 3, ALONE);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Nothing is written between rows. What is read across where results are written is read before. */
static void test_results(void **unused) {
    static const map onto = {"x + y.T", "ij", "ji", 2, 1, true, {onto_straight, NULL}};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int n = 0; n < SIDES; n++) {
            if (!left_out(&all.run[r], 14 * (n % 4))) {
                for (int k = 0; k < PRIMARY; k++) {
                    try_map(&all.run[r], &maps[k], complex_in_turn(n + k), 1, sides[n], sides[(n + 4 + k) % SIDES], 1, 1, IN_ROWS);
                }
                try_map(&all.run[r], &maps[n % 2 * 3], complex_in_turn(n / 2), 1, sides[n], sides[(n + 5) % SIDES], 0, n % 3, IN_COLUMNS);
                try_map(&all.run[r], &maps[FLAT_MAPS + n % 3], complex_in_turn(n), 3, sides[n], sides[SIDES - 1 - n], 1, 0, IN_ROWS);
                try_map(&all.run[r], &with_itself_map, complex_in_turn(n), 1, sides[n], sides[n], n % 3, 0, IN_PLACE);
                try_map(&all.run[r], &hermitian_map, complex_in_turn(n + 1), 1, sides[n], sides[n], 0, n % 2 * 3, IN_PLACE);
                try_map(&all.run[r], &onto, complex_in_turn(n), 1, sides[n], sides[(n + 3) % SIDES], n % 2, 0, IN_PLACE);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- stacks of a few fields ---- */

enum { MOST_FIELDS = 8, BATCHES = 3 };

/* A field is: one of its own; one of two; of records as wide, from the last; of wider ones; of planes; computed of two. And what the stack is part of. */
typedef enum field_kind { OWN, SHARED, TURNED, WIDER, PLANES, COMPUTED, FIELD_KINDS } field_kind;
typedef enum around { NOTHING, SCALED, CHOSEN, TWO, SUMMED, AROUNDS } around;

typedef struct stack {
    field_kind kind;
    around around;
    krf_dtype dtype;
    int fields;
    int64_t n;
    bool deep, middle; /* fields of rank 2; stacked along the axis between theirs */
    int64_t before, gap;
} stack;

static int wider(const stack *s) { return s->fields + 2; }
static int of_field(const stack *s, int k) { return s->kind == SHARED ? (k > 0 && k % 3 != 2) : s->kind == TURNED || s->kind == PLANES ? s->fields - 1 - k : s->kind == WIDER ? (2 * k + 1) % wider(s) : k; }

static int write_field(const stack *s, int k, char *text) {
    const int f = of_field(s, k);
    switch (s->kind) {
    case TURNED:
    case WIDER: return sprintf(text, s->deep ? "k[:, :, %d]" : "k[:, %d]", f);
    case PLANES: return sprintf(text, "k[%d]", f);
    case COMPUTED: return sprintf(text, "%s", (const char *[]){"a + b", "a - b", "b", "a * b"}[k % 4]);
    default: return sprintf(text, "%c", 'k' + f);
    }
}

static value field(const stack *s, const operand *of, int k, int64_t b, int64_t i) {
    const int f = of_field(s, k);
    const operand *o = &of[s->kind == OWN || s->kind == SHARED ? f : 0];
    switch (s->kind) {
    case TURNED:
    case WIDER: return s->deep ? element(o, b, i, f) : element(o, i, f, 0);
    case PLANES: return s->deep ? element(o, f, b, i) : element(o, f, i, 0);
    case COMPUTED: {
        const value x = s->deep ? element(&of[MOST_FIELDS], b, i, 0) : element(&of[MOST_FIELDS], i, 0, 0), y = s->deep ? element(&of[MOST_FIELDS + 1], b, i, 0) : element(&of[MOST_FIELDS + 1], i, 0, 0);
        return k % 4 == 0 ? plus(x, y) : k % 4 == 1 ? minus(x, y) : k % 4 == 2 ? y : times(x, y);
    }
    default: return s->deep ? element(o, b, i, 0) : element(o, i, 0, 0);
    }
}

/* Of a view without gaps: the rows of a plane, or of a matrix, are the second dimension's. */
static void try_stack(const run *r, const stack *s) {
    char text[400], *end = text;
    operand operands[MOST_FIELDS + 4];
    const int64_t batches = s->deep ? BATCHES : 1, size = batches * s->n * s->fields;
    const bool middle = s->deep && s->middle;
    const bool by_fields = s->around == NOTHING && s->fields == 3 && bytes_of(s->dtype) == 4 && s->n >= 32 && s->kind != TURNED; /* a thread a record */
    value *want[2] = {malloc((size_t)size * sizeof **want), malloc((size_t)size * sizeof **want)};
    assert_true(want[0] != NULL && want[1] != NULL);
    for (int k = 0; k < MOST_FIELDS + 4; k++) {
        operand *o = &operands[k];
        *o = (operand){.name = (const char[]){'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 'a', 'b', 't', 's'}[k], .dtype = s->dtype, .rank = s->deep ? 2 : 1, .shape = {s->deep ? BATCHES : s->n, s->n, 0}, .before = k == 0 ? s->before : k % 3, .gap = s->deep ? s->gap : 0};
        if (k == 0 && (s->kind == TURNED || s->kind == WIDER)) {
            o->shape[s->deep ? 2 : 1] = s->kind == TURNED ? s->fields : wider(s);
            o->shape[s->deep ? 1 : 0] = s->n;
            o->rank++, o->gap = 0;
        } else if (k == 0 && s->kind == PLANES) {
            memcpy(o->shape, s->deep ? (const int64_t[]){s->fields, BATCHES, s->n} : (const int64_t[]){s->fields, s->n, 0}, sizeof o->shape);
            o->rank++, o->gap = s->gap;
        } else if (o->name == 's') {
            *o = (operand){.name = 's', .dtype = s->dtype, .rank = 1, .shape = {s->fields, 0, 0}};
        }
    }
    end += sprintf(end, "d = stack((");
    for (int k = 0; k < s->fields; k++) {
        end += write_field(s, k, end);
        end += sprintf(end, k < s->fields - 1 ? ", " : "), axis=%d)\n", middle ? 1 : s->deep ? -1 : 1);
    }
    const char *beside = !s->deep ? "t[:, None]" : middle ? "t[:, None, :]" : "t[:, :, None]", *along = middle ? "s[None, :, None]" : s->deep ? "s[None, None, :]" : "s[None, :]";
    switch (s->around) {
    case SCALED: end += sprintf(end, "return d * %s + %s", along, beside); break;
    case CHOSEN: end += sprintf(end, "return where(%s > %s, d, %s)", beside, along, beside); break;
    case TWO: end += sprintf(end, "return d, d + %s", beside); break;
    case SUMMED: end += sprintf(end, "return max(abs(d), axis=%d)", middle || !s->deep ? 1 : 2); break;
    default: end += sprintf(end, "return d");
    }
    const bool summed = s->around == SUMMED;
    task t = {text, operands, NULL, MOST_FIELDS + 4, s->around == TWO ? 2 : 1, s->deep ? 3 : 2, {s->deep ? BATCHES : s->n, s->deep ? s->n : s->fields, s->fields}, ALONE, NULL, NULL, by_fields ? batches * s->n : 0};
    if (middle) {
        t.shape[1] = s->fields, t.shape[2] = s->n;
    }
    if (summed) {
        t.rank--, t.shape[1] = s->n;
    }
    for (int64_t at = 0; at < size && !collecting; at++) {
        const int k = (int)(middle ? at / s->n % s->fields : at % s->fields);
        const int64_t i = middle ? at % s->n : at / s->fields % s->n, b = at / s->fields / s->n, to = b * s->n + i;
        const value d = field(s, operands, k, b, i), u = s->deep ? element(&operands[MOST_FIELDS + 2], b, i, 0) : element(&operands[MOST_FIELDS + 2], i, 0, 0), w = element(&operands[MOST_FIELDS + 3], k, 0, 0);
        if (summed) {
            const value v = is_real(d.dtype) ? (value){.dtype = d.dtype, .f = fabs(d.f)} : (value){.dtype = d.dtype, .i = d.i < 0 ? -d.i : d.i};
            const bool is_nan = isnan(v.f), larger = k > 0 && (v.f > want[0][to].f || v.i > want[0][to].i);
            want[0][to] = k == 0 || is_nan || (larger && !isnan(want[0][to].f)) ? v : want[0][to];
        } else {
            want[0][at] = s->around == SCALED ? plus(times(d, w), u) : s->around == CHOSEN ? (u.f > w.f || wide_of(u) > wide_of(w) ? d : u) : d;
            want[1][at] = plus(d, u);
        }
    }
    perform(r, &t, (const value *const *)want);
    free(want[0]);
    free(want[1]);
}

static const krf_dtype field_dtypes[] = {KRF_F32, KRF_I32, KRF_F16, KRF_BF16, KRF_U8, KRF_F64};
static const int field_counts[] = {3, 2, 4, 8, 5};
static const int64_t lengths[] = {1, 31, 32, 33, 255, 256, 257, 1000, 4099};
enum { FIELD_DTYPES = 6, FIELD_COUNTS = 5, LENGTHS = sizeof lengths / sizeof *lengths };

/* Three of four bytes are all there; of the others each length and each kind with some. */
static void test_fields(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        int64_t t = 0;
        for (int f = 0; f < FIELD_COUNTS; f++) {
            for (int d = 0; d < FIELD_DTYPES; d++) {
                for (int l = 0; l < LENGTHS; l++) {
                    for (int k = 0; k < FIELD_KINDS; k++, t++) {
                        const bool own = f == 0 && d < 2;
                        if ((own ? (l + k) % 2 == 0 : (l + 2 * k + 5 * d + f) % 13 == 0) && !left_out(&all.run[r], own ? t / 2 : t)) {
                            try_stack(&all.run[r], &(stack){.kind = (field_kind)k, .around = NOTHING, .dtype = field_dtypes[d], .fields = field_counts[f], .n = lengths[l], .deep = (k + l + d) % 3 == 2, .before = (int[]){0, 0, 1, 4}[(l + d) % 4], .gap = (l + k) % 4});
                        }
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

static void test_larger(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        int64_t t = 0;
        for (int f = 0; f < FIELD_COUNTS; f++) {
            for (int d = 0; d < FIELD_DTYPES; d++) {
                for (int a = SCALED; a < AROUNDS; a++) {
                    for (int k = 0; k < FIELD_KINDS; k++, t++) {
                        if ((k + a + d + 2 * f) % (f == 0 && d < 2 ? 2 : 9) == 0 && !left_out(&all.run[r], t / 2)) {
                            try_stack(&all.run[r], &(stack){.kind = (field_kind)k, .around = (around)a, .dtype = field_dtypes[d], .fields = field_counts[f], .n = lengths[(k + 2 * a + d) % LENGTHS], .deep = (k + a) % 3 == 1, .middle = (k + d) % 2 == 0, .before = (k + a) % 2 * 4, .gap = d % 2});
                        }
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- where counting begins ---- */

/* # is where it does, ^ how many, ~ behind the last, @ some number among them, * the dtype, N and M the length and the elements; of element i and field k. */
typedef struct counting {
    const char *text;
    int rank;
    value (*of)(const operand *all, int64_t i, int k, int64_t from, int64_t some, int fields);
} counting;

static value choose(const operand *of, int64_t i, bool first) { return element(&of[first ? 0 : 1], i, 0, 0); }
static value below_some(const operand *of, int64_t i, int k, int64_t from, int64_t some, int fields) { return (void)fields, choose(of, i, from + k < some); }
static value backwards(const operand *of, int64_t i, int k, int64_t from, int64_t some, int fields) { return choose(of, i, from + fields - 1 - k < some); }
static value twofold(const operand *of, int64_t i, int k, int64_t from, int64_t some, int fields) { return (void)fields, choose(of, i, from + 2 * k < some); }
static value offset(const operand *of, int64_t i, int k, int64_t from, int64_t some, int fields) { return (void)some, (void)fields, plus(element(&of[0], i, 0, 0), whole_number(of[0].dtype, from + k)); }
static value factor(const operand *of, int64_t i, int k, int64_t from, int64_t some, int fields) { return (void)some, (void)fields, times(element(&of[0], i, 0, 0), whole_number(of[0].dtype, from + k)); }
static value in_order(const operand *of, int64_t i, int k, int64_t from, int64_t some, int fields) { return choose(of, i, from + i * fields + k < some * 9); }
static value by_records(const operand *of, int64_t i, int k, int64_t from, int64_t some, int fields) { return (void)fields, (void)k, choose(of, i, from + i < some * 9); }
static value by_both(const operand *of, int64_t i, int k, int64_t from, int64_t some, int fields) { return (void)fields, choose(of, i, i - (from + k) < some * 9); }

static const counting countings[] = {
    {"where(arange(^)[None, :] < @ - #, x[:, None], y[:, None])", 2, below_some},
    {"where(arange(#, ~)[None, :] < @, x[:, None], y[:, None])", 2, below_some},
    {"where(arange(~)[#:][None, :] < @, x[:, None], y[:, None])", 2, below_some},
    {"where(arange(~)[#:][::-1][None, :] < @, x[:, None], y[:, None])", 2, backwards},
    {"where(arange(99)[#::2][:^][None, :] < @, x[:, None], y[:, None])", 2, twofold},
    {"x[:, None] + arange(~)[#:].astype(*)[None, :]", 2, offset},
    {"x[:, None] * arange(#, ~).astype(*)[None, :]", 2, factor},
    {"where(arange(#, M).reshape(N, ^) < 9 * @, x[:, None], y[:, None])", 2, in_order},
    {"where(arange(M)[#:].reshape(N, ^) < 9 * @, x[:, None], y[:, None])", 2, in_order},
    {"where(arange(M)[#:][:N][:, None] + arange(^)[None, :] * 0 < 9 * @, x[:, None], y[:, None])", 2, by_records},
    {"where(arange(N)[:, None] - arange(~)[#:][None, :] < 9 * @, x[:, None], y[:, None])", 2, by_both},
};
enum { COUNTINGS = sizeof countings / sizeof *countings };

static void try_counting(const run *r, const counting *c, krf_dtype dtype, int fields, int64_t n, int64_t from, int64_t some) {
    char text[400], *end = text;
    const operand operands[] = {{.name = 'x', .dtype = dtype, .rank = 1, .shape = {n, 0, 0}}, {.name = 'y', .dtype = dtype, .rank = 1, .shape = {n, 0, 0}}};
    const task t = {text, operands, NULL, 2, 1, 2, {n, fields, 1}, ALONE, NULL, c == countings && fields % 2 == 0 && (size_t)fields * bytes_of(dtype) > 8 ? " = 0 + i1" : NULL, 0};
    value *want = malloc((size_t)(n * fields) * sizeof *want);
    assert_non_null(want);
    for (const char *s = c->text; *s != '\0'; s++) {
        const bool star = *s == '*' && s > c->text && s[-1] == '(';
        end += star ? sprintf(end, "%s", krf_dtype_name(dtype)) : *s == '#' ? sprintf(end, "%d", (int)from) : *s == '^' ? sprintf(end, "%d", fields) : *s == '~' ? sprintf(end, "%d", (int)from + fields) : *s == '@' ? sprintf(end, "%d", (int)some) : *s == 'N' && s[1] != 'o' ? sprintf(end, "%d", (int)n) : *s == 'M' ? sprintf(end, "%d", (int)(from + n * fields)) : sprintf(end, "%c", *s);
    }
    for (int64_t i = 0; i < n * fields && !collecting; i++) {
        want[i] = c->of(operands, i / fields, (int)(i % fields), from, some, fields);
    }
    perform(r, &t, (const value *const[]){want});
    free(want);
}

/* Kernels that differ in nothing but where counting begins follow one another, in both orders. */
static void test_counting(void **unused) {
    static const int fields[] = {4, 2, 8, 3, 5};
    static const int64_t counted[] = {33, 256, 1000}, from[] = {0, 3, 0, 1, 6, 0};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_I32, KRF_F64, KRF_BF16, KRF_U8};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        int64_t t = 0;
        for (int c = 0; c < COUNTINGS; c++) {
            for (int f = 0; f < (c < 6 ? 5 : 3); f++, t++) {
                const krf_dtype dtype = dtypes[(c + f) % 5];
                for (int k = 0; k < 6 && !left_out(&all.run[r], t); k++) {
                    try_counting(&all.run[r], &countings[c], dtype, fields[f], counted[(c + f) % 3], from[(k + f) % 6], from[(k + f) % 6] + (k + f) % fields[f] + 1);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- columns of bytes ---- */

/* Of the rows, and the columns, from one on, by steps. */
typedef struct columns {
    const char *text;
    int row, column, step, results;
    const char *kinds; /* x: the largest, n: the smallest, s: sum, a: any, l: all */
} columns;
static const columns reductions[] = {
    {"max(x, axis=0)", 0, 0, 1, 1, "x"},
    {"min(x, axis=0)", 0, 0, 1, 1, "n"},
    {"return max(x, axis=0), min(x, axis=0)", 0, 0, 1, 2, "xn"},
    {"return max(x, axis=0), sum(x, axis=0)", 0, 0, 1, 2, "xs"},
    {"max(x[:, 3:], axis=0)", 0, 3, 1, 1, "x"},
    {"return min(x[1:, 5:], axis=0), sum(x[1:, 5:], axis=0)", 1, 5, 1, 2, "ns"},
    {"return any(x, axis=0), all(x, axis=0)", 0, 0, 1, 2, "al"},
    {"return sum(x[:, 1:], axis=0), max(x[:, 1:], axis=0), min(x[:, 1:], axis=0)", 0, 1, 1, 3, "sxn"},
    {"max(x[:, ::-1], axis=0)", 0, 0, -1, 1, "x"},
    {"return min(x[:, ::2], axis=0), max(x[:, ::2], axis=0)", 0, 0, 2, 2, "nx"},
};
static const int64_t widths[] = {1, 15, 16, 17, 31, 33, 100, 255, 1000, 1001}, heights[] = {1, 2, 7, 127, 128, 129, 1000, 3000};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions, WIDTHS = 10, HEIGHTS = 8 };

/* In the middle of what there is, but for one of each column that is the largest and one that is the smallest; of bools some columns have the same everywhere. */
static int byte_at(krf_dtype dtype, int64_t i, int64_t j, int64_t n) {
    const int64_t up = (j * 7 + n / 3 + 1) % n, down = (j * 11 + n / 2) % n;
    if (dtype == KRF_BOOL) {
        return j % 4 == 0 ? 0 : j % 4 == 1 ? 1 : (i == up) == (j % 4 == 2);
    }
    const int middle = (int)((i * 37 + j * 101) % 61), v = i == up ? 190 + (int)(j % 59) : i == down ? 3 + (int)(j % 53) : 90 + middle;
    return dtype == KRF_I8 ? v - 128 : v;
}

static void try_columns(const run *r, const columns *c, krf_dtype dtype, int64_t height, int64_t width, int64_t before, int64_t gap, where lies) {
    const bool windows = c->step == 1 && strchr("xn", c->kinds[0]) != NULL && strchr(c->kinds, 's') == NULL && dtype != KRF_BOOL && width > 16 && width % 2 != 0 && height > 100;
    const int64_t rows = height + c->row, row = c->step > 1 ? 2 * width : width + c->column, pitch = row + gap, size = before + rows * pitch + 64;
    const operand o = {.name = 'x', .dtype = dtype, .rank = 2, .shape = {rows, row, 0}, .before = before, .gap = gap};
    signed char *data = malloc((size_t)size);
    value *want[MOST_RESULTS];
    int64_t *found = malloc((size_t)width * 4 * sizeof *found), *most = found, *least = found + width, *sum = found + 2 * width, *set = found + 3 * width;
    assert_true(data != NULL && found != NULL);
    for (int64_t i = 0; i < size; i++) { /* the largest and the smallest beside what is reduced */
        data[i] = (signed char)(dtype == KRF_BOOL ? i % 2 : i % 2 == 0 ? (dtype == KRF_I8 ? 127 : -1) : dtype == KRF_I8 ? -128 : 0);
    }
    for (int64_t i = 0; i < height; i++) {
        for (int64_t j = 0; j < width; j++) {
            const int v = byte_at(dtype, i, j, height);
            data[before + (i + c->row) * pitch + (c->step < 0 ? width - 1 - j : c->step * j + c->column)] = (signed char)(v > 127 ? v - 256 : v);
            most[j] = i == 0 || v > most[j] ? v : most[j];
            least[j] = i == 0 || v < least[j] ? v : least[j];
            sum[j] = (i == 0 ? 0 : sum[j]) + v;
            set[j] = (i == 0 ? 0 : set[j]) + (v != 0);
        }
    }
    for (int k = 0; k < c->results; k++) {
        want[k] = malloc((size_t)width * sizeof **want);
        assert_non_null(want[k]);
        for (int64_t j = 0; j < width; j++) {
            const char kind = c->kinds[k];
            want[k][j] = (value){.dtype = KRF_I64, .i = kind == 'x' ? most[j] : kind == 'n' ? least[j] : kind == 's' ? sum[j] : kind == 'a' ? set[j] > 0 : set[j] == height};
        }
    }
    perform(r, &(task){c->text, &o, (const void *const[]){data}, 1, c->results, 1, {width, 0, 0}, lies, NULL, windows ? "krf_window<" : NULL, 0}, (const value *const *)want);
    for (int k = 0; k < c->results; k++) {
        free(want[k]);
    }
    free(found);
    free(data);
}

static void test_bytes(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_I8, KRF_BOOL};
    static const int64_t before[] = {0, 1, 16, 5}, gaps[] = {0, 0, 1, 13};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        int64_t t = 0;
        for (int h = 0; h < HEIGHTS; h++) {
            for (int w = 0; w < WIDTHS; w++) {
                for (int k = 0; k < REDUCTIONS; k++, t++) {
                    const bool large = h > 5 && w > 6; /* of which there are few */
                    if ((k + w + h) % (large ? 4 : 3) == 0 && !left_out(&all.run[r], t / 2)) {
                        try_columns(&all.run[r], &reductions[k], dtypes[(k + h / 4) % 3], heights[h], widths[w], before[(w + h) % 4], gaps[(k + h) % 4], (h + k / 2) % 2 == 0 ? IN_ROWS : ALONE);
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_part_on(open_noted_runs(&all, false),
                       TESTS(noted_test(test_squares), noted_test(test_cubes), noted_test(test_results), noted_test(test_fields), noted_test(test_larger),
                             noted_test(test_counting), noted_test(test_bytes)));
}
