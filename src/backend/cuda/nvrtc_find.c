/* Finds the file of libnvrtc without loading it: loading costs 6 to 300 ms, and a process whose kernels are all in the
 * disk cache needs only to know which compiler would have made them. Mapped libraries come first, so that a process
 * never holds two copies of one version. */
#include "backend/cuda/nvrtc.h"

#include "base/fail.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef __aarch64__
#define TRIPLET "aarch64-linux-gnu"
#else
#define TRIPLET "x86_64-linux-gnu"
#endif

/* Folders, best first. variable: an environment variable that holds a folder, or several separated by ':'; the folder
 * behind it is appended. */
static const struct {
    const char *variable, *folder;
} places[] = {
    {"LD_LIBRARY_PATH", ""},
    {NULL, "/usr/lib/" TRIPLET},
    {NULL, "/usr/lib64"},
    {NULL, "/usr/lib"},
    {NULL, "/usr/local/lib"},
    {"CUDA_HOME", "/lib64"},
    {"CUDA_HOME", "/lib"},
    {"CUDA_PATH", "/lib64"},
    {"CUDA_PATH", "/lib"},
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda-*/lib64"},
    {NULL, "/opt/cuda/lib64"},
    {"CONDA_PREFIX", "/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu*/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cu*/lib"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/cu*/lib"},
    {NULL, "/usr/local/lib/python3*/dist-packages/nvidia/cu*/lib"},
    {NULL, "/usr/local/lib/python3*/site-packages/nvidia/cu*/lib"},
    {NULL, "/usr/lib/python3/dist-packages/nvidia/cu*/lib"},
    {NULL, "/usr/lib/python3*/site-packages/nvidia/cu*/lib"},
};

static bool resolve(const char *file, char found[PATH_MAX]) {
    struct stat info;
    return realpath(file, found) && stat(found, &info) == 0 && S_ISREG(info.st_mode);
}

/* The last match of the pattern `folder`/libnvrtc.so.`major`: of cuda-12.4 and cuda-12.9, the newer. */
static bool find_in(const char *prefix, size_t prefix_length, const char *folder, int major, char found[PATH_MAX]) {
    char file[PATH_MAX];
    /* Relative folders depend on where the process happens to be. */
    if ((prefix_length && prefix[0] != '/') || prefix_length >= sizeof file) {
        return false;
    }
    int n = snprintf(file, sizeof file, "%.*s%s/libnvrtc.so.%d", (int)prefix_length, prefix, folder, major);
    if (n < 0 || (size_t)n >= sizeof file) {
        return false;
    }
    if (!strchr(folder, '*')) {
        return resolve(file, found);
    }
    glob_t matches;
    bool done = false;
    if (glob(file, 0, NULL, &matches) == 0) {
        for (size_t i = matches.gl_pathc; i > 0 && !done; i--) {
            done = resolve(matches.gl_pathv[i - 1], found);
        }
        globfree(&matches);
    }
    return done;
}

static bool find_in_places(int major, char found[PATH_MAX]) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i].variable) {
            if (find_in("", 0, places[i].folder, major, found)) {
                return true;
            }
            continue;
        }
        const char *value = secure_getenv(places[i].variable);
        while (value && *value) {
            size_t length = strcspn(value, ":");
            if (length && find_in(value, length, places[i].folder, major, found)) {
                return true;
            }
            value += length + (value[length] == ':');
        }
    }
    return false;
}

/* Through the loader: flags RTLD_NOLOAD asks what is mapped already. The handle is kept open, see symbols.h. */
static bool find_by_loader(const char *name, int flags, char found[PATH_MAX]) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | flags);
    struct link_map *map = NULL;
    return library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map && resolve(map->l_name, found);
}

/* Three rounds: what is mapped, then what lies where one looks, then what only the loader's cache knows. */
static bool search(int newest_major, char found[PATH_MAX]) {
    enum { MAPPED, PLACES, LOADER, ROUNDS };
    for (int round = 0; round < ROUNDS; round++) {
        for (int major = newest_major; major >= KRF__NVRTC_OLDEST; major--) {
            char name[32];
            snprintf(name, sizeof name, "libnvrtc.so.%d", major);
            if (round == PLACES ? find_in_places(major, found)
                                : find_by_loader(name, round == MAPPED ? RTLD_NOLOAD : 0, found)) {
                return true;
            }
        }
    }
    return false;
}

krf_status krf__nvrtc_find(const char *path, int newest_major, char **found) {
    char file[PATH_MAX];
    *found = NULL;
    if (!path) {
        path = secure_getenv("KRF_LIBNVRTC");
    }
    if (path && *path) {
        /* A bare name is the loader's business. */
        bool there = strchr(path, '/') ? resolve(path, file) : find_by_loader(path, 0, file);
        if (!there) {
            return krf__fail(KRF_E_COMPILE,
                             "there is no %s, which was given as libnvrtc (option nvrtc or KRF_LIBNVRTC)", path);
        }
    } else if (!search(newest_major, file)) {
        return KRF_OK;
    }
    *found = krf__strdup(file);
    return *found ? KRF_OK : krf__fail_memory();
}

void krf__nvrtc_identity(const char *found, krf__str *key) {
    struct stat info = {0};
    if (!found) {
        krf__str_put(key, "none");
        return;
    }
    krf__str_put(key, found);
    if (stat(found, &info) == 0) {
        krf__str_printf(key, " inode %llu size %lld time %lld.%09ld", (unsigned long long)info.st_ino,
                        (long long)info.st_size, (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    }
}

krf_status krf__nvrtc_missing(int newest_major) {
    return krf__fail(
        KRF_E_COMPILE,
        "no libnvrtc.so.%d to .%d, which compiles CUDA kernels, was found: looked at what is loaded, "
        "LD_LIBRARY_PATH, the loader's folders, CUDA_HOME, /usr/local/cuda and Python packages. Install it (PyPI: "
        "nvidia-cuda-nvrtc; Ubuntu: cuda-nvrtc-13-0 of NVIDIA's repository; Debian: libnvrtc12) or set KRF_LIBNVRTC "
        "to its path",
        KRF__NVRTC_OLDEST, newest_major);
}
