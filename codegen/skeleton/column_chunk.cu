// Elements [first, last) of result o by the 8 threads of its column: thread y holds lanes y, y + 8, ..., y + 248.
$COLUMN_STACKS
for (int turn = 0; turn < 32; turn++) {
    const int lane = threadIdx.y + 8 * (int)(__brev((unsigned)turn) >> 27);
    $COLUMN_START
    if (inside) {
        #pragma unroll 4
        for ($INDEX p = first + lane; p < last; p += 256) {
            $COLUMN_BODY
        }
    }
    $COLUMN_MERGE
}
$COLUMN_TREE
