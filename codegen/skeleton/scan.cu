// Scans: a block a row, tile by tile of 2048 elements from left to right. Neighbouring threads read and write neighbouring elements, but each folds
// a run of 8 that follow one another: a tile changes hands in shared memory, where every ninth place stays empty so that runs lie in different
// banks. Threads of a warp own their runs from right to left: the run before then belongs to the next thread.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $EXTENTS
    $SCAN_SHARED
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, run = 32 * warp + 31 - lane;
    for ($INDEX o = blockIdx.x; o < $KEPT_SIZE; o += gridDim.x) {
        $KEPT_POSITION
        $SCAN_CARRIES
        for ($INDEX first = 0; first < $REDUCED_SIZE; first += 2048) {
            for (int at = threadIdx.x; at < 2048; at += 256) {
                const $INDEX p = first + at;
                if (p < $REDUCED_SIZE) {
                    $SCAN_ELEMENT
                } else {
                    $SCAN_NOTHING
                }
            }
            __syncthreads();
            $SCAN_RUNS
            __syncthreads();
            $SCAN_PREFIXES
            __syncthreads();
            for (int at = threadIdx.x; at < 2048; at += 256) {
                const $INDEX p = first + at;
                if (p < $REDUCED_SIZE) {
                    $SCAN_RESULT
                }
            }
            __syncthreads();
        }
    }
}
