// Columns side by side, row by row; short rows become columns. The doubling steps of a warp's runs take place as its runs end: a step needs as many of the results before it as it reaches
// back, which stand in a ring.
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $LARGE_OUTPUTS
    const long long kept = $KEPT_SIZE;
    for (long long u = lo; u < hi; u++) {
        const long long tile = u * $SCAN_WIDTH;
        const int width = kept - tile < $SCAN_WIDTH ? (int)(kept - tile) : $SCAN_WIDTH;
        $SIDE_COPIES
        $SCAN_COLUMNS
        for (long long p = 0; p < $REDUCED_SIZE; p++) {
            const int place = (int)(p % $SCAN_RUN), run = (int)(p / $SCAN_RUN % 32);
            if (place == 0) {
                if (p > 0 && p % $SCAN_TILE == 0) {
                    $SCAN_NEXT_TILE
                }
                $SCAN_PREFIXES
            }
            $REDUCED_POSITION
            for (int at = 0; at < width;) {
                const long long o = tile + at;
                $KEPT_POSITION
                const long long j = 0, left = $FAST_EXTENT - $FAST_INDEX;
                const int m = left < width - at ? (int)left : width - at;
                $POINTERS
                $BODY
                $SCAN_STEP
                $SCAN_COLUMN_RESULTS
                at += m;
            }
            if (place == $SCAN_RUN - 1) {
                $SCAN_TOTALS
                if (run == 31) {
                    $SCAN_NEXT_WARP
                }
            }
        }
        $SIDE_COPIES_OUT
    }
    $LARGE_DONE
}
