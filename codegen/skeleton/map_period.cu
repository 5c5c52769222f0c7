// Vectors that go over the ends of rows, and have the same columns a period further on, of which a thread keeps what it has. It loads ahead of what it computes: a load does not pass a store.
$PERIOD_SHARED
const $INDEX begin = ($INDEX)$MAP_BLOCK * 256, period = ($INDEX)a.period, thread = begin + ($INDEX)threadIdx.x;
const $INDEX step = period * $VECTOR, first = (thread + thread / period * (($INDEX)a.periods - 1) * period) * $VECTOR;
$PERIOD_STAGED
$PERIOD_DECLARED
$INDEX column; // of a vector's first element
int rest; // elements of it that are of the row in which it begins
{
    $PERIOD_FIRST
}
if (first >= $KEPT_SIZE) {
    return;
}
$PERIOD_COLUMNS
#pragma unroll 1
for (int u = 0; u < (int)a.periods + $PERIOD_AHEAD; u++) {
    const $INDEX at = first + u * step, before = at - $PERIOD_AHEAD * step;
    $PERIOD_MOVES
    if (u < (int)a.periods && at < $KEPT_SIZE) {
        const $INDEX i = at;
        $KEPT_POSITION
        $PERIOD_LOADS
    }
    if (u >= $PERIOD_AHEAD && before < $KEPT_SIZE) {
        const $INDEX i = before;
        const bool whole = $PERIOD_WHOLE;
        $PERIOD_COMPUTED
        $MAP_STORES
    }
}
