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
    const int most = before_me < $SCAN_BACK ? (int)before_me : $SCAN_BACK;
    unsigned long long word[$SCAN_BACK / 256];
    #pragma unroll 1
    for (bool going = true; going;) {
        if (threadIdx.x == 0) {
            found = missing = $SCAN_BACK + 1u;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < $SCAN_BACK / 256; k++) {
            const int back = threadIdx.x + 1 + 256 * k;
            word[k] = back <= most ? krf_hear(words + me - back) : 1ull << 32;
        }
        #pragma unroll
        for (int k = 0; k < $SCAN_BACK / 256; k++) {
            if (word[k] >> 32 != 1) {
                atomicMin(word[k] >> 32 == 2 ? &found : &missing, threadIdx.x + 1u + 256u * k);
            }
        }
        __syncthreads();
        going = found > missing || found > most;
        __syncthreads();
    }
    const int back = (int)found;
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
