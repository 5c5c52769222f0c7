if (threadIdx.x == 0 && before_me > 0) {
    $SCAN_SAY_TOTAL
    krf_publish(states + me, 1u);
}
if (before_me > 0) {
    const int most = before_me < $SCAN_BACK ? (int)before_me : $SCAN_BACK;
    #pragma unroll 1
    for (bool going = true; going;) {
        if (threadIdx.x == 0) {
            found = missing = $SCAN_BACK + 1u;
        }
        __syncthreads();
        unsigned state[$SCAN_BACK / 256];
        #pragma unroll
        for (int k = 0; k < $SCAN_BACK / 256; k++) {
            const int back = threadIdx.x + 1 + 256 * k;
            state[k] = back <= most ? krf_observe(states + me - back) : 1u;
        }
        #pragma unroll
        for (int k = 0; k < $SCAN_BACK / 256; k++) {
            if (state[k] != 1u) {
                atomicMin(state[k] == 2u ? &found : &missing, threadIdx.x + 1u + 256u * k);
            }
        }
        __syncthreads();
        going = found > missing || found > most;
        __syncthreads();
    }
    const int back = (int)found;
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
