// What blocks found for a turn's lanes of chunks.
#pragma unroll
for (int g = 0; g < $COLUMN_TOGETHER; g++) {
    const int found = lane + (g % 2 * 128 + g / 2 * 64);
    if (found < $COLUMN_LANE_COUNT) {
        #pragma unroll
        for (int k = 0; k < $VECTOR; k++) {
            $COLUMN_PARTIALS
        }
    }
}
