/* Evaluation: at once (krf_eval), or compiled once and run many times (krf_compile, krf_plan_run). And explanation: what a plan
 * will do, and the text of its kernels, without running it. */
#ifndef KERFUSE_PLAN_H
#define KERFUSE_PLAN_H

#include <kerfuse/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Evaluates expressions. outputs[k] NULL: a new array in C order is made; else it must have the dtype and shape of
 * expression k and is written in place (any strides that do not overlap themselves). It may be one of the inputs; no two outputs
 * may share memory (KRF_E_ARGUMENT). All expressions must be of one graph without placeholders.
 * Asynchronous on CUDA, complete on return on the CPU. On failure NULL outputs stay NULL, given ones are unchanged or partly written.
 * Errors: the graph's own; KRF_E_SHAPE, KRF_E_DTYPE, KRF_E_MEMORY, KRF_E_COMPILE, KRF_E_DEVICE, KRF_E_LOST. */
KRF_API krf_status krf_eval(krf_expr x, krf_array **output);
KRF_API krf_status krf_eval_many(int n, const krf_expr *xs, krf_array **outputs);

typedef struct krf_plan krf_plan;

typedef struct krf_compile_options {
    size_t size;          /* sizeof(krf_compile_options) */
    bool load;            /* compile and load all kernels now (the default) instead of at the first run */
    const char *name;     /* of the plan, for people: in profilers (NVTX), the log (KRF_LOG) and files (KRF_DUMP). Copied; NULL for none. Kernels are found by what they
                             compute and keep their names, so that plans of any name share them */
} krf_compile_options;
KRF_API krf_compile_options krf_compile_options_default(void);

/* Compiles n expressions of one graph into a plan with one reference. The graph may be destroyed afterwards; arrays that are inputs of it
 * are retained by the plan. options: NULL for the defaults. A plan may be run from many threads. */
KRF_API krf_status krf_compile(krf_graph *graph, int n, const krf_expr *outputs, const krf_compile_options *options,
                               krf_plan **plan);

/* Runs a plan. stream: a CUstream or cudaStream_t, or NULL for the context's own; NULL on the CPU. bindings: one for each placeholder, by name or by position.
 * outputs: as for krf_eval, one for each output; given ones must be in C order.
 * Errors: KRF_E_ARGUMENT for a missing or unknown name; KRF_E_SHAPE, KRF_E_DTYPE where a binding is not what the plan was compiled for. */
KRF_API krf_status krf_plan_run(krf_plan *plan, void *stream, int n, const krf_binding *bindings, krf_array **outputs);
KRF_API void krf_plan_release(krf_plan *plan);

typedef struct krf_benchmark_options {
    size_t size;          /* sizeof(krf_benchmark_options) */
    int warm_up;          /* runs before the first that is timed (10) */
    int repeat;           /* runs that are timed, at most (1000) */
    double seconds;       /* after which no other run is begun (2) */
    void *stream;         /* a handle, as for krf_plan_run (NULL) */
} krf_benchmark_options;
KRF_API krf_benchmark_options krf_benchmark_options_default(void);

/* Times of single runs, in microseconds: of the call on the host, and from event to event around the run on its stream, which is waited for after each
 * run. On the CPU both are the same. */
typedef struct krf_benchmark_times {
    size_t size;          /* set by the caller to sizeof(krf_benchmark_times) */
    int runs;             /* that were timed */
    double cpu_min, cpu_median, cpu_max;
    double gpu_min, gpu_median, gpu_max;
} krf_benchmark_times;

/* Runs a plan again and again and times it. options: NULL for the defaults; the other arguments as for krf_plan_run: outputs that are NULL are made by the first run
 * and written again by the others. Errors: as krf_plan_run. */
KRF_API krf_status krf_benchmark(krf_plan *plan, const krf_benchmark_options *options, int n, const krf_binding *bindings, krf_array **outputs,
                                 krf_benchmark_times *times);

KRF_API const char *krf_plan_name(const krf_plan *plan); /* NULL for none; lives as long as the plan */
KRF_API int krf_plan_placeholders(const krf_plan *plan);
KRF_API const char *krf_plan_placeholder_name(const krf_plan *plan, int index);
KRF_API int krf_plan_outputs(const krf_plan *plan);

/* What kernel `index` of a plan is. Strings live as long as the plan. */
typedef struct krf_kernel_info {
    size_t size;             /* set by the caller to sizeof(krf_kernel_info) */
    const char *name;
    const char *schedule;    /* "map", "reduce_all", "reduce_row", "reduce_short": several rows a warp, "reduce_col", "scan", "row", "row_short", "row_col": several
                                rounds over each row, "tile": a map that transposes, by squares of two dimensions, or "raw": written by the user (raw.h) */
    int operations;          /* elementwise operations and reductions */
    int64_t elements;        /* of the domain */
    int64_t bytes_read, bytes_written; /* the least that it must move */
    const char *source;      /* the generated text for the context's device */
    const char *cut;         /* why this kernel is not part of the one before; "" for the first */
    int registers;           /* CUDA, after compiling: per thread; -1 where unknown */
    int shared_bytes, spill_bytes;
} krf_kernel_info;
KRF_API int krf_plan_kernels(const krf_plan *plan);
KRF_API krf_status krf_plan_kernel(krf_plan *plan, int index, krf_kernel_info *info);

/* Text of a graph, of its plan, or of its kernels, for any target, whatever device the context is on.
 * target: "c" or "cuda". arch: the GPU that it is for, "sm_90", of the target "cuda" (KRF_E_ARGUMENT for what is none); NULL for the context's own, or, where that is a CPU, sm_90. *data is allocated (NUL-terminated, *size without it) and freed with krf_free.
 * KRF_DUMP_CUBIN holds one kernel; plans of several are KRF_E_ARGUMENT. PTX and cubin need NVRTC and no GPU. */
typedef enum krf_dump_kind {
    KRF_DUMP_GRAPH,
    KRF_DUMP_PLAN,
    KRF_DUMP_SOURCE,
    KRF_DUMP_PTX,
    KRF_DUMP_CUBIN
} krf_dump_kind;
KRF_API krf_status krf_dump(krf_graph *graph, int n, const krf_expr *outputs, krf_dump_kind kind, const char *target,
                            const char *arch, char **data, size_t *size);
KRF_API void krf_free(void *data);

#ifdef __cplusplus
}
#endif

#endif
