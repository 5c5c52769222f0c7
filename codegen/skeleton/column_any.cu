// In any order: integers. Threads under each other take rows y, y + $COLUMN_GROUPS, ..., and add up what they have in shared memory, where
// the $ANY_COLUMNS columns of a group lie together: thread t then has column t % $ANY_COLUMNS of every group whose turn it is.
const int own = threadIdx.y * $ANY_COLUMNS + threadIdx.x;
for (int k = 0; k < $VECTOR; k++) {
    $ANY_CLEAR
}
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
const $INDEX group = ($INDEX)blockIdx.x * $ANY_COLUMNS + thread % $COLUMN_THREADS * $VECTOR;
const $INDEX column = (group + $VECTOR <= $KEPT_SIZE ? group : $KEPT_SIZE - $VECTOR) + thread % $ANY_COLUMNS / $COLUMN_THREADS;
const bool there = column >= group;
$ANY_NOTHING
__syncthreads();
for (int k = 0; k < $VECTOR; k++) {
    $ANY_FOUND
}
$ANY_TREE
if ($SPLIT) {
    if (thread < $ANY_COLUMNS && there) {
        $ANY_DONE
    }
    $COLUMN_TICKET
    $ANY_AGAIN
    #pragma unroll 16
    for (int b = thread / $ANY_COLUMNS; b < (int)gridDim.y && there; b += 256 / $ANY_COLUMNS) {
        $ANY_PARTIALS
    }
    $ANY_TREE
}
if (thread < $ANY_COLUMNS && there) {
    const $INDEX o = column;
    $KEPT_POSITION
    $ANY_RESULTS
}
