$SHORT_GUARD
const bool valid = (q * threads + thread) * $VECTOR < last;
$REDUCE_VECTORS
#pragma unroll
for (int k = 0; k < $TURNS; k++) {
    $SHORT_BODY
}
$SHORT_STORES
$SHORT_UNGUARD
