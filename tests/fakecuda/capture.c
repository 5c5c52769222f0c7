/* Stream capture, as far as it can be disturbed: a captured graph is the number of its nodes, and cannot be launched. */
#include "graph.h"
#include "stream.h"

#include <stdlib.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };

static atomic_int global_captures; /* in mode GLOBAL, under way */
static _Thread_local cu_enum thread_mode = GLOBAL;

bool fake_captured(cu_stream s, cu_result *result) {
    if (!s->capture) {
        return false;
    }
    s->capture->nodes++;
    *result = s->capture_broken ? FAKE_CAPTURE_INVALIDATED : KRF__CUDA_SUCCESS;
    return true;
}

cu_result fake_capture_refuses(cu_stream s) {
    if (s && s->capture) {
        s->capture_broken = true;
        return FAKE_CAPTURE_UNSUPPORTED;
    }
    if (atomic_load_explicit(&global_captures, memory_order_relaxed) == 0 || thread_mode == RELAXED) {
        return KRF__CUDA_SUCCESS;
    }
    pthread_rwlock_rdlock(&fake_lock);
    for (fake_object *o = fake_object_first(FAKE_STREAM); o; o = o->next) {
        cu_stream other = (cu_stream)(void *)o;
        other->capture_broken |= other->capture != NULL;
    }
    pthread_rwlock_unlock(&fake_lock);
    return FAKE_CAPTURE_UNSUPPORTED;
}

cu_result cuStreamIsCapturing(cu_stream stream, cu_enum *status) {
    ENTER(cuStreamIsCapturing, FAKE_NEEDS_HEALTH);
    FIND_STREAM(s, stream);
    if (!status) {
        return FAKE_INVALID_VALUE;
    }
    *status = s->capture ? s->capture_broken ? 2 : 1 : KRF__CU_STREAM_CAPTURE_STATUS_NONE;
    return KRF__CUDA_SUCCESS;
}

cu_result cuThreadExchangeStreamCaptureMode(cu_enum *mode) {
    ENTER(cuThreadExchangeStreamCaptureMode, FAKE_NEEDS_INIT);
    if (!mode || *mode > RELAXED) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuThreadExchangeStreamCaptureMode: no such mode");
    }
    cu_enum old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return KRF__CUDA_SUCCESS;
}

cu_result cuStreamBeginCapture_v2(cu_stream stream, cu_enum mode) {
    ENTER(cuStreamBeginCapture_v2, FAKE_NEEDS_HEALTH);
    FIND_STREAM(s, stream);
    if (s->legacy || s->capture || mode > RELAXED) {
        return FAKE_CAPTURE_UNSUPPORTED;
    }
    s->capture = calloc(1, sizeof *s->capture);
    if (!s->capture) {
        return KRF__CUDA_ERROR_OUT_OF_MEMORY;
    }
    s->capture_broken = false;
    if (mode != GLOBAL) {
        return fake_misuse(FAKE_NOT_SUPPORTED, "cuStreamBeginCapture: only the global mode is simulated");
    }
    atomic_fetch_add(&global_captures, 1);
    return KRF__CUDA_SUCCESS;
}

cu_result cuStreamEndCapture(cu_stream stream, cu_graph *graph) {
    ENTER(cuStreamEndCapture, FAKE_NEEDS_HEALTH);
    FIND_STREAM(s, stream);
    if (!graph) {
        return FAKE_INVALID_VALUE;
    }
    cu_graph g = s->capture;
    if (!g) {
        return fake_misuse(FAKE_CAPTURE_UNMATCHED, "cuStreamEndCapture: the stream is not being captured");
    }
    s->capture = NULL;
    atomic_fetch_sub(&global_captures, 1);
    *graph = NULL;
    if (s->capture_broken) {
        free(g);
        return FAKE_CAPTURE_INVALIDATED;
    }
    fake_object_add(&g->object, FAKE_GRAPH);
    *graph = g;
    return KRF__CUDA_SUCCESS;
}

cu_result cuGraphGetNodes(cu_graph graph, cu_graph_node *nodes, size_t *count) {
    ENTER(cuGraphGetNodes, FAKE_NEEDS_HEALTH);
    CHECK_HANDLE(graph, FAKE_GRAPH);
    if (!count || nodes) {
        return fake_misuse(FAKE_INVALID_VALUE, "cuGraphGetNodes: only the number of nodes is simulated");
    }
    *count = graph->nodes;
    return KRF__CUDA_SUCCESS;
}
