// As column_each.cu, where registers have no room for what is under way: $AHEAD_STEPS elements of each lane go to shared memory while those before them are added up. A thread reads what it
// copied itself, so that none waits for another.
#pragma unroll 1
for ($INDEX base = first; base < last; base += $AHEAD_LENGTH) {
    const bool whole = last - base >= $AHEAD_LENGTH, more = last - base > $AHEAD_LENGTH;
    krf_copies_wait();
    if (more || turn + $COLUMN_TOGETHER < $COLUMN_THREADS) {
        const $INDEX start = more ? base + $AHEAD_LENGTH + lane : first + threadIdx.y + $COLUMN_GROUPS * $COLUMN_NEXT_TURN;
        side ^= 1;
        $AHEAD_COPIES
        side ^= 1;
    }
    if (whole) {
        #pragma unroll 2
        for (int u = 0; u < $AHEAD_STEPS; u++) {
            $AHEAD_PART
        }
    } else {
        #pragma unroll 1
        for (int u = 0; base + u * 256 + lane < last; u++) {
            $AHEAD_PART
        }
    }
    side ^= 1;
}
