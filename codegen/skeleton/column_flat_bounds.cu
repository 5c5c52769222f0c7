const $INDEX start = own < ($INDEX)a.chunks ? own * ($INDEX)a.chunk + from : 0, after = (own + 1) * ($INDEX)a.chunk;
const $INDEX end = own < ($INDEX)a.chunks ? (after < $REDUCED_SIZE ? after : $REDUCED_SIZE) * $KEPT_SIZE : 0;
