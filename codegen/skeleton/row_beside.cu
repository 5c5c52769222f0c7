const $INDEX at = $ROW_AT, o = at < $KEPT_SIZE ? at : $KEPT_SIZE - 1;
const bool inside = at < $KEPT_SIZE;
