// Elements [lo, hi) of the domain in C order. A strip of them is computed into local blocks and copied out, so that outputs may be inputs and the compiler
// needs no alias checks.
$HEADER
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $LARGE_OUTPUTS
    $MAP_LOOP
    $LARGE_DONE
}
