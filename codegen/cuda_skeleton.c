/* The skeletons of the CUDA target's reductions along rows: of one result at a time, of squares of results (cuda_outer.c), or of lines of them (cuda_lines.c). */
#include "codegen/cuda.h"

static void short_rows(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->outer ? "short_outer" : "short_rows", out); }
static void rows(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->lines > 1 ? "row_lines" : e->k->outer ? "row_outer" : "warp_rows", out); }
static void chunks(krf__emitter *e, krf__str *out) { krf__emit_skeleton(e, e->k->lines > 1 ? "all_lines" : "all_chunks", out); }

const krf__hole krf__cuda_skeleton_holes[] = {{"REDUCE_SHORT", short_rows}, {"REDUCE_ROW", rows}, {"REDUCE_ALL", chunks}, {NULL, NULL}};
