// A short row, once its elements are loaded. Where a vector a thread is enough, the others are skipped by all threads, here and in the tree: the identity
// changes nothing.
$SHORT_START
#pragma unroll
for (int q = 0; q < 1; q++) {
    $SHORT_VECTOR
}
if ($VECTOR * threads < length) {
    #pragma unroll
    for (int q = 1; q < $QUADS; q++) {
        $SHORT_VECTOR
    }
    $SHORT_HALVES
}
$SHORT_TREE
