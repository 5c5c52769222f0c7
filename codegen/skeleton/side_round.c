{
    $SIDE_START
    $NARROW_TILES
    for (int l = $REDUCED_SIZE; l < lanes; l++) {
        $SIDE_MISSING
    }
    for (int p = 0; p < $REDUCED_SIZE; p++) {
        $SIDE_PLACE
        $REDUCED_POSITION
        for (int at = 0; at < width;) {
            const long long o = tile + at;
            $SIDE_POSITION
            const long long j = 0, left = $ROW_LEFT;
            const int m = left < width - at ? (int)left : width - at;
            $NARROW_ROWS
            $POINTERS
            $BODY
            at += m;
        }
    }
    $SIDE_RESULTS
}
