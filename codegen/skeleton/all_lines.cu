// As reduce_all.cu, where operands are each the same along the last dimension of the results or along the row: a warp has $LINES results at once, and loads what they share once.
$HEADER
extern "C" __global__ void __launch_bounds__($LINES_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $LINES_SHARED
    __shared__ bool last_block;
    $TEAM_PLACE
    const long long kept = $KEPT_SIZE;
    const bool alone = gridDim.x == 1 && a.chunks <= 256;
    if (alone) {
        #pragma unroll 1
        for (int line = 0; line < $LINES; line++) {
            $LINES_OWN
            #pragma unroll 1
            for (int n = (int)a.chunks + (int)threadIdx.x; n < 256; n += (int)blockDim.x) {
                $SHARED_NOTHING
            }
        }
    }
    #pragma unroll 1
    for ($INDEX group = blockIdx.y; group < $LINES_GROUPS; group += gridDim.y) {
        $LINES_BEGIN
        #pragma unroll 1
        for ($INDEX c = ($INDEX)blockIdx.x * teams + team; $TEAM_GOES_ON; c += ($INDEX)gridDim.x * teams) {
            $TEAM_BOUNDS
            $LINES_CHUNK
            $WAIT_TO_STORE
            $NEXT_MAY_FOLLOW
            const int line = thread / $LINE_THREADS;
            const $INDEX o = base + line;
            if (thread % $LINE_THREADS == 0 && o < end) {
                $LINES_OWN
                $CHUNK_DONE
            }
        }
        $WAIT_TO_STORE
        int lanes = (int)a.chunks;
        __syncthreads();
        $NEXT_MAY_COME
        if (!alone) {
            if (threadIdx.x == 0) {
                last_block = krf_ticket(a.tickets + base, gridDim.x - 1) == gridDim.x - 1;
            }
            __syncthreads();
            lanes = last_block ? 256 : 0;
            #pragma unroll 1
            for (int line = 0; line < $LINES && base + line < end && last_block; line++) {
                const $INDEX o = base + line;
                $LINES_OWN
                $BLOCK_COMBINE
            }
        }
        #pragma unroll 1
        for (int line = team; line < $LINES && base + line < end && lanes > 0; line += teams) {
            const $INDEX o = base + line;
            $KEPT_POSITION
            $LINES_OWN
            $BLOCK_TREE
            if (thread == 0) {
                $RESULTS
            }
        }
        __syncthreads();
    }
}
