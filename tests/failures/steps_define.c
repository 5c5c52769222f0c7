/* The step that defines functions of its own, calls, prints and differentiates them. See steps.h. */
#include "failures/steps.h"

enum { N = 40 };

krf_status scene_define(scene *s) {
    float data[N], expected[N], slopes[N];
    krf_op *inner = NULL, *outer = NULL;
    krf_reduction *reduction = NULL;
    krf_array *a = NULL, *r = NULL, *again = NULL;
    krf_graph *g = krf_graph_create(s->context);
    char *text = NULL;
    size_t size;
    krf_status status;
    for (int i = 0; i < N; i++) {
        data[i] = (float)(i - 17) * 0.25f;
        expected[i] = 2 * data[i] * data[i] + data[i];
        slopes[i] = 4 * data[i] + 1;
    }
    krf_op_undefine(s->context, "bent"); /* of a try that failed */
    krf_op_undefine(s->context, "twice_square");
    krf_op_undefine(s->context, "spread");
    TRY(krf_op_define(s->context, "twice_square", "T x", "T y, T z", "y = x * x;\nz = 2 * y;", NULL, &inner));
    TRY(krf_op_define(s->context, "bent", "T x, T w", "T y", "T q, z;\ntwice_square(x, &q, &z);\ny = z + w * fabs(x) * (x < 0 ? -1 : 1);", "dy/dx = 4 * x + w; dy/dw = x", &outer));
    TRY(scene_upload(s, 1, (int64_t[]){N}, data, &a));
    krf_expr x = krf_input(g, a), y = krf_op_apply(outer, x, krf_int(g, 1)), slope, parsed;
    TRY(scene_eval(s, y, &r));
    TRY(scene_check(s, "a definition", r, N, expected, 1e-6f));
    krf_array_release(r);
    r = NULL;
    krf_grad(krf_sum(y, 0, NULL, false), 1, &x, &slope);
    TRY(scene_eval(s, slope, &r));
    TRY(scene_check(s, "its derivative", r, N, slopes, 1e-6f));
    TRY(krf_parse(g, "p, q = twice_square(x); return q + x + 0 * bent(p, 1)", (krf_binding[]){krf_bind_expr("x", x)}, 1, &parsed));
    TRY(scene_eval(s, parsed, &again));
    TRY(scene_check(s, "a definition in a text", again, N, expected, 1e-6f));
    TRY(krf_reduction_define(s->context, "spread", "T x", "T low, T high", "inf, -inf", "low = x;\nhigh = x;", "low = min(a_low, b_low);\nhigh = max(a_high, b_high);", "T y",
                             "y = high - low;", &reduction));
    krf_expr width, longest;
    krf_reduction_call(reduction, 1, &x, 0, NULL, false, &width);
    krf_array_release(r);
    r = NULL;
    TRY(scene_eval(s, width, &r));
    TRY(scene_check(s, "a reduction", r, 1, (float[]){(N - 1) * 0.25f}, 0));
    longest = krf_ufunc_reduce("fmax", x, 0, NULL, false);
    krf_array_release(r);
    r = NULL;
    TRY(scene_eval(s, longest, &r));
    TRY(scene_check(s, "a function that reduces", r, 1, (float[]){(N - 18) * 0.25f}, 0));
    TRY(krf_dump(g, 1, &parsed, KRF_DUMP_SOURCE, "cuda", NULL, &text, &size));
    TRY(krf_op_undefine(s->context, "bent"));
    krf_op *other = NULL;
    TRY(krf_op_define(s->context, "bent", "T x", "T y", "y = x;", NULL, &other));
    krf_op_release(other);
done:
    krf_free(text);
    krf_op_release(inner);
    krf_op_release(outer);
    krf_reduction_release(reduction);
    krf_array_release(a);
    krf_array_release(r);
    krf_array_release(again);
    krf_graph_destroy(g);
    return status;
}
