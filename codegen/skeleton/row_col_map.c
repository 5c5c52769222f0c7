for (long long p = 0; p < $REDUCED_SIZE; p++) {
    $REDUCED_POSITION
    $POINTERS
    $BODY
}
