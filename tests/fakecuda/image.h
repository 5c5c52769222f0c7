/* What a simulated kernel image and the driver's double agree on. Included by generated kernels through cudasim.h, as
 * C++, so it includes nothing: a kernel must compile in a few milliseconds. */
#ifndef FAKECUDA_IMAGE_H
#define FAKECUDA_IMAGE_H

typedef struct fakecuda_index {
    unsigned x, y, z;
} fakecuda_index;

/* Where a simulated thread stands. */
typedef struct fakecuda_thread {
    fakecuda_index thread, block, block_dim, grid_dim;
    unsigned waited; /* 1: for the kernel before this one */
} fakecuda_thread;

/* What a kernel calls. line: of the source, so that barriers can be told apart and errors have a place. */
typedef struct fakecuda_runtime {
    const fakecuda_thread *(*here)(void);
    void (*barrier)(int line);
    unsigned long long (*shuffle_down)(unsigned mask, unsigned long long bits, unsigned delta, int line);
    void (*fence)(void);
    unsigned (*atomic_inc)(unsigned *at, unsigned limit);
    unsigned (*atomic_add)(unsigned *at, unsigned value);
    void (*misaligned)(const void *address, int line);
    void (*cluster_arrive)(int line);
    void (*cluster_wait)(int line);
    void *(*map_shared)(const void *address, unsigned rank, int line);
    void (*grid_wait)(void);
} fakecuda_runtime;

typedef struct fakecuda_kernel {
    const char *name;
    void (*call)(void *const *arguments);
    const unsigned *bytes; /* of each argument */
    unsigned arguments;
    unsigned cluster; /* blocks that run together, along x */
} fakecuda_kernel;

/* What a block has at most; launches say how much of it. */
#define FAKECUDA_DYNAMIC 232448

/* The one symbol of an image, named fakecuda_image_2. */
typedef struct fakecuda_image {
    unsigned n_kernels;
    bool waits; /* threads wait for each other: barriers, shuffles or shared memory */
    const fakecuda_kernel *kernels;
    const fakecuda_runtime **runtime; /* the loader fills it in */
    char *shared_begin, *shared_end;  /* the __shared__ variables */
    char *dynamic;                    /* dynamic shared memory, FAKECUDA_DYNAMIC bytes; NULL where the text has none */
} fakecuda_image;

/* An image is a shared object whose ELF header carries, in bytes that ELF leaves unused, this mark and a checksum of
 * all that follows the header, and in e_flags the architecture (90). The loader restores the header. */
#define FAKECUDA_MARK_AT 9
#define FAKECUDA_MARK "sim"
#define FAKECUDA_SUM_AT 12
#define FAKECUDA_FLAGS_AT 48
#define FAKECUDA_HEADER 64

#endif
