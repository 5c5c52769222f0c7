{
    $ROUND_TOTALS
    for (long long c = 0, first = 0; first < $REDUCED_SIZE; c++, first += $CHUNK) {
        const long long last = $REDUCED_SIZE - first < $CHUNK ? $REDUCED_SIZE : first + $CHUNK;
        int lanes = 1;
        while (lanes < 256 && lanes < last - first) {
            lanes *= 2;
        }
        $LANES
        $CHUNK_LANES
        $ROUND_TOTAL
    }
    $ROUND_TREE
    $ROUND_RESULTS
}
