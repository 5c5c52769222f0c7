/* The step that reduces by rows and by columns at once, and plans reductions that a GPU spreads. See steps.h. */
#include "failures/steps.h"

#include <string.h>

enum { ROWS = 6, COLUMNS = 5, CELLS = ROWS * COLUMNS };

/* Sums of columns, one of which waits for the other (pass/delay.c), and a view of rows less their means (pass/lower_under.c). Numbers are whole and small: every order of sums gives them. */
static krf_status reduce_columns(scene *s) {
    static float data[CELLS];
    float totals[ROWS] = {0}, sums[COLUMNS] = {0}, products[COLUMNS] = {0}, turned[CELLS];
    krf_array *a = NULL, *r[3] = {NULL};
    krf_expr outputs[3];
    krf_graph *g = krf_graph_create(s->context);
    krf_status status;
    int n = 0;
    for (int i = 0; i < CELLS; i++) {
        data[i] = (float)(i * 7 % 11);
        totals[i / COLUMNS] += data[i];
        sums[i % COLUMNS] += data[i];
    }
    for (int i = 0; i < CELLS; i++) {
        products[i % COLUMNS] += data[i] * totals[i / COLUMNS];
        turned[i % COLUMNS * ROWS + i / COLUMNS] = data[i] - sums[i % COLUMNS];
    }
    TRY(scene_upload(s, 2, (int64_t[]){ROWS, COLUMNS}, data, &a));
    TRY(krf_parse_many(g, "r = sum(x, axis=1, keepdims=True)\nreturn sum(x, axis=0), sum(x*r, axis=0)", (krf_binding[]){krf_bind_array("x", a)}, 1, 2, outputs, &n));
    TRY(krf_parse(g, "(x - sum(x, axis=0)).T", (krf_binding[]){krf_bind_array("x", a)}, 1, &outputs[2]));
    status = krf_eval_many(2, outputs, r); /* without the view, which needs the first sums before the second ones are there */
    if (status != KRF_OK && (r[0] != NULL || r[1] != NULL)) {
        scene_wrong(s, "krf_eval_many failed and left results");
    }
    TRY(status);
    TRY(scene_check(s, "sums", r[0], COLUMNS, sums, 0));
    TRY(scene_check(s, "sums of products", r[1], COLUMNS, products, 0));
    TRY(scene_eval(s, outputs[2], &r[2]));
    TRY(scene_check(s, "turned", r[2], CELLS, turned, 0));
done:
    krf_array_release(a);
    for (int k = 0; k < 3; k++) {
        krf_array_release(r[k]);
    }
    krf_graph_destroy(g);
    return status;
}

krf_status scene_reduce(scene *s) {
    char *text = NULL;
    size_t size = 0;
    krf_graph *g = krf_graph_create(s->context);
    const int axis = 0;
    const krf_expr y = krf_mean(krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){1 << 20, 3}), 1, &axis, false);
    krf_status status;
    TRY(reduce_columns(s));
    status = krf_dump(g, 1, &y, KRF_DUMP_PLAN, "cuda", NULL, &text, &size);
    if (status != KRF_OK && text != NULL) {
        scene_wrong(s, "krf_dump failed and left a text");
    }
    TRY(status);
    if (strstr(text, "domain (1,)") == NULL) {
        scene_wrong(s, "columns of points are not spread (plan/spread.c): %s", text);
    }
done:
    krf_free(text);
    krf_graph_destroy(g);
    return status;
}
