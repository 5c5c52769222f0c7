#pragma unroll
for (int u = 0; u < $MAP_EACH; u++) {
    const $INDEX i = $EACH_INSIDE;
    if ($EACH_THERE) {
        $KEPT_POSITION
        $EACH_KEPT
    }
}
