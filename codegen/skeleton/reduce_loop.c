// Chunk c of result o, by the canonical tree: 256 lanes, then halving. Lanes beyond the chunk hold the identity, so only the smallest power of two that covers it
// is kept.
for (long long u = lo; u < hi; u++) {
    $UNIT_PLACE
    const long long first = c * a->chunk;
    const long long last = $REDUCED_SIZE - first < a->chunk ? $REDUCED_SIZE : first + a->chunk;
    $LANE_COUNT
    $LANES
    $KEPT_POSITION
    $CHUNK_LANES
    $UNIT_DONE
}
