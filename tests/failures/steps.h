/* The steps of a scene. Each makes what it needs, releases it, and gives the status of the first call that failed. */
#ifndef FAILURES_STEPS_H
#define FAILURES_STEPS_H

#include "failures/scenario.h"

krf_context_options scene_options(const scene *s);

krf_status scene_evaluate(scene *s);
krf_status scene_many(scene *s);
krf_status scene_parse(scene *s);
krf_status scene_plan(scene *s);
krf_status scene_files(scene *s);
krf_status scene_explain(scene *s);
krf_status scene_views(scene *s);
krf_status scene_large(scene *s);
krf_status scene_reopen(scene *s);
krf_status scene_streams(scene *s);
krf_status scene_devices(scene *s);
krf_status scene_define(scene *s);
krf_status scene_raw(scene *s);
krf_status scene_reduce(scene *s);

/* For steps: goes to `done` with the status when a call fails. */
#define TRY(call) \
    do { \
        status = (call); \
        if (status != KRF_OK) { \
            goto done; \
        } \
    } while (0)

/* krf_eval and krf_array_from_host, and a promise broken if they fail and leave something. */
krf_status scene_eval(scene *s, krf_expr x, krf_array **out);
krf_status scene_upload(scene *s, int rank, const int64_t *shape, const float *data, krf_array **out);

/* Whether an array holds these numbers, up to a relative error. */
krf_status scene_check(scene *s, const char *what, krf_array *array, int64_t n, const float *expected, float error);

#endif
