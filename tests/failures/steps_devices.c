/* Arrays of one context copied to another one: another GPU where the scene is on one, and the CPU. See steps.h. */
#include "failures/steps.h"

enum { N = 400 };

/* There, changed, and back again, by way of gaps. */
static krf_status round_trip(scene *s, krf_context *other, krf_array *x, const float *expected) {
    krf_array *there = NULL, *spread = NULL, *back = NULL, *changed = NULL;
    krf_graph *g = krf_graph_create(other);
    krf_status status;
    TRY(krf_array_create(other, KRF_F32, 1, (int64_t[]){N}, &there));
    TRY(krf_array_copy(there, x));
    TRY(scene_eval(s, krf_add(krf_input(g, there), krf_int(g, 1)), &changed));
    TRY(krf_array_create(s->context, KRF_F32, 1, (int64_t[]){2 * N}, &spread));
    TRY(krf_array_view(spread, 1, (int64_t[]){N}, (int64_t[]){2}, 0, &back));
    TRY(krf_array_copy(back, changed));
    TRY(scene_check(s, "copied to another context and back", back, N, expected, 0));
done:
    krf_graph_destroy(g);
    krf_array_release(there);
    krf_array_release(spread);
    krf_array_release(back);
    krf_array_release(changed);
    return status;
}

krf_status scene_devices(scene *s) {
    static float data[N];
    float expected[N];
    krf_context_options o = scene_options(s), cpu = o;
    krf_context *second = NULL, *host = NULL;
    krf_array *x = NULL;
    krf_status status;
    for (int i = 0; i < N; i++) {
        data[i] = (float)i;
        expected[i] = (float)(i + 1);
    }
    o.device = s->device[0] == 'c' && s->device[1] == 'u' ? "cuda:1" : "cpu";
    cpu.device = "cpu";
    cpu.cpu_tier = KRF_CPU_INTERPRET;
    TRY(krf_context_create(&o, &second));
    TRY(krf_context_create(&cpu, &host));
    TRY(scene_upload(s, 1, (int64_t[]){N}, data, &x));
    TRY(round_trip(s, second, x, expected));
    TRY(round_trip(s, host, x, expected));
done:
    krf_array_release(x);
    krf_context_destroy(second);
    krf_context_destroy(host);
    return status;
}
