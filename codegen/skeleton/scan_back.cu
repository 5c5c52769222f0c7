// Says what the tile comes to, where a tile of its group will ask. The first warp of the first tile finds what comes before it.
$SCAN_SAID
if (thread == 0 && ahead < 31 && before_me + 1 < tiles) {
    $SCAN_SAY_TOTAL
}
if (threadIdx.x < 32) {
    const bool ends_group = ahead == $SCAN_LAST;
    const $SCAN_HEARD of_tiles = lane < ahead ? $SCAN_HEAR_TILE : $SCAN_ONE, of_groups = lane < group ? $SCAN_HEAR_GROUP : $SCAN_ONE;
    $SCAN_LOOK
    if (lane == 0) {
        $SCAN_FOUND
    }
}
__syncthreads();
$SCAN_CARRY
