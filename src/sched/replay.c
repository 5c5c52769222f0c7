#include "sched/replay.h"

#include "base/fail.h"
#include "base/mem.h"

/* What moves as many bytes as `LONG` takes a GPU longer than the host takes for a launch. */
enum { RUNS_BEFORE = 3, LONG = 4 << 20 };

/* ---- which kernels wait for which ---- */

/* Memory of a run: temporaries that share a slot are one; results of several kernels lie apart from what is read (krf__plan_conflicts). */
static uint64_t memory_of(const krf__plan_data *p, const krf__operand *o) {
    const krf__buffer *b = &p->buffers[o->buffer];
    return b->kind == KRF__BUFFER_TEMPORARY ? UINT64_C(1) << 32 | b->index : o->buffer;
}

static bool has_memory(const krf__operand *o) { return !o->counts && o->inner == 0; }

static bool meet(const krf__plan_data *p, const krf__kernel *a, const krf__kernel *b) {
    if ((krf__scratch_bytes(a) > 0 || krf__ticket_count(a) > 0) && (krf__scratch_bytes(b) > 0 || krf__ticket_count(b) > 0)) {
        return true; /* all kernels of a run share both */
    }
    for (uint32_t i = 0; i < a->n_operands; i++) {
        for (uint32_t j = 0; j < b->n_operands && has_memory(&a->operands[i]); j++) {
            const krf__operand *x = &a->operands[i], *y = &b->operands[j];
            if (has_memory(y) && (x->store || y->store) && memory_of(p, x) == memory_of(p, y)) {
                return true;
            }
        }
    }
    return false;
}

enum { MOST_KERNELS = 512, WORDS = MOST_KERNELS / 64 };

/* The kernels that one waits for, as bits; with all those that they wait for. */
typedef struct krf__behind {
    uint64_t bits[WORDS];
} krf__behind;

/* The latest ones that a kernel must wait for: those that they wait for are no news, and a graph with fewer edges runs faster. */
static uint32_t find_earlier(const krf__plan_data *p, uint32_t index, krf__behind *behind, uint32_t *after) {
    krf__behind *own = &behind[index];
    uint32_t n = 0;
    for (uint32_t i = index; i-- > 0;) {
        if ((own->bits[i / 64] >> i % 64 & 1) == 0 && meet(p, &p->kernels[i], &p->kernels[index])) {
            after[n++] = i;
            for (uint32_t w = 0; w < WORDS; w++) {
                own->bits[w] |= behind[i].bits[w];
            }
            own->bits[i / 64] |= UINT64_C(1) << i % 64;
        }
    }
    return n;
}

/* Whether none of these writes what a kernel reads: what they share is scratch memory, or what it writes. */
static bool apart(const krf__plan_data *p, const krf__kernel *k, uint32_t n_after, const uint32_t *after) {
    bool found = false;
    for (uint32_t a = 0; a < n_after; a++) {
        const krf__kernel *from = &p->kernels[after[a]];
        for (uint32_t i = 0; i < from->n_operands; i++) {
            for (uint32_t j = 0; j < k->n_operands && from->operands[i].store; j++) {
                const krf__operand *o = &k->operands[j];
                found |= has_memory(o) && !o->store && memory_of(p, o) == memory_of(p, &from->operands[i]);
            }
        }
    }
    return !found;
}

/* ---- replays of runs ---- */

void krf__replay_take(krf_context *context, krf__compiled *c, const krf__lane *lane, krf__taken_replay *t) {
    *t = (krf__taken_replay){.replay = NULL};
    if (context->backend->replays == NULL || lane->capturing || lane->index < 0 || c->data.n_kernels == 0 || c->data.n_kernels > MOST_KERNELS) {
        return;
    }
    if (c->overlapped >= LONG && context->backend->replays->overlaps(context->device)) {
        return;
    }
    krf__replay_place *place = &c->replays[lane->index % KRF__REPLAYS];
    const int owner = atomic_load_explicit(&place->lane, memory_order_relaxed);
    if (owner != lane->index + 1) { /* 0 is nobody */
        int nobody = 0;
        if (owner != 0 || !atomic_compare_exchange_strong(&place->lane, &nobody, lane->index + 1)) {
            return;
        }
    }
    t->replay = atomic_exchange_explicit(&place->replay, NULL, memory_order_acquire);
    t->adding = t->replay == NULL && atomic_fetch_add_explicit(&place->runs, 1, memory_order_relaxed) == RUNS_BEFORE;
    t->place = t->replay != NULL || t->adding ? place : NULL;
}

/* A replay that cannot be made is not tried again: runs launch kernels one by one, which says what is wrong if anything is. */
static void give_up(krf_context *context, krf__taken_replay *t) {
    krf__mem_free(t->behind);
    context->backend->replays->free(context->device, t->replay);
    *t = (krf__taken_replay){.replay = NULL};
}

bool krf__replay_kernel(krf_context *context, krf__compiled *c, uint32_t index, const krf__launch *launch, krf__taken_replay *t) {
    if (t->place == NULL) {
        return false;
    }
    if (!t->adding) {
        context->backend->replays->set(t->replay, index, launch);
        return true;
    }
    uint32_t *after = krf__malloc((index + 1) * sizeof *after);
    t->behind = t->behind != NULL ? t->behind : krf__calloc(c->data.n_kernels, sizeof *t->behind);
    krf_status status = after == NULL || t->behind == NULL ? KRF_E_MEMORY : KRF_OK;
    if (status == KRF_OK) {
        krf__launch own = *launch;
        const uint32_t n_after = find_earlier(&c->data, index, t->behind, after);
        own.apart = apart(&c->data, launch->kernel, n_after, after);
        status = context->backend->replays->add(context->device, &t->replay, &own, n_after, after);
    }
    krf__mem_free(after);
    if (status != KRF_OK) {
        give_up(context, t);
        return false;
    }
    t->place->kind = context->backend->replays;
    t->place->device = context->device;
    return true;
}

bool krf__replay_start(krf_context *context, const krf__lane *lane, krf__taken_replay *t) {
    const bool started = t->place != NULL && context->backend->replays->start(context->device, t->replay, lane->stream) == KRF_OK;
    if (started) {
        krf__mem_free(t->behind);
        atomic_store_explicit(&t->place->replay, t->replay, memory_order_release);
    } else if (t->place != NULL) {
        give_up(context, t);
    }
    return started;
}
