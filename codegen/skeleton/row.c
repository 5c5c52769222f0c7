// Rows [lo, hi): each goes through all rounds while it lies in the caches.
$HEADER
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    for (long long o = lo; o < hi; o++) {
        $KEPT_POSITION
        $ROW_VALUES
        $ROUNDS
    }
}
