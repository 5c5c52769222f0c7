// Long reductions: a warp a chunk, or several that share it, chunks of a result over blocks. The block that finishes a result last combines the
// chunks' partial results in the order of the canonical tree; its ticket counts itself back to zero. A block that has a
// result to itself needs neither memory nor ticket, but lanes that are no chunk come to the identity.
$HEADER
extern "C" __global__ void __launch_bounds__($REDUCE_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $OPTION
    $EXTENTS
    $SHARED
    __shared__ bool last_block;
    $TEAM_SHARED
    $TEAM_PLACE
    const long long kept = $KEPT_SIZE;
    const bool alone = gridDim.x == 1 && a.chunks <= 256;
    if ($SPLIT && alone) {
        #pragma unroll 1
        for (int n = (int)a.chunks + (int)threadIdx.x; n < 256; n += (int)blockDim.x) {
            $SHARED_NOTHING
        }
    }
    #pragma unroll 1
    for ($INDEX o = blockIdx.y; o < $KEPT_SIZE; o += gridDim.y) {
        $KEPT_POSITION
        #pragma unroll 1
        for ($INDEX c = ($INDEX)blockIdx.x * teams + team; $TEAM_GOES_ON; $TEAM_NEXT) {
            $TEAM_BOUNDS
            $WARP_CHUNK
            $WAIT_TO_STORE
            $NEXT_MAY_FOLLOW
            if ($TEAM_ENDS) {
                $CHUNK_DONE
            }
        }
        $WAIT_TO_STORE
        if (!$SPLIT) {
            continue;
        }
        int lanes = (int)a.chunks;
        __syncthreads();
        $NEXT_MAY_COME
        if (!alone) {
            if (threadIdx.x == 0) {
                last_block = krf_ticket(a.tickets + o, gridDim.x - 1) == gridDim.x - 1;
            }
            __syncthreads();
            lanes = last_block ? 256 : 0;
            if (last_block) {
                $BLOCK_COMBINE
            }
        }
        if (threadIdx.x < 32 && lanes > 0) {
            $BLOCK_TREE
            if (threadIdx.x == 0) {
                $RESULTS
            }
        }
        __syncthreads();
    }
}
