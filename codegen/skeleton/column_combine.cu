// The same tree over the blocks' results.
$COLUMN_STACKS
#pragma unroll 1
for (int turn = 0; turn < $COLUMN_THREADS; turn += $COLUMN_TOGETHER) {
    $COLUMN_START
    #pragma unroll
    for (int g = 0; g < $COLUMN_TOGETHER; g++) {
        const int lane = threadIdx.y + $COLUMN_GROUPS * $COLUMN_TURN + (g % 2 * 128 + g / 2 * 64);
        if (lane < (int)gridDim.y) {
            #pragma unroll
            for (int k = 0; k < $VECTOR; k++) {
                $COLUMN_PARTIALS
            }
        }
    }
    $COLUMN_MERGE
}
$COLUMN_TREE
#pragma unroll
for (int k = 0; k < $VECTOR; k++) {
    $COLUMN_TAKEN
}
