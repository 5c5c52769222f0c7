/* The double of libcuda as its files see it. A device or several, for each its primary context and no other, any number of
 * streams, each a thread.
 *
 * ThreadSanitizer must see CUDA's order of work and no other. So no lock and no atomic that orders is taken both by a
 * host thread that only starts work and by the thread of a stream: the host's bookkeeping (handles, allocations) has
 * its own lock, and what a stream did is told through its fake_line, which others touch only when they wait. */
#ifndef FAKECUDA_FAKE_H
#define FAKECUDA_FAKE_H

#include "backend/cuda/driver.h"
#include "calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cuda.h's values that kerfuse does not use. */
enum {
    FAKE_INVALID_VALUE = 1,
    FAKE_NOT_INITIALIZED = 3,
    FAKE_INVALID_DEVICE = 101,
    FAKE_INVALID_IMAGE = 200,
    FAKE_INVALID_CONTEXT = 201,
    FAKE_NO_BINARY = 209,
    FAKE_INVALID_PTX = 218,
    FAKE_INVALID_HANDLE = 400,
    FAKE_NOT_FOUND = 500,
    FAKE_NOT_PERMITTED = 800,
    FAKE_NOT_SUPPORTED = 801,
    FAKE_CAPTURE_UNSUPPORTED = 900,
    FAKE_CAPTURE_INVALIDATED = 901,
    FAKE_CAPTURE_UNMATCHED = 903,
    FAKE_CAPTURE_ISOLATION = 905,
};

enum {
#define CU_FUNCTION(name, need, arguments) FAKE_##name,
#include "backend/cuda/driver.def"
#define CU_FUNCTION(name, need, arguments) FAKE_##name,
#include "extra.def"
    FAKE_ENTRIES
};

#define CU_FUNCTION(name, need, arguments) FAKE_API cu_result name arguments;
#include "backend/cuda/driver.def"
#define CU_FUNCTION(name, need, arguments) FAKE_API cu_result name arguments;
#include "extra.def"

/* ---- entering ---- */

/* What an entry point needs: nothing; cuInit; a context that has not failed; that it is current as well. */
typedef enum fake_need { FAKE_NEEDS_NOTHING, FAKE_NEEDS_INIT, FAKE_NEEDS_HEALTH, FAKE_NEEDS_CURRENT } fake_need;

cu_result fake_enter(int entry, fake_need need);

#define ENTER(name, need) \
    do { \
        cu_result enter_result = fake_enter(FAKE_##name, need); \
        if (enter_result != KRF__CUDA_SUCCESS) { \
            return enter_result; \
        } \
    } while (0)

/* The device at hand: of the stream whose thread this is; else of the current context; else 0. */
int fake_device(void);
void fake_work_for(int device); /* this thread is a stream of it from now on */

/* The error that all later calls for the device at hand return, set by the first; and it, or 0. */
void fake_stick(cu_result code);
cu_result fake_stuck(void);
bool fake_is_sticky(cu_result code);

/* Whether the process is the one that called cuInit, and whether this thread has a current context. */
bool fake_is_owner(void);
bool fake_current(void);

/* Whether this thread runs a function of cuLaunchHostFunc, which must not call the driver. */
bool fake_in_host_call(void);

/* What all of the host's bookkeeping is done under. */
extern pthread_rwlock_t fake_lock;

/* ---- handles ---- */

typedef enum fake_kind { FAKE_STREAM, FAKE_EVENT, FAKE_POOL, FAKE_LIBRARY, FAKE_GRAPH, FAKE_GRAPH_EXEC, FAKE_PINNED, FAKE_KINDS } fake_kind;

/* First in the struct behind every handle. */
typedef struct fake_object {
    struct fake_object *next;
    fake_kind kind;
} fake_object;

void fake_object_add(fake_object *object, fake_kind kind);
void fake_object_remove(fake_object *object);
bool fake_object_known(const void *handle, fake_kind kind);
int fake_object_count(fake_kind kind);
fake_object *fake_object_first(fake_kind kind); /* walk under fake_lock */

/* What a handle of a stream, an event or a pool stands for is part of a device. */
#define CHECK_DEVICE(handle, of) \
    do { \
        if ((handle)->device != (of)) { \
            return fake_misuse(FAKE_INVALID_HANDLE, "%s: %p belongs to device %d, not %d", __func__, (void *)(handle), (handle)->device, of); \
        } \
    } while (0)

/* Returns the real driver's code when the handle is not a live one. */
#define CHECK_HANDLE(handle, kind) \
    do { \
        if (!fake_object_known(handle, kind)) { \
            return fake_misuse(FAKE_INVALID_HANDLE, "%s: %p is not a live handle", __func__, (const void *)(handle)); \
        } \
    } while (0)

/* For tests: handles, allocations and holds on the context that are alive. */
FAKE_API int fakecuda_live(void);

/* ---- the device ---- */

enum { FAKE_MOST_DEVICES = 4 };
int fake_devices(void);
bool fake_reach(int device, int peer); /* whether the hardware lets one use the other's memory */
int fake_device_of(cu_context context); /* -1: of none that lives */
int fake_arch(void);
int fake_multiprocessors(void);
size_t fake_total_memory(void);
enum { FAKE_MAX_THREADS = 1024, FAKE_MAX_SHARED = 48 * 1024 };

#endif
