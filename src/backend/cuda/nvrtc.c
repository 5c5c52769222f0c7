/* Loads NVRTC and compiles kernels with it. Programs of several threads compile at the same time; a krf__nvrtc is
 * constant once loaded. */
#include "backend/cuda/nvrtc.h"

#include "backend/backend.h"
#include "backend/cuda/symbols.h"
#include "base/fail.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_SHOWN = 1500, MAX_OPTIONS = 40, MAX_ASKED = MAX_OPTIONS + 2, OPTION_LENGTH = 256 };

/* No fast math and no contraction, unless the kernel's text asks for it: a kernel has the same bits on every machine. */
#define OPTION_FMAD "--fmad=false"
#define OPTION_STD "--std=c++17"
#define OPTION_MINIMAL "--minimal" /* kernels use none of the language features that it leaves out */

const char krf__nvrtc_options[] = OPTION_FMAD " " OPTION_STD " " OPTION_MINIMAL;

static const krf__symbol symbols[] = {
#define NVRTC_FUNCTION(name, type, arguments) {#name, offsetof(krf__nvrtc, name), true},
#include "backend/cuda/nvrtc.def"
};

static int compare_archs(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The newest NVRTC of the next years may list more than fit: then the rest is unknown to us. */
static nvrtc_result read_archs(krf__nvrtc *nvrtc) {
    int count = 0;
    nvrtc_result result = nvrtc->nvrtcGetNumSupportedArchs(&count);
    if (result != KRF__NVRTC_SUCCESS || count <= 0) {
        return result;
    }
    int *all = krf__calloc((size_t)count, sizeof *all);
    if (!all) {
        return KRF__NVRTC_ERROR_OUT_OF_MEMORY;
    }
    result = nvrtc->nvrtcGetSupportedArchs(all);
    if (result == KRF__NVRTC_SUCCESS) {
        qsort(all, (size_t)count, sizeof *all, compare_archs);
        nvrtc->arch_count = count < KRF__NVRTC_ARCHS ? count : KRF__NVRTC_ARCHS;
        memcpy(nvrtc->archs, all, (size_t)nvrtc->arch_count * sizeof *all);
    }
    krf__mem_free(all);
    return result;
}

krf_status krf__nvrtc_load(krf__nvrtc *nvrtc, const char *file) {
    memset(nvrtc, 0, sizeof *nvrtc);
    const char *reason = NULL;
    void *library = krf__symbols_open(file, &reason);
    if (!library) {
        return krf__fail(KRF_E_COMPILE, "cannot load NVRTC: %s", reason);
    }
    const char *missing = krf__symbols_resolve(library, symbols, sizeof symbols / sizeof *symbols, nvrtc);
    if (missing) {
        return krf__fail(KRF_E_COMPILE, "%s has no %s: it is not NVRTC 12.0 or newer", file, missing);
    }
    nvrtc_result result = nvrtc->nvrtcVersion(&nvrtc->major, &nvrtc->minor);
    if (result == KRF__NVRTC_SUCCESS) {
        result = read_archs(nvrtc);
    }
    if (result != KRF__NVRTC_SUCCESS) {
        return krf__fail(result == KRF__NVRTC_ERROR_OUT_OF_MEMORY ? KRF_E_MEMORY : KRF_E_COMPILE,
                         "%s does not tell its version: %s", file, nvrtc->nvrtcGetErrorString(result));
    }
    return KRF_OK;
}

bool krf__nvrtc_has(const krf__nvrtc *nvrtc, int arch) { return arch > 0 && krf__nvrtc_best(nvrtc, arch) == arch; }

int krf__nvrtc_best(const krf__nvrtc *nvrtc, int arch) {
    int best = 0;
    for (int i = 0; i < nvrtc->arch_count && nvrtc->archs[i] <= arch; i++) {
        best = nvrtc->archs[i];
    }
    return best;
}

krf_status krf__nvrtc_refuse(const krf__nvrtc *nvrtc, int arch) {
    const char *advice;
    int newest = nvrtc->arch_count ? nvrtc->archs[nvrtc->arch_count - 1] : 0;
    if (arch > newest) {
        advice = "a newer libnvrtc may";
    } else if (arch >= 50 && arch < 75) {
        advice =
            "libnvrtc 12 does: install libnvrtc.so.12 (PyPI: nvidia-cuda-nvrtc-cu12) and set KRF_LIBNVRTC to its path";
    } else if (arch < 50) {
        advice = "no libnvrtc that kerfuse supports does";
    } else {
        advice = "is the number right?";
    }
    krf__str list = {0};
    for (int i = 0; i < nvrtc->arch_count; i++) {
        krf__str_printf(&list, "%ssm_%d", i ? ", " : "", nvrtc->archs[i]);
    }
    krf_status status = krf__fail(KRF_E_UNSUPPORTED, "NVRTC %d.%d does not compile for sm_%d; %s. It compiles for %s",
                                  nvrtc->major, nvrtc->minor, arch, advice, list.data ? list.data : "nothing");
    krf__str_free(&list);
    return status;
}

/* ---- compiling ---- */

static krf_status fail_compile(const krf__nvrtc *nvrtc, nvrtc_program program, nvrtc_result result, const char *arch,
                               const char *name) {
    size_t bytes = 0;
    char *log = NULL;
    if (program && nvrtc->nvrtcGetProgramLogSize(program, &bytes) == KRF__NVRTC_SUCCESS && bytes > 1) {
        log = krf__calloc(1, bytes + 1);
        if (log) {
            nvrtc->nvrtcGetProgramLog(program, log);
        }
    }
    const char *reason = nvrtc->nvrtcGetErrorString(result);
    krf_status status = krf__fail(result == KRF__NVRTC_ERROR_OUT_OF_MEMORY ? KRF_E_MEMORY : KRF_E_COMPILE,
                                  "NVRTC %d.%d cannot compile %s for sm_%s (%s)%s%.*s", nvrtc->major, nvrtc->minor,
                                  name, arch, reason, log ? ": " : "", LOG_SHOWN, log ? log : "");
    krf__mem_free(log);
    return status;
}

/* The image with a NUL behind it. PTX's own size counts its NUL, which *bytes does not. */
static nvrtc_result take_image(const krf__nvrtc *nvrtc, nvrtc_program program, bool ptx, void **image, size_t *bytes) {
    size_t size = 0;
    nvrtc_result result = ptx ? nvrtc->nvrtcGetPTXSize(program, &size) : nvrtc->nvrtcGetCUBINSize(program, &size);
    if (result != KRF__NVRTC_SUCCESS) {
        return result;
    }
    char *data = krf__malloc(size + 1);
    if (!data) {
        return KRF__NVRTC_ERROR_OUT_OF_MEMORY;
    }
    result = ptx ? nvrtc->nvrtcGetPTX(program, data) : nvrtc->nvrtcGetCUBIN(program, data);
    if (result != KRF__NVRTC_SUCCESS) {
        krf__mem_free(data);
        return result;
    }
    data[size] = '\0';
    *image = data;
    *bytes = ptx ? strlen(data) : size;
    return KRF__NVRTC_SUCCESS;
}

/* The next option that a kernel's text asks for on a line of its own, "// NVRTC option: --Ofast-compile=min", and the text after it; NULL without one. */
static const char *read_option(const char *source, char option[OPTION_LENGTH]) {
    static const char mark[] = "// NVRTC option: ";
    const char *at = strstr(source, mark);
    if (at) {
        at += sizeof mark - 1;
        snprintf(option, OPTION_LENGTH, "%.*s", (int)strcspn(at, "\n"), at);
    }
    return at;
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* The options that the text asks for; what NVRTC does not know yet costs compile time only. A second --fmad or --std takes the place of the first, at 1 and 2;
 * --no-minimal, which is none of NVRTC's, takes the last of ours away. */
static int add_options(const char *source, bool recent, char asked[MAX_ASKED][OPTION_LENGTH], const char **options, int count) {
    char option[OPTION_LENGTH];
    int kept = 2; /* of those asked, behind --fmad and --std, of which the last counts, however often they are asked for */
    while (count < MAX_OPTIONS && kept < MAX_ASKED && (source = read_option(source, option)) != NULL) {
        if (begins(option, "--fmad=") || begins(option, "-fmad=")) {
            options[1] = strcpy(asked[0], option);
        } else if (begins(option, "--std=") || begins(option, "-std=")) {
            options[2] = strcpy(asked[1], option);
        } else if (strcmp(option, "--no-minimal") == 0) {
            count -= strcmp(options[count - 1], OPTION_MINIMAL) == 0;
        } else if (recent || strncmp(option, "--Ofast", strlen("--Ofast")) != 0) {
            options[count++] = strcpy(asked[kept++], option);
        }
    }
    return count;
}

krf_status krf__nvrtc_build(const krf__nvrtc *nvrtc, const char *arch, bool ptx, const char *source, const char *name,
                            void **image, size_t *bytes) {
    char target[64], file[96], asked[MAX_ASKED][OPTION_LENGTH];
    snprintf(target, sizeof target, "--gpu-architecture=%s_%s", ptx ? "compute" : "sm", arch);
    snprintf(file, sizeof file, "%s.cu", name);

    const char *options[MAX_OPTIONS] = {target, OPTION_FMAD, OPTION_STD};
    int count = 3;
    /* From 12.9 on NVRTC has a cache of its own, for which it calls cuInit: not in a process that only compiles. */
    const bool recent = nvrtc->major > 12 || (nvrtc->major == 12 && nvrtc->minor >= 9);
    if (recent) {
        options[count++] = "--no-cache";
        options[count++] = OPTION_MINIMAL;
    }
    count = add_options(source, recent, asked, options, count);

    nvrtc_program program = NULL;
    krf_status status = KRF_OK;
    nvrtc_result result = nvrtc->nvrtcCreateProgram(&program, source, file, 0, NULL, NULL);
    if (result == KRF__NVRTC_SUCCESS) {
        result = nvrtc->nvrtcCompileProgram(program, count, options);
    }
    if (result == KRF__NVRTC_SUCCESS) {
        result = take_image(nvrtc, program, ptx, image, bytes);
    }
    if (result != KRF__NVRTC_SUCCESS) {
        status = fail_compile(nvrtc, program, result, arch, name);
    }
    if (program) {
        nvrtc->nvrtcDestroyProgram(&program);
    }
    return status;
}

/* "sm_90a" -> "90a" and 90. */
bool krf__nvrtc_arch(const char *text, const char **digits, int *number) {
    static const char *const prefixes[] = {"sm_", "compute_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(text, prefixes[i], length) != 0) {
            continue;
        }
        size_t n = strspn(text + length, "0123456789");
        const char *end = text + length + n;
        if (n < 2 || n > 4 || (*end && (!islower((unsigned char)*end) || end[1]))) {
            return false;
        }
        *digits = text + length;
        *number = (int)strtol(*digits, NULL, 10);
        return true;
    }
    return false;
}

krf_status krf__nvrtc_compile(const char *nvrtc_path, const char *arch, bool ptx, const char *source, const char *name,
                              void **image, size_t *bytes) {
    const char *digits;
    int number;
    if (!krf__nvrtc_arch(arch, &digits, &number)) {
        return krf__fail(KRF_E_ARGUMENT, "'%s' is not an architecture such as sm_90 or sm_90a", arch);
    }
    char *file = NULL;
    krf_status status = krf__nvrtc_find(nvrtc_path, KRF__NVRTC_NEWEST, &file);
    if (status != KRF_OK) {
        return status;
    }
    if (!file) {
        return krf__nvrtc_missing(KRF__NVRTC_NEWEST);
    }
    krf__nvrtc nvrtc;
    status = krf__nvrtc_load(&nvrtc, file);
    krf__mem_free(file);
    if (status != KRF_OK) {
        return status;
    }
    if (!krf__nvrtc_has(&nvrtc, number)) {
        return krf__nvrtc_refuse(&nvrtc, number);
    }
    return krf__nvrtc_build(&nvrtc, digits, ptx, source, name, image, bytes);
}
