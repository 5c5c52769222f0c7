/* The steps that write: .npy files and explanations. See steps.h. */
#include "failures/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 60 };

static void fill(float *data, float first) {
    for (int i = 0; i < N; i++) {
        data[i] = first + (float)i;
    }
}

/* What stands under the final name is a whole file: the old one, the new one, or none. */
static void check_whole(scene *s, const char *path, bool old) {
    unsigned char start[128 + N * sizeof(float) + 1];
    FILE *file = fopen(path, "rb");
    size_t got = file != NULL ? fread(start, 1, sizeof start, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    if (file == NULL ? old : got != 128 + N * sizeof(float) || memcmp(start, "\x93NUMPY", 6) != 0) {
        scene_wrong(s, "a save that failed left %s %s", file == NULL ? "no" : "a partial", path);
    }
}

static krf_status save(scene *s, krf_array *a, const char *path) {
    bool old = access(path, F_OK) == 0;
    krf_status status = krf_array_save(a, path);
    if (status != KRF_OK) {
        char message[2100];
        snprintf(message, sizeof message, "%s", krf_error_message());
        if (s->quiet != NULL) {
            s->quiet();
        }
        check_whole(s, path, old);
        if (status == KRF_E_FILE && strstr(message, path) == NULL) {
            scene_wrong(s, "\"%s\" does not name %s", message, path);
        }
    }
    return status;
}

static krf_status load(scene *s, const char *path, krf_array **a) {
    krf_status status = krf_array_load(s->context, path, a);
    if (status != KRF_OK && *a != NULL) {
        scene_wrong(s, "krf_array_load failed and left an array");
    }
    if (status == KRF_E_FILE && strstr(krf_error_message(), path) == NULL) {
        scene_wrong(s, "\"%s\" does not name %s", krf_error_message(), path);
    }
    return status;
}

krf_status scene_files(scene *s) {
    static float data[N], other[N];
    float turned[N];
    char path[160], missing[160];
    snprintf(path, sizeof path, "%s/file.npy", s->folder);
    snprintf(missing, sizeof missing, "%s/missing.npy", s->folder);
    fill(data, 0);
    fill(other, 1000);
    for (int i = 0; i < N; i++) {
        turned[i] = other[i % 6 * 10 + i / 6];
    }
    remove(path);
    krf_array *a = NULL, *b = NULL, *t = NULL, *read = NULL, *again = NULL, *none = NULL;
    krf_status status;
    TRY(scene_upload(s, 2, (int64_t[]){6, 10}, data, &a));
    TRY(scene_upload(s, 2, (int64_t[]){6, 10}, other, &b));
    TRY(krf_array_view(b, 2, (int64_t[]){10, 6}, (int64_t[]){1, 10}, 0, &t));
    TRY(save(s, a, path)); /* a new file */
    TRY(load(s, path, &read));
    TRY(scene_check(s, "file", read, N, data, 0));
    TRY(save(s, t, path)); /* in place of that, and not from C order */
    TRY(load(s, path, &again));
    TRY(scene_check(s, "file of a view", again, N, turned, 0));
    status = load(s, missing, &none);
    if (status == KRF_OK) {
        scene_wrong(s, "a file that is not there was read");
    }
    status = status == KRF_E_FILE ? KRF_OK : status;
done:
    krf_array_release(a);
    krf_array_release(b);
    krf_array_release(t);
    krf_array_release(read);
    krf_array_release(again);
    return status;
}

static krf_status dump(scene *s, krf_graph *g, krf_expr x, krf_dump_kind kind, const char *target, const char *part) {
    char *text = (char *)s;
    size_t size = 1;
    krf_status status = krf_dump(g, 1, &x, kind, target, NULL, &text, &size);
    if (status != KRF_OK && (text != NULL || size != 0)) {
        scene_wrong(s, "krf_dump failed and left text");
        return status;
    }
    if (status == KRF_OK && (strlen(text) != size || strstr(text, part) == NULL)) {
        scene_wrong(s, "\"%s\" is not in the dump:\n%s", part, text);
    }
    krf_free(text);
    return status;
}

krf_status scene_explain(scene *s) {
    krf_plan *plan = NULL;
    krf_graph *g = krf_graph_create(s->context);
    krf_expr x = krf_placeholder(g, "x", KRF_F32, 2, (int64_t[]){50, 2000});
    krf_expr y = krf_sum(krf_multiply(x, x), 1, (int[]){0}, true);
    krf_expr z = krf_mean(krf_subtract(x, y), 1, (int[]){1}, false);
    const krf_compile_options later = {.size = sizeof later, .load = false};
    krf_status status;
    TRY(krf_compile(g, 1, &z, &later, &plan));
    for (int i = 0; i < krf_plan_kernels(plan); i++) {
        krf_kernel_info info = {.size = sizeof info};
        TRY(krf_plan_kernel(plan, i, &info));
        if (info.source == NULL || strstr(info.source, info.name) == NULL || (i > 0) != (info.cut[0] != '\0')) {
            scene_wrong(s, "kernel %d is not explained", i);
        }
    }
    if (krf_plan_kernels(plan) != 2) {
        scene_wrong(s, "%d kernels", krf_plan_kernels(plan));
    }
    TRY(dump(s, g, z, KRF_DUMP_GRAPH, NULL, "sum("));
    TRY(dump(s, g, z, KRF_DUMP_PLAN, NULL, "reduce_"));
    TRY(dump(s, g, z, KRF_DUMP_SOURCE, "c", "void"));
    TRY(dump(s, g, z, KRF_DUMP_SOURCE, "cuda", "__global__"));
done:
    krf_plan_release(plan);
    krf_graph_destroy(g);
    return status;
}
