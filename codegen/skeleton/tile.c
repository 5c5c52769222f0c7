// Units [lo, hi): tiles of 32 by 256 elements, in strips.
$HEADER
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $LARGE_OUTPUTS
    for (long long u = lo; u < hi; u++) {
        $TILE_POSITION
        for (long long at = left; at < right; at += $STRIP) {
            const int m = right - at < $STRIP ? (int)(right - at) : $STRIP;
            $TILE_COPIES
            for (int r = 0; r < rows; r++) {
                const long long j = 0;
                $TILE_PLACE
                $POINTERS
                $BODY
            }
        }
    }
    $LARGE_DONE
}
