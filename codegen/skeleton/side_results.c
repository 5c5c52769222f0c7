for (int s = lanes / 2; s > 0; s /= 2) {
    $SIDE_TREE
}
for (int at = 0; at < width;) {
    const long long o = tile + at;
    $SIDE_POSITION
    const long long left = $ROW_LEFT;
    const int m = left < width - at ? (int)left : width - at;
    $SIDE_EACH
    at += m;
}
