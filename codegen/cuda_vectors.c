/* The vectors that a thread of the CUDA target has of a row, a chunk or a tile: how many there are, and where each begins. */
#include "codegen/cuda.h"

int krf__cuda_together(const krf__emitter *e) { return e->k->schedule == KRF__ROW_COL ? krf__side_threads(e->k) : 32 * e->k->team; }

int krf__cuda_quads(const krf__emitter *e) {
    const int share = krf__lane_vectors(e->k);
    if (e->k->schedule == KRF__ROW_COL) {
        return krf__cuda_row_stays(e) ? krf__side_elements(e->k) : krf__side_lanes(e->k);
    }
    if (e->k->schedule != KRF__ROW) {
        return krf__reduce_vectors(e->kernel);
    }
    if (krf__literal_chunk(e->k) && krf__cuda_row_stays(e)) {
        return ((int)e->k->reduced_size + 32 * e->k->vector - 1) / (32 * e->k->vector);
    }
    if (!krf__cuda_row_stays(e)) {
        return e->k->n_reductions == 0 && krf__holds_rows(e->k) ? (e->k->vector == 1 ? 4 : 1) : share; /* registers are few there */
    }
    return (int)(e->k->chunk / KRF__LANES) * share;
}

int krf__cuda_tile(const krf__emitter *e) { return krf__cuda_quads(e) * e->k->vector * krf__cuda_together(e); }

void krf__cuda_put_vector_of_all(const krf__emitter *e, krf__str *out) {
    if (e->part > 0) {
        krf__str_printf(out, "(part * %d + %s)", e->part, e->quad);
    } else {
        krf__str_put(out, e->quad);
    }
}

void krf__cuda_put_vector_number(const krf__emitter *e, krf__str *out) {
    krf__cuda_put_vector_of_all(e, out);
    if (krf__short_rows(e->k) || e->k->schedule == KRF__ROW_COL) {
        krf__str_put(out, " * threads + thread");
    } else {
        krf__str_printf(out, " * %d + thread", krf__cuda_together(e));
    }
}

void krf__cuda_put_vector_start(krf__emitter *e, krf__str *out) {
    krf__str_printf(out, "const %s p_q = ", krf__index_type(e));
    krf__str_put(out, krf__short_rows(e->k) ? "(" : "p + (");
    krf__cuda_put_vector_number(e, out);
    krf__str_printf(out, ") * %d;\n", e->k->vector);
}
