// Rows [lo, hi), which lie side by side in memory, a tile of them at a time: each tile goes through all rounds while it lies in the caches. What several rounds read is
// copied to where its rows follow one another, for elements that lie a power of two apart share few places of a cache.
for (long long tile = lo; tile < hi;) {
    const long long o = tile, j = 0;
    $SIDE_POSITION
    const long long left = $ROW_LEFT, most = hi - tile < $BESIDE_ROWS ? hi - tile : $BESIDE_ROWS;
    const int at = 0, width = left < most ? (int)left : (int)most, m = width;
    $BESIDE_TILES
    for (long long p = 0; p < $REDUCED_SIZE; p++) {
        $REDUCED_POSITION
        $BESIDE_COPIES
    }
    $BESIDE_ROUNDS
    tile += width;
}
