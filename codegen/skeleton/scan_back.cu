// Says what the tile comes to, where a tile of its group will ask. The first warp finds what comes before the tile: the tiles of its group, then the groups. What it has heard with state 2, all up to there, stays so.
$SCAN_SAID
if (threadIdx.x == 0 && ahead < 31 && before_me + 1 < tiles) {
    $SCAN_SAY_TOTAL
}
if (warp == 0) {
    $SCAN_HEARD heard = 0;
    #pragma unroll 1
    do {
        if ($SCAN_STATE == 0) {
            heard = lane < ahead ? $SCAN_HEAR_TILE : $SCAN_ONE;
        }
    } while (__any_sync(0xffffffffu, $SCAN_STATE == 0));
    $SCAN_WITHIN
    if (ahead == 31 && group > 0 && lane == 0) {
        $SCAN_SAY_GROUP
    }
    $SCAN_NOTHING
    if (group > 0) {
        unsigned nearest, absent;
        heard = 0;
        #pragma unroll 1
        do {
            if ($SCAN_STATE != 2) {
                heard = lane < group ? $SCAN_HEAR_GROUP : $SCAN_ONE;
            }
            nearest = (unsigned)__ffs((int)__ballot_sync(0xffffffffu, $SCAN_STATE == 2)) - 1u; // none is more than all
            absent = (unsigned)__ffs((int)__ballot_sync(0xffffffffu, $SCAN_STATE == 0)) - 1u;
        } while (nearest >= absent);
        $SCAN_BEFORE
    }
    if (lane == 0) {
        $SCAN_FOUND
        if (ahead == 31) {
            $SCAN_SAY_PREFIX
        }
    }
}
__syncthreads();
$SCAN_CARRY
