// A thread has 8 lanes of each result.
auto *acc0 = all0 + $OUTER_RESULT * 8;
#pragma unroll
for (int q = 0; q < $QUADS; q++) {
    const bool valid = $TILE_VALID;
    #pragma unroll
    for (int k = 0; k < $TURNS; k++) {
        $REDUCE_BODY
    }
}
