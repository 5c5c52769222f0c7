{
    $ROUND_FIXED
    $TURNS_BEGIN
    $ACCUMULATORS
    $ROUND_LOOP
        $ROUND_LOADS
        $PARTS_BEGIN
        #pragma unroll
        for (int q = 0; q < $PART_VECTORS; q++) {
            const bool valid = $TILE_VALID;
            $ROUND_LATE
            $ROUND_VECTORS
            $ROUND_GUARD
            #pragma unroll
            for (int k = 0; k < $TURNS; k++) {
                $REDUCE_BODY
            }
            $GUARD_END
            $ROUND_NEXT
            $ROUND_STORES
            $WORDS_LEAD
        }
        $PARTS_END
    }
    $WORDS_REST
    $WARP_TREE
    $TURNS_END
    $ROUND_SHARE
    $ROUND_RESULTS
}
