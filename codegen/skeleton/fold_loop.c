// Rows [lo, hi) of too many elements for that: each is folded into 8 lanes, and those of a tile of rows stand side by side.
const long long first = 0, last = $REDUCED_SIZE;
$LANE_COUNT
for (long long tile = lo; tile < hi; tile += $SIDE_ROWS) {
    const int width = hi - tile < $SIDE_ROWS ? (int)(hi - tile) : $SIDE_ROWS;
    $FOLD_START
    for (int row = 0; row < width; row++) {
        const long long o = tile + row;
        $LANES
        $KEPT_POSITION
        $CHUNK_LANES
        $FOLD_KEEP
    }
    $FOLD_RESULTS
}
