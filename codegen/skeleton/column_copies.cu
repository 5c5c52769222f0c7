// Elements from `start` on, of a turn's lanes, to one side of shared memory; none is beyond `end`.
#pragma unroll 2
for (int u = 0; u < $AHEAD_STEPS; u++) {
    #pragma unroll
    for (int g = 0; g < $COLUMN_TOGETHER; g++) {
        const $INDEX place = start + u * 256 + (g % 2 * 128 + g / 2 * 64), p = place < end ? place : end - 1;
        $AHEAD_COPY
    }
}
