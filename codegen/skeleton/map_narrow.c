// The fastest dimension is short: strips go on over its end, and what does not follow them in memory is laid out first.
$NARROW_TILES
for (long long i = lo, next; i < hi; i = next) {
    $NARROW_NEXT
    const int m = (int)(next - i);
    const long long j = 0;
    $KEPT_POSITION
    $NARROW_ROWS
    $POINTERS
    $BODY
}
