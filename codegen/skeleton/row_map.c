for (long long p = 0; p < $REDUCED_SIZE;) {
    $REDUCED_POSITION
    const long long j = 0, left = $FAST_EXTENT - $FAST_INDEX, run = left < $REDUCED_SIZE - p ? left : $REDUCED_SIZE - p;
    const int m = run < 256 ? (int)run : 256;
    $POINTERS
    $BODY
    p += m;
}
