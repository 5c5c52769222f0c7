// What lies beyond the domain loads the thread's first element again.
const $INDEX first = ($INDEX)$MAP_BLOCK * $EACH_BLOCK + ($INDEX)threadIdx.x$EACH_VECTOR;
if (first >= $EACH_SIZE) {
    $WAIT_TO_STORE
    return;
}
$EACH_DECLARED
#pragma unroll
for (int u = 0; u < $MAP_EACH; u++) {
    const $INDEX i = $EACH_INSIDE;
    $KEPT_POSITION
    $EACH_LOADS
}
$WAIT_TO_STORE
$EACH_RESULTS
#pragma unroll
for (int u = 0; u < $MAP_EACH; u++) {
    const $INDEX i = $EACH_INSIDE;
    if ($EACH_COMPUTED) {
        $KEPT_POSITION
        $EACH_UNIONS
        $MAP_BODY
        $EACH_TAKEN
    }
}
$EACH_STORES
