const $INDEX place = (($INDEX)blockIdx.x * $COLUMN_THREADS + ($INDEX)threadIdx.x) * $VECTOR;
const bool inside = place < $KEPT_SIZE;
const $INDEX at = place + $VECTOR <= $KEPT_SIZE ? place : $KEPT_SIZE - $VECTOR;
