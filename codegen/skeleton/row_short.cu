// Rows that stay on the chip, of 256 elements or fewer: several lie side by side in a warp, as in short_rows.cu, and what several rounds read is loaded once.
// Where there are no rows left, threads do the last one again, for the shuffles, and store nothing.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $STAGE_SHARED
    const int thread = $STAGE_THREAD, threads = $STAGE_THREADS, leader = threadIdx.y * threads % 32;
    const $INDEX length = $REDUCED_SIZE, last = length, rows = $STAGE_ROWS, base = ($INDEX)blockIdx.x * rows;
    $ROW_COMMON_LOADS
    $STAGE_IN
    $STAGE_LOOP
        const $INDEX at = base + $STAGE_ROW, o = at < $KEPT_SIZE ? at : $KEPT_SIZE - 1;
        const bool inside = at < $KEPT_SIZE;
        $KEPT_POSITION
        $ROW_VALUES
        $ROW_LOADS
        $ROUNDS
    }
    $STAGE_OUT
}
