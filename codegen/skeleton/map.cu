// Maps, in C order of the domain. Loads come first: no load waits for a computation.
$HEADER
extern "C" __global__ void __launch_bounds__($MAP_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $OPTION
    $EXTENTS
    $MAP_ELEMENTS
}
