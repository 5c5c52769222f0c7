/* The back end in front of the real one. Its modules are notes: a kernel's source, and the real module once there is
 * one. */
#include "fuzz/batch.h"

#include "backend/cpu/loader.h"
#include "base/fail.h"
#include "base/mem.h"
#include "fuzz/batch_text.h"
#include "sched/context.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS_A_TEXT = 48 }; /* what one call of a compiler gets: well below its time limit */

typedef struct note {
    char *source;
    char name[64];
    krf__module *real; /* NULL: not compiled yet */
    bool ours;         /* real is one of made_module's */
} note;

static struct {
    const krf__backend *inner;
    krf__backend outer;
    krf__device *device;
    note **notes; /* not compiled yet */
    size_t n, capacity;
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

void batch_install(krf_context *context) {
    batch.inner = context->backend;
    batch.device = context->device;
    batch.outer = *context->backend;
    batch.outer.compile = outer_compile;
    batch.outer.load = outer_load;
    batch.outer.unload = outer_unload;
    batch.outer.module_info = outer_module_info;
    batch.outer.launch = outer_launch;
    context->backend = &batch.outer;
}

void batch_begin(void) { batch.pretending = true; }

/* ---- many at once ---- */

/* The back end's own loader would map the whole image once for every kernel in it. */
static void *open_image(const void *image, size_t bytes) {
    char path[] = "/tmp/kerfuse-fuzz-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool written = file != NULL && fwrite(image, 1, bytes, file) == bytes;
    written = file != NULL && fclose(file) == 0 && written;
    void *library = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (fd >= 0) {
        unlink(path);
    }
    return library;
}

static krf__kernel_function function_of(void *library, const char *symbol) {
    void *address = dlsym(library, symbol);
    krf__kernel_function function;
    memcpy(&function, &address, sizeof function);
    return function;
}

static void take_from_library(void *library, note *x) {
    char finish[80];
    struct krf__module *m = calloc(1, sizeof *m);
    snprintf(finish, sizeof finish, "%s_finish", x->name);
    m->run = function_of(library, x->name);
    m->finish = function_of(library, finish);
    if (m->run == NULL) {
        free(m);
        return;
    }
    x->real = m;
    x->ours = true;
}

static void compile_together(note **notes, size_t n) {
    krf__str text = {0};
    void *image = NULL;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        batch_text_add(&text, notes[i]->source, notes[i]->name, i);
    }
    if (!text.failed && batch.inner->compile(batch.device, text.data, "batch", &image, &bytes) == KRF_OK) {
        bool cpu = batch.inner == &krf__backend_cpu;
        void *library = cpu ? open_image(image, bytes) : NULL;
        for (size_t i = 0; i < n; i++) {
            if (library != NULL) {
                take_from_library(library, notes[i]);
            } else if (!cpu
                       && batch.inner->load(batch.device, image, bytes, notes[i]->name, &notes[i]->real) != KRF_OK) {
                notes[i]->real = NULL;
            }
            batch.together += notes[i]->real != NULL;
        }
    } else {
        fprintf(stderr, "%zu kernels do not compile together, so they are compiled alone: %.600s\n", n,
                krf_error_message());
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
    for (size_t i = 0; i < batch.n; i += KERNELS_A_TEXT) {
        compile_together(batch.notes + i, batch.n - i < KERNELS_A_TEXT ? batch.n - i : KERNELS_A_TEXT);
    }
    batch.n = 0;
}

void batch_counts(long *together, long *alone) {
    *together = batch.together;
    *alone = batch.alone;
}
