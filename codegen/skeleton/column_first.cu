// What column_ahead.cu waits for first.
int side = 0;
{
    const $INDEX o = $COLUMN_AT;
    $KEPT_POSITION
    const $INDEX first = ($INDEX)blockIdx.y * ($INDEX)a.chunk, start = first + threadIdx.y;
    const $INDEX end = $REDUCED_SIZE - first < ($INDEX)a.chunk ? $REDUCED_SIZE : first + ($INDEX)a.chunk;
    $AHEAD_COPIES
}
