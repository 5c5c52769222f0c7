#include "sched/apart.h"

enum { MOST_READ = 16 };

/* The memory of a run's outputs, or of what it reads; how many arrays there are, of which `most` are told. */
static int memory_of(const krf__run *r, bool outputs, int most, krf__memory *memory) {
    const krf__plan_data *p = &r->compiled->data;
    int n = 0;
    for (uint32_t i = 0; i < p->n_buffers; i++) {
        const krf_array *a = (p->buffers[i].kind == KRF__BUFFER_OUTPUT) == outputs ? krf__run_array(r, &p->buffers[i]) : NULL;
        if (a != NULL && n++ < most) {
            krf__array_range(a, &memory[n - 1].low, &memory[n - 1].high);
        }
    }
    return n;
}

bool krf__run_is_apart(const krf__run *r, krf__last *last, const krf__turn *turn) {
    const krf__plan_data *p = &r->compiled->data;
    krf__memory read[MOST_READ];
    if (last == NULL || p->n_kernels != 1 || !p->kernels[0].ahead) {
        return false;
    }
    const int n = memory_of(r, false, MOST_READ, read);
    return n <= MOST_READ && krf__last_apart(last, turn, n, read);
}

void krf__run_has_written(const krf__run *r, krf__last *last, const krf__turn *turn) {
    const krf__plan_data *p = &r->compiled->data;
    krf__memory written[KRF__MOST_WRITTEN];
    if (last != NULL && p->n_kernels == 1 && p->kernels[0].early) {
        krf__last_wrote(last, turn, memory_of(r, true, KRF__MOST_WRITTEN, written), written);
    }
}
