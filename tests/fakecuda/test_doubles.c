/* What the doubles of libcuda and libnvrtc find that a GPU would not tell: each mistake is made in a child, which must
 * end with the doubles' status and say what was wrong. Data races and accesses out of bounds are in test_sanitizers.sh.
 * ctest: simulated. KRF_TEST_DEVICE */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakecuda/gpu.h"

#if defined __SANITIZE_ADDRESS__
#define WITH_ASAN true
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define WITH_ASAN true
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN false
#endif
#if defined __SANITIZE_THREAD__
#define WITH_TSAN true
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define WITH_TSAN true
#endif
#endif
#ifndef WITH_TSAN
#define WITH_TSAN false
#endif

enum { FOUND = 99 };

static void open_here(void) {
    if (!open_gpu()) {
        exit(77);
    }
}

static void finds(void (*mistake)(void), const char *message) {
    char text[4000];
    int status = run_child(mistake, text, sizeof text);
    if (status != FOUND || !strstr(text, message)) {
        fail_msg("status %d, '%s' does not say '%s'", status, text, message);
    }
}

/* ---- handles and memory ------------------------------------------------------------------------------------------ */

static void free_twice(void) {
    open_here();
    cu_address a = new_memory(100);
    cu.cuMemFree_v2(a);
    cu.cuMemFree_v2(a);
}

static void free_the_middle(void) {
    open_here();
    cu.cuMemFree_v2(new_memory(100) + 8);
}

static void use_a_dead_stream(void) {
    open_here();
    cu_stream stream = new_stream(1);
    cu.cuStreamDestroy_v2(stream);
    cu.cuStreamSynchronize(stream);
}

static void copy_too_much(void) {
    static char host[128];
    open_here();
    cu.cuMemcpyHtoDAsync_v2(new_memory(100), host, 101, NULL);
}

static void allocate_nothing(void) {
    cu_address a;
    open_here();
    cu.cuMemAlloc_v2(&a, 0);
}

static void no_context(void) {
    cu_context popped;
    cu_address a;
    open_here();
    cu.cuCtxPopCurrent_v2(&popped);
    cu.cuMemAlloc_v2(&a, 16);
}

static void leave_memory(void) {
    open_here();
    new_memory(1234);
    close_gpu();
}

static void leave_a_stream(void) {
    open_here();
    new_stream(1);
    close_gpu();
}

static void leave_the_context(void) { open_here(); }

static void misuse_is_found(void **state) {
    (void)state;
    finds(free_twice, "cuMemFree: ");
    finds(free_the_middle, "not the start of an allocation");
    finds(use_a_dead_stream, "no live stream");
    finds(copy_too_much, "outside any allocation");
    finds(allocate_nothing, "0 bytes");
    finds(no_context, "no current context");
}

static void leaks_are_found(void **state) {
    (void)state;
    finds(leave_memory, "1234 bytes");
    finds(leave_a_stream, "1 streams");
    finds(leave_the_context, "the primary context");
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static void run_source(const char *source, unsigned threads, cu_address at) {
    kernel k = build_kernel(source, "krf_k");
    void *arguments[] = {&at};
    launch(&k, 1, threads, NULL, arguments);
    cu.cuCtxSynchronize();
    cu.cuLibraryUnload(k.library);
}

#define KERNEL(body) "extern \"C\" __global__ void krf_k(int *at) {\n" body "}\n"

static void write_behind_the_end(void) {
    open_here();
    cu_address at = new_memory(64);
    run_source(KERNEL("at[threadIdx.x] = 1;\n"), 17, at);
    cu.cuMemFree_v2(at);
}

static void write_before_the_start(void) {
    open_here();
    cu_address at = new_memory(64);
    run_source(KERNEL("at[-1 - (int)threadIdx.x] = 1;\n"), 1, at);
    cu.cuMemFree_v2(at);
}

static void diverge_at_a_barrier(void) {
    open_here();
    run_source(KERNEL("if (threadIdx.x < 40) __syncthreads();\n"), 64, new_memory(64));
}

static void wait_at_two_barriers(void) {
    open_here();
    run_source(KERNEL("if (threadIdx.x < 32)\n __syncthreads();\nelse\n __syncthreads();\n"), 64, new_memory(64));
}

static void shuffle_without_all(void) {
    open_here();
    run_source(KERNEL("if (threadIdx.x < 16) at[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1, 1);\n"), 32,
               new_memory(64));
}

static void shuffle_unnamed(void) {
    open_here();
    run_source(KERNEL("at[threadIdx.x] = __shfl_down_sync(0xffffu, 1, 1);\n"), 32, new_memory(128));
}

static void barrier_and_shuffle(void) {
    open_here();
    run_source(KERNEL("if (threadIdx.x < 16) __syncthreads();\nelse __shfl_down_sync(0xffff0000u, 1, 20);\n"
                      "if (threadIdx.x >= 16) __shfl_down_sync(0xffffffffu, 1, 1);\n"),
               32, new_memory(64));
}

/* Two blocks of 32 threads, a cluster. */
static void run_cluster(const char *source) {
    open_here();
    cu_address at = new_memory(64);
    kernel k = build_kernel(source, "krf_k");
    void *arguments[] = {&at};
    launch(&k, 2, 32, NULL, arguments);
    cu.cuCtxSynchronize();
    cu.cuLibraryUnload(k.library);
    cu.cuMemFree_v2(at);
}

#define CLUSTER(body) "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) krf_k(int *at) {\n__shared__ int s[32];\n" body "}\n"
#define BARRIER "__cluster_barrier_arrive();\n__cluster_barrier_wait();\n"
#define STORE "*(int *)__cluster_map_shared_rank(&s[threadIdx.x], (blockIdx.x + 1) % 2) = 1;\n"

static void store_too_early(void) { run_cluster(CLUSTER(STORE BARRIER)); }
static void arrive_again(void) { run_cluster(CLUSTER("__cluster_barrier_arrive();\n" BARRIER)); }
static void wait_alone(void) { run_cluster(CLUSTER("__cluster_barrier_wait();\n")); }
static void map_the_stack(void) {
    run_cluster(CLUSTER("int own = 0;\n" BARRIER "at[0] = *(int *)__cluster_map_shared_rank(&own, 1);\n" BARRIER));
}
static void map_too_far(void) { run_cluster(CLUSTER(BARRIER "*(int *)__cluster_map_shared_rank(s, 2) = 1;\n" BARRIER)); }
static void half_at_a_cluster_barrier(void) { run_cluster(CLUSTER("if (blockIdx.x == 0) {\n" BARRIER "}\n")); }
static void store_too_late(void) {
    run_cluster(CLUSTER(BARRIER "if (blockIdx.x == 0) {\nfor (int i = 0; i < 9; i++) __shfl_sync(0xffffffffu, i, 0);\n" STORE "}\n"));
}

static void kernels_that_cuda_does_not_define(void **state) {
    (void)state;
    if (!WITH_ASAN) { /* which is there first */
        finds(write_behind_the_end, "64 bytes from the start of an allocation of 64");
        finds(write_before_the_start, "-4 bytes from the start");
    }
    for (int race = 0; race < 2; race++) {
        setenv("FAKECUDA_RACE", race ? "1" : "0", 1);
        finds(diverge_at_a_barrier, "barrier");
        finds(wait_at_two_barriers, "barrier");
        finds(shuffle_unnamed, "does not name the thread");
        finds(store_too_early, "may not have begun");
        finds(arrive_again, "without having waited");
        finds(wait_alone, "without having arrived");
        finds(map_the_stack, "no shared memory of the block");
        finds(map_too_far, "the cluster has no block 2");
    }
    setenv("FAKECUDA_RACE", "0", 1);
    finds(half_at_a_cluster_barrier, "32 threads of the cluster do not reach");
    finds(store_too_late, "which has ended");
    finds(shuffle_without_all, "have ended");
    finds(barrier_and_shuffle, "for ever");
}

/* Memory that nobody wrote does not look like zeros, and neither does memory that was freed in stream order. */
static void fresh_memory_is_poisoned(void **state) {
    (void)state;
    static const char source[] = "extern \"C\" __global__ void krf_k(unsigned *at) {\n"
                                 "    __shared__ unsigned shared[4];\n"
                                 "    at[threadIdx.x] = shared[threadIdx.x];\n"
                                 "}\n";
    unsigned values[8];
    assert_true(open_gpu());
    cu_address at = new_memory(sizeof values);
    run_source(source, 4, at);
    run_source(source, 4, at); /* each time anew */
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(values, at, sizeof values, NULL));
    assert_cu(0, cu.cuStreamSynchronize(NULL));
    for (int i = 0; i < 8; i++) {
        assert_int_equal(values[i], i < 4 ? 0xcdcdcdcdu : 0xcbcbcbcbu);
    }
    assert_cu(0, cu.cuMemFree_v2(at));
    close_gpu();
}

/* Sums of floats in the order in which blocks and threads come. */
static void seeds_change_the_order(void **state) {
    (void)state;
    static const char source[] = "extern \"C\" __global__ void krf_k(int *at) {\n"
                                 "    int i = atomicInc((unsigned *)at, 1000000u);\n"
                                 "    at[1 + i] = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "}\n";
    enum { THREADS = 64, BLOCKS = 5, COUNT = THREADS * BLOCKS };
    static int order[3][COUNT + 1];
    static const char *const seeds[3] = {"0", "7", "8"};
    assert_true(open_gpu());
    kernel k = build_kernel(source, "krf_k");
    cu_address at = new_memory(sizeof order[0]);
    void *arguments[] = {&at};
    for (int s = 0; s < 3; s++) {
        int seen[COUNT] = {0};
        setenv("FAKECUDA_SEED", seeds[s], 1);
        assert_cu(0, cu.cuMemsetD8Async(at, 0, sizeof order[0], NULL));
        assert_cu(0, launch(&k, BLOCKS, THREADS, NULL, arguments));
        assert_cu(0, cu.cuMemcpyDtoHAsync_v2(order[s], at, sizeof order[s], NULL));
        assert_cu(0, cu.cuStreamSynchronize(NULL));
        for (int i = 1; i <= COUNT; i++) {
            assert_in_range(order[s][i], 0, COUNT - 1);
            assert_int_equal(seen[order[s][i]]++, 0); /* every thread once */
        }
    }
    setenv("FAKECUDA_SEED", "0", 1);
    assert_int_equal(order[0][COUNT], COUNT - 1);
    assert_true(memcmp(order[0], order[1], sizeof order[0]) != 0);
    assert_true(memcmp(order[1], order[2], sizeof order[0]) != 0);
    assert_cu(0, cu.cuLibraryUnload(k.library));
    assert_cu(0, cu.cuMemFree_v2(at));
    close_gpu();
}

/* ---- kernels that may begin before the one before them has ended ------------------------------------------------- */

enum { PER_BLOCK = 32, ITEMS = 2 * PER_BLOCK };

static const char begins[] =
    "#define I (blockIdx.x * blockDim.x + threadIdx.x)\n"
    "extern \"C\" __global__ void krf_write(int *x, int *) { x[I] = 7; }\n"
    "extern \"C\" __global__ void krf_right(int *x, int *y) { __grid_dependency_wait(); y[I] = x[I]; }\n"
    "extern \"C\" __global__ void krf_load(int *x, int *y) { int v = x[I]; __grid_dependency_wait(); y[I] = v; }\n"
    "extern \"C\" __global__ void krf_other(int *x, int *y) { int v = y[I]; __grid_dependency_wait(); y[I] = v + x[I]; }\n"
    "extern \"C\" __global__ void krf_store(int *, int *y) { if (I == 5) y[I] = 2; __grid_dependency_wait(); }\n"
    "extern \"C\" __global__ void krf_half(int *, int *) { if (I < 3) __grid_dependency_wait(); }\n"
    "extern \"C\" __global__ void krf_fault(int *, int *y) { *(int *)8 = 1; __grid_dependency_wait(); y[I] = 1; }\n";
/* Threads of this one meet before they wait and behind it. */
static const char meets[] = "extern \"C\" __global__ void krf_meet(int *x, int *y) {\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];\n"
                            "    if (threadIdx.x % 2 == 0) __grid_dependency_wait();\n"
                            "    __syncthreads();\n"
                            "    if (threadIdx.x % 2 != 0) __grid_dependency_wait();\n"
                            "    __syncthreads();\n"
                            "    y[i] = v;\n"
                            "}\n";

typedef struct pair {
    kernel first, second;
    cu_address x, y;
} pair;

static cu_result launch_early(const kernel *k, cu_stream stream, void **arguments) {
    cu_launch_attribute attribute = {.id = KRF__CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value = {.allowed = 1}};
    const cu_launch_config config = {ITEMS / PER_BLOCK, 1, 1, PER_BLOCK, 1, 1, 0, stream, &attribute, 1};
    return cu.cuLaunchKernelEx(&config, k->function, arguments, NULL);
}

/* Both kernels, and memory of which x is 0x03030303 and y 1 everywhere. */
static pair set_up_pair(const char *name) {
    pair p = {build_kernel(begins, "krf_write"), build_kernel(strcmp(name, "krf_meet") == 0 ? meets : begins, name), new_memory(ITEMS * sizeof(int)), new_memory(ITEMS * sizeof(int))};
    static int ones[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        ones[i] = 1;
    }
    cu.cuMemsetD8Async(p.x, 3, ITEMS * sizeof(int), NULL);
    cu.cuMemcpyHtoDAsync_v2(p.y, ones, sizeof ones, NULL);
    return p;
}

static void free_pair(const pair *p, int y[ITEMS]) {
    assert_cu(0, cu.cuMemcpyDtoHAsync_v2(y, p->y, ITEMS * sizeof(int), NULL));
    assert_cu(0, cu.cuStreamSynchronize(NULL));
    assert_cu(0, cu.cuLibraryUnload(p->first.library));
    assert_cu(0, cu.cuLibraryUnload(p->second.library));
    assert_cu(0, cu.cuMemFree_v2(p->x));
    assert_cu(0, cu.cuMemFree_v2(p->y));
}

typedef enum between { NOTHING, MORE_MEMORY, A_FILL, A_WAIT, ANOTHER_STREAM, LATE } between;

/* What the second kernel leaves in y: of its first block, and of the others, which always come when one of its threads has waited. */
static void expect_pair(const char *name, between what, int first, int others) {
    int y[ITEMS];
    pair p = set_up_pair(name);
    void *arguments[] = {&p.x, &p.y};
    cu_address more = 0;
    cu_stream stream = what == ANOTHER_STREAM ? new_stream(0) : NULL; /* which waits for the legacy one */
    assert_cu(0, launch(&p.first, ITEMS / PER_BLOCK, PER_BLOCK, NULL, arguments));
    if (what == MORE_MEMORY) {
        more = new_memory(100);
    } else if (what == A_FILL) {
        assert_cu(0, cu.cuMemsetD8Async(p.y, 0, 1, NULL));
    } else if (what == A_WAIT) {
        assert_cu(0, cu.cuStreamSynchronize(NULL));
    }
    assert_cu(0, what == LATE ? launch(&p.second, ITEMS / PER_BLOCK, PER_BLOCK, NULL, arguments) : launch_early(&p.second, stream, arguments));
    free_pair(&p, y);
    for (int i = 0; i < ITEMS; i++) {
        if (y[i] != (i < PER_BLOCK ? first : others)) {
            fail_msg("%s, %d between: element %d is %#x", name, (int)what, i, (unsigned)y[i]);
        }
    }
    assert_cu(0, stream ? cu.cuStreamDestroy_v2(stream) : 0);
    assert_cu(0, cu.cuMemFree_v2(more));
}

static void loads_before_the_wait_find_old_contents(void **state) {
    (void)state;
    enum { OLD = 0x03030303, NEW = 7 };
    if (WITH_TSAN) { /* where nothing is simulated that would order streams */
        skip();
    }
    assert_true(open_gpu());
    expect_pair("krf_load", NOTHING, OLD, NEW);
    expect_pair("krf_meet", NOTHING, OLD, NEW);
    expect_pair("krf_load", MORE_MEMORY, OLD, NEW);
    expect_pair("krf_right", NOTHING, NEW, NEW);
    expect_pair("krf_other", NOTHING, 1 + NEW, 1 + NEW);
    expect_pair("krf_load", A_FILL, NEW, NEW);
    expect_pair("krf_load", A_WAIT, NEW, NEW);
    expect_pair("krf_load", ANOTHER_STREAM, NEW, NEW);
    expect_pair("krf_load", LATE, NEW, NEW);
    close_gpu();
}

/* The second node depends on the first, fully or not; more than a launch is what they are in. */
static void so_do_nodes_of_graphs(void **state) {
    (void)state;
    if (WITH_TSAN) {
        skip();
    }
    assert_true(open_gpu());
    for (int early = 0; early < 2; early++) {
        int y[ITEMS];
        pair p = set_up_pair("krf_load");
        void *arguments[] = {&p.x, &p.y};
        cu_kernel_node_params params = {.function = p.first.function, .grid_x = ITEMS / PER_BLOCK, .grid_y = 1, .grid_z = 1, .block_x = PER_BLOCK, .block_y = 1, .block_z = 1, .arguments = arguments};
        const cu_graph_edge programmatic = {.from_port = KRF__CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, .type = KRF__CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC}, full = {.type = 0};
        cu_graph graph = NULL;
        cu_graph_exec exec = NULL;
        cu_graph_node nodes[2];
        assert_cu(0, cu.cuGraphCreate(&graph, 0));
        assert_cu(0, cu.cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &params));
        params.function = p.second.function;
        assert_cu(0, cu.cuGraphAddKernelNode_v2(&nodes[1], graph, NULL, 0, &params));
        assert_cu(0, cu.cuGraphAddDependencies_v2(graph, &nodes[0], &nodes[1], early ? &programmatic : &full, 1));
        assert_cu(0, cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        assert_cu(0, cu.cuGraphLaunch(exec, NULL));
        free_pair(&p, y);
        assert_int_equal(y[0], early ? 0x03030303 : 7);
        assert_int_equal(y[ITEMS - 1], 7);
        assert_cu(0, cu.cuGraphExecDestroy(exec));
        assert_cu(0, cu.cuGraphDestroy(graph));
    }
    close_gpu();
}

static cu_result run_pair(const char *name) {
    open_here();
    pair p = set_up_pair(name);
    void *arguments[] = {&p.x, &p.y};
    launch(&p.first, ITEMS / PER_BLOCK, PER_BLOCK, NULL, arguments);
    launch_early(&p.second, NULL, arguments);
    return cu.cuCtxSynchronize();
}

static void store_before_the_wait(void) { run_pair("krf_store"); }
static void wait_in_some_threads(void) { run_pair("krf_half"); }

/* Whoever sees old contents has device memory to itself: not for ever. */
static void fault_before_the_wait(void) {
    enum { ILLEGAL_ADDRESS = 700 };
    cu_result result = run_pair("krf_fault");
    exit(result == ILLEGAL_ADDRESS && cu.cuCtxSynchronize() == result ? 55 : 1);
}

static void what_is_wrong_before_the_wait_is_found(void **state) {
    (void)state;
    char text[2000];
    finds(wait_in_some_threads, "3 of its 64 threads wait for that");
    assert_int_equal(run_child(fault_before_the_wait, text, sizeof text), 55);
    if (!WITH_TSAN) {
        finds(store_before_the_wait, "20 bytes from the start of an allocation of 256 bytes, before it waits");
    }
}

/* ---- failing on demand ------------------------------------------------------------------------------------------- */

typedef struct controls {
    unsigned (*calls)(const char *entry);
    void (*fail_at)(const char *entry, unsigned n, unsigned code);
    void (*fail_from)(const char *entry, unsigned n, unsigned code);
    void (*reset)(void);
} controls;

static controls find_controls(const char *library) {
    static const krf__symbol symbols[] = {{"fakecuda_calls", offsetof(controls, calls), true},
                                          {"fakecuda_fail", offsetof(controls, fail_at), true},
                                          {"fakecuda_fail_from", offsetof(controls, fail_from), true},
                                          {"fakecuda_reset", offsetof(controls, reset), true}};
    controls c;
    const char *reason;
    assert_null(krf__symbols_resolve(krf__symbols_open(getenv(library), &reason), symbols, 4, &c));
    return c;
}

static void calls_fail_on_demand(void **state) {
    (void)state;
    cu_address a = 0;
    cu_stream stream = NULL;
    assert_true(open_gpu());
    controls c = find_controls("KRF_LIBCUDA"), r = find_controls("KRF_LIBNVRTC");
    c.reset();
    c.fail_at("cuMemAlloc_v2", 2, 2);
    c.fail_from("cuStreamCreate", 1, 801);
    assert_cu(0, cu.cuMemAlloc_v2(&a, 64));
    cu_address none = 0;
    assert_cu(2, cu.cuMemAlloc_v2(&none, 64));
    assert_int_equal(none, 0);
    assert_cu(0, cu.cuMemFree_v2(a));
    assert_cu(801, cu.cuStreamCreate(&stream, 1));
    assert_cu(801, cu.cuStreamCreate(&stream, 1));
    assert_int_equal(c.calls("cuMemAlloc_v2"), 2);
    assert_int_equal(c.calls("cuStreamCreate"), 2);
    assert_int_equal(c.calls("cuLaunchKernel"), 0);
    c.reset();
    assert_int_equal(c.calls("cuMemAlloc_v2"), 0);

    c.fail_at("cuMemsetD8Async", 1, 719); /* sticks */
    assert_cu(0, cu.cuMemAlloc_v2(&a, 64));
    assert_cu(719, cu.cuMemsetD8Async(a, 0, 64, NULL));
    assert_cu(719, cu.cuMemsetD8Async(a, 0, 64, NULL));
    assert_cu(719, cu.cuMemFree_v2(a));
    assert_cu(719, cu.cuCtxSynchronize());
    c.reset();
    assert_cu(0, cu.cuMemFree_v2(a));

    nvrtc_program program = NULL;
    r.reset();
    r.fail_at("nvrtcCompileProgram", 1, 7);
    assert_int_equal(rtc.nvrtcCreateProgram(&program, "int x;", "k.cu", 0, NULL, NULL), 0);
    assert_int_equal(rtc.nvrtcCompileProgram(program, 0, NULL), 7);
    assert_int_equal(rtc.nvrtcCompileProgram(program, 0, NULL), 0);
    assert_int_equal(rtc.nvrtcDestroyProgram(&program), 0);
    r.reset();
    close_gpu();
}

static void fail_by_environment(void) {
    cu_address a;
    setenv("FAKECUDA_FAIL", "nvrtcVersion:9:1,cuMemAlloc_v2:2:2,cuMemAlloc_v2:3+:719", 1);
    setenv("FAKECUDA_COUNTS", getenv("COUNTS"), 1);
    open_here();
    cu_result results[] = {cu.cuMemAlloc_v2(&a, 64), cu.cuMemAlloc_v2(&a, 64), cu.cuMemAlloc_v2(&a, 64),
                           cu.cuMemFree_v2(a)};
    exit(results[0] == 0 && results[1] == 2 && results[2] == 719 && results[3] == 719 ? 55 : 1);
}

static void the_environment_asks_for_failures(void **state) {
    (void)state;
    char text[2000], path[] = "/tmp/fakecuda_counts_XXXXXX", line[200];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    setenv("COUNTS", path, 1);
    assert_int_equal(run_child(fail_by_environment, text, sizeof text), 55); /* no leaks after what sticks */
    FILE *counts = fopen(path, "r");
    bool allocations = false, versions = false;
    assert_non_null(counts);
    while (fgets(line, sizeof line, counts)) {
        allocations |= strcmp(line, "cuMemAlloc_v2 3\n") == 0;
        versions |= strcmp(line, "nvrtcVersion 1\n") == 0;
    }
    fclose(counts);
    remove(path);
    assert_true(allocations && versions);
}

int main(void) {
    if (!getenv("KRF_LIBCUDA")) {
        printf("skipped: KRF_LIBCUDA does not name the double\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse_is_found),
        cmocka_unit_test(leaks_are_found),
        cmocka_unit_test(kernels_that_cuda_does_not_define),
        cmocka_unit_test(what_is_wrong_before_the_wait_is_found),
        cmocka_unit_test(the_environment_asks_for_failures),
        cmocka_unit_test(fresh_memory_is_poisoned),
        cmocka_unit_test(seeds_change_the_order),
        cmocka_unit_test(loads_before_the_wait_find_old_contents),
        cmocka_unit_test(so_do_nodes_of_graphs),
        cmocka_unit_test(calls_fail_on_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
