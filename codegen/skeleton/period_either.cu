if (crosses) {
    $PERIOD_ROWS
    $MAP_BODY
} else {
    const int rest = $VECTOR; // as compilers do not know
    $PERIOD_ROWS
    $MAP_BODY
}
