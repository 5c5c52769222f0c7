$SHORT_START
#pragma unroll
for (int q = 0; q < $QUADS; q++) {
    $SHORT_VECTOR
}
$SHORT_HALVES
#pragma unroll
for (int k = 0; k < $VECTOR; k++) {
    all0[(below * $OUTER_ACROSS + beside) * $VECTOR + k] = acc0[k];
}
