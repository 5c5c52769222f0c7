// A warp finds what comes before a tile: the tiles of its group, then the groups; it asked both at once (of_tiles, of_groups), and asks again who did not know. What it has heard with state 2, all up
// to there, stays so. Where the group ends, it says what it comes to.
$SCAN_HEARD heard = of_tiles;
#pragma unroll 1
while (__any_sync(0xffffffffu, $SCAN_STATE == 0)) {
    if ($SCAN_STATE == 0) {
        heard = $SCAN_HEAR_TILE;
    }
}
$SCAN_WITHIN
if (ends_group && group > 0 && lane == 0) {
    $SCAN_SAY_GROUP
}
$SCAN_NOTHING
if (group > 0) {
    unsigned nearest, absent;
    heard = of_groups;
    #pragma unroll 1
    for (;;) {
        nearest = (unsigned)__ffs((int)__ballot_sync(0xffffffffu, $SCAN_STATE == 2)) - 1u; // none is more than all
        absent = (unsigned)__ffs((int)__ballot_sync(0xffffffffu, $SCAN_STATE == 0)) - 1u;
        if (nearest < absent) {
            break;
        }
        if ($SCAN_STATE != 2) {
            heard = lane < group ? $SCAN_HEAR_GROUP : $SCAN_ONE;
        }
    }
    $SCAN_BEFORE
}
if (ends_group && lane == 0) {
    $SCAN_SAY_PREFIX
}
