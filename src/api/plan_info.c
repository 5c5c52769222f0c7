/* What a plan is: its placeholders, outputs and kernels. */
#include "api/plan.h"

#include "api/info.h"
#include "base/mem.h"
#include "sched/kernels.h"

const char *krf_plan_name(const krf_plan *plan) { return plan != NULL ? plan->name : NULL; }
int krf_plan_placeholders(const krf_plan *plan) { return plan != NULL ? (int)plan->aligned->data.n_placeholders : 0; }
int krf_plan_outputs(const krf_plan *plan) { return plan != NULL ? plan->n_outputs : 0; }
int krf_plan_kernels(const krf_plan *plan) { return plan != NULL ? (int)plan->aligned->data.n_kernels : 0; }

const char *krf_plan_placeholder_name(const krf_plan *plan, int index) {
    return index >= 0 && index < krf_plan_placeholders(plan) ? plan->aligned->data.placeholders[index].name : NULL;
}

/* The text is kept: it lives as long as the plan. */
static krf_status source_of(krf_plan *p, int index, const char **source) {
    krf_status status = KRF_OK;
    pthread_mutex_lock(&p->lock);
    char *text = atomic_load(&p->sources[index]);
    if (text == NULL) {
        krf__str s = {0};
        status = krf__kernel_source(&p->aligned->data.kernels[index], p->context->backend->target, &s);
        text = status == KRF_OK ? krf__str_take(&s) : NULL;
        krf__str_free(&s);
        atomic_store(&p->sources[index], text);
    }
    pthread_mutex_unlock(&p->lock);
    *source = text;
    return status;
}

static int count_operations(const krf__kernel *k) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        uint16_t op = k->instrs[i].op;
        n += op != KRF__load && op != KRF__store && op != KRF__bind && op != KRF__constant && op != KRF__scalar;
    }
    return n;
}

krf_status krf_plan_kernel(krf_plan *plan, int index, krf_kernel_info *info) {
    if (plan == NULL || index < 0 || index >= krf_plan_kernels(plan)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_plan_kernel: there is no kernel %d", index);
    }
    const krf__kernel *k = &plan->aligned->data.kernels[index];
    krf__loaded *loaded = atomic_load(&plan->aligned->loaded[index]);
    krf__module *module = loaded != NULL ? krf__kernel_module(loaded) : NULL;
    krf__module_info used = {.registers = -1, .shared_bytes = -1, .spill_bytes = -1};
    if (module != NULL) {
        plan->context->backend->module_info(plan->context->device, module, &used);
    }
    krf_kernel_info full = {.name = k->name,
                            .schedule = krf__schedule_name(k->schedule),
                            .operations = count_operations(k),
                            .elements = k->kept_size * k->reduced_size,
                            .cut = k->cut,
                            .registers = used.registers,
                            .shared_bytes = used.shared_bytes,
                            .spill_bytes = used.spill_bytes};
    krf__kernel_bytes(k, &full.bytes_read, &full.bytes_written);
    krf_status status = source_of(plan, index, &full.source);
    return status == KRF_OK ? krf__info_give("krf_plan_kernel", info, &full, sizeof full) : status;
}
