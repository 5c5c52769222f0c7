// Results that lie side by side: up to 32 threads beside each other, each with a vector of columns, and under each other 8
// or more that share the 256 lanes of a column. A thread visits its lanes in bit-reversed order, so that the canonical
// tree needs one partial result a level; the groups meet in shared memory. Chunks go to blocks as to lanes: 256 at most.
$HEADER
extern "C" __global__ void __launch_bounds__($COLUMN_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $COLUMN_SHARED
    __shared__ bool last_block;
    const long long kept = $KEPT_SIZE;
    const int thread = threadIdx.y * $COLUMN_THREADS + threadIdx.x;
    const $INDEX place = (($INDEX)blockIdx.x * $COLUMN_THREADS + ($INDEX)threadIdx.x) * $VECTOR;
    const bool inside = place < $KEPT_SIZE;
    const $INDEX at = inside ? place : $KEPT_SIZE - $VECTOR;
    $COLUMN_TOTALS
    {
        const $INDEX o = at;
        $KEPT_POSITION
        for ($INDEX c = blockIdx.y; c < ($INDEX)a.chunks; c += gridDim.y) {
            const $INDEX first = c * ($INDEX)a.chunk;
            const $INDEX last = $REDUCED_SIZE - first < ($INDEX)a.chunk ? $REDUCED_SIZE : first + ($INDEX)a.chunk;
            $COLUMN_CHUNK
        }
    }
    if ($SPLIT) {
        if (inside && threadIdx.y == 0) {
            for (int k = 0; k < $VECTOR; k++) {
                $COLUMN_DONE
            }
            __threadfence();
        }
        __syncthreads();
        if (thread == 0) {
            __threadfence();
            last_block = atomicInc(a.tickets + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
        }
        __syncthreads();
        if (!last_block) {
            return;
        }
        __threadfence();
        $COLUMN_COMBINE
    }
    if (inside && threadIdx.y == 0) {
        for (int k = 0; k < $VECTOR; k++) {
            const $INDEX o = at + k;
            $KEPT_POSITION
            $COLUMN_RESULTS
        }
    }
}
