/* Several contexts in one process: copies between them, in order and without the host, on one GPU, on two, and on the CPU; arrays where they do not belong; which
 * device a context gets; a device that is lost beside one that is not. Expected values are plain loops here. Device: KRF_TEST_DEVICE (default "cpu"); with "cuda" a
 * second GPU is used where there is one, and its tests are skipped where there is none. ctest: race. */
#include "helpers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool simulated, second_gpu;

static krf_status try_open(const char *device, krf_context **context) {
    krf_context_options o = krf_context_options_default();
    o.device = device;
    o.cpu_tier = KRF_CPU_INTERPRET;
    o.threads = 2;
    o.blocking_compile = true;
    return krf_context_create(&o, context);
}

static krf_context *open_context(const char *device) {
    krf_context *context = NULL;
    assert_ok(try_open(device, &context));
    return context;
}

static void need_second_gpu(void) {
    if (!second_gpu) {
        printf("skipped: there is no second GPU\n");
        skip();
    }
}

/* ---- copies ---- */

enum { ROWS = 37, COLUMNS = 23, CELLS = ROWS * COLUMNS, ROOM = 2 * CELLS + 10 };

/* How a matrix lies in a block of ROOM elements. */
typedef struct layout {
    const char *name;
    int64_t strides[2], offset;
} layout;

static const layout layouts[] = {
    {"in C order", {COLUMNS, 1}, 3},
    {"transposed", {1, ROWS}, 0},
    {"with gaps", {2 * COLUMNS, 2}, 1},
    {"backwards", {-COLUMNS, -1}, CELLS + 1},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static int64_t place(const layout *l, int r, int c) { return l->offset + r * l->strides[0] + c * l->strides[1]; }

static void copy_layouts(krf_context *from, krf_context *to, krf_dtype dtype, const layout *a, const layout *b) {
    static unsigned char source[ROOM * 16], target[ROOM * 16], expected[ROOM * 16];
    const size_t item = krf_dtype_size(dtype);
    krf_array *x = NULL, *y = NULL, *vx = NULL, *vy = NULL;
    for (size_t i = 0; i < ROOM * item; i++) {
        source[i] = (unsigned char)((i * 7919 + 13) % 251 % (dtype == KRF_BOOL ? 2 : 101)); /* no NaN, whose bits need not stay */
        expected[i] = (unsigned char)((i * 104729 + 5) % 253 % (dtype == KRF_BOOL ? 2 : 101));
    }
    assert_ok(krf_array_from_host(from, dtype, 1, (int64_t[]){ROOM}, source, &x));
    assert_ok(krf_array_from_host(to, dtype, 1, (int64_t[]){ROOM}, expected, &y));
    assert_ok(krf_array_view(x, 2, (int64_t[]){ROWS, COLUMNS}, a->strides, a->offset, &vx));
    assert_ok(krf_array_view(y, 2, (int64_t[]){ROWS, COLUMNS}, b->strides, b->offset, &vy));
    assert_ok(krf_array_copy(vy, vx));
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            memcpy(expected + (size_t)place(b, r, c) * item, source + (size_t)place(a, r, c) * item, item);
        }
    }
    assert_ok(krf_array_to_host(y, target, ROOM * item));
    if (memcmp(target, expected, ROOM * item) != 0) { /* what lies between the elements stays as it was, too */
        fail_msg("%s, %s to %s: other bytes", krf_dtype_name(dtype), a->name, b->name);
    }
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(vx);
    krf_array_release(vy);
}

static void copy_between(const char *a, const char *b) {
    krf_context *from = open_context(a), *to = open_context(b);
    for (int i = 0; i < LAYOUTS; i++) {
        for (int j = 0; j < LAYOUTS; j++) {
            copy_layouts(from, to, KRF_F32, &layouts[i], &layouts[j]);
        }
    }
    static const krf_dtype dtypes[] = {KRF_BOOL, KRF_U8, KRF_I64, KRF_F16, KRF_C128};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        copy_layouts(from, to, dtypes[i], &layouts[0], &layouts[i % LAYOUTS]);
    }
    krf_array *x = NULL, *y = NULL, *none = NULL, *nothing = NULL;
    double one = 3.5, got = 0;
    assert_ok(krf_array_from_host(from, KRF_F64, 0, NULL, &one, &x)); /* of rank 0, and without elements */
    assert_ok(krf_array_create(to, KRF_F64, 0, NULL, &y));
    assert_ok(krf_array_create(from, KRF_F64, 2, (int64_t[]){0, 4}, &none));
    assert_ok(krf_array_create(to, KRF_F64, 2, (int64_t[]){0, 4}, &nothing));
    assert_ok(krf_array_copy(y, x));
    assert_ok(krf_array_copy(nothing, none));
    krf_context_destroy(from); /* its arrays are still there */
    assert_ok(krf_array_to_host(y, &got, sizeof got));
    assert_true(got == one);
    krf_array_release(x);
    krf_array_release(none);
    krf_array_release(y);
    krf_array_release(nothing);
    krf_context_destroy(to);
}

static void arrays_are_copied_between_contexts(void **state) {
    (void)state;
    copy_between("cpu", "cpu");
    if (on_gpu()) {
        copy_between("cpu", asked_device());
        copy_between(asked_device(), "cpu");
        copy_between(asked_device(), asked_device());
    }
}

static void arrays_are_copied_between_gpus(void **state) {
    (void)state;
    need_second_gpu();
    copy_between("cuda:0", "cuda:1");
    copy_between("cuda:1", "cuda:0");
    copy_between("cuda:1", "cpu");
    copy_between("cpu", "cuda:1");
}

/* ---- order ---- */

enum { N = 100000, STEPS = 24 };
static float values[N], back[N];

static krf_array *array_of(krf_context *context, float first) {
    krf_array *a = NULL;
    for (int i = 0; i < N; i++) {
        values[i] = first + (float)(i % 1000);
    }
    assert_ok(krf_array_from_host(context, KRF_F32, 1, (int64_t[]){N}, values, &a));
    return a;
}

/* y = x + 1, STEPS times over in one kernel: long enough for what comes too early to be noticed. */
static krf_plan *slow_plan(krf_context *context) {
    krf_graph *g = krf_graph_create(context);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), y = x;
    krf_plan *plan = NULL;
    for (int i = 0; i < STEPS; i++) {
        y = krf_multiply(krf_add(krf_sqrt(krf_multiply(y, y)), krf_int(g, 1)), krf_real(g, 1.0));
    }
    assert_ok(krf_compile(g, 1, &y, NULL, &plan));
    krf_graph_destroy(g);
    return plan;
}

static void run(krf_plan *plan, krf_stream *stream, krf_array *x, krf_array *y) {
    krf_binding b = krf_bind_array("x", x);
    assert_ok(krf_plan_run(plan, krf_stream_handle(stream), 1, &b, &y));
}

static void expect(krf_array *a, float first, const char *what) {
    assert_ok(krf_array_to_host(a, back, sizeof back));
    for (int i = 0; i < N; i++) {
        if (back[i] != first + (float)(i % 1000)) {
            fail_msg("%s: element %d is %g, not %g", what, i, (double)back[i], (double)(first + (float)(i % 1000)));
        }
    }
}

/* x is written late in the one context, copied, read in the other, and both are written again at once: each time what was there in the order of the calls. */
static void keep_order(const char *a, const char *b) {
    krf_context *from = open_context(a), *to = open_context(b);
    krf_plan *p = slow_plan(from), *q = slow_plan(to);
    krf_stream *s = NULL, *t = NULL;
    assert_ok(krf_stream_create(from, NULL, &s));
    assert_ok(krf_stream_create(to, NULL, &t));
    krf_array *x = array_of(from, 0), *late = array_of(from, -5), *zero = array_of(from, 0), *y = array_of(to, -7), *z = array_of(to, -9), *w = array_of(to, -11);
    for (int round = 0; round < 4; round++) {
        krf_stream *here = round % 2 == 0 ? s : NULL, *there = round % 3 == 0 ? t : NULL;
        run(p, here, x, late);           /* late = x + STEPS */
        run(q, there, y, w);             /* reads y, which is written next */
        assert_ok(krf_array_copy(y, late)); /* y = x + STEPS */
        run(p, here, zero, late);        /* late = STEPS: not before it was copied */
        run(q, there, y, z);             /* z = x + 2 STEPS */
        assert_ok(krf_array_copy(x, z)); /* and back */
        expect(z, (float)(2 * STEPS * (round + 1)), "read where it was copied to");
        expect(y, (float)(2 * STEPS * (round + 1) - STEPS), "what was copied");
        expect(late, (float)STEPS, "written again");
        expect(x, (float)(2 * STEPS * (round + 1)), "copied back");
        if (round > 0) {
            expect(w, (float)(2 * STEPS * round), "read before it was written again");
        }
    }
    krf_array *gone = array_of(from, 1), *kept = array_of(to, 0); /* memory is not used again before it was read */
    run(p, s, x, late);
    run(p, NULL, gone, late);
    assert_ok(krf_array_copy(kept, late));
    krf_array_release(late);
    late = array_of(from, 77);
    expect(kept, 1 + STEPS, "of an array that was released");
    krf_array *all[] = {x, late, zero, y, z, w, gone, kept};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krf_array_release(all[i]);
    }
    krf_plan_release(p);
    krf_plan_release(q);
    krf_stream_destroy(s);
    krf_stream_destroy(t);
    krf_context_destroy(from);
    krf_context_destroy(to);
}

static void copies_keep_the_order_of_both(void **state) {
    (void)state;
    keep_order("cpu", "cpu");
    if (on_gpu()) {
        keep_order(asked_device(), asked_device());
        keep_order("cpu", asked_device());
        keep_order(asked_device(), "cpu");
    }
    if (second_gpu) {
        keep_order("cuda:0", "cuda:1");
        keep_order("cuda:1", "cuda:0");
    }
}

/* The host goes on while kernel and copy are still to come. */
static void copies_between_gpus_do_not_wait(void **state) {
    (void)state;
    need_second_gpu();
    krf_context *from = open_context("cuda:0"), *to = open_context("cuda:1");
    krf_plan *p = slow_plan(from);
    krf_array *x = array_of(from, 0), *late = array_of(from, 0), *y = array_of(to, 0), *z = array_of(to, 0);
    bool ahead = false;
    krf_event *e = NULL;
    assert_ok(krf_event_create(to, false, &e));
    assert_ok(krf_array_copy(z, x)); /* what is opened once is open */
    assert_ok(krf_context_synchronize(to));
    for (int turn = 0; turn < 20 && !ahead; turn++) { /* a host that was held up shows nothing */
        bool done = true;
        for (int i = 0; i < 10; i++) {
            run(p, NULL, x, late);
        }
        assert_ok(krf_array_copy(y, late));
        assert_ok(krf_event_record(e, NULL));
        assert_ok(krf_event_query(e, &done));
        ahead = !done;
        assert_ok(krf_event_synchronize(e));
        expect(y, STEPS, "copied");
    }
    assert_true(ahead);
    krf_event_destroy(e);
    krf_array_release(x);
    krf_array_release(late);
    krf_array_release(y);
    krf_array_release(z);
    krf_plan_release(p);
    krf_context_destroy(from);
    krf_context_destroy(to);
}

/* Where the hardware does not let them reach each other, the driver takes copies through the host. */
static void gpus_that_do_not_reach_each_other(void **state) {
    (void)state;
    need_second_gpu();
    if (!simulated) {
        printf("skipped: only simulated GPUs can be kept apart\n");
        skip();
    }
    setenv("FAKECUDA_PEERS", "0", 1);
    copy_between("cuda:0", "cuda:1");
    keep_order("cuda:1", "cuda:0");
    setenv("FAKECUDA_PEERS", "1", 1);
    setenv("FAKECUDA_POOLS", "0", 1);
    copy_between("cuda:0", "cuda:1");
    setenv("FAKECUDA_POOLS", "1", 1);
}

/* ---- where arrays do not belong ---- */

static void other_contexts_arrays_are_refused(const char *a, const char *b) {
    krf_context *mine = open_context(a), *other = open_context(b);
    krf_array *x = array_of(other, 0), *small = NULL, *doubles = NULL, *own = array_of(mine, 0), *out = x;
    krf_graph *g = krf_graph_create(mine);
    krf_expr y = krf_add(krf_input(g, x), krf_int(g, 1));
    assert_int_equal(krf_graph_status(g), KRF_E_ARGUMENT);
    assert_non_null(strstr(krf_graph_error(g), "another context"));
    assert_non_null(strstr(krf_graph_error(g), "krf_array_copy"));
    krf_array *none = NULL;
    assert_fails(KRF_E_ARGUMENT, krf_eval(y, &none), "krf_array_copy");
    krf_graph_destroy(g);
    krf_plan *p = slow_plan(mine);
    krf_binding bound = krf_bind_array("x", x), good = krf_bind_array("x", own);
    assert_fails(KRF_E_ARGUMENT, krf_plan_run(p, NULL, 1, &bound, &none), "krf_array_copy");
    assert_fails(KRF_E_ARGUMENT, krf_plan_run(p, NULL, 1, &good, &out), "krf_array_copy");
    assert_null(none);
    assert_ok(krf_array_create(mine, KRF_F32, 1, (int64_t[]){7}, &small));
    assert_ok(krf_array_create(mine, KRF_F64, 1, (int64_t[]){N}, &doubles));
    assert_fails(KRF_E_SHAPE, krf_array_copy(small, x), "(7,)");
    assert_fails(KRF_E_DTYPE, krf_array_copy(doubles, x), "f64");
    expect(x, 0, "nothing happened to it");
    krf_plan_release(p);
    krf_array_release(x);
    krf_array_release(own);
    krf_array_release(small);
    krf_array_release(doubles);
    krf_context_destroy(mine);
    krf_context_destroy(other);
}

static void arrays_belong_to_a_context(void **state) {
    (void)state;
    other_contexts_arrays_are_refused(asked_device(), "cpu");
    other_contexts_arrays_are_refused("cpu", asked_device());
    if (second_gpu) {
        other_contexts_arrays_are_refused("cuda:1", "cuda:0");
    }
}

/* ---- which device ---- */

static krf_device_info describe(krf_context *context) {
    krf_device_info info = {.size = sizeof info};
    assert_ok(krf_context_device(context, &info));
    return info;
}

static void devices_are_chosen_by_number_and_by_name(void **state) {
    (void)state;
    need_second_gpu();
    krf_context *first = open_context("cuda:0"), *second = open_context("cuda:1"), *usual = open_context("cuda"), *none = NULL;
    krf_device_info a = describe(first), b = describe(second), c = describe(usual);
    assert_int_equal(a.index, 0);
    assert_int_equal(b.index, 1);
    assert_int_equal(c.index, 0);
    assert_non_null(a.uuid);
    assert_non_null(b.uuid);
    assert_string_not_equal(a.uuid, b.uuid);
    assert_string_equal(a.uuid, c.uuid);
    char name[64];
    for (int length = 0; length < 2; length++) { /* whole, and as far as it differs */
        size_t differ = 0;
        while (a.uuid[differ] == b.uuid[differ]) {
            differ++;
        }
        snprintf(name, sizeof name, "cuda:%.*s", length == 0 ? (int)strlen(b.uuid) : (int)differ + 1, b.uuid);
        krf_context *named = open_context(name);
        assert_int_equal(describe(named).index, 1);
        krf_context_destroy(named);
    }
    assert_fails(KRF_E_DEVICE, try_open("cuda:99", &none), "no CUDA device 99");
    assert_fails(KRF_E_DEVICE, try_open("cuda:GPU-00000000-0000", &none), "GPU-00000000-0000");
    krf_context_destroy(first);
    krf_context_destroy(second);
    krf_context_destroy(usual);
}

/* The UUID of a device, told by a new process, where CUDA_VISIBLE_DEVICES is as given. Before this process uses CUDA. */
static bool child_uuid(const char *visible, const char *device, char uuid[64]) {
    int ends[2], status = 1;
    memset(uuid, 0, 64);
    if (pipe(ends) != 0) {
        return false;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        krf_context *context = NULL;
        krf_device_info info = {.size = sizeof info};
        if (visible != NULL) {
            setenv("CUDA_VISIBLE_DEVICES", visible, 1);
        }
        const bool there = try_open(device, &context) == KRF_OK && krf_context_device(context, &info) == KRF_OK && info.uuid != NULL;
        const bool told = there && write(ends[1], info.uuid, strlen(info.uuid)) > 0;
        krf_context_destroy(context);
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    const ssize_t got = read(ends[0], uuid, 63);
    close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 && got > 0;
}

static char visible_uuid[2][64];
static bool visible_known;

static void the_second_alone_is_the_first(void **state) {
    (void)state;
    need_second_gpu();
    if (simulated) {
        printf("skipped: the simulated driver does not read CUDA_VISIBLE_DEVICES\n");
        skip();
    }
    assert_true(visible_known);
    assert_string_equal(visible_uuid[1], visible_uuid[0]);
}

/* ---- a device that is lost: in a child, before this process uses CUDA ---- */

#define CHECK(good) \
    do { \
        if (!(good)) { \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #good, krf_error_message()); \
            exit(1); \
        } \
    } while (0)

static krf_array *child_array(krf_context *context) {
    krf_array *a = NULL;
    for (int i = 0; i < N; i++) {
        values[i] = (float)(i % 1000);
    }
    CHECK(krf_array_from_host(context, KRF_F32, 1, (int64_t[]){N}, values, &a) == KRF_OK);
    return a;
}

static krf_status sum_of(krf_array *x, double *sum) {
    krf_array *total = NULL;
    krf_graph *g = krf_graph_create(krf_array_context(x));
    krf_status status = krf_eval(krf_sum(krf_cast(krf_input(g, x), KRF_F64), 0, NULL, false), &total);
    status = status == KRF_OK ? krf_array_to_host(total, sum, sizeof *sum) : status;
    krf_graph_destroy(g);
    krf_array_release(total);
    return status;
}

static bool is_lost(krf_status status) { return status == KRF_E_LOST && strstr(krf_error_message(), "lost") != NULL; }

/* What CUDA leaves of a process after a fault is not promised for its other devices: real ones may be lost too, and must then say so. */
static void lose_the_second(void) {
    krf_context *good = NULL, *bad = NULL, *cpu = NULL;
    krf_array *nowhere = NULL;
    double sum = 0, expected = 0;
    if (try_open("cuda:1", &bad) != KRF_OK) {
        exit(77);
    }
    for (int i = 0; i < N; i++) {
        expected += i % 1000;
    }
    CHECK(try_open("cuda:0", &good) == KRF_OK && try_open("cpu", &cpu) == KRF_OK);
    krf_array *a = child_array(good), *b = child_array(bad), *c = child_array(cpu);
    CHECK(krf_array_copy(b, a) == KRF_OK);
    CHECK(krf_array_wrap(bad, KRF_F32, 1, (int64_t[]){N}, NULL, (void *)(uintptr_t)4096, NULL, NULL, &nowhere) == KRF_OK);
    CHECK(is_lost(sum_of(nowhere, &sum)));
    CHECK(is_lost(krf_array_copy(b, a)));
    CHECK(is_lost(krf_array_copy(a, b)));
    CHECK(is_lost(krf_array_copy(c, b)));
    const krf_status status = sum_of(a, &sum);
    if (simulated || status != KRF_E_LOST) {
        CHECK(status == KRF_OK && sum == expected);
        krf_array *more = child_array(good);
        CHECK(krf_array_copy(more, a) == KRF_OK && krf_array_copy(c, more) == KRF_OK && krf_array_copy(more, c) == KRF_OK);
        CHECK(sum_of(more, &sum) == KRF_OK && sum == expected);
        krf_array_release(more);
    } else {
        printf("the first GPU was lost with the second\n");
    }
    CHECK(sum_of(c, &sum) == KRF_OK && sum == expected);
    krf_array *all[] = {a, b, c, nowhere};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krf_array_release(all[i]);
    }
    krf_context_destroy(good);
    krf_context_destroy(bad);
    krf_context_destroy(cpu);
    exit(0);
}

static int lost_status = -1;

static void lose_in_child(void) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        lose_the_second();
    }
    lost_status = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void one_is_lost_and_the_others_work(void **state) {
    (void)state;
    need_second_gpu();
    assert_int_equal(lost_status, 0);
}

int main(void) {
    krf_context *context = NULL;
    void *library = on_gpu() && getenv("KRF_LIBCUDA") != NULL ? dlopen(getenv("KRF_LIBCUDA"), RTLD_NOW | RTLD_LOCAL) : NULL;
    simulated = library != NULL && dlsym(library, "fakecuda_reset") != NULL;
    setenv("FAKECUDA_DEVICES", "2", 1);
    if (on_gpu()) {
        lose_in_child();
    }
    if (on_gpu() && !simulated) {
        visible_known = child_uuid(NULL, "cuda:1", visible_uuid[0]) && child_uuid("1", "cuda:0", visible_uuid[1]);
    }
    if (on_gpu() && try_open(asked_device(), &context) != KRF_OK) {
        printf("skipped: %s\n", krf_error_message());
        return 77;
    }
    krf_context_destroy(context);
    second_gpu = on_gpu() && try_open("cuda:1", &context) == KRF_OK;
    if (on_gpu() && !second_gpu) {
        printf("only one GPU: %s\n", krf_error_message());
    } else if (second_gpu) {
        krf_context_destroy(context);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_copied_between_contexts),
        cmocka_unit_test(arrays_are_copied_between_gpus),
        cmocka_unit_test(copies_keep_the_order_of_both),
        cmocka_unit_test(copies_between_gpus_do_not_wait),
        cmocka_unit_test(gpus_that_do_not_reach_each_other),
        cmocka_unit_test(arrays_belong_to_a_context),
        cmocka_unit_test(devices_are_chosen_by_number_and_by_name),
        cmocka_unit_test(the_second_alone_is_the_first),
        cmocka_unit_test(one_is_lost_and_the_others_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
