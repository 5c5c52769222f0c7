/* What kerfuse relies on libcuda to do with two GPUs, asked of it directly, as in test_contract.c: of the double (sim) and of the real one (cuda), where there are two.
 * Each assertion is documented in NVIDIA's driver API manual or in the CUDA programming guide. ctest: on a device (no run without one). KRF_TEST_DEVICE */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakecuda/gpu.h"

enum { N = 5000, BYTES = N * (int)sizeof(int), SLOW = 3000000, INVALID_HANDLE = 400, INVALID_DEVICE = 101 };

/* A loop that takes some milliseconds, then out[i] = in[i] + 1. */
static const char add_one[] =
    "struct args { const int *in; int *out; int n, turns; };\n"
    "extern \"C\" __global__ void __launch_bounds__(256) krf_add(const args a) {\n"
    "    int i = (int)blockIdx.x * 256 + threadIdx.x;\n"
    "    unsigned long long state = 1;\n"
    "    for (int t = 0; i == 0 && t < a.turns; t++) state = state * 6364136223846793005ull + 1442695040888963407ull;\n"
    "    if (i < a.n) a.out[i] = a.in[i] + 1 + (state == 0 ? 1 : 0);\n"
    "}\n";

/* One of the two, with what a program has on it. */
typedef struct side {
    cu_context context;
    cu_stream stream;
    cu_pool pool; /* NULL: the device has none */
    cu_function add;
    cu_event event;
    cu_address x, y;
} side;

static side sides[2];
static kernel add;

static void enter(int d) { assert_cu(0, cu.cuCtxPushCurrent_v2(sides[d].context)); }
static void leave(void) {
    cu_context popped;
    assert_cu(0, cu.cuCtxPopCurrent_v2(&popped));
}

static void allocate(side *s, cu_address *address) {
    assert_cu(0, s->pool ? cu.cuMemAllocFromPoolAsync(address, BYTES, s->pool, s->stream) : cu.cuMemAlloc_v2(address, BYTES));
}

static int set_up(void **state) {
    (void)state;
    add = build_kernel(add_one, "krf_add");
    for (int d = 0; d < 2; d++) {
        side *s = &sides[d];
        int pools = 0;
        cu_pool_properties properties;
        memset(&properties, 0, sizeof properties);
        properties.allocation_type = KRF__CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = KRF__CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.id = d;
        assert_cu(0, cu.cuDevicePrimaryCtxRetain(&s->context, d));
        enter(d);
        assert_cu(0, cu.cuDeviceGetAttribute(&pools, KRF__CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, d));
        s->stream = new_stream(KRF__CU_STREAM_NON_BLOCKING);
        assert_cu(0, pools ? cu.cuMemPoolCreate(&s->pool, &properties) : 0);
        assert_cu(0, cu.cuEventCreate(&s->event, KRF__CU_EVENT_DISABLE_TIMING));
        assert_cu(0, cu.cuKernelGetFunction(&s->add, add.kernel)); /* a library is there for all contexts, a function for one */
        allocate(s, &s->x);
        allocate(s, &s->y);
        leave();
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        side *s = &sides[d];
        enter(d);
        for (int i = 0; i < 2; i++) {
            cu_address a = i == 0 ? s->x : s->y;
            assert_cu(0, s->pool ? cu.cuMemFreeAsync(a, s->stream) : cu.cuMemFree_v2(a));
        }
        assert_cu(0, cu.cuStreamSynchronize(s->stream));
        assert_cu(0, s->pool ? cu.cuMemPoolDestroy(s->pool) : 0);
        assert_cu(0, cu.cuEventDestroy_v2(s->event));
        assert_cu(0, cu.cuStreamDestroy_v2(s->stream));
        leave();
        assert_cu(0, cu.cuDevicePrimaryCtxRelease_v2(d));
    }
    return 0;
}

static int host[N];

/* From here on the side's context is entered. */
static void put(const side *s, cu_address to, int first) {
    for (int i = 0; i < N; i++) {
        host[i] = first + i;
    }
    assert_cu(0, cu.cuMemcpyHtoDAsync_v2(to, host, BYTES, s->stream));
    assert_cu(0, cu.cuStreamSynchronize(s->stream));
}

static void expect(const side *s, cu_address from, int first) {
    memset(host, 0x55, sizeof host);
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(host, from, BYTES, s->stream));
    assert_cu(0, cu.cuStreamSynchronize(s->stream));
    for (int i = 0; i < N; i++) {
        if (host[i] != first + i) {
            fail_msg("element %d is %d, not %d", i, host[i], first + i);
        }
    }
}

static cu_result launch_add(const side *s, cu_address in, cu_address out, int turns) {
    struct {
        cu_address in, out;
        int n, turns;
    } a = {in, out, N, turns};
    void *arguments[] = {&a};
    return cu.cuLaunchKernel(s->add, (N + 255) / 256, 1, 1, 256, 1, 1, 0, s->stream, arguments, NULL);
}

/* ---- tests ---- */

static void devices_differ(void **state) {
    (void)state;
    cu_uuid a, b;
    int count = 0, can = -1;
    assert_cu(0, cu.cuDeviceGetCount(&count));
    assert_cu(0, cu.cuDeviceGetUuid_v2(&a, 0));
    assert_cu(0, cu.cuDeviceGetUuid_v2(&b, 1));
    assert_true(memcmp(&a, &b, sizeof a) != 0);
    assert_ptr_not_equal(sides[0].context, sides[1].context);
    assert_cu(0, cu.cuDeviceCanAccessPeer(&can, 0, 1));
    assert_true(can == 0 || can == 1);
    assert_cu(INVALID_DEVICE, cu.cuDeviceCanAccessPeer(&can, 0, count));
}

/* "the event and stream must be from the same context"; but any stream may wait for it. */
static void events_belong_to_a_context_and_streams_of_others_wait(void **state) {
    (void)state;
    enter(0);
    put(&sides[0], sides[0].x, 0);
    leave();
    enter(1);
    put(&sides[1], sides[1].x, 1000);
    assert_cu(INVALID_HANDLE, cu.cuEventRecord(sides[0].event, sides[1].stream));
    leave();
    enter(0);
    assert_cu(0, launch_add(&sides[0], sides[0].x, sides[0].y, SLOW));
    assert_cu(0, cu.cuEventRecord(sides[0].event, sides[0].stream));
    leave();
    enter(1);
    assert_cu(0, cu.cuStreamWaitEvent(sides[1].stream, sides[0].event, 0));
    assert_cu(0, cu.cuMemcpyPeerAsync(sides[1].x, sides[1].context, sides[0].y, sides[0].context, BYTES, sides[1].stream));
    expect(&sides[1], sides[1].x, 1);
    leave();
}

/* Without any access, too: then by way of the host. Back in the stream of the other one. */
static void peer_copies_need_no_access(void **state) {
    (void)state;
    enter(0);
    put(&sides[0], sides[0].x, 5);
    assert_cu(0, cu.cuMemcpyPeerAsync(sides[1].y, sides[1].context, sides[0].x, sides[0].context, BYTES, sides[0].stream));
    assert_cu(0, cu.cuStreamSynchronize(sides[0].stream));
    leave();
    enter(1);
    assert_cu(0, launch_add(&sides[1], sides[1].y, sides[1].x, 0));
    expect(&sides[1], sides[1].x, 6);
    leave();
}

/* Pools have lists of their own: then even a kernel may read there. */
static void pools_are_opened_to_peers(void **state) {
    (void)state;
    int can = 0;
    const cu_access to_second = {{KRF__CU_MEM_LOCATION_TYPE_DEVICE, 1}, KRF__CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    assert_cu(0, cu.cuDeviceCanAccessPeer(&can, 1, 0));
    if (can == 0 || sides[0].pool == NULL) {
        print_message("skipped: the second GPU does not reach memory of the first\n");
        skip();
    }
    assert_cu(0, cu.cuMemPoolSetAccess(sides[0].pool, &to_second, 1));
    assert_cu(0, cu.cuMemPoolSetAccess(sides[0].pool, &to_second, 1)); /* again */
    enter(0);
    put(&sides[0], sides[0].x, 20); /* memory that was there before */
    leave();
    enter(1);
    assert_cu(0, launch_add(&sides[1], sides[0].x, sides[1].y, 0));
    expect(&sides[1], sides[1].y, 21);
    assert_cu(0, cu.cuMemcpyPeerAsync(sides[1].x, sides[1].context, sides[0].x, sides[0].context, BYTES, sides[1].stream));
    expect(&sides[1], sides[1].x, 20);
    leave();
}

static int count_devices(void) {
    int count = 0;
    return open_gpu() && cu.cuDeviceGetCount(&count) == 0 ? count : 0;
}

static void probe(void) {
    const int count = count_devices();
    exit(count == 0 ? 77 : count == 1 ? 78 : (close_gpu(), 0));
}

int main(void) {
    char text[2000];
    setenv("FAKECUDA_STRICT", "0", 1); /* the double ends the process where the real one returns an error */
    setenv("FAKECUDA_LEAKS", "0", 1);
    setenv("FAKECUDA_DEVICES", "2", 1);
    const int probed = run_child(probe, text, sizeof text);
    if (probed != 0) {
        printf("skipped: %s\n", probed == 78 ? "there is only one GPU" : "no GPU");
        return 77;
    }
    if (count_devices() < 2) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_differ),
        cmocka_unit_test(events_belong_to_a_context_and_streams_of_others_wait),
        cmocka_unit_test(peer_copies_need_no_access),
        cmocka_unit_test(pools_are_opened_to_peers),
    };
    const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    cu.cuLibraryUnload(add.library);
    close_gpu();
    return failed;
}
