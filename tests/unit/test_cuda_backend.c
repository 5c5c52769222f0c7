/* Unit tests of src/backend/cuda: launch shapes, finding NVRTC and compiling with it, and what is said when something
 * is missing. What needs a GPU says "skipped" where there is none. Tests that fork come first: CUDA does not survive a
 * fork of a process that uses it. */
#include "backend/cuda/device.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/symbols.h"
#include "base/mem.h"
#include "plan/schedule.h"

#include <dlfcn.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const krf__backend *const cuda = &krf__backend_cuda;

#define assert_ok(call) \
    do { \
        krf_status assert_status = (call); \
        if (assert_status != KRF_OK) { \
            fail_msg("%s: %s", #call, krf_error_message()); \
        } \
    } while (0)

#define assert_says(part) \
    do { \
        if (!strstr(krf_error_message(), part)) { \
            fail_msg("'%s' does not say '%s'", krf_error_message(), part); \
        } \
    } while (0)

/* ---- what tests need, or skip visibly ---------------------------------------------------------------------------- */

static krf__device *device;

static krf_status open_first(krf__device **d) {
    const krf__device_options options = {0};
    return cuda->open(&options, d);
}

static krf__device *need_gpu(void) {
    if (!device && open_first(&device) != KRF_OK) {
        print_message("skipped: %s\n", krf_error_message());
        skip();
    }
    return device;
}

static void need_nvrtc(void) {
    char *file = NULL;
    assert_ok(krf__nvrtc_find(NULL, KRF__NVRTC_NEWEST, &file));
    if (!file) {
        print_message("skipped: no libnvrtc\n");
        skip();
    }
    krf__mem_free(file);
}

static int close_gpu(void **state) {
    (void)state;
    if (device) {
        cuda->close(device);
        device = NULL;
    }
    return 0;
}

/* The argument block that kernels of these tests take: fields of 8 bytes, as krf__argument_pack makes them. */
static const char source[] = "struct args { const float *in; float *out; float factor; long long n; };\n"
                             "extern \"C\" __global__ void __launch_bounds__(256) krf_test(const args a) {\n"
                             "    long long i = (long long)blockIdx.x * 256 + threadIdx.x;\n"
                             "    if (i < a.n) a.out[i] = a.in[i] * a.factor + 1.0f;\n"
                             "}\n";

static krf__instr long_body[200]; /* of which threads have one element */

static krf__kernel map_kernel(int64_t n) {
    return (krf__kernel){.schedule = KRF__MAP, .kept_size = n, .reduced_size = 1, .vector = 1, .name = "krf_test"};
}

/* out = in * 3 + 1. */
static krf_status launch_test(krf__device *d, krf__module *module, void *in, void *out, int64_t n, void *stream) {
    krf__kernel kernel = map_kernel(n);
    kernel.n_instrs = 200;
    kernel.instrs = long_body;
    const float factor = 3;
    uint64_t fields[4] = {(uintptr_t)in, (uintptr_t)out, 0, (uint64_t)n};
    memcpy(&fields[2], &factor, sizeof factor);
    const krf__launch launch = {.kernel = &kernel, .module = module, .fields = fields};
    krf_status status = cuda->launch(d, &launch, stream);
    memset(fields, 0xff, sizeof fields); /* they were copied */
    return status;
}

static krf_status build_test(krf__device *d, krf__module **module) {
    void *image = NULL;
    size_t bytes = 0;
    krf_status status = cuda->compile(d, source, "krf_test", &image, &bytes);
    if (status == KRF_OK) {
        status = cuda->load(d, image, bytes, "krf_test", module);
    }
    krf__mem_free(image);
    return status;
}

/* ---- in children ------------------------------------------------------------------------------------------------- */

enum { CHILD_OK, CHILD_SKIPS = 77 };

static int run_child(int (*body)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(body());
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_child(int (*body)(void), const char *reason) {
    int step = run_child(body);
    if (step == CHILD_SKIPS) {
        print_message("skipped: %s\n", reason);
        skip();
    }
    assert_int_equal(step, CHILD_OK);
}

/* A kernel that writes to address 8 ruins the context; from then on every call says so. The number is that of the step
 * that went wrong. */
static int lose_device(void) {
    krf__device *d = NULL;
    krf__module *module = NULL;
    void *data = NULL, *more = NULL;
    if (open_first(&d) != KRF_OK) {
        return CHILD_SKIPS;
    }
    krf_status built = build_test(d, &module);
    if (built == KRF_E_COMPILE) {
        cuda->close(d);
        return CHILD_SKIPS;
    }
    if (built != KRF_OK || cuda->allocate(d, 4096, &data) != KRF_OK || cuda->zero(d, data, 4096, NULL) != KRF_OK) {
        return 1;
    }
    static const char cause[] = "CUDA_ERROR_ILLEGAL_ADDRESS";
    /* The launch itself may be told of the fault already. */
    krf_status launched = launch_test(d, module, data, (void *)(uintptr_t)8, 1024, NULL);
    if (launched != KRF_OK && launched != KRF_E_LOST) {
        return 2;
    }
    if (cuda->synchronize(d, NULL) != KRF_E_LOST || !strstr(krf_error_message(), cause)) {
        return 3;
    }
    if (cuda->allocate(d, 4096, &more) != KRF_E_LOST || !strstr(krf_error_message(), cause)) {
        return 4;
    }
    if (cuda->upload(d, data, cause, sizeof cause, NULL) != KRF_E_LOST || !strstr(krf_error_message(), cause)) {
        return 5;
    }
    if (launch_test(d, module, data, data, 1024, NULL) != KRF_E_LOST || !strstr(krf_error_message(), cause)) {
        return 6;
    }
    cuda->deallocate(d, data, 4096);
    cuda->unload(d, module);
    cuda->close(d);
    return CHILD_OK;
}

static void a_fault_loses_the_device(void **state) {
    (void)state;
    if (getenv("KRF_TEST_NO_FAULT") != NULL) {
        print_message("skipped: under a memory checker the fault would be taken for the library's\n");
        skip();
    }
    check_child(lose_device, "no GPU, or no libnvrtc");
}

static int use_after_fork(void) {
    static char bytes[16];
    void *data = NULL;
    if (cuda->allocate(device, 16, &data) != KRF_E_FORKED || cuda->synchronize(device, NULL) != KRF_E_FORKED) {
        return 1;
    }
    if (cuda->upload(device, bytes, bytes, 16, NULL) != KRF_E_FORKED) {
        return 2;
    }
    cuda->deallocate(device, bytes, 16);
    cuda->close(device);
    return CHILD_OK;
}

static int open_then_fork(void) {
    if (open_first(&device) != KRF_OK) {
        return CHILD_SKIPS;
    }
    int step = run_child(use_after_fork);
    /* The child's close left the parent's device alone. */
    if (step == CHILD_OK && cuda->synchronize(device, NULL) != KRF_OK) {
        step = 10;
    }
    cuda->close(device);
    return step;
}

static void a_forked_child_is_refused(void **state) {
    (void)state;
    check_child(open_then_fork, "no GPU");
}

static int open_stub(void) {
    static const char stub[] = "/usr/local/cuda/lib64/stubs/libcuda.so";
    krf__device *d = NULL;
    const krf__device_options options = {.cuda_driver = stub};
    if (access(stub, R_OK) != 0) {
        return CHILD_SKIPS;
    }
    bool explained = cuda->open(&options, &d) == KRF_E_DEVICE && !d && strstr(krf_error_message(), "toolkit's stub");
    return explained ? CHILD_OK : 1;
}

/* In a child, because the stub has the driver's soname: once mapped it would be found as libcuda.so.1. */
static void the_stub_is_explained(void **state) {
    (void)state;
    check_child(open_stub, "no stub of libcuda in /usr/local/cuda");
}

/* ---- launch shapes ----------------------------------------------------------------------------------------------- */

static void check_grid(krf__kernel k, int multiprocessors, uint32_t x, uint32_t y, uint32_t block_x, uint32_t block_y) {
    krf__grid g;
    krf__cuda_grid(&k, multiprocessors, &g);
    assert_int_equal(g.x, x);
    assert_int_equal(g.y, y);
    assert_int_equal(g.z, 1);
    assert_int_equal(g.block_x, block_x);
    assert_int_equal(g.block_y, block_y);
    assert_false(g.too_large);
}

/* Of columns of which so many blocks are enough. */
static void check_columns(krf__kernel k, uint32_t enough, uint32_t x, uint32_t y, uint32_t block_x, uint32_t block_y) {
    krf__limits limits = krf__default_limits;
    limits.blocks = enough;
    k.vector = k.vector > 0 ? k.vector : 1;
    k.abreast = krf__column_threads(&k, &limits);
    check_grid(k, 132, x, y, block_x, block_y);
}

static void grids(void **state) {
    (void)state;
    krf__kernel k = map_kernel(1);
    check_grid(k, 132, 1, 1, 256, 1);
    k.kept_size = 1025; /* four elements a thread */
    check_grid(k, 132, 2, 1, 256, 1);
    k.n_instrs = 200;
    k.instrs = long_body;
    check_grid(k, 132, 5, 1, 256, 1);
    k.vector = 4;
    check_grid(k, 132, 2, 1, 256, 1);
    k.kept_size = 1024 * INT64_C(2147483647);
    check_grid(k, 132, 2147483647u, 1, 256, 1);

    k = (krf__kernel){.schedule = KRF__REDUCE_ROW, .kept_size = 17, .chunks = 1};
    check_grid(k, 132, 3, 1, 256, 1);
    k.kept_size = INT64_C(1) << 40; /* rows stride over the grid */
    check_grid(k, 132, 2147483647u, 1, 256, 1);

    k = (krf__kernel){.schedule = KRF__REDUCE_SHORT, .team = 1, .kept_size = 257, .reduced_size = 4, .chunks = 1, .vector = 4};
    check_grid(k, 132, 2, 1, 1, 256); /* a thread a row */
    k = (krf__kernel){.schedule = KRF__REDUCE_SHORT, .team = 1, .kept_size = 4096 / (128 * 3) * 128, .reduced_size = 3, .chunks = 1, .vector = 1, .staged = true};
    check_grid(k, 132, 1, 1, 1, 128); /* ten rows a thread: as many as 4,096 elements are */
    k.kept_size++;
    check_grid(k, 132, 2, 1, 1, 128);
    k.reduced_size = 17; /* four threads a row, seven rows one after the other */
    k.kept_size = 32 * 7 + 1;
    check_grid(k, 132, 2, 1, 4, 32);
    k = (krf__kernel){.schedule = KRF__REDUCE_SHORT, .team = 1, .kept_size = 257, .chunks = 1, .vector = 4};
    k.reduced_size = 64;
    check_grid(k, 132, 9, 1, 8, 32);
    k.reduced_size = 256;
    k.vector = 1;
    check_grid(k, 132, 33, 1, 32, 8);
    k.kept_size = INT64_C(1) << 40; /* rows stride over the grid */
    check_grid(k, 132, 2147483647u, 1, 32, 8);

    k = (krf__kernel){.schedule = KRF__REDUCE_ALL, .team = 1, .kept_size = 1, .chunks = 1};
    check_grid(k, 132, 1, 1, 32, 1);
    k.chunks = 3; /* a warp each, but for one */
    check_grid(k, 132, 1, 1, 128, 1);
    k.chunks = 5;
    check_grid(k, 132, 1, 1, 256, 1);
    k.chunks = 100;
    check_grid(k, 132, 13, 1, 256, 1);
    k.chunks = INT64_C(1) << 40;
    check_grid(k, 132, 528, 1, 256, 1);
    k.kept_size = 100;
    check_grid(k, 132, 5, 100, 256, 1);
    k.kept_size = 1000000;
    check_grid(k, 132, 1, 65535, 256, 1);
    k.kept_size = 3;
    k.chunks = 0; /* of no elements: the identity is still to be stored */
    check_grid(k, 132, 1, 3, 32, 1);
    k = (krf__kernel){.schedule = KRF__REDUCE_ALL, .team = 4, .kept_size = 1, .chunks = 1}; /* four warps a chunk */
    check_grid(k, 132, 1, 1, 128, 1);
    k.chunks = 3; /* two chunks a block */
    check_grid(k, 132, 2, 1, 256, 1);
    k.chunks = INT64_C(1) << 40;
    check_grid(k, 132, 5280, 1, 256, 1); /* more than run at once: who is done takes the next */
    krf__instr costly = {.op = KRF__exp, .dtype = KRF_F64, .from = KRF_F64};
    k.instrs = &costly;
    k.n_instrs = k.n_domain = 1;
    check_grid(k, 132, 2640, 1, 256, 1); /* not so many, of chunks that take long */

    k = (krf__kernel){.schedule = KRF__REDUCE_COL, .kept_size = 33, .chunks = 7};
    check_columns(k, 0, 2, 7, 32, 8);
    k.chunks = 1 << 20;
    check_columns(k, 0, 2, 256, 32, 8); /* as many as there are lanes */
    k.vector = 4;
    check_columns(k, 0, 2, 256, 8, 32); /* two blocks rather than one of 16 */
    k.kept_size = 32;
    check_columns(k, 0, 1, 256, 8, 32); /* but a line of memory each */
    k.kept_size = 3;
    k.vector = 1;
    check_columns(k, 0, 1, 256, 4, 64);

    krf__instr sum = {.op = KRF__sum, .dtype = KRF_I64};
    k = (krf__kernel){.schedule = KRF__REDUCE_COL, .kept_size = 8192, .chunks = 8, .vector = 16, .n_reductions = 1, .instrs = &sum};
    check_columns(k, 0, 64, 8, 8, 32); /* 128 columns a block */
    k.chunks = 80;
    check_columns(k, 0, 64, 8, 8, 32); /* of integers, as many blocks as run at once: 8 of 10 chunks */
    k.chunks = 9;
    check_columns(k, 0, 64, 5, 8, 32);
    k.kept_size = 64;
    k.chunks = 1000;
    check_columns(k, 0, 1, 250, 4, 64);
    sum.dtype = KRF_F32;
    check_columns(k, 0, 1, 256, 4, 64);

    krf__operand floats = {.dtype = KRF_F32};
    k = (krf__kernel){.schedule = KRF__REDUCE_COL, .kept_size = 1024, .chunks = 4, .vector = 4, .operands = &floats, .n_operands = 1, .n_reductions = 1, .instrs = &sum};
    check_columns(k, 0, 8, 4, 32, 8);
    check_columns(k, 128, 32, 4, 8, 32); /* more blocks of fewer columns each, until they are enough */
    check_columns(k, 256, 64, 4, 4, 64);
    check_columns(k, 1000, 64, 4, 4, 64); /* or have half a line of memory each */
    k.vector = 1;
    check_columns(k, 1000, 64, 4, 16, 16);
    k.chunks = 1000;
    check_columns(k, 1000, 32, 256, 32, 8);

    krf__operand words[] = {{.dtype = KRF_F32}, {.dtype = KRF_U8}};
    k = (krf__kernel){.schedule = KRF__TILE, .n_kept = 3, .extents = {65, 5, 33}, .kept_size = 65 * 5 * 33, .operands = words, .n_operands = 2};
    check_grid(k, 132, 2 * 5 * 1, 1, 512, 1); /* squares of 64 */
    k.extents[2] = 32;
    check_grid(k, 132, 3 * 5 * 1, 1, 128, 1); /* of 32 */
    k.extents[2] = 33;
    words[0].dtype = KRF_F64;
    check_grid(k, 132, 3 * 5 * 2, 1, 256, 1);
    words[0].dtype = KRF_I16;
    check_grid(k, 132, 2 * 5 * 1, 1, 256, 1);
}

/* Every element of a short row has a place, and rows fill warps. */
static void threads_of_short_rows(void **state) {
    (void)state;
    for (int vector = 1; vector <= 8; vector *= 2) {
        for (int64_t n = 0; n <= 256; n++) {
            for (int rounds = 0; rounds < 2; rounds++) {
                const krf__kernel k = {.schedule = rounds ? KRF__ROW_SHORT : KRF__REDUCE_SHORT, .team = 1, .reduced_size = n, .chunks = 1, .vector = vector};
                const int threads = krf__short_threads(&k);
                assert_in_range(threads, 1, 32);
                assert_int_equal(32 % threads, 0);
                assert_true((int64_t)threads * krf__reduce_vectors(&k) * vector >= n);
            }
        }
    }
}

/* Where a row's length is known no thread loads a vector that is beyond every row, and a block's rows fill its threads. */
static void threads_of_literal_rows(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 256; n++) {
        for (int vector = 1; vector <= 8; vector *= 2) {
            for (int staged = 0; staged <= (vector == 1); staged++) {
                if (n % vector != 0) {
                    continue;
                }
                const krf__kernel k = {.schedule = KRF__ROW_SHORT, .team = 1, .n_kept = 1, .n_rounds = 3, .n_instrs = 12, .reduced_size = n, .chunks = 1, .vector = vector, .staged = staged != 0,
                                       .literal = 2};
                const int threads = krf__short_threads(&k), vectors = krf__reduce_vectors(&k);
                assert_true(threads * vectors * vector >= n && threads * (vectors - 1) * vector < n);
                assert_int_equal(krf__short_block(&k) % 32, 0);
                assert_int_equal(krf__short_block(&k) % threads, 0);
                const int64_t turns = staged ? krf__staged_turns(&k) : 1;
                assert_true(turns >= 1);
                krf__grid g;
                krf__kernel rows = k;
                rows.kept_size = 1000;
                krf__cuda_grid(&rows, 132, &g);
                assert_int_equal(g.block_x, threads);
                assert_int_equal(g.block_x * g.block_y, krf__short_block(&k));
                assert_true(g.x * g.block_y * turns >= 1000 && (g.x - 1) * g.block_y * turns < 1000);
            }
        }
    }
}

static void grids_that_do_not_exist(void **state) {
    (void)state;
    krf__grid g;
    krf__kernel k = map_kernel(1024 * INT64_C(2147483647) + 1);
    krf__cuda_grid(&k, 1, &g);
    assert_true(g.too_large);
    k = (krf__kernel){.schedule = KRF__REDUCE_COL, .kept_size = INT64_MAX, .chunks = 1, .abreast = 32};
    krf__cuda_grid(&k, 1, &g);
    assert_true(g.too_large);
    k.schedule = KRF__MAP;
    k.vector = 16;
    krf__cuda_grid(&k, 1, &g);
    assert_true(g.too_large);
}

/* ---- the driver -------------------------------------------------------------------------------------------------- */

static void check_open_fails(const char *driver, const char *part, const char *other) {
    krf__device *d = (krf__device *)&d;
    const krf__device_options options = {.cuda_driver = driver};
    assert_int_equal(cuda->open(&options, &d), KRF_E_DEVICE);
    assert_null(d);
    assert_says(part);
    assert_says(other);
}

static void a_missing_driver_is_explained(void **state) {
    (void)state;
    check_open_fails("/nonexistent/libcuda.so.1", "no CUDA driver", "/nonexistent/libcuda.so.1");
    check_open_fails("libm.so.6", "is not a CUDA driver", "libm.so.6");

    krf__device *d = NULL;
    if (open_first(&d) == KRF_OK) {
        cuda->close(d);
        print_message("skipped in part: there is a driver\n");
        return;
    }
    print_message("%s\n", krf_error_message());
    assert_true(strlen(krf_error_message()) > 40);
}

static void an_absent_device_is_explained(void **state) {
    (void)state;
    need_gpu();
    krf__device *d = NULL;
    const krf__device_options options = {.index = 1000};
    assert_int_equal(cuda->open(&options, &d), KRF_E_DEVICE);
    assert_says("no CUDA device 1000");
    assert_says("CUDA_VISIBLE_DEVICES");
}

/* ---- NVRTC ------------------------------------------------------------------------------------------------------- */

static bool nvrtc_is_loaded(void) {
    return dlopen("libnvrtc.so.13", RTLD_LAZY | RTLD_NOLOAD) || dlopen("libnvrtc.so.12", RTLD_LAZY | RTLD_NOLOAD);
}

static void looking_for_nvrtc_does_not_load_it(void **state) {
    (void)state;
    need_nvrtc();
    char *file = NULL;
    krf__str key = {0};
    assert_ok(krf__nvrtc_find(NULL, KRF__NVRTC_NEWEST, &file));
    krf__nvrtc_identity(file, &key);
    print_message("%s\n", key.data);
    assert_non_null(strstr(key.data, "inode"));
    assert_non_null(strstr(key.data, file));
    if (nvrtc_is_loaded()) {
        print_message("skipped in part: only the loader knows where libnvrtc is, or another test loaded it\n");
    }
    krf__str_free(&key);
    krf__mem_free(file);
}

static void make_file(const char *root, const char *path, char file[256]) {
    snprintf(file, 256, "%s/%s", root, path);
    for (char *slash = strchr(file + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(file, 0700);
        *slash = '/';
    }
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fclose(f);
}

static void check_found(const char *expected) {
    char *found = NULL;
    assert_ok(krf__nvrtc_find(NULL, 41, &found));
    assert_non_null(found);
    assert_string_equal(found, expected);
    krf__mem_free(found);
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)about, (void)type, (void)where;
    return remove(path);
}

/* The value of an environment variable, to be put back. */
static char *keep(const char *name) {
    const char *value = getenv(name);
    return value ? krf__strdup(value) : NULL;
}

static void put_back(const char *name, char *value) {
    value ? setenv(name, value, 1) : unsetenv(name);
    krf__mem_free(value);
}

static void places_are_searched_newest_first(void **state) {
    (void)state;
    if (nvrtc_is_loaded()) {
        print_message("skipped: libnvrtc is loaded, which comes before all places\n");
        skip();
    }
    char root[] = "/tmp/krf_cuda_XXXXXX", package[256], toolkit[256], path[256], list[600];
    assert_non_null(mkdtemp(root));
    char *home = keep("CUDA_HOME"), *chosen = keep("KRF_LIBNVRTC");
    unsetenv("KRF_LIBNVRTC");

    make_file(root, "venv/lib/python3.99/site-packages/nvidia/cu40/lib/libnvrtc.so.40", package);
    snprintf(path, sizeof path, "%s/venv", root);
    setenv("VIRTUAL_ENV", path, 1);
    check_found(package);
    make_file(root, "toolkit/lib64/libnvrtc.so.40", toolkit); /* a toolkit comes before a package */
    snprintf(path, sizeof path, "%s/toolkit", root);
    setenv("CUDA_HOME", path, 1);
    check_found(toolkit);
    make_file(root, "loader/libnvrtc.so.41", toolkit); /* and a newer version before both */
    snprintf(list, sizeof list, ":relative:/nonexistent:%s/loader", root);
    setenv("LD_LIBRARY_PATH", list, 1);
    check_found(toolkit);
    setenv("KRF_LIBNVRTC", package, 1); /* and a choice before all */
    check_found(package);

    unsetenv("LD_LIBRARY_PATH");
    unsetenv("VIRTUAL_ENV");
    put_back("CUDA_HOME", home);
    put_back("KRF_LIBNVRTC", chosen);
    nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void a_chosen_nvrtc_is_not_replaced(void **state) {
    (void)state;
    char *file = (char *)&file;
    assert_int_equal(krf__nvrtc_find("/nonexistent/libnvrtc.so.13", 13, &file), KRF_E_COMPILE);
    assert_null(file);
    assert_says("/nonexistent/libnvrtc.so.13");
    assert_int_equal(krf__nvrtc_find("libnonexistent.so", 13, &file), KRF_E_COMPILE);

    void *image = NULL;
    size_t bytes = 0;
    assert_int_equal(krf__nvrtc_compile("libm.so.6", "sm_90", false, source, "krf_test", &image, &bytes),
                     KRF_E_COMPILE);
    assert_says("nvrtcVersion");
    assert_int_equal(krf__nvrtc_missing(13), KRF_E_COMPILE);
    assert_says("KRF_LIBNVRTC");

    krf__str key = {0};
    krf__nvrtc_identity(NULL, &key);
    assert_string_equal(key.data, "none");
    krf__str_free(&key);
}

static void kernels_compile(void **state) {
    (void)state;
    need_nvrtc();
    static const char *const archs[] = {"sm_75", "sm_90", "sm_90a", "sm_100", "compute_90"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        void *image = NULL, *again = NULL;
        size_t bytes = 0, bytes_again = 0;
        assert_ok(krf__nvrtc_compile(NULL, archs[i], false, source, "krf_test", &image, &bytes));
        assert_true(bytes > 64);
        assert_memory_equal(image, "\177ELF", 4);
        assert_int_equal(((char *)image)[bytes], 0);
        assert_ok(krf__nvrtc_compile(NULL, archs[i], false, source, "krf_test", &again, &bytes_again));
        assert_int_equal(bytes, bytes_again);
        assert_memory_equal(image, again, bytes);
        krf__mem_free(image);
        krf__mem_free(again);

        assert_ok(krf__nvrtc_compile(NULL, archs[i], true, source, "krf_test", &image, &bytes));
        assert_int_equal(strlen(image), bytes);
        assert_non_null(strstr(image, ".visible .entry krf_test"));
        assert_non_null(strstr(image, "mul"));
        assert_null(strstr(image, "fma.rn.f32")); /* --fmad=false */
        krf__mem_free(image);
    }
}

static void compile_errors_are_shown(void **state) {
    (void)state;
    need_nvrtc();
    void *image = NULL;
    size_t bytes = 0;
    static const char broken[] = "extern \"C\" __global__ void k() { float x = undeclared_name; }\n";
    assert_int_equal(krf__nvrtc_compile(NULL, "sm_90", false, broken, "krf_broken", &image, &bytes), KRF_E_COMPILE);
    assert_null(image);
    assert_says("krf_broken.cu(1): error");
    assert_says("undeclared_name");
    assert_says("sm_90");

    /* A log longer than a message. */
    krf__str many = {0};
    for (int i = 0; i < 80; i++) {
        krf__str_printf(&many, "int x%d = undeclared_name_%d;\n", i, i);
    }
    assert_int_equal(krf__nvrtc_compile(NULL, "sm_90", true, many.data, "krf_broken", &image, &bytes), KRF_E_COMPILE);
    assert_says("undeclared_name_0");
    assert_in_range(strlen(krf_error_message()), 1000, 2047);
    krf__str_free(&many);
}

static void unknown_archs_are_refused(void **state) {
    (void)state;
    need_nvrtc();
    void *image = NULL;
    size_t bytes = 0;
    assert_int_equal(krf__nvrtc_compile(NULL, "sm_999", false, source, "krf_test", &image, &bytes), KRF_E_UNSUPPORTED);
    assert_says("sm_999");
    assert_says("newer libnvrtc");
    assert_says("sm_90");
    assert_int_equal(krf__nvrtc_compile(NULL, "sm_20", true, source, "krf_test", &image, &bytes), KRF_E_UNSUPPORTED);
    static const char *const senseless[] = {"",       "90",     "sm_",      "sm_9",  "sm_90aa",
                                            "sm_90A", "sm_90 ", "sm_12345", "ptx_90"};
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
        krf_status status = krf__nvrtc_compile(NULL, senseless[i], false, source, "krf_test", &image, &bytes);
        assert_int_equal(status, KRF_E_ARGUMENT);
    }
    assert_null(image);

    krf__nvrtc thirteen = {.major = 13, .archs = {75, 80, 90, 100}, .arch_count = 4};
    assert_int_equal(krf__nvrtc_refuse(&thirteen, 70), KRF_E_UNSUPPORTED);
    assert_says("NVRTC 13.0 does not compile for sm_70");
    assert_says("libnvrtc.so.12");
    assert_int_equal(krf__nvrtc_best(&thirteen, 70), 0);
    assert_int_equal(krf__nvrtc_best(&thirteen, 89), 80);
    assert_int_equal(krf__nvrtc_best(&thirteen, 120), 100);
    assert_true(krf__nvrtc_has(&thirteen, 90));
    assert_false(krf__nvrtc_has(&thirteen, 89));
    assert_false(krf__nvrtc_has(&thirteen, 0));
}

static void memory_may_run_out(void **state) {
    (void)state;
    need_nvrtc();
    krf_status status = KRF_E_MEMORY;
    for (long n = 1; n < 100 && status != KRF_OK; n++) {
        void *image = NULL;
        size_t bytes = 0;
        krf__mem_fail_at(n);
        status = krf__nvrtc_compile(NULL, "sm_90", true, source, "krf_test", &image, &bytes);
        krf__mem_fail_at(0);
        assert_true(status == KRF_OK || status == KRF_E_MEMORY);
        assert_true((status == KRF_OK) == (image != NULL));
        krf__mem_free(image);
    }
    assert_int_equal(status, KRF_OK);
}

/* ---- on a GPU ---------------------------------------------------------------------------------------------------- */

enum { N = 100003 };

static void fill(float *values) {
    for (int i = 0; i < N; i++) {
        values[i] = (float)(i % 1000);
    }
}

static void check_values(const float *values) {
    for (int i = 0; i < N; i++) {
        if (values[i] != (float)(i % 1000) * 3 + 1) {
            fail_msg("element %d is %g", i, (double)values[i]);
        }
    }
}

static void the_device_describes_itself(void **state) {
    (void)state;
    krf__device *d = need_gpu();
    krf_device_info info = {.size = sizeof info};
    assert_ok(cuda->info(d, &info));
    print_message("%s, %s, %d multiprocessors, %lld bytes, %s\n", info.name, info.arch, info.multiprocessors,
                  (long long)info.memory, info.compiler ? info.compiler : "no compiler");
    assert_true(info.is_cuda);
    assert_memory_equal(info.arch, "sm_", 3);
    assert_true(info.multiprocessors > 0 && info.memory > 0);

    krf__str key = {0};
    assert_ok(cuda->identity(d, &key));
    assert_non_null(strstr(key.data, info.arch));
    assert_non_null(strstr(key.data, "--fmad=false"));
    krf__str_free(&key);
    assert_true(cuda->can_compile(d));
}

static void memory_holds_what_was_put_there(void **state) {
    (void)state;
    krf__device *d = need_gpu();
    static float host[N], back[N];
    void *a = NULL, *b = NULL;
    fill(host);
    assert_ok(cuda->allocate(d, sizeof host, &a));
    assert_ok(cuda->allocate(d, sizeof host, &b));
    assert_int_equal((uintptr_t)a % 256, 0);
    assert_ok(cuda->upload(d, a, host, sizeof host, NULL));
    assert_ok(cuda->copy(d, b, a, sizeof host, NULL));
    assert_ok(cuda->zero(d, a, sizeof host, NULL));
    assert_ok(cuda->download(d, back, b, sizeof back, NULL));
    assert_memory_equal(host, back, sizeof host);
    assert_ok(cuda->download(d, back, a, sizeof back, NULL));
    for (int i = 0; i < N; i++) {
        assert_true(back[i] == 0);
    }
    cuda->deallocate(d, a, sizeof host);
    cuda->deallocate(d, b, sizeof host);
    assert_ok(cuda->synchronize(d, NULL));

    assert_int_equal(cuda->allocate(d, SIZE_MAX / 4, &a), KRF_E_MEMORY);
    assert_null(a);
    print_message("%s\n", krf_error_message());
    assert_ok(cuda->allocate(d, 16, &a)); /* it is not lost */
    cuda->deallocate(d, a, 16);
}

/* The caller's context is none here, and none afterwards. */
static void check_context(krf__device *d) {
    cu_context current = (cu_context)(void *)d;
    assert_int_equal(d->driver.cuCtxGetCurrent(&current), 0);
    assert_null(current);
}

static void kernels_run(void **state) {
    (void)state;
    krf__device *d = need_gpu();
    need_nvrtc();
    static float host[N];
    void *in = NULL, *out = NULL;
    krf__module *module = NULL;
    krf__module_info info;
    check_context(d);
    fill(host);
    assert_ok(build_test(d, &module));
    cuda->module_info(d, module, &info);
    assert_in_range(info.registers, 4, 255);
    assert_int_equal(info.spill_bytes, 0);
    assert_int_equal(info.shared_bytes, 0);
    assert_ok(cuda->allocate(d, sizeof host, &in));
    assert_ok(cuda->allocate(d, sizeof host, &out));
    assert_ok(cuda->upload(d, in, host, sizeof host, NULL));
    assert_ok(launch_test(d, module, in, out, N, NULL));
    assert_ok(cuda->download(d, host, out, sizeof host, NULL));
    check_values(host);
    check_context(d);

    krf_device_info about = {.size = sizeof about};
    assert_ok(cuda->info(d, &about));
    assert_memory_equal(about.compiler, "NVRTC 1", 7);
    cuda->deallocate(d, in, sizeof host);
    cuda->deallocate(d, out, sizeof host);
    cuda->unload(d, module);
    check_context(d);
}

static void ptx_and_damaged_images(void **state) {
    (void)state;
    krf__device *d = need_gpu();
    need_nvrtc();
    void *image = NULL;
    size_t bytes = 0;
    krf__module *module = NULL;
    assert_ok(krf__nvrtc_compile(NULL, d->arch, true, source, "krf_test", &image, &bytes));
    ((char *)image)[bytes] = 'x'; /* load adds its own end */
    assert_ok(cuda->load(d, image, bytes, "krf_test", &module));
    cuda->unload(d, module);
    assert_int_equal(cuda->load(d, image, bytes, "krf_other", &module), KRF_E_DEVICE);
    assert_null(module);
    assert_int_equal(cuda->load(d, image, bytes / 2, "krf_test", &module), KRF_E_DEVICE);
    assert_int_equal(cuda->load(d, "", 0, "krf_test", &module), KRF_E_DEVICE);
    krf__mem_free(image);
    assert_ok(cuda->synchronize(d, NULL));
}

static cu_stream make_stream(krf__device *d) {
    cu_stream stream = NULL;
    cu_context popped;
    assert_int_equal(d->driver.cuCtxPushCurrent_v2(d->context), 0);
    assert_int_equal(d->driver.cuStreamCreate(&stream, KRF__CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(d->driver.cuCtxPopCurrent_v2(&popped), 0);
    return stream;
}

/* While a stream is captured, launches on it go into the graph, and what would wait is refused without ending the
 * capture. */
static void a_capture_is_not_disturbed(void **state) {
    (void)state;
    krf__device *d = need_gpu();
    need_nvrtc();
    const char *reason;
    void *library = krf__symbols_open(d->driver.path, &reason);
    struct {
        cu_result (*begin)(cu_stream, cu_enum);
        cu_result (*end)(cu_stream, void **);
        cu_result (*nodes)(void *, void **, size_t *);
        cu_result (*destroy)(void *);
    } graph;
    static const krf__symbol symbols[] = {{"cuStreamBeginCapture_v2", 0, true},
                                          {"cuStreamEndCapture", sizeof(void *), true},
                                          {"cuGraphGetNodes", 2 * sizeof(void *), true},
                                          {"cuGraphDestroy", 3 * sizeof(void *), true}};
    assert_null(krf__symbols_resolve(library, symbols, 4, &graph));

    krf__module *module = NULL;
    void *in = NULL, *out = NULL, *captured = NULL;
    float value = 0;
    size_t nodes = 0;
    assert_ok(build_test(d, &module));
    cu_stream stream = make_stream(d);
    assert_ok(cuda->allocate(d, N * sizeof(float), &in));
    assert_ok(cuda->allocate(d, N * sizeof(float), &out));
    assert_int_equal(graph.begin(stream, 0 /* global, the strictest */), 0);
    assert_ok(launch_test(d, module, in, out, N, stream));
    assert_int_equal(cuda->download(d, &value, out, sizeof value, stream), KRF_E_UNSUPPORTED);
    assert_says("captured");
    assert_int_equal(cuda->synchronize(d, stream), KRF_E_UNSUPPORTED);
    assert_ok(launch_test(d, module, out, in, N, stream));
    assert_int_equal(graph.end(stream, &captured), 0);
    assert_int_equal(graph.nodes(captured, NULL, &nodes), 0);
    assert_int_equal(nodes, 2);
    assert_int_equal(graph.destroy(captured), 0);
    d->driver.cuStreamDestroy_v2(stream);
    cuda->deallocate(d, in, N * sizeof(float));
    cuda->deallocate(d, out, N * sizeof(float));
    cuda->unload(d, module);
    assert_ok(cuda->synchronize(d, NULL));
}

/* Asked in a child, because CUDA does not survive the forks that some tests make. */
static int gpu_is_there(void) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        krf__device *d;
        _exit(open_first(&d) == KRF_OK ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void) {
    if (getenv("KRF_TEST_DEVICE") != NULL && !gpu_is_there()) {
        print_message("skipped: no GPU\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_loses_the_device),
        cmocka_unit_test(a_forked_child_is_refused),
        cmocka_unit_test(the_stub_is_explained),
        cmocka_unit_test(grids), cmocka_unit_test(threads_of_short_rows), cmocka_unit_test(threads_of_literal_rows),
        cmocka_unit_test(grids_that_do_not_exist),
        cmocka_unit_test(a_missing_driver_is_explained),
        cmocka_unit_test(an_absent_device_is_explained),
        cmocka_unit_test(looking_for_nvrtc_does_not_load_it),
        cmocka_unit_test(places_are_searched_newest_first),
        cmocka_unit_test(a_chosen_nvrtc_is_not_replaced),
        cmocka_unit_test(kernels_compile),
        cmocka_unit_test(compile_errors_are_shown),
        cmocka_unit_test(unknown_archs_are_refused),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(the_device_describes_itself),
        cmocka_unit_test(memory_holds_what_was_put_there),
        cmocka_unit_test(kernels_run),
        cmocka_unit_test(ptx_and_damaged_images),
        cmocka_unit_test(a_capture_is_not_disturbed),
    };
    return cmocka_run_group_tests(tests, NULL, close_gpu);
}
