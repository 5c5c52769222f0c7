// Scans of rows of one tile: a block a row. Neighbouring threads read and write neighbouring elements, but each folds a run of elements that follow one
// another: a tile changes hands in shared memory, where a place after each run stays empty so that runs lie in different banks. Threads of a warp own
// their runs from right to left: the run before then belongs to the next thread.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $SCAN_SHARED
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, run = 32 * warp + 31 - lane;
    const $INDEX first = 0;
    for ($INDEX o = blockIdx.x; o < $KEPT_SIZE; o += gridDim.x) {
        $KEPT_POSITION
        $SCAN_CARRIES
        $SCAN_LOAD
        __syncthreads();
        $SCAN_RUNS
        __syncthreads();
        $SCAN_TOTALS
        $SCAN_PREFIXES
        __syncthreads();
        $SCAN_STORE
        __syncthreads();
    }
}
