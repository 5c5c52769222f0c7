// Units [lo, hi): chunk c of a tile of neighbouring results. Neighbouring lanes make a group, as many as COLUMNS_HELD accumulators serve: their rows follow
// one another in memory. Where accumulators take much, as many columns as the first cache has those of go through all rows of their lanes, then the next. Groups are visited in bit-reversed order, so that the canonical tree needs only one partial result a level. Where any order will do there is one group.
$HEADER
$RESULTS_FUNCTION
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    const long long kept = $KEPT_SIZE;
    const int side = $COLUMN_SIDE;
    const long long tiles = (kept + side - 1) / side;
    const int dense = $COLUMNS_DENSE; // rows follow one another without a gap: several are as good as a long one
    for (long long u = lo; u < hi; u++) {
        const long long c = u / tiles, tile = u % tiles * side, first = c * a->chunk;
        const long long last = $REDUCED_SIZE - first < a->chunk ? $REDUCED_SIZE : first + a->chunk;
        const int width = kept - tile < side ? (int)(kept - tile) : side;
        int group = 1, bits = 0;
        $COLUMNS_GROUP
        const int all = group * width;
        $COLUMNS
        $NARROW_TILES
        for (int turn = 0; turn < 1 << bits; turn++) {
            int place = 0, next = 0;
            for (int b = 0; b < bits; b++) {
                place |= (turn >> b & 1) << (bits - 1 - b);
                next |= (turn + 1 >> b & 1) << (bits - 1 - b);
            }
            $COLUMNS_START
            for (int block = 0; block < all; block += $COLUMNS_AT_ONCE) {
                for (long long row = first + place * group; row < last; row += $COLUMNS_APART) {
                    const long long ahead = row + $COLUMNS_APART < last ? $COLUMNS_APART : first + next * group - row;
                    const int rows = last - row < group ? (int)(last - row) : group, step = dense ? rows : 1;
                    for (int lane = 0; lane < rows; lane += step) {
                        const long long p = row + lane;
                        const int end = $COLUMNS_END;
                        $COLUMNS_LANE
                        $REDUCED_POSITION
                        for (int at = block; at < end;) {
                            const long long o = tile + at;
                            $KEPT_POSITION
                            $COLUMN_RUN
                            $NARROW_ROWS
                            $POINTERS
                            $BODY
                            at += m;
                        }
                    }
                }
            }
            int level = 0;
            for (; turn >> level & 1; level++) {
                $COLUMNS_MERGE
            }
            $COLUMNS_PUSH
        }
        for (int s = group / 2; s > 0; s /= 2) {
            $COLUMNS_FOLD
        }
        for (int at = 0; at < width; at++) {
            const long long o = tile + at;
            $UNIT_DONE
        }
    }
}
$FINISH_FUNCTION
