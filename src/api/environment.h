#ifndef KRF_API_ENVIRONMENT_H
#define KRF_API_ENVIRONMENT_H

#include <kerfuse/base.h>

/* A variable whose value makes no sense. name NULL: none. */
typedef struct krf__bad_variable {
    const char *name, *value, *right; /* right: what would be */
} krf__bad_variable;

/* Options as the environment says. What makes no sense leaves its option as it is; the first such is told. */
krf__bad_variable krf__environment_read(krf_context_options *options);

#endif
