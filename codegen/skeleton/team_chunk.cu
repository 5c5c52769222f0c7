// Elements [first, last) of a chunk by several warps, a lane a thread: tiles, of which the next is under way, then what is left, one at a time.
$ACCUMULATORS
$INDEX p = first;
$TILES_FIRST
#pragma unroll 1
for (; p + $TILE <= last; p += $TILE) {
    const bool valid = true, more = p + 2 * $TILE <= last;
    #pragma unroll
    for (int q = 0; q < $QUADS; q++) {
        #pragma unroll
        for (int k = 0; k < $TURNS; k++) {
            $REDUCE_BODY
        }
        $TILES_NEXT
    }
}
#pragma unroll 1
for (p += thread; p < last; p += $TILES_TOGETHER) {
    $TILES_REST
}
$WARP_TREE
