/* The primary context, the handles that live in it, and what is left of them when the process ends. */
#include "heap.h"

#include <stdio.h>
#include <unistd.h>

enum { MAX_DEPTH = 16 };

struct CUctx_st {
    int retained;
};

pthread_rwlock_t fake_lock = PTHREAD_RWLOCK_INITIALIZER;

static struct CUctx_st primary;
static fake_object *objects[FAKE_KINDS];
static _Thread_local cu_context stack[MAX_DEPTH];
static _Thread_local int depth;

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

static bool is_live(cu_context context) {
    pthread_rwlock_rdlock(&fake_lock);
    bool live = context == &primary && primary.retained > 0;
    pthread_rwlock_unlock(&fake_lock);
    return live;
}

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device) {
    ENTER(cuDevicePrimaryCtxRetain, FAKE_NEEDS_INIT);
    if (!context) {
        return FAKE_INVALID_VALUE;
    }
    if (device != 0) {
        return FAKE_INVALID_DEVICE;
    }
    if (fake_stuck()) {
        return fake_stuck();
    }
    pthread_rwlock_wrlock(&fake_lock);
    primary.retained++;
    pthread_rwlock_unlock(&fake_lock);
    *context = &primary;
    return KRF__CUDA_SUCCESS;
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device) {
    ENTER(cuDevicePrimaryCtxRelease_v2, FAKE_NEEDS_INIT);
    if (device != 0) {
        return FAKE_INVALID_DEVICE;
    }
    pthread_rwlock_wrlock(&fake_lock);
    bool held = primary.retained > 0;
    primary.retained -= held;
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
    if (!is_live(context)) {
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
    int live = fake_heap_live() + primary.retained;
    for (int kind = 0; kind < FAKE_KINDS; kind++) {
        live += fake_object_count((fake_kind)kind);
    }
    return live;
}

/* Not in children, which inherit the tables but own nothing, and not after an error that forbids to clean up. */
__attribute__((destructor)) static void report_leaks(void) {
    static const char *const names[FAKE_KINDS] = {"streams", "events", "pools", "libraries", "graphs", "blocks of pinned memory"};
    if (!fake_is_owner() || fake_stuck() || fake_setting("FAKECUDA_LEAKS", 1) == 0 || fakecuda_live() == 0) {
        return;
    }
    fprintf(stderr, "fakecuda: at the end of the process there are still:");
    for (int kind = 0; kind < FAKE_KINDS; kind++) {
        int count = fake_object_count((fake_kind)kind);
        if (count > 0) {
            fprintf(stderr, " %d %s", count, names[kind]);
        }
    }
    if (primary.retained > 0) {
        fprintf(stderr, " the primary context, retained %d times", primary.retained);
    }
    fake_heap_report();
    fputc('\n', stderr);
    fflush(NULL);
    _exit(99);
}
