// A tile's state and what it says share a word of 64 bits: they come together.
unsigned long long *const words = (unsigned long long *)states;
union {
    $SCAN_TYPE value;
    unsigned bits;
} said;
said.bits = 0;
said.value = all0;
if (threadIdx.x == 0 && before_me > 0) {
    krf_say(words + me, 1ull << 32 | said.bits);
}
if (before_me > 0) {
    unsigned distance = 0;
    const unsigned most = before_me < $SCAN_BACK ? (unsigned)before_me : $SCAN_BACK;
    unsigned long long word[$SCAN_BACK / 256] = {};
    int way = 0; // of three: what the next round begins with is cleared while slow threads may still read the last one's
    #pragma unroll 1
    for (bool going = true; going; way = (way + 1) % 3) {
        unsigned nearest = $SCAN_BACK + 1u, absent = nearest;
        #pragma unroll
        for (int k = 0; k < $SCAN_BACK / 256; k++) {
            const unsigned back = threadIdx.x + 1u + 256u * k;
            if (word[k] >> 32 != 2) { // what comes to all up to there stays
                word[k] = back <= most ? krf_hear(words + me - back) : 1ull << 32;
            }
        }
        #pragma unroll
        for (int k = 0; k < $SCAN_BACK / 256; k++) {
            const unsigned back = threadIdx.x + 1u + 256u * k, state = (unsigned)(word[k] >> 32);
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
    #pragma unroll
    for (int k = 0; k < $SCAN_BACK / 256; k++) {
        const int i = back - (int)(threadIdx.x + 1 + 256 * k);
        if (i >= 0) {
            said.bits = (unsigned)word[k];
            back0[i] = said.value;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        $SCAN_FOLD
    }
    __syncthreads();
    $SCAN_CARRY
}
if (threadIdx.x == 0) {
    said.bits = 0;
    said.value = red0(carry0, all0);
    krf_say(words + me, 2ull << 32 | said.bits);
}
