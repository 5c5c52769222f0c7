// Rows of one chunk.
const $INDEX first = 0, last = $REDUCED_SIZE;
$WARP_CHUNK
