/* Opens and closes the contexts of a session. */
#include "fuzz/session.h"

#include "fuzz/batch.h"
#include "fuzz/user.h"

static bool open_context(krf_context **context, const char *device, krf_cpu_tier tier, int threads, bool *missing,
                         report *r) {
    krf_context_options options = krf_context_options_default();
    options.device = device;
    options.cpu_tier = tier;
    options.threads = threads;
    options.blocking_compile = true;
    options.cache = KRF_CACHE_OFF;
    krf_status status = krf_context_create(&options, context);
    *missing = status == KRF_E_DEVICE;
    if (status != KRF_OK) {
        return fails(r, "context on %s: %s", device, krf_error_message());
    }
    if (tier != KRF_CPU_AUTO) { /* which compiles while it runs */
        batch_install(*context);
    }
    user_define(*context);
    return true;
}

bool session_open(session *s, target what, const char *device, bool *missing, report *r) {
    const krf_cpu_tier tier = what == TARGET_AUTO ? KRF_CPU_AUTO : KRF_CPU_INTERPRET;
    *s = (session){.target = what};
    bool right = true;
    if (what == TARGET_CUDA || what == TARGET_COMPILED) {
        right = open_context(&s->tested, device, KRF_CPU_COMPILE, 2, missing, r);
    }
    right = right && open_context(&s->reference[0], "cpu", tier, 1, missing, r)
            && open_context(&s->reference[1], "cpu", tier, 2, missing, r);
    if (!right) {
        session_close(s);
    }
    return right;
}

void session_close(session *s) {
    krf_context_destroy(s->reference[0]);
    krf_context_destroy(s->reference[1]);
    krf_context_destroy(s->tested);
    *s = (session){.target = s->target};
}
