// Rows that follow one another without a gap: 256 of them are one stretch of memory, an element of each lane of all columns. Threads have $FLAT_VECTORS vectors of it, and go on by such stretches, of which the next ones are
// under way. Teams of a block have a chunk each of the lane of chunks that is the block's; the block that comes last does the same again, with what all found for elements.
const int at = thread, k = 0;
const bool inside = at < $KEPT_SIZE;
bool again = false, begun = false;
$INDEX c = 0, step = 0;
$FLAT_TOTALS
$COLUMN_START
$FLAT_DECLARED
#pragma unroll 1
for (;;) {
    const bool on = begun && step + 256 * $FLAT_STEPS < ($INDEX)a.chunk;
    const $INDEX next_c = on ? c : begun ? c + gridDim.y * blockDim.y : blockIdx.y, next_step = on ? step + 256 * $FLAT_STEPS : 0;
    const bool more = !again && next_c < ($INDEX)a.chunks;
    $FLAT_DECLARED_NEXT
    if (more) {
        const $INDEX own = next_c + threadIdx.y * gridDim.y, from = next_step;
        $FLAT_BOUNDS
        $FLAT_LOAD
    }
    if ($SPLIT && again) {
        $FLAT_FOUND
    } else if (begun) {
        const $INDEX own = c + threadIdx.y * gridDim.y, from = step;
        $FLAT_BOUNDS
        $FLAT_ELEMENTS
    }
    if (begun && !on) {
        $FLAT_HALVES
        __syncthreads();
        $FLAT_PUT
        $FLAT_TREE
        __syncthreads();
        #pragma unroll 1
        for (int team = 0; inside && team < (again ? 1 : (int)blockDim.y) && c + team * ($INDEX)gridDim.y < ($INDEX)a.chunks; team++) {
            $FLAT_FOLD
        }
        $FLAT_CLEAR
    }
    if (more) {
        $FLAT_MOVE
        c = next_c;
        step = next_step;
        begun = true;
        continue;
    }
    $WAIT_TO_STORE
    if (!$SPLIT || again) {
        break;
    }
    if (inside) {
        $COLUMN_DONE
    }
    $COLUMN_TICKET
    again = true;
    c = blockIdx.y;
    step = ($INDEX)a.chunk;
}
if (inside) {
    const $INDEX o = at;
    $KEPT_POSITION
    $COLUMN_RESULTS
}
