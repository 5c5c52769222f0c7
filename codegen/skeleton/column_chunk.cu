// Elements [first, last) of the columns, or what blocks found, by the threads under each other: thread y holds lanes y, y + $COLUMN_GROUPS, ..., several
// at a time, so that enough loads are under way. Elements beyond the last count as the identity.
$COLUMN_STACKS
#pragma unroll 1
for (int turn = 0; turn < $COLUMN_EACH; turn += $COLUMN_TOGETHER) {
    const int lane = threadIdx.y + $COLUMN_GROUPS * $COLUMN_TURN;
    $COLUMN_START
    if ($SPLIT && again) {
        $COLUMN_FOUND
    } else {
        $COLUMN_ELEMENTS
    }
    $COLUMN_MERGE
}
$COLUMN_TREE
#pragma unroll
for (int k = 0; k < $VECTOR; k++) {
    $COLUMN_FOLD
}
