// Units [lo, hi): chunk c of a tile of up to 256 neighbouring results. Lanes are visited in bit-reversed order, so that
// the canonical tree needs only one partial result a level; rows of the tile are contiguous.
$HEADER
$RESULTS_FUNCTION
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    const long long kept = $KEPT_SIZE, tiles = (kept + 255) / 256;
    for (long long u = lo; u < hi; u++) {
        const long long c = u / tiles, tile = u % tiles * 256, first = c * a->chunk;
        const long long last = $REDUCED_SIZE - first < a->chunk ? $REDUCED_SIZE : first + a->chunk;
        const int width = kept - tile < 256 ? (int)(kept - tile) : 256;
        int lanes = 1, bits = 0;
        while (lanes < 256 && lanes < last - first) {
            lanes *= 2;
            bits++;
        }
        $COLUMNS
        for (int turn = 0; turn < lanes; turn++) {
            int lane = 0;
            for (int b = 0; b < bits; b++) {
                lane |= (turn >> b & 1) << (bits - 1 - b);
            }
            $COLUMNS_START
            for (long long p = first + lane; p < last; p += 256) {
                $REDUCED_POSITION
                for (int at = 0; at < width;) {
                    const long long o = tile + at;
                    $KEPT_POSITION
                    const long long j = 0, left = $FAST_EXTENT - $FAST_INDEX;
                    const int m = left < width - at ? (int)left : width - at;
                    $POINTERS
                    $BODY
                    at += m;
                }
            }
            int level = 0;
            for (; turn >> level & 1; level++) {
                $COLUMNS_MERGE
            }
            $COLUMNS_PUSH
        }
        for (int at = 0; at < width; at++) {
            const long long o = tile + at;
            $UNIT_DONE
        }
    }
}
$FINISH_FUNCTION
