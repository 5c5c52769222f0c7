/* Which expressions over rows that lie side by side are one kernel on the CPU (pass/rows.c), on both sides of each border: how long rows may be, how many lie beside one another, what is read together, whether rows that are
 * stored are whole lines, and after which round elements are; and what the kernels move. Nothing is run. */
#include "rows/rows.h"

#define SOFTMAX(a) "; m = max(x, axis=" a ", keepdims=True); e = exp(x - m); return e / sum(e, axis=" a ", keepdims=True)"
#define TWO "; m = max(x * y, axis=0); s = sum(abs(x - m) * y, axis=0); return x - s"
#define THREE "; m = max(x * y, axis=0); s = sum(abs(x - m) * z, axis=0); return x - s"
#define WHOLES "; m = min(x, axis=0); s = max(x - m, axis=0); return x ^ s"

enum { SEVERAL = -2 };

typedef struct example {
    const char *text;
    int kernels;
    int64_t reads, writes; /* bytes of the first kernel; REST: not looked at */
} example;

static const example examples[] = {
    /* Elements of a row. */
    {"x: f32[2, 64]" SOFTMAX("0"), 1, 512, 512},
    {"x: f32[1023, 64]" SOFTMAX("0"), 1, 261888, 261888},
    {"x: f32[1024, 64]" SOFTMAX("0"), 1, 262144, 262144},
    {"x: f32[1025, 64]" SOFTMAX("0"), SEVERAL, REST, REST},
    {"x: f32[16, 64, 64]" SOFTMAX("(0, 1)"), 1, 262144, 262144},
    {"x: f32[5, 205, 64]" SOFTMAX("(0, 1)"), SEVERAL, REST, REST},
    {"x: f32[5, 1, 205, 64]" SOFTMAX("(0, 2)"), SEVERAL, REST, REST},
    {"x: f32[1024, 33]; return var(x, axis=0)", 1, 135168, 132}, /* nothing is stored but results */
    {"x: f32[1025, 33]; return var(x, axis=0)", SEVERAL, REST, REST},
    {"x: f32[1024, 33]; return mean(x, axis=0), var(x, axis=0), logsumexp(x, axis=0)", 1, 135168, 396},
    /* Rows beside one another: the axes behind the last reduced one that has elements. */
    {"x: f32[100, 31]" SOFTMAX("0"), SEVERAL, REST, REST},
    {"x: f32[100, 32]" SOFTMAX("0"), 1, 12800, 12800},
    {"x: f32[100, 31]; return var(x, axis=0)", SEVERAL, REST, REST},
    {"x: f32[100, 32]; return var(x, axis=0)", 1, 12800, 128},
    {"x: f32[5, 100, 31]" SOFTMAX("1"), SEVERAL, REST, REST},
    {"x: f32[5, 100, 32]" SOFTMAX("1"), 1, 64000, 64000},
    {"x: f32[2, 21, 4, 8]" SOFTMAX("1"), 1, 5376, 5376},
    {"x: f32[2, 21, 3, 10]" SOFTMAX("1"), SEVERAL, REST, REST},
    {"x: f32[5, 3, 40, 31]" SOFTMAX("(0, 2)"), SEVERAL, REST, REST},
    {"x: f32[5, 3, 40, 32]" SOFTMAX("(0, 2)"), 1, 76800, 76800},
    {"x: f32[40, 32, 1]" SOFTMAX("(0, 2)"), 1, 5120, 5120},
    {"x: f32[40, 1, 32, 1]" SOFTMAX("(0, 1)"), 1, 5120, 5120},
    {"x: f32[5, 64, 30]" SOFTMAX("(0, 2)"), SEVERAL, REST, REST}, /* the last axis is reduced too */
    /* Long rows are stored where they are whole lines. */
    {"x: f32[255, 33]" SOFTMAX("0"), 1, 33660, 33660},
    {"x: f32[256, 33]" SOFTMAX("0"), 1, 33792, 33792},
    {"x: f32[257, 33]" SOFTMAX("0"), SEVERAL, REST, REST},
    {"x: f32[257, 40]" SOFTMAX("0"), SEVERAL, REST, REST},
    {"x: f32[257, 48]" SOFTMAX("0"), 1, 49344, 49344},
    {"x: bf16[257, 48]" SOFTMAX("0"), SEVERAL, REST, REST},
    {"x: bf16[257, 32]" SOFTMAX("0"), 1, 16448, 16448},
    {"x: f16[257, 48]" SOFTMAX("0"), SEVERAL, REST, REST},
    {"x: f16[257, 96]" SOFTMAX("0"), 1, 49344, 49344},
    {"x: f64[257, 36]" SOFTMAX("0"), SEVERAL, REST, REST},
    {"x: f64[257, 40]" SOFTMAX("0"), 1, 82240, 82240},
    {"x: u8[257, 96]" WHOLES, SEVERAL, REST, REST},
    {"x: u8[257, 128]" WHOLES, 1, 32896, 32896},
    {"x: u8[256, 96]" WHOLES, 1, 24576, 24576},
    {"x: i64[257, 40]" WHOLES, 1, 82240, 82240},
    {"x: f32[3, 257, 3, 16]" SOFTMAX("1"), 1, 148032, 148032},
    {"x: f32[3, 257, 3, 11]" SOFTMAX("1"), SEVERAL, REST, REST},
    /* What is read together, in units of 4 bytes a row. */
    {"x: f32[1024, 64]; y: f32[1024, 64]" TWO, 1, 524288, 262144},
    {"x: f16[1024, 64]; y: f16[1024, 64]" TWO, 1, 262144, 131072}, /* 2 bytes are as many as 4 */
    {"x: f32[682, 64]; y: f32[682, 64]; z: f32[682, 64]" THREE, 1, 523776, 174592},
    {"x: f32[683, 64]; y: f32[683, 64]; z: f32[683, 64]" THREE, SEVERAL, REST, REST},
    {"x: f64[1024, 64]" SOFTMAX("0"), 1, 524288, 524288},
    {"x: f64[512, 64]; y: f64[512, 64]" TWO, 1, 524288, 262144},
    {"x: f64[513, 64]; y: f64[513, 64]" TWO, SEVERAL, REST, REST},
    {"x: f64[682, 64]; y: f32[682, 64]" TWO, 1, 523776, 349184},
    {"x: f64[683, 64]; y: f32[683, 64]" TWO, SEVERAL, REST, REST},
    {"x: f32[1024, 64]; y: f32[1024, 1]" TWO, 1, 266240, 262144}, /* what rows share is none of it */
    /* The rounds before elements are stored. */
    {"x: f32[100, 64]; return x - max(x, axis=0)", SEVERAL, REST, REST},
    {"x: f32[100, 64]; return x - max(x, axis=0) - sum(x, axis=0)", SEVERAL, REST, REST}, /* one round of two */
    {"x: f32[100, 64]; return x - sum(abs(x - max(x, axis=0)), axis=0)", 1, 25600, 25600},
    {"x: f32[100, 64]; m = max(x, axis=0); e = exp(x - m); return e, sum(e, axis=0)", SEVERAL, REST, REST},
    {"x: f32[100, 64]; m = max(x, axis=0); e = exp(x - m); p = e / sum(e, axis=0); return p, p / sum(p * p, axis=0)", 1, 25600, 51200},
    {"x: f32[100, 64]; m = max(x, axis=0); e = exp(x - m); s = sum(e, axis=0); return e / s, m, s", 1, 25600, 26112},
    /* Other rows' results, and elements that lie along rows. */
    {"x: f32[64, 64]; m = max(x, axis=0); s = sum(x - m, axis=0); return x - flip(s, axis=0)", SEVERAL, REST, REST},
    {"x: f32[64, 64]; m = max(x.T, axis=0); s = sum(x.T - m, axis=0); return x.T - s", SEVERAL, REST, REST},
    {"x: f32[64, 96]; m = max(x[:, ::3], axis=0); s = sum(x[:, ::3] - m, axis=0); return x[:, ::3] - s", SEVERAL, REST, REST},
    {"x: f32[64, 64]; m = max(x[:, ::2], axis=0); s = sum(x[:, ::2] - m, axis=0); return x[:, ::2] - s", 1, 8192, 8192},
};

static void look_at(krf_context *context, const example *e) {
    krf_graph *g = krf_graph_create(context);
    krf_expr results[MOST_OUTPUTS];
    krf_plan *plan = NULL;
    krf_kernel_info info = {.size = sizeof info};
    int count = 0;
    if (krf_parse_many(g, e->text, NULL, 0, MOST_OUTPUTS, results, &count) != KRF_OK || krf_compile(g, count, results, NULL, &plan) != KRF_OK || krf_plan_kernel(plan, 0, &info) != KRF_OK) {
        fail_msg("%s: %s", e->text, krf_error_message());
    }
    const int n = krf_plan_kernels(plan);
    const bool row_col = strcmp(info.schedule, "row_col") == 0;
    bool right = e->kernels == SEVERAL ? n >= 2 : n == e->kernels && row_col;
    right &= (e->reads == REST || e->reads == info.bytes_read) && (e->writes == REST || e->writes == info.bytes_written);
    if (!right) {
        fail_msg("%s: %d kernels, %s, reads %lld bytes, writes %lld", e->text, n, info.schedule, (long long)info.bytes_read, (long long)info.bytes_written);
    }
    krf_plan_release(plan);
    krf_graph_destroy(g);
}

/* Of a processor, whatever the tests' device is. */
static krf_context *open_cpu(const char *fusion) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.fusion = fusion;
    assert_int_equal(krf_context_create(&options, &context), KRF_OK);
    return context;
}

static void test_rule(void **unused) {
    krf_context *context = open_cpu(NULL);
    (void)unused;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        look_at(context, &examples[i]);
    }
    krf_context_destroy(context);
}

static void test_settings(void **unused) {
    static const struct {
        const char *fusion;
        example e;
    } cases[] = {
        {"columns=0", {"x: f32[2, 64]" SOFTMAX("0"), SEVERAL, REST, REST}},
        {"columns=100", {"x: f32[100, 64]" SOFTMAX("0"), 1, 25600, 25600}},
        {"columns=100", {"x: f32[101, 64]" SOFTMAX("0"), SEVERAL, REST, REST}},
        {"columns=100", {"x: f32[100, 64]; y: f32[100, 64]" TWO, 1, 51200, 25600}},
        {"columns=100", {"x: f32[67, 64]; y: f32[67, 64]; z: f32[67, 64]" THREE, SEVERAL, REST, REST}},
        {"columns=100", {"x: f32[66, 64]; y: f32[66, 64]; z: f32[66, 64]" THREE, 1, 50688, 16896}},
        {"row=100", {"x: f32[100, 64]" SOFTMAX("0"), 1, 25600, 25600}},
        {"row=100", {"x: f32[101, 64]" SOFTMAX("0"), SEVERAL, REST, REST}},
        {"off", {"x: f32[100, 64]" SOFTMAX("0"), SEVERAL, REST, REST}},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krf_context *context = open_cpu(cases[i].fusion);
        look_at(context, &cases[i].e);
        krf_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rule), cmocka_unit_test(test_settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
