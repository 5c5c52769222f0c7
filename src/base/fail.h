/* The message of the last failure on this thread, which krf_error_message returns. */
#ifndef KRF_BASE_FAIL_H
#define KRF_BASE_FAIL_H

#include <kerfuse/base.h>
#include <stdarg.h>

#define KRF__MESSAGE_SIZE 2048

/* Sets the message and returns status, so that `return krf__fail(KRF_E_SHAPE, "...", ...)` says it all. */
krf_status krf__fail(krf_status status, const char *format, ...) __attribute__((format(printf, 2, 3), cold)); /* cold: what leads to a failure lies apart from the code of a run */
krf_status krf__failv(krf_status status, const char *format, va_list args) __attribute__((cold));

#define krf__fail_memory() krf__fail(KRF_E_MEMORY, "out of host memory (%s)", __func__)

#endif
