/* Reductions of rows of one chunk, 257 to 1,024 elements (schedule reduce_row): lengths that come at once (vectors_of_row of plan/threads.c), and next to these, of one and of several results, views, and what all rows share. And
 * means of so few elements that their sums are multiplied, where these are a power of two (pass/fold.c): the bits are those of a division, whatever is divided. Against outer.h's elements and the canonical tree of tree.h. */
#include "ops/outer.h"
#include "ops/programs.h"
#include "ops/tree.h"

enum { FEW_ROWS = 5, MEANS = 60, MOST = 40000, MOST_RESULTS = 3 };

static runs all;

/* x, y and w, which is the same for all rows; results are of x, or of a product of two. */
static const struct several {
    const char *text, *elements[MOST_RESULTS];
    reduction_op ops[MOST_RESULTS];
} programs[] = {
    {"sum(x, axis=1)", {"x"}, {SUM}},
    {"sum(x * y, axis=1)", {"xy*"}, {SUM}},
    {"return sum(x * y, axis=1), sum(x * x, axis=1), sum(y * y, axis=1)", {"xy*", "xx*", "yy*"}, {SUM, SUM, SUM}},
    {"mean(x * w, axis=1)", {"xw*"}, {MEAN}},
    {"return min(x, axis=1), sum(x, axis=1)", {"x", "x"}, {MIN, SUM}},
    {"return max(x - w, axis=1), mean(x, axis=1), prod(x, axis=1)", {"xw-", "x", "x"}, {MAX, MEAN, PROD}},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* Rows that end with a turn: nothing asks what lies behind; and one turn has those of 512 or 768 elements, but of f64, whose turns are of 256 and come out even. Narrow elements, and those whose order does not matter, have
 * no loop then. */
static void look_at_turns(const run *r, krf_plan *plan, const struct several *p, krf_dtype dtype, int64_t length) {
    char turn[32];
    if (!all.cuda || length % 256 != 0 || bytes_of(dtype) == 1 || (p->ops[0] != SUM && dtype == KRF_I32)) {
        return;
    }
    snprintf(turn, sizeof turn, "; p += %d)", dtype == KRF_F64 ? 256 : (int)length);
    const bool at_once = p == programs && length < 1024;
    const bool loops = has_text(plan, "for (; p < last; p += "), no_loop = dtype != KRF_F32 && dtype != KRF_F64;
    if (has_text(plan, "bool whole") || (at_once && (no_loop ? loops : !has_text(plan, turn)))) {
        COMPLAIN("%s of %" PRId64 " %s, %s: the kernel should have whole turns, %s", p->text, length, name_of(dtype), r->label, turn);
    }
}

/* Elements of an array of rows that have a gap behind each; memory has some before the first. */
static krf_array *make(krf_context *context, krf_dtype dtype, value *elements, int64_t height, int64_t length, int64_t before, int64_t gap, bool odd, uint64_t *seed) {
    static char data[MOST * 8];
    const int64_t size = before + height * (length + gap);
    krf_array *base = NULL, *view = NULL;
    assert_true(size <= MOST);
    for (int64_t i = 0; i < size; i++) {
        const value v = draw(dtype, odd && i % 3 == 0, seed);
        const int64_t at = i - before;
        put(data, i, v);
        if (at >= 0 && at % (length + gap) < length) {
            elements[at / (length + gap) * length + at % (length + gap)] = v;
        }
    }
    assert_ok(krf_array_from_host(context, dtype, 1, &size, data, &base));
    assert_ok(height == 1 ? krf_array_view(base, 1, &length, (int64_t[]){1}, before, &view) : krf_array_view(base, 2, (int64_t[]){height, length}, (int64_t[]){length + gap, 1}, before, &view));
    krf_array_release(base);
    return view;
}

static void check_rows(const run *r, const struct several *p, krf_dtype dtype, int64_t length, int64_t before, int64_t gap, bool odd) {
    static value elements[3][MOST], row[MOST];
    uint64_t seed = (uint64_t)length;
    krf_array *const arrays[3] = {make(r->context, dtype, elements[0], FEW_ROWS, length, before, gap, odd, &seed), make(r->context, dtype, elements[1], FEW_ROWS, length, before, gap, odd, &seed),
                                  make(r->context, dtype, elements[2], 1, length, 0, 0, false, &seed)};
    krf_array *got[MOST_RESULTS] = {NULL};
    int n = 0;
    for (; n < MOST_RESULTS && p->elements[n] != NULL; n++) {
    }
    krf_plan *plan = run_program(r, p->text, (krf_binding[]){krf_bind_array("x", arrays[0]), krf_bind_array("y", arrays[1]), krf_bind_array("w", arrays[2])}, 3, n, got);
    if (before == 0 && gap == 0) {
        look_at_turns(r, plan, p, dtype, length);
    }
    for (int k = 0; k < n; k++) {
        value want[FEW_ROWS];
        for (int64_t i = 0; i < FEW_ROWS; i++) {
            for (int64_t j = 0; j < length; j++) {
                const value of[3] = {elements[0][i * length + j], elements[1][i * length + j], elements[2][j]};
                const char *s = p->elements[k];
                row[j] = s[1] == '\0' ? of[0] : step_of(s[2], of[s[0] == 'y'], of[s[1] == 'x' ? 0 : s[1] == 'y' ? 1 : 2]);
            }
            want[i] = reduce((int)p->ops[k], row, length);
        }
        assert_int_equal(krf_array_dtype(got[k]), want[0].dtype);
        compare_values(r, p->text, arrays[0], got[k], want, FEW_ROWS);
    }
    for (int i = 0; i < 3; i++) {
        krf_array_release(arrays[i]);
    }
    krf_plan_release(plan);
}

static void test_rows(void **unused) {
    static const int64_t lengths[] = {512, 768, 1024, 257, 511, 513, 640, 767, 769, 776, 1000, 1020, 1023, 264};
    static const krf_dtype dtypes[] = {KRF_F32, KRF_F64, KRF_F16, KRF_BF16, KRF_I8, KRF_I32, KRF_U8};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, WIDTHS = sizeof dtypes / sizeof *dtypes };
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int t = 0; t < PROGRAMS * WIDTHS * LENGTHS && !passed_over(&all.run[r]); t++) {
            const int k = t / LENGTHS / WIDTHS, d = t / LENGTHS % WIDTHS, l = t % LENGTHS;
            if (all.run[r].compiled ? t % 23 == 0 : l < 3 || (k + d + l) % 6 == 0) {
                check_rows(&all.run[r], &programs[k], dtypes[d], lengths[l], l < 3 ? 0 : (int64_t[]){0, 16, 1}[t % 3], l < 3 || t % 5 > 1 ? 0 : t % 5 == 0 ? 16 : 3, t % 4 == 1);
            }
            if (l < 3 && (k + d) % 5 == 0 && !all.run[r].compiled) { /* views of such lengths */
                check_rows(&all.run[r], &programs[k], dtypes[d], lengths[l], k % 2, k % 2 == 0 ? 8 : 0, false);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- means ---- */

/* Of a row: multiples of the smallest number, the largest ones, with infinities or NaN among others, zeros of one sign, anything. */
static value odd_number(krf_dtype dtype, int64_t row, uint64_t *seed) {
    const dtype_facts *f = facts_of(dtype);
    const double tiny = ldexp(1, f->lowest - f->digits + 1), largest = ldexp(2 - ldexp(1, 1 - f->digits), 1 - f->lowest), sign = next_random(seed) % 4 == 0 ? -1 : 1, other = random_unit(seed) * 3 - 1;
    const double all_of[] = {tiny * (double)random_below(seed, 70), largest, (double)INFINITY, (double)NAN, ldexp(1, f->lowest), -0.0, largest / 2, other};
    const bool rare = next_random(seed) % 16 == 0;
    const double x = row % 8 < 2 ? sign * all_of[row % 2] : row % 8 < 4 ? (rare ? sign * all_of[row % 8] : other) : row % 8 == 4 ? -0.0 : row % 8 == 5 ? other : row % 8 == 6 ? sign * all_of[random_below(seed, 2) * 4] : sign * all_of[random_below(seed, 8)];
    return convert((value){.dtype = KRF_F64, .f = x}, dtype);
}

/* Along rows, down columns, of planes, and taken from what it is the mean of. */
static void check_means(const run *r, krf_dtype dtype, int64_t length) {
    static value row[MOST], want[MEANS], rest[MOST];
    static char rows_of[MOST * 8], columns_of[MOST * 8];
    static const char *const texts[] = {"mean(x, axis=1)", "mean(y, axis=0)", "mean(w, axis=(1, 2))", "x - mean(x, axis=1)[:, None]"};
    uint64_t seed = (uint64_t)length * 31;
    krf_array *arrays[3] = {NULL};
    for (int64_t i = 0; i < MEANS; i++) {
        for (int64_t k = 0; k < length; k++) {
            row[k] = is_real(dtype) ? odd_number(dtype, i, &seed) : draw(dtype, false, &seed);
            put(rows_of, i * length + k, row[k]);
            put(columns_of, k * MEANS + i, row[k]);
        }
        want[i] = reduce(MEAN, row, length);
        for (int64_t k = 0; k < length; k++) {
            rest[i * length + k] = step_of('-', convert(row[k], want[i].dtype), want[i]);
        }
    }
    assert_ok(krf_array_from_host(r->context, dtype, 2, (int64_t[]){MEANS, length}, rows_of, &arrays[0]));
    assert_ok(krf_array_from_host(r->context, dtype, 2, (int64_t[]){length, MEANS}, columns_of, &arrays[1]));
    assert_ok(krf_array_from_host(r->context, dtype, 3, length % 2 == 0 ? (int64_t[]){MEANS, 2, length / 2} : (int64_t[]){MEANS, 1, length}, rows_of, &arrays[2]));
    for (int k = 0; k < 4; k++) {
        krf_array *got = NULL;
        krf_plan_release(run_program(r, texts[k], (krf_binding[]){krf_bind_array("x", arrays[0]), krf_bind_array("y", arrays[1]), krf_bind_array("w", arrays[2])}, 3, 1, &got));
        assert_int_equal(krf_array_dtype(got), want[0].dtype);
        compare_values(r, texts[k], arrays[0], got, k < 3 ? want : rest, k < 3 ? MEANS : MEANS * length);
    }
    for (int i = 0; i < 3; i++) {
        krf_array_release(arrays[i]);
    }
}

static void test_means(void **unused) {
    static const int64_t lengths[] = {2, 4, 8, 16, 32, 64, 3, 6, 65, 128};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int t = 0; t < 10 * DTYPES && !passed_over(&all.run[r]); t++) {
            const krf_dtype dtype = (krf_dtype)(t / 10);
            if (is_real(dtype) ? !all.run[r].compiled || t % 7 == 0 : t % 5 == 0 && !all.run[r].compiled) {
                check_means(&all.run[r], dtype, lengths[t % 10]);
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all, false), TESTS(noted_test(test_rows), noted_test(test_means))); }
