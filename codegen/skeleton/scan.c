// Units [lo, hi): rows, or tiles of columns side by side.
$HEADER
$SCAN
