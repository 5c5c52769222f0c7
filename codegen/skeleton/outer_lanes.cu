// The lanes of each result by whole vectors, to where the tree looks for them.
#pragma unroll
for (int result = 0; result < $OUTER_RESULTS; result++) {
    $OUTER_LANES_OWN
    $OUTER_HALVES
    #pragma unroll
    for (int k = 0; k < $OUTER_VECTOR; k++) {
        $OUTER_LANES_KEPT
    }
}
