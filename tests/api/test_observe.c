/* What a program tells while it runs: ranges for profilers (here a library of our own, named as a profiler names its own), names of plans, counters, and the files of
 * KRF_DUMP. Device: KRF_TEST_DEVICE (default "cpu"). */
#include "helpers.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char logged[65536];
static void remember(void *user, const char *line) {
    (void)user;
    strncat(logged, line, sizeof logged - strlen(logged) - 2);
    strcat(logged, "\n");
}

static krf_context *open_context(void) {
    krf_context_options o = krf_context_options_default();
    krf_context *context = NULL;
    o.device = asked_device();
    o.cpu_tier = KRF_CPU_COMPILE;
    o.cache = KRF_CACHE_OFF;
    o.blocking_compile = true;
    o.log = remember;
    logged[0] = '\0';
    assert_ok(krf_context_create(&o, &context));
    return context;
}

enum { N = 1000 };

/* exp(x) + offset; not the same kernel for another offset. */
static krf_plan *make_plan(krf_context *context, const char *name, int offset) {
    krf_graph *g = krf_graph_create(context);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N}), y = krf_exp(x);
    krf_compile_options o = krf_compile_options_default();
    krf_plan *plan = NULL;
    o.name = name;
    for (int i = 0; i < offset; i++) {
        y = krf_negative(y);
    }
    assert_ok(krf_compile(g, 1, &y, &o, &plan));
    krf_graph_destroy(g);
    return plan;
}

static krf_array *zeros(krf_context *context) {
    static const float data[N];
    krf_array *a = NULL;
    assert_ok(krf_array_from_host(context, KRF_F32, 1, (int64_t[]){N}, data, &a));
    return a;
}

static void run(krf_plan *plan, krf_array *x, krf_array *y) {
    krf_binding b = krf_bind_array("x", x);
    assert_ok(krf_plan_run(plan, NULL, 1, &b, &y));
}

static krf_kernel_info kernel_of(krf_plan *plan) {
    krf_kernel_info info = {.size = sizeof info};
    assert_int_equal(krf_plan_kernels(plan), 1);
    assert_ok(krf_plan_kernel(plan, 0, &info));
    return info;
}

/* ---- names ---- */

static void names_are_for_people(void **state) {
    (void)state;
    krf_context *context = open_context();
    char text[] = "softplus, fused";
    krf_plan *named = make_plan(context, text, 0), *other = make_plan(context, "another", 0), *none = make_plan(context, NULL, 0);
    memset(text, 'x', sizeof text - 1); /* it was copied */
    krf_cache_stats stats = {.size = sizeof stats};
    assert_string_equal(krf_plan_name(named), "softplus, fused");
    assert_string_equal(krf_plan_name(other), "another");
    assert_null(krf_plan_name(none));
    assert_null(krf_plan_name(NULL));
    assert_ok(krf_context_cache_stats(context, &stats));
    assert_int_equal(stats.compiled, 1); /* all three share the kernel */
    krf_kernel_info info = kernel_of(named);
    assert_string_equal(info.name, kernel_of(none).name);
    assert_null(strstr(info.source, "softplus"));
    char line[200];
    snprintf(line, sizeof line, "softplus, fused: kernel 1 of 1 is %s\n", info.name);
    assert_non_null(strstr(logged, line));
    krf_plan_release(named);
    krf_plan_release(other);
    krf_plan_release(none);
    krf_context_destroy(context);
}

/* ---- counters ---- */

static void runs_are_counted(void **state) {
    (void)state;
    enum { RUNS = 10 };
    krf_context *context = open_context();
    krf_plan *plan = make_plan(context, NULL, 1);
    krf_array *x = zeros(context), *y = zeros(context);
    krf_cache_stats before = {.size = sizeof before}, after = {.size = sizeof after}, old = {.size = offsetof(krf_cache_stats, launches)};
    assert_ok(krf_context_cache_stats(context, &before));
    for (int i = 0; i < RUNS; i++) {
        run(plan, x, y);
    }
    assert_ok(krf_context_synchronize(context));
    assert_ok(krf_context_cache_stats(context, &after));
    assert_int_equal(before.launches + before.replays, 0);
    assert_int_equal(after.launches + after.replays, RUNS); /* one kernel a run, either way */
    assert_int_equal(after.replays, on_gpu() ? RUNS - 3 : 0);
    old.compile_ms = -1;
    assert_ok(krf_context_cache_stats(context, &old)); /* of a program that knows fewer of them */
    assert_true(old.compile_ms >= 0 && old.launches == 0);
    krf_array_release(x);
    krf_array_release(y);
    krf_plan_release(plan);
    krf_context_destroy(context);
}

/* ---- ranges ---- */

static const char *(*recorder_lines)(void);
static void (*recorder_clear)(void);
static int (*recorder_starts)(void);

static bool find_recorder(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD); /* kerfuse has opened it */
    if (library != NULL) {
        *(void **)&recorder_lines = dlsym(library, "recorder_lines");
        *(void **)&recorder_clear = dlsym(library, "recorder_clear");
        *(void **)&recorder_starts = dlsym(library, "recorder_starts");
    }
    return recorder_lines != NULL && recorder_clear != NULL && recorder_starts != NULL;
}

static void profilers_see_ranges(void **state) {
    (void)state;
    krf_context *context = open_context(), *second = open_context();
    assert_true(find_recorder(getenv("NVTX_INJECTION64_PATH")));
    assert_int_equal(recorder_starts(), 1); /* once in a process */
    krf_context_destroy(second);
    recorder_clear();
    krf_plan *plan = make_plan(context, "my plan", 2);
    krf_array *x = zeros(context), *y = zeros(context), *z = NULL;
    char expected[1000];
    const char *kernel = kernel_of(plan).name;
    snprintf(expected, sizeof expected, "kerfuse > compile %s\nkerfuse <\n", kernel);
    assert_string_equal(recorder_lines(), expected);
    recorder_clear();
    run(plan, x, y);
    snprintf(expected, sizeof expected, "kerfuse > my plan\nkerfuse > launch %s\nkerfuse <\nkerfuse <\n", kernel);
    assert_string_equal(recorder_lines(), expected);
    for (int i = 0; i < 5; i++) {
        run(plan, x, y);
    }
    recorder_clear();
    run(plan, x, y);
    assert_string_equal(recorder_lines(), on_gpu() ? "kerfuse > my plan\nkerfuse > replay\nkerfuse <\nkerfuse <\n" : expected);
    recorder_clear();
    krf_graph *g = krf_graph_create(context);
    assert_ok(krf_eval(krf_sqrt(krf_input(g, x)), &z));
    assert_non_null(strstr(recorder_lines(), "kerfuse > krf_eval\n"));
    assert_non_null(strstr(recorder_lines(), "kerfuse > compile krf_map_"));
    krf_graph_destroy(g);
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(z);
    krf_plan_release(plan);
    krf_context_destroy(context);
}

/* ---- KRF_DUMP ---- */

static char *read_text(const char *folder, const char *name) {
    static char text[1 << 18];
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    size_t n = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

/* The one file whose name begins and ends so. */
static const char *find_file(const char *folder, const char *begin, const char *end) {
    static char name[300];
    int found = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        const size_t length = strlen(e->d_name), tail = strlen(end);
        if (strncmp(e->d_name, begin, strlen(begin)) == 0 && length > tail && strcmp(e->d_name + length - tail, end) == 0) {
            snprintf(name, sizeof name, "%s", e->d_name);
            found++;
        }
    }
    closedir(d);
    if (found != 1) {
        fail_msg("%d files %s*%s", found, begin, end);
    }
    return name;
}

static void graphs_plans_and_sources_are_written(void **state) {
    (void)state;
    char folder[] = "/tmp/kerfuse-observe-XXXXXX", inside[64], name[128], expected[4096];
    assert_non_null(mkdtemp(folder));
    snprintf(inside, sizeof inside, "%s/new", folder);
    setenv("KRF_DUMP", inside, 1); /* a folder that is not there yet */
    krf_context *context = open_context();
    unsetenv("KRF_DUMP");
    krf_plan *plan = make_plan(context, "soft/plus", 3);
    const krf_kernel_info kernel = kernel_of(plan);
    snprintf(name, sizeof name, "%s.%s", kernel.name, on_gpu() ? "cu" : "c");
    assert_string_equal(read_text(inside, name), kernel.source);
    const char *text = read_text(inside, find_file(inside, "soft_plus-", ".krf"));
    krf_graph *g = krf_graph_create(context); /* what is written is a program */
    krf_expr y;
    char *again = NULL;
    size_t bytes = 0;
    snprintf(expected, sizeof expected, "%s", text);
    assert_ok(krf_parse(g, expected, NULL, 0, &y));
    assert_ok(krf_dump(g, 1, &y, KRF_DUMP_GRAPH, NULL, NULL, &again, &bytes));
    assert_string_equal(again, expected);
    krf_free(again);
    assert_ok(krf_dump(g, 1, &y, KRF_DUMP_PLAN, NULL, NULL, &again, &bytes));
    snprintf(expected, sizeof expected, "# soft/plus\n%s", again);
    assert_string_equal(read_text(inside, find_file(inside, "soft_plus-", ".plan")), expected);
    krf_free(again);
    krf_graph_destroy(g);
    krf_array *x = zeros(context), *z = NULL; /* krf_eval's plans have no name */
    g = krf_graph_create(context);
    assert_ok(krf_eval(krf_tanh(krf_input(g, x)), &z));
    assert_non_null(strstr(read_text(inside, find_file(inside, "plan-", ".krf")), "tanh"));
    krf_graph_destroy(g);
    krf_array_release(x);
    krf_array_release(z);
    krf_plan_release(plan);
    krf_context_destroy(context);
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static void what_cannot_be_written_is_no_failure(void **state) {
    (void)state;
    setenv("KRF_DUMP", "/proc/no/such/folder", 1);
    krf_context *context = open_context();
    unsetenv("KRF_DUMP");
    krf_plan *plan = make_plan(context, NULL, 4);
    krf_array *x = zeros(context), *y = zeros(context);
    float got[N];
    run(plan, x, y);
    assert_ok(krf_array_to_host(y, got, sizeof got));
    assert_true(got[0] == 1 && got[N - 1] == 1);
    assert_non_null(strstr(logged, "KRF_DUMP: /proc/no/such/folder/"));
    krf_array_release(x);
    krf_array_release(y);
    krf_plan_release(plan);
    krf_context_destroy(context);
}

int main(void) {
    char path[600];
    snprintf(path, sizeof path, "%s/tests/libnvtx_recorder.so", getenv("KRF_BUILD_DIR") != NULL ? getenv("KRF_BUILD_DIR") : ".");
    setenv("NVTX_INJECTION64_PATH", path, 1);
    unsetenv("KRF_DUMP");
    krf_context_options o = krf_context_options_default();
    o.device = asked_device();
    if (on_gpu()) {
        krf_context_destroy(open_or_skip(&o));
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_for_people),
        cmocka_unit_test(runs_are_counted),
        cmocka_unit_test(profilers_see_ranges),
        cmocka_unit_test(graphs_plans_and_sources_are_written),
        cmocka_unit_test(what_cannot_be_written_is_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
