// Rows tile by tile from left to right, those together whose elements alternate in memory.
$SCAN_FUNCTIONS
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $LARGE_OUTPUTS
    const int rows = $SCAN_ROWS;
    for (long long u = lo; u < hi; u++) {
        $SCAN_CARRIES
        for (long long first = 0; first < $REDUCED_SIZE; first += $SCAN_TILE) {
            for (int row = 0; row < rows; row++) {
                const long long o = u * rows + row;
                $KEPT_POSITION
                $SCAN_TILE_ARRAYS
                $SCAN_FOLD
                $SCAN_CARRY
                $SCAN_SPREAD
            }
        }
    }
    $LARGE_DONE
}
