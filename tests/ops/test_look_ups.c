/* Maps that look elements up while they compute: arrays with elements around them, rolled, joined, repeated, taken by indices, with a part replaced. A thread of a GPU computes all of its elements before it stores the first
 * (codegen/cuda_each.c), and of narrow elements has two or four of a row side by side (krf__pair_vector, krf__kernel.several); so domains end about where the elements of a block do, and rows are odd, even or of fours. Against plain loops. */
#include "ops/common.h"

#include "ops/against.h"

static runs all;

enum { X, Y, I, M };                                                    /* operands: what is looked up, what is streamed beside, indices, a mask */
enum { ALONE, SAME, COLUMNS, REST, INNER, RECORDS };                    /* y's shape: the result's, of a row of x, what the result has behind x along an axis, x without its border, two numbers an element */
enum { FITS, BY_INDEX, BY_ROW, BY_EACH, TIMES };                        /* x's shape: the result's but for what is around it; a table's that indices look up along its last axis, its first, one for each element; the result's divided */
enum { CONSTANT, EDGE, REFLECT, WRAP, TABLE = 37, ROWS_OF_TABLE = 23 }; /* modes of pads; extents of tables */
enum { ALL, NUMBERS, NARROW };                                          /* x's dtypes: without bools; with integers and floats of one or two bytes alone */

typedef struct program {
    const char *text;
    formula *formula;
    int rank, axis, x, y, times, before[AXES], after[AXES], mode, constant, dtypes; /* of elements around x, those before and after it along each axis */
    int64_t shifts[2];
    krf_dtype of_y, gives; /* KRF_BOOL: as x */
    bool compares;
    formula *second; /* of another result, whose dtype that is */
    krf_dtype of_second;
} program;

static const program *running;

static int64_t at(int operand, const int64_t *index) {
    const given *g = &now->given[operand];
    int64_t place = 0;
    for (int d = 0; d < g->rank; d++) {
        place = place * g->shape[d] + index[d];
    }
    return number(operand, place);
}

static int64_t floor_mod(int64_t a, int64_t n) { return (a % n + n) % n; }
static int64_t clamped(int64_t a, int64_t n) { return a < 0 ? 0 : a >= n ? n - 1 : a; }
static int64_t as_index(int64_t a, int64_t n) { return clamped(a < 0 ? a + n : a, n); }

/* Where the element lies that stands at a place of an axis of n that is longer; -1: nowhere. */
static int64_t source(int64_t place, int64_t n, int mode) {
    const int64_t turn = n > 1 ? floor_mod(place, 2 * (n - 1)) : 0;
    switch (mode) {
    case EDGE: return clamped(place, n);
    case REFLECT: return turn < n ? turn : 2 * (n - 1) - turn;
    case WRAP: return floor_mod(place, n);
    default: return place < 0 || place >= n ? -1 : place;
    }
}

/* The index in x, or whether there is none. */
static bool inside(const int64_t *i, const int *before, int mode, int64_t *from) {
    bool there = true;
    for (int d = 0; d < running->rank; d++) {
        from[d] = source(i[d] - before[d], now->given[X].shape[d], mode);
        there = there && from[d] >= 0;
    }
    return there;
}

static int64_t padded(const int64_t *i) {
    int64_t from[AXES];
    return inside(i, running->before, running->mode, from) ? at(X, from) : running->constant;
}

static int64_t padded_and_more(const int64_t *i) { return padded(i) + at(Y, i); }
static int64_t padded_doubled(const int64_t *i) { return padded(i) * 2 + 1; }

static int64_t pad_of_computed(const int64_t *i) {
    int64_t from[AXES];
    if (!inside(i, running->before, CONSTANT, from)) {
        return 0;
    }
    const int64_t sum = at(X, from) + number(Y, from[1]);
    return sum > 3 ? sum : 3;
}

/* Pads of rows which differ in how many elements stand before, with zeros and with the nearest element. */
static int64_t sum_of_eight(const int64_t *i) {
    int64_t sum = 0;
    for (int k = 0; k < 8; k++) {
        const int before[AXES] = {0, k % 4};
        int64_t from[AXES];
        sum += inside(i, before, k / 4, from) ? at(X, from) : 0;
    }
    return sum;
}

static int64_t sum_of_two(const int64_t *i) {
    static const int ones[AXES] = {1, 1, 1, 1};
    int64_t from[AXES];
    const int64_t one = inside(i, ones, CONSTANT, from) ? at(X, from) : 0;
    return one + padded(i);
}

static int64_t rolled(const int64_t *i) {
    const int64_t *n = now->given[X].shape;
    return at(X, (int64_t[]){floor_mod(i[0] - running->shifts[0], n[0]), running->rank > 1 ? floor_mod(i[1] - running->shifts[1], n[1]) : 0});
}

static int64_t joined(const int64_t *i) {
    const int axis = running->axis;
    const int64_t n = now->given[X].shape[axis];
    int64_t from[] = {i[0], running->rank > 1 ? i[1] : 0};
    from[axis] -= i[axis] < n ? 0 : n;
    return i[axis] < n ? at(X, i) : at(Y, from);
}

static int64_t joined_computed(const int64_t *i) { return joined(i) + (i[running->axis] < now->given[X].shape[running->axis] ? 1 : 2); }

static bool is_inner(const int64_t *i, int64_t *from) {
    bool inner = true;
    for (int d = 0; d < running->rank; d++) {
        from[d] = i[d] - 1;
        inner = inner && i[d] > 0 && i[d] < now->given[X].shape[d] - 1;
    }
    return inner;
}

static int64_t replaced(const int64_t *i) { int64_t from[AXES]; return is_inner(i, from) ? at(Y, from) : at(X, i); }
static int64_t added(const int64_t *i) { int64_t from[AXES]; return at(X, i) + (is_inner(i, from) ? at(Y, from) : 0); }

static int64_t repeated(const int64_t *i) {
    int64_t from[AXES] = {i[0], i[1]};
    from[running->axis] /= running->times;
    return at(X, from);
}

static int64_t taken_at(const int64_t *i, int64_t index) {
    return running->rank == 1 ? number(X, as_index(index, TABLE)) : at(X, (int64_t[]){i[0], as_index(index, TABLE)});
}

static int64_t taken(const int64_t *i) { return taken_at(i, number(I, i[running->rank - 1])); }
static int64_t taken_computed(const int64_t *i) { return taken_at(i, number(I, i[1]) * 2 - 3); }
static int64_t taken_row(const int64_t *i) { return at(X, (int64_t[]){as_index(number(I, i[0]), ROWS_OF_TABLE), i[1]}); }
static int64_t taken_along(const int64_t *i) { return taken_at(i, at(I, i)); }
static int64_t times_taken(const int64_t *i) { return at(Y, i) * taken(i); }
static int64_t chosen(const int64_t *i) { return at(M, i) != 0 ? taken(i) : at(Y, i); }
static int64_t compared(const int64_t *i) { return at(Y, i) > taken(i); }
static int64_t with_record(const int64_t *i) { return taken(i) * number(Y, 2 * i[0]) > number(Y, 2 * i[0] + 1); }
static int64_t with_record_added(const int64_t *i) { return taken(i) * number(Y, 2 * i[0]) + number(Y, 2 * i[0] + 1); }

#define EIGHT_PADS \
    "pad(x, ((0, 0), (0, 3))) + pad(x, ((0, 0), (1, 2))) + pad(x, ((0, 0), (2, 1))) + pad(x, ((0, 0), (3, 0))) + " \
    "pad(x, ((0, 0), (0, 3)), 'edge') + pad(x, ((0, 0), (1, 2)), 'edge') + pad(x, ((0, 0), (2, 1)), 'edge') + pad(x, ((0, 0), (3, 0)), 'edge')"

static const program programs[] = {
    {.text = "pad(x, 1)", .formula = padded, .rank = 2, .before = {1, 1}, .after = {1, 1}},
    {.text = "pad(x, ((0, 0), (2, 1)), constant_values=1)", .formula = padded, .rank = 2, .before = {0, 2}, .after = {0, 1}, .constant = 1},
    {.text = "pad(x, ((1, 0), (3, 2)), 'edge')", .formula = padded, .rank = 2, .before = {1, 3}, .after = {0, 2}, .mode = EDGE},
    {.text = "pad(x, ((0, 1), (1, 2)), 'reflect')", .formula = padded, .rank = 2, .before = {0, 1}, .after = {1, 2}, .mode = REFLECT},
    {.text = "pad(x, ((2, 0), (0, 3)), 'wrap')", .formula = padded, .rank = 2, .before = {2, 0}, .after = {0, 3}, .mode = WRAP},
    {.text = "pad(x, (3, 2), 'edge')", .formula = padded, .rank = 1, .before = {3}, .after = {2}, .mode = EDGE},
    {.text = "pad(x, (1, 2), 'wrap')", .formula = padded, .rank = 1, .before = {1}, .after = {2}, .mode = WRAP},
    {.text = "pad(x, 1)", .formula = padded, .rank = 3, .before = {1, 1, 1}, .after = {1, 1, 1}},
    {.text = "pad(x, ((1, 0), (0, 2), (2, 1)), 'reflect')", .formula = padded, .rank = 3, .before = {1, 0, 2}, .after = {0, 2, 1}, .mode = REFLECT},
    {.text = "pad(x, ((0, 1), (1, 0), (0, 0), (1, 1)), 'edge')", .formula = padded, .rank = 4, .before = {0, 1, 0, 1}, .after = {1, 0, 0, 1}, .mode = EDGE},
    {.text = "pad(x, 1) + y", .formula = padded_and_more, .rank = 2, .before = {1, 1}, .after = {1, 1}, .y = SAME, .dtypes = NUMBERS},
    {.text = "pad(maximum(x + y, 3), 1)", .formula = pad_of_computed, .rank = 2, .before = {1, 1}, .after = {1, 1}, .y = COLUMNS, .dtypes = NUMBERS},
    {.text = "p = pad(x, 1); return p, f64(p) * 2 + 1", .formula = padded, .rank = 2, .before = {1, 1}, .after = {1, 1}, .second = padded_doubled, .of_second = KRF_F64},
    {.text = "p = pad(x, ((0, 0), (1, 1))); return p, f32(p) * 2 + 1", .formula = padded, .rank = 2, .before = {0, 1}, .after = {0, 1}, .second = padded_doubled, .of_second = KRF_F32},
    /* of so long bodies a thread has half as many elements, and one or one vector */
    {.text = EIGHT_PADS, .formula = sum_of_eight, .rank = 2, .after = {0, 3}, .mode = EDGE, .dtypes = NUMBERS},
    {.text = "pad(x, 1) + pad(x, ((2, 0), (0, 2), (2, 0), (0, 2)), 'reflect')", .formula = sum_of_two, .rank = 4, .before = {2, 0, 2, 0}, .after = {0, 2, 0, 2}, .mode = REFLECT, .dtypes = NUMBERS},
    {.text = "roll(x, 3, axis=1)", .formula = rolled, .rank = 2, .shifts = {0, 3}},
    {.text = "roll(x, (-1, 2), axis=(0, 1))", .formula = rolled, .rank = 2, .shifts = {-1, 2}},
    {.text = "roll(x, 5)", .formula = rolled, .rank = 1, .shifts = {5}},
    {.text = "concatenate((x, y), axis=1)", .formula = joined, .rank = 2, .axis = 1, .y = REST},
    {.text = "concatenate((x, y), axis=0)", .formula = joined, .rank = 2, .y = REST},
    {.text = "concatenate((x, y))", .formula = joined, .rank = 1, .y = REST},
    {.text = "concatenate((x + 1, y + 2), axis=1)", .formula = joined_computed, .rank = 2, .axis = 1, .y = REST, .dtypes = NUMBERS},
    {.text = "x.at[1:-1, 1:-1].set(y)", .formula = replaced, .rank = 2, .y = INNER},
    {.text = "x.at[1:-1, 1:-1].add(y)", .formula = added, .rank = 2, .y = INNER, .dtypes = NUMBERS},
    {.text = "x.at[1:-1].set(y)", .formula = replaced, .rank = 1, .y = INNER},
    {.text = "repeat(x, 2, axis=1)", .formula = repeated, .rank = 2, .axis = 1, .x = TIMES, .times = 2},
    {.text = "repeat(x, 3, axis=1)", .formula = repeated, .rank = 2, .axis = 1, .x = TIMES, .times = 3},
    {.text = "repeat(x, 3, axis=0)", .formula = repeated, .rank = 2, .x = TIMES, .times = 3},
    {.text = "take(x, i)", .formula = taken, .rank = 1, .x = BY_INDEX},
    {.text = "take(x, i, axis=1)", .formula = taken, .rank = 2, .x = BY_INDEX},
    {.text = "take(x, i * 2 - 3, axis=1)", .formula = taken_computed, .rank = 2, .x = BY_INDEX},
    {.text = "take(x, i, axis=0)", .formula = taken_row, .rank = 2, .x = BY_ROW},
    {.text = "take_along_axis(x, i, axis=1)", .formula = taken_along, .rank = 2, .x = BY_EACH},
    {.text = "y * take(x, i, axis=1)", .formula = times_taken, .rank = 2, .x = BY_INDEX, .y = SAME, .dtypes = NUMBERS},
    {.text = "where(m, take(x, i, axis=1), y)", .formula = chosen, .rank = 2, .x = BY_INDEX, .y = SAME},
    {.text = "where(m, take(x, i), y)", .formula = chosen, .rank = 1, .x = BY_INDEX, .y = SAME},
    /* vectors of two that are no pairs: of wide elements, or of records, where what is looked up, or the result, is narrow */
    {.text = "y > take(x, i)", .formula = compared, .rank = 1, .x = BY_INDEX, .y = SAME, .dtypes = NUMBERS, .of_y = KRF_F64, .compares = true},
    {.text = "take(x, i) * y[:, 0] > y[:, 1]", .formula = with_record, .rank = 1, .x = BY_INDEX, .y = RECORDS, .dtypes = NARROW, .of_y = KRF_F32, .compares = true},
    {.text = "take(x, i) * y[:, 0] + y[:, 1]", .formula = with_record_added, .rank = 1, .x = BY_INDEX, .y = RECORDS, .dtypes = NARROW, .of_y = KRF_F32, .gives = KRF_F32},
};

/* ---- shapes ---- */

enum { MOST_SHAPES = 256, SHAPES_EACH = 7, SHAPES_IN_C = 3 /* of a program and dtype */ };

typedef struct extents {
    int64_t n[AXES];
} extents;

/* Results of a rank whose rows are so long, and whose elements are as many as a block's of threads with one, two, four, or four pairs, and some less or more. */
static int shapes_of(int rank, extents *shapes) {
    static const int64_t lengths[] = {1, 2, 3, 5, 6, 7, 10, 58, 60, 62, 226, 257, 258, 1001, 1002, 1004}, blocks[] = {256, 512, 1024, 2048};
    int n = 0;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        for (int64_t off = -2; off <= 2 && rank == 1; off++) {
            shapes[n++] = (extents){{blocks[b] + off}};
        }
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths && rank > 1; l++) {
            const int64_t planes = rank == 2 ? 1 : rank == 3 ? 2 + (int64_t)l % 2 : 4, rows = blocks[b] / (planes * lengths[l]);
            for (int64_t more = lengths[l] <= 2 ? -1 : 0; more <= 1; more++) {
                const int64_t high = rows + more;
                shapes[n++] = rank == 2 ? (extents){{high, lengths[l]}} : rank == 3 ? (extents){{planes, high, lengths[l]}} : (extents){{2, 2, high, lengths[l]}};
            }
        }
    }
    shapes[n++] = rank == 1 ? (extents){{0}} : (extents){{rank > 2 ? 2 : 0, rank > 2 ? 0 : 6, 3, 6}};
    assert_true(n <= MOST_SHAPES);
    return n;
}

/* What there is of x along an axis of a result: some more, where that is too short for what is around it. */
static int64_t extent_of_x(const program *p, int axis, int64_t extent) {
    const int64_t around = p->before[axis] + p->after[axis], widest = p->before[axis] > p->after[axis] ? p->before[axis] : p->after[axis];
    const int64_t least = extent == 0 && p->mode == CONSTANT ? 0 : around == 0 ? 0 : p->mode == REFLECT ? widest + 1 : p->mode == CONSTANT ? 0 : 1;
    if (p->x == TIMES && axis == p->axis) {
        return (extent + p->times - 1) / p->times;
    }
    if (p->y == REST && axis == p->axis) {
        return extent / 2;
    }
    return extent - around > least ? extent - around : least;
}

static krf_dtype index_dtype(int turn) { return turn % 2 == 0 ? KRF_I64 : KRF_I32; }

static void set_shapes(check *c, const program *p, const extents *shape) {
    given *x = &c->given[X], *y = &c->given[Y], *index = &c->given[I], *mask = &c->given[M];
    int64_t *result = c->out[0].shape;
    const int last = p->rank - 1;
    x->rank = y->rank = mask->rank = p->rank;
    for (int d = 0; d < p->rank; d++) {
        x->shape[d] = extent_of_x(p, d, shape->n[d]);
        result[d] = p->x == TIMES && d == p->axis ? x->shape[d] * p->times : p->y == REST && d == p->axis ? shape->n[d] : x->shape[d] + p->before[d] + p->after[d];
        mask->shape[d] = result[d];
        y->shape[d] = p->y == REST && d == p->axis ? result[d] - x->shape[d] : p->y == INNER ? (result[d] > 2 ? result[d] - 2 : 0) : result[d];
    }
    if (p->y == COLUMNS) {
        y->rank = 1;
        y->shape[0] = x->shape[last];
    } else if (p->y == RECORDS) {
        y->rank = 2;
        y->shape[1] = 2;
    }
    index->rank = p->x == BY_EACH ? p->rank : 1;
    memcpy(index->shape, p->x == BY_EACH ? result : p->x == BY_ROW ? &result[0] : &result[last], (size_t)index->rank * sizeof *result);
    x->shape[last] = p->x == BY_INDEX || p->x == BY_EACH ? TABLE : x->shape[last];
    x->shape[0] = p->x == BY_ROW ? ROWS_OF_TABLE : x->shape[0];
    c->out[0].rank = p->rank;
    c->out[1] = c->out[0];
}

/* In turn operands and results begin one element into their memory, or results have something between their rows, or lie backwards. */
static void run_program(const run *r, const program *p, krf_dtype dtype, const extents *shape, int turn) {
    const int values = dtype == KRF_BOOL ? 2 : p->dtypes == ALL && p->second == NULL ? 61 : 9;
    check c = {.run = r, .text = p->text, .n_given = 4, .n_out = p->second != NULL ? 2 : 1};
    c.given[X] = (given){.name = "x", .dtype = dtype, .values = values, .offset = turn % 4 == 1};
    c.given[Y] = (given){.name = "y", .dtype = p->of_y == KRF_BOOL ? dtype : p->of_y, .values = values, .offset = turn % 4 == 2};
    c.given[I] = (given){.name = "i", .dtype = index_dtype(turn), .least = -45, .values = 90};
    c.given[M] = (given){.name = "m", .dtype = KRF_BOOL, .values = 2};
    c.out[0] = (wanted){.dtype = p->compares ? KRF_BOOL : p->gives == KRF_BOOL ? dtype : p->gives};
    set_shapes(&c, p, shape);
    c.out[0].formula = p->formula;
    c.out[1].formula = p->second;
    c.out[1].dtype = p->of_second;
    c.into = turn % 8 == 3 ? 1u << WHOLE | 1u << BACKWARDS : turn % 8 == 7 ? 1u << GAPS_AFTER_ROWS : 1u << WHOLE;
    c.begins = turn % 8 == 3;
    running = p;
    check_it(&c, all.cuda);
}

/* Compilers of C take the most time: what is the same on a CPU, whatever the dtype, they have once. */
static bool left_out(const run *r, size_t k, size_t dtype, size_t n) {
    const bool always = dtype < 3, turn = (k + dtype) % 3 == 0;
    return r->compiled ? k % n != dtype : all.cuda && !always && !turn;
}

/* Each program with some dtypes, at some of the shapes: the next program and dtype have the next of these. */
static void test_programs(void **unused) {
    static const krf_dtype dtypes[] = {KRF_BF16, KRF_U8, KRF_F32, KRF_F16, KRF_I16, KRF_I8, KRF_U16, KRF_F64, KRF_I32, KRF_BOOL};
    static extents shapes[MOST_SHAPES];
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        int turn = 0;
        for (size_t k = 0; k < sizeof programs / sizeof *programs && !passed_over(&all.run[r]); k++) {
            const program *p = &programs[k];
            const size_t n_dtypes = p->dtypes == NARROW ? 7 : p->dtypes == NUMBERS ? 9 : 10;
            const int n = shapes_of(p->rank, shapes);
            for (size_t d = 0; d < n_dtypes; d++) {
                for (int s = 0; s < (all.run[r].compiled ? SHAPES_IN_C : SHAPES_EACH) && !left_out(&all.run[r], k, d, n_dtypes) && !(p->dtypes == NARROW && dtypes[d] == KRF_F32); s++, turn++) {
                    run_program(&all.run[r], p, dtypes[d], &shapes[turn * 11 % n], s + (int)(k + d));
                }
            }
        }
    }
}

/* ---- what makes them fast ---- */

/* The plan or the source for a GPU of a function of one array. */
static char *dump_of(const char *text, krf_dtype dtype, int rank, const int64_t *shape, krf_dump_kind kind) {
    krf_graph *g = krf_graph_create(all.run[0].context);
    krf_expr y;
    char *dump = NULL;
    size_t size = 0;
    if (krf_parse(g, text, (krf_binding[]){krf_bind_expr("x", krf_placeholder(g, "x", dtype, rank, shape))}, 1, &y) != KRF_OK || krf_dump(g, 1, &y, kind, "cuda", NULL, &dump, &size) != KRF_OK) {
        fail_msg("%s: %s", text, krf_error_message());
    }
    krf_graph_destroy(g);
    return dump;
}

static const char *last_of(const char *text, const char *part) {
    const char *last = NULL;
    for (const char *found = strstr(text, part); found != NULL; found = strstr(found + 1, part)) {
        last = found;
    }
    return last;
}

static void test_text(void **unused) {
    static const struct {
        const char *text;
        krf_dtype dtype;
        int64_t columns; /* of x */
        int vector, each;
        const char *store;
    } examples[] = {
        {"pad(x, 1)", KRF_BF16, 8192, 2, 4, "*(unsigned *)(a.out0"},
        {"pad(x, 1)", KRF_U8, 8192, 2, 4, "*(unsigned short *)(a.out0"},
        {"pad(x, 1)", KRF_F32, 8192, 2, 4, "*(uint2 *)(a.out0"},
        {"pad(x, 1)", KRF_F16, 8194, 4, 2, "*(uint2 *)(a.out0"},
        {"pad(x, 1)", KRF_BF16, 8191, 1, 4, "a.out0["},
        {"pad(x, 1)", KRF_F64, 8191, 1, 4, "a.out0["},
        {EIGHT_PADS, KRF_F32, 8192, 1, 2, "a.out0["},
        {"roll(x, 3, axis=1)", KRF_F16, 8194, 2, 4, "*(unsigned *)(a.out0"},
        {"roll(x, 3, axis=1)", KRF_F32, 8193, 1, 4, "a.out0["},
        {"concatenate((x, x[:, 1:]), axis=1)", KRF_F32, 4097, 1, 4, "a.out0["},
    };
    (void)unused;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        const int64_t shape[] = {100, examples[k].columns};
        char vector[32], last[32], none[32];
        char *plan = dump_of(examples[k].text, examples[k].dtype, 2, shape, KRF_DUMP_PLAN), *source = dump_of(examples[k].text, examples[k].dtype, 2, shape, KRF_DUMP_SOURCE);
        snprintf(vector, sizeof vector, ", vector %d,", examples[k].vector);
        snprintf(last, sizeof last, "found_out0[%d] = ", examples[k].each - 1);
        snprintf(none, sizeof none, "found_out0[%d] = ", examples[k].each);
        if (strstr(plan, vector) == NULL || strstr(source, last) == NULL || strstr(source, none) != NULL) {
            COMPLAIN("%s of %s: no \"%s\", or not %d a thread:\n%s%s", examples[k].text, name_of(examples[k].dtype), vector, examples[k].each, plan, source);
        }
        const char *load = last_of(source, "(v_in"), *store = strstr(source, examples[k].store);
        if (load == NULL || store == NULL || store < load) {
            COMPLAIN("%s of %s: a store before the last load:\n%s", examples[k].text, name_of(examples[k].dtype), source);
        }
        krf_free(plan);
        krf_free(source);
    }
}

/* Lengths of rows of which a variance is are none of its kernels' text. */
static void test_variances(void **unused) {
    static const int64_t lengths[] = {50000, 50016};
    char names[2][64] = {"", ""};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        char *plan = dump_of("var(x)", KRF_F32, 1, &lengths[i], KRF_DUMP_PLAN);
        const char *kernel = strstr(plan, "kernel 0: ");
        assert_non_null(kernel);
        assert_int_equal(sscanf(kernel, "kernel 0: %63s", names[i]), 1);
        krf_free(plan);
    }
    assert_string_equal(names[0], names[1]);
}

static void test_failures(void **unused) {
    (void)unused;
    assert_int_equal(failures, 0);
}

int main(void) { return run_on(open_noted_runs(&all, false), TESTS(noted_test(test_programs), cmocka_unit_test(test_text), cmocka_unit_test(test_variances), cmocka_unit_test(test_failures))); }
