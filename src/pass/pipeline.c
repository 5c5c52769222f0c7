/* The passes in order. Each sees the graph the one before made; only the last one is kept. */
#include "pass/pass.h"

#include "base/fail.h"

/* Passes that need nothing but the graph; NULL: lower, which needs a limit. */
typedef krf_status pass_function(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out);

krf_status krf__pipeline(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out) {
    /* canon again at the end: folding and lowering leave nodes that nothing uses */
    static pass_function *const passes[] = {krf__canon, krf__fold, NULL, krf__canon};
    krf_graph stages[2];
    const krf_graph *now = in;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        krf_status status = passes[i] == NULL ? krf__lower(now, limits->repeated, n, outputs, &stages[i % 2])
                                              : passes[i](now, n, outputs, &stages[i % 2]);
        if (now != in) {
            krf__graph_free(&stages[(i + 1) % 2]);
        }
        if (status != KRF_OK) {
            return status;
        }
        now = &stages[i % 2];
#ifndef NDEBUG
        const char *fault = krf__graph_check(now);
        if (fault != NULL) {
            krf__graph_free(&stages[i % 2]);
            return krf__fail(KRF_E_INTERNAL, "pass %zu: %s", i, fault);
        }
#endif
    }
    *out = *now;
    return KRF_OK;
}
