// Scans of rows of half a tile or less: a block has as many as a tile holds, each from a run on whose number is a multiple of the power of two that a row's runs come
// to. What is left of those is the identity. Else as scan_rows.cu.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $SCAN_SHARED
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, run = 32 * warp + 31 - lane;
    const $INDEX count = $KEPT_SIZE, length = $REDUCED_SIZE;
    for ($INDEX base = ($INDEX)blockIdx.x * $SCAN_ROWS; base < $KEPT_SIZE; base += ($INDEX)gridDim.x * $SCAN_ROWS) {
        $SCAN_CARRIES
        $SCAN_SHORT_LOAD
        __syncthreads();
        $SCAN_RUNS
        __syncthreads();
        $SCAN_SHORT_TOTALS
        $SCAN_PREFIXES
        __syncthreads();
        $SCAN_SHORT_STORE
        __syncthreads();
    }
}
