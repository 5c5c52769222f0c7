/* The back end in front of the real one. Its modules are notes: a kernel's source, and the real module once there is
 * one. */
#include "fuzz/batch.h"

#include "base/fail.h"
#include "base/mem.h"
#include "fuzz/batch_load.h"
#include "fuzz/batch_text.h"
#include "sched/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_A_TEXT = 48, BYTES_A_TEXT = 500000 }; /* what one call of a compiler gets: well below its time limit */

typedef struct note {
    char *source;
    char name[64];
    krf__module *real; /* NULL: not compiled yet */
    bool ours;         /* real is of batch_load.h, not of the back end */
} note;

static struct {
    const krf__backend *inner;
    krf__backend outer;
    krf__device *device;
    note **notes; /* not compiled yet */
    size_t n, capacity;
    void **handles; /* images that hold the kernels of batches */
    size_t n_handles, handles_capacity;
    bool pretending;
    long together, alone;
} batch;

/* The image is the kernel's text: load makes a note of it. */
static krf_status outer_compile(krf__device *device, const char *source, const char *name, void **image,
                                size_t *bytes) {
    (void)device;
    (void)name;
    *bytes = strlen(source) + 1;
    *image = krf__strdup(source);
    return *image != NULL ? KRF_OK : krf__fail_memory();
}

static krf_status outer_load(krf__device *device, const void *image, size_t bytes, const char *name,
                             krf__module **module) {
    note *x = calloc(1, sizeof *x);
    (void)device;
    (void)bytes;
    if (x == NULL
        || (batch.pretending && !krf__grow(&batch.notes, &batch.capacity, batch.n + 1, sizeof *batch.notes))) {
        free(x);
        return krf__fail_memory();
    }
    x->source = krf__strdup(image);
    snprintf(x->name, sizeof x->name, "%s", name);
    if (batch.pretending) {
        batch.notes[batch.n++] = x;
    }
    *module = (krf__module *)(void *)x;
    return KRF_OK;
}

static void outer_unload(krf__device *device, krf__module *module) {
    note *x = (note *)(void *)module;
    if (x->real != NULL && x->ours) {
        free(x->real);
    } else if (x->real != NULL) {
        batch.inner->unload(device, x->real);
    }
    for (size_t i = 0; i < batch.n; i++) {
        if (batch.notes[i] == x) {
            batch.notes[i] = batch.notes[--batch.n];
        }
    }
    krf__mem_free(x->source);
    free(x);
}

static void outer_module_info(krf__device *device, krf__module *module, krf__module_info *info) {
    (void)device;
    (void)module;
    *info = (krf__module_info){-1, -1, -1};
}

static krf_status compile_alone(note *x) {
    void *image = NULL;
    size_t bytes = 0;
    x->ours = false;
    krf_status status = batch.inner->compile(batch.device, x->source, x->name, &image, &bytes);
    if (status == KRF_OK) {
        status = batch.inner->load(batch.device, image, bytes, x->name, &x->real);
        batch.alone++;
    }
    krf__mem_free(image);
    return status;
}

static krf_status outer_launch(krf__device *device, const krf__launch *launch, void *stream) {
    if (batch.pretending) {
        return KRF_OK;
    }
    krf__launch real = *launch;
    note *x = (note *)(void *)launch->module;
    if (x != NULL && x->real == NULL) {
        krf_status status = compile_alone(x);
        if (status != KRF_OK) {
            return status;
        }
    }
    real.module = x != NULL ? x->real : NULL;
    return batch.inner->launch(device, &real, stream);
}

static void outer_close(krf__device *device) {
    for (size_t i = 0; i < batch.n_handles; i++) {
        (batch.inner == &krf__backend_cpu ? batch_unload_cpu : batch_unload_cuda)(device, batch.handles[i]);
    }
    batch.n_handles = 0;
    batch.inner->close(device);
}

void batch_install(krf_context *context) {
    batch.inner = context->backend;
    batch.device = context->device;
    batch.outer = *context->backend;
    batch.outer.compile = outer_compile;
    batch.outer.load = outer_load;
    batch.outer.unload = outer_unload;
    batch.outer.module_info = outer_module_info;
    batch.outer.launch = outer_launch;
    batch.outer.replays = NULL;
    batch.outer.close = outer_close;
    context->backend = &batch.outer;
}

void batch_begin(void) { batch.pretending = true; }

/* ---- many at once ---- */

static void compile_together(note **notes, size_t n) {
    const bool cpu = batch.inner == &krf__backend_cpu;
    const char *names[KERNELS_A_TEXT];
    krf__module *modules[KERNELS_A_TEXT] = {NULL};
    krf__str text = {0};
    void *image = NULL, *handle = NULL;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        batch_text_add(&text, notes[i]->source, notes[i]->name, i);
        names[i] = notes[i]->name;
    }
    if (!text.failed && batch.inner->compile(batch.device, text.data, "batch", &image, &bytes) == KRF_OK) {
        handle = (cpu ? batch_load_cpu : batch_load_cuda)(batch.device, image, bytes, n, names, modules);
    }
    if (handle == NULL) {
        fprintf(stderr, "%zu kernels do not compile together, so they are compiled alone: %.600s\n", n,
                krf_error_message());
    } else if (krf__grow(&batch.handles, &batch.handles_capacity, batch.n_handles + 1, sizeof *batch.handles)) {
        batch.handles[batch.n_handles++] = handle;
    }
    for (size_t i = 0; i < n; i++) {
        notes[i]->real = modules[i];
        notes[i]->ours = true;
        batch.together += modules[i] != NULL;
    }
    krf__mem_free(image);
    krf__str_free(&text);
}

/* Maps before reductions: NVRTC's options depend on what loops a text has. */
static int by_name(const void *a, const void *b) {
    return strcmp((*(note *const *)a)->name, (*(note *const *)b)->name);
}

void batch_end(void) {
    batch.pretending = false;
    if (batch.n > 0) {
        qsort(batch.notes, batch.n, sizeof *batch.notes, by_name);
    }
    for (size_t i = 0, n; i < batch.n; i += n) {
        size_t bytes = 0;
        for (n = 0; n < KERNELS_A_TEXT && i + n < batch.n && (n == 0 || bytes < BYTES_A_TEXT); n++) {
            bytes += strlen(batch.notes[i + n]->source);
        }
        compile_together(batch.notes + i, n);
    }
    batch.n = 0;
}

void batch_counts(long *together, long *alone) {
    *together = batch.together;
    *alone = batch.alone;
}
