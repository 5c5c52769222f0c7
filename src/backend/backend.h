/* The whole contract between kerfuse and a device: one table of functions a backend. Everything above is written once for all of them.
 * A stream is the backend's own handle; NULL is the device's own stream. Pointers are device addresses (host addresses on the CPU).
 * Work on different streams is not ordered here: sched/order.h does that.
 * All functions are thread-safe. Failures go through krf__fail with the call and the reason in the message. */
#ifndef KRF_BACKEND_BACKEND_H
#define KRF_BACKEND_BACKEND_H

#include "base/log.h"
#include "base/strbuf.h"
#include "plan/kernel.h"
#include <kerfuse/base.h>

typedef struct krf__device krf__device;   /* each backend defines its own */
typedef struct krf__module krf__module;   /* a loaded kernel; each backend defines its own */

typedef struct krf__device_options {
    int index;                             /* CUDA: ordinal */
    const char *uuid;                      /* CUDA: instead, "GPU-..." or the beginning of it; NULL: the ordinal */
    int threads;                           /* CPU */
    const char *compiler, *cuda_driver, *nvrtc;
    const krf__log *log;
} krf__device_options;

/* What a launched kernel used, from the compiled image; -1 where unknown. */
typedef struct krf__module_info {
    int registers, shared_bytes, spill_bytes;
} krf__module_info;

typedef struct krf__launch {
    const krf__kernel *kernel;
    krf__module *module;        /* NULL: interpret (CPU only) */
    const uint64_t *fields;     /* krf__argument_pack of what follows; copied before launch returns */
    void *const *pointers;      /* the operands' addresses */
    const uint64_t *scalars;    /* raw values */
    void *scratch, *tickets;    /* partial results, counters; NULL where the kernel needs none */
    bool early;                 /* the kernel waits itself for what the stream did before it, and need not be sent for then */
    bool fills;                 /* its blocks were told that others have no room beside them (krf__argument_set_apart) */
    bool apart;                 /* of a replay: what it depends on writes nothing that it reads (krf__kernel.ahead) */
} krf__launch;

/* What a device took from the system or the driver. */
typedef struct krf__taken {
    int64_t allocations; /* so far */
    size_t kept;         /* bytes that were given back and are kept for the next allocation, as far as this is known */
} krf__taken;

/* Streams, events and host memory. On a device that is not `ordered` every call is complete when it returns: streams are nothing, events are times. */
typedef struct krf__streams {
    bool ordered;
    void *(*own)(krf__device *device); /* the handle of the device's own stream; NULL where there are none */
    krf_status (*create)(krf__device *device, int priority, bool blocking, void **stream); /* blocking: ordered with the legacy default stream */
    void (*destroy)(krf__device *device, void *stream); /* work that it was given is still done */
    krf_status (*query)(krf__device *device, void *stream, bool *done);
    void (*drain)(krf__device *device, void *stream); /* the host waits, after another call failed, whose message stays; allowed while a stream is being captured */
    krf_status (*capturing)(krf__device *device, void *stream, bool *capturing); /* into a graph, by the caller */
    krf_status (*id)(krf__device *device, void *stream, uint64_t *id);           /* no two streams of a process have the same one, at any time */

    krf_status (*event_create)(krf__device *device, bool timed, void **event);
    void (*event_destroy)(krf__device *device, void *event);
    krf_status (*event_record)(krf__device *device, void *event, void *stream);
    krf_status (*event_wait)(krf__device *device, void *event, void *stream); /* the stream waits; the host does not */
    krf_status (*event_query)(krf__device *device, void *event, bool *done);
    krf_status (*event_synchronize)(krf__device *device, void *event); /* allowed while a stream is being captured */
    krf_status (*event_elapsed)(krf__device *device, void *from, void *to, double *ms);

    krf_status (*host_allocate)(krf__device *device, size_t bytes, void **data); /* that the device reads and writes by itself */
    void (*host_deallocate)(krf__device *device, void *data);
    bool (*host_pinned)(krf__device *device, const void *data); /* whether it is such memory */
    krf_status (*start_upload)(krf__device *device, void *to, const void *from, size_t bytes, void *stream);   /* from pinned memory that stays as it is until then */
    krf_status (*start_download)(krf__device *device, void *to, const void *from, size_t bytes, void *stream); /* to pinned memory */
    krf_status (*call)(krf__device *device, void *stream, void (*function)(void *user), void *user); /* on a thread of the driver's, in the stream's order; may call nothing of the device */
} krf__streams;

/* Kernels that are started as one, again and again, with other arguments or the same. */
typedef struct krf__replay krf__replay; /* each backend defines its own */
typedef struct krf__replays {
    bool (*fills)(krf__device *device, const krf__launch *launch); /* whether all blocks of the grid begin at once and take all the room that there is, so that others come only where one of them leaves */
    bool (*overlaps)(krf__device *device); /* whether a stream's kernel that is launched `early` is sent for while the one before it runs: replays begin later, and cost the host less */
    /* One kernel more, which waits for those of the numbers in `after`; *replay NULL: the first. Until the first start. */
    krf_status (*add)(krf__device *device, krf__replay **replay, const krf__launch *launch, uint32_t n_after, const uint32_t *after);
    void (*set)(krf__replay *replay, uint32_t index, const krf__launch *launch); /* the arguments of the next start */
    krf_status (*start)(krf__device *device, krf__replay *replay, void *stream); /* after what was started before, on that stream or of this replay */
    void (*free)(krf__device *device, krf__replay *replay);                      /* what was started is still done; NULL is allowed */
} krf__replays;

typedef struct krf__backend {
    const char *name;            /* "cpu", "cuda" */
    const char *target;          /* of codegen: "c", "cuda" */
    bool can_interpret;

    krf_status (*open)(const krf__device_options *options, krf__device **device);
    void (*close)(krf__device *device); /* waits for all work */
    krf_status (*info)(krf__device *device, krf_device_info *info); /* strings live as long as the device */
    int (*index)(krf__device *device);  /* CUDA's ordinal; 0 */
    uint32_t (*row)(krf__device *device); /* the most that a kernel of several rounds may keep of a row: of krf__limits.row */
    uint32_t (*blocks)(krf__device *device); /* that keep all of it at work: of krf__limits.blocks; 0 where there are none */
    bool many_threads; /* reductions over few elements are maps, then, for neighbours read neighbouring rows, and long rows are shared. A processor takes rows side by side */

    krf_status (*allocate)(krf__device *device, size_t bytes, void **data); /* aligned to 256 bytes or more; bytes > 0 */
    void (*deallocate)(krf__device *device, void *data, size_t bytes);       /* after work that was started earlier on the device's own stream */
    void (*taken)(krf__device *device, krf__taken *taken);
    void (*trim)(krf__device *device);                                       /* gives what is kept back to the system */
    krf_status (*upload)(krf__device *device, void *to, const void *from, size_t bytes, void *stream);   /* from host; the source may change on return */
    krf_status (*download)(krf__device *device, void *to, const void *from, size_t bytes, void *stream); /* to host; complete on return */
    krf_status (*copy)(krf__device *device, void *to, const void *from, size_t bytes, void *stream);
    /* From memory of another device of this backend, on a stream of `device`. */
    krf_status (*copy_from)(krf__device *device, void *to, krf__device *source, const void *from, size_t bytes, void *stream);
    krf_status (*zero)(krf__device *device, void *data, size_t bytes, void *stream);
    krf_status (*synchronize)(krf__device *device, void *stream); /* the whole device when stream is NULL */

    /* Everything besides the source that decides what compile makes: architecture, options, compiler identity (without loading the compiler). Appended to key. */
    krf_status (*identity)(krf__device *device, krf__str *key);
    bool (*can_compile)(krf__device *device); /* CPU: whether a compiler was found. CUDA: true */
    krf_status (*compile)(krf__device *device, const char *source, const char *name, void **image, size_t *bytes); /* image: krf__mem_free */
    krf_status (*load)(krf__device *device, const void *image, size_t bytes, const char *name, krf__module **module);
    void (*unload)(krf__device *device, krf__module *module);
    void (*module_info)(krf__device *device, krf__module *module, krf__module_info *info);
    krf_status (*launch)(krf__device *device, const krf__launch *launch, void *stream);
    const krf__replays *replays; /* NULL: there is nothing to gain by them */
    const krf__streams *streams;
} krf__backend;

extern const krf__backend krf__backend_cpu, krf__backend_cuda;

/* The same for GPUs of a compute capability (90), and for CPUs. */
uint32_t krf__cuda_row(int capability);
uint32_t krf__cpu_row(void);

/* Whether text names an architecture: "sm_90a" has the digits "90a" and the number 90. */
bool krf__nvrtc_arch(const char *text, const char **digits, int *number);

/* NVRTC without a device, for fusedump. arch: "sm_90". ptx: PTX text instead of a cubin. image: krf__mem_free, NUL-terminated beyond *bytes. */
krf_status krf__nvrtc_compile(const char *nvrtc_path, const char *arch, bool ptx, const char *source, const char *name, void **image, size_t *bytes);

#endif
