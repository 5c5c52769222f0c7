// Beyond the last line or column the last one is taken again, and not stored. A thread has 8 lanes of each result.
const int V = $VECTOR;
$OUTER_ARRAYS
#pragma unroll 1
for ($INDEX p = first; p < last; p += $TILE) {
    $TILE_WHOLE
    $OUTER_ROWS
    #pragma unroll
    for (int below = 0; below < 2; below++) {
        const $INDEX $OUTER_LINE = top + below < $OUTER_LINES ? top + below : $OUTER_LINES - 1;
        $OUTER_FIRST
    }
    #pragma unroll
    for (int beside = 0; beside < 4; beside++) {
        const $INDEX $OUTER_COLUMN = left + beside < $OUTER_COLUMNS ? left + beside : $OUTER_COLUMNS - 1;
        $OUTER_SECOND
        #pragma unroll
        for (int below = 0; below < 2; below++) {
            $OUTER_TAKEN
            auto *acc0 = all0 + (below * 4 + beside) * 8;
            #pragma unroll
            for (int q = 0; q < $QUADS; q++) {
                const bool valid = $TILE_VALID;
                #pragma unroll
                for (int k = 0; k < $TURNS; k++) {
                    $REDUCE_BODY
                }
            }
        }
    }
}
#pragma unroll
for (int result = 0; result < 8; result++) {
    auto *acc0 = all0 + result * 8;
    $OUTER_LANES
}
$OUTER_TREE
