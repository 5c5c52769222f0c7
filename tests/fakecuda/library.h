/* Images that were loaded. A copy of an image runs one block at a time, for `static` is where its __shared__ variables
 * are; every stream has copies of its own, so that streams stay unordered. */
#ifndef FAKECUDA_LIBRARY_H
#define FAKECUDA_LIBRARY_H

#include "fake.h"
#include "image.h"

typedef struct fake_copy {
    struct fake_copy *next;
    void *handle;
    char *file; /* kept for the lines of error reports; NULL */
    const fakecuda_image *image;
    cu_stream owner; /* NULL: any stream may take it */
    _Atomic uint64_t last; /* of the owner's line: the last launch */
} fake_copy;

/* The kernel behind a function handle; NULL when it is none. */
cu_library fake_library_of(cu_function function, unsigned *kernel);

/* The device whose context it was asked for in; of a function that is one. */
int fake_function_device(cu_function function);

/* A kernel of a library: how it is called and what it takes. */
const fakecuda_kernel *fake_kernel_of(cu_library library, unsigned kernel);

/* The most dynamic shared memory that its launches may have. */
unsigned fake_dynamic_of(cu_library library, unsigned kernel);

/* Copies for that stream, at most `most`. */
void fake_library_copies(cu_library library, cu_stream stream, fake_copy **copies, unsigned most);

/* The stream is gone: its copies are free. */
void fake_library_leave(cu_stream stream);

#endif
