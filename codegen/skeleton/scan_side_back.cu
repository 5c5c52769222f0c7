// A warp finds what comes before its share: the shares of its tile, and then, as for a tile, the tiles of its group and the groups.
const int sooner = share % 8, before_me = share / 8, ahead = before_me % 32, group = before_me / 32;
const int my_share = row * shares + share, me = row * tiles + before_me, my_group = row * groups + group;
const bool ends_group = ahead == 31 && sooner == 7;
$SCAN_SAID
if (lane == 0 && sooner < 7 && share + 1 < shares) {
    $SCAN_SAY_SHARE
}
const $SCAN_HEARD of_shares = lane < sooner ? $SCAN_HEAR_SHARE : $SCAN_ONE, of_tiles = lane < ahead ? $SCAN_HEAR_TILE : $SCAN_ONE, of_groups = lane < group ? $SCAN_HEAR_GROUP : $SCAN_ONE;
$SCAN_NO_SHARES
{
    $SCAN_HEARD heard = of_shares;
    #pragma unroll 1
    while (__any_sync(0xffffffffu, $SCAN_STATE == 0)) {
        if ($SCAN_STATE == 0) {
            heard = $SCAN_HEAR_SHARE;
        }
    }
    $SCAN_SHARES
}
$SCAN_WITH_SHARES
if (lane == 0 && sooner == 7 && ahead < 31 && before_me + 1 < tiles) {
    $SCAN_SAY_TOTAL
}
$SCAN_LOOK
if (lane == 0) {
    $SIDE_FOUND
}
