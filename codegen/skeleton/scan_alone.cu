// Scans of short columns side by side: a thread has one, of four runs or fewer, and folds them as the lanes of a warp do. No thread waits for another.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    const $INDEX o = ($INDEX)blockIdx.x * 256 + threadIdx.x;
    if (o >= $KEPT_SIZE) {
        return;
    }
    $KEPT_POSITION
    $ALONE_CARRIES
    #pragma unroll 1
    for ($INDEX first = 0; first < $REDUCED_SIZE; first += 16) {
        $ALONE_RUN
        $ALONE_STORE
        $ALONE_NEXT
    }
}
