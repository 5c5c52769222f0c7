// Rows [lo, hi).
$HEADER
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $LARGE_OUTPUTS
    $ROW_LOOP
    $LARGE_DONE
}
