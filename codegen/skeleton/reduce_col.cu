// Results that lie side by side: up to 32 threads beside each other, each with a vector of columns, and under each other 8 or more.
// Chunks go to blocks as lanes go to threads.
$HEADER
extern "C" __global__ void __launch_bounds__($COLUMN_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $COLUMN_SHARED
    $AHEAD_SHARED
    __shared__ bool last_block;
    const long long kept = $KEPT_SIZE;
    const int thread = threadIdx.y * $COLUMN_THREADS + threadIdx.x;
    $COLUMN_PLACE
    $COLUMN_BLOCK
}
