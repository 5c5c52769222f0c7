/* Status codes, dtypes, versions, and the context: one device with its memory, its streams and its kernel cache. */
#ifndef KERFUSE_BASE_H
#define KERFUSE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(KRF_API)
#define KRF_API __attribute__((visibility("default")))
#elif !defined(KRF_API)
#define KRF_API
#endif

#include <kerfuse/enums.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KRF_VERSION_MAJOR 0
#define KRF_VERSION_MINOR 1
#define KRF_VERSION_PATCH 0
#define KRF_VERSION_NUMBER (KRF_VERSION_MAJOR * 10000 + KRF_VERSION_MINOR * 100 + KRF_VERSION_PATCH)

/* The largest rank of any array or expression. */
#define KRF_MAX_RANK 16

/* The version of the library that is loaded, as KRF_VERSION_NUMBER, and as text ("0.1.0", static). */
KRF_API int krf_version(void);
KRF_API const char *krf_version_text(void);

/* The name of a status ("KRF_E_SHAPE") and one line on what it means. Static strings; never NULL. */
KRF_API const char *krf_status_name(krf_status status);
KRF_API const char *krf_status_text(krf_status status);

/* Why the last call that failed on this thread failed: one line that names the operation, the shapes and what would
 * be right. Valid until the next failing call on this thread; "" when none has failed. */
KRF_API const char *krf_error_message(void);

/* The name of a dtype as the text form writes it ("f32"; static; "?" for an unknown value), its bytes per element
 * (0 for an unknown value), and the dtype of a name (true when there is one; NumPy's names serve too; false for NULL). */
KRF_API const char *krf_dtype_name(krf_dtype dtype);
KRF_API size_t krf_dtype_size(krf_dtype dtype);
KRF_API bool krf_dtype_from_name(const char *name, krf_dtype *dtype);

typedef struct krf_context krf_context;

/* Receives one line of text without a newline. May be called from any thread; must not call kerfuse. */
typedef void (*krf_log_function)(void *user, const char *line);

typedef enum krf_cache_mode { KRF_CACHE_ON, KRF_CACHE_READ_ONLY, KRF_CACHE_OFF } krf_cache_mode;

/* Which tier runs kernels on the CPU: the interpreter (0), compiled C (1), or whichever suits (automatic). */
typedef enum krf_cpu_tier { KRF_CPU_INTERPRET = 0, KRF_CPU_COMPILE = 1, KRF_CPU_AUTO = 2 } krf_cpu_tier;

/* What kernels may do with real numbers (docs/accuracy.md).
 * PRECISE: every operation rounds as if it ran alone; fused or not, results have the same bits.
 * FAST: compilers may contract a * b + c; f16 and bf16 are computed in f32 and rounded where they are stored or cast; on CUDA, f32 exp, log, log2, log10, / and
 * sqrt are the processor's approximations, and f32 below 2^-126 counts as 0. The CPU's interpreter takes it for PRECISE, so results depend on the tier. */
typedef enum krf_math { KRF_MATH_PRECISE, KRF_MATH_FAST } krf_math;

/* Serves a context's memory instead of the context: RMM's, PyTorch's, CuPy's. allocate returns `bytes` (> 0) of the device's memory, aligned to 256 bytes, or
 * NULL; deallocate gets what it returned. stream (a CUstream; NULL on the CPU) is the context's own: memory is used in its order, and in that of other streams only
 * behind it; when it is given back, that stream was told to wait for all that used it. Both may be called from any thread, until the context and its last array
 * are gone; they must not use this context. */
typedef struct krf_allocator {
    void *(*allocate)(void *user, size_t bytes, void *stream);
    void (*deallocate)(void *user, void *data, size_t bytes, void *stream);
    void *user;
} krf_allocator;

/* Start from krf_context_options_default(), which also reads the environment variables named here. One that is empty counts as unset; one whose value makes no
 * sense lets krf_context_create fail, whatever the options say. */
typedef struct krf_context_options {
    size_t size;              /* sizeof(krf_context_options) */
    const char *device;       /* "auto" (CUDA device 0 if there is one, else the CPU), "cpu", "cuda", "cuda:1", "cuda:GPU-<uuid or its beginning>" */
    int threads;              /* CPU threads, the caller's included, to compute (1,024 at most) and to compile; 0: as many as the process may use. KRF_THREADS */
    krf_cpu_tier cpu_tier;    /* KRF_CPU_TIER=0|1 */
    bool blocking_compile;    /* compile before the first run instead of beside it. KRF_BLOCKING_COMPILE=1 */
    krf_cache_mode cache;     /* the disk cache. KRF_CACHE=on|read-only|off */
    const char *cache_dir;    /* NULL: KRF_CACHE_DIR, else $XDG_CACHE_HOME/kerfuse, else ~/.cache/kerfuse */
    int64_t cache_limit;      /* bytes kept on disk; 0: 256 MiB */
    const char *compiler;     /* the C compiler of the CPU tier; NULL: KRF_CC, CC, cc, gcc, clang */
    const char *cuda_driver;  /* path of libcuda; NULL: KRF_LIBCUDA, else libcuda.so.1 */
    const char *nvrtc;        /* path of libnvrtc; NULL: KRF_LIBNVRTC, else the newest that suits the driver */
    krf_log_function log;     /* NULL: to the file that KRF_LOG names ("stderr" too), else nowhere */
    void *log_user;
    const char *fusion;       /* for tests and for looking for faults: "off", or limits such as "operations=8,results=1"
                                 (docs/architecture.md); no result depends on it. NULL: as much as pays. KRF_FUSION */
    krf_math math;            /* of every kernel of the context. KRF_MATH=precise|fast */
    const char *memory_limit; /* the most memory that the context takes: "8G", "512M", "50%" of the device's (of main memory on the CPU), or bytes;
                                 what does not fit is KRF_E_MEMORY. NULL: no limit. KRF_MEMORY_LIMIT */
    const krf_allocator *allocator; /* NULL: the context's own. Copied */
    bool exact_memory;        /* for looking for faults, on the simulated GPU above all (docs/raw.md): every block is as large as its array and goes back at once, so that
                                 what lies behind it is nobody's. KRF_EXACT_MEMORY=1 */
} krf_context_options;

KRF_API krf_context_options krf_context_options_default(void);

/* Opens a device. options: NULL for the defaults. Errors: KRF_E_DEVICE when the device that was asked for is not there
 * (the message says what is missing), KRF_E_ARGUMENT (the message names the option or the environment variable), KRF_E_MEMORY. */
KRF_API krf_status krf_context_create(const krf_context_options *options, krf_context **context);

/* Waits for all work, then closes the device. Arrays that are still referenced keep the context's memory alive until
 * the last of them is released. NULL is allowed. */
KRF_API void krf_context_destroy(krf_context *context);

/* Waits until everything started on the context has finished. Errors of kernels surface here. */
KRF_API krf_status krf_context_synchronize(krf_context *context);

/* What the context runs on. Strings live as long as the context. */
typedef struct krf_device_info {
    size_t size;                /* set by the caller to sizeof(krf_device_info) */
    bool is_cuda;
    const char *name;           /* "NVIDIA H200", or the processor's model name */
    const char *arch;           /* "sm_90", or the instruction set that CPU kernels are compiled for */
    const char *compiler;       /* "NVRTC 13.0", the path of the C compiler, or NULL when there is none */
    int multiprocessors;        /* multiprocessors, or CPU threads in use */
    int64_t memory;             /* bytes of device memory, or of main memory */
    int index;                  /* CUDA's ordinal, as CUDA_VISIBLE_DEVICES numbers them; 0 on the CPU */
    int capability_major, capability_minor; /* compute capability, 9 and 0 for sm_90; 0 on the CPU */
    const char *uuid;           /* "GPU-2fd3..."; NULL on the CPU, and where the driver does not tell */
} krf_device_info;
KRF_API krf_status krf_context_device(krf_context *context, krf_device_info *info);

/* Counters of the kernel cache, the plan cache and runs since the context was created. */
typedef struct krf_cache_stats {
    size_t size;                /* set by the caller to sizeof(krf_cache_stats) */
    int64_t plan_hits, plan_misses;
    int64_t memory_hits;        /* kernels found loaded */
    int64_t disk_hits;          /* kernels loaded from the disk cache */
    int64_t compiled;           /* kernels compiled */
    int64_t interpreted;        /* kernels that the interpreter tier serves */
    int64_t disk_bytes_read, disk_bytes_written, disk_evictions, disk_faults;
    double compile_ms;
    int64_t launches;           /* kernels that were started one by one, or run by the CPU */
    int64_t replays;            /* runs that started all their kernels as one CUDA graph */
    int64_t overlapped;         /* of the launches, those whose kernel was free to read while the one before it was at work, which writes nothing of that */
} krf_cache_stats;
KRF_API krf_status krf_context_cache_stats(krf_context *context, krf_cache_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
