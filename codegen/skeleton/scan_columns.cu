// Scans of columns side by side: 16 of them by 32 runs of 16 elements a block, whose threads read neighbours of memory and fold a run each; then each of its warps
// has the runs of a column; a thread alone uses its place in shared memory before and after that. Blocks go down their columns to the end, so that none waits for another.
$HEADER
extern "C" __global__ void __launch_bounds__(512) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $SIDE_SHARED
    const int column = threadIdx.x % 16, run = threadIdx.x / 16, lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = (31 - lane) * $SIDE_PITCH + warp;
    const $INDEX at = ($INDEX)blockIdx.x * 16 + column, o = at < $KEPT_SIZE ? at : $KEPT_SIZE - 1;
    const bool inside = at < $KEPT_SIZE;
    $KEPT_POSITION
    $SIDE_CARRIES
    int warps = 0, tiles = 0;
    #pragma unroll 1
    for ($INDEX first = 0; first < $REDUCED_SIZE; first += 512) {
        $SIDE_RUNS
        __syncthreads();
        $SIDE_WARP
        __syncthreads();
        $SIDE_PREFIXES
        $SIDE_STORE
        $SIDE_NEXT_WARP
        if (++warps == 8) {
            warps = 0;
            $SIDE_NEXT_TILE
            if (++tiles == 32) {
                tiles = 0;
                $SIDE_NEXT_GROUP
            }
        }
    }
}
