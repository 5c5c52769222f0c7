// Rows of one chunk whose operands are each the same along the last dimension of the results or along the row: a warp has $LINES results at once, and loads what they share once.
$HEADER
extern "C" __global__ void __launch_bounds__($LINES_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    const int thread = threadIdx.x % 32;
    const $INDEX first = 0, last = $REDUCED_SIZE;
    for ($INDEX group = ($INDEX)blockIdx.x * 8 + threadIdx.x / 32; group < $LINES_GROUPS; group += ($INDEX)gridDim.x * 8) {
        $LINES_BEGIN
        $LINES_CHUNK
        if (thread % $LINE_THREADS == 0 && base + thread / $LINE_THREADS < end) {
            const $INDEX o = base + thread / $LINE_THREADS;
            $KEPT_POSITION
            $RESULTS
        }
    }
}
