/* The device that a test runs on: KRF_TEST_DEVICE, or the CPU. */
#ifndef KRF_TESTS_DEVICE_H
#define KRF_TESTS_DEVICE_H

#include <kerfuse/kerfuse.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline const char *asked_device(void) {
    const char *device = getenv("KRF_TEST_DEVICE");
    return device != NULL ? device : "cpu";
}

static inline bool on_gpu(void) { return strncmp(asked_device(), "cuda", 4) == 0; }

/* Where there is no such device the program ends, skipped. */
static inline krf_context *open_or_skip(const krf_context_options *options) {
    krf_context *context = NULL;
    const krf_status status = krf_context_create(options, &context);
    if (status == KRF_E_DEVICE) {
        printf("skipped: %s\n", krf_error_message());
        exit(77);
    }
    if (status != KRF_OK) { /* as of a device that a kernel has lost */
        fail_msg("context: %s: %s", krf_status_name(status), krf_error_message());
    }
    return context;
}

#endif
