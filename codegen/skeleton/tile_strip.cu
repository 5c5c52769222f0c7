// Stencils: a thread has $STRIP elements that follow one another along one dimension, or words of them, and first loads the rows of all arrays that they need, each once.
$STRIP_THREAD
$TILE_POSITION
$STRIP_PLACE
$STRIP_LOADS
$STRIP_WALKS
#pragma unroll
for (int q = 0; q < $STRIP; q++) {
    $STRIP_ELEMENT
    if (q < left) {
        $STRIP_VECTORS
        $MAP_BODY
        $MAP_STORES
    }
    $TILE_NEXT
}
