{
    $ROUND_FIXED
    $ACCUMULATORS
    $ROUND_LOOP
        $ROUND_LOADS
        #pragma unroll
        for (int q = 0; q < $QUADS; q++) {
            const bool valid = $TILE_VALID;
            $ROUND_LATE
            $ROUND_VECTORS
            #pragma unroll
            for (int k = 0; k < $TURNS; k++) {
                $REDUCE_BODY
            }
            $ROUND_NEXT
            $ROUND_STORES
            $WORDS_LEAD
        }
    }
    $WORDS_REST
    $WARP_TREE
    $ROUND_SHARE
    $ROUND_RESULTS
}
