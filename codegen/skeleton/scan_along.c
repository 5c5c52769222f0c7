// Each row tile by tile from left to right. A tile is folded in place. Results are counted in the type of places: one cut out of a wider type may wrap, and
// compilers scatter stores then.
$SCAN_FUNCTIONS
$RESULTS_FUNCTION
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    for (long long o = lo; o < hi; o++) {
        $KEPT_POSITION
        $SCAN_CARRIES
        for (long long first = 0; first < $REDUCED_SIZE; first += $SCAN_TILE) {
            const long long last = $REDUCED_SIZE - first < $SCAN_TILE ? $REDUCED_SIZE : first + $SCAN_TILE;
            for (long long p = first; p < last;) {
                const int at = (int)(p - first), m = last - p < 256 ? (int)(last - p) : 256;
                const long long j = 0;
                $REDUCED_POSITION
                $POINTERS
                $BODY
                p += m;
            }
            $SCAN_TILES
            for ($INDEX p = ($INDEX)first; p < ($INDEX)last; p++) {
                $SCAN_RESULTS
            }
        }
    }
}
