/* See simulated.h. */
#include "failures/simulated.h"

#include "backend/cuda/driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

doubles simulated[2];

static void find(void *library, const char *name, void *function) {
    void *address = library != NULL ? dlsym(library, name) : NULL;
    memcpy(function, &address, sizeof address);
}

bool simulated_open(void) {
    for (int i = 0; i < 2; i++) {
        const char *path = getenv(i == 0 ? "KRF_LIBCUDA" : "KRF_LIBNVRTC");
        void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        find(library, "fakecuda_calls", &simulated[i].calls);
        find(library, "fakecuda_fail", &simulated[i].fail);
        find(library, "fakecuda_reset", &simulated[i].reset);
        find(library, "fakecuda_live", &simulated[i].live);
        if (simulated[i].reset == NULL) {
            return false;
        }
    }
    return true;
}

int simulated_side(const char *name) { return strncmp(name, "nvrtc", 5) == 0; }

/* ---- a caller's stream ---- */

static struct {
    krf__driver driver;
    cu_context context;
    cu_stream stream;
    cu_result (*begin_capture)(cu_stream stream, cu_enum mode);
    cu_result (*end_capture)(cu_stream stream, void **graph);
    cu_result (*destroy_graph)(void *graph);
} user;

/* A program with a stream of its own. Once in each process, before anything fails. */
bool simulated_open_user(void) {
    if (user.stream != NULL) {
        return true;
    }
    void *library = dlopen(getenv("KRF_LIBCUDA"), RTLD_NOW | RTLD_LOCAL);
    find(library, "cuStreamBeginCapture_v2", &user.begin_capture);
    find(library, "cuStreamEndCapture", &user.end_capture);
    find(library, "cuGraphDestroy", &user.destroy_graph);
    cu_context popped;
    return krf__driver_open(&user.driver, NULL) == KRF_OK
           && user.driver.cuDevicePrimaryCtxRetain(&user.context, 0) == KRF__CUDA_SUCCESS
           && user.driver.cuCtxPushCurrent_v2(user.context) == KRF__CUDA_SUCCESS
           && user.driver.cuStreamCreate(&user.stream, KRF__CU_STREAM_NON_BLOCKING) == KRF__CUDA_SUCCESS
           && user.driver.cuCtxPopCurrent_v2(&popped) == KRF__CUDA_SUCCESS && user.destroy_graph != NULL;
}

enum { N = 500 };

static krf_status check_twice(scene *s, krf_array *y) {
    static float got[N]; /* a lost device may still be writing */
    krf_status status = krf_array_to_host(y, got, sizeof got);
    for (int i = 0; status == KRF_OK && i < N; i++) {
        if (got[i] != (float)i * 2 + 1) {
            scene_wrong(s, "on a caller's stream: element %d is %g", i, (double)got[i]);
            break;
        }
    }
    return status;
}

/* Runs the plan while the stream is being captured: nothing may happen yet. */
static krf_status run_captured(krf_plan *plan, const krf_binding *x, krf_array **y) {
    enum { GLOBAL = 0 };
    void *graph = NULL;
    if (user.begin_capture(user.stream, GLOBAL) != KRF__CUDA_SUCCESS) {
        return KRF_OK; /* the device is lost: the next call says so */
    }
    krf_status status = krf_plan_run(plan, user.stream, 1, x, y);
    if (user.end_capture(user.stream, &graph) == KRF__CUDA_SUCCESS && graph != NULL) {
        user.destroy_graph(graph);
    }
    return status;
}

/* A plan on the caller's stream, in turn with work on the context's own. */
static krf_status on_streams(scene *s) {
    static float data[N];
    for (int i = 0; i < N; i++) {
        data[i] = (float)i;
    }
    krf_array *x = NULL, *y = NULL, *z = NULL;
    krf_plan *plan = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_expr v = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N});
    krf_expr w = krf_add(krf_multiply(v, krf_int(g, 2)), krf_int(g, 1));
    krf_status status = krf_compile(g, 1, &w, NULL, &plan);
    status = status == KRF_OK ? krf_array_from_host(s->context, KRF_F32, 1, (int64_t[]){N}, data, &x) : status;
    krf_binding b = krf_bind_array("x", x);
    for (int round = 0; status == KRF_OK && round < 2; round++) {
        status = krf_plan_run(plan, user.stream, 1, &b, &y); /* the first makes y */
        status = status == KRF_OK ? check_twice(s, y) : status;
        status = status == KRF_OK ? krf_array_create(s->context, KRF_F32, 1, (int64_t[]){N}, &z) : status;
        status = status == KRF_OK ? krf_array_copy(z, y) : status;
        status = status == KRF_OK ? krf_plan_run(plan, user.stream, 1, &b, &z) : status;
        status = status == KRF_OK ? krf_plan_run(plan, user.stream, 1, &b, &z) : status; /* nothing new to wait for */
        status = status == KRF_OK ? check_twice(s, z) : status;
        status = status == KRF_OK ? krf_array_copy(z, y) : status; /* leaves work behind that a capture must wait for */
        status = status == KRF_OK ? run_captured(plan, &b, &y) : status;
        krf_array_release(z);
        z = NULL;
    }
    status = status == KRF_OK ? krf_context_synchronize(s->context) : status;
    krf_kernel_info info = {.size = sizeof info};
    status = status == KRF_OK ? krf_plan_kernel(plan, 0, &info) : status;
    krf_plan_release(plan);
    krf_graph_destroy(g);
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(z);
    return status;
}

/* PTX and a cubin without the device, through NVRTC alone. */
static krf_status dump_binaries(scene *s) {
    krf_graph *g = krf_graph_create(s->context);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), y = krf_multiply(x, x);
    krf_status status = KRF_OK;
    for (int kind = KRF_DUMP_PTX; status == KRF_OK && kind <= KRF_DUMP_CUBIN; kind++) {
        char *text = NULL;
        size_t size = 0;
        status = krf_dump(g, 1, &y, (krf_dump_kind)kind, "cuda", NULL, &text, &size);
        if ((status == KRF_OK) != (text != NULL && size > 0)) {
            scene_wrong(s, "krf_dump: %s, %zu bytes", krf_status_name(status), size);
        }
        krf_free(text);
    }
    krf_graph_destroy(g);
    return status;
}

/* A sum that several blocks share, which takes counters that are zero. */
static krf_status sum_much(scene *s) {
    enum { MUCH = 20000 };
    static float data[MUCH];
    float sum = 0;
    for (int i = 0; i < MUCH; i++) {
        data[i] = (float)(i % 7);
        sum += data[i]; /* exact */
    }
    krf_array *x = NULL, *y = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_status status = krf_array_from_host(s->context, KRF_F32, 1, (int64_t[]){MUCH}, data, &x);
    for (int round = 0; status == KRF_OK && round < 2; round++) {
        static float got;
        status = krf_eval(krf_sum(krf_input(g, x), 0, NULL, false), &y);
        status = status == KRF_OK ? krf_array_to_host(y, &got, sizeof got) : status;
        if (status == KRF_OK && got != sum) {
            scene_wrong(s, "a sum of %d elements is %g, not %g", MUCH, (double)got, (double)sum);
        }
    }
    krf_graph_destroy(g);
    krf_array_release(x);
    krf_array_release(y);
    return status;
}

krf_status simulated_extra(scene *s) {
    krf_status status = on_streams(s);
    status = status == KRF_OK ? sum_much(s) : status;
    return status == KRF_OK ? dump_binaries(s) : status;
}
