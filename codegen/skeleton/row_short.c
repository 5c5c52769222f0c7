// Rows [lo, hi). Of few elements they lie side by side: loops over the elements of one would be too short.
$HEADER
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $LARGE_OUTPUTS
    if ($REDUCED_SIZE <= $SIDE_LANES) {
        $SIDE_LOOP
        return;
    }
    $ROW_LOOP
    $LARGE_DONE
}
