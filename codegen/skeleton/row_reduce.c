{
    $ROUND_TOTALS
    for (long long c = 0, first = 0; first < $REDUCED_SIZE; c++, first += $CHUNK) {
        const long long last = $REDUCED_SIZE - first < $CHUNK ? $REDUCED_SIZE : first + $CHUNK;
        int lanes = 1;
        while (lanes < 256 && lanes < last - first) {
            lanes *= 2;
        }
        $LANES
        for (long long p = first; p < last;) {
            const int at = (int)((p - first) % 256);
            $REDUCED_POSITION
            const long long j = 0, left = $FAST_EXTENT - $FAST_INDEX, run = left < last - p ? left : last - p;
            const int m = run < 256 - at ? (int)run : 256 - at;
            $POINTERS
            $BODY
            p += m;
        }
        for (int s = lanes / 2; s > 0; s /= 2) {
            $TREE
        }
        $ROUND_TOTAL
    }
    $ROUND_TREE
    $ROUND_RESULTS
}
