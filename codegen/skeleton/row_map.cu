{
    $ROUND_FIXED
    $ROUND_LOOP
        $ROUND_LOADS
        #pragma unroll
        for (int q = 0; q < $QUADS; q++) {
            const $INDEX p_q = p + (q * 32 + thread) * $VECTOR;
            const bool valid = whole || p_q + $VECTOR <= last;
            $ROUND_VECTORS
            #pragma unroll
            for (int k = 0; k < $VECTOR; k++) {
                $ROUND_BODY
            }
            if (valid && inside) {
                $ROUND_STORES
            }
        }
    }
}
