// A short row of bytes, once they are loaded: words of four are folded as they come.
$FOURS_START
#pragma unroll
for (int q = 0; q < $QUADS; q++) {
    const bool valid = (q * threads + thread) * $VECTOR < last;
    #pragma unroll
    for (int k = 0; k < $TURNS; k++) {
        $FOURS
    }
}
$FOURS_TREE
