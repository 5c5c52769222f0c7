// In any order: integers. Threads under each other take rows y, y + $COLUMN_GROUPS, ...; those of a warp share what they found by shuffles, some columns each, and
// warps meet in shared memory once, where the $ANY_COLUMNS columns of a block lie together.
$ANY_CLEAR
{
    const $INDEX o = at;
    $KEPT_POSITION
    for ($INDEX c = blockIdx.y; c < ($INDEX)a.chunks; c += gridDim.y) {
        const $INDEX first = c * ($INDEX)a.chunk;
        const $INDEX last = $REDUCED_SIZE - first < ($INDEX)a.chunk ? $REDUCED_SIZE : first + ($INDEX)a.chunk;
        $ANY_CHUNK
    }
}
$WAIT_TO_STORE
$NEXT_MAY_FOLLOW
$ANY_MEET
const $INDEX group = (($INDEX)blockIdx.x * $COLUMN_THREADS + thread % $ANY_COLUMNS / $VECTOR) * $VECTOR;
const $INDEX column = (group + $VECTOR <= $KEPT_SIZE ? group : $KEPT_SIZE - $VECTOR) + thread % $VECTOR;
const bool there = column >= group;
$ANY_NOTHING
__syncthreads();
#pragma unroll
for (int k = thread; k < 8 * $ANY_COLUMNS; k += 256) {
    $ANY_FOUND
}
$ANY_TREE
if ($SPLIT) {
    if (thread < $ANY_COLUMNS && there) {
        $ANY_DONE
    }
    $COLUMN_TICKET
    $ANY_AGAIN
    #pragma unroll 1
    for (int b = thread / $ANY_COLUMNS; b < (int)gridDim.y && there; b += 8 * (256 / $ANY_COLUMNS)) {
        $ANY_GOT
        #pragma unroll
        for (int n = 0; n < 8; n++) {
            const int block = b + n * (256 / $ANY_COLUMNS);
            $ANY_PARTIALS
        }
        #pragma unroll
        for (int n = 0; n < 8; n++) {
            $ANY_GATHERED
        }
    }
    $ANY_TREE
}
if (thread < $ANY_COLUMNS && there) {
    const $INDEX o = column;
    $KEPT_POSITION
    $ANY_RESULTS
}
