/* Variances: in two passes, in one by sums, or by parts. */
#include "ir/composing.h"

#include "ir/cut.h"

#include <math.h>

/* How many elements each result is made of. */
static double count(const krf__composing *c, uint32_t x, uint32_t reduced) {
    const krf__node *n = krf__node_of(c->g, x);
    double all = 1;
    for (int i = 0; i < n->rank; i++) {
        bool gone = krf__shape_of(c->g, reduced)[i] != krf__shape_of(c->g, x)[i];
        all *= gone ? (double)krf__shape_of(c->g, x)[i] : 1;
    }
    return all;
}

/* Elements of a result: more are read only once; fewer stay on the chip between two passes, as rows of a cluster of blocks do, or in a core's second cache, and take no f64 (an H200: standard deviations of rows of 50,304 f32
 * 0.129 -> 0.107 ms, bf16 0.137 -> 0.084; of 131,072 f32, of which a cluster is 1.2 times as long about it, 0.067 -> 0.079). It decides results, so it is no device's: KRF__ROW_BLOCK (pass/pass.h) may change with devices, and these not with it. */
#define ONCE 65536
#define ONCE_HALVES 131072
#define ONCE_DOWN 8192 /* the same where the last axis stays */

/* Whether f32 numbers are f16 or bf16 ones. */
static bool are_halves(const krf__composing *c, uint32_t x) {
    const krf__node *n = krf__node_of(c->g, x);
    return n->op == KRF__cast && krf__is_half(krf__dtype_of(c->g, n->args[0]));
}

/* In f64, where the squares of f32 numbers are exact: relative error about 1e-16 (1 + (mean / std)^2). */
static uint32_t variance_once(const krf__composing *c, uint32_t x, double n, double divisor) {
    uint32_t wide = krf__build_cast(c->g, x, KRF_F64), sum = composed_reduce(c, KRF__sum, wide), squares = composed_reduce(c, KRF__sum, composed_squared(c, wide));
    uint32_t of_mean = composed2(c, KRF__divide, composed_squared(c, sum), krf__build_real(c->g, n, false));
    uint32_t left = composed2(c, KRF__maximum, composed2(c, KRF__subtract, squares, of_mean), composed_number(c, 0));
    return krf__build_cast(c->g, composed2(c, KRF__divide, left, krf__build_real(c->g, divisor, false)), KRF_F32);
}

/* Of bools and integers of 8 or 16 bits, whose sums and squares are exact: about the whole number next to the mean, so that what is left of that is half or less, and equal elements have none. Sums may go round: what
 * is subtracted does too. */
static uint32_t variance_of_integers(const krf__composing *c, uint32_t x, double n, double divisor) {
    const krf_dtype dtype = composed_dtype(c, x);
    const uint32_t y = krf__build_cast(c->g, x, dtype == KRF_U16 ? KRF_U32 : KRF_I32), elements = krf__build_int(c->g, (int64_t)n, false), two = krf__build_int(c->g, 2, true);
    const uint32_t sum = krf__build_cast(c->g, composed_reduce(c, KRF__sum, x), KRF_I64), squares = krf__build_cast(c->g, composed_reduce(c, KRF__sum, composed_squared(c, y)), KRF_I64);
    const uint32_t twice = composed2(c, KRF__multiply, two, sum), middle = composed2(c, KRF__floor_divide, composed2(c, KRF__add, twice, elements), composed2(c, KRF__multiply, two, elements));
    const uint32_t all = composed2(c, KRF__multiply, middle, elements); /* as many as there are elements of it */
    const uint32_t about = composed2(c, KRF__subtract, squares, composed2(c, KRF__multiply, middle, composed2(c, KRF__subtract, twice, all)));
    const uint32_t rest = krf__build_cast(c->g, composed2(c, KRF__subtract, sum, all), KRF_F64);
    const uint32_t left = composed2(c, KRF__subtract, krf__build_cast(c->g, about, KRF_F64), composed2(c, KRF__divide, composed_squared(c, rest), krf__build_real(c->g, n, false)));
    return composed2(c, KRF__divide, left, krf__build_real(c->g, divisor, false));
}

/* f64 elements of a result from which on they are taken by parts, and elements of a part. */
#define PARTS 131072
#define PART 8192

/* The same where the last axis stays, and as many results lie beside one another: of fewer, columns of several rounds are several kernels on the CPU, each of which reads the elements again. */
#define BESIDE 32
#define PART_DOWN 128

/* Few enough parts for the second kernel: of [1M, 32] an H200 takes 0.135 ms by 8,192 of them, 0.076 by 4,096. */
static int64_t part_of(double n, int64_t beside) { return beside == 1 ? PART : n <= 131072 ? PART_DOWN : n <= 1048576 ? 2 * PART_DOWN : 8 * PART_DOWN; }

/* Whether there are parts, and which. */
static bool goes_by_parts(const krf__composing *c, uint32_t x, uint32_t mean, double n, krf__cut *cut) {
    int64_t beside = 1;
    for (int i = krf__node_of(c->g, x)->rank; i-- > 0 && krf__shape_of(c->g, mean)[i] == krf__shape_of(c->g, x)[i];) {
        beside *= krf__shape_of(c->g, x)[i];
    }
    return n > (beside > 1 ? ONCE_DOWN : PARTS) && (beside == 1 || beside >= BESIDE) && krf__cut_of(c->g, x, c->axes, part_of(n, beside), false, cut);
}

/* A sum of squares, when it is changed: an infinite one, of which the mean may be infinite too, stays. */
static uint32_t unless_infinite(const krf__composing *c, uint32_t sum, uint32_t changed) { return composed_where(c, composed2(c, KRF__equal, sum, composed_number(c, (double)INFINITY)), sum, changed); }

/* The square of a sum, divided by how many elements it is of. */
static uint32_t square_of_sum(const krf__composing *c, uint32_t sum, double n) { return composed_squared(c, composed2(c, KRF__divide, sum, krf__build_real(c->g, sqrt(n), false))); }

typedef struct of_pieces {
    uint32_t sum, squares; /* of how far all elements are from a number near all of them */
} of_pieces;

static void add_piece(const krf__composing *c, const krf__cut *cut, int piece, uint32_t x, uint32_t mean, uint32_t near, of_pieces *all) {
    const double size = (double)cut->piece[piece].size;
    const uint32_t d = composed2(c, KRF__subtract, x, mean), left = krf__cut_inner(c->g, cut, piece, KRF__sum, d), own = krf__cut_inner(c->g, cut, piece, KRF__sum, composed_squared(c, d));
    const uint32_t elements = krf__build_real(c->g, size, false), off = composed2(c, KRF__add, composed2(c, KRF__subtract, mean, near), composed2(c, KRF__divide, left, elements));
    const uint32_t rest = unless_infinite(c, own, composed2(c, KRF__subtract, own, square_of_sum(c, left, size)));
    const uint32_t about = unless_infinite(c, rest, composed2(c, KRF__add, rest, composed2(c, KRF__multiply, composed_squared(c, off), elements)));
    const uint32_t squares = krf__cut_outer(c->g, cut, piece, KRF__sum, about), sum = composed2(c, KRF__multiply, krf__cut_outer(c->g, cut, piece, KRF__sum, off), elements);
    all->sum = piece == 0 ? sum : composed2(c, KRF__add, all->sum, sum);
    all->squares = piece == 0 ? squares : composed2(c, KRF__add, all->squares, squares);
}

/* In one pass: a part stays on the chip while its mean is found, then what its elements are off. What the rounded means leave is summed as well, so that the result is as good as that of two passes. */
static uint32_t variance_by_parts(const krf__composing *c, const krf__cut *cut, uint32_t x, double n, double divisor) {
    uint32_t near = 0;
    of_pieces all = {0};
    for (int i = 0; i < cut->n_pieces; i++) {
        const uint32_t piece = krf__cut_out(c->g, cut, i, x), mean = krf__cut_inner(c->g, cut, i, KRF__mean, piece);
        near = i == 0 ? krf__cut_outer(c->g, cut, 0, KRF__mean, mean) : near;
        add_piece(c, cut, i, piece, mean, near, &all);
    }
    const uint32_t about_mean = composed2(c, KRF__subtract, all.squares, square_of_sum(c, all.sum, n)), left = composed2(c, KRF__maximum, unless_infinite(c, all.squares, about_mean), composed_number(c, 0));
    return composed2(c, KRF__divide, left, krf__build_real(c->g, divisor, false));
}

uint32_t krf__compose_variance(const krf__composing *c, uint32_t x, double ddof) {
    uint32_t mean = composed_reduce(c, KRF__mean, x);
    if (mean == 0) {
        return 0;
    }
    const double n = count(c, x, mean);
    const bool down = keeps_last_axis(c, x, mean);
    krf__cut cut;
    if (krf__is_narrow(composed_dtype(c, x))) {
        return variance_of_integers(c, x, n, n > ddof ? n - ddof : 0);
    }
    if (composed_dtype(c, x) == KRF_F32 && n > (down ? ONCE_DOWN : are_halves(c, x) ? ONCE_HALVES : ONCE)) {
        return variance_once(c, x, n, n > ddof ? n - ddof : 0);
    }
    if (composed_dtype(c, x) != KRF_F32 && goes_by_parts(c, x, mean, n, &cut)) {
        return variance_by_parts(c, &cut, x, n, n > ddof ? n - ddof : 0);
    }
    uint32_t d = composed2(c, KRF__subtract, x, mean), sum = composed_reduce(c, KRF__sum, composed_squared(c, d));
    return composed2(c, KRF__divide, sum, krf__build_real(c->g, n > ddof ? n - ddof : 0, false));
}

