// Elements [first, last) of result o by the 8 threads of its column: thread y holds lanes y, y + 8, ..., y + 248, four at
// a time, so that enough loads are under way. Elements beyond the last count as the identity.
$COLUMN_STACKS
for (int turn = 0; turn < 32; turn += 4) {
    const int lane = threadIdx.y + 8 * (int)(__brev((unsigned)turn) >> 27);
    $COLUMN_START
    #pragma unroll $COLUMN_UNROLL
    for ($INDEX start = first + lane; start < last; start += 256) {
        #pragma unroll
        for (int g = 0; g < 4; g++) {
            const $INDEX place = start + (g % 2 * 128 + g / 2 * 64);
            const bool valid = place < last;
            const $INDEX p = valid ? place : start;
            $COLUMN_BODY
        }
    }
    $COLUMN_MERGE
}
$COLUMN_TREE
