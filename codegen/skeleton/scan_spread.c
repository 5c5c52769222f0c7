for (long long p = first; p < last;) {
    const int at = (int)(p - first);
    const long long j = 0;
    $REDUCED_POSITION
    $SCAN_STRIP_PLACES
    $SCAN_STRIP_RESULTS
    p += m;
}
