// A warp a result: rows of one chunk, or of some. Threads of a warp hold 8 of the 256 lanes each.
$HEADER
extern "C" __global__ void __launch_bounds__($ROWS_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    const int thread = threadIdx.x % 32;
    for ($INDEX o = ($INDEX)blockIdx.x * 8 + threadIdx.x / 32; o < $KEPT_SIZE; o += ($INDEX)gridDim.x * 8) {
        $KEPT_POSITION
        $ROW_CHUNKS
        if (thread == 0) {
            $RESULTS
        }
    }
}
