for (int row = 0; row < width; row++) {
    const long long o = tile + row, before = row * (long long)$REDUCED_SIZE;
    $KEPT_POSITION
    $ROW_MAP
}
