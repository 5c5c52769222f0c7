// Rows that stay on the chip. Some warps share a row: each holds a chunk of the canonical tree, 32 elements a thread, and what several rounds
// read is loaded once. Long bodies go over the chunk in a loop instead, and read again. Rows lie side by side in a block, or blocks of a cluster share one. Where
// there are none left, threads do the last one again, for the barriers, and store nothing.
$HEADER
extern "C" __global__ void $ROW_BOUNDS $NAME(const struct krf_arguments a) {
    $BEGIN
    $OPTION
    $EXTENTS
    $ROW_SHARED
    $ROW_BEGIN
    $ROW_PLACE
    $ROW_OWN
    $KEPT_POSITION
    $ROW_CHUNK
    $ROW_VALUES
    $WORDS_LOADS
    $ROW_LOADS
    $WAIT_TO_STORE
    $ROUNDS
}
