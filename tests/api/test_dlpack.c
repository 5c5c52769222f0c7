/* DLPack in and out: layouts, dtypes, devices, who deletes what and when, and the order of streams. The structs are
 * declared here once more, as dlpack.h 1.0 has them. Device: KRF_TEST_DEVICE (default "cpu"). */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void *data;
    struct {
        int device_type;
        int32_t device_id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

enum { CPU = 1, CUDA = 2, CUDA_HOST = 3, OPENCL = 4, MANAGED = 13 };
enum { INT, UINT, FLOAT, OPAQUE, BFLOAT, COMPLEX, BOOL };

static krf_context *ctx;

static krf_context *open_context(void) {
    krf_context_options o = krf_context_options_default();
    krf_context *c = NULL;
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.cache = KRF_CACHE_OFF;
    o.blocking_compile = true;
    assert_ok(krf_context_create(&o, &c));
    return c;
}

/* ---- a producer: tensors over memory of an array ---- */

static int deleted;

static void count_versioned(DLManagedTensorVersioned *self) {
    assert_ptr_equal(self->manager_ctx, &deleted);
    deleted++;
}

static void count_legacy(DLManagedTensor *self) {
    assert_ptr_equal(self->manager_ctx, &deleted);
    deleted++;
}

static float values[24];
static int64_t shape[17] = {2, 3, 4}, strides[17];

/* 24 floats, 0 to 23, on the context's device. */
static krf_array *make_memory(void) {
    int64_t n = 24;
    krf_array *a = NULL;
    for (int i = 0; i < 24; i++) {
        values[i] = (float)i;
    }
    assert_ok(krf_array_from_host(ctx, KRF_F32, 1, &n, values, &a));
    return a;
}

static DLManagedTensorVersioned make_tensor(krf_array *memory) {
    shape[0] = 2, shape[1] = 3, shape[2] = 4;
    deleted = 0;
    return (DLManagedTensorVersioned){.version = {1, 7},
                                      .manager_ctx = &deleted,
                                      .deleter = count_versioned,
                                      .dl_tensor = {.data = krf_array_data(memory),
                                                    .device = {on_gpu() ? CUDA : CPU, 0},
                                                    .ndim = 3,
                                                    .dtype = {FLOAT, 32, 1},
                                                    .shape = shape}};
}

static void check_elements(krf_array *a, const float *expected, size_t n) {
    float got[24];
    assert_ok(krf_array_to_host(a, got, n * sizeof *got));
    assert_memory_equal(got, expected, n * sizeof *got);
}

static void layouts_come_in(void **state) {
    (void)state;
    krf_array *memory = make_memory(), *a = NULL;
    DLManagedTensorVersioned t = make_tensor(memory);
    assert_ok(krf_array_from_dlpack(ctx, &t, NULL, &a)); /* without strides */
    assert_int_equal(krf_array_rank(a), 3);
    assert_memory_equal(krf_array_shape(a), shape, 3 * sizeof *shape);
    assert_ptr_equal(krf_array_data(a), krf_array_data(memory)); /* no copy */
    assert_int_equal(krf_array_dtype(a), KRF_F32);
    check_elements(a, values, 24);
    assert_int_equal(deleted, 0);
    krf_array *view = NULL;
    assert_ok(krf_array_view(a, 1, (int64_t[]){2}, NULL, 5, &view));
    krf_array_release(a);
    assert_int_equal(deleted, 0);
    check_elements(view, values + 5, 2);
    krf_array_release(view);
    assert_int_equal(deleted, 1);

    t = make_tensor(memory); /* an offset in bytes, strides in elements, one of them backwards */
    static const float turned[4] = {9, 7, 15, 13};
    shape[0] = shape[1] = 2;
    strides[0] = 6, strides[1] = -2;
    t.dl_tensor.ndim = 2;
    t.dl_tensor.strides = strides;
    t.dl_tensor.byte_offset = 36;
    assert_ok(krf_array_from_dlpack(ctx, &t, NULL, &a));
    check_elements(a, turned, 4);
    krf_array_release(a);
    assert_int_equal(deleted, 1);

    t = make_tensor(memory);
    t.dl_tensor.ndim = 0;
    t.dl_tensor.shape = NULL;
    t.dl_tensor.byte_offset = 40;
    t.deleter = NULL; /* nothing to delete */
    assert_ok(krf_array_from_dlpack(ctx, &t, NULL, &a));
    check_elements(a, values + 10, 1);
    krf_array_release(a);

    t = make_tensor(memory);
    shape[1] = 0;
    t.dl_tensor.data = NULL;
    assert_ok(krf_array_from_dlpack(ctx, &t, NULL, &a));
    assert_int_equal(krf_array_size(a), 0);
    krf_array_release(a);
    assert_int_equal(deleted, 1);

    DLManagedTensor old = {.dl_tensor = make_tensor(memory).dl_tensor, .manager_ctx = &deleted, .deleter = count_legacy};
    assert_ok(krf_array_from_dlpack_legacy(ctx, &old, NULL, &a));
    check_elements(a, values, 24);
    krf_array_release(a);
    assert_int_equal(deleted, 1);
    krf_array_release(memory);
}

static void dtypes_are_translated(void **state) {
    (void)state;
    static const struct {
        uint8_t code, bits;
        krf_dtype dtype;
    } table[] = {{BOOL, 8, KRF_BOOL},     {INT, 8, KRF_I8},       {INT, 16, KRF_I16},    {INT, 32, KRF_I32},
                 {INT, 64, KRF_I64},      {UINT, 8, KRF_U8},      {UINT, 16, KRF_U16},   {UINT, 32, KRF_U32},
                 {UINT, 64, KRF_U64},     {FLOAT, 16, KRF_F16},   {BFLOAT, 16, KRF_BF16}, {FLOAT, 32, KRF_F32},
                 {FLOAT, 64, KRF_F64},    {COMPLEX, 64, KRF_C64}, {COMPLEX, 128, KRF_C128}};
    krf_array *memory = make_memory(), *a = NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        DLManagedTensorVersioned t = make_tensor(memory), *out = NULL;
        shape[0] = 3;
        t.dl_tensor.ndim = 1;
        t.dl_tensor.dtype.code = table[i].code;
        t.dl_tensor.dtype.bits = table[i].bits;
        assert_ok(krf_array_from_dlpack(ctx, &t, NULL, &a));
        assert_int_equal(krf_array_dtype(a), table[i].dtype);
        assert_ok(krf_array_to_dlpack(a, NULL, &out));
        assert_int_equal(out->dl_tensor.dtype.code, table[i].code);
        assert_int_equal(out->dl_tensor.dtype.bits, table[i].bits);
        assert_int_equal(out->dl_tensor.dtype.lanes, 1);
        krf_array_release(a);
        assert_int_equal(deleted, 0);
        out->deleter(out);
        assert_int_equal(deleted, 1);
    }
    static const uint8_t unknown[][3] = {{INT, 4, 1}, {FLOAT, 8, 1}, {FLOAT, 32, 2}, {OPAQUE, 64, 1}, {BOOL, 1, 1},
                                         {COMPLEX, 32, 1}, {8, 8, 1}, {FLOAT, 32, 0}};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        DLManagedTensorVersioned t = make_tensor(memory);
        t.dl_tensor.dtype.code = unknown[i][0];
        t.dl_tensor.dtype.bits = unknown[i][1];
        t.dl_tensor.dtype.lanes = unknown[i][2];
        assert_fails(KRF_E_DTYPE, krf_array_from_dlpack(ctx, &t, NULL, &a), "no dtype for code");
        assert_null(a);
        assert_int_equal(deleted, 0);
    }
    krf_array_release(memory);
}

static void wrong_tensors_are_refused(void **state) {
    (void)state;
    krf_array *memory = make_memory(), *a = NULL;
    DLManagedTensorVersioned t = make_tensor(memory), *out = NULL;
    DLManagedTensor *old = NULL;
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack(NULL, &t, NULL, &a), "NULL");
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack(ctx, NULL, NULL, &a), "NULL");
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack(ctx, &t, NULL, NULL), "NULL");
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack_legacy(ctx, NULL, NULL, &a), "NULL");
    assert_fails(KRF_E_ARGUMENT, krf_array_to_dlpack(NULL, NULL, &out), "NULL");
    assert_fails(KRF_E_ARGUMENT, krf_array_to_dlpack(memory, NULL, NULL), "NULL");
    assert_fails(KRF_E_ARGUMENT, krf_array_to_dlpack_legacy(NULL, NULL, &old), "NULL");
    t.version.major = 2;
    assert_fails(KRF_E_UNSUPPORTED, krf_array_from_dlpack(ctx, &t, NULL, &a), "DLPack 2.7");
    t = make_tensor(memory);
    t.dl_tensor.shape = NULL;
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack(ctx, &t, NULL, &a), "no shape");
    t = make_tensor(memory);
    t.dl_tensor.ndim = 17;
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack(ctx, &t, NULL, &a), "a rank is 0 to 16");
    t.dl_tensor.ndim = -1;
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack(ctx, &t, NULL, &a), "a rank is 0 to 16");
    t = make_tensor(memory);
    shape[1] = -3;
    assert_fails(KRF_E_SHAPE, krf_array_from_dlpack(ctx, &t, NULL, &a), "(2, -3, 4)");
    t = make_tensor(memory);
    t.dl_tensor.byte_offset = 2;
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack(ctx, &t, NULL, &a), "aligned");
    t = make_tensor(memory);
    t.dl_tensor.data = NULL;
    assert_fails(KRF_E_ARGUMENT, krf_array_from_dlpack(ctx, &t, NULL, &a), "NULL");
    assert_null(a);
    assert_int_equal(deleted, 0);
    krf_array_release(memory);
}

static void devices_are_compared(void **state) {
    (void)state;
    krf_array *memory = make_memory(), *a = NULL;
    DLManagedTensorVersioned t = make_tensor(memory);
    t.dl_tensor.device.device_type = on_gpu() ? CPU : CUDA;
    assert_fails(KRF_E_DEVICE, krf_array_from_dlpack(ctx, &t, NULL, &a), on_gpu() ? "lies on CPU" : "lies on CUDA");
    t.dl_tensor.device.device_type = OPENCL;
    assert_fails(KRF_E_DEVICE, krf_array_from_dlpack(ctx, &t, NULL, &a), "type 4");
    if (on_gpu()) {
        t = make_tensor(memory);
        t.dl_tensor.device.device_id = 3;
        assert_fails(KRF_E_DEVICE, krf_array_from_dlpack(ctx, &t, NULL, &a), "CUDA device 3");
    }
    assert_int_equal(deleted, 0);
    for (int type = CUDA_HOST; type <= MANAGED; type += MANAGED - CUDA_HOST) {
        t = make_tensor(memory);
        t.dl_tensor.device.device_type = type;
        assert_ok(krf_array_from_dlpack(ctx, &t, NULL, &a));
        krf_array_release(a);
        assert_int_equal(deleted, 1);
    }
    krf_array_release(memory);
}

static void read_only_tensors_are_no_outputs(void **state) {
    (void)state;
    krf_array *memory = make_memory(), *a = NULL, *sum = NULL;
    DLManagedTensorVersioned t = make_tensor(memory), *out = NULL;
    DLManagedTensor *old = (DLManagedTensor *)&t;
    t.flags = 1;
    assert_ok(krf_array_from_dlpack(ctx, &t, NULL, &a));
    krf_array *given = a, *view = NULL, *whole = NULL;
    int64_t n[3] = {2, 3, 4};
    krf_graph *g = krf_graph_create(ctx);
    krf_expr x = krf_input(g, a), y = krf_add(x, krf_int(g, 1));
    krf_plan *plan = NULL;
    assert_fails(KRF_E_ARGUMENT, krf_eval(y, &given), "read-only");
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    assert_fails(KRF_E_ARGUMENT, krf_plan_run(plan, NULL, 0, NULL, &given), "read-only");
    assert_ok(krf_array_create(ctx, KRF_F32, 3, n, &whole));
    assert_fails(KRF_E_ARGUMENT, krf_array_copy(a, whole), "read-only");
    assert_fails(KRF_E_ARGUMENT, krf_array_upload_async(a, values, sizeof values, NULL), "read-only");
    assert_ok(krf_array_view(a, 3, n, NULL, 0, &view));
    assert_fails(KRF_E_ARGUMENT, krf_array_copy(view, whole), "read-only"); /* views are as well */
    assert_ok(krf_eval(krf_sum(y, 0, NULL, false), &sum));                  /* but inputs */
    static const float expected = 24 * 23 / 2 + 24;
    check_elements(sum, &expected, 1);
    assert_ok(krf_array_to_dlpack(a, NULL, &out));
    assert_int_equal(out->flags, 1);
    out->deleter(out);
    assert_fails(KRF_E_ARGUMENT, krf_array_to_dlpack_legacy(a, NULL, &old), "read-only");
    assert_null(old);
    krf_graph_destroy(g);
    krf_plan_release(plan);
    krf_array_release(view);
    krf_array_release(whole);
    krf_array_release(sum);
    assert_int_equal(deleted, 0);
    krf_array_release(a);
    assert_int_equal(deleted, 1);
    krf_array_release(memory);
}

static int64_t used(void) {
    krf_memory_stats s = {.size = sizeof s};
    assert_ok(krf_context_memory_stats(ctx, &s));
    return s.used;
}

static void arrays_go_out(void **state) {
    (void)state;
    int64_t before = used();
    krf_array *memory = make_memory(), *view = NULL, *empty = NULL, *a = NULL;
    assert_ok(krf_array_view(memory, 2, (int64_t[]){3, 2}, (int64_t[]){-4, 1}, 20, &view));
    DLManagedTensorVersioned *out = NULL;
    assert_ok(krf_array_to_dlpack(view, NULL, &out));
    assert_int_equal(out->version.major, 1);
    assert_int_equal(out->flags, 0);
    const DLTensor *t = &out->dl_tensor;
    assert_int_equal(t->device.device_type, on_gpu() ? CUDA : CPU);
    assert_int_equal(t->device.device_id, 0);
    assert_int_equal(t->ndim, 2);
    assert_true(t->shape[0] == 3 && t->shape[1] == 2 && t->strides[0] == -4 && t->strides[1] == 1);
    assert_ptr_equal((char *)t->data + t->byte_offset, krf_array_data(view));
    krf_array_release(memory);
    krf_array_release(view);
    assert_true(used() > before); /* the tensor holds it */
    assert_ok(krf_array_from_dlpack(ctx, out, NULL, &a)); /* back again, and now the array holds the tensor */
    static const float expected[6] = {20, 21, 16, 17, 12, 13};
    check_elements(a, expected, 6);
    krf_array_release(a);
    assert_int_equal(used(), before);

    DLManagedTensor *old = NULL;
    int64_t nothing[2] = {0, 5};
    assert_ok(krf_array_create(ctx, KRF_I16, 2, nothing, &empty));
    assert_ok(krf_array_to_dlpack_legacy(empty, NULL, &old));
    assert_non_null(old->dl_tensor.strides);
    assert_int_equal(old->dl_tensor.shape[0], 0);
    krf_array_release(empty);
    old->deleter(old);
    krf_array *scalar = NULL;
    assert_ok(krf_array_create(ctx, KRF_F64, 0, NULL, &scalar));
    assert_ok(krf_array_to_dlpack(scalar, NULL, &out));
    assert_int_equal(out->dl_tensor.ndim, 0);
    assert_non_null(out->dl_tensor.strides);
    out->deleter(out);
    krf_array_release(scalar);
    assert_int_equal(used(), before);
}

/* ---- streams ---- */

enum { N = 300000 };
static float big[N], back[N];

static krf_plan *slow_plan(krf_context *c) {
    krf_graph *g = krf_graph_create(c);
    krf_expr y = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N});
    krf_plan *plan = NULL;
    for (int i = 0; i < 12; i++) {
        y = krf_add(krf_multiply(y, krf_int(g, 2)), krf_int(g, 1));
    }
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

/* x + (sum - sum): reads x once more after all of it was read. */
static krf_plan *sum_plan(krf_context *c) {
    krf_graph *g = krf_graph_create(c);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), sum = krf_sum(x, 0, NULL, false);
    krf_expr y = krf_add(x, krf_subtract(sum, sum));
    krf_plan *plan = NULL;
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

/* Two contexts know nothing of each other but what a tensor and its stream say. known: the stream is a krf_stream of the
 * second. Memory goes from one to the other while it is being written, is read there, and comes back while that goes on. */
static void hand_over(bool known) {
    krf_context *other = open_context();
    krf_plan *here = slow_plan(ctx), *there[2] = {slow_plan(other), sum_plan(other)};
    krf_stream *producer = NULL, *consumer = NULL, *wrapped = NULL;
    assert_ok(krf_stream_create(ctx, NULL, &producer));
    assert_ok(krf_stream_create(ctx, NULL, &consumer));
    void *stream = krf_stream_handle(consumer);
    if (known && on_gpu()) {
        assert_ok(krf_stream_wrap(other, stream, &wrapped));
    }
    int64_t n = N;
    krf_array *x = NULL;
    assert_ok(krf_array_create(ctx, KRF_F32, 1, &n, &x));
    for (int round = 0; round < 12; round++) {
        krf_array *y = NULL, *a = NULL, *z = NULL, *w = NULL;
        DLManagedTensorVersioned *t = NULL;
        for (int i = 0; i < N; i++) {
            big[i] = (float)(i % 50 + round);
        }
        assert_ok(krf_array_upload_async(x, big, sizeof big, krf_stream_handle(producer)));
        krf_binding b = krf_bind_array("x", x);
        assert_ok(krf_plan_run(here, krf_stream_handle(producer), 1, &b, &y));
        assert_ok(krf_array_to_dlpack(y, stream, &t));
        krf_array_release(y);
        assert_ok(krf_array_from_dlpack(other, t, stream, &a));
        b = krf_bind_array("x", a);
        assert_ok(krf_plan_run(there[round / 2 % 2], round % 2 ? stream : NULL, 1, &b, &z));
        krf_array_release(a); /* the deleter runs while the plan reads */
        assert_ok(krf_array_create(ctx, KRF_F32, 1, &n, &w));
        assert_ok(krf_array_upload_async(w, big, sizeof big, NULL)); /* to where y was */
        assert_ok(krf_array_to_host(z, back, sizeof back));
        for (int i = 0; i < N; i++) {
            float expected = big[i]; /* 12 or 24 times v -> 2 v + 1, in f32 */
            for (int k = 0; k < (round / 2 % 2 ? 12 : 24); k++) {
                expected = expected * 2 + 1;
            }
            if (back[i] != expected) {
                fail_msg("round %d: element %d is %g, not %g", round, i, (double)back[i], (double)expected);
            }
        }
        krf_array_release(z);
        krf_array_release(w);
    }
    krf_array_release(x);
    krf_plan_release(here);
    krf_plan_release(there[0]);
    krf_plan_release(there[1]);
    krf_stream_destroy(wrapped);
    krf_stream_destroy(producer);
    krf_stream_destroy(consumer);
    krf_context_destroy(other);
}

static void streams_hand_over(void **state) {
    (void)state;
    hand_over(false);
    hand_over(true);
}

static void tensors_outlive_contexts(void **state) {
    (void)state;
    krf_context *c = open_context();
    krf_array *a = NULL;
    DLManagedTensorVersioned *t = NULL;
    int64_t n = 10;
    assert_ok(krf_array_create(c, KRF_F32, 1, &n, &a));
    assert_ok(krf_array_to_dlpack(a, NULL, &t));
    krf_array_release(a);
    krf_context_destroy(c);
    assert_int_equal(t->dl_tensor.shape[0], 10);
    t->deleter(t);
}

int main(void) {
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    ctx = open_or_skip(&o);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_come_in),
        cmocka_unit_test(dtypes_are_translated),
        cmocka_unit_test(wrong_tensors_are_refused),
        cmocka_unit_test(devices_are_compared),
        cmocka_unit_test(read_only_tensors_are_no_outputs),
        cmocka_unit_test(arrays_go_out),
        cmocka_unit_test(streams_hand_over),
        cmocka_unit_test(tensors_outlive_contexts),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    krf_context_destroy(ctx);
    return failed;
}
