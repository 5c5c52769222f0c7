// Short rows of operands that are each the same along one of the last two dimensions of the results: the threads that share a row share 2 x $OUTER_ACROSS results, each of which comes to lie with
// one of them. A block takes a square of 16 x 16, so that most rows are there already when they are loaded.
$HEADER
extern "C" __global__ void __launch_bounds__($OUTER_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    const int threads = $OUTER_THREADS, thread = threadIdx.x % threads;
    const $INDEX length = $REDUCED_SIZE, last = length;
    const $INDEX across = ($OUTER_COLUMNS + 15) / 16, square = ($INDEX)blockIdx.x / across;
    $OUTER_BATCH
    const $INDEX top = $OUTER_SQUARE * 16 + (int)threadIdx.x / 32 * 2, left = ($INDEX)blockIdx.x % across * 16 + (int)threadIdx.x % 32 / threads * $OUTER_ACROSS;
    $OUTER_BODY
    const $INDEX $OUTER_LINE = top + thread / $OUTER_ACROSS, $OUTER_COLUMN = left + thread % $OUTER_ACROSS;
    if ($OUTER_LINE < $OUTER_LINES && $OUTER_COLUMN < $OUTER_COLUMNS) {
        $RESULTS
    }
}
