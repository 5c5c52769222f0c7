/* The double of libnvrtc: programs, options, and what a compile leaves. */
#include "backend/cuda/nvrtc.h"

#include "calls.h"
#include "image_file.h"
#include "kernels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5 };
enum { MAJOR = 13, MINOR = 0 };

enum {
#define NVRTC_FUNCTION(name, type, arguments) FAKE_##name,
#include "backend/cuda/nvrtc.def"
    FAKE_ENTRIES
};

#define NVRTC_FUNCTION(name, type, arguments) FAKE_API type name arguments;
#include "backend/cuda/nvrtc.def"

fake_entry fake_entries[] = {
#define NVRTC_FUNCTION(name, type, arguments) {#name, 0},
#include "backend/cuda/nvrtc.def"
};
const int fake_entry_count = FAKE_ENTRIES;

void fake_reset_more(void) {}

struct _nvrtcProgram {
    struct _nvrtcProgram *next;
    char *source, *name, *log;
    unsigned char *image;
    size_t image_bytes;
    char *ptx;
    char *flags; /* for the host's compiler */
};

/* Adds a word to a list of them. */
static void fake_append(char **list, const char *word) {
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? " " : "", word) < 0) {
        fake_die("out of host memory");
    }
    free(*list);
    *list = longer;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nvrtc_program programs;
static const int archs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
enum { N_ARCHS = sizeof archs / sizeof *archs };

#define ENTER(name) \
    do { \
        nvrtc_result enter_result = fake_call(FAKE_##name); \
        if (enter_result != KRF__NVRTC_SUCCESS) { \
            return enter_result; \
        } \
    } while (0)

static bool known(nvrtc_program program) {
    pthread_mutex_lock(&lock);
    nvrtc_program at = programs;
    while (at && at != program) {
        at = at->next;
    }
    pthread_mutex_unlock(&lock);
    return at != NULL;
}

#define CHECK_PROGRAM(program) \
    do { \
        if (!known(program)) { \
            return fake_misuse(INVALID_PROGRAM, "%s: %p is no live program", __func__, (void *)(program)); \
        } \
    } while (0)

/* ---- the library ---- */

nvrtc_result nvrtcVersion(int *major, int *minor) {
    ENTER(nvrtcVersion);
    if (!major || !minor) {
        return INVALID_INPUT;
    }
    *major = MAJOR;
    *minor = MINOR;
    return KRF__NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtc_result result) {
    static const char *const names[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    };
    fake_call(FAKE_nvrtcGetErrorString);
    return result < sizeof names / sizeof *names ? names[result] : "NVRTC_ERROR unknown";
}

nvrtc_result nvrtcGetNumSupportedArchs(int *count) {
    ENTER(nvrtcGetNumSupportedArchs);
    if (!count) {
        return INVALID_INPUT;
    }
    *count = N_ARCHS;
    return KRF__NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetSupportedArchs(int *list) {
    ENTER(nvrtcGetSupportedArchs);
    if (!list) {
        return INVALID_INPUT;
    }
    memcpy(list, archs, sizeof archs);
    return KRF__NVRTC_SUCCESS;
}

/* ---- programs ---- */

nvrtc_result nvrtcCreateProgram(nvrtc_program *program, const char *source, const char *name, int header_count,
                                const char *const *headers, const char *const *header_names) {
    ENTER(nvrtcCreateProgram);
    (void)headers, (void)header_names;
    if (!program || !source || header_count != 0) {
        return header_count ? fake_misuse(INVALID_INPUT, "nvrtcCreateProgram: headers are not simulated")
                            : INVALID_INPUT;
    }
    nvrtc_program p = calloc(1, sizeof *p);
    if (!p || !(p->source = strdup(source)) || !(p->name = strdup(name ? name : "default_program"))) {
        fake_die("out of host memory");
    }
    pthread_mutex_lock(&lock);
    p->next = programs;
    programs = p;
    pthread_mutex_unlock(&lock);
    *program = p;
    return KRF__NVRTC_SUCCESS;
}

static void forget(nvrtc_program p) {
    free(p->log);
    free(p->image);
    free(p->ptx);
    free(p->flags);
    p->flags = NULL;
    p->log = NULL;
    p->image = NULL;
    p->ptx = NULL;
}

nvrtc_result nvrtcDestroyProgram(nvrtc_program *program) {
    ENTER(nvrtcDestroyProgram);
    if (!program) {
        return INVALID_PROGRAM;
    }
    CHECK_PROGRAM(*program);
    nvrtc_program p = *program;
    pthread_mutex_lock(&lock);
    for (nvrtc_program *at = &programs; *at; at = &(*at)->next) {
        if (*at == p) {
            *at = p->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    forget(p);
    free(p->source);
    free(p->name);
    free(p);
    *program = NULL;
    return KRF__NVRTC_SUCCESS;
}

/* ---- compiling ---- */

/* "sm_90", "sm_90a", "compute_90": the number and whether it is a real architecture. */
static bool parse_arch(const char *text, unsigned *arch, bool *real) {
    *real = strncmp(text, "sm_", 3) == 0;
    if (!*real && strncmp(text, "compute_", 8) != 0) {
        return false;
    }
    char *end;
    *arch = (unsigned)strtoul(text + (*real ? 3 : 8), &end, 10);
    end += *end == 'a' || *end == 'f';
    bool supported = false;
    for (int i = 0; i < N_ARCHS; i++) {
        supported |= archs[i] == (int)*arch;
    }
    return *end == '\0' && supported;
}

static nvrtc_result read_options(nvrtc_program p, int count, const char *const *options, unsigned *arch, bool *real) {
    static const char *const allowed[] = {"--fmad=false", "--fmad=true",         "--std=c++17",        "--no-cache",
                                          "--minimal",    "--Ofast-compile=min", "--Ofast-compile=mid",
                                          "--ftz=true",   "--prec-div=false",    "--prec-sqrt=false",   "--use_fast_math", "--std=c++20",
                                          "--device-as-default-execution-space", "-lineinfo", "--generate-line-info"};
    static const char arch_option[] = "--gpu-architecture=";
    *arch = (unsigned)archs[0]; /* as the real one without the option */
    *real = false;
    for (int i = 0; i < count; i++) {
        bool good = options[i] && strncmp(options[i], arch_option, sizeof arch_option - 1) == 0
                    && parse_arch(options[i] + sizeof arch_option - 1, arch, real);
        if (options[i] && (strncmp(options[i], "-D", 2) == 0 || strncmp(options[i], "-I", 2) == 0)) {
            fake_append(&p->flags, options[i]);
            good = true;
        }
        for (size_t k = 0; options[i] && k < sizeof allowed / sizeof *allowed; k++) {
            good |= strcmp(options[i], allowed[k]) == 0;
        }
        if (!good) {
            char line[256];
            snprintf(line, sizeof line, "nvrtc: error: invalid option '%s'\n", options[i] ? options[i] : "(null)");
            p->log = strdup(line);
            return INVALID_OPTION;
        }
    }
    return KRF__NVRTC_SUCCESS;
}

nvrtc_result nvrtcCompileProgram(nvrtc_program program, int option_count, const char *const *options) {
    ENTER(nvrtcCompileProgram);
    CHECK_PROGRAM(program);
    unsigned arch;
    bool real;
    forget(program);
    nvrtc_result result = read_options(program, option_count, options, &arch, &real);
    if (result != KRF__NVRTC_SUCCESS) {
        return result;
    }
    if (arch < 90 && strstr(program->source, FAKE_CLUSTER)) {
        char line[256];
        snprintf(line, sizeof line, "%s(1): error: " FAKE_CLUSTER " is not supported for this GPU architecture\n", program->name);
        program->log = strdup(line);
        return KRF__NVRTC_ERROR_COMPILATION;
    }
    char *text = fake_wrap(program->source, program->name), *messages = NULL;
    const fake_job job = {.text = text, .bytes = strlen(text), .to_assembly = !real, .flags = program->flags};
    size_t bytes = 0;
    unsigned char *output = fake_compile(&job, &bytes, &messages);
    free(text);
    if (!output) {
        program->log = fake_messages(messages);
        free(messages);
        return KRF__NVRTC_ERROR_COMPILATION;
    }
    free(messages);
    if (real) {
        program->image = output;
        program->image_bytes = bytes;
        if (!fake_image_seal(output, bytes, arch)) {
            fake_die("the host's compiler made no shared object that can be an image");
        }
    } else {
        program->ptx = fake_ptx(program->source, arch, (const char *)output);
        free(output);
    }
    return KRF__NVRTC_SUCCESS;
}

/* ---- what a compile left ---- */

nvrtc_result nvrtcGetProgramLogSize(nvrtc_program program, size_t *bytes) {
    ENTER(nvrtcGetProgramLogSize);
    CHECK_PROGRAM(program);
    if (!bytes) {
        return INVALID_INPUT;
    }
    *bytes = program->log ? strlen(program->log) + 1 : 1;
    return KRF__NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetProgramLog(nvrtc_program program, char *log) {
    ENTER(nvrtcGetProgramLog);
    CHECK_PROGRAM(program);
    if (!log) {
        return INVALID_INPUT;
    }
    strcpy(log, program->log ? program->log : "");
    return KRF__NVRTC_SUCCESS;
}

/* Real architectures give a binary, virtual ones only PTX. (The real NVRTC has PTX of real architectures as well.) */
nvrtc_result nvrtcGetPTXSize(nvrtc_program program, size_t *bytes) {
    ENTER(nvrtcGetPTXSize);
    CHECK_PROGRAM(program);
    if (!bytes) {
        return INVALID_INPUT;
    }
    if (!program->ptx) {
        return fake_misuse(INVALID_PROGRAM, "nvrtcGetPTXSize: only virtual architectures (compute_90) have PTX here");
    }
    *bytes = strlen(program->ptx) + 1;
    return KRF__NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetPTX(nvrtc_program program, char *text) {
    ENTER(nvrtcGetPTX);
    CHECK_PROGRAM(program);
    if (!text || !program->ptx) {
        return INVALID_INPUT;
    }
    strcpy(text, program->ptx);
    return KRF__NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetCUBINSize(nvrtc_program program, size_t *bytes) {
    ENTER(nvrtcGetCUBINSize);
    CHECK_PROGRAM(program);
    if (!bytes) {
        return INVALID_INPUT;
    }
    *bytes = program->image ? program->image_bytes : 0;
    return KRF__NVRTC_SUCCESS;
}

nvrtc_result nvrtcGetCUBIN(nvrtc_program program, char *image) {
    ENTER(nvrtcGetCUBIN);
    CHECK_PROGRAM(program);
    if (!image || !program->image) {
        return INVALID_INPUT;
    }
    memcpy(image, program->image, program->image_bytes);
    return KRF__NVRTC_SUCCESS;
}

__attribute__((destructor)) static void report_leaks(void) {
    if (programs && fake_setting("FAKECUDA_LEAKS", 1) != 0) {
        fake_die("nvrtc: at the end of the process there is still a program, %s", programs->name);
    }
}
