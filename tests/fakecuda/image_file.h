/* The bytes of an image, as NVRTC's double makes them and the driver's double takes them apart. See image.h. */
#ifndef FAKECUDA_IMAGE_FILE_H
#define FAKECUDA_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Marks a shared object as an image for that architecture. False: it is none of ours to mark. */
bool fake_image_seal(unsigned char *object, size_t bytes, unsigned arch);

/* A copy of a sealed image (its size is in its header) as the shared object that it was; NULL: it is none, or damaged.
 * Freed by the caller. */
unsigned char *fake_image_unseal(const void *image, size_t *bytes, unsigned *arch);

/* Runs the host's compiler over a text in C++, or (assembly) in its assembler's language, and gives what it wrote: a
 * shared object, or (to_assembly) assembly. NULL: *log says why. Both freed by the caller. */
typedef struct fake_job {
    const char *text;
    size_t bytes;
    bool assembly, to_assembly;
    const char *flags; /* words; NULL: none */
} fake_job;

unsigned char *fake_compile(const fake_job *job, size_t *bytes, char **log);

/* What "PTX" is here: the host's assembly between two lines. */
#define FAKE_PTX_HEAD "# PTX of the simulated GPU: the host's assembly\n"
#define FAKE_PTX_TAIL "# end of PTX\n"

#endif
