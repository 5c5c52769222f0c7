// Elements [first, last) of a tile of a chunk, of which a block has all tiles at once: all is loaded before any of it is stored, and the lanes go from one tile's threads to the next one's.
$ACCUMULATORS
$INDEX p = first;
$REDUCE_FIRST_LOADS
$WAIT_TO_STORE_ELEMENTS
__syncthreads();
if (threadIdx.x == blockDim.x - 1) {
    next_chunk = ($INDEX)(gridDim.x + atomicInc(a.tickets + kept + o, (unsigned)a.chunks - 1));
}
#pragma unroll 1
for (int turn = 0; turn < $RUNNERS; turn++) {
    if (turn == runner) {
        if (turn > 0) {
            $RELAY_TAKE
        }
        $TILE_WHOLE
        #pragma unroll
        for (int q = 0; q < $QUADS; q++) {
            const bool valid = $TILE_VALID;
            $REDUCE_VECTORS
            #pragma unroll
            for (int k = 0; k < $TURNS; k++) {
                $REDUCE_BODY
            }
            $REDUCE_STORES
        }
        $RELAY_GIVE
    }
    __syncthreads();
}
$WARP_TREE
