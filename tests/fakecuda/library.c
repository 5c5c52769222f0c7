/* Loading images and finding kernels in them. */
#include "library.h"

#include "engine.h"
#include "image_file.h"
#include "stream.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct CUkern_st {
    cu_library library;
    unsigned index;
};

struct CUfunc_st {
    cu_library library;
    unsigned index;
    int device;
    _Atomic unsigned dynamic; /* bytes of shared memory that launches may have, as it was told */
};

struct CUlib_st {
    fake_object object;
    unsigned char *bytes; /* the shared object */
    size_t size;
    fake_copy *copies;           /* under fake_lock */
    const fakecuda_image *image; /* of one of them */
    struct CUkern_st *kernels;
    struct CUfunc_st *functions;
};

/* ---- copies ---- */

/* The loader takes two files of one inode or name for one library: each copy is a file of its own. */
static fake_copy *load_copy(cu_library library) {
    char file[256];
    snprintf(file, sizeof file, "%s/fakecuda-XXXXXX.so", fake_folder());
    int out = mkostemps(file, 3, O_CLOEXEC);
    if (out < 0 || write(out, library->bytes, library->size) != (ssize_t)library->size) {
        fake_die("%s: %s", file, strerror(errno));
    }
    close(out);
    fake_copy *copy = calloc(1, sizeof *copy);
    if (!copy) {
        fake_die("out of host memory");
    }
    copy->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    copy->image = copy->handle ? dlsym(copy->handle, "fakecuda_image_2") : NULL;
    if (!copy->image) {
        const char *reason = dlerror();
        fprintf(stderr, "fakecuda: a kernel image does not load: %s\n", reason ? reason : "no reason given");
        unlink(file);
        free(copy);
        return NULL;
    }
    if (fake_sanitized()) {
        copy->file = strdup(file);
    } else {
        unlink(file);
    }
    *copy->image->runtime = &fake_runtime;
    return copy;
}

static void close_copy(fake_copy *copy) {
    dlclose(copy->handle);
    if (copy->file) {
        unlink(copy->file);
        free(copy->file);
    }
    free(copy);
}

void fake_library_copies(cu_library library, cu_stream stream, fake_copy **copies, unsigned most) {
    unsigned n = 0;
    pthread_rwlock_wrlock(&fake_lock);
    for (fake_copy *c = library->copies; c && n < most; c = c->next) {
        if (c->owner == stream || !c->owner) {
            c->owner = stream;
            copies[n++] = c;
        }
    }
    for (; n < most; n++) {
        fake_copy *c = load_copy(library);
        if (!c) {
            fake_die("an image that did load does not load again");
        }
        c->owner = stream;
        c->next = library->copies;
        library->copies = copies[n] = c;
    }
    pthread_rwlock_unlock(&fake_lock);
}

void fake_library_leave(cu_stream stream) {
    pthread_rwlock_wrlock(&fake_lock);
    for (fake_object *o = fake_object_first(FAKE_LIBRARY); o; o = o->next) {
        for (fake_copy *c = ((cu_library)(void *)o)->copies; c; c = c->next) {
            c->owner = c->owner == stream ? NULL : c->owner;
        }
    }
    pthread_rwlock_unlock(&fake_lock);
}

/* ---- loading ---- */

/* PTX is translated for the device at hand. */
static cu_result translate(const char *text, cu_library library) {
    size_t length = strlen(text), tail = sizeof FAKE_PTX_TAIL - 1;
    if (length < tail || strcmp(text + length - tail, FAKE_PTX_TAIL) != 0) {
        return FAKE_INVALID_PTX;
    }
    const fake_job job = {.text = text, .bytes = length, .assembly = true};
    char *log = NULL;
    library->bytes = fake_compile(&job, &library->size, &log);
    free(log);
    return library->bytes ? KRF__CUDA_SUCCESS : FAKE_INVALID_PTX;
}

static cu_result read_image(const void *image, cu_library library) {
    unsigned arch = 0;
    if (strncmp(image, FAKE_PTX_HEAD, sizeof FAKE_PTX_HEAD - 1) == 0) {
        return translate(image, library);
    }
    library->bytes = fake_image_unseal(image, &library->size, &arch);
    if (!library->bytes) {
        return FAKE_INVALID_IMAGE;
    }
    /* Binaries run on devices of the same major version that are not older. */
    unsigned device = (unsigned)fake_arch();
    return arch / 10 == device / 10 && arch <= device ? KRF__CUDA_SUCCESS : FAKE_NO_BINARY;
}

static void free_library(cu_library library) {
    for (fake_copy *c = library->copies, *next; c; c = next) {
        next = c->next;
        close_copy(c);
    }
    free(library->kernels);
    free(library->functions);
    free(library->bytes);
    free(library);
}

cu_result cuLibraryLoadData(cu_library *library, const void *image, cu_enum *jit_options, void **jit_values,
                            unsigned int jit_count, cu_enum *library_options, void **library_values,
                            unsigned int library_count) {
    ENTER(cuLibraryLoadData, FAKE_NEEDS_HEALTH);
    (void)jit_options, (void)jit_values, (void)library_options, (void)library_values;
    if (!library || !image) {
        return FAKE_INVALID_VALUE;
    }
    if (jit_count > 0 || library_count > 0) {
        return fake_misuse(FAKE_NOT_SUPPORTED, "cuLibraryLoadData: options are not simulated");
    }
    cu_library l = calloc(1, sizeof *l);
    if (!l) {
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    cu_result result = read_image(image, l);
    if (result == KRF__CUDA_SUCCESS) {
        l->copies = load_copy(l);
        result = l->copies ? KRF__CUDA_SUCCESS : FAKE_INVALID_IMAGE;
    }
    if (result == KRF__CUDA_SUCCESS) {
        l->image = l->copies->image;
    }
    /* The limit holds for each kernel; which of the image's declares what is not known. */
    if (result == KRF__CUDA_SUCCESS
        && l->image->shared_end - l->image->shared_begin > (ptrdiff_t)FAKE_MAX_SHARED * (ptrdiff_t)l->image->n_kernels) {
        result = fake_misuse(FAKE_INVALID_IMAGE, "more than %d bytes of shared memory", FAKE_MAX_SHARED);
    }
    if (result != KRF__CUDA_SUCCESS) {
        free_library(l);
        return result;
    }
    unsigned n = l->image->n_kernels;
    l->kernels = calloc(n + 1, sizeof *l->kernels);
    l->functions = calloc(n * FAKE_MOST_DEVICES + 1, sizeof *l->functions); /* each device has its own */
    for (unsigned i = 0; l->kernels && l->functions && i < n; i++) {
        l->kernels[i] = (struct CUkern_st){l, i};
    }
    for (unsigned i = 0; l->kernels && l->functions && i < n * FAKE_MOST_DEVICES; i++) {
        l->functions[i] = (struct CUfunc_st){l, i % n, (int)(i / n), 0};
    }
    fake_object_add(&l->object, FAKE_LIBRARY);
    *library = l;
    return KRF__CUDA_SUCCESS;
}

cu_result cuLibraryUnload(cu_library library) {
    ENTER(cuLibraryUnload, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(library, FAKE_LIBRARY);
    for (const fake_copy *c = library->copies; c; c = c->next) {
        if (c->owner && atomic_load_explicit(&c->owner->line->done, memory_order_relaxed) < atomic_load_explicit(&c->last, memory_order_relaxed)) {
            return fake_misuse(FAKE_INVALID_HANDLE, "cuLibraryUnload: a kernel of the library may still run");
        }
    }
    fake_object_remove(&library->object);
    free_library(library);
    return KRF__CUDA_SUCCESS;
}

/* ---- kernels ---- */

cu_result cuLibraryGetKernel(cu_kernel *kernel, cu_library library, const char *name) {
    ENTER(cuLibraryGetKernel, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(library, FAKE_LIBRARY);
    if (!kernel || !name) {
        return FAKE_INVALID_VALUE;
    }
    const fakecuda_image *image = library->image;
    for (unsigned i = 0; i < image->n_kernels; i++) {
        if (strcmp(image->kernels[i].name, name) == 0) {
            *kernel = &library->kernels[i];
            return KRF__CUDA_SUCCESS;
        }
    }
    return FAKE_NOT_FOUND;
}

/* The library whose kernels (functions) lie around the handle. */
static cu_library around(const void *handle, bool functions) {
    pthread_rwlock_rdlock(&fake_lock);
    cu_library found = NULL;
    for (fake_object *o = fake_object_first(FAKE_LIBRARY); o && !found; o = o->next) {
        cu_library l = (cu_library)(void *)o;
        const char *first = functions ? (const char *)l->functions : (const char *)l->kernels;
        size_t bytes = l->image->n_kernels * (functions ? FAKE_MOST_DEVICES * sizeof *l->functions : sizeof *l->kernels);
        found = (uintptr_t)handle - (uintptr_t)first < bytes ? l : NULL;
    }
    pthread_rwlock_unlock(&fake_lock);
    return found;
}

cu_result cuKernelGetFunction(cu_function *function, cu_kernel kernel) {
    ENTER(cuKernelGetFunction, FAKE_NEEDS_CURRENT);
    cu_library library = around(kernel, false);
    if (!library) {
        return fake_misuse(FAKE_INVALID_HANDLE, "cuKernelGetFunction: %p is no kernel", (void *)kernel);
    }
    if (!function) {
        return FAKE_INVALID_VALUE;
    }
    *function = &library->functions[(unsigned)fake_device() * library->image->n_kernels + kernel->index];
    return KRF__CUDA_SUCCESS;
}

cu_library fake_library_of(cu_function function, unsigned *kernel) {
    cu_library library = around(function, true);
    *kernel = library ? function->index : 0;
    return library;
}

cu_function fake_function_of(const cu_kernel_node_params *p) {
    const int device = p->context ? fake_device_of(p->context) : fake_device();
    cu_library library = !p->function && p->kernel && device >= 0 ? around(p->kernel, false) : NULL;
    return library ? &library->functions[(unsigned)device * library->image->n_kernels + p->kernel->index] : p->function;
}

int fake_function_device(cu_function function) { return function->device; }

const fakecuda_kernel *fake_kernel_of(cu_library library, unsigned kernel) { return &library->image->kernels[kernel]; }

/* Registers are plausible, the rest is what it is: the host's compiler puts nothing into local memory. */
cu_result cuFuncGetAttribute(int *value, cu_enum attribute, cu_function function) {
    ENTER(cuFuncGetAttribute, FAKE_NEEDS_HEALTH);
    unsigned kernel;
    cu_library library = fake_library_of(function, &kernel);
    if (!library) {
        return fake_misuse(FAKE_INVALID_HANDLE, "cuFuncGetAttribute: %p is no function", (void *)function);
    }
    if (!value) {
        return FAKE_INVALID_VALUE;
    }
    switch (attribute) {
    case KRF__CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)fake_setting("FAKECUDA_REGISTERS", 32); break;
    case KRF__CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 0; break;
    case KRF__CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = FAKE_MAX_THREADS; break;
    case KRF__CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)(library->image->shared_end - library->image->shared_begin);
        break;
    default: return fake_misuse(FAKE_INVALID_VALUE, "cuFuncGetAttribute: attribute %u is not simulated", attribute);
    }
    return KRF__CUDA_SUCCESS;
}

cu_result cuFuncSetAttribute(cu_function function, cu_enum which, int value) {
    ENTER(cuFuncSetAttribute, FAKE_NEEDS_CURRENT);
    unsigned kernel;
    cu_library library = fake_library_of(function, &kernel);
    if (!library) {
        return fake_misuse(FAKE_INVALID_HANDLE, "cuFuncSetAttribute: %p is no function", (void *)function);
    }
    if (which != KRF__CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuFuncSetAttribute: attribute %u is not simulated", which);
    }
    if (value < 0 || value + (library->image->shared_end - library->image->shared_begin) > FAKECUDA_DYNAMIC) {
        return FAKE_INVALID_VALUE;
    }
    atomic_store(&library->functions[kernel].dynamic, (unsigned)value);
    return KRF__CUDA_SUCCESS;
}

unsigned fake_dynamic_of(cu_library library, unsigned kernel) {
    const unsigned allowed = atomic_load(&library->functions[kernel].dynamic), own = (unsigned)(library->image->shared_end - library->image->shared_begin);
    const unsigned unasked = own < FAKE_MAX_SHARED ? FAKE_MAX_SHARED - own : 0; /* what a kernel has of its own counts too */
    return allowed > unasked ? allowed : unasked;
}
