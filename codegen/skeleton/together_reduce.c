{
    $FOLD_START
    for (int row = 0; row < width; row++) {
        const long long o = tile + row, first = 0, last = $REDUCED_SIZE, before = row * last;
        int lanes = 8;
        while (lanes < 256 && lanes < last) {
            lanes *= 2;
        }
        $LANES
        $KEPT_POSITION
        $CHUNK_LANES
        $FOLD_KEEP
    }
    $FOLD_RESULTS
}
