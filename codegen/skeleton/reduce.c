// Units [lo, hi): chunks of results.
$HEADER
$RESULTS_FUNCTION
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $REDUCE_LOOP
}
$FINISH_FUNCTION
