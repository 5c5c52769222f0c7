// A short row, once it is loaded, whose elements are folded as they come, in any order: a thread has one of each result, not one for each element.
$FOLDED_START
#pragma unroll
for (int q = 0; q < $QUADS; q++) {
    const bool valid = (q * threads + thread) * $VECTOR < last;
    #pragma unroll
    for (int k = 0; k < $TURNS; k++) {
        $FOLDED
    }
}
$FOLDED_TREE
