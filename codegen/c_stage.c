/* Which stage of a body of the C target an instruction is computed in: the first loop of the body that has all it takes. */
#include "codegen/emitter.h"

/* Whether the value depends on a costly one of its own stage: then a costly function of it starts the next stage. */
static bool tainted(const krf__emitter *e, const bool *taint, uint32_t arg, uint32_t stage) {
    return e->stage_of[arg] == stage && taint[arg];
}

/* Cheap functions of loads alone move to the stage that uses them: repeating the load is cheaper than a block. */
static void sink(krf__emitter *e, uint32_t last) {
    const krf__kernel *k = e->k;
    for (uint32_t i = k->n_domain; i-- > 0;) {
        const bool there = krf__c_is_there(e, i);
        bool movable = (there || !krf__costly(&k->instrs[i])) && k->instrs[i].op != KRF__store && k->instrs[i].op != KRF__bind;
        for (int a = 0; a < krf__op_info_of(k->instrs[i].op)->arity && !there; a++) {
            const uint32_t arg = k->instrs[i].args[a];
            movable &= k->instrs[arg].op == KRF__load || krf__instr_free(&k->instrs[arg]) || krf__c_is_there(e, arg);
        }
        uint32_t earliest = last;
        for (uint32_t u = i + 1; u < k->n_domain && movable; u++) {
            if (k->instrs[u].op != KRF__store && !krf__c_left_out(e, u) && e->first_stage_of[u] < earliest && krf__instr_uses(k, u, i)) {
                earliest = e->first_stage_of[u];
            }
        }
        e->stage_of[i] = movable ? earliest : e->stage_of[i];
        e->first_stage_of[i] = movable ? earliest : e->first_stage_of[i];
    }
}

uint32_t krf__c_find_stages(krf__emitter *e) {
    const krf__kernel *k = e->k;
    uint32_t last = 0;
    bool *taint = e->taint;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__instr *instr = &k->instrs[i];
        const bool computed = !krf__c_passed_over(e, i);
        int arity = computed ? krf__op_info_of(instr->op)->arity : 0;
        uint32_t stage = 0;
        bool depends = false;
        for (int a = 0; a < arity; a++) {
            stage = e->stage_of[instr->args[a]] > stage ? e->stage_of[instr->args[a]] : stage;
        }
        for (int a = 0; a < arity; a++) {
            depends |= tainted(e, taint, instr->args[a], stage);
        }
        e->first_stage_of[i] = stage + (computed && krf__costly(instr) && depends ? 1 : 0);
        e->stage_of[i] = e->first_stage_of[i] + (computed ? (uint32_t)krf__call_stages(e, i) : 0);
        taint[i] = computed && (krf__costly(instr) || depends);
        last = e->stage_of[i] > last ? e->stage_of[i] : last;
    }
    if (last > 0) {
        sink(e, last);
    }
    return last;
}
