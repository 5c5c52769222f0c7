// A block has some of the lanes of chunks, one after the other, and knows which chunk is next.
const int lanes = a.chunks < 256 ? (int)a.chunks : 256;
$INDEX next;
#pragma unroll 1
for ($INDEX c = blockIdx.y; c >= 0; c = next) {
    const int of = (int)(c % 256);
    next = !$SPLIT || again ? -1 : c + 256 < ($INDEX)a.chunks ? c + 256 : of + (int)gridDim.y < lanes ? of + (int)gridDim.y : -1;
    const $INDEX first = c * ($INDEX)a.chunk;
    const $INDEX last = $REDUCED_SIZE - first < ($INDEX)a.chunk ? $REDUCED_SIZE : first + ($INDEX)a.chunk;
    $COLUMN_CHUNK
    if ($SPLIT && !again && c + 256 >= ($INDEX)a.chunks) {
        if (inside && threadIdx.y == 0) {
            for (int k = 0; k < $VECTOR; k++) {
                $COLUMN_DONE
            }
        }
        $COLUMN_CLEAR
    }
}
if (!$SPLIT || again) {
    break;
}
