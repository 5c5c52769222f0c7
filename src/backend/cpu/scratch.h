/* A folder of our own for the files of one compilation or one load: a name that cannot be predicted, mode 0700, below
 * $TMPDIR or /tmp, removed with all that is in it. */
#ifndef KRF_BACKEND_CPU_SCRATCH_H
#define KRF_BACKEND_CPU_SCRATCH_H

#include <stddef.h>

typedef struct krf__scratch {
    char *path; /* absolute */
    int fd;     /* of the folder */
} krf__scratch;

/* Returns 0 or an errno value; after a failure there is nothing to close. */
int krf__scratch_open(krf__scratch *scratch);
void krf__scratch_close(krf__scratch *scratch);

/* Writes a file whole. Returns 0 or an errno value. */
int krf__scratch_write(const krf__scratch *scratch, const char *name, const void *data, size_t bytes);

#endif
