if (start + 256 * $FLAT_STEPS <= $REDUCED_SIZE && own < ($INDEX)a.chunks) {
    #pragma unroll
    for (int g = 0; g < $FLAT_TOGETHER; g++) {
        const $INDEX i = start * $KEPT_SIZE + (g * $COLUMN_THREADS + threadIdx.x) * $VECTOR;
        $FLAT_ALL_LOADS
    }
} else {
    #pragma unroll
    for (int g = 0; g < $FLAT_TOGETHER; g++) {
        const $INDEX i = start * $KEPT_SIZE + (g * $COLUMN_THREADS + threadIdx.x) * $VECTOR;
        $FLAT_LAST_LOADS
    }
}
