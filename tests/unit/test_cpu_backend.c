/* The CPU backend through its table: compiler, loader, launches, copies (threads and memory: test_cpu_threads.c).
 * Kernels are written by hand; fake compilers are small shell scripts in a folder of the test's own, which holds TMPDIR
 * too, so that the test sees whether anything is left behind. */
#include "backend/backend.h"
#include "backend/cpu/compiler.h"
#include "backend/cpu/launch.h"
#include "backend/cpu/loader.h"
#include "base/mem.h"

#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[PATH_MAX];  /* scripts */
static char scratch[PATH_MAX]; /* TMPDIR */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int entries_of(const char *path) {
    DIR *entries = opendir(path);
    assert_non_null(entries);
    int count = 0;
    while (readdir(entries) != NULL) {
        count++;
    }
    closedir(entries);
    return count - 2;
}

/* ---- compiler ---- */

/* A fake compiler. Its command line in `text` comes after a line that finds the output's name in $out. */
static const char *script(const char *name, const char *text) {
    static char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n%s\n", text);
    fclose(file);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

/* Compiles with a fake compiler and gives the status; the message is krf_error_message(). */
static krf_status compile_with(const char *command, int timeout_ms) {
    krf__compiler compiler;
    void *image = NULL;
    size_t bytes = 0;
    assert_int_equal(krf__compiler_open(command, NULL, &compiler), KRF_OK);
    assert_non_null(compiler.words);
    compiler.timeout_ms = timeout_ms;
    krf_status status = krf__compiler_run(&compiler, "int x;\n", "krf_test", &image, &bytes);
    assert_true((status == KRF_OK) == (image != NULL));
    krf__mem_free(image);
    krf__compiler_close(&compiler);
    assert_int_equal(entries_of(scratch), 0);
    return status;
}

static int lines_logged;

static void log_line(void *user, const char *line) {
    (void)user;
    (void)line;
    lines_logged++;
}

static void test_compiler_missing(void **state) {
    (void)state;
    krf__log log = {.function = log_line};
    lines_logged = 0;
    krf__device *device = NULL;
    krf__device_options options = {.threads = 1, .compiler = "/nowhere/cc -O2", .log = &log};
    assert_int_equal(krf__backend_cpu.open(&options, &device), KRF_OK);
    assert_int_equal(lines_logged, 1);
    assert_false(krf__backend_cpu.can_compile(device));
    krf_device_info info = {.size = sizeof info};
    assert_int_equal(krf__backend_cpu.info(device, &info), KRF_OK);
    assert_null(info.compiler);
    void *image = NULL;
    size_t bytes = 0;
    assert_int_equal(krf__backend_cpu.compile(device, "", "krf_x", &image, &bytes), KRF_E_COMPILE);
    krf__str key = {0};
    assert_int_equal(krf__backend_cpu.identity(device, &key), KRF_OK);
    krf__str_free(&key);
    krf__backend_cpu.close(device);

    /* CC that is not there does not stop the search; KRF_CC comes first. */
    krf__compiler compiler;
    setenv("CC", "/nowhere/cc", 1);
    setenv("PATH", "", 1);
    assert_int_equal(krf__compiler_open(NULL, &log, &compiler), KRF_OK);
    assert_null(compiler.words);
    krf__compiler_close(&compiler);
    setenv("PATH", folder, 1);
    script("clang", "exit 1");
    assert_int_equal(krf__compiler_open(NULL, &log, &compiler), KRF_OK);
    assert_non_null(strstr(compiler.words[0], "/clang"));
    krf__compiler_close(&compiler);
    setenv("KRF_CC", "  clang   -O1  -g ", 1);
    assert_int_equal(krf__compiler_open(NULL, &log, &compiler), KRF_OK);
    assert_string_equal(compiler.words[1], "-O1");
    assert_string_equal(compiler.words[2], "-g");
    assert_null(compiler.words[3]);
    krf__compiler_close(&compiler);
    unsetenv("KRF_CC");
    unsetenv("CC");
    setenv("PATH", *state, 1);
    assert_int_equal(lines_logged, 2);
}

static void test_compiler_failures(void **state) {
    (void)state;
    assert_int_equal(compile_with(script("says", "echo some words >&2; exit 3"), 20000), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "some words"));
    assert_non_null(strstr(krf_error_message(), "status 3"));
    assert_int_equal(compile_with(script("dies", "kill -9 $$"), 20000), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "signal 9"));
    assert_int_equal(compile_with(script("silent", "exit 0"), 20000), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "no output"));
    assert_int_equal(compile_with(script("floods", "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1"), 20000),
                     KRF_E_COMPILE);
    assert_true(strlen(krf_error_message()) > 1500);
    assert_int_equal(compile_with(script("litters", "echo x > $out; echo y > $TMPDIR/z; exit 1"), 20000),
                     KRF_E_COMPILE);
    assert_int_equal(compile_with(script("copies", "cat > $out"), 20000), KRF_OK);
    FILE *file = fopen(script("broken", ""), "w");
    fputs("#!/no/such/interpreter\n", file);
    fclose(file);
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/broken", folder);
    assert_int_equal(compile_with(path, 20000), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "cannot run"));
}

static void test_compiler_time(void **state) {
    (void)state;
    double before = seconds();
    assert_int_equal(compile_with(script("hangs", "sleep 100"), 300), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "300 ms"));
    assert_int_equal(compile_with(script("mute", "exec 2>&-; sleep 100"), 300), KRF_E_COMPILE);
    /* Somebody else holds on to standard error: the compiler's own end counts. */
    assert_int_equal(compile_with(script("leaves", "sleep 5 & exit 4"), 20000), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "status 4"));
    assert_true(seconds() - before < 4);
}

static void test_compiler_in_odd_hosts(void **state) {
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGCHLD, &ignore, &before);
    assert_int_equal(compile_with(script("copies", "cat > $out"), 20000), KRF_OK);
    assert_int_equal(compile_with(script("says", "echo some words >&2; exit 3"), 20000), KRF_E_COMPILE);
    assert_non_null(strstr(krf_error_message(), "some words"));
    sigaction(SIGCHLD, &before, NULL);

    int input = dup(0), output = dup(1);
    close(0);
    close(1);
    krf_status status = compile_with(script("copies", "cat > $out"), 20000);
    dup2(input, 0);
    dup2(output, 1);
    close(input);
    close(output);
    assert_int_equal(status, KRF_OK);

    setenv("LD_PRELOAD", "/nowhere.so", 1);
    setenv("ASAN_OPTIONS", "x=1", 1);
    const char *command = script("env", "[ -z \"$LD_PRELOAD$ASAN_OPTIONS\" ] && [ -n \"$PATH\" ] && cat > $out");
    assert_int_equal(compile_with(command, 20000), KRF_OK);
    unsetenv("LD_PRELOAD");
    unsetenv("ASAN_OPTIONS");
}

static void test_compiler_identity(void **state) {
    (void)state;
    krf__compiler compiler;
    krf__str first = {0}, same = {0}, changed = {0};
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "%s -O1", script("id", "exit 0"));
    assert_int_equal(krf__compiler_open(command, NULL, &compiler), KRF_OK);
    assert_int_equal(krf__compiler_identity(&compiler, &first), KRF_OK);
    assert_int_equal(krf__compiler_identity(&compiler, &same), KRF_OK);
    assert_string_equal(first.data, same.data);
    assert_non_null(strstr(first.data, "-ffp-contract=off"));
    assert_non_null(strstr(first.data, compiler.isa.name));
    assert_non_null(strstr(first.data, "-O1"));
    script("id", "exit 01"); /* an update of the compiler while the program runs */
    assert_int_equal(krf__compiler_identity(&compiler, &changed), KRF_OK);
    assert_string_not_equal(first.data, changed.data);
    krf__compiler_close(&compiler);
    krf__str_free(&first);
    krf__str_free(&same);
    krf__str_free(&changed);
}

static void test_compiler_out_of_memory(void **state) {
    (void)state;
    const char *command = script("copies", "cat > $out");
    krf_status status = KRF_E_MEMORY;
    for (long n = 1; status != KRF_OK; n++) {
        assert_true(n < 1000);
        krf__device *device = NULL;
        krf__device_options options = {.threads = 2, .compiler = command};
        void *image = NULL;
        size_t bytes = 0;
        krf__mem_fail_at(n);
        status = krf__backend_cpu.open(&options, &device);
        if (status == KRF_OK) {
            status = krf__backend_cpu.compile(device, "text", "krf_test", &image, &bytes);
        }
        krf__mem_fail_at(0);
        if (status != KRF_OK) {
            assert_true(status == KRF_E_MEMORY || status == KRF_E_COMPILE);
            assert_null(image);
        }
        krf__mem_free(image);
        krf__backend_cpu.close(device);
    }
    assert_int_equal(entries_of(scratch), 0);
}

/* ---- loader and launch ---- */

static krf__device *open_device(int threads) {
    krf__device *device = NULL;
    krf__device_options options = {.threads = threads};
    assert_int_equal(krf__backend_cpu.open(&options, &device), KRF_OK);
    return device;
}

static krf__device *device_with_compiler(int threads) {
    krf__device *device = open_device(threads);
    if (!krf__backend_cpu.can_compile(device)) {
        krf__backend_cpu.close(device);
        skip();
    }
    return device;
}

static void compile(krf__device *device, const char *source, const char *name, void **image, size_t *bytes) {
    krf_status status = krf__backend_cpu.compile(device, source, name, image, bytes);
    if (status != KRF_OK) {
        fail_msg("%s", krf_error_message());
    }
    assert_int_equal(entries_of(scratch), 0);
}

static void test_compile_error_has_the_compilers_words(void **state) {
    (void)state;
    krf__device *device = device_with_compiler(1);
    void *image = NULL;
    size_t bytes = 0;
    krf_status status =
        krf__backend_cpu.compile(device, "int f(void) { return no_such_name; }\n", "krf_bad", &image, &bytes);
    assert_int_equal(status, KRF_E_COMPILE);
    assert_null(image);
    assert_non_null(strstr(krf_error_message(), "no_such_name"));
    assert_non_null(strstr(krf_error_message(), "krf_bad"));
    krf__backend_cpu.close(device);
}

/* out0[i] = in0[i] * scalar: both as hand-written C and as a body that the interpreter runs. */
static const char doubled[] = "void krf_double(const void *fields, long long lo, long long hi) {\n"
                              "    double *const *p = fields;\n"
                              "    for (long long i = lo; i < hi; i++) p[1][i] = p[0][i] + p[0][i];\n"
                              "}\n";

#define ELEMENTS 1000003

static krf__kernel doubling_kernel(krf__operand operands[2], krf__instr instrs[3]) {
    operands[0] = (krf__operand){.dtype = KRF_F64, .strides = {1}};
    operands[1] = (krf__operand){.dtype = KRF_F64, .store = true, .buffer = 1, .strides = {1}};
    instrs[0] = (krf__instr){.op = KRF__load, .dtype = KRF_F64, .from = KRF_F64, .slot = 0};
    instrs[1] = (krf__instr){.op = KRF__add, .dtype = KRF_F64, .from = KRF_F64, .args = {0, 0}};
    instrs[2] = (krf__instr){.op = KRF__store, .dtype = KRF_F64, .from = KRF_F64, .args = {1}, .slot = 1};
    return (krf__kernel){.schedule = KRF__MAP,
                         .n_kept = 1,
                         .extents = {ELEMENTS},
                         .kept_size = ELEMENTS,
                         .reduced_size = 1,
                         .n_operands = 2,
                         .n_instrs = 3,
                         .n_domain = 3,
                         .operands = operands,
                         .instrs = instrs,
                         .chunk = 1,
                         .chunks = 1,
                         .vector = 1,
                         .name = "krf_double"};
}

static void test_launch_map(void **state) {
    (void)state;
    krf__device *device = device_with_compiler(3);
    void *image = NULL, *in = NULL, *out = NULL;
    size_t bytes = 0;
    compile(device, doubled, "krf_double", &image, &bytes);
    krf__module *module = NULL;
    assert_int_equal(krf__backend_cpu.load(device, image, bytes, "krf_double", &module), KRF_OK);
    krf__mem_free(image);
    krf__module_info about;
    krf__backend_cpu.module_info(device, module, &about);
    assert_int_equal(about.registers, -1);

    const size_t size = ELEMENTS * sizeof(double);
    assert_int_equal(krf__backend_cpu.allocate(device, size, &in), KRF_OK);
    assert_int_equal(krf__backend_cpu.allocate(device, size, &out), KRF_OK);
    for (int i = 0; i < ELEMENTS; i++) {
        ((double *)in)[i] = i;
    }
    krf__operand operands[2];
    krf__instr instrs[3];
    krf__kernel kernel = doubling_kernel(operands, instrs);
    void *pointers[2] = {in, out};
    uint64_t fields[3] = {(uintptr_t)in, (uintptr_t)out, ELEMENTS};
    krf__launch launch = {.kernel = &kernel, .module = module, .fields = fields, .pointers = pointers};
    for (int tier = 1; tier >= 0; tier--) {
        memset(out, 0, size);
        launch.module = tier == 1 ? module : NULL;
        assert_int_equal(krf__backend_cpu.launch(device, &launch, NULL), KRF_OK);
        assert_int_equal(krf__backend_cpu.synchronize(device, NULL), KRF_OK);
        for (int i = 0; i < ELEMENTS; i++) {
            assert_true(((double *)out)[i] == 2.0 * i);
        }
    }
    /* A piece that fails, in whatever thread: its status and message come back. */
    krf__mem_fail_at(1);
    krf_status status = krf__backend_cpu.launch(device, &launch, NULL);
    krf__mem_fail_at(0);
    if (status != KRF_OK) { /* an interpreter that allocates nothing cannot fail so */
        assert_int_equal(status, KRF_E_MEMORY);
        assert_true(strlen(krf_error_message()) > 0);
    }
    krf__backend_cpu.unload(device, module);
    krf__backend_cpu.deallocate(device, in, size);
    krf__backend_cpu.deallocate(device, out, size);
    krf__backend_cpu.close(device);
}

/* Full sum in chunks: units fill the slots, finish folds them. */
static const char summed[] =
    "void krf_sum(const void *fields, long long lo, long long hi) {\n"
    "    double *const *p = fields; const long long *n = fields;\n"
    "    for (long long u = lo; u < hi; u++) {\n"
    "        double sum = 0;\n"
    "        for (long long i = u * n[3]; i < (u + 1) * n[3] && i < n[4]; i++) sum += p[0][i];\n"
    "        p[2][u] = sum;\n"
    "    }\n"
    "}\n"
    "void krf_sum_finish(const void *fields, long long lo, long long hi) {\n"
    "    double *const *p = fields; const long long *n = fields;\n"
    "    for (long long r = lo; r < hi; r++) {\n"
    "        double sum = 0;\n"
    "        for (long long c = 0; c < n[5]; c++) sum += p[2][c];\n"
    "        p[1][r] = sum;\n"
    "    }\n"
    "}\n";

static void test_launch_reduction(void **state) {
    (void)state;
    krf__device *device = device_with_compiler(4);
    void *image = NULL;
    size_t bytes = 0;
    compile(device, summed, "krf_sum", &image, &bytes);
    krf__module *module = NULL;
    assert_int_equal(krf__backend_cpu.load(device, image, bytes, "krf_sum", &module), KRF_OK);
    krf__mem_free(image);
    enum { CHUNK = 1024, CHUNKS = (ELEMENTS + CHUNK - 1) / CHUNK };
    double *in = malloc(ELEMENTS * sizeof *in), out = 0, *partials = calloc(CHUNKS, sizeof *partials);
    for (int i = 0; i < ELEMENTS; i++) {
        in[i] = i;
    }
    krf__kernel kernel = {.schedule = KRF__REDUCE_ALL,
                          .n_kept = 1,
                          .n_reduced = 1,
                          .extents = {1, ELEMENTS},
                          .kept_size = 1,
                          .reduced_size = ELEMENTS,
                          .n_instrs = 3,
                          .n_domain = 1,
                          .n_reductions = 1,
                          .chunk = CHUNK,
                          .chunks = CHUNKS,
                          .name = "krf_sum"};
    uint64_t fields[6] = {(uintptr_t)in, (uintptr_t)&out, (uintptr_t)partials, CHUNK, ELEMENTS, CHUNKS};
    krf__launch launch = {.kernel = &kernel, .module = module, .fields = fields, .scratch = partials};
    assert_int_equal(krf__backend_cpu.launch(device, &launch, NULL), KRF_OK);
    assert_true(out == (double)ELEMENTS * (ELEMENTS - 1) / 2);
    module->finish = NULL;
    assert_int_equal(krf__backend_cpu.launch(device, &launch, NULL), KRF_E_INTERNAL);
    free(in);
    free(partials);
    krf__backend_cpu.unload(device, module);
    krf__backend_cpu.close(device);
}

static void test_launch_cuts(void **state) {
    (void)state;
    krf__kernel k = {.schedule = KRF__MAP, .kept_size = 1 << 18, .reduced_size = 1, .n_instrs = 5, .chunks = 1};
    assert_int_equal(krf__cut_units(&k).length, 16384);
    k.kept_size = (1 << 21) + 1;
    assert_int_equal(krf__cut_units(&k).length, 32768);
    k.kept_size = 1 << 24;
    assert_int_equal(krf__cut_units(&k).units, 1 << 24);
    assert_int_equal(krf__cut_units(&k).length, 65536);
    assert_false(krf__cut_units(&k).alone);
    for (k.n_instrs = 1; k.n_instrs < 5000; k.n_instrs = k.n_instrs * 3 + 1) {
        int64_t length = krf__cut_units(&k).length;
        assert_true(length >= 4096 && length <= 65536 && length % 4096 == 0);
    }
    k.n_instrs = 8;
    k.kept_size = 32767;
    assert_true(krf__cut_units(&k).alone);
    k.kept_size = 32768;
    assert_false(krf__cut_units(&k).alone);

    krf__instr body[3] = {{.op = KRF__load}, {.op = KRF__sum}, {.op = KRF__store}};
    k = (krf__kernel){.schedule = KRF__REDUCE_ROW,
                      .kept_size = 1000000,
                      .reduced_size = 8,
                      .n_instrs = 3,
                      .n_domain = 1,
                      .n_reductions = 1,
                      .instrs = body,
                      .chunk = 1024,
                      .chunks = 1};
    assert_int_equal(krf__cut_units(&k).units, 1000000);
    assert_int_equal(krf__cut_units(&k).length, 8192);
    k.schedule = KRF__REDUCE_COL;
    assert_int_equal(krf__cut_units(&k).units, 3907);
    assert_int_equal(krf__cut_units(&k).length, 32);
    k.chunks = 100;
    k.reduced_size = 102400;
    assert_int_equal(krf__cut_units(&k).units, 390700);
    assert_int_equal(krf__cut_units(&k).length, 1);
    assert_int_equal(krf__cut_results(&k).units, 1000000);
    assert_int_equal(krf__cut_results(&k).length, 655);
    k.kept_size = 600; /* all together, where chunks are many */
    assert_int_equal(krf__cut_units(&k).units, 100);
    k.chunks = 50;
    assert_int_equal(krf__cut_units(&k).units, 150);
    k.kept_size = 0;
    assert_int_equal(krf__cut_units(&k).units, 0);
}

static long call(const krf__module *module) {
    long result = 0;
    module->run(&result, 0, 0);
    return result;
}

static void test_loader_two_images_in_a_row(void **state) {
    (void)state;
    krf__device *device = device_with_compiler(1);
    void *images[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        char source[128];
        snprintf(source, sizeof source, "void krf_same(void *p, long long a, long long b) { *(long *)p = %d; }\n",
                 i + 1);
        compile(device, source, "krf_same", &images[i], &sizes[i]);
    }
    /* The descriptors get the same numbers each time, and the symbols have one name. */
    int open_before = entries_of("/proc/self/fd");
    krf__module *modules[40];
    for (int i = 0; i < 40; i++) {
        assert_int_equal(krf__backend_cpu.load(device, images[i % 2], sizes[i % 2], "krf_same", &modules[i]), KRF_OK);
        assert_int_equal(call(modules[i]), i % 2 + 1);
    }
    assert_int_equal(entries_of("/proc/self/fd"), open_before);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(call(modules[i]), i % 2 + 1);
        assert_null(modules[i]->finish);
        krf__backend_cpu.unload(device, modules[i]);
    }
    krf__module *none = NULL;
    assert_int_equal(krf__backend_cpu.load(device, images[0], sizes[0], "krf_other", &none), KRF_E_COMPILE);
    assert_null(none);
    krf__mem_free(images[0]);
    krf__mem_free(images[1]);
    krf__backend_cpu.close(device);
}

/* Whatever is done to the image, loading it fails or succeeds, but does not crash. Damage inside code cannot be seen
 * here: the disk cache's hash sees it. */
static void test_loader_refuses_damage(void **state) {
    (void)state;
    krf__device *device = device_with_compiler(1);
    void *image = NULL;
    size_t bytes = 0;
    compile(device, doubled, "krf_double", &image, &bytes);
    krf__module *module = NULL;
    int refused = 0, tried = 0;
    for (size_t length = 0; length < bytes; length += length < 64 ? 1 : 509, tried++) {
        char *copy = malloc(length + 1); /* of just that size, for ASan */
        memcpy(copy, image, length);
        krf_status status = krf__backend_cpu.load(device, copy, length, "krf_double", &module);
        assert_true(status == KRF_OK || status == KRF_E_COMPILE);
        refused += status != KRF_OK;
        krf__backend_cpu.unload(device, module);
        free(copy);
    }
    assert_true(refused > tried / 2);
    static const size_t damaged[] = {0, 4, 16, 18, 32, 54}; /* magic, class, type, machine, program headers */
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        ((unsigned char *)image)[damaged[i]] ^= 0x40;
        assert_int_equal(krf__backend_cpu.load(device, image, bytes, "krf_double", &module), KRF_E_COMPILE);
        assert_null(module);
        ((unsigned char *)image)[damaged[i]] ^= 0x40;
    }
    assert_int_equal(krf__backend_cpu.load(device, image, bytes, "krf_double", &module), KRF_OK);
    krf__backend_cpu.unload(device, module);
    krf__mem_free(image);
    krf__backend_cpu.close(device);
    assert_int_equal(entries_of(scratch), 0);
}

static void test_copies(void **state) {
    (void)state;
    krf__device *device = open_device(3);
    static const size_t sizes[] = {0, 1, 1000, (4 << 20) - 1, (4 << 20), (9 << 20) + 13};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        unsigned char *host = malloc(n + 1), *back = malloc(n + 1);
        for (size_t j = 0; j < n; j++) {
            host[j] = (unsigned char)(j * 7 + j / 1000);
        }
        void *a = NULL, *b = NULL;
        assert_int_equal(krf__backend_cpu.allocate(device, n + 1, &a), KRF_OK);
        assert_int_equal(krf__backend_cpu.allocate(device, n + 1, &b), KRF_OK);
        assert_int_equal(krf__backend_cpu.upload(device, a, host, n, NULL), KRF_OK);
        assert_int_equal(krf__backend_cpu.copy(device, b, a, n, NULL), KRF_OK);
        assert_int_equal(krf__backend_cpu.download(device, back, b, n, NULL), KRF_OK);
        assert_memory_equal(host, back, n);
        assert_int_equal(krf__backend_cpu.zero(device, b, n, NULL), KRF_OK);
        for (size_t j = 0; j < n; j++) {
            assert_int_equal(((unsigned char *)b)[j], 0);
        }
        krf__backend_cpu.deallocate(device, a, n + 1);
        krf__backend_cpu.deallocate(device, b, n + 1);
        free(host);
        free(back);
    }
    krf_device_info info = {.size = sizeof info};
    assert_int_equal(krf__backend_cpu.info(device, &info), KRF_OK);
    assert_false(info.is_cuda);
    assert_int_equal(info.multiprocessors, 3);
    assert_true(info.memory > 0 && strlen(info.name) > 0 && strlen(info.arch) > 0);
    print_message("%s, %s, compiler %s\n", info.name, info.arch, info.compiler != NULL ? info.compiler : "none");
    krf__backend_cpu.close(device);
}

/* The state of test_compiler_missing: PATH, to be put back. */
static int keep_path(void **state) {
    *state = strdup(getenv("PATH"));
    return *state == NULL;
}

static int put_path_back(void **state) {
    setenv("PATH", *state, 1);
    free(*state);
    return 0;
}

static int make_folders(void **state) {
    (void)state;
    strcpy(folder, "/tmp/krf-test-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    snprintf(scratch, sizeof scratch, "%.100s/scratch", folder);
    return mkdir(scratch, 0700) != 0 || setenv("TMPDIR", scratch, 1) != 0;
}

static int remove_folders(void **state) {
    (void)state;
    DIR *entries = opendir(folder);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[PATH_MAX + 300];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(entries);
    rmdir(scratch);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_compiler_missing, keep_path, put_path_back),
        cmocka_unit_test(test_compiler_failures),
        cmocka_unit_test(test_compiler_time),
        cmocka_unit_test(test_compiler_in_odd_hosts),
        cmocka_unit_test(test_compiler_identity),
        cmocka_unit_test(test_compiler_out_of_memory),
        cmocka_unit_test(test_compile_error_has_the_compilers_words),
        cmocka_unit_test(test_launch_map),
        cmocka_unit_test(test_launch_reduction),
        cmocka_unit_test(test_launch_cuts),
        cmocka_unit_test(test_loader_two_images_in_a_row),
        cmocka_unit_test(test_loader_refuses_damage),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
