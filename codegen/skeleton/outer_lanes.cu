// The lanes of each result by whole vectors, to where the tree looks for them.
#pragma unroll
for (int result = 0; result < $OUTER_RESULTS; result++) {
    auto *acc0 = all0 + result * 8;
    $OUTER_HALVES
    #pragma unroll
    for (int k = 0; k < $VECTOR; k++) {
        all0[result * $VECTOR + k] = acc0[k];
    }
}
