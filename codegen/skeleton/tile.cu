// Maps that read along one dimension and write along another: a block takes a square of the two. What is contiguous along the rows of the square is
// read by rows and crosses shared memory, so that neighbouring threads read and write neighbours on both sides. Loads come first: none waits.
$HEADER
extern "C" __global__ void __launch_bounds__($TILE_THREADS) $NAME(const struct krf_arguments a) {
    $EXTENTS
    $TILE_SHARED
    const int x = threadIdx.x % $TILE_SIDE, y = threadIdx.x / $TILE_SIDE;
    $TILE_POSITION
    $TILE_LOADS
    $TILE_FILL
    __syncthreads();
    $TILE_START
    $TILE_UNROLL
    for (int q = 0; q < $TILE_TURNS; q++) {
        $TILE_ELEMENT
        if (inside) {
            $MAP_BODY
            $MAP_STORES
        }
        $TILE_NEXT
    }
}
