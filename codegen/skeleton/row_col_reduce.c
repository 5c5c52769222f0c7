{
    // Lanes that are an eighth of the tree apart are folded at once; of those that follow, in bit-reversed order, only one partial result a level is needed.
    enum { lanes = $BESIDE_LANES, radix = lanes < 8 ? lanes : 8, turns = lanes / radix };
    const int all = width;
    $BESIDE_PARTS
    for (int turn = 0; turn < turns; turn++) {
        int place = 0;
        for (int b = 1, from = turns / 2; b < turns; b *= 2, from /= 2) {
            place |= (turn & b) != 0 ? from : 0;
        }
        for (int q = 0; q < radix; q++) {
            $BESIDE_LANE
            for (long long p = place + q * turns; p < $REDUCED_SIZE; p += 256) {
                $REDUCED_POSITION
                $BESIDE_AHEAD
                $POINTERS
                $BODY
            }
        }
        $BESIDE_FOLD
        int level = 0;
        for (; turn >> level & 1; level++) {
            $COLUMNS_MERGE
        }
        $COLUMNS_PUSH
    }
    $BESIDE_RESULTS
}
