/* What passes share of a fusion: its groups by their nodes, and its end. */
#include "pass/pass.h"

#include "base/fail.h"
#include "base/mem.h"

#include <string.h>

void krf__fusion_number(const krf_graph *g, krf__fusion *f) {
    memset(f->group_of, 0, g->n_nodes * sizeof *f->group_of);
    for (size_t i = 0; i < f->n_groups; i++) {
        for (uint32_t k = 0; k < f->groups[i].n_roots; k++) {
            f->group_of[f->groups[i].roots[k]] = (uint32_t)i + 1;
        }
        for (uint32_t k = 0; k < f->groups[i].n_elements; k++) {
            f->group_of[f->groups[i].elements[k]] = (uint32_t)i + 1;
        }
    }
}

krf_status krf__fusion_append(uint32_t **list, uint32_t *n, uint32_t id) {
    if ((*n & (*n - 1)) == 0) { /* grows at powers of two */
        uint32_t *more = krf__realloc(*list, (*n == 0 ? 1 : 2 * (size_t)*n) * sizeof **list);
        if (more == NULL) {
            return krf__fail_memory();
        }
        *list = more;
    }
    (*list)[(*n)++] = id;
    return KRF_OK;
}

void krf__fusion_free(krf__fusion *f) {
    for (size_t i = 0; i < f->n_groups; i++) {
        krf__mem_free(f->groups[i].reductions);
        krf__mem_free(f->groups[i].roots);
        krf__mem_free(f->groups[i].elements);
    }
    krf__mem_free(f->groups);
    krf__mem_free(f->stored);
    krf__mem_free(f->inner);
    krf__mem_free(f->group_of);
    memset(f, 0, sizeof *f);
}
