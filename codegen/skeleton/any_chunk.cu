// Elements [first, last) of the columns, several at once, and what is left one by one: nothing asks whether a load was of an element, so that none waits for an answer.
$ANY_START
$INDEX place = first + threadIdx.y;
#pragma unroll 1
for (; place + $ANY_STEP - $COLUMN_GROUPS < last; place += $ANY_STEP) {
    $COLUMN_DECLARED
    #pragma unroll
    for (int g = 0; g < $COLUMN_TOGETHER; g++) {
        const $INDEX p = place + g * $COLUMN_GROUPS;
        $COLUMN_LOADS
    }
    #pragma unroll
    for (int g = 0; g < $COLUMN_TOGETHER; g++) {
        const $INDEX p = place + g * $COLUMN_GROUPS;
        #pragma unroll
        for (int k = 0; k < $VECTOR; k++) {
            $ANY_BODY
        }
    }
}
#pragma unroll 1
for (; place < last; place += $COLUMN_GROUPS) {
    $COLUMN_DECLARED
    const int g = 0;
    const $INDEX p = place;
    $COLUMN_LOADS
    #pragma unroll
    for (int k = 0; k < $VECTOR; k++) {
        $ANY_BODY
    }
}
$ANY_FOLD
