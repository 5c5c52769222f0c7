// Maps that read along one dimension and write along another: a block takes a square of the two. What is contiguous along the rows of the square is
// read by rows and crosses shared memory, so that neighbouring threads read and write neighbours on both sides. Loads come first: none waits.
$HEADER
extern "C" __global__ void __launch_bounds__($TILE_THREADS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $TILE_SQUARE
}
