// As column_each.cu, where registers have no room for what is under way: $AHEAD_STEPS elements of each lane go to shared memory while those before them are added up, at the end of a chunk those with which the block's next
// one begins. A thread reads what it copied itself, or what its warp did.
#pragma unroll 1
for ($INDEX base = first; base < last; base += $AHEAD_LENGTH) {
    const bool whole = last - base >= $AHEAD_LENGTH, more = last - base > $AHEAD_LENGTH, turns = turn + $COLUMN_TOGETHER < $COLUMN_EACH;
    krf_copies_wait();
    $AHEAD_MEET
    if (more || turns || next >= 0) {
        const $INDEX begin = more || turns ? first : next * ($INDEX)a.chunk;
        const $INDEX end = more || turns ? last : $REDUCED_SIZE - begin < ($INDEX)a.chunk ? $REDUCED_SIZE : begin + ($INDEX)a.chunk;
        const $INDEX start = more ? base + $AHEAD_LENGTH + lane : begin + threadIdx.y + (turns ? $COLUMN_GROUPS * $COLUMN_NEXT_TURN : 0);
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
