// Elements [first, last) of result o by one warp (those beyond the last count as the identity: cheaper to compile than a branch): lane (q * 32 + thread) * V + k of each 256 is accumulator q * V + k.
$ACCUMULATORS
#pragma unroll 1
for ($INDEX p = first; p < last; p += 256 * $ROWS) {
    const bool whole = p + 256 * $ROWS <= last;
    $REDUCE_LOADS
    #pragma unroll
    for (int q = 0; q < $QUADS; q++) {
        #pragma unroll
        for (int k = 0; k < $VECTOR; k++) {
            const bool valid = whole || p + (q * 32 + thread) * $VECTOR + k < last;
            $REDUCE_BODY
        }
    }
}
$WARP_TREE
