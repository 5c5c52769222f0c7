// The same of bodies that take long: for each vector of its lanes a thread goes over the chunk once more, so that the body is written out, and holds registers,
// for few elements only. Passes come in bit-reversed order: what they come to is folded as lanes are, with one value kept a level.
$PASS_START
#pragma unroll 1
for (int turn = 0; turn < $PASSES; turn++) {
    const int pass = $PASS;
    $PASS_IDENTITY
    #pragma unroll 1
    for ($INDEX p = first; p < last; p += 256 * $ROWS) {
        $REDUCE_LOADS
        #pragma unroll
        for (int q = 0; q < $QUADS; q++) {
            const bool valid = p + (q * (256 / $VECTOR) + pass * 32 + thread + 1) * $VECTOR <= last;
            #pragma unroll
            for (int k = 0; k < $VECTOR; k++) {
                $REDUCE_BODY
            }
        }
    }
    $REDUCE_REST
    $PASS_FOLD
}
$PASS_TREE
