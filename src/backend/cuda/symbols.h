/* Shared libraries and tables of their entry points. Libraries stay open for ever, on purpose: libcuda and libnvrtc
 * keep threads and thread-local data, closing one that another part of the process uses gains nothing, and reopening
 * libnvrtc costs 6 ms. */
#ifndef KRF_BACKEND_CUDA_SYMBOLS_H
#define KRF_BACKEND_CUDA_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct krf__symbol {
    const char *name;
    size_t offset; /* of the function pointer in the struct that is filled */
    bool required;
} krf__symbol;

/* Looks all up and stores them; NULL where missing. The name of the first required one that is missing, or NULL. */
const char *krf__symbols_resolve(void *library, const krf__symbol *symbols, size_t count, void *functions);

/* dlopen; on failure NULL, and *reason is the loader's text (valid until this thread's next dl call). */
void *krf__symbols_open(const char *path, const char **reason);

#endif
