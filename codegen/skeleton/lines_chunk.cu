// Elements [first, last) of $LINES results by one warp: 8 of the 256 lanes of each a thread.
$OUTER_ARRAYS
const int V = $VECTOR;
#pragma unroll 1
for ($INDEX p = first; p < last; p += $TILE) {
    $TILE_WHOLE
    $LINES_LOADS
    #pragma unroll
    for (int line = 0; line < $LINES; line++) {
        $LINES_TAKEN
        $OUTER_ELEMENTS
    }
}
$OUTER_LANES
$OUTER_TREE
