// Beyond the last line or column the last one is taken again, and not stored.
$OUTER_ARRAYS
$OUTER_OVER
    $OUTER_ROWS
    #pragma unroll
    for (int below = 0; below < 2; below++) {
        const $INDEX $OUTER_LINE = top + below < $OUTER_LINES ? top + below : $OUTER_LINES - 1;
        $OUTER_FIRST
    }
    #pragma unroll
    for (int beside = 0; beside < $OUTER_ACROSS; beside++) {
        const $INDEX $OUTER_COLUMN = left + beside < $OUTER_COLUMNS ? left + beside : $OUTER_COLUMNS - 1;
        $OUTER_SECOND
        #pragma unroll
        for (int below = 0; below < 2; below++) {
            $OUTER_TAKEN
            $OUTER_ELEMENTS
        }
    }
}
$OUTER_LANES
$OUTER_TREE
