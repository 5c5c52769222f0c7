{
    $ROUND_FIXED
    $ROUND_LOADS
    #pragma unroll
    for (int q = 0; q < $QUADS; q++) {
        if (q * threads * $VECTOR < length) {
            const bool valid = (q * threads + thread) * $VECTOR < last;
            $ROUND_VECTORS
            #pragma unroll
            for (int k = 0; k < $TURNS; k++) {
                $REDUCE_BODY
            }
            $ROUND_STORES
        }
    }
}
