/* The primary contexts, the handles that live in it, and what is left of them when the process ends. */
#include "heap.h"

#include <stdio.h>
#include <unistd.h>

enum { MAX_DEPTH = 64 }; /* tests that make cuCtxPopCurrent fail leave some there */

struct CUctx_st {
    int retained;
};

pthread_rwlock_t fake_lock = PTHREAD_RWLOCK_INITIALIZER;

static struct CUctx_st primary[FAKE_MOST_DEVICES];
static fake_object *objects[FAKE_KINDS];
static _Thread_local cu_context stack[MAX_DEPTH];
static _Thread_local int depth;
static _Thread_local int serves = -1; /* the device whose stream's thread this is */

/* ---- handles ---- */

void fake_object_add(fake_object *object, fake_kind kind) {
    pthread_rwlock_wrlock(&fake_lock);
    *object = (fake_object){objects[kind], kind};
    objects[kind] = object;
    pthread_rwlock_unlock(&fake_lock);
}

void fake_object_remove(fake_object *object) {
    pthread_rwlock_wrlock(&fake_lock);
    for (fake_object **at = &objects[object->kind]; *at; at = &(*at)->next) {
        if (*at == object) {
            *at = object->next;
            break;
        }
    }
    pthread_rwlock_unlock(&fake_lock);
}

fake_object *fake_object_first(fake_kind kind) { return objects[kind]; }

bool fake_object_known(const void *handle, fake_kind kind) {
    pthread_rwlock_rdlock(&fake_lock);
    const fake_object *at = objects[kind];
    while (at && at != handle) {
        at = at->next;
    }
    pthread_rwlock_unlock(&fake_lock);
    return at != NULL;
}

int fake_object_count(fake_kind kind) {
    int count = 0;
    pthread_rwlock_rdlock(&fake_lock);
    for (const fake_object *at = objects[kind]; at; at = at->next) {
        count++;
    }
    pthread_rwlock_unlock(&fake_lock);
    return count;
}

/* ---- the context ---- */

bool fake_current(void) { return depth > 0 && stack[depth - 1] != NULL; }

int fake_device_of(cu_context context) {
    int device = -1;
    pthread_rwlock_rdlock(&fake_lock);
    for (int d = 0; d < FAKE_MOST_DEVICES; d++) {
        device = context == &primary[d] && primary[d].retained > 0 ? d : device;
    }
    pthread_rwlock_unlock(&fake_lock);
    return device;
}

void fake_work_for(int device) { serves = device; }

int fake_device(void) { return serves >= 0 ? serves : fake_current() ? (int)(stack[depth - 1] - primary) : 0; }

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device) {
    ENTER(cuDevicePrimaryCtxRetain, FAKE_NEEDS_INIT);
    if (!context) {
        return FAKE_INVALID_VALUE;
    }
    if (device < 0 || device >= fake_devices()) {
        return FAKE_INVALID_DEVICE;
    }
    const int before = serves;
    serves = device;
    const cu_result stuck = fake_stuck();
    serves = before;
    if (stuck) {
        return stuck;
    }
    pthread_rwlock_wrlock(&fake_lock);
    primary[device].retained++;
    pthread_rwlock_unlock(&fake_lock);
    *context = &primary[device];
    return KRF__CUDA_SUCCESS;
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device) {
    ENTER(cuDevicePrimaryCtxRelease_v2, FAKE_NEEDS_INIT);
    if (device < 0 || device >= fake_devices()) {
        return FAKE_INVALID_DEVICE;
    }
    pthread_rwlock_wrlock(&fake_lock);
    bool held = primary[device].retained > 0;
    primary[device].retained -= held;
    pthread_rwlock_unlock(&fake_lock);
    return held ? KRF__CUDA_SUCCESS
                : fake_misuse(FAKE_INVALID_CONTEXT, "cuDevicePrimaryCtxRelease: released more often than retained");
}

cu_result cuCtxGetCurrent(cu_context *context) {
    ENTER(cuCtxGetCurrent, FAKE_NEEDS_INIT);
    if (!context) {
        return FAKE_INVALID_VALUE;
    }
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return KRF__CUDA_SUCCESS;
}

cu_result cuCtxPushCurrent_v2(cu_context context) {
    ENTER(cuCtxPushCurrent_v2, FAKE_NEEDS_INIT);
    if (fake_device_of(context) < 0) {
        return fake_misuse(FAKE_INVALID_CONTEXT, "cuCtxPushCurrent: %p is no live context", (void *)context);
    }
    if (depth == MAX_DEPTH) {
        fake_die("cuCtxPushCurrent: %d contexts deep: is one never popped?", depth);
    }
    stack[depth++] = context;
    return KRF__CUDA_SUCCESS;
}

cu_result cuCtxPopCurrent_v2(cu_context *context) {
    ENTER(cuCtxPopCurrent_v2, FAKE_NEEDS_INIT);
    if (depth == 0) {
        return fake_misuse(FAKE_INVALID_CONTEXT, "cuCtxPopCurrent: this thread has no current context");
    }
    depth--;
    if (context) {
        *context = stack[depth];
    }
    return KRF__CUDA_SUCCESS;
}

/* ---- at the end ---- */

int fakecuda_live(void) {
    int live = fake_heap_live();
    for (int d = 0; d < FAKE_MOST_DEVICES; d++) {
        live += primary[d].retained;
    }
    for (int kind = 0; kind < FAKE_KINDS; kind++) {
        live += fake_object_count((fake_kind)kind);
    }
    return live;
}

static bool any_stuck(void) {
    bool any = false;
    for (serves = 0; serves < FAKE_MOST_DEVICES; serves++) {
        any |= fake_stuck() != 0;
    }
    serves = -1;
    return any;
}

/* Not in children, which inherit the tables but own nothing, and not after an error that forbids to clean up. */
__attribute__((destructor)) static void report_leaks(void) {
    static const char *const names[FAKE_KINDS] = {"streams", "events", "pools", "libraries", "graphs", "executable graphs", "blocks of pinned memory"};
    if (!fake_is_owner() || any_stuck() || fake_setting("FAKECUDA_LEAKS", 1) == 0 || fakecuda_live() == 0) {
        return;
    }
    fprintf(stderr, "fakecuda: at the end of the process there are still:");
    for (int kind = 0; kind < FAKE_KINDS; kind++) {
        int count = fake_object_count((fake_kind)kind);
        if (count > 0) {
            fprintf(stderr, " %d %s", count, names[kind]);
        }
    }
    for (int d = 0; d < FAKE_MOST_DEVICES; d++) {
        if (primary[d].retained > 0) {
            fprintf(stderr, " the primary context of device %d, retained %d times", d, primary[d].retained);
        }
    }
    fake_heap_report();
    fputc('\n', stderr);
    fflush(NULL);
    _exit(99);
}
