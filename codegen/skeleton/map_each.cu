// What lies beyond the domain loads the thread's first element again.
const $INDEX first = ($INDEX)blockIdx.x * (256 * $MAP_EACH) + ($INDEX)threadIdx.x;
if (first >= $KEPT_SIZE) {
    return;
}
$EACH_DECLARED
#pragma unroll
for (int u = 0; u < $MAP_EACH; u++) {
    const $INDEX i = first + u * 256 < $KEPT_SIZE ? first + u * 256 : first;
    $KEPT_POSITION
    $EACH_LOADS
}
#pragma unroll
for (int u = 0; u < $MAP_EACH; u++) {
    const $INDEX i = first + u * 256 < $KEPT_SIZE ? first + u * 256 : first;
    if (first + u * 256 < $KEPT_SIZE) {
        $KEPT_POSITION
        $MAP_BODY
        $MAP_STORES
    }
}
