/* Elements that come several times each: gathered at `i // d`, which the CPU lays out strip by strip (pass/run.c, codegen/c_runs.c). All lengths, from any element of a repeat on, inside an array and over its ends, against formulas; and what
 * looks alike and is none. */
#include "ops/common.h"

#include "ops/against.h"

static runs all;

static const krf_dtype dtypes[] = {KRF_F32, KRF_U8, KRF_F64, KRF_I16, KRF_BF16, KRF_I32, KRF_F16, KRF_I64};
enum { KINDS = sizeof dtypes / sizeof *dtypes, ROWS = 3, COLUMNS = 110, MOST_LAID = 8 };

static int64_t d, p, n; /* how often each comes, where the first begins, how many results a row has */

static int64_t floored(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* As of take: from the end where it is negative, and what lies beyond an end is the end. */
static int64_t at(int operand, int64_t row, int64_t place) {
    const int64_t columns = now->given[operand].shape[now->given[operand].rank - 1];
    place = place < 0 ? place + columns : place;
    place = place < 0 ? 0 : place >= columns ? columns - 1 : place;
    return number(operand, row * columns + place);
}

static int64_t plain(const int64_t *i) { return at(0, i[0], floored(i[1] + p, d)); }
static int64_t in_line(const int64_t *i) { return at(0, 0, floored(i[0] + p, d)); }
static int64_t both_axes(const int64_t *i) { return at(0, i[0] / 2, i[1] / d); }
static int64_t computed(const int64_t *i) { return at(0, i[0], i[1] / d) * 2 + number(1, i[0] * n + i[1]); }
static int64_t of_two(const int64_t *i) { return at(0, i[0], i[1] / d) + 3 * at(1, i[0], i[1] / d); }
static int64_t of_other_places(const int64_t *i) { return at(0, i[0], i[1] / d) + 3 * at(1, i[0], i[1] / 2); }
static int64_t of_steps(const int64_t *i) { return at(0, i[0], i[1] / d) + 3 * at(1, i[0], i[1]); }
static int64_t every_second(const int64_t *i) { return at(0, i[0], i[1] / d * 2); }
static int64_t backwards(const int64_t *i) { return at(0, i[0], COLUMNS - 1 - i[1] / d); }
static int64_t transposed(const int64_t *i) { return number(0, i[1] / d * COLUMNS + i[0]); }
static int64_t further(const int64_t *i) { return at(0, i[0], i[1] / d + 5); }
static int64_t by_row(const int64_t *i) { return at(0, i[0], i[2] / d + 2 * i[1]); }
static int64_t down(const int64_t *i) { return at(0, i[0], 105 - i[1] / d); }
static int64_t bounded(const int64_t *i) { return at(0, i[0], i[1] / d < 5 ? i[1] / d : 5); }
static int64_t twice(const int64_t *i) { return at(0, i[0], (i[1] / d + 1) / 2); }
static int64_t of_steps_of_two(const int64_t *i) { return at(0, i[0], i[1] * 2 / d); }
static int64_t of_slice(const int64_t *i) { return at(0, i[0], (i[1] * 2 + 1) / d); }
static int64_t negative(const int64_t *i) { return at(0, i[0], floored(i[1], -d) + 100); }
static int64_t columns_of_rows(const int64_t *i) { return number(0, i[0] / d * COLUMNS + i[1]); }
static int64_t remainders(const int64_t *i) { return at(0, i[0], i[1] % d); }

static const struct {
    const char *text; /* A: arange(N), where i32 stands in front of it in turn; D, N, P: the numbers */
    formula *formula;
    int beside; /* 1: y is as the result, 2: as x */
    int kind;   /* 0: rows of n; 1: a line; 2: rows twice; 3: a third axis; 4: x itself is turned; 5: columns */
    bool laid;
} examples[] = {
    {"repeat(x, D, axis=1)[:, :N]", plain, 0, 0, true},
    {"repeat(x, D, axis=1)[:, P:][:, :N]", plain, 0, 0, true},
    {"take(x, (A + P) // D, axis=1)", plain, 0, 0, true},
    {"take(x, (P + A) // D, axis=1)", plain, 0, 0, true},
    {"repeat(x, D)[P:][:N]", in_line, 0, 1, true},
    {"repeat(repeat(x, D, axis=1)[:, :N], 2, axis=0)", both_axes, 0, 2, true},
    {"repeat(x, D, axis=1)[:, :N] * 2 + y", computed, 1, 0, true},
    {"repeat(x, D, axis=1)[:, :N] + 3 * repeat(y, D, axis=1)[:, :N]", of_two, 2, 0, true},
    {"repeat(x, D, axis=1)[:, :N] + 3 * repeat(y, 2, axis=1)[:, :N]", of_other_places, 2, 0, true},
    {"take(x, A // D, axis=1) + 3 * take(y, minimum(A, 500), axis=1)", of_steps, 2, 0, true},
    {"repeat(x[:, ::2], D, axis=1)[:, :N]", every_second, 0, 0, false},
    {"repeat(x[:, ::-1], D, axis=1)[:, :N]", backwards, 0, 0, false},
    {"repeat(transpose(x), D, axis=1)[:, :N]", transposed, 0, 4, false},
    {"take(x, A // D + 5, axis=1)", further, 0, 0, true},
    {"take(x, A // D + 2 * arange(4)[:, None], axis=1)", by_row, 0, 3, true},
    {"take(x, 105 - A // D, axis=1)", down, 0, 0, false},
    {"take(x, minimum(A // D, 5), axis=1)", bounded, 0, 0, false},
    {"take(x, (A // D + 1) // 2, axis=1)", twice, 0, 0, false},
    {"take(x, A * 2 // D, axis=1)", of_steps_of_two, 0, 0, false},
    {"take(x, arange(401)[1::2][:N] // D, axis=1)", of_slice, 0, 0, false},
    {"take(x, A // -D + 100, axis=1)", negative, 0, 0, false},
    {"repeat(x, D, axis=0)", columns_of_rows, 0, 5, false},
    {"take(x, A % D, axis=1)", remainders, 0, 0, false},
};

static void write_text(char *text, const char *from, bool narrow) {
    for (const char *c = from; *c != 0; c++) {
        if (strncmp(c, "None", 4) == 0) {
            text += sprintf(text, "None");
            c += 3;
        } else if (*c == 'A') {
            text += sprintf(text, narrow ? "i32(arange(%" PRId64 "))" : "arange(%" PRId64 ")", n);
        } else if (*c == 'D' || *c == 'N' || *c == 'P') {
            const int64_t number_there = *c == 'D' ? d : *c == 'N' ? n : p;
            text += sprintf(text, number_there < 0 ? "(%" PRId64 ")" : "%" PRId64, number_there);
        } else {
            *text++ = *c;
        }
    }
    *text = 0;
}

static int turn; /* from 0 for each run, as some are passed over while kernels are collected */

static void try_it(const run *r, size_t k, krf_dtype dtype) {
    char text[300];
    const bool places = strchr(examples[k].text, 'P') != NULL, taken = strchr(examples[k].text, 'A') != NULL;
    const bool narrow = turn % 4 == 1; /* places of 32 bits: those are not laid out */
    const int64_t last = floored(n - 1 + p, d);
    write_text(text, examples[k].text, narrow);
    check c = {.run = r, .text = text, .n_given = examples[k].beside == 0 ? 1 : 2, .n_out = 1, .one_kernel = true};
    c.given[0] = (given){"x", dtype, 2, {ROWS, COLUMNS}, turn % 5 == 1 ? 3 : 0, 0, 13};
    c.given[1] = c.given[0];
    c.given[1].name = "y";
    c.out[0] = (wanted){dtype, 2, {ROWS, n}, examples[k].formula};
    if (examples[k].beside == 1) {
        c.given[1].shape[1] = n;
    }
    switch (examples[k].kind) {
    case 1: c.given[0].rank = 1, c.given[0].shape[0] = COLUMNS, c.out[0].rank = 1, c.out[0].shape[0] = n; break;
    case 2: c.out[0].shape[0] = 2 * ROWS; break;
    case 3: c.out[0].rank = 3, c.out[0].shape[1] = 4, c.out[0].shape[2] = n; break;
    case 4: c.given[0].shape[0] = 200, c.out[0].shape[0] = COLUMNS; break;
    case 5: c.out[0].shape[0] = ROWS * d, c.out[0].shape[1] = COLUMNS; break;
    default: break;
    }
    const bool inside = (!places || !taken || (p >= 0 && last < COLUMNS)) && d <= MOST_LAID;
    c.has = r->compiled && examples[k].laid && inside && !(narrow && taken) && n >= 64 && last + 8 < COLUMNS ? "int lead" : NULL;
    c.lacks = r->compiled && (!examples[k].laid || (d > MOST_LAID && examples[k].formula != of_other_places)) ? "int lead" : NULL;
    c.into = 1u << turn % LAIDS;
    if (in_shard(turn++)) {
        check_it(&c, all.cuda);
    }
}

static void test_repeats(void **unused) {
    static const int64_t lengths[] = {1, 64, 2, 63, 7, 65, 100, 128, 131, 199, 200, 17, 66};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        turn = 0;
        for (size_t k = 0; k < sizeof examples / sizeof *examples && !passed_over(&all.run[r]); k++) {
            const bool places = strchr(examples[k].text, 'P') != NULL;
            for (d = 2; d <= 9; d++) {
                for (size_t i = 0; i < (places ? 6 : 3); i++) {
                    n = lengths[(i * 5 + k + (size_t)d) % (sizeof lengths / sizeof *lengths)];
                    p = places ? (int64_t[]){1, d - 1, 3, d + 1, 0, 2 * d - 1}[i] : 0;
                    n = examples[k].formula == every_second && n > COLUMNS ? COLUMNS : n; /* it has half as many */
                    if (n + p <= 2 * COLUMNS - 1 && (!all.run[r].compiled || (i == 0 && ((size_t)d + k) % 2 == 0) || (places && i < 3 && d % 3 != 0 && k < 3))) {
                        try_it(&all.run[r], k, dtypes[((size_t)d + k + i) % KINDS]);
                    }
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* Places before the first element, and after the last. */
static void test_over_ends(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        turn = 0;
        for (int i = 0; i < 12 && !passed_over(&all.run[r]); i++) {
            d = 2 + i % 5;
            n = 64 + 13 * (i % 4);
            p = (int64_t[]){-1, -7, -64, -500, 180, 700, -2 * COLUMNS, d * COLUMNS - 30, d * COLUMNS - 1, INT32_MAX - 300, -100000, -d * COLUMNS}[i];
            try_it(&all.run[r], i % 2 == 0 ? 2 : 3, dtypes[i % KINDS]);
        }
    }
    assert_int_equal(failures, 0);
}

/* A number of the user's: the same kernel has others the next time. */
static void test_numbers_that_change(void **unused) {
    static const int64_t shape[] = {ROWS, COLUMNS}, out_shape[] = {ROWS, 150};
    float data[ROWS * COLUMNS];
    (void)unused;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        data[i] = (float)(i * 7 % 1000);
    }
    for (int r = 0; r < all.n; r++) {
        krf_array *x = NULL;
        if (passed_over(&all.run[r])) {
            continue;
        }
        assert_int_equal(krf_array_from_host(all.run[r].context, KRF_F32, 2, shape, data, &x), KRF_OK);
        for (int placeholder = 0; placeholder < 2; placeholder++) {
            krf_graph *g = krf_graph_create(all.run[r].context);
            krf_plan *plan = NULL;
            krf_expr result;
            if (placeholder == 1) {
                const krf_binding bindings[] = {krf_bind_array("x", x)};
                if (krf_parse(g, "d: i64\nreturn take(x, arange(150) // d, axis=1) + 1", bindings, 1, &result) != KRF_OK || krf_compile(g, 1, &result, NULL, &plan) != KRF_OK) {
                    fail_msg("%s", krf_error_message());
                }
            }
            for (d = 2; d <= 7; d++) {
                krf_array *out = NULL;
                const krf_binding bindings[] = {krf_bind_array("x", x), krf_bind_int("d", d)};
                krf_status status;
                if (placeholder == 1) {
                    status = krf_plan_run(plan, NULL, 1, &bindings[1], &out);
                } else {
                    status = krf_parse(g, "take(x, arange(150) // d, axis=1) + 1", bindings, 2, &result);
                    status = status == KRF_OK ? krf_eval(result, &out) : status;
                }
                if (status != KRF_OK) {
                    fail_msg("%s", krf_error_message());
                }
                float *got = to_host(out, KRF_F32, 2, out_shape, "a number that changes");
                for (int64_t i = 0; got != NULL && i < ROWS * 150 && !collecting; i++) {
                    const int64_t place = i % 150 / d, row = i / 150;
                    if (got[i] != data[row * COLUMNS + place] + 1) {
                        COMPLAIN("%s, %d, d = %" PRId64 ": element %" PRId64 " is %g", all.run[r].label, placeholder, d, i, (double)got[i]);
                        break;
                    }
                }
                free(got);
                krf_array_release(out);
            }
            krf_plan_release(plan);
            krf_graph_destroy(g);
        }
        krf_array_release(x);
    }
    assert_int_equal(failures, 0);
}

static int64_t field(const int64_t *i) { return (i[2] == 0 ? at(0, i[0], i[1] / d) : 0) + number(1, i[0] * n + i[1]); }
static int64_t beside_pairs(const int64_t *i) { return at(0, i[0], i[1] / d) + number(1, (i[0] * n + i[1]) * 2 + i[2]); }
static int64_t column_further(const int64_t *i) { return at(0, i[0], 1 + i[1] + i[1] % 3) + number(1, i[0] * n + i[1]); }
static int64_t rows_of_places(const int64_t *i) { return at(0, i[0], i[1] % 3 + i[2]); }

/* Repeated along an axis behind which there is another, of one element where what is stored together is computed each for itself, of more elsewhere; and places that serve both. */
static void test_axes_of_one(void **unused) {
    static const struct {
        const char *text;
        formula *first, *second;
        int axis; /* of y, behind the others */
        bool laid;
    } texts[] = {
        {"stack((repeat(x, D, axis=1)[:, :N] + y, y), axis=2)", field, NULL, 0, true},
        {"take(x, arange(N) // D, axis=1)[:, :, None] + y", beside_pairs, NULL, 2, false},
        {"take(x, arange(200)[1:][:N][:, None] + (arange(N) % 3)[:, None], axis=1) + y[:, :, None], take(x, (arange(N) % 3)[:, None] + arange(5)[None, :], axis=1)", column_further, rows_of_places, 0, false},
    };
    (void)unused;
    p = 0;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < 3 * sizeof texts / sizeof *texts && !passed_over(&all.run[r]); k++) {
            if (!in_shard((int64_t)k)) {
                continue;
            }
            const krf_dtype dtype = dtypes[k % KINDS];
            char text[300];
            check c = {.run = &all.run[r], .text = text, .n_given = 2, .n_out = texts[k / 3].second != NULL ? 2 : 1};
            d = 2 + (int64_t)k % 3;
            n = (int64_t[]){64, 100, 67}[k % 3];
            write_text(text, texts[k / 3].text, false);
            c.given[0] = (given){"x", dtype, 2, {ROWS, COLUMNS}, 0, 0, 13};
            c.given[1] = (given){"y", dtype, texts[k / 3].axis > 0 ? 3 : 2, {ROWS, n, texts[k / 3].axis}, 0, 0, 13};
            c.out[0] = (wanted){dtype, 3, {ROWS, n, c.n_out == 2 ? 1 : 2}, texts[k / 3].first};
            c.out[1] = (wanted){dtype, 3, {ROWS, n, 5}, texts[k / 3].second};
            c.has = all.run[r].compiled && texts[k / 3].laid ? "int lead" : NULL;
            check_it(&c, all.cuda);
        }
    }
    assert_int_equal(failures, 0);
}

static int64_t of_row(const int64_t *i) { return number_in(0, i[0], number(2, i[0] * 64 + i[1]), i[1]); }
static int64_t of_row_beside(const int64_t *i) { return of_row(i) + number(1, (i[0] * 64 + i[1]) * 5 + i[2]); }

/* Places that are the same along an axis of one element, and others along the one before: no row lies there as a vector. */
static void test_rows_of_columns(void **unused) {
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (int k = 0; k < 2 && !passed_over(&all.run[r]); k++) {
            const krf_dtype dtype = k == 0 ? KRF_F32 : KRF_F64;
            check c = {.run = &all.run[r], .text = "take_along_axis(x, i[:, None, :], axis=1)[:, 0, :, None] + 0, take_along_axis(x, i[:, None, :], axis=1)[:, 0, :, None] + y", .n_given = 3, .n_out = 2};
            c.given[0] = (given){"x", dtype, 3, {2, 3, 64}, 0, 0, 13};
            c.given[1] = (given){"y", dtype, 3, {2, 64, 5}, 0, 0, 13};
            c.given[2] = (given){"i", KRF_I32, 2, {2, 64}, 0, 0, 3};
            c.out[0] = (wanted){dtype, 3, {2, 64, 1}, of_row};
            c.out[1] = (wanted){dtype, 3, {2, 64, 5}, of_row_beside};
            check_it(&c, all.cuda);
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    return run_on(open_noted_runs(&all, false),
                  TESTS(noted_test(test_repeats), noted_test(test_over_ends), noted_test(test_numbers_that_change), noted_test(test_axes_of_one),
                        noted_test(test_rows_of_columns)));
}
