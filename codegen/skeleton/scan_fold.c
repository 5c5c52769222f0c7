const long long last = $REDUCED_SIZE - first < $SCAN_TILE ? $REDUCED_SIZE : first + $SCAN_TILE;
for (long long p = first; p < last;) {
    const int at = (int)(p - first), m = last - p < 256 ? (int)(last - p) : 256;
    const long long j = 0;
    $REDUCED_POSITION
    $POINTERS
    $BODY
    p += m;
}
