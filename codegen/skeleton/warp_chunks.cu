// Rows of some chunks by a warp each: thread c keeps what chunk c came to.
$CHUNKS_NONE
#pragma unroll 1
for (int c = 0; c < (int)a.chunks; c++) {
    $TEAM_BOUNDS
    $WARP_CHUNK
    $CHUNKS_KEPT
}
$CHUNKS_TREE
