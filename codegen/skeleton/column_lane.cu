// A block has a lane of chunks.
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
