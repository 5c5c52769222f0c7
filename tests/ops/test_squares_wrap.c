/* Squares of bytes wrap in the dtype in which they are multiplied, before they are added up in 64 bits: of bytes themselves, of what bytes are cast to, along rows, down columns and of all elements. */
#include "ops/common.h"

static runs all_runs;

enum { ROWS = 40, LENGTH = 1000 };

/* A program of bytes, and what the dtype of the products is. */
static const struct {
    const char *text;
    krf_dtype dtype, cast, product;
} cases[] = {
    {"x * x", KRF_U8, KRF_U8, KRF_U8},           {"x * x", KRF_I8, KRF_I8, KRF_I8},
    {"i8(x) * i8(x)", KRF_U8, KRF_I8, KRF_I8},   {"u8(x) * u8(x)", KRF_I8, KRF_U8, KRF_U8},
    {"i16(x) * i16(x)", KRF_U8, KRF_I16, KRF_I16}, {"u16(x) * u16(x)", KRF_I8, KRF_U16, KRF_U16},
    {"u16(x) * u16(x)", KRF_U8, KRF_U16, KRF_U16}, {"i16(x) * i16(x)", KRF_I8, KRF_I16, KRF_I16},
    {"u32(x) * u32(x)", KRF_I8, KRF_U32, KRF_U32}, {"i32(x) * i32(x)", KRF_U8, KRF_I32, KRF_I32},
    {"u64(x) * u64(x)", KRF_I8, KRF_U64, KRF_U64},
};

static value square_of(size_t k, value x) {
    const value one = convert(x, cases[k].cast);
    return (value){.dtype = cases[k].product, .i = wrap_to(cases[k].product, (wide)((uint64_t)one.i * (uint64_t)one.i))};
}

static void check(const run *r, size_t k, const char *memory, const char *axis, int64_t results, int64_t step, int64_t beside, int64_t n) {
    const int64_t shape[2] = {ROWS, LENGTH};
    krf_array *x = NULL;
    char text[120];
    snprintf(text, sizeof text, "sum(%s%s)", cases[k].text, axis);
    assert_int_equal(krf_array_from_host(r->context, cases[k].dtype, 2, shape, memory, &x), KRF_OK);
    krf_array *out = evaluate_of(r, text, x);
    const krf_dtype given = facts_of(cases[k].product)->is_unsigned ? KRF_U64 : KRF_I64;
    void *got = collecting ? NULL : to_host(out, given, results > 1 ? 1 : 0, &results, text);
    for (int64_t i = 0; got != NULL && i < results; i++) {
        uint64_t want = 0;
        for (int64_t p = 0; p < n; p++) {
            want += (uint64_t)square_of(k, get(memory, cases[k].dtype, i * beside + p * step)).i;
        }
        if ((uint64_t)get(got, given, i).i != want) {
            COMPLAIN("%s of %s, %s: result %" PRId64 " is %" PRId64 ", not %" PRId64, text, name_of(cases[k].dtype), r->label, i, get(got, given, i).i, (int64_t)want);
            break;
        }
    }
    free(got);
    krf_array_release(out);
    krf_array_release(x);
}

static void test_squares(void **unused) {
    static char memory[ROWS * LENGTH];
    (void)unused;
    failures = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint64_t seed = k;
        for (int64_t i = 0; i < ROWS * LENGTH; i++) {
            put(memory, i, whole_number(cases[k].dtype, (int64_t)(next_random(&seed) >> 8 & 255)));
        }
        for (int r = 0; r < all_runs.n; r++) {
            if (!passed_over(&all_runs.run[r])) {
                check(&all_runs.run[r], k, memory, ", axis=1", ROWS, 1, LENGTH, LENGTH);
                check(&all_runs.run[r], k, memory, ", axis=0", LENGTH, LENGTH, 1, ROWS);
                check(&all_runs.run[r], k, memory, "", 1, 1, 0, ROWS * LENGTH);
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all_runs, false), TESTS(noted_test(test_squares))); }
