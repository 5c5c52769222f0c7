// Elements [first, last) of result o into the lanes, and these into one, or as many as are to be left.
for (long long p = first; p < last;) {
    const int at = (int)((p - first) % 256);
    $REDUCED_POSITION
    const long long j = 0, left = $FAST_EXTENT - $FAST_INDEX, run = left < last - p ? left : last - p;
    const int m = run < 256 - at ? (int)run : 256 - at;
    $POINTERS
    $BODY
    p += m;
}
$TREE
