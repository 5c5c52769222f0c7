const $INDEX i = (($INDEX)$MAP_BLOCK * 256 + ($INDEX)threadIdx.x) * $VECTOR;
if (i >= $KEPT_SIZE) {
    return;
}
$KEPT_POSITION
$MAP_LOADS
$MAP_BODY
$MAP_STORES
