/* The CUDA target's first lines of a kernel: that it waits for what the one before it wrote, and whether the next one may wait beside it. */
#include "codegen/cuda.h"
#include "plan/arguments.h"

enum { LONG_BYTES = 8192 }; /* a block that moves as many is at work for longer than it takes to say that others may come */

/* Whether each element of the domain has one of its own: others come out of a cache. */
static bool is_full(const krf__kernel *k, const krf__operand *o) {
    bool full = !o->counts;
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        full &= krf__stride_class(k, o, d) != 0;
    }
    return full;
}

/* Bytes that a block moves where as many are known: of maps, and of short rows whose length is text. */
static int64_t bytes_of_block(const krf__kernel *k) {
    int64_t bytes = 0, elements = 0;
    if (k->schedule == KRF__MAP) {
        elements = (int64_t)256 * k->vector * krf__map_each(k);
    } else if (krf__literal_rows(k)) {
        elements = k->reduced_size * (krf__short_block(k) / krf__short_threads(k));
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        bytes += is_full(k, &k->operands[i]) ? elements * (int64_t)krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
    }
    return bytes;
}

/* Each block that says so takes a while of the whole GPU's time, which those notice that are soon done. Scans, whose blocks wait for each other's results, end sooner where no
 * others are there to wait as well; so do reductions over blocks, until these have read all that they read: blocks that come before others have left are no longer as many everywhere. */
static void next_may_come(const krf__emitter *e, bool done, krf__str *out) {
    enum { ALWAYS = 1, LONG, DONE, NEVER };
    static const uint8_t when[KRF__SCHEDULE_COUNT] = {
        [KRF__MAP] = LONG, [KRF__REDUCE_ALL] = DONE, [KRF__REDUCE_ROW] = LONG, [KRF__REDUCE_SHORT] = LONG, [KRF__REDUCE_COL] = DONE, [KRF__SCAN] = NEVER,
        [KRF__ROW] = ALWAYS, [KRF__ROW_SHORT] = LONG, [KRF__ROW_COL] = ALWAYS, [KRF__TILE] = ALWAYS,
    };
    const bool is_long = when[e->k->schedule] == LONG && bytes_of_block(e->k) >= LONG_BYTES;
    if (!e->k->early || done != (when[e->k->schedule] == DONE)) {
        return;
    }
    if (done || when[e->k->schedule] == ALWAYS || is_long) {
        krf__str_put(out, "krf_next_may_come();\n");
    } else if (when[e->k->schedule] == LONG) {
        krf__str_put(out, "krf_next_may_come_if_few();\n");
    }
}

/* That others may come is said after the wait: whatever is there then has only the kernel directly before it at work beside it. */
static void begin(krf__emitter *e, krf__str *out) {
    if (e->k->ahead) {
        krf__str_put(out, "if (a.apart == 0) {\n    krf_wait_for_last();\n}\n");
    } else if (e->k->early) {
        krf__str_put(out, "krf_wait_for_last();\n");
        next_may_come(e, false, out);
    }
}

/* Who has waited once waits no longer: to ask whether that was is more text. */
static void wait_to_store(krf__emitter *e, krf__str *out) {
    if (e->k->ahead) {
        krf__str_put(out, "krf_wait_for_last();\n");
        next_may_come(e, false, out);
    }
}

/* Of a reduction that stores elements too, before the first of them: what is loaded first is under way. */
static void wait_to_store_elements(krf__emitter *e, krf__str *out) {
    if (krf__stores_elements(e->k)) {
        wait_to_store(e, out);
    }
}

/* Integers of two registers, as places of extremes are found by, leave none for one condition more: with it they took 4 to 20 % longer. */
static bool accumulates_wide_integers(const krf__emitter *e) {
    bool found = false;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const krf_dtype dtype = (krf_dtype)krf__reduction(e, r)->dtype;
        found |= krf__dtype(dtype)->kind != KRF__KIND_REAL && krf_dtype_size(dtype) == 8 && !krf__sums_narrow(e, r);
    }
    return found;
}

static void next_may_follow(krf__emitter *e, krf__str *out) {
    if (e->k->ahead && !accumulates_wide_integers(e)) {
        krf__str_printf(out, "if (a.apart == %d) {\n    krf_next_may_come();\n}\n", KRF__APART_AND_FILLS);
    }
}

static void block_done(krf__emitter *e, krf__str *out) { next_may_come(e, true, out); }

const krf__hole krf__cuda_begin_holes[] = {{"BEGIN", begin}, {"WAIT_TO_STORE", wait_to_store}, {"WAIT_TO_STORE_ELEMENTS", wait_to_store_elements}, {"NEXT_MAY_FOLLOW", next_may_follow}, {"NEXT_MAY_COME", block_done}, {NULL, NULL}};
