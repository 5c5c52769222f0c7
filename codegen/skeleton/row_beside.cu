// A row beside others in a block; in rows that there are none of, threads do the last one again.
const $INDEX at = $ROW_AT, o = at < $KEPT_SIZE ? at : $KEPT_SIZE - 1;
const bool inside = at < $KEPT_SIZE;
