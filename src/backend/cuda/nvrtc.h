/* NVRTC, found without being loaded, loaded when the first kernel must be compiled. Needs no driver and no device. */
#ifndef KRF_BACKEND_CUDA_NVRTC_H
#define KRF_BACKEND_CUDA_NVRTC_H

#include "base/strbuf.h"
#include <kerfuse/base.h>

typedef unsigned int nvrtc_result;
typedef struct _nvrtcProgram *nvrtc_program;

enum {
#define NVRTC_VALUE(name, value) KRF__##name = value,
#include "backend/cuda/nvrtc.def"
};

enum { KRF__NVRTC_OLDEST = 12, KRF__NVRTC_NEWEST = 13, KRF__NVRTC_ARCHS = 64 };

typedef struct krf__nvrtc {
#define NVRTC_FUNCTION(name, type, arguments) type(*name) arguments;
#include "backend/cuda/nvrtc.def"

    int major, minor;
    int archs[KRF__NVRTC_ARCHS], arch_count; /* it compiles for, ascending: 75, 80, ... */
} krf__nvrtc;

/* ---- nvrtc_find.c ---- */

/* Finds the library file. path: what the caller asked for, else KRF_LIBNVRTC, else the newest major version up to
 * newest_major that is mapped, on the loader's path, in a toolkit or in a Python package. *found: the file, resolved
 * (krf__mem_free); NULL when there is none, which is no error. Loads the library only if it lies where nothing but the
 * loader finds it. */
krf_status krf__nvrtc_find(const char *path, int newest_major, char **found);

/* Appends which file that is: path, inode, size, time of change. "none" for NULL. */
void krf__nvrtc_identity(const char *found, krf__str *key);

/* KRF_E_COMPILE with what to install. */
krf_status krf__nvrtc_missing(int newest_major);

/* ---- nvrtc.c ---- */

/* Options that decide what a compile makes, besides the architecture; for keys. */
extern const char krf__nvrtc_options[];

krf_status krf__nvrtc_load(krf__nvrtc *nvrtc, const char *file);

/* Whether it compiles for arch (90), and the newest it compiles for that is not above arch (0: none). */
bool krf__nvrtc_has(const krf__nvrtc *nvrtc, int arch);
int krf__nvrtc_best(const krf__nvrtc *nvrtc, int arch);

/* KRF_E_UNSUPPORTED, and which NVRTC compiles for it. */
krf_status krf__nvrtc_refuse(const krf__nvrtc *nvrtc, int arch);

/* arch: "90" or "90a". image: krf__mem_free; a NUL stands after *bytes. */
krf_status krf__nvrtc_build(const krf__nvrtc *nvrtc, const char *arch, bool ptx, const char *source, const char *name,
                            void **image, size_t *bytes);

#endif
