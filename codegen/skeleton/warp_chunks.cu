// Rows of some chunks by a warp each: thread c keeps what chunk c came to.
$CHUNKS_NONE
$ROW_FIRST_LOADS
#pragma unroll 1
for (int c = 0; c < (int)a.chunks; c++) {
    $TEAM_BOUNDS
    $WARP_CHUNK
    $CHUNKS_KEPT
}
$CHUNKS_TREE
