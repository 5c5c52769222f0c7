/* The passes in order. Each sees the graph the one before made; only the last one is kept. */
#include "pass/pass.h"

#include "base/fail.h"

/* Passes that need nothing but the graph; NULL: lower, which needs a limit. */
typedef krf_status pass_function(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out);

krf_status krf__pipeline(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out) {
    /* canon again at the end: folding and lowering leave nodes that nothing uses */
    static pass_function *const passes[] = {krf__canon, krf__split, krf__fold, NULL, krf__narrow, krf__canon};
    krf_graph stages[2];
    const krf_graph *now = in;
    int next = 0; /* stage */
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if ((passes[i] == krf__split && !krf__has_complex(now)) || (passes[i] == krf__narrow && !krf__has_places(now))) {
            continue;
        }
        krf_status status = passes[i] == NULL ? krf__lower(now, limits, n, outputs, &stages[next])
                                              : passes[i](now, n, outputs, &stages[next]);
        if (now != in) {
            krf__graph_free(&stages[1 - next]);
        }
        if (status != KRF_OK) {
            return status;
        }
        now = &stages[next];
        next = 1 - next;
#ifndef NDEBUG
        const char *fault = krf__graph_check(now);
        if (fault != NULL) {
            krf__graph_free(&stages[1 - next]);
            return krf__fail(KRF_E_INTERNAL, "pass %zu: %s", i, fault);
        }
#endif
    }
    *out = *now;
    return KRF_OK;
}
