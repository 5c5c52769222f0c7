/* A CUDA device as the files of this folder see it. cuda.c opens and closes it, enter.c brackets every call; memory.c,
 * stream.c and module.c are the calls.
 *
 * The device has one stream of its own, on which memory is allocated and freed. Order between streams is the
 * scheduler's affair (sched/order.h).
 */
#ifndef KRF_BACKEND_CUDA_DEVICE_H
#define KRF_BACKEND_CUDA_DEVICE_H

#include "backend/backend.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/nvrtc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct krf__device {
    krf__driver driver;
    pid_t pid;                  /* that opened it: CUDA does not survive a fork */
    const volatile char *owned; /* a page that holds 1, which a fork wipes; NULL where the kernel cannot do so: pid tells */

    cu_device id;
    cu_context context; /* the primary context, shared with the runtime API; NULL before it was retained */
    cu_stream stream;
    cu_pool pool; /* NULL where the device has none: then cuMemAlloc */
    char name[128], arch[16];
    char uuid[48]; /* "GPU-..."; "" where the driver does not tell */
    int index;
    int capability, multiprocessors; /* 90 */
    size_t memory;
    int most_shared; /* bytes of a block; 0 where the driver does not tell */

    atomic_llong allocations; /* of the driver's memory */
    atomic_ullong peers;      /* devices, as bits, that were asked whether they reach the pool, and may if they do */

    pthread_mutex_t nvrtc_lock; /* held while finding and loading, not while compiling */
    char *nvrtc_wanted;         /* the option; NULL: search */
    bool nvrtc_searched;
    char *nvrtc_file;             /* found; NULL: none */
    char *nvrtc_key, *nvrtc_text; /* its identity; for users: "NVRTC (/path)" */
    bool nvrtc_loaded;
    krf__nvrtc nvrtc;
    char nvrtc_version[32]; /* "NVRTC 13.0" once loaded */
};

struct krf__module {
    cu_library library;
    cu_function function;
    int most_threads, static_shared, registers; /* of a block, as it was compiled; -1 where unknown */
    _Atomic uint32_t shared;                    /* dynamic bytes that the driver was told of */
};

/* One call: between enter and leave the device's context is current. leave must follow enter, even one that failed. */
typedef struct krf__entry {
    cu_stream stream;
    bool pushed;
} krf__entry;

/* KRF_E_FORKED, KRF_E_LOST, or makes the context current. */
krf_status krf__cuda_enter(krf__device *d, krf__entry *e);

/* The same; e->stream is the stream, or the device's own for NULL. blocks: the call will wait for the stream, so it is
 * refused while the caller's stream is being captured into a graph. */
krf_status krf__cuda_enter_stream(krf__device *d, void *stream, bool blocks, krf__entry *e);

/* Gives the caller's context back, and returns status. */
krf_status krf__cuda_leave(krf__device *d, krf__entry *e, krf_status status);

/* While any thread captures a stream in the strictest mode, calls that allocate, free or wait break that capture, unless
 * this thread says that it knows what it does: *mode is exchanged here and back. */
krf_status krf__cuda_relax(krf__device *d, cu_enum *mode);
krf_status krf__cuda_unrelax(krf__device *d, cu_enum *mode, krf_status status); /* returns status, or what failed now */

/* memory.c */
krf_status krf__cuda_allocate(krf__device *d, size_t bytes, void **data);
void krf__cuda_deallocate(krf__device *d, void *data, size_t bytes);
void krf__cuda_taken(krf__device *d, krf__taken *taken);
void krf__cuda_trim(krf__device *d);
krf_status krf__cuda_upload(krf__device *d, void *to, const void *from, size_t bytes, void *stream);
krf_status krf__cuda_download(krf__device *d, void *to, const void *from, size_t bytes, void *stream);
krf_status krf__cuda_copy(krf__device *d, void *to, const void *from, size_t bytes, void *stream);
krf_status krf__cuda_zero(krf__device *d, void *data, size_t bytes, void *stream);
krf_status krf__cuda_synchronize(krf__device *d, void *stream);

/* peer.c */
krf_status krf__cuda_copy_from(krf__device *d, void *to, krf__device *source, const void *from, size_t bytes, void *stream);

/* stream.c */
extern const krf__streams krf__cuda_streams;

/* replay.c */
extern const krf__replays krf__cuda_replays;

/* module.c */
bool krf__cuda_fills(krf__device *d, const krf__launch *launch);
bool krf__cuda_overlaps(krf__device *d); /* whether kernels may be launched before the one that they wait for has ended */
krf_status krf__cuda_find_nvrtc(krf__device *d); /* once; sets nvrtc_file, nvrtc_key and nvrtc_text */
krf_status krf__cuda_identity(krf__device *d, krf__str *key);
bool krf__cuda_can_compile(krf__device *d);
krf_status krf__cuda_compile(krf__device *d, const char *source, const char *name, void **image, size_t *bytes);
krf_status krf__cuda_load(krf__device *d, const void *image, size_t bytes, const char *name, krf__module **module);
void krf__cuda_unload(krf__device *d, krf__module *module);
void krf__cuda_module_info(krf__device *d, krf__module *module, krf__module_info *info);
krf_status krf__cuda_launch(krf__device *d, const krf__launch *launch, void *stream);
krf_status krf__cuda_shape(krf__device *d, const krf__launch *launch, krf__grid *g); /* KRF_E_UNSUPPORTED for too large a grid, block or shared memory */
void krf__cuda_arguments(const krf__kernel *k, const uint64_t *fields, void **arguments); /* room for KRF__MOST_PARAMETERS; they point into fields */
krf_status krf__cuda_make_room(krf__device *d, krf__module *module, uint32_t shared); /* the context is current */

static inline cu_address krf__cuda_address(const void *p) { return (cu_address)(uintptr_t)p; }

#endif
