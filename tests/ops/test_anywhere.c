/* What begins anywhere in memory: rows that a GPU reads by the aligned words in which they lie, rows of some chunks that are a warp's each, columns of bytes that do not come in whole
 * vectors, maps of narrow elements. Against the canonical tree (tree.h) and plain loops. Beside the elements lie NaN, infinities and what is largest: nothing of it may reach a result.
 * (The simulated device reads zeros there, as it touches no other memory: so there are sums of what is no zero, rows below zero, and zeros to be found.) */
#include "ops/tree.h"

static runs all_runs;

/* That of this test. */
static void none_failed(void) {
    const int n = failures;
    failures = 0;
    assert_int_equal(n, 0);
}

/* ---- where rows lie ---- */

/* Rows of n elements, `rows` in each of `batches`: from the first to the next `pitch` elements, `above` rows before those of a batch, `before` elements ahead of the first; twos: each other one is taken. A view
 * of the array is one that the text takes; or users have made it, so that its address is that of its first element. */
typedef struct place {
    int64_t batches, rows, n, pitch, before;
    bool back, above, viewed, twos;
} place;

typedef struct operand {
    krf_dtype dtype;
    place at;
    int64_t count; /* elements of memory */
    char *memory;
    double *real; /* the same, as numbers; those of integers are in whole */
    int64_t *whole;
} operand;

static int64_t rows_of(const place *p) { return p->batches * p->rows; }

static int64_t first_of(const place *p, int64_t row) {
    const int64_t batch = row / p->rows, r = row % p->rows;
    return (batch * (p->rows + p->above) + p->above + (p->back ? p->rows - 1 - r : r)) * p->pitch + p->before;
}

/* ---- elements ---- */

enum { POOL = 509 };
typedef enum sign { ABOVE, BELOW, EITHER, BESIDE, SPARSE, LARGEST, POOLS } sign;
typedef enum filling { EVERYDAY, RARE, TOP } filling;

static value number(krf_dtype dtype, double f, int64_t i) { return (value){.dtype = dtype, .f = is_real(dtype) ? f : 0, .i = is_real(dtype) ? 0 : dtype == KRF_BOOL ? i != 0 : i}; }
static int64_t largest(krf_dtype dtype) { return (int64_t)(UINT64_MAX >> (64 - 8 * bytes_of(dtype) + !facts_of(dtype)->is_unsigned)); }
static int64_t least(krf_dtype dtype) { return facts_of(dtype)->is_unsigned ? 0 : -largest(dtype) - 1; }

/* Floats around 1 round in each sum and product, and their products stay in range; integers are odd, as then no product of them is 0. */
static value draw(krf_dtype dtype, sign s, uint64_t *state) {
    static const double floats[] = {NAN, INFINITY, -INFINITY, 60000, 0};
    const uint64_t bits = next_random(state);
    const bool below = s == BELOW || (s == EITHER && (bits >> 40 & 1) != 0);
    if (s == BESIDE) {
        const int64_t integers[] = {largest(dtype), least(dtype), dtype == KRF_BOOL, 0, 1};
        return convert(number(is_real(dtype) ? KRF_F64 : dtype, floats[bits % 5], integers[bits % 5]), dtype);
    }
    if (s == LARGEST || (s == SPARSE && bits % 11 > 1)) {
        return number(dtype, 0, s == LARGEST ? largest(dtype) : 0);
    }
    const double f = exp2((random_unit(state) - 0.5) / 4);
    const int64_t i = (int64_t)(bits & (uint64_t)largest(dtype)) | 1;
    const bool minus = below && !facts_of(dtype)->is_unsigned;
    return convert(number(is_real(dtype) ? KRF_F64 : dtype, below ? -f : f, dtype == KRF_BOOL ? !below : minus ? -i : i), dtype);
}

static const char *pool_of(krf_dtype dtype, sign s) {
    static char pools[DTYPES][POOLS][POOL * 8];
    static bool made[DTYPES];
    uint64_t state = 99;
    for (int k = 0; k < POOLS && !made[dtype]; k++) {
        for (int i = 0; i < POOL; i++) {
            put(pools[dtype][k], i, draw(dtype, (sign)k, &state));
        }
    }
    made[dtype] = true;
    return pools[dtype][s];
}

static void fill(operand *o, int64_t first, int64_t n, sign s, uint64_t *state) {
    const char *pool = pool_of(o->dtype, s);
    const size_t bytes = bytes_of(o->dtype);
    for (int64_t i = 0; i < n; i++) {
        memcpy(o->memory + (size_t)(first + i) * bytes, pool + (size_t)random_below(state, POOL) * bytes, bytes);
    }
}

/* Rows in turn lie above zero, lie below it, have one zero, and have their largest and least element at places where one is easily lost. Of bools all are true, none is, all but one, one. */
static void fill_row(operand *o, int64_t row, int turn, uint64_t *state) {
    const int64_t first = first_of(&o->at, row), n = o->at.n, places[] = {0, n - 1, n - 2, 1, n / 2, 255 % n, 256 % n, 1023 % n, 1024 % n, 7 % n};
    const int64_t at = first + places[(row / 4 + turn) % 10], other = 2 * first + n - 1 - at;
    const bool is_bool = o->dtype == KRF_BOOL;
    static const sign signs[] = {ABOVE, BELOW, EITHER, EITHER};
    fill(o, first, n, is_bool && row % 4 >= 2 ? (row % 4 == 2 ? ABOVE : BELOW) : signs[row % 4], state);
    if (row % 4 == 2) {
        put(o->memory, at, number(o->dtype, 0, 0));
    } else if (row % 4 == 3) {
        put(o->memory, other, number(o->dtype, -3, is_bool ? 0 : least(o->dtype) + 1));
        put(o->memory, at, number(o->dtype, 3, is_bool ? 1 : largest(o->dtype)));
    }
}

static operand make_operand(krf_dtype dtype, const place *at, filling how, int turn, uint64_t *state) {
    operand o = {.dtype = dtype, .at = *at};
    const int64_t n_rows = rows_of(at);
    assert_true(at->viewed || at->before + at->n * (1 + at->twos) <= at->pitch);
    o.count = at->batches * (at->rows + at->above) * at->pitch;
    if (at->viewed) {
        o.count = (at->batches * (at->rows + at->above) - 1) * at->pitch + at->before + at->n;
    }
    o.memory = calloc((size_t)o.count, bytes_of(dtype));
    o.real = malloc((size_t)o.count * sizeof *o.real);
    o.whole = malloc((size_t)o.count * sizeof *o.whole);
    assert_true(o.memory != NULL && o.real != NULL && o.whole != NULL);
    if (collecting) {
        return o;
    }
    const bool overlap = at->pitch < at->n && n_rows > 1; /* many rows in little memory */
    fill(&o, 0, o.count, !overlap && !at->twos ? BESIDE : how == RARE ? SPARSE : how == TOP ? LARGEST : EITHER, state);
    for (int64_t r = 0; r < n_rows && !overlap && !at->twos; r++) {
        if (how == RARE) {
            fill(&o, first_of(at, r), at->n, SPARSE, state);
        } else {
            fill_row(&o, r, turn, state);
        }
    }
    for (int64_t i = 0; i < o.count; i++) {
        const value v = get(o.memory, dtype, i);
        o.real[i] = is_real(dtype) ? v.f : dtype == KRF_U64 ? (double)(uint64_t)v.i : (double)v.i;
        o.whole[i] = v.i;
    }
    return o;
}

static void free_operand(operand *o) {
    free(o->memory);
    free(o->real);
    free(o->whole);
}

static krf_array *array_of(krf_context *context, const operand *o) {
    const place *p = &o->at;
    const int64_t shape[] = {p->batches, p->viewed ? p->rows : p->rows + p->above, p->viewed ? p->n : p->pitch};
    const int64_t strides[] = {(p->rows + p->above) * p->pitch, p->back ? -p->pitch : p->pitch, 1};
    krf_array *base = NULL, *view = NULL;
    if (krf_array_from_host(context, o->dtype, 1, &o->count, o->memory, &base) != KRF_OK ||
        krf_array_view(base, 3, shape, p->viewed ? strides : NULL, p->viewed ? first_of(p, 0) : 0, &view) != KRF_OK) {
        fail_msg("operand: %s", krf_error_message());
    }
    krf_array_release(base);
    return view;
}

/* Operand k as the text takes it. */
static size_t write_place(const place *p, int k, int array, char *text, size_t bytes) {
    size_t at = (size_t)snprintf(text, bytes, "%c = x%d", 'x' + k, array);
    if (!p->viewed) {
        at += (size_t)snprintf(text + at, bytes - at, "[:, %d:, %" PRId64 ":%" PRId64 "%s]%s", p->above ? 1 : 0, p->before, p->before + p->n * (1 + p->twos), p->twos ? ":2" : "",
                               p->back ? "[:, ::-1]" : "");
    }
    return at + (size_t)snprintf(text + at, bytes - at, "\n");
}

/* ---- programs ---- */

/* X: the elements of the first operand; w: an array of one element a row. COSTLY: what a user's function with a loop makes of an element, 2 x + 3. COUNTED: x and the place in its row. */
typedef enum source { X, Y, XY, XW, WIDE, LESS, XOR, LESS_AND, TWICE, COSTLY, SQUARE, COUNTED } source;
enum { LATEST = REDUCTIONS, ARGMAX, ARGMIN, VAR, ELEMENTS, MOST = 8, OPERANDS = 3, BESIDE_ROWS = 64 };

static const char *const sources[] = {[X] = "x", [Y] = "y", [XY] = "x * y", [XW] = "w + x", [WIDE] = "f64(x)", [LESS] = "x - y", [XOR] = "x ^ y", [LESS_AND] = "x - y + z", [TWICE] = "x + x", [COSTLY] = "costly(x)", [SQUARE] = "i32(x) * i32(x)", [COUNTED] = "x + "};
static const char *const others[] = {"latest", "argmax", "argmin", "var"};

typedef struct program {
    int n, operands;
    struct {
        int op;
        source of;
    } results[MOST];
    filling how;
    bool plus; /* v is added to each: an array of one element a result */
} program;

static const program sum_x = {.n = 1, .operands = 1, .results = {{SUM, X}}},
                     several = {.n = 7, .operands = 1, .results = {{SUM, X}, {PROD, X}, {MAX, X}, {MIN, X}, {ANY, X}, {ALL, X}, {MEAN, X}}},
                     any_order = {.n = 6, .operands = 1, .results = {{SUM, X}, {PROD, X}, {MAX, X}, {MIN, X}, {ANY, X}, {ALL, X}}},
                     three = {.n = 3, .operands = 1, .results = {{SUM, X}, {PROD, X}, {MAX, X}}}, dot = {.n = 2, .operands = 2, .results = {{SUM, XY}, {MAX, XY}}},
                     shifted = {.n = 2, .operands = 1, .results = {{SUM, XW}, {MAX, XW}}}, mean_x = {.n = 1, .operands = 1, .results = {{MEAN, X}}},
                     wide_sum = {.n = 1, .operands = 1, .results = {{SUM, WIDE}}}, extreme = {.n = 1, .operands = 1, .results = {{MAX, X}}}, ends = {.n = 3, .operands = 1, .results = {{MAX, X}, {MIN, X}, {SUM, X}}}, truths = {.n = 3, .operands = 1, .results = {{ANY, X}, {ALL, X}, {SUM, X}}},
                     first_place = {.n = 1, .operands = 1, .results = {{ARGMAX, X}}}, both_places = {.n = 2, .operands = 1, .results = {{ARGMAX, X}, {ARGMIN, X}}},
                     variance = {.n = 1, .operands = 1, .results = {{VAR, X}}}, mixed = {.n = 3, .operands = 2, .results = {{SUM, XY}, {SUM, X}, {MIN, Y}}},
                     sums = {.n = 2, .operands = 2, .results = {{SUM, X}, {SUM, Y}}}, latest_x = {.n = 1, .operands = 1, .results = {{LATEST, X}}, .how = RARE},
                     latest_and = {.n = 3, .operands = 1, .results = {{SUM, X}, {LATEST, X}, {MAX, X}}, .how = RARE},
                     top = {.n = 1, .operands = 1, .results = {{SUM, X}}, .how = TOP}, less = {.n = 1, .operands = 2, .results = {{ELEMENTS, LESS}}},
                     less_and = {.n = 1, .operands = 3, .results = {{ELEMENTS, LESS_AND}}}, twice = {.n = 1, .operands = 1, .results = {{ELEMENTS, TWICE}}},
                     xor = {.n = 1, .operands = 2, .results = {{ELEMENTS, XOR}}}, products = {.n = 2, .operands = 2, .results = {{ELEMENTS, XY}, {ELEMENTS, LESS}}},
                     counted = {.n = 1, .operands = 1, .results = {{ELEMENTS, COUNTED}}}, costly = {.n = 2, .operands = 1, .results = {{SUM, COSTLY}, {MAX, COSTLY}}},
                     plus = {.n = 1, .operands = 1, .results = {{SUM, X}}, .plus = true}, squared = {.n = 1, .operands = 1, .results = {{SUM, SQUARE}}}, stored = {.n = 2, .operands = 1, .results = {{ELEMENTS, XW}, {SUM, XW}}};

enum { MADE = 0, OVER = -1 };

typedef struct example {
    const program *program;
    krf_dtype dtype[OPERANDS];
    place at[OPERANDS];
    bool columns; /* what is reduced: x's rows, over each other */
    bool same;    /* the second operand is another view of the first one's array */
    int given;    /* elements of memory before the results; MADE by the library; OVER: the last operand's */
    int gap;      /* elements behind rows of given results */
    int turn;
    const char *part; /* that the kernel's text must have on a GPU, or NULL */
} example;

static krf_dtype promoted(krf_dtype a, krf_dtype b) { return is_real(a) != is_real(b) ? (is_real(a) ? a : b) : bytes_of(a) >= bytes_of(b) ? a : b; }

static krf_dtype source_dtype(const example *e, source s) {
    const krf_dtype both = promoted(e->dtype[0], e->dtype[1]);
    return s == X || s == XW || s == TWICE || s == COSTLY || s == COUNTED ? e->dtype[0] : s == Y ? e->dtype[1] : s == SQUARE ? KRF_I32 : s == WIDE ? KRF_F64 : s == LESS_AND ? promoted(both, e->dtype[2]) : both;
}

static krf_dtype op_dtype(int op, krf_dtype x) {
    switch (op) {
    case LATEST: return x;
    case ARGMAX:
    case ARGMIN: return KRF_I64;
    case VAR: return is_real(x) ? x : KRF_F64;
    case ELEMENTS: return x;
    default: return result_dtype((reduction_op)op, x);
    }
}

static bool has(const program *p, source s) {
    bool found = false;
    for (int k = 0; k < p->n; k++) {
        found |= p->results[k].of == s;
    }
    return found;
}

static void write_text(const example *e, char *text, size_t bytes) {
    size_t at = 0;
    for (int k = 0; k < e->program->operands; k++) {
        at += write_place(&e->at[k], k, e->same && k == 1 ? 0 : k, text + at, bytes - at);
    }
    for (int k = 0; k < e->program->n; k++) {
        const int op = e->program->results[k].op;
        const source of = e->program->results[k].of;
        const char *zero = (op == ANY || op == ALL) && source_dtype(e, of) != KRF_BOOL ? (op == ANY ? " == 0" : " != 0") : "";
        at += (size_t)snprintf(text + at, bytes - at, "%s", k == 0 ? "return " : ", ");
        if (op == ELEMENTS) {
            at += (size_t)snprintf(text + at, bytes - at, "%s", sources[of]);
            at += of == COUNTED ? (size_t)snprintf(text + at, bytes - at, "%s(arange(%" PRId64 "))", name_of(e->dtype[0]), e->at[0].n) : 0;
        } else {
            at += (size_t)snprintf(text + at, bytes - at, "%s(%s%s, axis=%d)", op < REDUCTIONS ? rows[op].name : others[op - REDUCTIONS], sources[of], zero, e->columns ? 1 : 2);
        }
        at += e->program->plus ? (size_t)snprintf(text + at, bytes - at, " + v") : 0;
    }
}

/* The elements of a row: both are there, of which one means something. */
typedef struct line {
    krf_dtype dtype;
    int64_t n;
    const double *real;
    const int64_t *whole;
} line;

static double real_of(krf_dtype dtype, source s, double a, double b, double c) {
    const bool wide_ = dtype == KRF_F64; /* of others the exact product or sum is an f64 */
    switch (s) {
    case WIDE: return a;
    case COSTLY: return round_to(dtype, (long double)(2 * a + 3));
    case XY: return wide_ ? a * b : round_to(dtype, (long double)(a * b));
    case LESS: return round_to(dtype, (long double)(a - b));
    default: return round_to(dtype, (long double)(a + (s == TWICE ? a : c)));
    }
}

static int64_t whole_of(krf_dtype dtype, source s, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t all = s == XY ? a * b : s == LESS ? a - b : s == LESS_AND ? a - b + c : s == XOR ? a ^ b : s == TWICE ? a + a : s == COSTLY ? 2 * a + 3 : s == SQUARE ? a * a : a + c;
    return wrap_to(dtype, (wide)all);
}

/* Row i of an operand, or of columns the i-th element of each. */
static int64_t at_of(const example *e, const operand *o, int64_t i, int64_t k) { return e->columns ? first_of(&o->at, k) + i : first_of(&o->at, i) + k * (1 + o->at.twos); }

/* Which is element i of the results, or all that it is made of. */
static line line_of(const example *e, const operand *o, const int64_t *w, int64_t row, source s, double *real, int64_t *whole) {
    line l = {source_dtype(e, s), e->columns ? e->at[0].rows : e->at[0].n, real, whole};
    const operand *x = &o[s == Y], *y = e->program->operands > 1 ? &o[1] : x, *z = e->program->operands > 2 ? &o[2] : NULL;
    if (!e->columns && (s == X || s == Y) && !x->at.twos) {
        l.real = x->real + first_of(&x->at, row);
        l.whole = x->whole + first_of(&x->at, row);
        return l;
    }
    const krf_dtype inner = s == LESS_AND ? e->dtype[0] : l.dtype; /* x - y is rounded, or wraps, before it meets z */
    for (int64_t i = 0; i < l.n; i++) {
        const int64_t a = at_of(e, x, row, i), b = at_of(e, y, row, i), c = z != NULL ? at_of(e, z, row, i) : 0;
        const uint64_t p = (uint64_t)x->whole[a], q = (uint64_t)y->whole[b];
        double left = x->real[a];
        if (s == LESS_AND) {
            left = is_real(inner) ? real_of(inner, LESS, left, y->real[b], 0) : (double)whole_of(inner, LESS, p, q, 0);
        }
        const int64_t beside = s == COUNTED ? i : w[row % BESIDE_ROWS];
        if (s == X || s == Y) {
            real[i] = left;
            whole[i] = x->whole[a];
        } else if (is_real(l.dtype)) {
            real[i] = real_of(l.dtype, s, left, y->real[b], z != NULL ? z->real[c] : (double)beside);
        } else {
            whole[i] = whole_of(l.dtype, s, p, q, z != NULL ? (uint64_t)z->whole[c] : (uint64_t)beside);
        }
    }
    return l;
}

/* The one that comes latest in the tree and is not 0: associative, but each operand has its side. */
static double latest_of_chunk(const double *x, int64_t n) {
    double lanes[256] = {0};
    for (int64_t i = 0; i < n; i++) {
        lanes[i % 256] = x[i] != 0 ? x[i] : lanes[i % 256];
    }
    for (int half = 128; half > 0; half /= 2) {
        for (int k = 0; k < half; k++) {
            lanes[k] = lanes[k + half] != 0 ? lanes[k + half] : lanes[k];
        }
    }
    return lanes[0];
}

static double latest_of(const double *x, int64_t n) {
    double chunks[256];
    int count = 0;
    for (int64_t i = 0; i < n; i += 1024) {
        assert_true(count < 256);
        chunks[count++] = latest_of_chunk(x + i, n - i < 1024 ? n - i : 1024);
    }
    return latest_of_chunk(chunks, count);
}

/* Of the first largest or least one. */
static int64_t place_of(const line *l, bool most) {
    int64_t found = 0;
    for (int64_t i = 1; i < l->n; i++) {
        const int64_t high = most ? i : found, low = most ? found : i;
        const int64_t p = l->whole[high], q = l->whole[low];
        const bool better = is_real(l->dtype) ? l->real[high] > l->real[low] : l->dtype == KRF_U64 ? (uint64_t)p > (uint64_t)q : p > q;
        found = better ? i : found;
    }
    return found;
}

static double variance_of(const line *l) {
    long double mean = 0, squares = 0;
    for (int64_t i = 0; i < l->n; i++) {
        mean += (long double)l->real[i];
    }
    mean /= (long double)l->n;
    for (int64_t i = 0; i < l->n; i++) {
        squares += ((long double)l->real[i] - mean) * ((long double)l->real[i] - mean);
    }
    return (double)(squares / (long double)l->n);
}

static int64_t found_in(const line *l, bool any) {
    int64_t zeros = 0;
    for (int64_t i = 0; i < l->n; i++) {
        zeros += is_real(l->dtype) ? l->real[i] == 0 : l->whole[i] == 0;
    }
    return l->dtype != KRF_BOOL ? (any ? zeros > 0 : zeros == 0) : any ? zeros < l->n : zeros == 0;
}

static value reduced(int op, const line *l) {
    value v = {.dtype = op_dtype(op, l->dtype)};
    const krf_dtype accumulator = is_half(v.dtype) ? KRF_F32 : v.dtype;
    if (op == ANY || op == ALL) {
        v.i = found_in(l, op == ANY);
    } else if (op == ARGMAX || op == ARGMIN) {
        v.i = place_of(l, op == ARGMAX);
    } else if (op == LATEST) {
        v = convert((value){.dtype = KRF_F64, .f = latest_of(l->real, l->n)}, v.dtype);
    } else if (op == VAR) {
        v.f = round_to(v.dtype, (long double)variance_of(l));
    } else if (is_real(v.dtype)) {
        v.f = canonical_tree((reduction_op)op, accumulator == KRF_F32, l->real, l->n);
        v.f = op == MEAN ? round_to(accumulator, (long double)v.f / (long double)round_to(accumulator, (long double)l->n)) : v.f;
        v.f = round_to(v.dtype, (long double)v.f);
    } else {
        v.i = reduce_integers((reduction_op)op, v.dtype, l->whole, l->n);
    }
    return v;
}

/* Of a result: its shape, and how many elements it has. */
static int64_t shape_of(const example *e, int k, int *rank, int64_t *shape) {
    const place *p = &e->at[0];
    const bool elements = e->program->results[k].op == ELEMENTS;
    *rank = elements ? 3 : 2;
    shape[0] = p->batches;
    shape[1] = e->columns ? p->n : p->rows;
    shape[2] = elements ? p->n : 1;
    return shape[0] * shape[1] * shape[2];
}

/* A result and what is added to it. */
static value with(const example *e, value v, int64_t r) {
    const int64_t more = e->program->plus ? r % 7 + 1 : 0;
    if (is_real(v.dtype) && more > 0) {
        v.f = real_of(v.dtype, XW, v.f, 0, (double)more);
    } else {
        v.i = whole_of(v.dtype, XW, (uint64_t)v.i, 0, (uint64_t)more);
    }
    return v;
}

static void put_element(const line *l, int64_t i, value *to) { *to = number(l->dtype, l->real[i], l->whole[i]); }

/* All elements of result k. */
static value *expect(const example *e, const operand *o, const int64_t *w, int k) {
    const int64_t most = e->at[0].n > e->at[0].rows ? e->at[0].n : e->at[0].rows;
    int64_t shape[3];
    int rank;
    value *all = malloc((size_t)shape_of(e, k, &rank, shape) * sizeof *all);
    double *real = malloc((size_t)most * sizeof *real);
    int64_t *whole = malloc((size_t)most * sizeof *whole);
    assert_true(all != NULL && real != NULL && whole != NULL);
    for (int64_t r = 0; r < shape[0] * shape[1] && !collecting; r++) {
        const line l = line_of(e, o, w, r, e->program->results[k].of, real, whole);
        if (rank == 2) {
            all[r] = with(e, reduced(e->program->results[k].op, &l), r);
        }
        for (int64_t i = 0; i < l.n && rank == 3; i++) {
            put_element(&l, i, &all[r * l.n + i]);
        }
    }
    free(real);
    free(whole);
    return all;
}

/* ---- what must be looked for ---- */

/* Whether rows begin in the midst of vectors of v; and whether both operands do so alike. Dimensions of one element are none, and those that follow one another are one. */
static bool is_beside(const place *p, int v) {
    return (!p->viewed && p->before % v != 0) || (rows_of(p) > 1 && p->pitch % v != 0);
}

static bool alike(const place *a, const place *b, int v) {
    const int64_t strides = a->pitch * (a->back ? -1 : 1) - b->pitch * (b->back ? -1 : 1);
    return (first_of(a, 0) - first_of(b, 0)) % v == 0 && (a->rows == 1 || strides % v == 0) && (a->batches == 1 || ((a->rows + a->above) * (a->pitch - b->pitch)) % v == 0);
}

/* 1: rows must be read by the words of memory; 0: they must not; -1: who knows. */
static int must_drift(const example *e) {
    const program *p = e->program;
    const krf_dtype x = e->dtype[0];
    size_t bytes = bytes_of(x);
    bool taken = true, commutes = true, rounds = false;
    for (int k = 0; k < p->n; k++) {
        const int op = p->results[k].op;
        taken &= p->results[k].of <= Y && (op == SUM || op == MEAN || op == MAX || op == MIN || ((op == ANY || op == ALL) && x == KRF_BOOL));
        commutes &= p->results[k].op != LATEST;
        rounds |= p->results[k].op == VAR || (p->results[k].op >= ARGMAX && bytes == 8);
    }
    if (p->operands > 1) {
        bytes = bytes_of(e->dtype[1]) > bytes ? bytes_of(e->dtype[1]) : bytes;
        taken &= bytes_of(e->dtype[1]) == 1;
    }
    const int v = 16 / (int)bytes;
    const bool steps = e->at[0].twos || (p->operands > 1 && e->at[1].twos);
    const bool beside = is_beside(&e->at[0], v) || (p->operands > 1 && is_beside(&e->at[1], v)), both = p->operands == 1 || alike(&e->at[0], &e->at[1], v);
    const bool by_address = p->operands > 1 && e->at[0].viewed && e->at[0].before != e->at[1].before; /* of which the text that is looked at knows nothing */
    /* short rows that come in vectors of eight bytes may go by these */
    const int shorter = bytes == 2 && e->at[0].n <= 1024 ? 4 : v;
    const bool in_shorter = shorter < v && !is_beside(&e->at[0], shorter) && (p->operands == 1 || !is_beside(&e->at[1], shorter));
    const bool place_of_byte = bytes == 1 && p->n == 1 && p->operands == 1 && p->results[0].op >= ARGMAX && p->results[0].of == X; /* where a warp has the row */
    if (rounds || e->columns || p->results[0].op == ELEMENTS || by_address || in_shorter || place_of_byte) {
        return -1;
    }
    if (has(p, COSTLY)) {
        return 0; /* what users define is computed for elements only */
    }
    return e->at[0].n > 256 && commutes && (bytes > 1 || taken) && beside && both && !steps;
}

/* The text that runs where all addresses are whole. */
static void look_at_kernel(const example *e, krf_graph *g, int n, const krf_expr *x, const char *what) {
    krf_compile_options options = krf_compile_options_default();
    krf_kernel_info info = {.size = sizeof info};
    krf_plan *plan = NULL;
    const int drift = must_drift(e);
    options.load = false;
    if (krf_compile(g, n, x, &options, &plan) != KRF_OK || krf_plan_kernel(plan, 0, &info) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    if (drift >= 0 && (strstr(info.source, "const int drift = ") != NULL) != (drift == 1)) {
        COMPLAIN("%s: %s %s by the words of memory", what, info.schedule, drift == 1 ? "does not read rows" : "reads rows");
    }
    if (e->part != NULL && strstr(info.source, e->part) == NULL) {
        COMPLAIN("%s: %s, without %s", what, info.schedule, e->part);
    }
    krf_plan_release(plan);
}

/* ---- one example ---- */

enum { GUARD = 0x5A, AFTER = 3 };

/* Memory for results, in the midst of others. */
typedef struct room {
    krf_array *all, *view;
    int64_t count;
} room;

static room make_room(krf_context *context, krf_dtype dtype, int rank, const int64_t *shape, const example *e) {
    const int64_t along = shape[rank - 1] + e->gap, strides[] = {rank == 2 ? along : shape[1] * along, rank == 2 ? 1 : along, 1};
    room r = {.count = e->given + shape[0] * strides[0] + AFTER};
    char *memory = malloc((size_t)r.count * bytes_of(dtype));
    assert_non_null(memory);
    memset(memory, dtype == KRF_BOOL ? 1 : GUARD, (size_t)r.count * bytes_of(dtype));
    if (krf_array_from_host(context, dtype, 1, &r.count, memory, &r.all) != KRF_OK || krf_array_view(r.all, rank, shape, strides, e->given, &r.view) != KRF_OK) {
        fail_msg("results: %s", krf_error_message());
    }
    free(memory);
    return r;
}

static void check_beside(const room *r, const example *e, const char *what) {
    const krf_dtype dtype = krf_array_dtype(r->view);
    const size_t bytes = bytes_of(dtype);
    const int64_t n = krf_array_shape(r->view)[krf_array_rank(r->view) - 1], size = krf_array_size(r->view), n_rows = size / n;
    char *memory = malloc((size_t)r->count * bytes);
    assert_non_null(memory);
    assert_int_equal(krf_array_to_host(r->all, memory, (size_t)r->count * bytes), KRF_OK);
    for (int64_t i = 0; i < n_rows; i++) {
        memset(memory + (size_t)(e->given + i * (n + e->gap)) * bytes, dtype == KRF_BOOL ? 1 : GUARD, (size_t)n * bytes);
    }
    for (size_t i = 0; i < (size_t)r->count * bytes && !collecting; i++) {
        if (memory[i] != (dtype == KRF_BOOL ? 1 : GUARD)) {
            COMPLAIN("%s: byte %zu, which is of no result, was written", what, i);
            break;
        }
    }
    free(memory);
}

/* Of variances some digits are enough: which way they are computed is no matter here. */
static bool agrees(value got, value want, int op) {
    const double most = want.dtype == KRF_F64 ? 1e-12 : want.dtype == KRF_F32 ? 1e-5 : want.dtype == KRF_F16 ? 2e-3 : 1e-2;
    return op == VAR ? got.dtype == want.dtype && fabs(got.f - want.f) <= most * fabs(want.f) : same(got, want);
}

static void check(const example *e, krf_array *array, int k, const value *want, const char *what) {
    const int op = e->program->results[k].op;
    const krf_dtype dtype = op_dtype(op, source_dtype(e, e->program->results[k].of));
    int64_t shape[3];
    int rank;
    const int64_t size = shape_of(e, k, &rank, shape);
    char *got = collecting ? NULL : to_host(array, dtype, rank, shape, what);
    for (int64_t i = 0; i < size && got != NULL; i++) {
        const value a = get(got, dtype, i);
        if (!agrees(a, want[i], op)) {
            char left[64], right[64];
            COMPLAIN("%s: element %" PRId64 " of result %d is %s, not %s", what, i, k, show(a, left, sizeof left), show(want[i], right, sizeof right));
            break;
        }
    }
    free(got);
}

/* The operands, and w. */
static int bind(const run *now, const example *e, const operand *o, const int64_t *w, krf_array **arrays, krf_binding *bindings) {
    static const char *const names[] = {"x0", "x1", "x2"};
    const int64_t shape[] = {e->at[0].batches, e->at[0].rows, 1};
    int n = 0;
    for (int k = 0; k < e->program->operands; k++) {
        if (!e->same || k != 1) {
            arrays[n] = array_of(now->context, &o[k]);
            bindings[n] = krf_bind_array(names[k], arrays[n]);
            n++;
        }
    }
    if (has(e->program, XW)) {
        char bytes[BESIDE_ROWS * 8];
        assert_true(shape[0] * shape[1] <= BESIDE_ROWS);
        for (int64_t r = 0; r < shape[0] * shape[1]; r++) {
            put(bytes, r, convert(number(KRF_I64, 0, w[r]), e->dtype[0]));
        }
        assert_int_equal(krf_array_from_host(now->context, e->dtype[0], 3, shape, bytes, &arrays[n]), KRF_OK);
        bindings[n] = krf_bind_array("w", arrays[n]);
        n++;
    }
    if (e->program->plus) {
        const krf_dtype dtype = op_dtype(e->program->results[0].op, source_dtype(e, e->program->results[0].of));
        int64_t of_result[3];
        int rank;
        const int64_t size = shape_of(e, 0, &rank, of_result);
        char *bytes = malloc((size_t)size * bytes_of(dtype));
        assert_non_null(bytes);
        for (int64_t r = 0; r < size; r++) {
            put(bytes, r, convert(number(KRF_I64, 0, r % 7 + 1), dtype));
        }
        assert_int_equal(krf_array_from_host(now->context, dtype, rank, of_result, bytes, &arrays[n]), KRF_OK);
        bindings[n] = krf_bind_array("v", arrays[n]);
        n++;
        free(bytes);
    }
    return n;
}

static void try_on(const run *now, const example *e, const operand *o, const int64_t *w, value *const *want, const char *text, const char *what) {
    krf_binding bindings[OPERANDS + 2];
    krf_array *arrays[OPERANDS + 2], *results[MOST] = {NULL};
    krf_expr x[MOST];
    room rooms[MOST];
    int n = 0;
    const int bound = bind(now, e, o, w, arrays, bindings);
    krf_graph *g = krf_graph_create(now->context);
    if (krf_parse_many(g, text, bindings, bound, MOST, x, &n) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    assert_int_equal(n, e->program->n);
    for (int k = 0; k < n && e->given > 0; k++) {
        int64_t shape[3];
        int rank;
        shape_of(e, k, &rank, shape);
        rooms[k] = make_room(now->context, krf_expr_dtype(x[k]), rank, shape, e);
        results[k] = rooms[k].view;
    }
    if (now->noted && !collecting && strcmp(now->label, "cuda") == 0) {
        look_at_kernel(e, g, n, x, what);
    }
    results[0] = e->given == OVER ? krf_array_retain(arrays[bound - 1]) : results[0];
    if (krf_eval_many(n, x, results) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    for (int k = 0; k < n; k++) {
        check(e, results[k], k, want[k], what);
        if (e->given > 0) {
            check_beside(&rooms[k], e, what);
            krf_array_release(rooms[k].all);
        }
        krf_array_release(results[k]);
    }
    krf_graph_destroy(g);
    for (int k = 0; k < bound; k++) {
        krf_array_release(arrays[k]);
    }
}

static uint64_t seed = 1;

static void try_example(const example *e) {
    operand o[OPERANDS];
    int64_t w[BESIDE_ROWS];
    value *want[MOST];
    char text[800], what[1000];
    for (int k = 0; k < e->program->operands; k++) {
        if (e->same && k == 1) {
            o[1] = o[0];
            o[1].at = e->at[1];
        } else {
            o[k] = make_operand(e->dtype[k], &e->at[k], e->program->how, e->turn, &seed);
        }
    }
    for (int64_t r = 0; r < BESIDE_ROWS; r++) {
        w[r] = 1 + r % 5;
    }
    for (int k = 0; k < e->program->n; k++) {
        want[k] = expect(e, o, w, k);
    }
    write_text(e, text, sizeof text);
    for (int r = 0; r < all_runs.n; r++) {
        if (!passed_over(&all_runs.run[r])) {
            snprintf(what, sizeof what, "%s: %s, of %s [%" PRId64 ", %" PRId64 ", %" PRId64 "] in %" PRId64 "%s%s from %" PRId64 "%s", all_runs.run[r].label, text, name_of(e->dtype[0]), e->at[0].batches,
                     e->at[0].rows, e->at[0].n, e->at[0].pitch, e->at[0].back ? ", backwards" : "", e->at[0].viewed ? ", a view" : "", e->at[0].before, e->given == 0 ? "" : ", given");
            try_on(&all_runs.run[r], e, o, w, want, text, what);
        }
    }
    for (int k = 0; k < e->program->operands; k++) {
        if (!e->same || k != 1) {
            free_operand(&o[k]);
        }
    }
    for (int k = 0; k < e->program->n; k++) {
        free(want[k]);
    }
}

/* ---- rows ---- */

static const int64_t lengths[] = {257, 263, 503, 504, 505, 513, 1000, 1007, 1008, 1009, 1021, 1023, 1024, 1025, 1026, 1031, 2047, 2049, 2056, 4097, 5001};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Each program has some lengths, from all places of a vector on, with and without gaps. */
static void try_rows(const program *p, krf_dtype dtype, int some, int turn) {
    static const int64_t gaps[] = {0, 1, 5, 8, 3, 16, 2};
    for (int k = turn % some; k < LENGTHS; k += some) {
        const int t = k / some + turn;
        example e = {.program = p, .dtype = {dtype}, .turn = t, .given = t % 3 == 0 ? (t % 2 == 0 ? 1 : 16) : 0};
        e.at[0] = (place){.batches = 1, .rows = lengths[k] > 2000 ? 4 : 7, .n = lengths[k], .before = (5 * t + k) % 17, .back = t % 4 == 1};
        e.at[0].pitch = e.at[0].before + e.at[0].n + gaps[t % 7];
        try_example(&e);
    }
}

/* Sums of all; of what else there is each dtype has its share, since most of the time goes into compiling. */
static void test_rows(void **unused) {
    static const program *const programs[DTYPES][8] = {
        [KRF_BOOL] = {&any_order, &truths, &ends}, [KRF_I8] = {&shifted, &any_order, &plus, &ends, &first_place}, [KRF_I16] = {&several, &shifted, &costly}, [KRF_I32] = {&any_order, &first_place},
        [KRF_I64] = {&any_order, &shifted}, [KRF_U8] = {&extreme, &mean_x, &ends, &both_places}, [KRF_U16] = {&any_order, &first_place, &shifted}, [KRF_U32] = {&several, &shifted},
        [KRF_U64] = {&extreme, &shifted, &mean_x}, [KRF_F16] = {&several, &wide_sum, &shifted, &costly, &both_places}, [KRF_BF16] = {&three, &shifted, &both_places, &mean_x}, [KRF_F32] = {&several, &wide_sum, &shifted, &first_place, &costly, &plus, &stored},
        [KRF_F64] = {&several, &shifted, &both_places, &costly},
    };
    (void)unused;
    for (int d = 0; d < DTYPES; d++) {
        try_rows(&sum_x, (krf_dtype)d, 1, d);
        for (int k = 0; k < 8 && programs[d][k] != NULL; k++) {
            try_rows(programs[d][k], (krf_dtype)d, 3, d + k);
        }
    }
    for (int before = 0; before < 2; before++) { /* kernels of which nothing but this differs */
        example e = {.program = &sum_x, .dtype = {KRF_F32}};
        e.at[0] = (place){.batches = 1, .rows = 1, .n = 65540, .pitch = 65544, .before = before};
        try_example(&e);
    }
    for (int turn = 0; turn < 6; turn++) { /* vectors, and elements behind the last */
        example e = {.program = turn % 3 == 2 ? &truths : &ends, .dtype = {turn % 3 == 2 ? KRF_BOOL : turn % 3 == 1 ? KRF_U8 : KRF_I8}, .turn = turn};
        e.at[0] = (place){.batches = 1, .rows = 8, .n = 1029 - turn % 2, .pitch = 1040};
        try_example(&e);
    }
    none_failed();
}

/* Addresses that users give: any that elements may have. */
static void test_addresses(void **unused) {
    static const int64_t few[] = {258, 505, 1000, 1009, 1024, 1031, 2050, 5001};
    (void)unused;
    for (int d = 0; d < DTYPES; d++) {
        const int64_t vector = 16 / (int64_t)bytes_of((krf_dtype)d);
        for (int k = 0; k < (vector > 4 ? 16 : 8); k++) {
            example e = {.program = k % 4 != 3 ? &sum_x : d == KRF_BOOL ? &any_order : &shifted, .dtype = {(krf_dtype)d}, .turn = k + d, .given = k % 5 == 4 ? 2 : 0};
            e.at[0] = (place){.batches = 1 + k % 2, .rows = 5 - k % 2 * 2, .n = few[(k + d) % 8], .before = k < vector ? k : 1, .back = k % 3 == 1, .above = k % 4 >= 2, .viewed = true};
            e.at[0].pitch = e.at[0].n + (k % 4 == 0 ? 0 : (vector * 8 - e.at[0].n % vector + k % 2)); /* of all beginnings, or of one that is no vector's */
            try_example(&e);
        }
    }
    none_failed();
}

/* Two operands that begin alike, or not, of one dtype or two; and users' addresses, of which nothing is known. */
static void test_pairs(void **unused) {
    static const krf_dtype dtypes[][2] = {{KRF_F32, KRF_F32}, {KRF_F16, KRF_F16}, {KRF_F64, KRF_F64}, {KRF_I16, KRF_I16}, {KRF_U8, KRF_F32}, {KRF_F32, KRF_BF16}, {KRF_I8, KRF_F16}, {KRF_F64, KRF_U8}, {KRF_U64, KRF_U16}};
    static const int64_t few[] = {259, 497, 505, 1017, 1026, 2049, 3001};
    (void)unused;
    for (int d = 0; d < 9; d++) {
        const int64_t widest = (int64_t)bytes_of(dtypes[d][0]) > (int64_t)bytes_of(dtypes[d][1]) ? (int64_t)bytes_of(dtypes[d][0]) : (int64_t)bytes_of(dtypes[d][1]), v = 16 / widest;
        for (int k = 0; k < 14; k++) {
            example e = {.program = d % 2 == 0 ? &dot : &mixed, .dtype = {dtypes[d][0], dtypes[d][1]}, .turn = k};
            const int64_t n = few[k % 7], before = 1 + k % (v > 2 ? v : 5);
            e.at[0] = (place){.batches = 1, .rows = 5, .n = n, .pitch = before + n + k % 5, .before = before, .back = k % 4 == 2};
            e.at[1] = e.at[0];
            e.at[1].pitch += k % 3 == 0 ? 2 * v : k % 7 == 5 ? 1 : 0; /* alike, and not */
            e.at[1].before += k % 3 == 1 ? v : k % 7 == 4 ? 1 : 0;
            e.at[1].pitch += k % 3 == 1 ? v : k % 7 == 4 ? v : 0;
            e.at[0].viewed = e.at[1].viewed = k % 7 == 6;
            try_example(&e);
        }
    }
    for (int k = 0; k < 12; k++) { /* two views of one array; and one row for all */
        const krf_dtype dtype = k % 2 == 0 ? KRF_F32 : KRF_BF16;
        const int64_t v = 16 / (int64_t)bytes_of(dtype), n = few[k % 7];
        example e = {.program = k % 3 == 2 ? &mixed : &dot, .dtype = {dtype, dtype}, .turn = k, .same = k < 6, .given = k % 4 == 3 ? 1 + k % 8 / 4 * 15 : 0};
        e.at[0] = (place){.batches = 1, .rows = 5, .n = n, .pitch = n + 3 * v + k % 3, .before = 1 + k % 5};
        e.at[1] = e.at[0];
        e.at[1].before += k % 4 < 2 ? v : 1;
        if (k >= 6) {
            e.at[0].before = k % 4 < 2 ? 0 : k - 5;
            e.at[0].pitch = (n / v + 3) * v + k % 2;
            e.at[1] = (place){.batches = 1, .rows = 5, .n = n, .pitch = 0, .before = 0, .viewed = true};
        }
        if (k == 2 || k == 3) {
            e.at[1] = (place){.batches = 1, .rows = 5, .n = n, .pitch = 2 * n + 9, .before = k, .twos = true};
            e.same = false;
        }
        try_example(&e);
    }
    for (int k = 0; k < 4; k++) { /* arrays that users made, of which only their addresses tell that they begin otherwise */
        const krf_dtype dtype = k % 2 == 0 ? KRF_F32 : KRF_F16;
        example e = {.program = &dot, .dtype = {dtype, dtype}, .turn = k};
        e.at[0] = (place){.batches = 1, .rows = 5, .n = 505, .pitch = 521, .before = 1, .viewed = true};
        e.at[1] = (place){.batches = 1, .rows = 5, .n = 505, .pitch = 521, .before = 2 + k / 2, .viewed = true};
        try_example(&e);
    }
    for (int k = 0; k < 16; k++) { /* sums of bytes beside each other */
        example e = {.program = &sums, .dtype = {KRF_I8, KRF_U8}, .turn = k};
        e.at[0] = (place){.batches = 1, .rows = 5, .n = few[k % 7], .pitch = few[k % 7] + 17, .before = k};
        e.at[1] = e.at[0];
        e.at[1].pitch += k % 2 * 16;
        e.at[1].before += k % 3 == 2 ? 1 : 0;
        try_example(&e);
    }
    none_failed();
}

/* Rows in two dimensions; and one alone, of many chunks. */
static void test_batches(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_U8, KRF_BF16, KRF_F64, KRF_I16};
    (void)unused;
    for (int d = 0; d < 5; d++) {
        for (int k = 0; k < 6; k++) {
            example e = {.program = k % 2 == 0 ? &sum_x : &shifted, .dtype = {dtypes[d]}, .turn = k, .given = k == 3 ? 16 : 0};
            e.at[0] = (place){.batches = 3, .rows = 2 + k % 2, .n = 300 + 353 * k, .pitch = 300 + 353 * k + k, .before = k, .above = k % 3 != 0, .back = k % 2 == 1};
            try_example(&e);
        }
    }
    for (int d = 0; d < 5; d++) {
        static const int64_t alone[] = {257, 1001, 1024, 1033, 16383, 16385, 40001};
        for (int k = 0; k < 7; k++) {
            example e = {.program = k % 2 == 0 ? &sum_x : &shifted, .dtype = {dtypes[d]}, .turn = 3 - k % 2};
            e.at[0] = (place){.batches = 1, .rows = 1, .n = alone[k], .pitch = alone[k] + 20, .before = 1 + (3 * k + d) % 16, .viewed = k % 3 == 2};
            try_example(&e);
        }
    }
    for (int d = 0; d < 3; d++) { /* more chunks than a block has threads */
        example e = {.program = &sum_x, .dtype = {dtypes[d]}};
        e.at[0] = (place){.batches = 1, .rows = 1, .n = 270011, .pitch = 270020, .before = 3};
        try_example(&e);
    }
    none_failed();
}

/* ---- many rows of narrow elements ---- */

static void test_chunks(void **unused) {
    static const struct {
        const program *program;
        krf_dtype dtype;
        int64_t rows, n, pitch;
        bool chunks;
        krf_dtype shared; /* of a second operand, which has one row for all; BOOL: none */
    } cases[] = {
        {&sum_x, KRF_F16, 4096, 1030, 3, true, KRF_BOOL},     {&three, KRF_BF16, 4099, 1101, 5, true, KRF_BOOL},      {&sum_x, KRF_BF16, 4096, 3072, 8, true, KRF_BOOL},   {&sum_x, KRF_F16, 4097, 2100, 8, true, KRF_BOOL},
        {&latest_x, KRF_F16, 4096, 1030, 3, true, KRF_BOOL},  {&latest_and, KRF_BF16, 4096, 2100, 1, true, KRF_BOOL}, {&sum_x, KRF_F16, 4096, 8200, 1, true, KRF_BOOL},    {&sum_x, KRF_U8, 4096, 1030, 3, false, KRF_BOOL},
        {&any_order, KRF_I16, 4096, 1100, 1, false, KRF_BOOL}, {&top, KRF_U16, 4096, 16383, 3, false, KRF_BOOL},      {&both_places, KRF_I32, 4096, 1100, 2, false, KRF_BOOL},
        {&dot, KRF_I8, 4096, 2048, 16, true, KRF_F32}, {&dot, KRF_U8, 4097, 3000, 8, true, KRF_BF16}, {&dot, KRF_I8, 4096, 3072, 8, true, KRF_F16}, {&dot, KRF_F32, 4096, 2048, 16, false, KRF_F32},
    };
    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        example e = {.program = cases[c].program, .dtype = {cases[c].dtype, cases[c].shared}, .part = cases[c].chunks ? "of_chunk0" : NULL};
        e.at[0] = (place){.batches = 1, .rows = cases[c].rows, .n = cases[c].n, .pitch = cases[c].pitch, .viewed = true};
        e.at[1] = (place){.batches = 1, .rows = cases[c].rows, .n = cases[c].n, .pitch = 0, .viewed = true};
        try_example(&e);
    }
    none_failed();
}

/* A warp keeps a chunk a thread: rows of more than it has threads are not its own. Too long to be run here. */
static void test_most_chunks(void **unused) {
    (void)unused;
    for (int r = 0; r < all_runs.n && all_runs.cuda; r++) {
        const place at = {.batches = 1, .rows = 4096, .n = 33 * 1024 - 5, .pitch = 1, .viewed = true};
        operand o = make_operand(KRF_F16, &at, EVERYDAY, 0, &seed);
        krf_array *x = array_of(all_runs.run[r].context, &o);
        krf_graph *g = krf_graph_create(all_runs.run[r].context);
        krf_expr sum = krf_sum(krf_input(g, x), 1, (int[]){2}, false);
        krf_compile_options options = krf_compile_options_default();
        krf_kernel_info info = {.size = sizeof info};
        krf_plan *plan = NULL;
        options.load = false;
        if (krf_compile(g, 1, &sum, &options, &plan) != KRF_OK || krf_plan_kernel(plan, 0, &info) != KRF_OK) {
            fail_msg("%s", krf_error_message());
        }
        assert_string_equal(info.schedule, "reduce_all");
        krf_plan_release(plan);
        krf_graph_destroy(g);
        krf_array_release(x);
        free_operand(&o);
    }
}

/* ---- what users reduce with ---- */

/* Which of two is the left one matters: their elements keep their lanes. */
static void test_sides(void **unused) {
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F16, KRF_F64, KRF_I16, KRF_U8, KRF_I32};
    static const int64_t few[] = {257, 505, 1001, 1024, 1030, 2051, 3073};
    (void)unused;
    for (int d = 0; d < 6; d++) {
        for (int k = 0; k < 7; k++) {
            example e = {.program = k % 3 == 2 ? &latest_and : &latest_x, .dtype = {dtypes[d]}, .turn = k};
            e.at[0] = (place){.batches = 1, .rows = k == 4 ? 1 : 5, .n = few[(k + d) % 7], .pitch = few[(k + d) % 7] + 19 + k % 2 * 3, .before = 1 + 2 * k, .back = k % 4 == 3, .viewed = k % 3 == 1};
            try_example(&e);
        }
    }
    none_failed();
}

/* Of more than 32,768 elements of f32 they are two sums; of others in some rounds. */
static void test_variances(void **unused) {
    static const struct {
        krf_dtype dtype;
        int64_t n;
    } cases[] = {{KRF_F32, 1001}, {KRF_F32, 32771}, {KRF_F64, 1025}, {KRF_BF16, 259}, {KRF_I16, 1030}, {KRF_F16, 33001}, {KRF_I8, 1030}, {KRF_U8, 5001}, {KRF_BOOL, 4999}, {KRF_U16, 2050}, {KRF_U8, 300}};
    (void)unused;
    for (int k = 0; k < 11; k++) {
        example e = {.program = &variance, .dtype = {cases[k].dtype}, .turn = k};
        e.at[0] = (place){.batches = 1, .rows = 3, .n = cases[k].n, .pitch = cases[k].n + 7, .before = k % 7 + 1};
        try_example(&e);
    }
    for (int k = 0; k < 3; k++) {
        example e = {.program = &variance, .dtype = {k == 0 ? KRF_I8 : k == 1 ? KRF_U8 : KRF_BOOL}, .columns = true, .turn = k};
        e.at[0] = (place){.batches = 1, .rows = 1030, .n = 32 + k, .pitch = 80, .before = 16 * k};
        try_example(&e);
    }
    none_failed();
}

/* ---- columns of bytes ---- */

/* Of more than 128 rows, as those of fewer are reduced in other ways. The last thread's vector begins in the one before. */
static void test_columns(void **unused) {
    static const krf_dtype dtypes[] = {KRF_I8, KRF_U8, KRF_BOOL};
    static const int64_t counts[] = {17, 18, 33, 31, 16, 1005, 65, 19, 47, 129, 48, 30}, heights[] = {129, 200, 333, 1030};
    (void)unused;
    for (int d = 0; d < 3; d++) {
        for (int k = 0; k < 20; k++) {
            const int64_t n = counts[(k + 4 * d) % 12], before = (k + 5 * d) % 17;
            example e = {.program = k % 4 == 3 && d < 2 ? &sums : k % 4 == 1 && d < 2 ? &plus : &sum_x, .dtype = {dtypes[d], dtypes[1 - d % 2]}, .columns = true, .turn = k, .given = k % 3 == 1 ? 1 + k % 2 * 15 : 0};
            e.at[0] = (place){.batches = 1, .rows = n > 1000 ? 150 : heights[(k + d) % 4], .n = n, .pitch = before + n + k % 5 * 3, .before = before, .back = k % 6 == 5, .above = k % 2 == 1, .viewed = k % 5 == 4};
            e.at[1] = e.at[0];
            e.at[1].before += k % 3;
            e.at[1].pitch += 5;
            e.part = n % 8 != 0 && !e.at[0].viewed ? "krf_window<" : NULL;
            try_example(&e);
        }
    }
    for (int k = 0; k < 3; k++) {
        example e = {.program = &squared, .dtype = {dtypes[k]}, .columns = true, .turn = k, .part = "255u << "};
        e.at[0] = (place){.batches = 1, .rows = 333 + 800 * k, .n = 32 + k, .pitch = 48};
        try_example(&e);
    }
    for (int k = 8; k < 16; k++) { /* fewer than a vector has: there is none before the last one */
        example e = {.program = &sum_x, .dtype = {dtypes[k % 3]}, .columns = true, .turn = k};
        e.at[0] = (place){.batches = 1, .rows = 131, .n = k, .pitch = k + 3 + k % 2 * 5, .before = k % 4};
        try_example(&e);
    }
    { /* rows that begin at vectors, and end within one */
        example e = {.program = &sum_x, .dtype = {KRF_U8}, .columns = true, .part = "krf_window<"};
        e.at[0] = (place){.batches = 1, .rows = 140, .n = 17, .pitch = 32};
        try_example(&e);
    }
    { /* blocks that share columns */
        example e = {.program = &sum_x, .dtype = {KRF_I8}, .columns = true, .part = "krf_window<"};
        e.at[0] = (place){.batches = 1, .rows = 9001, .n = 19, .pitch = 23, .before = 2};
        try_example(&e);
        e.dtype[0] = KRF_U8;
        e.at[0] = (place){.batches = 1, .rows = 4097, .n = 131, .pitch = 131};
        try_example(&e);
    }
    none_failed();
}

/* ---- maps of narrow elements ---- */

static const krf_dtype narrow[] = {KRF_U8, KRF_I8, KRF_I16, KRF_U16, KRF_F16, KRF_BF16, KRF_BOOL};

/* Whether a vector of the map begins in the midst of one of memory. */
static bool is_loose(const example *e, int k, int v) { return e->at[k].before % v != 0 || (e->at[k].rows > 1 && e->at[k].pitch % v != 0); }

/* One row of any length, or rows that are whole vectors: what begins anywhere is taken out of two words, if it is not too much. */
static void expect_windows(example *e) {
    size_t widest = bytes_of(source_dtype(e, e->program->results[0].of));
    int loose = 0;
    bool any_narrow = false;
    for (int k = 0; k < e->program->operands; k++) {
        widest = bytes_of(e->dtype[k]) > widest ? bytes_of(e->dtype[k]) : widest;
    }
    const int v = 16 / (int)widest;
    for (int k = 0; k < e->program->operands; k++) {
        loose += is_loose(e, k, v);
        any_narrow |= is_loose(e, k, v) && bytes_of(e->dtype[k]) <= 2;
    }
    e->part = loose <= 2 && any_narrow && (e->at[0].rows == 1 || e->at[0].n % v == 0) && e->gap == 0 ? "krf_window<" : NULL;
}

static void try_map(example *e) {
    expect_windows(e);
    try_example(e);
}

static void test_maps(void **unused) {
    static const int64_t few[] = {1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 257, 1000, 4097, 5003};
    (void)unused;
    for (int d = 0; d < 7; d++) {
        for (int before = 0; before <= 16; before++) {
            for (int l = before % 3; l < 18; l += d < 2 ? 1 : 3) { /* x[i:] - x[j:] */
                example e = {.program = narrow[d] == KRF_BOOL ? &xor : l % 4 == 3 ? &products : &less, .dtype = {narrow[d], narrow[d]}, .same = l % 2 == 0, .turn = l, .given = l % 5 == 4 ? 16 : 0};
                e.at[0] = (place){.batches = 1, .rows = 1, .n = few[l], .pitch = few[l] + 33, .before = before};
                e.at[1] = e.at[0];
                e.at[1].before = (before * (l % 7 + 1) + l) % 17;
                try_map(&e);
            }
        }
    }
    for (int before = 1; before <= 16; before += 3) { /* addresses that users give */
        example e = {.program = &less, .dtype = {KRF_I8, KRF_I8}, .turn = before};
        e.at[0] = (place){.batches = 1, .rows = 1, .n = 1000, .pitch = 1033, .before = before, .viewed = true};
        e.at[1] = (place){.batches = 1, .rows = 1, .n = 1000, .pitch = 1033, .before = before - 1};
        try_example(&e);
    }
    none_failed();
}

static void test_maps_of_rows(void **unused) {
    (void)unused;
    for (int k = 0; k < 4; k++) { /* results that begin at vectors, and end within one */
        const int64_t v = 16 / (int64_t)bytes_of(narrow[k]), n = 3 * v + 1 + k;
        example e = {.program = &less, .dtype = {narrow[k], narrow[k]}, .turn = k, .given = 16, .gap = (int)(4 * v - n)};
        e.at[0] = (place){.batches = 1, .rows = 40, .n = n, .pitch = 5 * v, .before = 1 + k};
        e.at[1] = (place){.batches = 1, .rows = 40, .n = n, .pitch = 5 * v, .before = 0};
        try_example(&e);
    }
    for (int d = 0; d < 7; d++) {
        const int64_t v = 16 / (int64_t)bytes_of(narrow[d]);
        for (int before = 0; before <= 16; before++) {
            const int64_t n = v * (before % 6 + 1) + (before % 8 == 7 ? 1 : 0);
            example e = {.program = narrow[d] == KRF_BOOL ? &xor : before % 3 == 2 ? (before % 2 == 0 ? &twice : &counted) : &less, .dtype = {narrow[d], narrow[d]}, .turn = before, .given = before % 4 == 1 ? 16 : 0, .gap = before % 8 == 1 ? 3 : 0};
            e.at[0] = (place){.batches = 1, .rows = 40, .n = n, .pitch = n + before + before % 5, .before = before, .back = before % 2 == 1, .above = before % 4 == 0};
            e.at[1] = (place){.batches = 1, .rows = 40, .n = n, .pitch = before % 3 == 0 ? n + v : n + 20 + before, .before = before % 3 == 0 ? 0 : 20 - before};
            try_map(&e);
        }
    }
    none_failed();
}

/* Narrow elements beside wider ones and results of those, whose vectors have fewer; too many that begin anywhere; results over the third operand. */
static void test_mixed_maps(void **unused) {
    static const krf_dtype mixes[][3] = {{KRF_U8, KRF_U8, KRF_F32}, {KRF_I8, KRF_I8, KRF_F64}, {KRF_I16, KRF_I16, KRF_F32}, {KRF_F16, KRF_F16, KRF_F32}, {KRF_BF16, KRF_BF16, KRF_BF16}, {KRF_U8, KRF_U8, KRF_F16}, {KRF_I8, KRF_I8, KRF_I8}};
    (void)unused;
    for (int m = 0; m < 7; m++) {
        for (int k = 0; k < 18; k++) {
            const int64_t n_rows = k % 2 == 0 ? 1 : 33, n = k % 2 == 0 ? 500 + 37 * k : 16 * (k % 5 + 1);
            example e = {.program = &less_and, .dtype = {mixes[m][0], mixes[m][1], mixes[m][2]}, .turn = k, .given = k % 3 == 0 ? OVER : k % 3 == 1 ? 16 : MADE};
            e.at[0] = (place){.batches = 1, .rows = n_rows, .n = n, .pitch = n + 18 + k % 4, .before = k};
            e.at[1] = (place){.batches = 1, .rows = n_rows, .n = n, .pitch = n + 21, .before = (5 * k + 2) % 17};
            e.at[2] = (place){.batches = 1, .rows = n_rows, .n = n, .pitch = k % 6 == 5 ? n + 3 : n, .before = k % 6 == 5 ? 3 : 0};
            try_map(&e);
        }
    }
    for (int m = 0; m < 4; m++) { /* x * y of two dtypes */
        static const krf_dtype two[][2] = {{KRF_U8, KRF_F32}, {KRF_I8, KRF_F16}, {KRF_F32, KRF_BF16}, {KRF_F64, KRF_I16}};
        for (int k = 0; k < 16; k++) {
            example e = {.program = &products, .dtype = {two[m][0], two[m][1]}, .turn = k};
            e.at[0] = (place){.batches = 1, .rows = 1, .n = 300 + 7 * k, .pitch = 340 + 7 * k, .before = k};
            e.at[1] = (place){.batches = 1, .rows = 1, .n = 300 + 7 * k, .pitch = 340 + 7 * k, .before = k % 4 == 3 ? 0 : 17 - k};
            try_map(&e);
        }
    }
    none_failed();
}

/* ---- the program ---- */

static void define_all(const runs *all) {
    for (int r = 0; r < all->n; r++) {
        krf_reduction *latest = NULL;
        if (krf_reduction_define(all->run[r].context, "latest", "T x", "T v", "0", "v = x;", "v = b_v != 0 ? b_v : a_v;", NULL, NULL, &latest) != KRF_OK) {
            fail_msg("%s", krf_error_message());
        }
        krf_reduction_release(latest);
        krf_op *op = NULL;
        if (krf_op_define(all->run[r].context, "costly", "T x", "T y", "y = x;\nfor (int i = 0; i < 1; i++) { y = y * 2 + 3; }", NULL, &op) != KRF_OK) {
            fail_msg("%s", krf_error_message());
        }
        krf_op_release(op);
    }
}

int main(void) {
    define_all(open_noted_runs(&all_runs, false));
    return run_part_on(&all_runs, TESTS(noted_test(test_rows), noted_test(test_addresses), noted_test(test_pairs), noted_test(test_batches), noted_test(test_chunks),
                                        cmocka_unit_test(test_most_chunks), noted_test(test_sides), cmocka_unit_test(test_variances), noted_test(test_columns),
                                        noted_test(test_maps), noted_test(test_maps_of_rows), noted_test(test_mixed_maps)));
}
