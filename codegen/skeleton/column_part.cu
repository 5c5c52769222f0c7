// One element of each lane of a turn.
$COLUMN_DECLARED
#pragma unroll
for (int g = 0; g < $COLUMN_TOGETHER; g++) {
    $AHEAD_READ
}
#pragma unroll
for (int g = 0; g < $COLUMN_TOGETHER; g++) {
    const $INDEX place = base + u * 256 + lane + (g % 2 * 128 + g / 2 * 64), p = place < last ? place : last - 1;
    const bool valid = whole || place < last;
    #pragma unroll
    for (int k = 0; k < $VECTOR; k++) {
        $COLUMN_BODY
    }
}
