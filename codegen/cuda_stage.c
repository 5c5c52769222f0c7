/* The CUDA target's rows that pass through shared memory (krf__kernel.staged): what stands in the holes of skeleton/short_rows.cu and row_short.cu for them. A block's
 * rows are one stretch of memory, which all its threads move together; then they share them, as other short rows. */
#include "codegen/cuda.h"

static bool stored(const krf__emitter *e, uint32_t operand) { return e->kernel->operands[operand].store; }

/* Where elements are stored that take the place of those they were made of: no other thread reads these, and nobody again. */
static uint32_t home(const krf__emitter *e, uint32_t operand) {
    const krf__kernel *k = e->kernel;
    if (!stored(e, operand)) {
        return operand;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (k->operands[i].store && k->operands[i].staged) {
            if (i != operand) {
                return operand; /* one result only does so */
            }
            break;
        }
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const bool held = k->n_rounds == 0 || krf__cuda_of_several_rounds(e, i);
        if (!o->store && o->staged && held && krf_dtype_size((krf_dtype)o->dtype) == krf_dtype_size((krf_dtype)k->operands[operand].dtype)) {
            return i;
        }
    }
    return operand;
}

void krf__cuda_put_staged(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const int v = e->kernel->vector;
    if (e->kernel->parted) {
        krf__str_printf(out, "krf_window<unsigned>((const unsigned char *)tile_%s + mine + (q * threads + thread) * 4, 4)", e->operand_names[operand]);
        return;
    }
    krf__str_printf(out, "((%s *)tile_%s)[mine", v > 1 ? krf__cuda_word_type(e, operand) : krf__storage_type(e->kernel->operands[operand].dtype), e->operand_names[home(e, operand)]);
    krf__str_printf(out, v > 1 ? " / %d + q * threads + thread]" : " + q * threads + thread]", v);
}

/* Rows that a block has at once, where their length is known. */
static int rows_of_literal(const krf__kernel *k) { return krf__staged_turns(k) * (krf__short_block(k) / krf__short_threads(k)); }

static int elements(const krf__kernel *k) { return krf__literal_rows(k) ? rows_of_literal(k) * (int)k->reduced_size : KRF__STAGED_ELEMENTS; }

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->kernel->n_operands; i++) {
        const krf__operand *o = &e->kernel->operands[i];
        if (o->staged && home(e, i) == i) {
            krf__str_printf(out, "__shared__ uint4 tile_%s[%d];\n", e->operand_names[i], (elements(e->kernel) * (int)krf_dtype_size((krf_dtype)o->dtype) + 15) / 16 + (e->kernel->parted ? 1 : 0));
        }
    }
}

/* Moves the block's rows of an operand; its first one may begin anywhere. What is left is rarely more than a few elements: four of them at once take a compiler a twentieth longer (layer norm of rows of 17), and stores do not wait for each other. */
static void put_move(krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->kernel->operands[operand];
    const char *type = krf__storage_type(o->dtype), *name = e->operand_names[operand], *tile = e->operand_names[home(e, operand)];
    const int each = 16 / (int)krf_dtype_size((krf_dtype)o->dtype);
    krf__str_printf(out, "{\n    %s%s *const span = a.%s + base * length;\n    const int words = ((unsigned long long)span & 15) == 0 ? staged / %d : 0;\n", o->store ? "" : "const ", type,
                    name, each);
    krf__str_printf(out, "    #pragma unroll 4\n    for (int n = threadIdx.y * threads + thread; n < words; n += %d) {\n", krf__short_block(e->kernel));
    krf__str_printf(out, o->store ? "        __stcs((uint4 *)span + n, tile_%s[n]);\n    }\n" : "        tile_%s[n] = __ldcs((const uint4 *)span + n);\n    }\n", tile);
    krf__str_printf(out, "    #pragma unroll %d\n    for (int n = words * %d + threadIdx.y * threads + thread; n < staged; n += %d) {\n", o->store ? 1 : 4, each, krf__short_block(e->kernel));
    krf__str_printf(out, o->store ? "        span[n] = ((const %s *)tile_%s)[n];\n    }\n}\n" : "        ((%s *)tile_%s)[n] = span[n];\n    }\n}\n", type, tile);
}

static void move(krf__emitter *e, bool store, krf__str *out) {
    for (uint32_t i = 0; i < e->kernel->n_operands; i++) {
        if (e->kernel->operands[i].staged && stored(e, i) == store) {
            put_move(e, i, out);
        }
    }
}

static void in(krf__emitter *e, krf__str *out) {
    if (e->kernel->staged) {
        krf__str_put(out, "const int staged = (int)((n0 - base < rows ? n0 - base : rows) * length);\n__syncthreads();\n");
        move(e, false, out);
        krf__str_put(out, "__syncthreads();\n");
    }
}

/* How many threads share a row, which of them one is, and how many rows they do together: numbers where the length of a row is one. */
static void threads(krf__emitter *e, krf__str *out) {
    if (krf__literal_rows(e->kernel)) {
        krf__str_i64(out, krf__short_threads(e->kernel));
    } else {
        krf__str_put(out, "blockDim.x");
    }
}

static void thread(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "threadIdx.x");
    if (krf__literal_rows(e->kernel)) { /* of which compilers see that it is below */
        krf__str_printf(out, " %% %d", krf__short_threads(e->kernel));
    }
}

static void put_together(const krf__emitter *e, krf__str *out) {
    if (krf__literal_rows(e->kernel)) {
        krf__str_i64(out, krf__short_block(e->kernel) / krf__short_threads(e->kernel));
    } else {
        krf__str_put(out, "(int)blockDim.y");
    }
}

/* How many rows a block has at once; those that its threads do together come one after the other. */
static void rows(krf__emitter *e, krf__str *out) {
    if (krf__literal_rows(e->kernel)) {
        krf__str_i64(out, e->kernel->staged ? rows_of_literal(e->kernel) : krf__short_block(e->kernel) / krf__short_threads(e->kernel));
    } else if (e->kernel->staged) {
        krf__str_printf(out, "%d / ((int)blockDim.y * (int)length) * (int)blockDim.y", KRF__STAGED_ELEMENTS);
    } else {
        krf__str_put(out, "blockDim.y");
    }
}

static int divisor_of(int a, int b) { return b == 0 ? a : divisor_of(b, a % b); }

/* How often a bank of shared memory is asked for another word, when a warp's threads read element after element of rows that are `step` apart. */
static int conflicts(const krf__kernel *k, int size, int step) {
    enum { BANKS = 32 };
    const int threads = krf__short_threads(k), rows = rows_of_literal(k), v = k->vector, together = BANKS / (size * v > 8 ? 4 : size * v > 4 ? 2 : 1);
    int words[BANKS], sum = 0;
    for (int q = 0; q < krf__reduce_vectors(k); q++) {
        int most = 0;
        for (int t = 0; t < together; t++) {
            words[t] = (t / threads * step % rows * (int)k->reduced_size + (q * threads + t % threads) * v) * size / 4;
            int others = 0;
            for (int o = 0; o < t; o++) {
                others += words[o] != words[t] && words[o] % BANKS == words[t] % BANKS;
            }
            most = others > most ? others : most;
        }
        sum += most;
    }
    return sum;
}

#define MOST_STEP 32

/* The rows of a warp: neighbours, or others where the elements of those lie in the same banks. Neighbours where many threads read or store something else for a row each. */
static int step_of(const krf__kernel *k) {
    const int rows = rows_of_literal(k);
    int size = 1, best = 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        const int bytes = (int)krf_dtype_size((krf_dtype)o->dtype);
        if (!o->staged && o->inner == 0 && o->strides[0] != 0 && krf__short_threads(k) < 4) {
            return 1;
        }
        size = o->staged && bytes > size ? bytes : size;
    }
    for (int step = 2, least = conflicts(k, size, 1); step < rows && step <= MOST_STEP && least > 0; step++) {
        const int n = divisor_of(rows, step) == 1 ? conflicts(k, size, step) : least;
        best = n < least ? step : best;
        least = n < least ? n : least;
    }
    return best;
}

static void put_row(const krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->kernel;
    const int step = k->staged && krf__literal_rows(k) ? step_of(k) : 1;
    if (step > 1) {
        krf__str_printf(out, "(below + (int)threadIdx.y) * %d %% %d", step, rows_of_literal(k));
    } else {
        krf__str_put(out, k->staged ? "(below + (int)threadIdx.y)" : "(int)threadIdx.y");
    }
}

static void loop(krf__emitter *e, krf__str *out) {
    if (!e->kernel->staged) {
        krf__str_put(out, "{\n");
        return;
    }
    krf__str_put(out, "#pragma unroll 1\nfor (int below = 0; below < (int)rows; below += ");
    put_together(e, out);
    krf__str_put(out, ") {\n    const int mine = ");
    put_row(e, out);
    krf__str_put(out, " * (int)length;\n");
}

static void row(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "(%s)(", krf__index_type(e));
    put_row(e, out);
    krf__str_put(out, ")");
}

static void out_(krf__emitter *e, krf__str *out) {
    krf__str stores = {0};
    move(e, true, &stores);
    if (stores.data != NULL) {
        krf__str_put(out, "__syncthreads();\n");
        krf__str_put(out, stores.data);
    }
    out->failed |= stores.failed;
    krf__str_free(&stores);
}

const krf__hole krf__cuda_stage_holes[] = {
    {"STAGE_SHARED", shared}, {"STAGE_IN", in},   {"STAGE_LOOP", loop}, {"STAGE_ROWS", rows}, {"STAGE_THREADS", threads},
    {"STAGE_THREAD", thread}, {"STAGE_ROW", row}, {"STAGE_OUT", out_},  {NULL, NULL},
};
