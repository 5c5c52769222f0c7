// Each row goes through all rounds while it lies in the caches.
for (long long o = lo; o < hi; o++) {
    $KEPT_POSITION
    $ROW_VALUES
    $ROUNDS
}
