// Elements [lo, hi) of the domain in C order. A run stays within the fastest dimension; a strip of it is computed into
// local blocks and copied out, so that outputs may be inputs and the compiler needs no alias checks.
$HEADER
void $NAME(const struct krf_arguments *a, long long lo, long long hi) {
    $EXTENTS
    $LARGE_OUTPUTS
    for (long long i = lo; i < hi;) {
        $KEPT_POSITION
        const long long left = $FAST_EXTENT - $FAST_INDEX;
        const long long most = left < hi - i ? left : hi - i;
        $POINTERS
        $RUN
        for (long long j = 0; j < run; j += $STRIP) {
            const int m = run - j < $STRIP ? (int)(run - j) : $STRIP;
            $BODY
        }
        i += run;
    }
    $LARGE_DONE
}
