// The threads under each other share the 256 lanes of a column. A thread visits its lanes in bit-reversed order, so that the canonical
// tree needs one partial result a level; the groups meet in shared memory. Chunks go to 256 blocks at most, and the last of these to end does the same again, with what all found for elements.
bool again = false;
$COLUMN_TOTALS
#pragma unroll 1
for (;;) {
    const $INDEX o = at;
    $KEPT_POSITION
    for ($INDEX c = blockIdx.y; c < (again ? ($INDEX)blockIdx.y + 1 : ($INDEX)a.chunks); c += gridDim.y) {
        const $INDEX first = c * ($INDEX)a.chunk;
        const $INDEX last = $REDUCED_SIZE - first < ($INDEX)a.chunk ? $REDUCED_SIZE : first + ($INDEX)a.chunk;
        $COLUMN_CHUNK
    }
    $WAIT_TO_STORE
    if (!$SPLIT || again) {
        break;
    }
    if (inside && threadIdx.y == 0) {
        for (int k = 0; k < $VECTOR; k++) {
            $COLUMN_DONE
        }
    }
    $COLUMN_TICKET
    again = true;
}
if (inside && threadIdx.y == 0) {
    for (int k = 0; k < $VECTOR; k++) {
        const $INDEX o = at + k;
        $KEPT_POSITION
        $COLUMN_RESULTS
    }
}
