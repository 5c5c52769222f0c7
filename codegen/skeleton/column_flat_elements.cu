#pragma unroll
for (int g = 0; g < $FLAT_TOGETHER; g++) {
    const $INDEX i = start * $KEPT_SIZE + (g * $COLUMN_THREADS + threadIdx.x) * $VECTOR;
    if (i < end) {
        $FLAT_ROW
        #pragma unroll
        for (int k = 0; k < $VECTOR; k++) {
            const bool valid = $FLAT_VALID;
            $FLAT_PLACE
            $COLUMN_BODY
        }
    }
}
