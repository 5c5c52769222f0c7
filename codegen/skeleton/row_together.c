// Rows [lo, hi), several at a time: each is folded into 8 lanes, which go on beside those of the others, before the next round.
const int together = $TOGETHER_ELEMENTS / $REDUCED_SIZE < $TOGETHER_ROWS ? (int)($TOGETHER_ELEMENTS / $REDUCED_SIZE) : $TOGETHER_ROWS;
for (long long tile = lo; tile < hi; tile += together) {
    const int width = hi - tile < together ? (int)(hi - tile) : together;
    $TOGETHER_VALUES
    $TOGETHER_ROUNDS
}
