// The results of a group, and what each has for itself; beyond the last one the last is taken again, and not stored.
$LINES_PLACE
$KEPT_POSITION
$LINES_ROWS
#pragma unroll
for (int line = 0; line < $LINES; line++) {
    const $INDEX o = base + line < end ? base + line : end - 1;
    $KEPT_POSITION
    $LINES_MINE
}
