/* Shared libraries and tables of their entry points, for driver.c and nvrtc.c. */
#include "backend/cuda/symbols.h"

#include <dlfcn.h>
#include <string.h>

_Static_assert(sizeof(void (*)(void)) == sizeof(void *), "dlsym's result must fit a function pointer");

const char *krf__symbols_resolve(void *library, const krf__symbol *symbols, size_t count, void *functions) {
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);
        /* Copied as bytes: C has no conversion from an object pointer to a function pointer. */
        memcpy((char *)functions + symbols[i].offset, &address, sizeof address);
        if (!address && symbols[i].required && !missing) {
            missing = symbols[i].name;
        }
    }
    return missing;
}

void *krf__symbols_open(const char *path, const char **reason) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        *reason = text ? text : "dlopen failed";
    }
    return library;
}
