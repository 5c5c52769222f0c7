if (threadIdx.x == 0 && before_me > 0) {
    $SCAN_SAY_TOTAL
    krf_publish(states + me, 1u);
}
if (before_me > 0) {
    unsigned distance = 0;
    const unsigned most = before_me < $SCAN_BACK ? (unsigned)before_me : $SCAN_BACK;
    unsigned heard[$SCAN_BACK / 256] = {};
    int way = 0; // of three: what the next round begins with is cleared while slow threads may still read the last one's
    #pragma unroll 1
    for (bool going = true; going; way = (way + 1) % 3) {
        unsigned nearest = $SCAN_BACK + 1u, absent = nearest;
        #pragma unroll
        for (int k = 0; k < $SCAN_BACK / 256; k++) {
            const unsigned back = threadIdx.x + 1u + 256u * k;
            if (heard[k] != 2) { // what comes to all up to there stays
                heard[k] = back <= most ? krf_observe(states + me - back) : 1u;
            }
        }
        #pragma unroll
        for (int k = 0; k < $SCAN_BACK / 256; k++) {
            const unsigned back = threadIdx.x + 1u + 256u * k, state = heard[k];
            nearest = state == 2 && back < nearest ? back : nearest;
            absent = state == 0 && back < absent ? back : absent;
        }
        #pragma unroll
        for (int s = 16; s > 0; s /= 2) {
            const unsigned other = __shfl_down_sync(0xffffffffu, nearest, s), also = __shfl_down_sync(0xffffffffu, absent, s);
            nearest = other < nearest ? other : nearest;
            absent = also < absent ? also : absent;
        }
        if (lane == 0) {
            atomicMin(&found[way], nearest);
            atomicMin(&missing[way], absent);
        }
        if (threadIdx.x == 0) {
            found[(way + 1) % 3] = missing[(way + 1) % 3] = $SCAN_BACK + 1u;
        }
        __syncthreads();
        distance = found[way];
        going = distance > missing[way] || distance > most;
    }
    const int back = (int)distance;
    __threadfence();
    #pragma unroll 4
    for (int i = threadIdx.x; i < back; i += 256) {
        $SCAN_GATHER
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        $SCAN_FOLD
    }
    __syncthreads();
    $SCAN_CARRY
}
if (threadIdx.x == 0) {
    $SCAN_SAY_PREFIX
    krf_publish(states + me, 2u);
}
