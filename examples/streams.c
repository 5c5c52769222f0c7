/* Streams: work that has nothing to do with each other runs at the same time, and what belongs together waits.
 *
 *     streams
 *
 * Two unrelated expressions, a kernel each, run on two streams. A third one needs both results: its stream waits for the
 * other by itself, because arrays know who wrote them. A fourth waits for an event, as work of other libraries would be
 * made to. Nothing waits on the host until the times are asked for. */
#include "example.h"

enum { STEPS = 4 };

typedef struct step {
    const char *name, *stream;
    krf_event *from, *to;
} step;

/* Runs a plan between two events of the stream. */
static void run(step *s, krf_plan *plan, krf_stream *stream, int n, const krf_binding *bindings, krf_array **output) {
    check(krf_event_record(s->from, krf_stream_handle(stream)));
    check(krf_plan_run(plan, krf_stream_handle(stream), n, bindings, output));
    check(krf_event_record(s->to, krf_stream_handle(stream)));
}

static krf_plan *compile(krf_graph *g, krf_expr y) {
    krf_plan *plan = NULL;
    check(krf_compile(g, 1, &y, NULL, &plan));
    return plan;
}

static void print(const step *s, krf_event *start) {
    double from = 0, to = 0;
    check(krf_event_elapsed(start, s->from, &from));
    check(krf_event_elapsed(start, s->to, &to));
    printf("%-28s stream %s  %8.3f ms to %8.3f ms\n", s->name, s->stream, from, to);
}

int main(void) {
    krf_context *ctx = open_device();
    krf_array *x = load_or_make(ctx, NULL, 7919), *u = NULL, *v = NULL, *w = NULL, *r = NULL;
    int rank = krf_array_rank(x);
    const int64_t *shape = krf_array_shape(x);

    krf_graph *g = krf_graph_create(ctx), *h = krf_graph_create(ctx);
    krf_expr e = krf_input(g, x), a = krf_placeholder(h, "a", KRF_F32, rank, shape),
             b = krf_placeholder(h, "b", KRF_F32, rank, shape);
    krf_plan *softplus = compile(g, krf_add(krf_maximum(e, krf_scalar(g, 0)), krf_log1p(krf_exp(krf_negative(krf_abs(e))))));
    krf_plan *wave = compile(g, krf_multiply(krf_sin(e), krf_cos(krf_multiply(e, krf_scalar(g, 3)))));
    krf_plan *product = compile(h, krf_multiply(a, b)), *difference = compile(h, krf_subtract(a, b));

    krf_stream *first = NULL, *second = NULL;
    krf_event *start = NULL;
    step steps[STEPS] = {{.name = "softplus(x)", .stream = "1"},
                         {.name = "sin(x) cos(3 x)", .stream = "2"},
                         {.name = "the product of both", .stream = "2"},
                         {.name = "their difference, by event", .stream = "1"}};
    check(krf_stream_create(ctx, NULL, &first));
    check(krf_stream_create(ctx, NULL, &second));
    check(krf_event_create(ctx, true, &start));
    for (int i = 0; i < STEPS; i++) {
        check(krf_event_create(ctx, true, &steps[i].from));
        check(krf_event_create(ctx, true, &steps[i].to));
    }

    for (int round = 0; round < 2; round++) { /* the second is warm */
        krf_binding none[1] = {{0}};
        check(krf_context_synchronize(ctx));
        check(krf_event_record(start, krf_stream_handle(first)));
        check(krf_event_wait(start, krf_stream_handle(second)));
        run(&steps[0], softplus, first, 0, none, &u);
        run(&steps[1], wave, second, 0, none, &v);
        krf_binding both[2] = {krf_bind_array("a", u), krf_bind_array("b", v)};
        run(&steps[2], product, second, 2, both, &w);
        check(krf_event_wait(steps[2].to, krf_stream_handle(first)));
        run(&steps[3], difference, first, 2, both, &r);
        for (int i = 0; round == 1 && i < STEPS; i++) {
            print(&steps[i], start);
        }
    }

    /* The same in plain C. */
    double *in = as_doubles(krf_input(g, x)), *out = as_doubles(krf_input(g, w)), wrong = 0;
    for (int64_t i = 0; i < krf_array_size(x); i++) {
        double expected = (fmax(in[i], 0) + log1p(exp(-fabs(in[i])))) * sin(in[i]) * cos(3 * in[i]);
        wrong = fmax(wrong, fabs(out[i] - expected));
    }
    printf("largest difference from a plain C loop in double: %.3g\n", wrong);

    free(in);
    free(out);
    for (int i = 0; i < STEPS; i++) {
        krf_event_destroy(steps[i].from);
        krf_event_destroy(steps[i].to);
    }
    krf_event_destroy(start);
    krf_stream_destroy(first);
    krf_stream_destroy(second);
    krf_array *const arrays[] = {x, u, v, w, r};
    for (int i = 0; i < 5; i++) {
        krf_array_release(arrays[i]);
    }
    krf_plan *const plans[] = {softplus, wave, product, difference};
    for (int i = 0; i < 4; i++) {
        krf_plan_release(plans[i]);
    }
    krf_graph_destroy(g);
    krf_graph_destroy(h);
    krf_context_destroy(ctx);
}
