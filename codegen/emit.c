/* The walker: names operands, expands the skeleton of the schedule, and puts before it what its text turned out to need. */
#include "codegen/emit.h"

#include "base/mem.h"
#include "codegen/emitter.h"
#include "codegen/raw.h"

#include <string.h>

const krf__target *krf__target_of(const char *name) {
    static const krf__target *const targets[] = {&krf__target_c, &krf__target_cuda};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (strcmp(targets[i]->name, name) == 0) {
            return targets[i];
        }
    }
    return NULL;
}

static void name_operands(krf__emitter *e) {
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        bool store = e->k->operands[i].store;
        krf__str s = {0};
        if (e->k->operands[i].inner != 0) {
            krf__str_printf(&s, "row%u", e->k->operands[i].inner - 1u);
        } else {
            krf__str_printf(&s, "%s%u", store ? "out" : "in", store ? out++ : in++);
        }
        if (s.data != NULL) {
            strncpy(e->operand_names[i], s.data, sizeof e->operand_names[i] - 1);
        }
        e->failed.failed |= s.failed;
        krf__str_free(&s);
    }
}

void krf__emit(const krf__kernel *kernel, const krf__target *target, krf__str *out) {
    krf__emitter e = {.k = kernel, .kernel = kernel, .target = target, .quad = "q", .saved = UINT32_MAX, .replaced = UINT32_MAX, .bool_type = target->bool_type != NULL ? target->bool_type(kernel) : krf__c_type(KRF_BOOL)};
    krf__str text = {0};
    if (kernel->raw != NULL) {
        krf__emit_raw(kernel, target, out);
        return;
    }
    e.fold_types = krf__calloc(kernel->n_instrs + (size_t)1, sizeof *e.fold_types);
    e.operand_names = krf__calloc(kernel->n_operands + (size_t)1, sizeof *e.operand_names);
    e.stage_of = krf__calloc(kernel->n_instrs + (size_t)1, sizeof *e.stage_of);
    e.first_stage_of = krf__calloc(kernel->n_instrs + (size_t)1, sizeof *e.first_stage_of);
    e.taint = krf__calloc(kernel->n_instrs + (size_t)1, sizeof *e.taint);
    e.asked = krf__calloc(kernel->n_instrs + (size_t)1, sizeof *e.asked);
    e.needed = krf__calloc(kernel->n_instrs + (size_t)1, sizeof *e.needed);
    e.forms = krf__calloc(kernel->n_instrs + (size_t)1, sizeof *e.forms);
    e.kept = krf__calloc(kernel->n_instrs + (size_t)1, sizeof *e.kept);
    if (e.kept == NULL || e.forms == NULL || e.fold_types == NULL || e.operand_names == NULL || e.stage_of == NULL || e.first_stage_of == NULL || e.taint == NULL || e.asked == NULL || e.needed == NULL) {
        out->failed = true;
        goto done;
    }
    name_operands(&e);
    krf__emit_user_functions(&e, &text);
    krf__emit_skeleton(&e, target->skeletons[kernel->schedule], &text);
    krf__str_printf(out, "/* %s: ", kernel->name);
    krf__put_comment(kernel->expression, out);
    krf__str_put(out, " */\n");
    krf__str_put(out, kernel->fast ? target->fast : "");
    krf__emit_sections(&e, text.data, out);
    krf__str_put(out, text.data != NULL ? text.data : "");
    out->failed |= e.failed.failed || text.failed;
done:
    krf__str_free(&text);
    krf__mem_free(e.fold_types);
    krf__mem_free(e.operand_names);
    krf__mem_free(e.stage_of);
    krf__mem_free(e.first_stage_of);
    krf__mem_free(e.taint);
    krf__mem_free(e.asked);
    krf__mem_free(e.needed);
    krf__mem_free(e.forms);
    krf__mem_free(e.kept);
}
