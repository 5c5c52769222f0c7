// Scans of longer rows, in a single pass: a block a tile, or two that follow one another, in the order in which blocks start; of rows that lie side by side in memory, one tile of each after the other. A tile says what its elements come to as soon as it knows, and
// the last one of a group of 32 what the group comes to (state 1), and then what all up to its end come to (state 2). What comes before a tile is looked up in
// what others said, and folded in the order of docs/architecture.md, whoever said it. The last block that has found its own clears all states.
$HEADER
extern "C" __global__ void __launch_bounds__($SCAN_BOUNDS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    const int thread = threadIdx.x % $SCAN_THREADS, team = threadIdx.x / $SCAN_THREADS, lane = thread % 32, warp = thread / 32, run = 32 * warp + 31 - lane;
    $SCAN_SHARED
    $SCAN_BACK_SHARED
    __shared__ unsigned turn;
    const int rows = (int)$KEPT_SIZE, tiles = (int)a.chunks, of_row = $SCAN_OF_ROW, all_tiles = rows * tiles, groups = (tiles + 31) / 32, all_groups = rows * groups;
    unsigned *const states = a.tickets + 2;
    {
        const int number = (int)blockIdx.x;
        const $INDEX o = ($INDEX)($SCAN_ROW), first = ($INDEX)($SCAN_PART) * $SCAN_TILE;
        $KEPT_POSITION
        $SCAN_AHEAD
    }
    if (threadIdx.x == 0) {
        turn = atomicAdd(a.tickets, 1u);
    }
    __syncthreads();
    const int number = (int)turn, row = $SCAN_ROW, before_me = $SCAN_PART, me = row * tiles + before_me;
    const int group = before_me / 32, my_group = row * groups + group, ahead = before_me % 32;
    const $INDEX o = ($INDEX)row, first = ($INDEX)before_me * $SCAN_TILE;
    $KEPT_POSITION
    $SCAN_CARRIES
    $SCAN_LOAD
    __syncthreads();
    $SCAN_RUNS
    __syncthreads();
    $SCAN_TOTALS
    $SCAN_LOOK_BACK
    // who comes here has read all states that it needs, as what they said led here; and what it said of its tile was read by those that it led there. What it said
    // of its group may be on its way
    unsigned done = 0;
    if (threadIdx.x == 0) {
        if (ahead == $SCAN_LAST) {
            __threadfence();
        }
        done = atomicInc(a.tickets + 1, (unsigned)(rows * of_row - 1));
    }
    $SCAN_PREFIXES
    __syncthreads();
    $SCAN_STORE
    if (threadIdx.x == 0) {
        turn = done == (unsigned)(rows * of_row - 1);
    }
    __syncthreads();
    if (turn != 0) {
        __threadfence();
        #pragma unroll 1
        for (long long i = threadIdx.x; i < $SCAN_WORDS * ((long long)all_tiles + all_groups); i += $SCAN_BLOCK) {
            krf_forget(states + i);
        }
        if (threadIdx.x == 0) {
            krf_forget(a.tickets);
        }
    }
}
