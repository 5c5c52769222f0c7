/* Streams, events, copies that do not wait, and arrays by DLPack. See steps.h. */
#include "failures/steps.h"

#include "api/dlpack.h"

enum { N = 500 };

/* Streams of the context: an array passes from one to another, copies from pinned and from pageable memory,
 * times, and memory that is given back. */
static krf_status copies(scene *s) {
    static float pageable[N]; /* a lost device may still be writing */
    krf_stream *a = NULL, *b = NULL;
    krf_event *from = NULL, *to = NULL;
    krf_array *x = NULL;
    float *pinned = NULL;
    double ms = 0;
    bool done = false;
    krf_status status = krf_stream_create(s->context, NULL, &a);
    status = status == KRF_OK ? krf_stream_create(s->context, NULL, &b) : status;
    status = status == KRF_OK ? krf_event_create(s->context, true, &from) : status;
    status = status == KRF_OK ? krf_event_create(s->context, true, &to) : status;
    status = status == KRF_OK ? krf_host_allocate(s->context, N * sizeof *pinned, (void **)&pinned) : status;
    status = status == KRF_OK ? krf_array_create(s->context, KRF_F32, 1, (int64_t[]){N}, &x) : status;
    for (int i = 0; status == KRF_OK && i < N; i++) {
        pinned[i] = (float)i;
    }
    void *first = krf_stream_handle(a), *second = krf_stream_handle(b);
    status = status == KRF_OK ? krf_event_record(from, first) : status;
    status = status == KRF_OK ? krf_array_upload_async(x, pinned, N * sizeof *pinned, first) : status;
    status = status == KRF_OK ? krf_array_download_async(x, pageable, sizeof pageable, second) : status;
    status = status == KRF_OK ? krf_event_wait(from, second) : status;
    status = status == KRF_OK ? krf_event_record(to, second) : status;
    status = status == KRF_OK ? krf_event_elapsed(from, to, &ms) : status;
    status = status == KRF_OK ? krf_event_query(to, &done) : status;
    for (int i = 0; status == KRF_OK && i < N; i++) {
        if (pageable[i] != (float)i || !done || ms < 0) {
            scene_wrong(s, "copied by way of two streams: element %d is %g, %g ms", i, (double)pageable[i], ms);
            break;
        }
    }
    status = status == KRF_OK ? krf_array_upload_async(x, pageable, sizeof pageable, first) : status;
    status = status == KRF_OK ? krf_stream_query(a, &done) : status;
    status = status == KRF_OK ? krf_stream_synchronize(a) : status;
    krf_array_release(x);
    status = status == KRF_OK ? krf_context_trim(s->context) : status;
    if (status != KRF_OK) {
        krf_context_synchronize(s->context); /* the copies use what is freed here */
    }
    krf_host_free(s->context, pinned);
    krf_event_destroy(from);
    krf_event_destroy(to);
    krf_stream_destroy(a);
    krf_stream_destroy(b);
    return status;
}

/* Out and in again: whoever has the tensor when something fails deletes it, and nobody else does. */
static krf_status tensors(scene *s) {
    static float expected[N];
    krf_array *x = NULL, *again = NULL, *y = NULL;
    struct DLManagedTensorVersioned *tensor = NULL;
    struct DLManagedTensor *legacy = NULL;
    krf_stream *stream = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_status status;
    for (int i = 0; i < N; i++) {
        expected[i] = (float)(2 * i);
    }
    TRY(krf_stream_create(s->context, NULL, &stream));
    void *handle = krf_stream_handle(stream);
    TRY(scene_upload(s, 1, (int64_t[]){N}, expected, &x));
    TRY(krf_array_to_dlpack(x, handle, &tensor));
    TRY(krf_array_from_dlpack(s->context, tensor, handle, &again));
    tensor = NULL;
    TRY(krf_array_to_dlpack_legacy(again, NULL, &legacy));
    krf_array_release(again);
    again = NULL;
    TRY(krf_array_from_dlpack_legacy(s->context, legacy, NULL, &again));
    legacy = NULL;
    TRY(scene_eval(s, krf_multiply(krf_input(g, again), krf_int(g, 1)), &y));
    TRY(scene_check(s, "by DLPack", y, N, expected, 0));
done:
    if (tensor != NULL) {
        tensor->deleter(tensor);
    }
    if (legacy != NULL) {
        legacy->deleter(legacy);
    }
    krf_graph_destroy(g);
    krf_array_release(x);
    krf_array_release(y);
    krf_array_release(again);
    krf_stream_destroy(stream);
    return status;
}

static krf_status timing(scene *s) {
    krf_array *y = NULL;
    krf_plan *plan = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_expr x = krf_cast(krf_arange(g, 0, N, 1), KRF_F32);
    krf_benchmark_options o = krf_benchmark_options_default();
    krf_benchmark_times t = {.size = sizeof t};
    krf_status status;
    o.warm_up = o.repeat = 2;
    TRY(krf_compile(g, 1, &x, NULL, &plan));
    TRY(krf_benchmark(plan, &o, 0, NULL, &y, &t));
    if (t.runs < 1 || t.cpu_min <= 0) {
        scene_wrong(s, "krf_benchmark: %d runs, %g us", t.runs, t.cpu_min);
    }
done:
    krf_graph_destroy(g);
    krf_plan_release(plan);
    krf_array_release(y);
    return status;
}

krf_status scene_streams(scene *s) {
    krf_status status = copies(s);
    status = status == KRF_OK ? tensors(s) : status;
    return status == KRF_OK ? timing(s) : status;
}
