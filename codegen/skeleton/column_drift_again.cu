at = from + ($INDEX)threadIdx.x * $VECTOR;
inside = at < until;
at = at + $VECTOR <= until ? at : until - $VECTOR;
