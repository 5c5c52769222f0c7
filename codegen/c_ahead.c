/* What a body of the C target fetches ahead of the elements that it computes. */
#include "codegen/emitter.h"

#define PREFETCH_BYTES 1024
#define FAR_BYTES 2048 /* where little is done with an element of less than 8 bytes: sums of 64M f32 8.2 ms on an Intel Xeon, with 1024 and 4096 bytes 8.4 and 8.8; of bf16 4.4, without 6.1 */
#define DENSE_BYTES 2048 /* of columns whose rows follow one another without a gap, and are gone over in pieces */
#define LINE_BYTES 64
#define MANY_LOADS 4

/* Reductions along memory that do little with an element read as fast as the processor's own prefetching does: asked for more, an AMD EPYC brings less (sums of f32 and f64 1.13 to 1.2
 * times as fast without), an Intel Xeon more (KRF_FETCHES, see cpu/host.h). */
static bool reads_alone(const krf__emitter *e) {
    const krf__kernel *k = e->k;
    return ((k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW) && !krf__costly_domain(k)) || (krf__c_once(e) && e->kernel->n_rounds == 0);
}

/* Behind the end of a run of a map comes the next run, wherever that begins. Columns that are far from one another
 * in memory: the row that is read next. */
static void put_prefetched(const krf__emitter *e, uint32_t operand, int bytes, krf__str *out) {
    const krf__kernel *k = e->k;
    const char *name = e->operand_names[operand];
    const int fast = krf__c_fast_dim(e), distance = (reads_alone(e) && bytes < 8 ? FAR_BYTES : PREFETCH_BYTES) / bytes;
    const bool runs = k->schedule == KRF__MAP && !k->narrow && fast > 0 && krf__stride_class(k, &k->operands[operand], fast - 1) >= 2;
    if (k->schedule == KRF__REDUCE_COL) {
        if (k->n_reduced == 1 && (k->literal & 1) == 0 && krf__stride_class(k, &k->operands[operand], k->n_kept) >= 2) {
            const bool pieces = krf__c_columns_in_pieces(e);
            krf__str_printf(out, "for (int k = 0; k < m%s; k += %d) {\n    __builtin_prefetch(&p_%s[j + k + ", pieces ? "" : " && !dense", LINE_BYTES / bytes, name);
            if (pieces) {
                krf__str_printf(out, "(dense ? %d : ", DENSE_BYTES / bytes);
            }
            krf__str_printf(out, "ahead * %s_s%d%s]);\n}\n", name, k->n_kept, pieces ? ")" : "");
        }
        return;
    }
    if (krf__scans_beside(k)) { /* columns: rows far from one another */
        if (krf__stride_class(k, &k->operands[operand], k->n_kept) >= 2) {
            krf__str_printf(out, "for (int k = 0; k < m; k += %d) {\n    __builtin_prefetch(&p_%s[j + k + %dLL * %s_s%d]);\n}\n", LINE_BYTES / bytes, name, KRF__SCAN_AHEAD, name, k->n_kept);
        }
        return;
    }
    if (runs) {
        krf__str_printf(out, "const long long next_%s = j + %d < run ? 0 : %s_s%d - n%d;\n", name, distance, name, fast - 1, fast);
    }
    krf__str_printf(out, "for (int k = 0; k < m; k += %d) {\n    __builtin_prefetch(&p_%s[j + k + %d", LINE_BYTES / bytes, name, distance);
    krf__str_printf(out, runs ? " + next_%s]);\n}\n" : "]);\n}\n", name);
}

/* Whether an earlier instruction loads the same operand: a call of what users define has loads of its own. */
static bool loaded_before(const krf__kernel *k, uint32_t load) {
    bool before = false;
    for (uint32_t i = 0; i < load && !before; i++) {
        before = k->instrs[i].op == KRF__load && k->instrs[i].slot == k->instrs[load].slot;
    }
    return before;
}

/* Maps of many operands have enough under way as it is, often of the same lines: a stencil's. */
static bool reads_many(const krf__emitter *e) {
    uint32_t loads = 0;
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        loads += e->k->instrs[i].op == KRF__load && krf__stride_class(e->k, &e->k->operands[e->k->instrs[i].slot], krf__c_fast_dim(e)) == 1;
    }
    return e->k->schedule == KRF__MAP && loads >= MANY_LOADS;
}

static size_t widest_load(const krf__emitter *e) {
    size_t bytes = 1;
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        const size_t size = e->k->instrs[i].op == KRF__load ? krf_dtype_size((krf_dtype)e->k->instrs[i].dtype) : 0;
        bytes = size > bytes ? size : bytes;
    }
    return bytes;
}

/* Elements of rows that are folded each at once, from which on these are fetched ahead: of fewer than four lines most would be fetched for what is read already. */
static size_t fetched_from(const krf__emitter *e) { return reads_alone(e) && krf__c_once(e) ? 4 * LINE_BYTES / widest_load(e) : 0; }

static bool known(const krf__emitter *e) { return (e->k->literal >> krf__c_fast_dim(e) & 1) != 0; }

void krf__c_put_prefetch(krf__emitter *e, krf__str *out) {
    const bool alone = reads_alone(e);
    const size_t from = fetched_from(e);
    if ((known(e) && e->k->extents[krf__c_fast_dim(e)] < (int64_t)from) || reads_many(e) || e->side_by_side) { /* of the latter, what lies behind is not of the next elements */
        return;
    }
    krf__str_put(out, alone ? "#ifdef KRF_FETCHES\n" : "");
    if (from > 0 && !known(e)) {
        krf__str_printf(out, "if (left >= %zu) {\n", from);
    }
    for (uint32_t i = 0; i < e->k->n_domain; i++) {
        const krf__instr *instr = &e->k->instrs[i];
        const krf__operand *o = instr->op == KRF__load ? &e->k->operands[instr->slot] : NULL;
        if (o != NULL && !o->counts && !krf__c_laid_out(e, instr->slot) && !krf__c_left_out(e, i) && !loaded_before(e->k, i) && krf__stride_class(e->k, o, krf__c_fast_dim(e)) == 1) {
            put_prefetched(e, instr->slot, (int)krf_dtype_size((krf_dtype)instr->dtype), out);
        }
    }
    krf__str_put(out, from > 0 && !known(e) ? "}\n" : "");
    krf__str_put(out, alone ? "#endif\n" : "");
}
