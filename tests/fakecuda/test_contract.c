/* What kerfuse relies on libcuda and libnvrtc to do, asked of them directly: of the doubles (sim) and of the real ones
 * (cuda), so that the doubles cannot drift from what they stand for. Each assertion is documented in NVIDIA's driver
 * API or NVRTC manual, or in the CUDA programming guide. ctest: on a device (no run without one). KRF_TEST_DEVICE */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakecuda/gpu.h"

enum {
    INVALID_VALUE = 1,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    MISALIGNED_ADDRESS = 716,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_ISOLATION = 905,
};

enum { N = 5000, BYTES = N * (int)sizeof(int) };

/* A loop that takes some milliseconds, then out[i] = in[i] + 1. */
static const char add_one[] =
    "struct args { const int *in; int *out; int n, turns; };\n"
    "extern \"C\" __global__ void __launch_bounds__(256) krf_add(const args a) {\n"
    "    int i = (int)blockIdx.x * 256 + threadIdx.x;\n"
    "    unsigned long long state = 1;\n"
    "    for (int t = 0; i == 0 && t < a.turns; t++) state = state * 6364136223846793005ull + 1442695040888963407ull;\n"
    "    if (i < a.n) a.out[i] = a.in[i] + 1 + (state == 0 ? 1 : 0);\n" /* the state is never 0 in that many turns */
    "}\n";

typedef struct add_arguments {
    cu_address in, out;
    int n, turns;
} add_arguments;

static kernel add;

static cu_result launch_add(cu_address in, cu_address out, int turns, cu_stream stream) {
    add_arguments a = {in, out, N, turns};
    void *arguments[] = {&a};
    cu_result result = launch(&add, (N + 255) / 256, 256, stream, arguments);
    memset(&a, 0xff, sizeof a); /* they were copied */
    arguments[0] = NULL;
    return result;
}

static int host[N];

static void put(cu_address to, int first) {
    for (int i = 0; i < N; i++) {
        host[i] = first + i;
    }
    assert_cu(0, cu.cuMemcpyHtoDAsync_v2(to, host, BYTES, NULL));
    assert_cu(0, cu.cuStreamSynchronize(NULL));
}

static void expect(cu_address from, int first, cu_stream stream) {
    memset(host, 0x55, sizeof host);
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(host, from, BYTES, stream));
    assert_cu(0, cu.cuStreamSynchronize(stream));
    for (int i = 0; i < N; i++) {
        if (host[i] != first + i) {
            fail_msg("element %d is %d, not %d", i, host[i], first + i);
        }
    }
}

enum { SLOW = 3000000 };

/* ---- after a fault: in children, before this process uses CUDA --------------------------------------------------- */

static void check(bool good, int step) {
    if (!good) {
        fprintf(stderr, "step %d\n", step);
        exit(step);
    }
}

static void after_fault(const kernel *k, void **arguments, cu_result code) {
    cu_address address;
    cu_stream stream = NULL;
    cu_result launched = launch(k, 1, 32, NULL, arguments);
    check(launched == 0 || launched == code, 1);
    check(cu.cuCtxSynchronize() == code, 2);
    check(cu.cuMemAlloc_v2(&address, 64) == code, 3);
    check(cu.cuStreamCreate(&stream, 0) == code, 4);
    check(launch(k, 1, 32, NULL, arguments) == code, 5);
    check(cu.cuCtxSynchronize() == code, 6);
    const char *name = NULL;
    check(cu.cuGetErrorName(code, &name) == 0 && name, 7);
}

static void illegal_address(void) {
    check(open_gpu(), 77);
    kernel k = build_kernel(add_one, "krf_add");
    add_arguments a = {8, 8, N, 0};
    void *arguments[] = {&a};
    after_fault(&k, arguments, ILLEGAL_ADDRESS);
}

static void misaligned_address(void) {
    check(open_gpu(), 77);
    kernel k = build_kernel("extern \"C\" __global__ void krf_wide(uint4 *at) { __stcs(at, uint4{1, 2, 3, 4}); }\n",
                            "krf_wide");
    cu_address at = new_memory(64) + 4;
    void *arguments[] = {&at};
    after_fault(&k, arguments, MISALIGNED_ADDRESS);
}

static void faults_stick(void **state) {
    (void)state;
    static void (*const faults[])(void) = {illegal_address, misaligned_address};
    for (int i = 0; i < 2; i++) {
        char text[2000];
        int status = run_child(faults[i], text, sizeof text);
        if (status == 77) {
            skip();
        }
        if (status != 0) {
            fail_msg("fault %d: status %d: %s", i, status, text);
        }
    }
}

/* ---- errors, device, context ------------------------------------------------------------------------------------- */

static void errors_have_names(void **state) {
    (void)state;
    const char *name = NULL, *text = NULL;
    assert_cu(0, cu.cuGetErrorName(0, &name));
    assert_string_equal(name, "CUDA_SUCCESS");
    assert_cu(0, cu.cuGetErrorString(0, &text));
    assert_string_equal(text, "no error");
    static const struct {
        cu_result code;
        const char *name;
    } known[] = {{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {600, "CUDA_ERROR_NOT_READY"},
                 {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {719, "CUDA_ERROR_LAUNCH_FAILED"},
                 {999, "CUDA_ERROR_UNKNOWN"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_cu(0, cu.cuGetErrorName(known[i].code, &name));
        assert_string_equal(name, known[i].name);
        assert_cu(0, cu.cuGetErrorString(known[i].code, &text));
        assert_true(strlen(text) > 5);
    }
    assert_cu(INVALID_VALUE, cu.cuGetErrorName(12345, &name));
    assert_null(name);
    assert_cu(INVALID_VALUE, cu.cuGetErrorString(12345, &text));
    assert_null(text);
}

static void the_device_is_described(void **state) {
    (void)state;
    int count = 0, value = 0;
    cu_device device = -1;
    size_t bytes = 0;
    char name[128];
    memset(name, 'x', sizeof name);
    assert_cu(0, cu.cuDeviceGetCount(&count));
    assert_true(count >= 1);
    assert_cu(0, cu.cuDeviceGet(&device, 0));
    assert_cu(INVALID_DEVICE, cu.cuDeviceGet(&device, count));
    assert_cu(INVALID_DEVICE, cu.cuDeviceGet(&device, -1));
    assert_cu(INVALID_VALUE, cu.cuDeviceGet(NULL, 0));
    assert_cu(0, cu.cuDeviceGetName(name, (int)sizeof name, 0));
    assert_true(strnlen(name, sizeof name) < sizeof name);
    cu_uuid uuid;
    memset(&uuid, 0, sizeof uuid);
    assert_cu(0, cu.cuDeviceGetUuid_v2(&uuid, 0));
    assert_true(uuid.bytes[0] != 0 || uuid.bytes[1] != 0 || uuid.bytes[15] != 0);
    assert_cu(INVALID_DEVICE, cu.cuDeviceGetUuid_v2(&uuid, count));
    assert_cu(0, cu.cuDeviceTotalMem_v2(&bytes, 0));
    assert_true(bytes > 1 << 20);
    assert_cu(0, cu.cuDeviceGetAttribute(&value, KRF__CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    assert_true(value > 0);
    assert_cu(INVALID_VALUE, cu.cuDeviceGetAttribute(&value, 100000, 0));
    assert_cu(0, cu.cuInit(0)); /* again */
    assert_cu(INVALID_VALUE, cu.cuInit(1));
}

static void *other_thread(void *unused) {
    cu_context current = context;
    cu_address address = 0;
    (void)unused;
    bool good = cu.cuCtxGetCurrent(&current) == 0 && current == NULL;
    good = good && cu.cuMemAlloc_v2(&address, 64) == INVALID_CONTEXT;
    good = good && cu.cuCtxPopCurrent_v2(&current) == INVALID_CONTEXT;
    good = good && cu.cuCtxPushCurrent_v2(context) == 0 && cu.cuMemAlloc_v2(&address, 64) == 0;
    good = good && cu.cuMemFree_v2(address) == 0 && cu.cuCtxPopCurrent_v2(&current) == 0 && current == context;
    return good ? &add : NULL;
}

static void contexts_are_a_stack_of_each_thread(void **state) {
    (void)state;
    cu_context again = NULL, current = NULL;
    assert_cu(0, cu.cuDevicePrimaryCtxRetain(&again, 0));
    assert_ptr_equal(again, context);
    assert_cu(0, cu.cuDevicePrimaryCtxRelease_v2(0));
    assert_cu(0, cu.cuCtxPushCurrent_v2(context));
    assert_cu(0, cu.cuCtxPopCurrent_v2(&current));
    assert_ptr_equal(current, context);
    assert_cu(0, cu.cuCtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    pthread_t thread;
    void *good = NULL;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, &good);
    assert_non_null(good);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void memory_is_allocated_copied_and_filled(void **state) {
    (void)state;
    cu_address a = 0, b = 0;
    size_t available = 0, total = 0;
    assert_cu(INVALID_VALUE, cu.cuMemAlloc_v2(&a, 0));
    assert_cu(KRF__CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc_v2(&a, SIZE_MAX / 4));
    assert_cu(0, cu.cuMemAlloc_v2(&a, BYTES));
    assert_cu(0, cu.cuMemAlloc_v2(&b, BYTES));
    assert_int_equal(a % 256, 0);
    assert_int_equal(b % 256, 0);
    assert_cu(0, cu.cuMemGetInfo_v2(&available, &total));
    assert_true(available <= total && total > 0);

    put(a, 7);
    assert_cu(0, cu.cuMemcpyDtoDAsync_v2(b, a, BYTES, NULL));
    assert_cu(0, cu.cuMemsetD8Async(a, 0xab, BYTES, NULL));
    expect(b, 7, NULL);
    unsigned char part[10];
    assert_cu(0, cu.cuMemsetD8Async(a + 3, 0x12, 4, NULL)); /* bytes, at any place */
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(part, a, sizeof part, NULL));
    assert_cu(0, cu.cuStreamSynchronize(NULL));
    static const unsigned char wanted[10] = {0xab, 0xab, 0xab, 0x12, 0x12, 0x12, 0x12, 0xab, 0xab, 0xab};
    assert_memory_equal(part, wanted, sizeof part);
    assert_cu(0, cu.cuMemFree_v2(a));
    assert_cu(0, cu.cuMemFree_v2(b));
}

static void pools_allocate_in_stream_order(void **state) {
    (void)state;
    int supported = 0;
    assert_cu(0, cu.cuDeviceGetAttribute(&supported, KRF__CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0));
    if (!supported) {
        print_message("skipped: the device has no memory pools\n");
        skip();
    }
    cu_pool pool = NULL;
    cu_pool_properties properties;
    memset(&properties, 0, sizeof properties);
    properties.allocation_type = KRF__CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = KRF__CU_MEM_LOCATION_TYPE_DEVICE;
    uint64_t keep = UINT64_MAX;
    assert_cu(0, cu.cuMemPoolCreate(&pool, &properties));
    assert_cu(0, cu.cuMemPoolSetAttribute(pool, KRF__CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    cu_stream stream = new_stream(KRF__CU_STREAM_NON_BLOCKING);
    cu_address first = 0, in = new_memory(BYTES), out = new_memory(BYTES);
    put(in, 0);
    for (int round = 0; round < 20; round++) { /* freed while in use, in the stream's order; then given out again */
        assert_cu(0, cu.cuMemAllocFromPoolAsync(&first, BYTES, pool, stream));
        assert_int_equal(first % 256, 0);
        assert_cu(0, launch_add(in, first, round == 0 ? SLOW : 0, stream));
        assert_cu(0, launch_add(first, out, 0, stream));
        assert_cu(0, cu.cuMemFreeAsync(first, stream));
    }
    expect(out, 2, stream);
    assert_cu(KRF__CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAllocFromPoolAsync(&first, SIZE_MAX / 4, pool, stream));
    assert_cu(0, cu.cuMemPoolTrimTo(pool, 0));
    assert_cu(0, cu.cuMemPoolDestroy(pool));
    assert_cu(0, cu.cuStreamDestroy_v2(stream));
    assert_cu(0, cu.cuMemFree_v2(in));
    assert_cu(0, cu.cuMemFree_v2(out));
}

/* ---- streams and events ------------------------------------------------------------------------------------------ */

static void streams_have_ids(void **state) {
    (void)state;
    unsigned long long a = 0, b = 0, again = 0, later = 0;
    cu_stream first = new_stream(0), second = new_stream(KRF__CU_STREAM_NON_BLOCKING);
    assert_cu(0, cu.cuStreamGetId(first, &a));
    assert_cu(0, cu.cuStreamGetId(second, &b));
    assert_cu(0, cu.cuStreamGetId(first, &again));
    assert_true(a == again && a != b);
    assert_cu(0, cu.cuStreamDestroy_v2(first));
    first = new_stream(0); /* likely the same handle */
    assert_cu(0, cu.cuStreamGetId(first, &later));
    assert_true(later != a && later != b);
    assert_cu(0, cu.cuStreamDestroy_v2(first));
    assert_cu(0, cu.cuStreamDestroy_v2(second));
}

static void events_order_streams(void **state) {
    (void)state;
    cu_stream a = new_stream(KRF__CU_STREAM_NON_BLOCKING), b = new_stream(KRF__CU_STREAM_NON_BLOCKING);
    cu_event event = NULL;
    cu_address x = new_memory(BYTES), y = new_memory(BYTES), z = new_memory(BYTES);
    assert_cu(0, cu.cuEventCreate(&event, KRF__CU_EVENT_DISABLE_TIMING));
    assert_cu(0, cu.cuEventQuery(event)); /* never recorded: nothing to wait for */
    assert_cu(0, cu.cuStreamWaitEvent(b, event, 0));
    put(x, 0);
    put(z, 1000);
    assert_cu(0, launch_add(x, y, SLOW, a));
    assert_cu(0, cu.cuEventRecord(event, a));
    assert_cu(0, cu.cuStreamWaitEvent(b, event, 0));
    assert_cu(0, cu.cuMemsetD8Async(y + BYTES - 4, 0, 4, a)); /* after the record: b may or may not see it */
    assert_cu(0, cu.cuEventRecord(event, a));                 /* the wait stands for the record before it */
    cu_result query = cu.cuEventQuery(event);
    assert_true(query == 0 || query == 600);
    assert_cu(0, cu.cuMemcpyDtoDAsync_v2(z, y, BYTES - 4, b));
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(host, z, BYTES, b));
    assert_cu(0, cu.cuStreamSynchronize(b));
    assert_int_equal(host[0], 1);
    assert_int_equal(host[N - 2], N - 1);
    assert_int_equal(host[N - 1], 1000 + N - 1);
    assert_cu(0, cu.cuStreamSynchronize(a));
    assert_cu(0, cu.cuEventQuery(event));
    assert_cu(0, cu.cuEventDestroy_v2(event));
    assert_cu(0, cu.cuStreamDestroy_v2(a));
    assert_cu(0, cu.cuStreamDestroy_v2(b));
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuMemFree_v2(y));
    assert_cu(0, cu.cuMemFree_v2(z));
}

static void streams_and_events_can_be_asked(void **state) {
    (void)state;
    cu_stream a = NULL, urgent = NULL;
    cu_event from = NULL, to = NULL, plain = NULL;
    cu_address x = new_memory(BYTES), y = new_memory(BYTES);
    float ms = -1;
    put(x, 0);
    assert_cu(0, cu.cuStreamCreateWithPriority(&a, KRF__CU_STREAM_NON_BLOCKING, 0));
    assert_cu(0, cu.cuStreamCreateWithPriority(&urgent, KRF__CU_STREAM_DEFAULT, -100)); /* cut to what there is */
    assert_cu(INVALID_VALUE, cu.cuStreamCreateWithPriority(NULL, 0, 0));
    assert_cu(0, cu.cuEventCreate(&from, KRF__CU_EVENT_DEFAULT));
    assert_cu(0, cu.cuEventCreate(&to, KRF__CU_EVENT_DEFAULT));
    assert_cu(0, cu.cuEventCreate(&plain, KRF__CU_EVENT_DISABLE_TIMING));
    assert_cu(0, cu.cuStreamQuery(a));
    assert_cu(INVALID_HANDLE, cu.cuEventElapsedTime(&ms, from, to)); /* never recorded */
    assert_cu(0, cu.cuEventSynchronize(from));
    assert_cu(0, cu.cuEventRecord(from, a));
    assert_cu(0, launch_add(x, y, SLOW, a));
    assert_cu(0, cu.cuEventRecord(to, a));
    assert_cu(0, cu.cuEventRecord(plain, a));
    cu_result query = cu.cuStreamQuery(a);
    assert_true(query == 0 || query == KRF__CUDA_ERROR_NOT_READY);
    query = cu.cuEventElapsedTime(&ms, from, to);
    assert_true(query == 0 || query == KRF__CUDA_ERROR_NOT_READY);
    assert_cu(0, cu.cuEventSynchronize(to));
    assert_cu(0, cu.cuEventElapsedTime(&ms, from, to));
    assert_true(ms > 0 && ms < 60000);
    assert_cu(0, cu.cuEventSynchronize(plain));
    assert_cu(INVALID_HANDLE, cu.cuEventElapsedTime(&ms, from, plain));
    assert_cu(0, cu.cuStreamQuery(a));
    assert_cu(0, launch_add(y, x, 0, urgent));
    expect(x, 2, urgent);
    assert_cu(0, cu.cuEventDestroy_v2(from));
    assert_cu(0, cu.cuEventDestroy_v2(to));
    assert_cu(0, cu.cuEventDestroy_v2(plain));
    assert_cu(0, cu.cuStreamDestroy_v2(a));
    assert_cu(0, cu.cuStreamDestroy_v2(urgent));
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuMemFree_v2(y));
}

static void add_seven(void *user) {
    for (int i = 0; i < N; i++) {
        ((int *)user)[i] += 7;
    }
}

/* Pinned memory is known as such, and functions of the host run in the order of their stream. */
static void host_memory_and_functions(void **state) {
    (void)state;
    int *pinned = NULL;
    cu_enum type = 0;
    cu_stream a = new_stream(KRF__CU_STREAM_NON_BLOCKING);
    cu_address x = new_memory(BYTES), y = new_memory(BYTES);
    assert_cu(0, cu.cuMemHostAlloc((void **)&pinned, BYTES, KRF__CU_MEMHOSTALLOC_PORTABLE));
    assert_cu(0, cu.cuPointerGetAttribute(&type, KRF__CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                          (cu_address)(uintptr_t)(pinned + 100)));
    assert_int_equal(type, KRF__CU_MEMORYTYPE_HOST);
    assert_cu(0, cu.cuPointerGetAttribute(&type, KRF__CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x + 8));
    assert_int_equal(type, 2);
    cu_result pageable = cu.cuPointerGetAttribute(&type, KRF__CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                  (cu_address)(uintptr_t)host);
    assert_true(pageable == INVALID_VALUE || type != KRF__CU_MEMORYTYPE_HOST);
    for (int i = 0; i < N; i++) {
        pinned[i] = i;
    }
    assert_cu(0, cu.cuMemcpyHtoDAsync_v2(x, pinned, BYTES, a));
    assert_cu(0, launch_add(x, y, SLOW, a));
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(pinned, y, BYTES, a));
    assert_cu(0, cu.cuLaunchHostFunc(a, add_seven, pinned));
    assert_cu(0, cu.cuMemcpyHtoDAsync_v2(x, pinned, BYTES, a));
    assert_cu(INVALID_VALUE, cu.cuLaunchHostFunc(a, NULL, pinned));
    expect(x, 8, a);
    assert_cu(0, cu.cuMemFreeHost(pinned));
    assert_cu(0, cu.cuStreamDestroy_v2(a));
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuMemFree_v2(y));
}

#define PER_THREAD ((cu_stream)(void *)2)

static void *own_default_stream(void *id) {
    bool good = cu.cuCtxPushCurrent_v2(context) == 0 && cu.cuStreamGetId(PER_THREAD, id) == 0
                && cu.cuStreamSynchronize(PER_THREAD) == 0 && cu.cuCtxPopCurrent_v2(NULL) == 0;
    return good ? &add : NULL;
}

/* Each thread has a default stream behind the same handle, in order with the legacy one. */
static void threads_have_default_streams(void **state) {
    (void)state;
    unsigned long long here = 0, again = 0, there = 0, legacy = 0;
    cu_enum status = 9;
    pthread_t thread;
    void *good = NULL;
    assert_cu(0, cu.cuStreamGetId(PER_THREAD, &here));
    assert_cu(0, cu.cuStreamGetId(PER_THREAD, &again));
    assert_cu(0, cu.cuStreamGetId((cu_stream)(void *)1, &legacy));
    assert_int_equal(pthread_create(&thread, NULL, own_default_stream, &there), 0);
    pthread_join(thread, &good);
    assert_non_null(good);
    assert_true(here == again && here != there && here != legacy);
    cu_address x = new_memory(BYTES), y = new_memory(BYTES);
    put(x, 0);
    assert_cu(0, launch_add(x, y, SLOW, PER_THREAD));
    assert_cu(0, launch_add(y, x, SLOW, NULL));
    assert_cu(0, cu.cuStreamIsCapturing(PER_THREAD, &status));
    assert_int_equal(status, KRF__CU_STREAM_CAPTURE_STATUS_NONE);
    expect(x, 2, PER_THREAD);
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuMemFree_v2(y));
}

/* The legacy default stream waits for all streams that do not say NON_BLOCKING, and they for it. */
static void the_default_stream_synchronizes(void **state) {
    (void)state;
    cu_stream a = new_stream(0), b = new_stream(0);
    cu_address x = new_memory(BYTES), y = new_memory(BYTES), z = new_memory(BYTES);
    put(x, 0);
    assert_cu(0, launch_add(x, y, SLOW, a));
    assert_cu(0, launch_add(y, z, SLOW, NULL));
    assert_cu(0, launch_add(z, x, 0, b));
    expect(x, 3, b);
    assert_cu(0, cu.cuStreamDestroy_v2(a));
    assert_cu(0, cu.cuStreamDestroy_v2(b));
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuMemFree_v2(y));
    assert_cu(0, cu.cuMemFree_v2(z));
}

static void destroyed_streams_finish_their_work(void **state) {
    (void)state;
    cu_stream a = new_stream(KRF__CU_STREAM_NON_BLOCKING), b = NULL;
    cu_address x = new_memory(BYTES), y = new_memory(BYTES);
    cu_event event = NULL;
    assert_cu(0, cu.cuEventCreate(&event, KRF__CU_EVENT_DISABLE_TIMING));
    put(x, 5);
    assert_cu(0, launch_add(x, y, SLOW, a));
    assert_cu(0, cu.cuEventRecord(event, a));
    assert_cu(0, cu.cuStreamDestroy_v2(a));
    assert_cu(0, cu.cuCtxSynchronize());
    assert_cu(0, cu.cuEventQuery(event)); /* outlives the stream */
    expect(y, 6, NULL);
    assert_cu(INVALID_VALUE, cu.cuStreamCreate(&b, 0x80));
    assert_cu(0, cu.cuEventDestroy_v2(event));
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuMemFree_v2(y));
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* When it is loaded, or, where the driver loads lazily, when something of it is wanted. */
static void refuse_image(const char *image) {
    cu_library library = NULL;
    cu_kernel found = NULL;
    if (cu.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0) == 0) {
        assert_true(cu.cuLibraryGetKernel(&found, library, "krf_add") != 0);
        assert_cu(0, cu.cuLibraryUnload(library));
    }
}

static void images_are_checked(void **state) {
    (void)state;
    static const char garbage[4096] = "no image at all";
    cu_kernel found = NULL;
    cu_function function = NULL;
    int value = -1;
    refuse_image(garbage);
    refuse_image(".version nonsense\n");
    assert_cu(NOT_FOUND, cu.cuLibraryGetKernel(&found, add.library, "krf_other"));
    assert_cu(0, cu.cuLibraryGetKernel(&found, add.library, "krf_add"));
    assert_cu(0, cu.cuKernelGetFunction(&function, found));
    assert_cu(0, cu.cuFuncGetAttribute(&value, KRF__CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    assert_in_range(value, 1, 255);
    assert_cu(0, cu.cuFuncGetAttribute(&value, KRF__CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    assert_int_equal(value, 0);
    assert_cu(INVALID_VALUE, cu.cuFuncGetAttribute(&value, 100000, function));
    assert_cu(0, cu.cuCtxSynchronize()); /* none of that sticks */
}

static void launches_have_limits(void **state) {
    (void)state;
    static const unsigned shapes[][7] = {
        {0, 1, 1, 32, 1, 1, 0},     {1, 0, 1, 32, 1, 1, 0},       {1, 1, 1, 0, 1, 1, 0},
        {1, 65536, 1, 32, 1, 1, 0}, {1, 1, 65536, 32, 1, 1, 0},   {1, 1, 1, 1025, 1, 1, 0},
        {1, 1, 1, 1, 1, 65, 0},     {1, 1, 1, 32, 1, 1, 1 << 24}, {0x80000000u, 1, 1, 32, 1, 1, 0},
    };
    cu_address x = new_memory(BYTES);
    add_arguments a = {x, x, N, 0};
    void *arguments[] = {&a};
    put(x, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const unsigned *s = shapes[i];
        cu_result result =
            cu.cuLaunchKernel(add.function, s[0], s[1], s[2], s[3], s[4], s[5], s[6], NULL, arguments, NULL);
        if (result != INVALID_VALUE) {
            fail_msg("shape %zu gave %u", i, result);
        }
    }
    assert_cu(0, cu.cuLaunchKernel(add.function, 1, 2, 3, 8, 4, 2, 0, NULL, arguments, NULL));
    assert_cu(0, cu.cuCtxSynchronize());
    assert_cu(0, cu.cuMemFree_v2(x));
}

/* Threads, blocks, barriers, shuffles, atomics and the few functions that generated kernels use. */
static const char features[] =
    "extern \"C\" __global__ void krf_features(int *places, int *sums, unsigned *ticket, float number, int *rest) {\n"
    "    __shared__ int shared[64];\n"
    "    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
    "    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
    "    places[b * 64 + t] = b * 64 + t;\n"
    "    int sum = t;\n"
    "    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);\n"
    "    double last = __shfl_down_sync(0xffffffffu, (double)t, 31);\n" /* lanes past the end keep their own */
    "    shared[t] = sum;\n"
    "    __syncthreads();\n"
    "    if (t == 0) {\n"
    "        sums[b] = shared[0] + shared[32];\n"
    "        __threadfence();\n"
    "        atomicInc(ticket, 2);\n"
    "    }\n"
    "    if (b == 0) rest[t] = (int)last;\n"
    "    if (b == 0 && t == 0) {\n"
    "        rest[64] = (int)__brev(6u);\n"
    "        rest[65] = __int_as_float(0x40490fdb) > 3.14f && number == 2.5f;\n"
    "        rest[66] = __longlong_as_double(0x7ff0000000000000LL) > 1e300;\n"
    "        rest[67] = (int)__ldcs((const unsigned *)places);\n"
    "    }\n"
    "    long long third = __shfl_sync(0xffffffffu, (long long)t * 5, 3), above = __shfl_sync(0xffffffffu, (long long)t, 31 - t % 32);\n"
    "    if (b == 0 && t == 40) {\n"
    "        rest[68] = (int)third;\n"
    "        rest[69] = (int)above;\n"
    "    }\n"
    "}\n";

static void kernels_do_what_is_written(void **state) {
    (void)state;
    enum { BLOCKS = 2 * 3 * 4, REST = 70 };
    kernel k = build_kernel(features, "krf_features");
    cu_address places = new_memory(BLOCKS * 64 * 4), sums = new_memory(BLOCKS * 4), ticket = new_memory(4),
               rest = new_memory(REST * 4);
    float number = 2.5f;
    int place[BLOCKS * 64], sum[BLOCKS], others[REST], shared = 0;
    unsigned count = 7;
    void *arguments[] = {&places, &sums, &ticket, &number, &rest};
    assert_cu(0, cu.cuMemsetD8Async(ticket, 0, 4, NULL));
    assert_cu(0, cu.cuLaunchKernel(k.function, 2, 3, 4, 4, 8, 2, 0, NULL, arguments, NULL));
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(place, places, sizeof place, NULL));
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(sum, sums, sizeof sum, NULL));
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(&count, ticket, sizeof count, NULL));
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(others, rest, sizeof others, NULL));
    assert_cu(0, cu.cuStreamSynchronize(NULL));
    for (int i = 0; i < BLOCKS * 64; i++) {
        assert_int_equal(place[i], i);
    }
    for (int b = 0; b < BLOCKS; b++) {
        assert_int_equal(sum[b], 63 * 64 / 2);
    }
    assert_int_equal(count, BLOCKS % 3); /* 0, 1, 2, 0, ... */
    for (int t = 0; t < 64; t++) {
        assert_int_equal(others[t], t % 32 == 0 ? t + 31 : t);
    }
    assert_int_equal(others[64], 0x60000000);
    assert_int_equal(others[65], 1);
    assert_int_equal(others[66], 1);
    assert_int_equal(others[67], 0);
    assert_int_equal(others[68], 175); /* threads 35 and 55 of the second warp */
    assert_int_equal(others[69], 55);
    assert_cu(0, cu.cuFuncGetAttribute(&shared, KRF__CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k.function));
    assert_int_equal(shared, 256);
    assert_cu(0, cu.cuLibraryUnload(k.library));
    assert_cu(0, cu.cuMemFree_v2(places));
    assert_cu(0, cu.cuMemFree_v2(sums));
    assert_cu(0, cu.cuMemFree_v2(ticket));
    assert_cu(0, cu.cuMemFree_v2(rest));
}

static const char following[] =
    "extern \"C\" __global__ void krf_follow(const int *x, int *y, int n) {\n"
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n"
    "    asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");\n"
    "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
    "#elif !defined(__CUDACC__)\n"
    "    __grid_dependency_wait();\n"
    "#endif\n"
    "    int i = blockIdx.x * 64 + threadIdx.x;\n"
    "    y[i] = x[n - 1 - i] + 1;\n"
    "}\n";

/* Each kernel reads what other blocks of the one before it wrote, and may be launched before that has ended. */
static void early_launches_follow_each_other(void **state) {
    (void)state;
    enum { COUNT = 64 * 1000, TIMES = 101 };
    static int numbers[COUNT];
    kernel k = build_kernel(following, "krf_follow");
    cu_address from = new_memory(sizeof numbers), to = new_memory(sizeof numbers);
    int n = COUNT;
    cu_launch_attribute attribute = {.id = KRF__CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value = {.allowed = 1}};
    const cu_launch_config config = {COUNT / 64, 1, 1, 64, 1, 1, 0, NULL, &attribute, 1};
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = i;
    }
    assert_cu(0, cu.cuMemcpyHtoDAsync_v2(from, numbers, sizeof numbers, NULL));
    for (int t = 0; t < TIMES; t++) {
        void *arguments[] = {t % 2 == 0 ? &from : &to, t % 2 == 0 ? &to : &from, &n};
        assert_cu(0, cu.cuLaunchKernelEx(&config, k.function, arguments, NULL));
    }
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(numbers, to, sizeof numbers, NULL));
    assert_cu(0, cu.cuStreamSynchronize(NULL));
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(numbers[i], COUNT - 1 - i + TIMES);
    }
    assert_cu(0, cu.cuLibraryUnload(k.library));
    assert_cu(0, cu.cuMemFree_v2(from));
    assert_cu(0, cu.cuMemFree_v2(to));
}

/* Blocks of the next kernel come when those of this one have waited, so that what it loads before it waits can be written by this one only. */
static const char ahead[] =
    "extern \"C\" __global__ void krf_ahead(const unsigned *fixed, const unsigned *x, unsigned *y, int n) {\n"
    "    int i = blockIdx.x * 64 + threadIdx.x;\n"
    "    unsigned own = fixed[i];\n"
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n"
    "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
    "    asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");\n"
    "#elif !defined(__CUDACC__)\n"
    "    __grid_dependency_wait();\n"
    "#endif\n"
    "    y[i] = x[n - 1 - i] + own;\n"
    "}\n";

/* Each kernel loads what the one before it does not write, then waits for what that one wrote: every third one loads what the one before the last wrote, and then writes
 * there itself. */
static void early_launches_load_before_they_wait(void **state) {
    (void)state;
    enum { COUNT = 64 * 1000, TIMES = 99 };
    static unsigned numbers[COUNT], wanted[2][COUNT], fixed_numbers[COUNT];
    kernel k = build_kernel(ahead, "krf_ahead");
    cu_address at[2] = {new_memory(sizeof numbers), new_memory(sizeof numbers)}, fixed = new_memory(sizeof numbers);
    int n = COUNT;
    cu_launch_attribute attribute = {.id = KRF__CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value = {.allowed = 1}};
    const cu_launch_config config = {COUNT / 64, 1, 1, 64, 1, 1, 0, NULL, &attribute, 1};
    for (int i = 0; i < COUNT; i++) {
        wanted[0][i] = wanted[1][i] = numbers[i] = (unsigned)i;
        fixed_numbers[i] = 3 * (unsigned)i + 1;
    }
    for (int b = 0; b < 2; b++) {
        assert_cu(0, cu.cuMemcpyHtoDAsync_v2(at[b], numbers, sizeof numbers, NULL));
    }
    assert_cu(0, cu.cuMemcpyHtoDAsync_v2(fixed, fixed_numbers, sizeof fixed_numbers, NULL));
    for (int t = 0; t < TIMES; t++) {
        const int from = t % 2, to = 1 - from;
        void *arguments[] = {t % 3 == 2 ? &at[to] : &fixed, &at[from], &at[to], &n};
        assert_cu(0, cu.cuLaunchKernelEx(&config, k.function, arguments, NULL));
        for (int i = 0; i < COUNT; i++) {
            wanted[to][i] = wanted[from][n - 1 - i] + (t % 3 == 2 ? wanted[to][i] : fixed_numbers[i]);
        }
    }
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(numbers, at[TIMES % 2], sizeof numbers, NULL));
    assert_cu(0, cu.cuStreamSynchronize(NULL));
    assert_memory_equal(numbers, wanted[TIMES % 2], sizeof numbers);
    assert_cu(0, cu.cuLibraryUnload(k.library));
    assert_cu(0, cu.cuMemFree_v2(at[0]));
    assert_cu(0, cu.cuMemFree_v2(at[1]));
    assert_cu(0, cu.cuMemFree_v2(fixed));
}

static void ptx_is_translated(void **state) {
    (void)state;
    void *image = NULL;
    size_t bytes = 0;
    kernel k = {0};
    assert_int_equal(krf__nvrtc_build(&rtc, arch, true, add_one, "krf_add", &image, &bytes), KRF_OK);
    assert_int_equal(strlen(image), bytes);
    assert_non_null(strstr(image, ".visible .entry krf_add"));
    assert_cu(0, cu.cuLibraryLoadData(&k.library, image, NULL, NULL, 0, NULL, NULL, 0));
    assert_cu(0, cu.cuLibraryGetKernel(&k.kernel, k.library, "krf_add"));
    assert_cu(0, cu.cuKernelGetFunction(&k.function, k.kernel));
    cu_address x = new_memory(BYTES);
    put(x, 3);
    add_arguments a = {x, x, N, 0};
    void *arguments[] = {&a};
    assert_cu(0, launch(&k, (N + 255) / 256, 256, NULL, arguments));
    expect(x, 4, NULL);
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuLibraryUnload(k.library));
    krf__mem_free(image);
}

/* ---- capture ----------------------------------------------------------------------------------------------------- */

typedef struct capture_calls {
    cu_result (*begin)(cu_stream, cu_enum);
    cu_result (*end)(cu_stream, void **);
    cu_result (*nodes)(void *, void **, size_t *);
    cu_result (*destroy)(void *);
} capture_calls;

static void captures_record_and_break(void **state) {
    (void)state;
    static const krf__symbol symbols[] = {{"cuStreamBeginCapture_v2", offsetof(capture_calls, begin), true},
                                          {"cuStreamEndCapture", offsetof(capture_calls, end), true},
                                          {"cuGraphGetNodes", offsetof(capture_calls, nodes), true},
                                          {"cuGraphDestroy", offsetof(capture_calls, destroy), true}};
    const char *reason;
    capture_calls calls;
    assert_null(krf__symbols_resolve(krf__symbols_open(cu.path, &reason), symbols, 4, &calls));
    cu_stream a = new_stream(KRF__CU_STREAM_NON_BLOCKING), b = new_stream(KRF__CU_STREAM_NON_BLOCKING);
    cu_address x = new_memory(BYTES), y = new_memory(BYTES);
    cu_event event = NULL;
    cu_enum status = 9, mode = KRF__CU_STREAM_CAPTURE_MODE_RELAXED;
    void *graph = NULL;
    size_t nodes = 0;
    assert_cu(0, cu.cuEventCreate(&event, KRF__CU_EVENT_DISABLE_TIMING));
    put(x, 0);
    put(y, 50);

    assert_cu(0, calls.begin(a, 0));
    assert_cu(0, cu.cuStreamIsCapturing(a, &status));
    assert_int_equal(status, 1);
    assert_cu(0, cu.cuStreamIsCapturing(b, &status));
    assert_int_equal(status, KRF__CU_STREAM_CAPTURE_STATUS_NONE);
    assert_cu(0, launch_add(x, y, 0, a));
    assert_cu(0, cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, 0);               /* global unless changed */
    assert_cu(0, cu.cuStreamSynchronize(b)); /* a thread that says RELAXED may wait for other streams */
    assert_cu(0, cu.cuEventSynchronize(event));
    assert_cu(0, cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, KRF__CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_cu(0, calls.end(a, &graph));
    assert_cu(0, calls.nodes(graph, NULL, &nodes));
    assert_int_equal(nodes, 1);
    assert_cu(0, calls.destroy(graph));
    expect(y, 50, a); /* nothing ran */

    assert_cu(0, calls.begin(a, 0));
    void *pinned = NULL;
    unsigned long long id = 0;
    assert_cu(CAPTURE_UNSUPPORTED, cu.cuMemHostAlloc(&pinned, 64, KRF__CU_MEMHOSTALLOC_PORTABLE));
    assert_cu(CAPTURE_INVALIDATED, calls.end(a, &graph));
    assert_cu(0, calls.begin(a, 0));
    assert_cu(CAPTURE_UNSUPPORTED, cu.cuStreamGetId(a, &id));
    assert_cu(CAPTURE_INVALIDATED, calls.end(a, &graph));
    assert_cu(0, calls.begin(a, 0));
    assert_cu(0, cu.cuStreamGetId(b, &id));
    assert_cu(0, cu.cuEventRecord(event, b)); /* elsewhere, it is no part of the capture */
    assert_cu(CAPTURE_UNSUPPORTED, cu.cuEventQuery(event));
    assert_cu(CAPTURE_INVALIDATED, calls.end(a, &graph));

    assert_cu(0, calls.begin(a, 0));
    assert_cu(CAPTURE_UNSUPPORTED, cu.cuStreamSynchronize(a));
    assert_cu(0, cu.cuStreamIsCapturing(a, &status));
    assert_int_equal(status, 2); /* invalidated */
    assert_cu(CAPTURE_INVALIDATED, calls.end(a, &graph));
    assert_null(graph);

    assert_cu(0, cu.cuEventRecord(event, b));
    assert_cu(0, calls.begin(a, 0));
    assert_cu(CAPTURE_ISOLATION, cu.cuStreamWaitEvent(a, event, 0));
    assert_cu(CAPTURE_INVALIDATED, calls.end(a, &graph));
    assert_cu(0, cu.cuCtxSynchronize());
    assert_cu(0, cu.cuEventDestroy_v2(event));
    assert_cu(0, cu.cuStreamDestroy_v2(a));
    assert_cu(0, cu.cuStreamDestroy_v2(b));
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuMemFree_v2(y));
}

/* ---- NVRTC ------------------------------------------------------------------------------------------------------- */

static nvrtc_result compile(nvrtc_program *program, const char *source, int count, const char *const *options) {
    assert_int_equal(rtc.nvrtcCreateProgram(program, source, "k.cu", 0, NULL, NULL), 0);
    return rtc.nvrtcCompileProgram(*program, count, options);
}

/* A node names its kernel by a function, or by a kernel and a context; and takes other arguments after it was instantiated. */
static void graphs_of_kernels_are_patched(void **state) {
    (void)state;
    cu_address x = new_memory(BYTES), y = new_memory(BYTES), z = new_memory(BYTES);
    cu_stream stream = new_stream(KRF__CU_STREAM_NON_BLOCKING);
    add_arguments first = {x, y, N, 0}, second = {y, z, N, 0};
    void *a = &first, *b = &second;
    cu_kernel_node_params by_kernel = {.kernel = add.kernel, .context = context, .grid_x = (N + 255) / 256, .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1, .arguments = &a};
    cu_kernel_node_params by_function = by_kernel;
    by_function.kernel = NULL;
    by_function.context = NULL;
    by_function.function = add.function;
    by_function.arguments = &b;
    cu_graph graph = NULL;
    cu_graph_exec exec = NULL;
    cu_graph_node nodes[2];
    put(x, 0);
    assert_cu(0, cu.cuGraphCreate(&graph, 0));
    assert_cu(0, cu.cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &by_kernel));
    assert_cu(0, cu.cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, &by_function));
    assert_cu(0, cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    assert_cu(0, cu.cuGraphLaunch(exec, stream));
    expect(z, 2, stream);
    first.out = z; /* x + 1 to z, and from z to y */
    second.in = z;
    second.out = y;
    assert_cu(0, cu.cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &by_kernel));
    assert_cu(0, cu.cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &by_function));
    first.out = second.in = 0; /* they were copied */
    assert_cu(0, cu.cuGraphLaunch(exec, stream));
    expect(z, 1, stream);
    expect(y, 2, stream);
    assert_cu(0, cu.cuGraphExecDestroy(exec));
    assert_cu(0, cu.cuGraphDestroy(graph));
    assert_cu(0, cu.cuStreamDestroy_v2(stream));
    assert_cu(0, cu.cuMemFree_v2(x));
    assert_cu(0, cu.cuMemFree_v2(y));
    assert_cu(0, cu.cuMemFree_v2(z));
}

static void programs_compile_or_say_why(void **state) {
    (void)state;
    enum { INVALID_OPTION = 5 };
    nvrtc_program program = NULL;
    size_t bytes = 0;
    static const char *const unknown[] = {"--nonsense"}, *const odd[] = {"--gpu-architecture=sm_1"};
    char target[64];
    const char *virtual_arch[] = {target};
    assert_string_equal(rtc.nvrtcGetErrorString(KRF__NVRTC_ERROR_COMPILATION), "NVRTC_ERROR_COMPILATION");
    assert_true(rtc.major >= 12 && rtc.arch_count > 1);
    assert_int_equal(compile(&program, add_one, 1, unknown), INVALID_OPTION);
    assert_int_equal(rtc.nvrtcDestroyProgram(&program), 0);
    assert_int_equal(compile(&program, add_one, 1, odd), INVALID_OPTION);
    assert_int_equal(rtc.nvrtcDestroyProgram(&program), 0);

    assert_int_equal(compile(&program, "\n\nint x = undeclared;\n", 0, NULL), KRF__NVRTC_ERROR_COMPILATION);
    assert_int_equal(rtc.nvrtcGetProgramLogSize(program, &bytes), 0);
    char *log = calloc(1, bytes + 1);
    assert_int_equal(rtc.nvrtcGetProgramLog(program, log), 0);
    assert_int_equal(strlen(log) + 1, bytes); /* the size counts the NUL */
    assert_non_null(strstr(log, "k.cu(3): error"));
    assert_non_null(strstr(log, "undeclared"));
    free(log);
    assert_int_equal(rtc.nvrtcDestroyProgram(&program), 0);

    snprintf(target, sizeof target, "--gpu-architecture=compute_%s", arch);
    assert_int_equal(compile(&program, add_one, 1, virtual_arch), 0);
    assert_int_equal(rtc.nvrtcGetPTXSize(program, &bytes), 0);
    char *ptx = calloc(1, bytes + 1);
    assert_int_equal(rtc.nvrtcGetPTX(program, ptx), 0);
    assert_int_equal(strlen(ptx) + 1, bytes);
    free(ptx);
    assert_int_equal(rtc.nvrtcGetCUBINSize(program, &bytes), 0);
    assert_int_equal(bytes, 0); /* a virtual architecture has no binary */
    assert_int_equal(rtc.nvrtcDestroyProgram(&program), 0);
}

/* Each block gives a number to every block of its cluster, by way of their shared memory. */
static const char cluster[] =
    "extern \"C\" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64) krf_cluster(int *out) {\n"
    "    __shared__ int first[4];\n"
    "    __shared__ double second[4];\n"
    "    int t = threadIdx.x, rank = blockIdx.x % 4;\n"
    "    __cluster_barrier_arrive_relaxed();\n"
    "    __cluster_barrier_wait();\n"
    "    if (t < 4) *(int *)__cluster_map_shared_rank(&first[rank], t) = 10 * (int)blockIdx.x + t;\n"
    "    __cluster_barrier_arrive();\n"
    "    __cluster_barrier_wait();\n"
    "    if (t >= 60) *(double *)__cluster_map_shared_rank(&second[rank], t - 60) = first[t - 60] + 0.5;\n"
    "    __cluster_barrier_arrive();\n"
    "    __cluster_barrier_wait();\n"
    "    if (t < 4) out[blockIdx.x * 4 + t] = (int)(2 * second[t]);\n"
    "}\n";

/* Blocks of a cluster are neighbours, run at the same time and write into each other's shared memory; what one wrote before it arrived at the
 * cluster's barrier is there for all that have waited. */
static void clusters_share_memory(void **state) {
    (void)state;
    enum { BLOCKS = 12 };
    static const char *const older[] = {"--gpu-architecture=sm_80"};
    nvrtc_program program = NULL;
    int out[BLOCKS * 4];
    assert_int_equal(compile(&program, cluster, 1, older), KRF__NVRTC_ERROR_COMPILATION);
    assert_int_equal(rtc.nvrtcDestroyProgram(&program), 0);
    if (atoi(arch) < 90) {
        return;
    }
    kernel k = build_kernel(cluster, "krf_cluster");
    cu_address at = new_memory(sizeof out);
    void *arguments[] = {&at};
    assert_true(launch(&k, BLOCKS - 1, 64, NULL, arguments) != 0); /* not whole clusters */
    assert_cu(0, launch(&k, BLOCKS, 64, NULL, arguments));
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(out, at, sizeof out, NULL));
    assert_cu(0, cu.cuStreamSynchronize(NULL));
    for (int b = 0; b < BLOCKS; b++) {
        for (int t = 0; t < 4; t++) { /* what block t of the cluster got from the block with the rank of b */
            assert_int_equal(out[b * 4 + t], 2 * (10 * (b / 4 * 4 + b % 4) + t) + 1);
        }
    }
    assert_cu(0, cu.cuLibraryUnload(k.library));
    assert_cu(0, cu.cuMemFree_v2(at));
}

static int set_up(void **state) {
    (void)state;
    if (!open_gpu()) {
        return -1;
    }
    add = build_kernel(add_one, "krf_add");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    cu.cuLibraryUnload(add.library);
    close_gpu();
    return 0;
}

static void probe(void) { exit(open_gpu() ? (close_gpu(), 0) : 77); }

int main(void) {
    char text[2000];
    setenv("FAKECUDA_STRICT", "0", 1); /* the doubles end the process where the real ones return an error */
    if (run_child(probe, text, sizeof text) != 0) {
        printf("skipped: no GPU\n");
        return 77;
    }
    const struct CMUnitTest before[] = {cmocka_unit_test(faults_stick)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_names),
        cmocka_unit_test(the_device_is_described),
        cmocka_unit_test(contexts_are_a_stack_of_each_thread),
        cmocka_unit_test(memory_is_allocated_copied_and_filled),
        cmocka_unit_test(pools_allocate_in_stream_order),
        cmocka_unit_test(streams_have_ids),
        cmocka_unit_test(events_order_streams),
        cmocka_unit_test(streams_and_events_can_be_asked),
        cmocka_unit_test(host_memory_and_functions),
        cmocka_unit_test(threads_have_default_streams),
        cmocka_unit_test(the_default_stream_synchronizes),
        cmocka_unit_test(destroyed_streams_finish_their_work),
        cmocka_unit_test(images_are_checked),
        cmocka_unit_test(launches_have_limits),
        cmocka_unit_test(kernels_do_what_is_written),
        cmocka_unit_test(early_launches_follow_each_other),
        cmocka_unit_test(early_launches_load_before_they_wait),
        cmocka_unit_test(ptx_is_translated),
        cmocka_unit_test(captures_record_and_break),
        cmocka_unit_test(graphs_of_kernels_are_patched),
        cmocka_unit_test(programs_compile_or_say_why),
        cmocka_unit_test(clusters_share_memory),
    };
    int failed = cmocka_run_group_tests(before, NULL, NULL);
    return failed ? failed : cmocka_run_group_tests(tests, set_up, tear_down);
}
