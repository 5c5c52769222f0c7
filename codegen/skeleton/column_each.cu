// Elements of a turn's lanes, a load of each under way.
#pragma unroll $COLUMN_UNROLL
for ($INDEX start = first + lane; start < last; start += 256) {
    $COLUMN_DECLARED
    #pragma unroll
    for (int g = 0; g < $COLUMN_TOGETHER; g++) {
        const $INDEX place = start + (g % 2 * 128 + g / 2 * 64), p = place < last ? place : start;
        $COLUMN_LOADS
    }
    #pragma unroll
    for (int g = 0; g < $COLUMN_TOGETHER; g++) {
        const $INDEX place = start + (g % 2 * 128 + g / 2 * 64), p = place < last ? place : start;
        const bool valid = place < last;
        #pragma unroll
        for (int k = 0; k < $VECTOR; k++) {
            $COLUMN_BODY
        }
    }
}
