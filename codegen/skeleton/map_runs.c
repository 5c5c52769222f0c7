// A run stays within the fastest dimension.
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
