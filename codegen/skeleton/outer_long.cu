// A thread has 8 lanes of each result.
$OUTER_OWN
#pragma unroll
for (int q = 0; q < $QUADS; q++) {
    const bool valid = $TILE_VALID;
    #pragma unroll
    for (int k = 0; k < $TURNS; k++) {
        $REDUCE_BODY
    }
}
