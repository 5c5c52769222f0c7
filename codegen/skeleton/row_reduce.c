{
    $ROUND_TOTALS
    for (long long c = 0, first = 0; first < $REDUCED_SIZE; c++, first += $CHUNK) {
        const long long last = $REDUCED_SIZE - first < $CHUNK ? $REDUCED_SIZE : first + $CHUNK;
        $LANE_COUNT
        $LANES
        $CHUNK_LANES
        $ROUND_TOTAL
    }
    $ROUND_TREE
    $ROUND_RESULTS
}
