// Rows of 256 elements or fewer lie side by side in a warp: blockDim.x threads, a power of two, share one. All threads of a
// warp take part in its shuffles, so that those beyond the last row go through a row without elements.
$HEADER
extern "C" __global__ void __launch_bounds__($SHORT_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $STAGE_SHARED
    const int thread = $STAGE_THREAD, threads = $STAGE_THREADS;
    const $INDEX length = $REDUCED_SIZE, rows = $STAGE_ROWS;
    $SHORT_FIXED
    for ($INDEX base = ($INDEX)blockIdx.x * rows; base < $KEPT_SIZE; base += ($INDEX)gridDim.x * rows) {
        $STAGE_IN
        $STAGE_LOOP
            const $INDEX at = base + $STAGE_ROW, o = at < $KEPT_SIZE ? at : $KEPT_SIZE - 1;
            const bool inside = at < $KEPT_SIZE;
            const $INDEX last = inside ? length : 0;
            $KEPT_POSITION
            $SHORT_LOADS
            $SHORT_ROW
            if (inside && thread == 0) {
                $RESULTS
            }
        }
        $STAGE_OUT
    }
}
