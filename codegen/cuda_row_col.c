/* The CUDA target's kernels of several rounds whose rows lie side by side in memory (KRF__ROW_COL): neighbouring threads have elements of neighbouring rows, and those
 * that share a row meet in shared memory, which has a place for what each found. The rest is that of other rows (cuda_row.c). */
#include "codegen/cuda.h"

/* Which row of the block a thread has, and which of those that share it one is; of rows that blocks share, each has a chunk. */
void krf__cuda_put_side_place(const krf__emitter *e, krf__str *out) {
    const int threads = krf__side_threads(e->k), columns = e->k->columns, blocks = e->k->cluster;
    krf__str_put(out, blocks > 1 ? "__cluster_barrier_arrive_relaxed();\n" : "");
    krf__str_printf(out, "const int threads = %d, thread = threadIdx.x / %d %% %d, row = threadIdx.x %% %d, warp = ", threads, columns, threads, columns);
    krf__str_printf(out, blocks > 1 ? "blockIdx.x %% %d;\n" : "0;\n", blocks);
}

bool krf__cuda_walks(const krf__emitter *e) { return e->k->schedule == KRF__ROW_COL && e->k->n_reduced == 1; }

void krf__cuda_put_walk(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *type = krf__index_type(e), *name = e->operand_names[operand];
    const int d = e->k->n_kept, class_ = krf__stride_class(e->k, &e->k->operands[operand], d);
    krf__str_printf(out, "const %s side_%s = 0", type, name);
    krf__emit_offset(e, operand, KRF__PART_KEPT, -1, out);
    if (class_ == 1) {
        krf__str_printf(out, " + (p + thread), step_%s = threads;\n", name);
    } else if (class_ >= 2) {
        krf__str_printf(out, " + (p + thread) * %s_s%d, step_%s = threads * %s_s%d;\n", name, d, name, name, d);
    } else {
        krf__str_printf(out, ", step_%s = 0;\n", name);
    }
}

void krf__cuda_put_side_shared(krf__emitter *e, krf__str *out) {
    const int threads = krf__side_threads(e->k), columns = e->k->columns, blocks = e->k->cluster;
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const char *type = krf__reduction_type(e, r);
        if (threads > 1) {
            krf__str_printf(out, "__shared__ %s shared%u[%d];\n", type, e->reduction + r, threads * columns);
        }
        if (blocks > 1) {
            krf__str_printf(out, "__shared__ %s chunks%u[%d];\n", type, e->reduction + r, blocks * columns);
        }
    }
}

/* The first two levels of a tree of 32: a quarter of the threads do them for all, which else read four times as much. */
static void put_quarter(krf__emitter *e, int threads, krf__str *out) {
    const int quarter = threads / 4, columns = e->k->columns;
    krf__str_printf(out, "if (thread < %d) {\n", quarter);
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const uint32_t f = e->reduction + r;
        krf__str_printf(out, "    r%u = red%u(red%u(r%u, shared%u[(thread + %d) * %d + row]), red%u(shared%u[(thread + %d) * %d + row], shared%u[(thread + %d) * %d + row]));\n", r, f, f, r, f, 2 * quarter, columns,
                        f, f, quarter, columns, f, 3 * quarter, columns);
        krf__str_printf(out, "    shared%u[thread * %d + row] = r%u;\n", f, columns, r);
    }
    krf__str_put(out, "}\n__syncthreads();\n");
}

/* Lane k of n is entry k of an array, of a column that is the thread's row: every thread does that tree by itself. Lanes that there are none of are the identity, of which compilers leave nothing. */
static void put_fold(krf__emitter *e, const char *array, int n, krf__str *out) {
    int lanes = 1;
    while (lanes < n) {
        lanes *= 2;
    }
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        const uint32_t f = e->reduction + r;
        krf__str_printf(out, "{\n    %s part[%d];\n    #pragma unroll\n    for (int k = 0; k < %d; k++) {\n        part[k] = %s%u[k * %d + row];\n    }\n", krf__reduction_type(e, r), lanes, n,
                        array, f, e->k->columns);
        for (int k = n; k < lanes; k++) {
            krf__str_printf(out, "    part[%d] = ", k);
            krf__emit_identity(e, r, out);
            krf__str_put(out, ";\n");
        }
        krf__str_printf(out, "    #pragma unroll\n    for (int n = %d; n > 0; n /= 2) {\n        #pragma unroll\n        for (int k = 0; k < n; k++) {\n", lanes / 2);
        krf__str_printf(out, "            part[k] = red%u(part[k], part[k + n]);\n        }\n    }\n    r%u = part[0];\n}\n", f, r);
    }
}

void krf__cuda_put_side_share(krf__emitter *e, krf__str *out) {
    const int threads = krf__side_threads(e->k), columns = e->k->columns, blocks = e->k->cluster;
    for (uint32_t r = 0; r < e->k->n_reductions && threads > 1; r++) {
        krf__str_printf(out, "shared%u[thread * %d + row] = r%u;\n", e->reduction + r, columns, r);
    }
    if (threads > 1) {
        krf__str_put(out, "__syncthreads();\n");
        if (threads == 32) {
            put_quarter(e, threads, out);
        }
        put_fold(e, "shared", threads == 32 ? threads / 4 : threads, out);
    }
    if (blocks > 1) { /* a thread for each block that is told */
        krf__str_put(out, e->reduction == 0 ? "__cluster_barrier_wait();\n" : "");
        for (uint32_t r = 0; r < e->k->n_reductions; r++) {
            krf__str_printf(out, "if (thread < %d) {\n    *(%s *)__cluster_map_shared_rank(&chunks%u[warp * %d + row], thread) = r%u;\n}\n", blocks, krf__reduction_type(e, r),
                            e->reduction + r, columns, r);
        }
        krf__str_put(out, "__cluster_barrier_arrive();\n__cluster_barrier_wait();\n");
        put_fold(e, "chunks", blocks, out);
    }
}
