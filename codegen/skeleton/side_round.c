{
    $SIDE_START
    for (int l = $REDUCED_SIZE; l < lanes; l++) {
        $SIDE_MISSING
    }
    for (int p = 0; p < $REDUCED_SIZE; p++) {
        $SIDE_PLACE
        $REDUCED_POSITION
        for (int at = 0; at < width;) {
            const long long o = tile + at;
            $SIDE_POSITION
            const long long j = 0, left = $FAST_EXTENT - $FAST_INDEX;
            const int m = left < width - at ? (int)left : width - at;
            $POINTERS
            $BODY
            at += m;
        }
    }
    $SIDE_RESULTS
}
