int lanes = 1;
while (lanes < $REDUCED_SIZE) {
    lanes *= 2;
}
for (long long tile = lo; tile < hi; tile += $SIDE_ROWS) {
    const int width = hi - tile < $SIDE_ROWS ? (int)(hi - tile) : $SIDE_ROWS;
    $SIDE_COPIES
    $SIDE_VALUES
    $SIDE_ROUNDS
    $SIDE_COPIES_OUT
}
