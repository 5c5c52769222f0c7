// The threads under each other share the 256 lanes of a column. A thread visits its lanes in bit-reversed order, so that the canonical
// tree needs one partial result a level; the groups meet in shared memory. Chunks go to 256 blocks at most, and the last of these to end does the same again, with what all found for elements.
bool again = false;
$COLUMN_TOTALS
$COLUMN_FIRST
#pragma unroll 1
for (;;) {
    const $INDEX o = $COLUMN_AT;
    $KEPT_POSITION
    $COLUMN_CHUNKS
    $COLUMN_TICKET
    again = true;
    $COLUMN_AGAIN
}
if (inside && threadIdx.y == 0) {
    for (int k = 0; k < $VECTOR; k++) {
        const $INDEX o = at + k;
        $KEPT_POSITION
        $COLUMN_RESULTS
    }
}
