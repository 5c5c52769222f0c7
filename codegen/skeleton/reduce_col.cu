// Results that lie side by side: 32 results by 8 groups of lanes a block. A thread visits its 32 lanes in bit-reversed
// order, so that the canonical tree needs one partial result a level; the 8 groups meet in shared memory.
$HEADER
extern "C" __global__ void __launch_bounds__(256) $NAME(const struct krf_arguments a) {
    $EXTENTS
    $SHARED
    __shared__ bool last_block;
    const long long kept = $KEPT_SIZE;
    const $INDEX at = ($INDEX)blockIdx.x * 32 + threadIdx.x, o = at < $KEPT_SIZE ? at : $KEPT_SIZE - 1;
    const bool inside = at < $KEPT_SIZE;
    $KEPT_POSITION
    for ($INDEX c = blockIdx.y; c < ($INDEX)a.chunks; c += gridDim.y) {
        const $INDEX first = c * ($INDEX)a.chunk;
        const $INDEX last = $REDUCED_SIZE - first < ($INDEX)a.chunk ? $REDUCED_SIZE : first + ($INDEX)a.chunk;
        $COLUMN_CHUNK
        if (inside && threadIdx.y == 0) {
            $CHUNK_DONE
        }
    }
    if (!$SPLIT) {
        return;
    }
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence();
        last_block = atomicInc(a.tickets + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
    }
    __syncthreads();
    if (last_block) {
        __threadfence();
        $COLUMN_COMBINE
        if (inside && threadIdx.y == 0) {
            $RESULTS
        }
    }
}
