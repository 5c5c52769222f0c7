/* Explanations as text: the graph, its plan, its kernels for either target, and what NVRTC makes of them. Needs no
 * device of that kind. */
#include "api/expr.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/text.h"
#include "pass/pass.h"
#include "plan/kernel.h"
#include "sched/dump.h"
#include "sched/kernels.h"

#include <kerfuse/plan.h>

#include <stdlib.h>
#include <string.h>

void krf_free(void *data) { krf__mem_free(data); }

typedef struct dumping {
    krf_graph *graph;
    int n;
    uint32_t *ids;
    krf_dump_kind kind;
    const char *target, *arch;
    krf__limits limits; /* of the device that the plan is for: the context's own, unless another is named */
    krf__str out;
} dumping;

static krf_status dump_binary(dumping *d, const krf__kernel *k) {
    krf__str source = {0};
    void *image = NULL;
    size_t bytes = 0;
    krf_status status = krf__kernel_source(k, "cuda", &source);
    if (status == KRF_OK) {
        status = krf__nvrtc_compile(d->graph->context->nvrtc, d->arch, d->kind == KRF_DUMP_PTX, source.data, krf__kernel_symbol(k),
                                    &image, &bytes);
    }
    if (status == KRF_OK) {
        krf__str_putn(&d->out, image, bytes);
        krf__mem_free(image);
    }
    krf__str_free(&source);
    return status;
}

static krf_status dump_kernels(dumping *d, const krf__plan_data *plan) {
    krf_status status = KRF_OK;
    if (d->kind == KRF_DUMP_CUBIN && plan->n_kernels != 1) {
        return krf__fail(KRF_E_ARGUMENT, "krf_dump: a cubin holds one kernel, and the plan has %u", plan->n_kernels);
    }
    for (uint32_t i = 0; status == KRF_OK && i < plan->n_kernels; i++) {
        krf__str_put(&d->out, i > 0 ? "\n" : "");
        status = d->kind == KRF_DUMP_SOURCE ? krf__kernel_source(&plan->kernels[i], d->target, &d->out)
                                            : dump_binary(d, &plan->kernels[i]);
    }
    return status;
}

static krf_status dump_plan(dumping *d) {
    krf_graph lowered;
    krf__plan_data plan;
    krf_status status = krf__pipeline(d->graph, &d->limits, d->n, d->ids, &lowered);
    if (status != KRF_OK) {
        return status;
    }
    status = krf__plan_make(&lowered, d->n, d->ids, &(krf__plan_options){.limits = &d->limits, .fast = d->graph->context->fast}, &plan);
    if (status == KRF_OK) {
        if (d->kind == KRF_DUMP_PLAN) {
            krf__plan_print(&plan, &d->out);
        } else {
            status = dump_kernels(d, &plan);
        }
        krf__plan_free(&plan);
    }
    krf__graph_free(&lowered);
    return status;
}

#define BLOCKS (2 * 132) /* krf__limits.blocks of an H100 or H200: text must be the same wherever it is asked for */

static void set_limits(dumping *d) {
    const krf_context *c = d->graph->context;
    const bool cuda = strcmp(d->target, "cuda") == 0;
    d->limits = c->asked;
    if (cuda == c->is_cuda && d->arch == NULL) {
        d->limits = c->limits;
    } else {
        const char *digits;
        int number = 90;
        krf__nvrtc_arch(d->arch != NULL ? d->arch : "sm_90", &digits, &number);
        krf__limits_of_device(&d->limits, cuda ? krf__cuda_row(number) : krf__cpu_row(), BLOCKS, cuda);
    }
}

static krf_status check(dumping *d) {
    bool binary = d->kind == KRF_DUMP_PTX || d->kind == KRF_DUMP_CUBIN;
    if ((unsigned)d->kind > KRF_DUMP_CUBIN) {
        return krf__fail(KRF_E_ARGUMENT, "krf_dump: %d is no kind of dump", (int)d->kind);
    }
    d->target = d->target != NULL ? d->target : binary ? "cuda" : d->graph->context->backend->target;
    if (strcmp(d->target, "c") != 0 && strcmp(d->target, "cuda") != 0) {
        return krf__fail(KRF_E_ARGUMENT, "krf_dump: \"%s\" is not a target; \"c\" and \"cuda\" are", d->target);
    }
    if (binary && strcmp(d->target, "cuda") != 0) {
        return krf__fail(KRF_E_ARGUMENT, "krf_dump: PTX and cubin are for the target \"cuda\"");
    }
    const char *digits;
    int number;
    if (d->arch != NULL && strcmp(d->target, "cuda") == 0 && !krf__nvrtc_arch(d->arch, &digits, &number)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_dump: \"%s\" is not an architecture such as sm_90 or sm_90a", d->arch);
    }
    set_limits(d);
    d->arch = d->arch != NULL ? d->arch : "sm_90";
    return KRF_OK;
}

krf_status krf_dump(krf_graph *graph, int n, const krf_expr *outputs, krf_dump_kind kind, const char *target,
                    const char *arch, char **data, size_t *size) {
    if (data == NULL || size == NULL || n < 1 || outputs == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_dump: an argument is NULL, or there are no expressions");
    }
    *data = NULL;
    *size = 0;
    dumping d = {.graph = graph, .n = n, .kind = kind, .target = target, .arch = arch};
    d.ids = krf__malloc((size_t)n * sizeof *d.ids);
    krf_status status = d.ids == NULL ? krf__fail_memory() : krf__expr_ids("krf_dump", graph, n, outputs, d.ids);
    status = status == KRF_OK ? check(&d) : status;
    if (status == KRF_OK) {
        status = kind == KRF_DUMP_GRAPH ? krf__graph_text(graph, n, d.ids, &d.out) : dump_plan(&d);
    }
    if (status == KRF_OK) {
        size_t length = d.out.length;
        char *text = d.out.data == NULL && !d.out.failed ? krf__strdup("") : krf__str_take(&d.out);
        *data = text;
        *size = text != NULL ? length : 0;
        status = text != NULL ? KRF_OK : krf__fail_memory();
    }
    krf__str_free(&d.out);
    krf__mem_free(d.ids);
    return status;
}
