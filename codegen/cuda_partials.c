/* The partial results of the chunks of a long reduction of the CUDA target: where they are put, and how the block that comes last folds them. */
#include "codegen/cuda.h"

#include <stdio.h>

static void put_place(krf__emitter *e, uint32_t r, const char *index, krf__str *out) {
    const uint32_t words = krf__accumulator_words(e->k, r), before = krf__accumulator_words_before(e->k, r);
    if (words == 1) {
        krf__str_printf(out, "a.scratch + (%u * kept + o) * a.chunks + %s", before, index);
    } else {
        krf__str_printf(out, "a.scratch + %uLL * kept * a.chunks + (o * a.chunks + (%s)) * %u", before, index, words);
    }
}

static void put_partial(krf__emitter *e, uint32_t r, bool read, const char *index, krf__str *out) {
    const uint32_t words = krf__accumulator_words(e->k, r);
    krf__str_put(out, words > 1 && read ? krf__reduction_type(e, r) : ""); /* ?: takes no volatile struct */
    krf__str_printf(out, words > 1 && read ? "_read(*(%s%s *)(" : "*(%s%s *)(", read ? "volatile const " : words > 1 ? "" : "volatile ", krf__reduction_type(e, r));
    put_place(e, r, index, out);
    krf__str_put(out, words > 1 && read ? "))" : ")");
}

static void chunk_done(krf__emitter *e, krf__str *out) {
    if (e->k->chunks == 1) {
        krf__cuda_put_results(e, out);
        return;
    }
    krf__str_put(out, "if (alone) {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "    shared%u[c] = r%u;\n", r, r);
    }
    krf__str_put(out, "} else {\n");
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_partial(e, r, false, "c", out);
        krf__str_printf(out, " = r%u;\n", r);
    }
    krf__str_put(out, "}\n");
}

/* Reductions from `first` on whose partial results are copied together. */
static uint32_t copied_together(const krf__emitter *e, uint32_t first) {
    enum { BYTES = 24 };
    int64_t bytes = 0;
    uint32_t r = first;
    for (; r < e->k->n_reductions && (r == first || bytes < BYTES); r++) {
        bytes += krf__cuda_shared_bytes(e, r);
    }
    return bytes > BYTES && r > first + 1 ? r - 1 : r;
}

/* Bytes of shared memory that a block needs for other things: results of its lines' chunks, and what teams of warps meet in. */
static int64_t bytes_taken(const krf__emitter *e) {
    int64_t all = 0, widest = 0;
    for (uint32_t first = 0, end; first < e->k->n_reductions; first = end) {
        int64_t bytes; /* of those that meet together */
        end = krf__cuda_meet_end(e, first, &bytes);
        all += bytes;
        widest = bytes > widest ? bytes : widest;
    }
    return KRF__LANES * (all * (e->k->lines > 1 ? e->k->lines : 1) + (e->k->team > 1 ? 8 / e->k->team * widest : 0));
}

/* How many partial results of these reductions a lane has room for at once: as many as leave blocks beside each other and what is loaded room. Those of 4,096 chunks at once are a microsecond less than by two turns. */
static int parts_at_once(const krf__emitter *e, uint32_t first, uint32_t end) {
    enum { MOST = 16, LIMIT = 47 << 10, NARROW = 32 << 10, WIDE = 40 << 10 };
    int64_t bytes = 0;
    for (uint32_t r = first; r < end; r++) {
        bytes += krf__cuda_shared_bytes(e, r);
    }
    const int64_t enough = bytes <= 8 ? NARROW : WIDE, left = LIMIT - bytes_taken(e), n = (left < enough ? left : enough) / (KRF__LANES * bytes);
    return n < 0 ? 0 : n < MOST ? (int)n : MOST;
}

/* Whether a partial result has less than a word, which is what can be copied: its place has eight bytes. Halves are f32 here. */
static bool is_narrow(const krf__emitter *e, uint32_t r) { return krf__cuda_accumulator_bytes(e, r) < 4 && !krf__is_half((krf_dtype)krf__reduction(e, r)->dtype); }

void krf__cuda_put_parts_shared(krf__emitter *e, krf__str *out) {
    krf__str_put(out, "__shared__ union {\n");
    for (uint32_t first = 0, end; first < e->k->n_reductions; first = end) {
        end = copied_together(e, first);
        const int n = parts_at_once(e, first, end);
        krf__str_put(out, n > 0 ? "    struct {\n" : "");
        for (uint32_t r = first; r < end && n > 0; r++) {
            krf__str_printf(out, "        %s of%u[%d];\n", is_narrow(e, r) ? "unsigned" : krf__reduction_type(e, r), r, KRF__LANES * n);
        }
        if (n > 0) {
            krf__str_printf(out, "    } from%u;\n", first);
        }
    }
    krf__str_put(out, "    int none;\n} parts;\n");
}

static void shared(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "__shared__ %s shared%u[256];\n", krf__reduction_type(e, r), r);
    }
    if (e->k->chunks > 1) {
        krf__cuda_put_parts_shared(e, out);
    }
}

static void put_identity(krf__emitter *e, uint32_t r, krf__str *out) {
    krf__emit_identity(e, r, out);
    krf__str_put(out, ";\n");
}

/* Of lanes without a chunk. */
static void shared_nothing(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        krf__str_printf(out, "shared%u[n] = ", r);
        put_identity(e, r, out);
    }
}

/* Copies that a turn of the loops makes: of 4M f32 a sum takes 4.6 us of an H200 with one, 4.0 with two, for more text, which is most where there are several. The second is asked for: a loop that
 * a compiler unrolls has another one behind it for what is left, which takes it 5 of 100 ms. */
static int at_once(const krf__emitter *e) { return e->k->n_reductions == 1 ? 2 : 1; }

/* For each lane's chunk of a turn, n further on by 256 each, what `put` does with it. */
static void put_turns(krf__emitter *e, uint32_t first, uint32_t end, void (*put)(krf__emitter *e, uint32_t r, uint32_t first, const char *n, krf__str *out), krf__str *out) {
    krf__str_printf(out, "    #pragma unroll 1\n    for (int n = threadIdx.x; n < end; n += %d) {\n", KRF__LANES * at_once(e));
    for (int turn = 0; turn < at_once(e); turn++) {
        krf__str_put(out, turn > 0 ? "        if (n + 256 < end) {\n" : "");
        for (uint32_t r = first; r < end; r++) {
            krf__str_put(out, turn > 0 ? "            " : "        ");
            put(e, r, first, turn > 0 ? "n + 256" : "n", out);
        }
        krf__str_put(out, turn > 0 ? "        }\n" : "");
    }
    krf__str_put(out, "    }\n");
}

static void put_copy(krf__emitter *e, uint32_t r, uint32_t first, const char *n, krf__str *out) {
    char chunk[32];
    snprintf(chunk, sizeof chunk, "c + %s", n);
    krf__str_printf(out, "krf_copy_part(&parts.from%u.of%u[%s], ", first, r, n);
    put_place(e, r, chunk, out);
    krf__str_put(out, ");\n");
}

static void put_part(krf__emitter *e, uint32_t r, uint32_t first, const char *n, krf__str *out) {
    krf__str_printf(out, "r%u = red%u(r%u, ", r, r, r);
    if (is_narrow(e, r)) {
        krf__str_printf(out, "krf_of_word<%s>(parts.from%u.of%u[%s]));\n", krf__reduction_type(e, r), first, r, n);
    } else {
        krf__str_printf(out, "parts.from%u.of%u[%s]);\n", first, r, n);
    }
}

/* The first of a lane comes to a register, where it is sooner: most results have no more. */
static void put_copied(krf__emitter *e, uint32_t first, uint32_t end, int n, krf__str *out) {
    for (uint32_t r = first; r < end; r++) {
        krf__str_printf(out, "%s first%u = ", krf__reduction_type(e, r), r);
        put_identity(e, r, out);
    }
    krf__str_put(out, "if (threadIdx.x < a.chunks) {\n");
    for (uint32_t r = first; r < end; r++) {
        krf__str_printf(out, "    first%u = ", r);
        put_partial(e, r, true, "threadIdx.x", out);
        krf__str_put(out, ";\n");
    }
    krf__str_printf(out, "}\n#pragma unroll 1\nfor (int c = 256; c == 256 || c < (int)a.chunks; c += %d) {\n    const int end = (int)a.chunks - c < %d ? (int)a.chunks - c : %d;\n", KRF__LANES * n, KRF__LANES * n, KRF__LANES * n);
    put_turns(e, first, end, put_copy, out);
    krf__str_put(out, "    krf_copies_wait();\n    if (c == 256) {\n");
    for (uint32_t r = first; r < end; r++) {
        krf__str_printf(out, "        r%u = red%u(r%u, first%u);\n", r, r, r, r);
    }
    krf__str_put(out, "    }\n");
    put_turns(e, first, end, put_part, out);
    krf__str_put(out, "}\n");
}

/* Of those that shared memory has no room for. */
static void put_read(krf__emitter *e, uint32_t first, uint32_t end, krf__str *out) {
    krf__str_put(out, "#pragma unroll 1\nfor (int n = threadIdx.x; n < (int)a.chunks; n += 256) {\n");
    for (uint32_t r = first; r < end; r++) {
        krf__str_printf(out, "    r%u = red%u(r%u, ", r, r, r);
        put_partial(e, r, true, "n", out);
        krf__str_put(out, ");\n");
    }
    krf__str_put(out, "}\n");
}

/* Lane t of the tree over chunks is thread t, which copies all of as many chunks as most arrays have before it waits for the first: by loops that are left
 * as they are, for straight text of as many loads is a fifth of the compile time of a sum. */
static void block_combine_loops(krf__emitter *e, krf__str *out) {
    krf__str_put(out, e->k->relay ? "if (threadIdx.x < 256) {\n" : "");
    for (uint32_t first = 0, end; first < e->k->n_reductions; first = end) {
        end = copied_together(e, first);
        const int n = parts_at_once(e, first, end);
        for (uint32_t r = first; r < end; r++) {
            krf__str_printf(out, "%s r%u = ", krf__reduction_type(e, r), r);
            put_identity(e, r, out);
        }
        if (n > 0) {
            put_copied(e, first, end, n, out);
        } else {
            put_read(e, first, end, out);
        }
        for (uint32_t r = first; r < end; r++) {
            krf__str_printf(out, "shared%u[threadIdx.x] = r%u;\n", r, r);
        }
    }
    krf__str_put(out, e->k->relay ? "}\n__syncthreads();\n" : "__syncthreads();\n");
}

/* Lanes of the block that are 32 apart, by the tree; integers as they come, for which fewer registers do. */
static void put_lanes(krf__emitter *e, uint32_t r, krf__str *out) {
    const char *type = krf__reduction_type(e, r);
    if (krf__any_order(e->k)) {
        krf__str_printf(out, "%s r%u = ", type, r);
        put_identity(e, r, out);
        krf__str_printf(out, "#pragma unroll 1\nfor (int n = thread; n < lanes; n += 32) {\n    r%u = red%u(r%u, shared%u[n]);\n}\n", r, r, r, r);
        return;
    }
    krf__str_printf(out, "%s acc%u[8];\n#pragma unroll\nfor (int k = 0; k < 8; k++) {\n    acc%u[k] = shared%u[k * 32 + thread];\n}\n", type, r, r, r);
}

/* By one warp. (Which warp is asked before how many lanes there are: the other way round ptxas 13.0
 * loads a tile of argmax one vector after the other.) */
static void block_tree_loops(krf__emitter *e, krf__str *out) {
    for (uint32_t r = 0; r < e->k->n_reductions; r++) {
        put_lanes(e, r, out);
    }
    if (!krf__any_order(e->k)) {
        krf__cuda_put_halves(e, 8, 1, out);
    }
    for (uint32_t r = 0; r < e->k->n_reductions && !krf__any_order(e->k); r++) {
        krf__str_printf(out, "%s r%u = acc%u[0];\n", krf__reduction_type(e, r), r, r);
    }
    krf__cuda_put_results_down(e, " 1", 16, "d < lanes", out);
}

static void block_combine(krf__emitter *e, krf__str *out) {
    if (e->k->chunks > 1) {
        krf__cuda_unrolled(e, block_combine_loops, out);
    }
}

static void block_tree(krf__emitter *e, krf__str *out) { krf__cuda_unrolled(e, block_tree_loops, out); }
static void split(krf__emitter *e, krf__str *out) { krf__str_put(out, e->k->chunks > 1 ? "true" : "false"); }

const krf__hole krf__cuda_partial_holes[] = {
    {"CHUNK_DONE", chunk_done},
    {"SPLIT", split},
    {"SHARED", shared},
    {"SHARED_NOTHING", shared_nothing},
    {"BLOCK_COMBINE", block_combine},
    {"BLOCK_TREE", block_tree},
    {NULL, NULL},
};
