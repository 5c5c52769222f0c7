/* Everything that a program does with kerfuse, in one run on one device: each step checks its results against values
 * computed here in plain C. The loops of this folder make something fail in it (an allocation, a system call, a driver
 * call) and see what comes back. A step that fails is tried again on the same context, with nothing failing. */
#ifndef FAILURES_SCENARIO_H
#define FAILURES_SCENARIO_H

#include <kerfuse/kerfuse.h>

enum {
    SCENE_EVALUATE = 1 << 0, /* a map and a full reduction, by API */
    SCENE_MANY = 1 << 1,     /* several outputs: new, given, strided, in place, in conflict */
    SCENE_PARSE = 1 << 2,    /* text, and text that does not parse */
    SCENE_PLAN = 1 << 3,     /* placeholders and scalars, bound by name and by position, aligned and not */
    SCENE_FILES = 1 << 4,    /* .npy files */
    SCENE_EXPLAIN = 1 << 5,
    SCENE_VIEWS = 1 << 6,  /* views and copies */
    SCENE_LARGE = 1 << 7,  /* enough work for all threads, and for the automatic tier to compile it */
    SCENE_REOPEN = 1 << 8, /* SCENE_LARGE on another context, which finds a warm disk cache */
    SCENE_EXTRA = 1 << 9,  /* a step of the caller's */
    SCENE_STREAMS = 1 << 10, /* streams, events, copies that do not wait, DLPack */
    SCENE_DEVICES = 1 << 11, /* copies to another GPU, or another context, and back */
    SCENE_DEFINE = 1 << 14,  /* what the user defines */
    SCENE_RAW = 1 << 12,     /* raw kernels */
    SCENE_REDUCE = 1 << 13,  /* rows and columns together, and reductions that are spread */
    SCENE_ALL = (1 << 9) - 1,
};

typedef struct scene scene;
struct scene {
    /* by the caller */
    const char *device; /* "cpu", "cuda" */
    krf_cpu_tier tier;
    unsigned steps;
    const char *folder;            /* for FOLDER/cache and for files */
    const char *cache;             /* NULL: FOLDER/cache */
    bool all_processors;           /* else two threads */
    bool background;               /* compile beside the interpreter, not before a run */
    const char *compiler;          /* NULL: the usual one */
    void (*quiet)(void);           /* ends whatever makes things fail; called before a step is tried again */
    krf_status (*extra)(scene *s); /* SCENE_EXTRA */
    bool may_stay_lost;            /* the context may say KRF_E_LOST from the failure on */
    bool compiler_is_broken;       /* nothing can be expected to be compiled, even on the second try */

    /* of the run */
    krf_context *context;
    krf_status status;     /* of the first step that failed; KRF_OK when all went well */
    const char *step;      /* its name */
    char message[2100];    /* krf_error_message() then */
    int wrong;             /* broken promises, each with a line on stderr */
    krf_cache_stats stats; /* of the context at its end, and of that of SCENE_REOPEN */
    krf_cache_stats again;
};

/* Opens a context, takes the steps until one fails, tries that again, and closes the context. */
void scene_run(scene *s);

/* Counts a broken promise and prints it. */
void scene_wrong(scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A new folder below TMPDIR for one test program, which is also the TMPDIR from then on; and its end. NULL: the program
 * cannot go on. Remaining files are no promise broken unless scene_empty says so. */
const char *scene_make_folder(void);
void scene_remove_folder(void);

/* Removes all that is in a folder, and what is left in the folder for temporary files (a number of names). */
void scene_empty(const char *folder);
int scene_left_over(void);

/* Gives all files below a folder a time long ago. */
void scene_make_old(const char *folder);

/* The descriptors that this process has open. */
int scene_open_files(void);

/* Remembers the names of the entries that the disk cache has now; and how many it has that were not there then. */
void scene_remember_entries(const char *folder);
int scene_unknown_entries(const char *folder);

/* The command of a compiler that remembers what it has compiled: loops compile the same kernels a thousand times. */
const char *scene_compiler(void);

#endif
