// What column_ahead.cu waits for first.
int side = 0;
if (!($SPLIT && again)) {
    const $INDEX start = first + threadIdx.y;
    $AHEAD_COPIES
}
