/* NVTX 3 without its headers: the application gives the profiler's library tables of places, into which that writes its functions. What is used of them is declared
 * here; tests/unit/test_nvtx_declarations.c compares it with the toolkit's headers where these exist. State of the process, for the protocol has no room for another
 * owner. */
#include "base/ranges.h"

#include "base/nvtx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void *krf__ranges_domain;

static nvtx_function places[KRF__NVTX_MODULES][KRF__NVTX_PLACES];
static nvtx_function *tables[KRF__NVTX_MODULES][KRF__NVTX_PLACES + 1];

/* Of each module, how many functions there are, the first being none. */
static const unsigned sizes[KRF__NVTX_MODULES] = {[KRF__NVTX_CORE] = 16, [KRF__NVTX_CUDA] = 9, [KRF__NVTX_OPENCL] = 15, [KRF__NVTX_CUDART] = 7, [KRF__NVTX_CORE2] = 16, [KRF__NVTX_SYNC] = 7};

static int give_table(nvtx_enum module, nvtx_function ***table, unsigned *size) {
    if (module >= KRF__NVTX_MODULES || sizes[module] == 0) {
        return 0;
    }
    for (unsigned i = 1; i < sizes[module]; i++) {
        tables[module][i] = &places[module][i];
    }
    if (size != NULL) {
        *size = sizes[module];
    }
    if (table != NULL) {
        *table = tables[module];
    }
    return 1;
}

static void take_version(uint32_t version) { (void)version; }

static const nvtx_callbacks callbacks = {.size = sizeof callbacks, .give_table = give_table};
static const nvtx_version version = {.size = sizeof version, .version = KRF__NVTX_VERSION, .take = take_version};

static const void *give_export(uint32_t id) {
    return id == KRF__NVTX_ETID_CALLBACKS ? (const void *)&callbacks : id == KRF__NVTX_ETID_VERSIONINFO ? (const void *)&version : NULL;
}

/* A set-uid program loads no library that its caller names. */
static void look_for_profiler(void) {
    const char *path = secure_getenv("NVTX_INJECTION64_PATH");
    void *library = path != NULL && path[0] != '\0' ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    int (*start)(const void *(*give)(uint32_t id)) = NULL;
    if (library != NULL) {
        *(void **)&start = dlsym(library, "InitializeInjectionNvtx2");
    }
    if (start == NULL || start(give_export) == 0) {
        if (library != NULL) {
            dlclose(library);
        }
        return;
    }
    nvtx_domain_create *create = (nvtx_domain_create *)places[KRF__NVTX_CORE2][KRF__NVTX_DomainCreateA];
    if (create != NULL && places[KRF__NVTX_CORE2][KRF__NVTX_DomainRangePushEx] != NULL && places[KRF__NVTX_CORE2][KRF__NVTX_DomainRangePop] != NULL) {
        krf__ranges_domain = create("kerfuse");
    }
}

void krf__ranges_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_profiler);
}

void krf__ranges_push(const char *what, const char *name) {
    char text[160];
    const char *shown = name;
    if (what != NULL) {
        snprintf(text, sizeof text, "%s %s", what, name);
        shown = text;
    }
    const nvtx_attributes attributes = {.version = KRF__NVTX_VERSION, .size = sizeof attributes, .message_type = KRF__NVTX_ASCII, .message = shown};
    ((nvtx_range_push *)places[KRF__NVTX_CORE2][KRF__NVTX_DomainRangePushEx])(krf__ranges_domain, &attributes);
}

void krf__ranges_pop(void) { ((nvtx_range_pop *)places[KRF__NVTX_CORE2][KRF__NVTX_DomainRangePop])(krf__ranges_domain); }
