/* The back end in front of the real one. Its modules are notes: a kernel's source, and the real module once there is
 * one. */
#include "fuzz/batch.h"

#include "base/fail.h"
#include "base/mem.h"
#include "cache/disk.h"
#include "fuzz/batch_load.h"
#include "fuzz/batch_text.h"
#include "sched/context.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_A_TEXT = 32, BYTES_A_TEXT = 350000 }; /* what one call of a compiler gets: well below its time limit, on a machine that has other work too */

/* A context's back end: the real one, and the one in front of it. */
typedef struct front {
    const krf__backend *inner;
    krf__backend outer;
    krf__device *device;
} front;

typedef struct note {
    const front *of;
    char *source;
    char name[64];
    krf__module *real; /* NULL: not compiled yet */
    bool ours;         /* real is of batch_load.h, not of the back end */
} note;

/* An image that holds the kernels of a batch. Those of the CPU serve several contexts. */
typedef struct image_handle {
    const krf__backend *inner;
    void *handle;
} image_handle;

enum { FRONTS = 3 };

static struct {
    front fronts[FRONTS];
    pthread_mutex_t lock; /* of the notes: the kernels of a plan are loaded by several threads */
    note **notes; /* not compiled yet */
    size_t n, capacity;
    image_handle *handles;
    size_t n_handles, handles_capacity;
    bool pretending;
    long together, alone;
} batch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const front *front_of(const krf__device *device) {
    const front *f = batch.fronts;
    while (f->device != device) {
        f++;
    }
    return f;
}

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
    (void)bytes;
    if (x == NULL) {
        return krf__fail_memory();
    }
    x->of = front_of(device);
    x->source = krf__strdup(image);
    snprintf(x->name, sizeof x->name, "%s", name);
    pthread_mutex_lock(&batch.lock);
    const bool noted = !batch.pretending || krf__grow(&batch.notes, &batch.capacity, batch.n + 1, sizeof *batch.notes);
    if (noted && batch.pretending) {
        batch.notes[batch.n++] = x;
    }
    pthread_mutex_unlock(&batch.lock);
    if (!noted) {
        krf__mem_free(x->source);
        free(x);
        return krf__fail_memory();
    }
    *module = (krf__module *)(void *)x;
    return KRF_OK;
}

static void outer_unload(krf__device *device, krf__module *module) {
    note *x = (note *)(void *)module;
    if (x->real != NULL && x->ours) {
        free(x->real);
    } else if (x->real != NULL) {
        x->of->inner->unload(device, x->real);
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

/* Tests of several builds have the same kernels, whose compiler no sanitizer changes: as in contexts that have a cache, what one has compiled the
 * next finds. In a folder of its own, for batches are large and would push the kernels out. */
static krf__disk_cache *kept_images(void) {
    static krf__disk_cache *cache;
    const char *folder = getenv("KRF_CACHE_DIR");
    if (cache == NULL && folder != NULL && folder[0] != '\0') {
        char path[1024];
        snprintf(path, sizeof path, "%s/batches", folder);
        cache = krf__disk_cache_create(path, KRF_CACHE_ON, (int64_t)2 << 30, NULL);
    }
    return cache;
}

static krf_status compile_text(const front *f, const char *text, const char *name, void **image, size_t *bytes) {
    krf__str key = {0};
    krf__disk_cache *kept = kept_images();
    const bool known = kept != NULL && f->inner->identity(f->device, &key) == KRF_OK;
    krf__str_put(&key, text);
    krf_status status = KRF_OK;
    if (!known || key.failed || !krf__disk_cache_get(kept, key.data, key.length, image, bytes)) {
        status = f->inner->compile(f->device, text, name, image, bytes);
        if (status == KRF_OK && known && !key.failed) {
            krf__disk_cache_put(kept, key.data, key.length, *image, *bytes);
        }
    }
    krf__str_free(&key);
    return status;
}

static krf_status compile_alone(note *x) {
    void *image = NULL;
    size_t bytes = 0;
    x->ours = false;
    krf_status status = compile_text(x->of, x->source, x->name, &image, &bytes);
    if (status == KRF_OK) {
        status = x->of->inner->load(x->of->device, image, bytes, x->name, &x->real);
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
    return front_of(device)->inner->launch(device, &real, stream);
}

/* The last context of a back end takes its images along. */
static void outer_close(krf__device *device) {
    front *own = &batch.fronts[front_of(device) - batch.fronts];
    const krf__backend *const inner = own->inner;
    size_t kept = 0;
    bool last = true;
    own->device = NULL;
    for (int i = 0; i < FRONTS; i++) {
        last &= batch.fronts[i].device == NULL || batch.fronts[i].inner != inner;
    }
    for (size_t i = 0; i < batch.n_handles; i++) {
        if (last && batch.handles[i].inner == inner) {
            (inner == &krf__backend_cpu ? batch_unload_cpu : batch_unload_cuda)(device, batch.handles[i].handle);
        } else {
            batch.handles[kept++] = batch.handles[i];
        }
    }
    batch.n_handles = kept;
    inner->close(device);
}

void batch_install(krf_context *context) {
    front *f = batch.fronts;
    while (f->device != NULL) {
        f++;
    }
    f->inner = context->backend;
    f->device = context->device;
    f->outer = *context->backend;
    f->outer.compile = outer_compile;
    f->outer.load = outer_load;
    f->outer.unload = outer_unload;
    f->outer.module_info = outer_module_info;
    f->outer.launch = outer_launch;
    f->outer.replays = NULL;
    f->outer.close = outer_close;
    context->backend = &f->outer;
}

void batch_begin(void) { batch.pretending = true; }

/* ---- many at once ---- */

/* Behind the comment: expressions that are written otherwise may be one kernel. */
static const char *text_of(const note *x) {
    const char *end = strstr(x->source, "*/");
    return end != NULL ? end : x->source;
}
static bool same_kernel(const note *a, const note *b) { return strcmp(a->name, b->name) == 0 && strcmp(text_of(a), text_of(b)) == 0; }

/* Equal ones, of several contexts, are next to each other. */
static void compile_together(note **notes, size_t n) {
    const front *f = notes[0]->of;
    const bool cpu = f->inner == &krf__backend_cpu;
    const char *names[2 * KERNELS_A_TEXT];
    krf__module *modules[2 * KERNELS_A_TEXT] = {NULL};
    krf__str text = {0};
    void *image = NULL, *handle = NULL;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !same_kernel(notes[i], notes[i - 1])) {
            batch_text_add(&text, notes[i]->source, notes[i]->name, i);
        }
        names[i] = notes[i]->name;
    }
    if (!text.failed && compile_text(f, text.data, "batch", &image, &bytes) == KRF_OK) {
        handle = (cpu ? batch_load_cpu : batch_load_cuda)(f->device, image, bytes, n, names, modules);
    }
    if (handle == NULL) {
        fprintf(stderr, "%zu kernels do not compile together, so they are compiled alone: %.600s\n", n,
                krf_error_message());
    } else if (krf__grow(&batch.handles, &batch.handles_capacity, batch.n_handles + 1, sizeof *batch.handles)) {
        batch.handles[batch.n_handles++] = (image_handle){f->inner, handle};
    }
    for (size_t i = 0; i < n; i++) {
        notes[i]->real = modules[i];
        notes[i]->ours = true;
        batch.together += modules[i] != NULL;
    }
    krf__mem_free(image);
    krf__str_free(&text);
}

/* By back end; maps before reductions: NVRTC's options depend on what loops a text has. */
static int by_name(const void *a, const void *b) {
    const note *x = *(note *const *)a, *y = *(note *const *)b;
    const int cpu = (x->of->inner == &krf__backend_cpu) - (y->of->inner == &krf__backend_cpu);
    return cpu != 0 ? cpu : strcmp(x->name, y->name);
}

void batch_end(void) {
    batch.pretending = false;
    if (batch.n > 0) {
        qsort(batch.notes, batch.n, sizeof *batch.notes, by_name);
    }
    for (size_t i = 0, n; i < batch.n; i += n) {
        size_t bytes = 0, different = 0;
        for (n = 0; n < 2 * KERNELS_A_TEXT && i + n < batch.n && batch.notes[i + n]->of->inner == batch.notes[i]->of->inner; n++) {
            const bool again = n > 0 && same_kernel(batch.notes[i + n], batch.notes[i + n - 1]);
            const size_t more = again ? 0 : strlen(batch.notes[i + n]->source);
            if (n > 0 && !again && (different == KERNELS_A_TEXT || bytes + more > BYTES_A_TEXT)) {
                break;
            }
            bytes += more;
            different += !again;
        }
        compile_together(batch.notes + i, n);
    }
    batch.n = 0;
}

void batch_counts(long *together, long *alone) {
    *together = batch.together;
    *alone = batch.alone;
}
