// Rows [lo, hi).
$HEADER
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $ROW_LOOP
}
