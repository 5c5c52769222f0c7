// Elements [first, last) of result o by one warp: lane (q * 32 + thread) * V + k of each 256 is accumulator q * V + k.
// Vectors beyond the last count as the identity, which costs less to compile than a branch; the elements after the last
// whole vector are the last of their lanes and come at the end.
$ACCUMULATORS
$DRIFT
$INDEX p = $DRIFT_FIRST;
$REDUCE_FIRST_LOADS
$WAIT_TO_STORE_ELEMENTS
$TILES_BEGIN
    $TILE_WHOLE
    $REDUCE_LOADS
    $PARTS_BEGIN
    #pragma unroll
    for (int q = 0; q < $PART_VECTORS; q++) {
        $DRIFT_NEEDED
        const bool valid = $TILE_VALID;
        $DRIFT_MASK
        $REDUCE_AHEAD
        $REDUCE_VECTORS
        #pragma unroll
        for (int k = 0; k < $TURNS; k++) {
            $REDUCE_BODY
        }
        $REDUCE_STORES
        $REDUCE_NEXT
    }
    $PARTS_END
}
$REDUCE_REST
$WARP_TREE
