{
    $FOLD_START
    for (int row = 0; row < width; row++) {
        const long long o = tile + row, first = 0, last = $REDUCED_SIZE, before = row * last;
        $LANE_COUNT
        $LANES
        $KEPT_POSITION
        $CHUNK_LANES
        $FOLD_KEEP
    }
    $FOLD_RESULTS
}
