// A short row, once its elements are loaded. Where no row has elements in vectors q, all threads skip them, and their lanes keep the identity.
$SHORT_START
#pragma unroll
for (int q = 0; q < $QUADS; q++) {
    if (q * threads * $VECTOR < $REDUCED_SIZE) {
        const bool valid = (q * threads + thread) * $VECTOR < last;
        $REDUCE_VECTORS
        #pragma unroll
        for (int k = 0; k < $VECTOR; k++) {
            $SHORT_BODY
        }
        $SHORT_STORES
    }
}
$SHORT_TREE
