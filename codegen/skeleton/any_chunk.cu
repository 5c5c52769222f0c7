// Elements [first, last) of the columns, several at once.
$ANY_START
#pragma unroll 1
for ($INDEX start = first + threadIdx.y; start < last; start += $ANY_STEP) {
    $COLUMN_DECLARED
    #pragma unroll
    for (int g = 0; g < $COLUMN_TOGETHER; g++) {
        const $INDEX place = start + g * $COLUMN_GROUPS, p = place < last ? place : start;
        $COLUMN_LOADS
    }
    #pragma unroll
    for (int g = 0; g < $COLUMN_TOGETHER; g++) {
        const $INDEX place = start + g * $COLUMN_GROUPS, p = place < last ? place : start;
        if (place < last) {
            #pragma unroll
            for (int k = 0; k < $VECTOR; k++) {
                $ANY_BODY
            }
        }
    }
}
#pragma unroll
for (int k = 0; k < $VECTOR; k++) {
    $ANY_FOLD
}
