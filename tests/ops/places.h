/* The contexts in which an expression must have the same results, for what KRF_FUSION can turn off: the device's with it, without it and with one operation a kernel; of a CPU also
 * compiled, of a GPU beside a CPU. */
#ifndef KRF_TESTS_OPS_PLACES_H
#define KRF_TESTS_OPS_PLACES_H

#include "ops/common.h"

typedef struct place {
    char label[48];
    krf_context *context;
    const char *fusion;
    bool cuda, fuses;
} place;

static place places[4];
static int n_places;

static inline void add_place(const char *device, krf_cpu_tier tier, const char *fusion) {
    krf_context_options options = krf_context_options_default();
    place *p = &places[n_places++];
    options.device = device;
    options.cpu_tier = tier;
    options.blocking_compile = true;
    options.fusion = fusion;
    p->context = open_or_skip(&options);
    p->fusion = fusion;
    p->cuda = strcmp(device, "cpu") != 0;
    p->fuses = fusion == NULL || strcmp(fusion, "off") != 0;
    snprintf(p->label, sizeof p->label, "%s, %s", p->cuda ? "cuda" : tier == KRF_CPU_COMPILE ? "compiled" : "interpreted", fusion != NULL ? fusion : "fused");
}

/* The first is the device's own, the second without what is tested. */
static inline void open_places(const char *without) {
    const char *device = asked_device();
    const bool cuda = strcmp(device, "cpu") != 0;
    add_place(device, KRF_CPU_INTERPRET, NULL);
    add_place(device, KRF_CPU_INTERPRET, without);
    add_place(device, KRF_CPU_INTERPRET, "off");
    add_place("cpu", cuda ? KRF_CPU_INTERPRET : KRF_CPU_COMPILE, NULL);
}

static inline void close_places(void) {
    for (int p = 0; p < n_places; p++) {
        krf_context_destroy(places[p].context);
    }
}

static inline int run_on_places(const struct CMUnitTest *tests, size_t n) {
    const int failed = _cmocka_run_group_tests("tests", tests, n, NULL, NULL);
    close_places();
    return failed;
}

#endif
