// Few long rows: a unit is a tile of one, or of those whose elements alternate in memory. Threads take units in order; each is folded, then waits for what comes before it, and says what comes
// before the next one.
$SCAN_FUNCTIONS
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $LARGE_OUTPUTS
    const int rows = $SCAN_ROWS;
    const long long groups = $KEPT_SIZE / rows;
    for (long long u = lo; u < hi; u++) {
        const long long first = u / groups * $SCAN_TILE;
        $SCAN_CARRIES
        for (int row = 0; row < rows; row++) {
            const long long o = u % groups * rows + row;
            $KEPT_POSITION
            $SCAN_TILE_ARRAYS
            $SCAN_FOLD
            if (first > 0) {
                $SCAN_HEAR
            }
            $SCAN_CARRY
            if (last < $REDUCED_SIZE) {
                $SCAN_SAY
            }
            $SCAN_SPREAD
        }
    }
    $LARGE_DONE
}
