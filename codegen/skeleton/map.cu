// One vector of elements a thread, in C order of the domain. Loads come first: no load waits for a computation.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $EXTENTS
    const $INDEX i = (($INDEX)blockIdx.x * 256 + ($INDEX)threadIdx.x) * $VECTOR;
    if (i >= $KEPT_SIZE) {
        return;
    }
    $KEPT_POSITION
    $MAP_LOADS
    $MAP_BODY
    $MAP_STORES
}
