// Says what the tile comes to, where a tile of its group will ask. The first warp finds what comes before the tile.
$SCAN_SAID
if (threadIdx.x == 0 && ahead < 31 && before_me + 1 < tiles) {
    $SCAN_SAY_TOTAL
}
if (warp == 0) {
    const bool ends_group = ahead == 31;
    const $SCAN_HEARD of_tiles = lane < ahead ? $SCAN_HEAR_TILE : $SCAN_ONE, of_groups = lane < group ? $SCAN_HEAR_GROUP : $SCAN_ONE;
    $SCAN_LOOK
    if (lane == 0) {
        $SCAN_FOUND
    }
}
__syncthreads();
$SCAN_CARRY
