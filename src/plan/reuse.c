/* Temporaries by lifetime: each takes the smallest slot that is large enough and free when it is first written, the largest free one grown
 * if none is, or a new one. Kernels run in order, so a slot is free after the last kernel that uses its tenant. */
#include "plan/reuse.h"

#include "base/fail.h"
#include "base/mem.h"

#include <stdlib.h>

typedef struct tenant {
    uint32_t buffer, first;
} tenant;

static int by_first(const void *a, const void *b) {
    const tenant *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : x->buffer < y->buffer ? -1 : 1;
}

static bool better(int64_t now, int64_t best, int64_t need) {
    return now >= need ? best < need || now < best : best < need && now > best;
}

krf_status krf__plan_reuse(krf__plan_data *plan) {
    tenant *tenants = krf__malloc((plan->n_buffers + (size_t)1) * sizeof *tenants);
    uint32_t *busy_until = krf__malloc((plan->n_buffers + (size_t)1) * sizeof *busy_until);
    plan->slots = krf__malloc((plan->n_buffers + (size_t)1) * sizeof *plan->slots);
    krf_status status = tenants != NULL && busy_until != NULL && plan->slots != NULL ? KRF_OK : krf__fail_memory();
    uint32_t n = 0;
    for (uint32_t i = 0; status == KRF_OK && i < plan->n_buffers; i++) {
        if (plan->buffers[i].kind == KRF__BUFFER_TEMPORARY && plan->buffers[i].first != UINT32_MAX) {
            tenants[n++] = (tenant){i, plan->buffers[i].first};
        }
    }
    if (n > 0) {
        qsort(tenants, n, sizeof *tenants, by_first);
    }
    for (uint32_t i = 0; i < n; i++) {
        krf__buffer *b = &plan->buffers[tenants[i].buffer];
        int64_t need = b->size * (int64_t)krf_dtype_size((krf_dtype)b->dtype);
        uint32_t slot = plan->n_slots;
        for (uint32_t s = 0; s < plan->n_slots; s++) {
            if (busy_until[s] < b->first && (slot == plan->n_slots || better(plan->slots[s], plan->slots[slot], need))) {
                slot = s;
            }
        }
        if (slot == plan->n_slots) {
            plan->slots[plan->n_slots++] = need;
        }
        plan->slots[slot] = plan->slots[slot] > need ? plan->slots[slot] : need;
        busy_until[slot] = b->last;
        b->index = slot;
    }
    krf__mem_free(tenants);
    krf__mem_free(busy_until);
    return status;
}
