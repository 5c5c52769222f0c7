// Scans of longer rows, in a single pass: a block a tile, in the order in which blocks start. A tile says what its elements come to as soon as it knows
// (state 1), and what all up to its end come to (state 2) once it has found the last tile before it that says so, among $SCAN_BACK, and has folded those
// between: one after the other, so that the bits do not depend on which one was found. The last block that is done clears all states.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $EXTENTS
    $SCAN_SHARED
    $SCAN_BACK_SHARED
    __shared__ unsigned turn, found, missing;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, run = 32 * warp + 31 - lane;
    const long long tiles = a.chunks, all_tiles = $KEPT_SIZE * tiles;
    unsigned *const states = a.tickets + 2;
    if (threadIdx.x == 0) {
        turn = atomicAdd(a.tickets, 1u);
    }
    __syncthreads();
    const long long me = turn, before_me = me % tiles;
    const $INDEX o = ($INDEX)(me / tiles), first = ($INDEX)before_me * $SCAN_TILE;
    $KEPT_POSITION
    $SCAN_CARRIES
    $SCAN_LOAD
    __syncthreads();
    $SCAN_RUNS
    __syncthreads();
    $SCAN_TOTALS
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
    $SCAN_PREFIXES
    __syncthreads();
    $SCAN_STORE
    if (threadIdx.x == 0) {
        __threadfence();
        turn = atomicInc(a.tickets + 1, (unsigned)(all_tiles - 1)) == (unsigned)(all_tiles - 1);
    }
    __syncthreads();
    if (turn != 0) {
        __threadfence();
        for (long long i = threadIdx.x; i < all_tiles; i += 256) {
            states[i] = 0;
        }
        if (threadIdx.x == 0) {
            a.tickets[0] = 0;
        }
    }
}
