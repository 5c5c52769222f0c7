/* Records that go past the caches, whose strips begin with a line where they can: from all kinds of places in a line on, by one and by two threads, in one row and in short rows; and records beside other results, made of
 * one another, and over their operands. Nothing beside a result may change. */
#include "ops/common.h"

static runs all;

enum { LARGE = 16 << 20, LINE = 64, GUARD = 0x5A, VALUES = 13 };

static int number_at(int64_t i) { return (int)(i * 7 % VALUES); }

static char *filled(krf_dtype dtype, int64_t n) {
    char *data = malloc((size_t)n * bytes_of(dtype)), kinds[VALUES][8];
    assert_non_null(data);
    for (int v = 0; v < VALUES; v++) {
        put(kinds[v], 0, convert((value){.dtype = KRF_I64, .i = v}, dtype));
    }
    for (int64_t i = 0; i < n; i++) {
        memcpy(data + (size_t)i * bytes_of(dtype), kinds[number_at(i)], bytes_of(dtype));
    }
    return data;
}

/* x[..., :F] * x[..., F:] of records of F + 1 elements in rows, behind each of which `gap` records lie; the result from element `offset` of a line on. */
static void check_large(const run *r, krf_dtype dtype, int fields, int64_t rows, int64_t length, int64_t gap, int64_t offset) {
    const size_t bytes = bytes_of(dtype), size = (size_t)(rows * length * fields) * bytes;
    const int64_t across = fields + 1, shape[] = {rows, length, across}, strides[] = {(length + gap) * across, across, 1}, out_shape[] = {rows, length, fields};
    char *x = filled(dtype, rows * (length + gap) * across), *room = aligned_alloc(LINE, (size + 4 * LINE) / LINE * LINE), *out = room + LINE + (size_t)offset * bytes, text[80], what[160];
    char products[VALUES * VALUES][8];
    krf_array *in = NULL, *result = NULL;
    krf_graph *g = krf_graph_create(r->context);
    krf_expr e;
    krf_plan *plan = NULL;
    krf_kernel_info info = {.size = sizeof info};
    assert_non_null(room);
    memset(room, GUARD, (size + 4 * LINE) / LINE * LINE);
    for (int v = 0; v < VALUES * VALUES; v++) {
        put(products[v], 0, convert((value){.dtype = KRF_I64, .i = v}, dtype));
    }
    sprintf(text, "x[:, :, :%d] * x[:, :, %d:]", fields, fields);
    snprintf(what, sizeof what, "%s, %s, %s [%d, %d], gap %d, offset %d", r->label, text, name_of(dtype), (int)rows, (int)length, (int)gap, (int)offset);
    assert_int_equal(krf_array_wrap(r->context, dtype, 3, shape, strides, x, NULL, NULL, &in), KRF_OK);
    assert_int_equal(krf_array_wrap(r->context, dtype, 3, out_shape, NULL, out, NULL, NULL, &result), KRF_OK);
    assert_int_equal(krf_parse(g, text, (krf_binding[]){krf_bind_array("x", in)}, 1, &e), KRF_OK);
    if (krf_compile(g, 1, &e, NULL, &plan) != KRF_OK || krf_plan_run(plan, NULL, 0, NULL, &result) != KRF_OK) {
        fail_msg("%s: %s", what, krf_error_message());
    }
    assert_int_equal(krf_plan_kernels(plan), 1);
    assert_int_equal(krf_plan_kernel(plan, 0, &info), KRF_OK);
    assert_non_null(strstr(info.source, "all_out0["));
    for (int64_t i = 0; i < rows * length; i++) {
        const int64_t at = (i / length * (length + gap) + i % length) * across;
        for (int f = 0; f < fields; f++) {
            if (memcmp(out + (size_t)(i * fields + f) * bytes, products[number_at(at + f) * number_at(at + fields)], bytes) != 0) {
                COMPLAIN("%s: field %d of record %" PRId64, what, f, i);
                i = rows * length;
                break;
            }
        }
    }
    for (size_t i = 0; i < (size + 4 * LINE) / LINE * LINE; i++) {
        i = room + i == out ? i + size : i;
        if (room[i] != GUARD) {
            COMPLAIN("%s: byte %zu, which is of no element, was written", what, i);
            break;
        }
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_array_release(in);
    krf_array_release(result);
    free(x);
    free(room);
}

static void test_large(void **unused) {
    static const struct {
        krf_dtype dtype;
        int fields;
    } kinds[] = {{KRF_U8, 3}, {KRF_U8, 4}, {KRF_U8, 2}, {KRF_U8, 8}, {KRF_BF16, 3}, {KRF_F16, 3}, {KRF_BF16, 4}, {KRF_F32, 3}, {KRF_F32, 2}, {KRF_F64, 3}, {KRF_F16, 8}};
    static const int64_t offsets[] = {0, 1, 5, 16, 7, 2};
    (void)unused;
    for (int k = 0; k < 11; k++) {
        for (int r = 0; r < all.n && in_shard(k); r++) {
            const int64_t record = kinds[k].fields * (int64_t)bytes_of(kinds[k].dtype), records = LARGE / record + 1;
            for (int o = 0; o < 6 && all.run[r].compiled; o++) {
                const int64_t length = o == 0 ? 45 : o == 1 ? records + 77 : o == 2 ? 1001 : o == 3 ? 33 : o == 4 ? 700 : 100;
                check_large(&all.run[r], kinds[k].dtype, kinds[k].fields, records / length + 1, length, o == 1 ? 0 : o % 3 + 1, offsets[(o + k) % 6]);
            }
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- several results ---- */

/* Of record i: y(i, f) with any other result's elements, of so many fields. */
typedef int formula(const int *x, int s, int field);

static int scaled(const int *x, int s, int f) { return x[f] * s; }
static int alpha(const int *x, int s, int f) { return (void)s, x[f] * x[3]; }
static int turned(const int *x, int s, int f) { return x[2 - f] * s; }
static int after(const int *x, int s, int f) { return x[f] * s + 1; }
static int of_records(const int *x, int s, int f) { return (void)f, x[0] + s; }
static int flag(const int *x, int s, int f) { return x[f] > s; }

static const struct {
    const char *program;
    int n, fields[3];
    krf_dtype given[3]; /* ALL_DTYPES: that of x */
    formula *formula[3];
} several[] = {
    {"x[:, :3] * x[:, 3:], x[:, 0] + s[:, 0]", 2, {3, 0, 0}, {(krf_dtype)ALL_DTYPES, (krf_dtype)ALL_DTYPES, 0}, {alpha, of_records, NULL}},
    {"x[:, 0] + s[:, 0], x[:, :3] * x[:, 3:], x[:, :3] * s", 3, {0, 3, 3}, {(krf_dtype)ALL_DTYPES, (krf_dtype)ALL_DTYPES, (krf_dtype)ALL_DTYPES}, {of_records, alpha, scaled}},
    {"x[:, :3] * s, x[:, :3] * s + 1", 2, {3, 3, 0}, {(krf_dtype)ALL_DTYPES, (krf_dtype)ALL_DTYPES, 0}, {scaled, after, NULL}},
    {"x[:, :2] * s, x[:, 2::-1] * s, x[:, :3] > s", 3, {2, 3, 3}, {(krf_dtype)ALL_DTYPES, (krf_dtype)ALL_DTYPES, KRF_BOOL}, {scaled, turned, flag}},
    {"x[:, 2::-1] * s, f64(x[:, :3] * x[:, 3:])", 2, {3, 3, 0}, {(krf_dtype)ALL_DTYPES, KRF_F64, 0}, {turned, alpha, NULL}},
};

static void check_several(size_t k, const run *r, krf_dtype dtype, int64_t n, bool over) {
    static char got[1000 * 4 * 8];
    const int64_t shape[] = {n, 4}, s_shape[] = {n, 1}, first[] = {n, 3}, strides[] = {4, 1};
    char *x = filled(dtype, n * 4), a[64], b[64];
    krf_array *in[2] = {NULL}, *out[3] = {NULL}, *part = NULL;
    krf_graph *g = krf_graph_create(r->context);
    krf_expr results[3];
    int count = 0;
    assert_int_equal(krf_array_from_host(r->context, dtype, 2, shape, x, &in[0]), KRF_OK);
    assert_int_equal(krf_array_from_host(r->context, dtype, 2, s_shape, x, &in[1]), KRF_OK);
    assert_int_equal(krf_array_view(in[0], 2, first, strides, 0, &part), KRF_OK);
    for (int i = 0; i < several[k].n && over; i++) {
        if (several[k].fields[i] == 3 && several[k].given[i] == (krf_dtype)ALL_DTYPES) {
            out[i] = part;
            break;
        }
    }
    if (krf_parse_many(g, several[k].program, (krf_binding[]){krf_bind_array("x", in[0]), krf_bind_array("s", in[1])}, 2, 3, results, &count) != KRF_OK || count != several[k].n ||
        krf_eval_many(count, results, out) != KRF_OK) {
        fail_msg("%s, %s: %s", several[k].program, r->label, krf_error_message());
    }
    for (int i = 0; i < count; i++) {
        const krf_dtype given = several[k].given[i] == (krf_dtype)ALL_DTYPES ? dtype : several[k].given[i];
        const int fields = several[k].fields[i] == 0 ? 1 : several[k].fields[i];
        assert_int_equal(krf_array_dtype(out[i]), given);
        assert_int_equal(krf_array_to_host(out[i], got, (size_t)(n * fields) * bytes_of(given)), KRF_OK);
        for (int64_t e = 0; e < n * fields && !collecting; e++) {
            const int64_t at = e / fields;
            const int record[] = {number_at(4 * at), number_at(4 * at + 1), number_at(4 * at + 2), number_at(4 * at + 3)};
            const value wanted = convert((value){.dtype = KRF_I64, .i = several[k].formula[i](record, number_at(at), (int)(e % fields))}, given), there = get(got, given, e);
            if (!same(there, wanted)) {
                COMPLAIN("%s, %s, %s, %d records%s: result %d, element %d is %s, not %s", several[k].program, r->label, name_of(dtype), (int)n, over ? ", over x" : "", i, (int)e, show(there, a, sizeof a),
                         show(wanted, b, sizeof b));
                break;
            }
        }
        if (out[i] != part) {
            krf_array_release(out[i]);
        }
    }
    if (over) {
        assert_int_equal(krf_array_to_host(in[0], got, (size_t)(n * 4) * bytes_of(dtype)), KRF_OK);
        for (int64_t i = 0; i < n; i++) {
            assert_memory_equal(got + (size_t)(4 * i + 3) * bytes_of(dtype), x + (size_t)(4 * i + 3) * bytes_of(dtype), bytes_of(dtype));
        }
    }
    krf_graph_destroy(g);
    krf_array_release(part);
    krf_array_release(in[0]);
    krf_array_release(in[1]);
    free(x);
}

static void test_several(void **unused) {
    static const krf_dtype dtypes[] = {KRF_U8, KRF_BF16, KRF_F32, KRF_F16};
    static const int64_t lengths[] = {1, 31, 64, 129, 1000};
    (void)unused;
    for (int r = 0; r < all.n; r++) {
        for (size_t k = 0; k < sizeof several / sizeof *several; k++) {
            for (int d = 0; d < 4; d++) {
                for (int n = (int)k % 2; n < 5 && in_shard((int)k); n++) {
                    check_several(k, &all.run[r], dtypes[d], lengths[n], n % 2 == 0);
                }
            }
        }
    }
    assert_int_equal(failures, 0);
}

int main(void) { return run_on(open_runs(&all, true), TESTS(cmocka_unit_test(test_several), cmocka_unit_test(test_large))); }
