{
    const int lanes = 8;
    $FOLD_TURN
    $SIDE_RESULTS
}
