#include "sched/apart.h"

#include "plan/arguments.h"

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

/* Reductions whose blocks all begin at once are slow where these are not as many on each multiprocessor: as they come to be where blocks of another leave one after the other, and there is room for more than the grid gives. */
static bool needs_all_at_once(const krf__kernel *k) { return k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_COL; }

bool krf__run_overlaps(const krf__run *r, krf__last *last, const krf__turn *turn, krf__launch *launch, uint64_t *fields) {
    const krf__replays *replays = r->context->backend->replays;
    krf__memory read[MOST_READ];
    bool after_one_that_fills;
    if (last == NULL || r->compiled->data.n_kernels != 1 || !launch->early || replays == NULL || !replays->overlaps(r->context->device)) {
        return false;
    }
    const int n = memory_of(r, false, MOST_READ, read);
    const bool apart = krf__last_apart(last, turn, n <= MOST_READ ? n : 0, read, &after_one_that_fills) && n <= MOST_READ && launch->kernel->ahead;
    const bool all_at_once = needs_all_at_once(launch->kernel), fills = all_at_once && (apart || after_one_that_fills) && replays->fills(r->context->device, launch);
    launch->early = !(after_one_that_fills && all_at_once && !fills);
    launch->fills = apart && fills;
    if (apart) {
        krf__argument_set_apart(launch->kernel, fills, fields);
    }
    return apart && launch->early;
}

void krf__run_has_written(const krf__run *r, krf__last *last, const krf__turn *turn, const krf__launch *launch) {
    krf__memory written[KRF__MOST_WRITTEN];
    if (last != NULL && r->compiled->data.n_kernels == 1 && launch->kernel->early) {
        krf__last_wrote(last, turn, launch->fills, memory_of(r, true, KRF__MOST_WRITTEN, written), written);
    }
}
