/* Walks a plan. All that a run needs besides device memory is one block of host memory; a warm run of a small plan does
 * not even ask for that. Work is ordered by the stream: temporaries, scratch and tickets go back to the pool as soon as
 * the last kernel is launched. While the stream is being captured into a graph of the caller's, nothing but launches
 * may happen, and what they use stays with the plan. */
#include "sched/exec.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/ranges.h"
#include "plan/arguments.h"
#include "sched/apart.h"
#include "sched/array.h"
#include "sched/find.h"
#include "sched/replay.h"

#include <string.h>

/* Host memory of one run. */
typedef struct room {
    krf__lane lane;
    krf__module **modules; /* of each kernel */
    void **slots;
    bool *made;      /* outputs made by this run */
    void **pointers; /* of one kernel's operands */
    uint64_t *fields, *scalars;
    void *scratch, *tickets, *block;
    bool held_scratch, held_tickets; /* by the plan, for a graph that was captured */
    uint32_t held_slots;             /* the first ones */
    uint64_t small[256];
} room;

static bool make_room(const krf__compiled *c, room *m) {
    const krf__plan_data *p = &c->data;
    size_t outputs = (p->n_outputs + 7) / 8; /* bools, in words */
    size_t words = (size_t)p->n_kernels + p->n_slots + outputs + c->operands + c->fields + c->scalars;
    m->block = words <= sizeof m->small / sizeof *m->small ? NULL : krf__malloc(words * sizeof(uint64_t));
    if (m->block == NULL && words > sizeof m->small / sizeof *m->small) {
        return false;
    }
    char *at = m->block != NULL ? m->block : (char *)m->small;
    memset(at, 0, words * sizeof(uint64_t));
    m->modules = (krf__module **)(void *)at;
    m->slots = (void **)(void *)(at += p->n_kernels * sizeof(uint64_t));
    m->pointers = (void **)(void *)(at += p->n_slots * sizeof(uint64_t));
    m->fields = (uint64_t *)(void *)(at += c->operands * sizeof(uint64_t));
    m->scalars = (uint64_t *)(void *)(at += c->fields * sizeof(uint64_t));
    m->made = (bool *)(at + c->scalars * sizeof(uint64_t));
    m->scratch = m->tickets = NULL;
    m->held_scratch = m->held_tickets = false;
    m->held_slots = 0;
    return true;
}

krf_status krf__plan_prepare(krf_context *context, krf__compiled *compiled) { return krf__kernels_find(context, compiled, NULL); }

static krf_status make_outputs(const krf__run *r, room *m) {
    const krf__plan_data *p = &r->compiled->data;
    krf_status status = KRF_OK;
    for (uint32_t k = 0; status == KRF_OK && k < p->n_outputs; k++) {
        const krf__spec *spec = &p->outputs[k];
        if (r->outputs[k] == NULL) {
            if (m->lane.capturing) {
                return krf__fail(KRF_E_UNSUPPORTED,
                                 "the stream is being captured: output %u must be given, and may not overlap what the "
                                 "plan reads",
                                 k);
            }
            status = krf__array_make(r->context, (krf_dtype)spec->dtype, spec->layout.rank, spec->layout.shape,
                                     m->lane.index, &r->outputs[k]);
            m->made[k] = status == KRF_OK;
        }
    }
    return status;
}

static krf_status make_temporaries(const krf__run *r, room *m) {
    const krf__compiled *c = r->compiled;
    krf_status status = KRF_OK;
    for (uint32_t s = 0; status == KRF_OK && s < c->data.n_slots; s++) {
        status = krf__pool_borrow(r->context->pool, (size_t)c->data.slots[s], &m->lane, &m->slots[s]);
    }
    if (status == KRF_OK && c->scratch_bytes > 0) {
        status = krf__pool_borrow(r->context->pool, c->scratch_bytes, &m->lane, &m->scratch);
    }
    if (status == KRF_OK && c->tickets > 0 && r->context->is_cuda) {
        status = krf__pool_take_tickets(r->context->pool, c->tickets, &m->lane, &m->tickets);
    }
    return status;
}

/* ---- order ---- */

static krf_status order_before(const krf__run *r, room *m) {
    const krf__plan_data *p = &r->compiled->data;
    krf_status status = KRF_OK;
    for (uint32_t i = 0; status == KRF_OK && m->lane.order != NULL && i < p->n_buffers; i++) {
        krf_array *a = krf__run_array(r, &p->buffers[i]);
        if (a != NULL) {
            status = p->buffers[i].kind == KRF__BUFFER_OUTPUT ? krf__lane_writes(&m->lane, &a->storage->uses)
                                                              : krf__lane_reads(&m->lane, &a->storage->uses);
        }
    }
    return status;
}

/* Reads first: what is read and written is written last. */
static void mark(const krf__run *r, const room *m) {
    const krf__plan_data *p = &r->compiled->data;
    for (uint32_t i = 0; m->lane.order != NULL && i < p->n_buffers; i++) {
        krf_array *a = krf__run_array(r, &p->buffers[i]);
        if (a != NULL && p->buffers[i].kind != KRF__BUFFER_OUTPUT) {
            krf__lane_has_read(&m->lane, &a->storage->uses);
        }
    }
    for (uint32_t k = 0; m->lane.order != NULL && k < p->n_outputs; k++) {
        if (r->outputs[k] != NULL) {
            krf__lane_has_written(&m->lane, &r->outputs[k]->storage->uses);
        }
    }
}

/* ---- memory that a captured run leaves behind ---- */

static krf_status hold(const krf__run *r, void *data, size_t bytes, bool tickets) {
    krf__held *h = data != NULL ? krf__malloc(sizeof *h) : NULL;
    if (h == NULL) {
        return data != NULL ? krf__fail_memory() : KRF_OK;
    }
    *h = (krf__held){.data = data, .bytes = bytes, .tickets = tickets, .next = atomic_load(r->held)};
    while (!atomic_compare_exchange_weak(r->held, &h->next, h)) {
    }
    return KRF_OK;
}

/* Before the launches, so that none uses memory that goes back. What is held is taken out of the room. */
static krf_status hold_all(const krf__run *r, room *m) {
    const krf__compiled *c = r->compiled;
    krf_status status = hold(r, m->scratch, c->scratch_bytes, false);
    m->held_scratch = status == KRF_OK;
    status = status == KRF_OK ? hold(r, m->tickets, c->tickets, true) : status;
    m->held_tickets = status == KRF_OK;
    for (uint32_t s = 0; status == KRF_OK && s < c->data.n_slots; s++) {
        status = hold(r, m->slots[s], (size_t)c->data.slots[s], false);
        m->held_slots += status == KRF_OK;
    }
    return status;
}

static void *address(const krf__run *r, const room *m, const krf__operand *o) {
    if (o->counts) {
        return (void *)(intptr_t)o->offset; /* the field of the argument block holds it */
    }
    if (o->inner != 0) {
        return NULL; /* the kernel's own affair */
    }
    const krf__buffer *b = &r->compiled->data.buffers[o->buffer];
    char *base = b->kind == KRF__BUFFER_TEMPORARY ? m->slots[b->index] : krf__run_array(r, b)->data;
    return base == NULL ? NULL : base + o->offset * (int64_t)krf__dtype((krf_dtype)o->dtype)->bytes; /* what has no elements may have no memory */
}

/* What a launch of the kernel takes; in the room until the next one. pack: its block of arguments too, which a replay has already. */
static krf__launch prepare(const krf__run *r, room *m, uint32_t index, bool pack) {
    const krf__plan_data *p = &r->compiled->data;
    const krf__kernel *k = &p->kernels[index];
    for (uint32_t i = 0; i < k->n_operands; i++) {
        m->pointers[i] = address(r, m, &k->operands[i]);
    }
    for (uint32_t i = 0; i < k->n_scalars; i++) {
        const krf__plan_scalar *s = &p->scalars[k->scalars[i].source];
        m->scalars[i] = s->bound ? r->bound_values[s->index] : r->values != NULL ? r->values[s->index] : s->value;
    }
    if (pack) {
        krf__argument_pack(k, m->pointers, m->scalars, m->scratch, m->tickets, m->fields);
    }
    return (krf__launch){.kernel = k,
                         .module = m->modules[index],
                         .fields = m->fields,
                         .pointers = m->pointers,
                         .scalars = m->scalars,
                         .scratch = m->scratch,
                         .tickets = m->tickets,
                         .early = k->early && !m->lane.capturing};
}

static krf_status launch_all(const krf__run *r, room *m) {
    const uint32_t n = r->compiled->data.n_kernels;
    krf_status status = KRF_OK;
    krf__taken_replay replay;
    krf__replay_take(r->context, r->compiled, &m->lane, &replay);
    for (uint32_t i = 0; i < n && replay.place != NULL; i++) {
        krf__launch l = prepare(r, m, i, replay.adding);
        krf__replay_kernel(r->context, r->compiled, i, &l, &replay);
    }
    if (replay.place != NULL) {
        krf__range_begin(NULL, "replay");
        const bool started = krf__replay_start(r->context, &m->lane, &replay);
        krf__range_end();
        if (started) {
            krf__count(&r->context->counters.replays, 1);
            return KRF_OK;
        }
    }
    krf__last *last = krf__lane_last(&m->lane);
    for (uint32_t i = 0; status == KRF_OK && i < n; i++) {
        krf__launch l = prepare(r, m, i, true);
        if (krf__run_overlaps(r, last, &m->lane.turn, &l, m->fields)) {
            krf__count(&r->context->counters.overlapped, 1);
        }
        krf__range_begin("launch", l.kernel->name);
        status = r->context->backend->launch(r->context->device, &l, m->lane.stream);
        krf__range_end();
        if (status == KRF_OK) {
            krf__run_has_written(r, last, &m->lane.turn, &l);
        }
    }
    krf__count(&r->context->counters.launches, n);
    return status;
}

/* A stream that is being captured gets the kernels that are there, and none is loaded. */
static krf_status find_kernels(const krf__run *r, room *m) {
    krf__compiled *c = r->compiled;
    for (uint32_t i = 0; m->lane.capturing && i < c->data.n_kernels; i++) {
        krf__loaded *loaded = atomic_load_explicit(&c->loaded[i], memory_order_acquire);
        if (r->held == NULL || loaded == NULL || krf__kernel_module(loaded) == NULL) {
            return krf__fail(KRF_E_UNSUPPORTED, "the stream is being captured: run the plan once before, so that its "
                                                "kernels are loaded");
        }
    }
    return krf__kernels_find(r->context, c, m->modules);
}

static void give_back(const krf__run *r, room *m) {
    const krf__compiled *c = r->compiled;
    krf__pool *pool = r->context->pool;
    uint64_t lanes = krf__lane_bit(&m->lane);
    if (!m->held_tickets) {
        krf__pool_give_tickets(pool, m->tickets, c->tickets, lanes);
    }
    if (!m->held_scratch) {
        krf__pool_deallocate(pool, m->scratch, c->scratch_bytes, lanes);
    }
    for (uint32_t s = c->data.n_slots; s-- > m->held_slots;) { /* last one first: the next run finds each in its place */
        krf__pool_deallocate(pool, m->slots[s], (size_t)c->data.slots[s], lanes);
    }
}

static krf_status execute(const krf__run *r) {
    krf__compiled *c = r->compiled;
    room m;
    if (!make_room(c, &m)) {
        return krf__fail_memory();
    }
    krf_status status = krf__lane_enter(r->context->order, r->stream, &m.lane);
    if (status != KRF_OK) {
        krf__mem_free(m.block);
        return status;
    }
    status = find_kernels(r, &m);
    status = status == KRF_OK ? make_outputs(r, &m) : status;
    status = status == KRF_OK ? make_temporaries(r, &m) : status;
    status = status == KRF_OK ? order_before(r, &m) : status;
    bool ordered = status == KRF_OK;
    status = status == KRF_OK && m.lane.capturing ? hold_all(r, &m) : status;
    status = status == KRF_OK ? launch_all(r, &m) : status;
    status = krf__lane_finish(&m.lane, status);
    if (ordered) {
        mark(r, &m);
    }
    give_back(r, &m);
    for (uint32_t k = 0; status != KRF_OK && k < c->data.n_outputs; k++) {
        if (m.made[k]) {
            krf_array_release(r->outputs[k]);
            r->outputs[k] = NULL;
        }
    }
    krf__mem_free(m.block);
    return status;
}

krf_status krf__plan_execute(const krf__run *r) {
    krf__range_begin(NULL, r->name);
    krf_status status = execute(r);
    krf__range_end();
    return status;
}
