// Longer rows of such operands as in short_outer.cu: a warp has 2 x 4 results, whose rows it goes over together, and a block a square of 8 x 8.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    const int thread = threadIdx.x % 32;
    const $INDEX first = 0, last = $REDUCED_SIZE;
    const $INDEX across = ($OUTER_COLUMNS + 7) / 8, square = ($INDEX)blockIdx.x / across;
    $OUTER_BATCH
    const $INDEX top = $OUTER_SQUARE * 8 + (int)threadIdx.x / 64 * 2, left = ($INDEX)blockIdx.x % across * 8 + (int)threadIdx.x / 32 % 2 * 4;
    $OUTER_BODY
    const $INDEX $OUTER_LINE = top + thread / 16, $OUTER_COLUMN = left + thread / 4 % 4;
    if (thread % 4 == 0 && $OUTER_LINE < $OUTER_LINES && $OUTER_COLUMN < $OUTER_COLUMNS) {
        $RESULTS
    }
}
