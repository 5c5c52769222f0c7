/* Runs the steps of a program for a block of elements: finds each operand's elements, in place where they lie side by
 * side, else gathered into a register; calls the loops; stores. */
#include "backend/cpu/program.h"
#include <string.h>

static char *address(const krf__program *p, const krf__access *a) {
    int64_t offset = 0;
    for (int g = 0; g < 2; g++) {
        for (int d = 0; d < p->rank[g]; d++) {
            offset += p->index[g][d] * a->strides[g][d];
        }
    }
    return (char *)((uintptr_t)a->base + (uintptr_t)(offset * a->bytes)); /* which is a number where places are counted */
}

/* Whether n elements from the current index on lie side by side in C order. */
static bool in_place(const krf__program *p, const krf__access *a, int group, int64_t n) {
    const int last = p->rank[group] - 1;
    return n == 1 || a->contiguous[group]
           || (a->strides[group][last] == 1 && p->index[group][last] + n <= p->extents[group][last]);
}

/* Asks for what the next block will read. Addresses past the end do no harm. */
static void prefetch(const char *next, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch((const void *)((uintptr_t)next + (uintptr_t)i));
    }
}

static void load(krf__program *p, const krf__step *step, int group, int64_t n) {
    const krf__access *a = &p->accesses[step->access];
    krf__value *v = &p->values[step->out];
    char *from = address(p, a);
    if (a->counts) {
        const krf__strided dims = {p->rank[group], p->extents[group], a->strides[group]};
        krf__count(&dims, p->index[group], (int64_t)(intptr_t)from, n, v->home);
        v->at = v->home;
        return;
    }
    if (in_place(p, a, group, n)) {
        if (p->prefetch) {
            prefetch(from + n * a->bytes, n * a->bytes);
        }
        if (!step->copy) {
            v->at = from;
            return;
        }
        memcpy(v->home, from, (size_t)(n * a->bytes));
    } else if (a->constant[group]) {
        krf__splat(v->home, a->bytes, krf__element_bits(from, a->bytes, 0), n);
    } else {
        const krf__strided dims = {p->rank[group], p->extents[group], a->strides[group]};
        krf__gather(&dims, p->index[group], a->bytes, from, n, v->home);
    }
    v->at = v->home;
}

static void fetch(krf__program *p, const krf__step *step, int group, int64_t n) {
    const krf__access *a = &p->accesses[step->access];
    const krf__strided dims = {p->rank[group], p->extents[group], a->strides[group]};
    krf__fetch(&dims, p->index[group], a->bytes, address(p, a), p->values[step->args[0]].at, n, p->values[step->out].at);
}

static void store(krf__program *p, const krf__step *step, int group, int64_t n) {
    const krf__access *a = &p->accesses[step->access];
    const void *from = p->values[step->args[0]].at;
    char *to = address(p, a);
    if (!in_place(p, a, group, n)) {
        const krf__strided dims = {p->rank[group], p->extents[group], a->strides[group]};
        krf__scatter(&dims, p->index[group], a->bytes, to, n, from);
    } else if (to != from) { /* a direct value is there already */
        memcpy(to, from, (size_t)(n * a->bytes));
    }
}

void krf__program_run(krf__program *p, const krf__part *part, int group, int64_t n) {
    krf__value *values = p->values;
    for (uint32_t i = 0; i < part->n_directs; i++) {
        const krf__access *a = &p->accesses[part->directs[i].access];
        krf__value *v = &values[part->directs[i].value];
        v->at = in_place(p, a, group, n) ? address(p, a) : v->home;
    }
    for (const krf__step *step = part->steps, *end = step + part->n_steps; step < end; step++) {
        if (step->loop != NULL) {
            step->loop(n, values[step->args[0]].at, values[step->args[1]].at, values[step->args[2]].at,
                       values[step->out].at);
        } else if (step->store) {
            store(p, step, group, n);
        } else if (step->fetch) {
            fetch(p, step, group, n);
        } else {
            load(p, step, group, n);
        }
    }
}

void krf__program_refresh(krf__program *p, int level, int64_t n) {
    for (uint32_t j = 0; j < p->n_low[level]; j++) {
        const uint32_t i = p->low[level][j];
        const krf__instr *in = &p->k->instrs[i];
        krf__value *v = &p->values[i];
        const int bytes = krf__dtype(in->dtype)->bytes;
        switch (in->op) {
        case KRF__constant: krf__splat(&v->slot, bytes, in->value, 1); break;
        case KRF__scalar: krf__splat(&v->slot, bytes, p->scalars[in->slot], 1); break;
        case KRF__load: {
            const krf__access *a = &p->accesses[in->slot];
            if (a->counts) {
                v->slot = (uint64_t)(intptr_t)address(p, a);
            } else {
                memcpy(&v->slot, address(p, a), (size_t)bytes);
            }
            break;
        }
        case KRF__fetch: {
            int64_t places;
            memcpy(&places, &p->values[in->args[0]].slot, sizeof places);
            memcpy(&v->slot, address(p, &p->accesses[in->slot]) + places * bytes, (size_t)bytes);
            break;
        }
        default: {
            krf__loop *loop =
                in->op == KRF__cast ? p->loops->cast[in->from][in->dtype] : p->loops->elementwise[in->from][in->op];
            const void *args[3] = {NULL};
            for (int a = 0; a < krf__op_info_of((krf__op)in->op)->arity; a++) {
                args[a] = &p->values[in->args[a]].slot;
            }
            loop(1, args[0], args[1], args[2], &v->slot);
        }
        }
        if (v->home != NULL) {
            krf__splat(v->home, bytes, krf__element_bits(&v->slot, bytes, 0), n);
        }
    }
}
