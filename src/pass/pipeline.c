/* The passes in order. Each sees the graph the one before made; only the last one is kept. */
#include "pass/pass.h"

#include "base/fail.h"

typedef krf_status pass_function(const krf_graph *in, int n, uint32_t *outputs, krf_graph *out);
typedef krf_status limited_function(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out);

static bool has_nothing_for(pass_function *pass, limited_function *limited, const krf_graph *g, const krf__limits *limits) {
    return (pass == krf__split && !krf__has_complex(g)) || (pass == krf__narrow && !krf__has_places(g)) || (limited == krf__tables && !krf__has_bytes(g, limits)) || (limited == krf__widen && !krf__has_columns(g, limits));
}

krf_status krf__pipeline(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out) {
    /* canon again at the end: folding and lowering leave nodes that nothing uses */
    static const struct {
        pass_function *pass;
        limited_function *limited; /* of one that needs more than the graph */
    } passes[] = {{krf__canon, NULL}, {krf__split, NULL}, {krf__fold, NULL}, {NULL, krf__tables}, {NULL, krf__widen}, {NULL, krf__lower}, {krf__narrow, NULL}, {krf__canon, NULL}};
    krf_graph stages[2];
    const krf_graph *now = in;
    int next = 0; /* stage */
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if (has_nothing_for(passes[i].pass, passes[i].limited, now, limits)) {
            continue;
        }
        krf_status status = passes[i].pass != NULL ? passes[i].pass(now, n, outputs, &stages[next]) : passes[i].limited(now, limits, n, outputs, &stages[next]);
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
