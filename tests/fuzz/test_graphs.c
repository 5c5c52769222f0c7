/* A few thousand random graphs with a fixed seed: on the interpreter, some on the compiled tier; or, when
 * KRF_TEST_DEVICE names one, on a GPU. KRF_FUZZ_SEED and KRF_FUZZ_COUNT for others; of the latter a fourth is compiled, for
 * compilers take most of the time. fuzz_graphs runs as many as one likes. */
#include "fuzz/worker.h"

#include <unistd.h>

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

static outcome run_some(target what, const char *device, uint64_t count, int defined) {
    const uint64_t share = what == TARGET_COMPILED ? 4 : 1;
    const work w = {.seed = setting("KRF_FUZZ_SEED", 20260101),
                    .count = setting("KRF_FUZZ_COUNT", count * share) / share,
                    .target = what,
                    .device = device,
                    .jobs = 2,
                    .batch = 20,
                    .folder = ".",
                    .defined = defined};
    printf("seed %" PRIu64 "\n", w.seed);
    return work_run(&w);
}

int main(void) {
    const char *device = getenv("KRF_TEST_DEVICE");
    outcome o;
    if (device != NULL && strncmp(device, "cuda", 4) == 0) {
        o = run_some(TARGET_CUDA, device, 100, -1);
    } else {
        o = run_some(TARGET_INTERPRETER, "cpu", 4000, 1);
        o = o == ALL_RIGHT ? run_some(TARGET_AUTO, "cpu", 300, 0) : o;
        o = o == ALL_RIGHT ? run_some(TARGET_COMPILED, "cpu", 20, -1) : o;
    }
    return o == ALL_RIGHT ? 0 : o == NO_DEVICE ? 77 : 1;
}
