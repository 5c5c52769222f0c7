/* Reductions along rows that a warp of a GPU loads at once, of places that others give and of records of fields; and what the kernel's text says of loads: which rows have an address at hand, which drift, how many vectors a thread has. */
#include "ops/common.h"
#include "ops/programs.h"

static runs all_runs;

/* What else a load is: of a place that another gives, of records. */
static void test_other_loads(void **unused) {
    static const struct {
        const char *text;
        krf_dtype dtype;
        int fields;
    } cases[] = {{"sum(w[x[:, :, 0]], axis=1)", KRF_U8, 1}, {"sum(x[:, :, 0] * x[:, :, 1], axis=1)", KRF_I32, 2}, {"sum(x[:, :, 0] * x[:, :, 1], axis=1)", KRF_U8, 2}, {"sum(x[:, :, 0] * x[:, :, 1] + x[:, :, 2], axis=1)", KRF_U8, 3}, {"max(x[:, :, 0] * x[:, :, 1], axis=1)", KRF_I8, 4}, {"max(x[:, :, 0] * x[:, :, 1], axis=1)", KRF_I16, 2}};
    enum { ROWS = 70, LENGTH = 512, ENTRIES = 64, FIELDS = 4 };
    static char memory[ROWS * LENGTH * FIELDS * 4], entries[ENTRIES * 4];
    (void)unused;
    failures = 0;
    for (int64_t i = 0; i < ENTRIES; i++) {
        put(entries, i, whole_number(KRF_I32, i * i));
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t shape[3] = {ROWS, LENGTH, cases[k].fields}, n = ENTRIES;
        uint64_t seed = k;
        for (int64_t i = 0; i < shape[0] * shape[1] * shape[2]; i++) {
            put(memory, i, whole_number(cases[k].dtype, (int64_t)(next_random(&seed) >> 8 & (cases[k].fields == 1 ? 63 : 7))));
        }
        for (int r = 0; r < all_runs.n; r++) {
            krf_array *x = NULL, *w = NULL, *got = NULL;
            value want[ROWS];
            if (passed_over(&all_runs.run[r])) {
                continue;
            }
            assert_int_equal(krf_array_from_host(all_runs.run[r].context, cases[k].dtype, 3, shape, memory, &x), KRF_OK);
            assert_int_equal(krf_array_from_host(all_runs.run[r].context, KRF_I32, 1, &n, entries, &w), KRF_OK);
            krf_plan_release(run_program(&all_runs.run[r], cases[k].text, (krf_binding[]){krf_bind_array("x", x), krf_bind_array("w", w)}, 2, 1, &got));
            for (int64_t row = 0; row < ROWS; row++) {
                int64_t sum = 0, most = 0;
                for (int64_t i = 0; i < LENGTH; i++) {
                    const int64_t at = (row * LENGTH + i) * cases[k].fields, a = get(memory, cases[k].dtype, at).i;
                    const int64_t of = cases[k].fields == 1 ? a * a : a * get(memory, cases[k].dtype, at + 1).i + (cases[k].fields == 3 ? get(memory, cases[k].dtype, at + 2).i : 0);
                    sum += of;
                    most = of > most ? of : most;
                }
                want[row] = whole_number(krf_array_dtype(got), cases[k].text[0] == 'm' ? most : sum);
            }
            compare_values(&all_runs.run[r], cases[k].text, x, got, want, ROWS);
            krf_array_release(x);
            krf_array_release(w);
        }
    }
    assert_int_equal(failures, 0);
}

/* Addresses of rows are at hand where few operands are loaded at once, and of rows that drift for places alone; rows drift where memory's vectors are longer, of short halves and of places of bytes by more. */
static void test_texts(void **unused) {
    static const struct {
        const char *program, *text;
        krf_dtype dtype;
        int64_t n;
        bool there;
    } cases[] = {
        {"sum(x, axis=1)", "krf_at_hand", KRF_BF16, 1000, true},    {"sum(x, axis=1)", "krf_at_hand", KRF_BF16, 1001, false},    {"argmax(x, axis=1)", "krf_at_hand", KRF_BF16, 1001, true},
        {"argmax(x, axis=1)", "int drift", KRF_BF16, 1001, true},   {"argmax(x, axis=1)", "int drift", KRF_BF16, 300, false},    {"argmax(x, axis=1)", "int drift", KRF_BF16, 302, true},
        {"argmax(x, axis=1)", "int drift", KRF_F32, 509, true},    {"argmax(x, axis=1)", "int drift", KRF_U8, 1004, false},     {"argmax(x, axis=1)", "int drift", KRF_U8, 1002, true},
        {"sum(x, axis=1)", "int drift", KRF_F32, 509, true},        {"sum(x, axis=1)", "krf_at_hand", KRF_F32, 512, false},      {"sum(x, axis=1)", "256, 6", KRF_BF16, 1000, true},
        {"sum(x, axis=1)", "256, 6", KRF_I32, 1000, false},         {"sum(x, axis=1)", "256, 6", KRF_U8, 1001, false},           {"max(x * w * g * h * q, axis=1)", "krf_at_hand", KRF_I32, 300, false},
        {"max(x * w * g * h, axis=1)", "krf_at_hand", KRF_I32, 300, true}, {"min(x, axis=1)", "#pragma unroll 1", KRF_U8, 1000, false},
        {"sum(x, axis=1)", "const bool whole = false;", KRF_BF16, 1000, true}, {"sum(x, axis=1)", "const bool whole = p +", KRF_F32, 1000, true}, {"max(x, axis=1)", "__syncwarp();", KRF_I32, 500, true},
        {"max(x, axis=1)", "p_q = p + 512 + (", KRF_I32, 500, false},      {"max(x, axis=1)", "p_q = p + 512 + (", KRF_I32, 516, true},         {"max(x, axis=1)", "v_in0[1].", KRF_U8, 512, false},
        {"max(x, axis=1)", "v_in0[2].", KRF_U8, 528, false},            {"max(x, axis=1)", "v_in0[1].", KRF_U8, 528, true},            {"min(x[:, :509], axis=1)", "rest_lane / (", KRF_I32, 512, false}, {"prod(x[:, :509], axis=1)", "rest_lane / (", KRF_F32, 512, true},
    };
    static char memory[5 * 1024 * 4];
    (void)unused;
    failures = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases && all_runs.cuda && !collecting; k++) {
        const char *const names[] = {"x", "w", "g", "h", "q"};
        krf_binding bindings[5];
        krf_array *arrays[5] = {NULL}, *got = NULL;
        for (int i = 0; i < 5; i++) {
            assert_int_equal(krf_array_from_host(all_runs.run[0].context, cases[k].dtype, i == 0 ? 2 : 1, i == 0 ? (int64_t[]){5, cases[k].n} : (int64_t[]){cases[k].n}, memory, &arrays[i]), KRF_OK);
            bindings[i] = krf_bind_array(names[i], arrays[i]);
        }
        krf_plan *plan = run_program(&all_runs.run[0], cases[k].program, bindings, 5, 1, &got);
        if (has_text(plan, cases[k].text) != cases[k].there) {
            COMPLAIN("%s of %" PRId64 " %s: the kernel should%s have %s", cases[k].program, cases[k].n, name_of(cases[k].dtype), cases[k].there ? "" : " not", cases[k].text);
        }
        krf_plan_release(plan);
        krf_array_release(got);
        for (int i = 0; i < 5; i++) {
            krf_array_release(arrays[i]);
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_part_on(open_noted_runs(&all_runs, false), TESTS(noted_test(test_other_loads), cmocka_unit_test(test_texts))); }
