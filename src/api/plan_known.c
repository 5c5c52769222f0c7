/* Arrays that a plan was run with lately. An array's shape, strides and memory never change, so what was checked of a run holds for every later one with the
 * same arrays: a loop over a few buffers checks each turn of them once. Threads read and write the places without a lock: an odd turn, or another one
 * than before, says that a place was being written. */
#include "api/plan.h"

static uint64_t id_of(const krf__run_arrays *a, uint32_t i) {
    const krf_array *array = i < a->n_bound ? a->bound[i] : a->outputs[i - a->n_bound];
    return array != NULL ? array->id : 0;
}

static bool in_place(const krf__known *place, const krf__run_arrays *a, uint32_t n) {
    const uint32_t turn = atomic_load_explicit(&place->turn, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        if (atomic_load_explicit(&place->ids[i], memory_order_acquire) != id_of(a, i)) {
            return false;
        }
    }
    return turn != 0 && turn % 2 == 0 && atomic_load_explicit(&place->turn, memory_order_relaxed) == turn;
}

bool krf__plan_knows(const krf_plan *p, const krf__run_arrays *a) {
    const uint32_t n = a->n_bound + a->n_outputs;
    for (int k = 0; n <= KRF__KNOWN_ARRAYS && k < KRF__KNOWN_RUNS; k++) {
        if (in_place(&p->known[k], a, n)) {
            return true;
        }
    }
    return false;
}

void krf__plan_remember(krf_plan *p, const krf__run_arrays *a) {
    const uint32_t n = a->n_bound + a->n_outputs;
    for (uint32_t i = 0; i < a->n_outputs; i++) {
        if (a->outputs[i] == NULL) {
            return; /* one that is made is another one each time */
        }
    }
    if (n > KRF__KNOWN_ARRAYS) {
        return;
    }
    krf__known *place = &p->known[atomic_fetch_add_explicit(&p->next_known, 1, memory_order_relaxed) % KRF__KNOWN_RUNS];
    uint32_t turn = atomic_load_explicit(&place->turn, memory_order_relaxed);
    if (turn % 2 != 0 || !atomic_compare_exchange_strong(&place->turn, &turn, turn + 1)) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        atomic_store_explicit(&place->ids[i], id_of(a, i), memory_order_release);
    }
    atomic_store_explicit(&place->turn, turn + 2, memory_order_release);
}
