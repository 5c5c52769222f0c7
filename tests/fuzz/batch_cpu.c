/* Shared objects, as src/backend/cpu/loader.c has them, but unloaded in the end. */
#include "fuzz/batch_load.h"

#include "backend/cpu/loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static krf__kernel_function function_of(void *library, const char *symbol) {
    void *address = dlsym(library, symbol);
    krf__kernel_function function;
    memcpy(&function, &address, sizeof function);
    return function;
}

static krf__module *module_of(void *library, const char *name) {
    char finish[80];
    struct krf__module m = {.run = function_of(library, name)};
    snprintf(finish, sizeof finish, "%s_finish", name);
    m.finish = function_of(library, finish);
    struct krf__module *module = m.run != NULL ? malloc(sizeof *module) : NULL;
    if (module != NULL) {
        *module = m;
    }
    return module;
}

void *batch_load_cpu(krf__device *device, const void *image, size_t bytes, size_t n, const char *const *names,
                     krf__module **modules) {
    char path[] = "/tmp/kerfuse-fuzz-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool written = file != NULL && fwrite(image, 1, bytes, file) == bytes;
    written = file != NULL && fclose(file) == 0 && written;
    void *library = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    (void)device;
    if (fd >= 0) {
        unlink(path);
    }
    for (size_t i = 0; i < n; i++) {
        modules[i] = library != NULL ? module_of(library, names[i]) : NULL;
    }
    return library;
}

void batch_unload_cpu(krf__device *device, void *handle) {
    (void)device;
    dlclose(handle);
}
