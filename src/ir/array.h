/* An array as the graph sees it: typed, strided, reference counted. Who allocated the memory is the storage's business. */
#ifndef KRF_IR_ARRAY_H
#define KRF_IR_ARRAY_H

#include <kerfuse/array.h>
#include <stdatomic.h>

/* Which streams work on a piece of memory; sched/order.h reads and writes it. All zero: none that others must wait for. */
typedef struct krf__uses {
    _Atomic uint64_t writer;  /* the stamp of what wrote it last */
    _Atomic uint64_t readers; /* a bit for each lane that has used it since; of new memory, for each that used it before */
} krf__uses;

/* A piece of memory shared by an array and its views. */
typedef struct krf__storage {
    atomic_int references;
    bool read_only; /* no output */
    uint64_t home;  /* of memory that came by DLPack: the place in whose order it is given back (sched/order.h) */
    krf__uses uses;
    krf_context *context;
    void *data;
    size_t bytes;                                  /* 0 where unknown (wrapped) */
    void (*destroy)(struct krf__storage *storage); /* frees data and the storage itself */
    void (*deleter)(void *user);                   /* wrapped memory */
    void *user;
} krf__storage;

struct krf_array {
    atomic_int references;
    uint64_t id; /* no other array of the process has or had it: what was found of the one that has it stays true */
    krf_dtype dtype;
    int rank;
    int64_t size;
    int64_t shape[KRF_MAX_RANK], strides[KRF_MAX_RANK]; /* strides in elements */
    char *data;                                          /* element (0, ..., 0); NULL when size is 0 */
    krf__storage *storage;
};

/* The id of an array that is being made; never 0. */
uint64_t krf__array_new_id(void);

/* Whether the elements lie in C order without gaps. */
bool krf__array_contiguous(const krf_array *array);

/* Whether a vector of 16 bytes may start at the first element. */
static inline bool krf__array_aligned(const krf_array *array) { return (uintptr_t)array->data % 16 == 0; }

/* The bytes from the first to past the last one that the array can touch: [*low, *high). */
void krf__array_range(const krf_array *array, const char **low, const char **high);

/* Whether these ranges have a byte in common; NULL has none. */
bool krf__arrays_overlap(const krf_array *a, const krf_array *b);

/* Whether an element of one has a byte of an element of the other. Strides that no few steps settle are taken not to. */
bool krf__arrays_share(const krf_array *a, const krf_array *b);

#endif
