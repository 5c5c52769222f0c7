/* Reductions wait for a later kernel over the same elements and axes that reads what they read: the sum of a gradient for the one that multiplies it by normalised rows, which are known only when these have been reduced. */
#include "base/fail.h"
#include "base/mem.h"
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TRIED 4  /* later kernels, for each reduction */

typedef struct delaying {
    const krf_graph *g;
    const krf__limits *limits;
    const uint32_t *step;
    krf__fusion *f;
    uint32_t *mark, stamp, *stack;
    uint32_t *needed; /* of each group: the first step at which something reads its results */
} delaying;

/* A group among those over the elements of one domain and the same axes. */
typedef struct alike {
    const krf_graph *g;
    uint32_t domain, step;
    int64_t mask;
    uint32_t index;
} alike;

static int compare(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

static int by_axes(const alike *x, const alike *y) {
    const int rank = krf__node_of(x->g, x->domain)->rank;
    int order = compare(x->mask, y->mask);
    order = order == 0 ? compare(rank, krf__node_of(y->g, y->domain)->rank) : order;
    for (int d = 0; d < rank && order == 0; d++) {
        order = compare(krf__shape_of(x->g, x->domain)[d], krf__shape_of(y->g, y->domain)[d]);
    }
    return order;
}

static int by_axes_and_step(const void *a, const void *b) {
    const alike *x = a, *y = b;
    const int order = by_axes(x, y), steps = compare(x->step, y->step);
    return order != 0 ? order : steps != 0 ? steps : compare(x->index, y->index);
}

/* Marks a node, to be gone on from unless it lies in memory then; whether it does, and had the other mark. */
static bool visit(delaying *d, uint32_t id, uint32_t marks, uint32_t looks_for, size_t *depth) {
    const krf__op op = (krf__op)krf__node_of(d->g, id)->op;
    const bool lies = krf__op_is_leaf(op) || d->f->stored[id] || d->f->group_of[id] != 0, found = lies && d->mark[id] == looks_for;
    if (d->mark[id] != marks && !lies) {
        d->stack[(*depth)++] = id;
    }
    d->mark[id] = marks;
    return found;
}

/* Marks what a group's reductions are made of; whether something with all elements of its domain had the other mark. */
static bool walk(delaying *d, const krf__group *group, uint32_t marks, uint32_t looks_for) {
    const int64_t elements = krf__shape_size(krf__node_of(d->g, group->domain)->rank, krf__shape_of(d->g, group->domain));
    size_t depth = 0;
    bool found = false;
    for (uint32_t r = 0; r < group->n_reductions; r++) {
        const uint32_t id = krf__node_of(d->g, group->reductions[r])->args[0];
        found |= visit(d, id, marks, looks_for, &depth);
    }
    while (depth > 0) {
        const krf__node *n = krf__node_of(d->g, d->stack[--depth]);
        for (int k = 0; k < 3; k++) {
            const uint32_t id = n->args[k];
            found |= id != 0 && visit(d, id, marks, looks_for, &depth) && krf__shape_size(krf__node_of(d->g, id)->rank, krf__shape_of(d->g, id)) == elements;
        }
    }
    return found;
}

static bool fits(const delaying *d, const krf__group *a, const krf__group *b) {
    return a->n_reductions + b->n_reductions <= d->limits->reductions && a->n_roots + b->n_roots <= d->limits->results && a->n_reductions + b->n_reductions <= d->limits->results && a->words + b->words <= KRF__MOST_WORDS &&
           a->operations + b->operations <= d->limits->operations && a->fields + b->fields <= d->limits->fields;
}

static krf_status join_list(uint32_t **to, uint32_t *n, const uint32_t *from, uint32_t more) {
    krf_status status = KRF_OK;
    for (uint32_t i = 0; i < more && status == KRF_OK; i++) {
        status = krf__fusion_append(to, n, from[i]);
    }
    return status;
}

/* The group that waits is empty then. */
static krf_status join(krf__group *to, krf__group *from) {
    krf_status status = join_list(&to->reductions, &to->n_reductions, from->reductions, from->n_reductions);
    status = status == KRF_OK ? join_list(&to->roots, &to->n_roots, from->roots, from->n_roots) : status;
    if (status == KRF_OK) {
        to->operations += from->operations;
        to->fields += from->fields;
        to->epilogue_operations += from->epilogue_operations;
        to->epilogue_fields += from->epilogue_fields;
        to->words += from->words;
        krf__mem_free(from->reductions);
        krf__mem_free(from->roots);
        *from = (krf__group){0};
    }
    return status;
}

static void note_needs(delaying *d) {
    for (size_t i = 0; i < d->f->n_groups; i++) {
        d->needed[i] = UINT32_MAX;
    }
    for (uint32_t id = 1; id < d->g->n_nodes; id++) {
        for (int k = 0; k < 3; k++) {
            const uint32_t arg = krf__node_of(d->g, id)->args[k], group = arg != 0 ? d->f->group_of[arg] : 0;
            if (group != 0 && d->f->group_of[id] != group && d->step[id] < d->needed[group - 1]) {
                d->needed[group - 1] = d->step[id];
            }
        }
    }
}

static krf_status join_later(delaying *d, const alike *groups, size_t n) {
    krf_status status = KRF_OK;
    for (size_t i = 0; i < n; i++) {
        const uint32_t early = groups[i].index;
        bool moved = false;
        for (size_t j = i + 1; j < n && j <= i + MOST_TRIED && by_axes(&groups[i], &groups[j]) == 0 && !moved && status == KRF_OK; j++) {
            const uint32_t late = groups[j].index;
            if (groups[j].step == groups[i].step || groups[j].step >= d->needed[early] || !fits(d, &d->f->groups[early], &d->f->groups[late])) {
                continue;
            }
            walk(d, &d->f->groups[late], d->stamp + 1, UINT32_MAX);
            moved = walk(d, &d->f->groups[early], d->stamp + 2, d->stamp + 1);
            d->stamp += 2;
            if (moved) {
                d->needed[late] = d->needed[early] < d->needed[late] ? d->needed[early] : d->needed[late];
                status = join(&d->f->groups[late], &d->f->groups[early]);
            }
        }
    }
    return status;
}

/* Without the groups that are empty. */
static void close_up(krf__fusion *f) {
    size_t left = 0;
    for (size_t i = 0; i < f->n_groups; i++) {
        if (f->groups[i].rounds > 0) {
            f->groups[left++] = f->groups[i];
        }
    }
    f->n_groups = left;
}

krf_status krf__fuse_delay(const krf_graph *g, const krf__limits *limits, const uint32_t *step, krf__fusion *f) {
    delaying d = {.g = g, .limits = limits, .step = step, .f = f};
    alike *groups = krf__calloc(f->n_groups, sizeof *groups);
    krf_status status = KRF_OK;
    size_t n = 0;
    d.mark = krf__calloc(g->n_nodes, sizeof *d.mark);
    d.stack = krf__calloc(g->n_nodes, sizeof *d.stack);
    d.needed = krf__calloc(f->n_groups, sizeof *d.needed);
    if (groups == NULL || d.mark == NULL || d.stack == NULL || d.needed == NULL) {
        status = krf__fail_memory();
    }
    for (size_t i = 0; i < f->n_groups && status == KRF_OK; i++) {
        const krf__group *group = &f->groups[i];
        if (group->n_reductions > 0 && !group->scan) {
            groups[n++] = (alike){g, group->domain, group->step, group->mask, (uint32_t)i};
        }
    }
    if (status == KRF_OK && n > 1) {
        note_needs(&d);
        qsort(groups, n, sizeof *groups, by_axes_and_step);
        status = join_later(&d, groups, n);
        close_up(f);
    }
    krf__mem_free(groups);
    krf__mem_free(d.mark);
    krf__mem_free(d.stack);
    krf__mem_free(d.needed);
    return status;
}
