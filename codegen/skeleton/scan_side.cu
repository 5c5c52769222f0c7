// Scans of columns side by side that are too few for blocks to go down each to its end: as in scan_long.cu, in a single pass, by the shares that warps have of tiles. A block has
// $SIDE_COLUMNS columns by $SIDE_ROWS elements; its threads read neighbours of memory and fold a run each, then each of its warps has a share of one column. A share says what it comes to
// to the shares of its tile, the last of them what the tile does, and so on. The last block of a tile clears what its shares said, the last of all blocks the rest.
$HEADER
extern "C" __global__ void __launch_bounds__(512, $SIDE_BLOCKS) $NAME(const struct krf_arguments a) {
    $BEGIN
    $EXTENTS
    $SIDE_SHARED
    $SIDE_BACK_SHARED
    __shared__ unsigned turn;
    const int column = threadIdx.x % $SIDE_COLUMNS, run = threadIdx.x / $SIDE_COLUMNS, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = (warp / $SIDE_COLUMNS * 32 + 31 - lane) * $SIDE_PITCH + warp % $SIDE_COLUMNS, finder = run / 32 * $SIDE_COLUMNS + column;
    const int rows = (int)$KEPT_SIZE, across = (rows + $SIDE_COLUMNS - 1) / $SIDE_COLUMNS, parts = (int)a.chunks;
    const int shares = (int)(($REDUCED_SIZE + 511) / 512), tiles = (shares + 7) / 8, groups = (tiles + 31) / 32;
    const int all_shares = rows * shares, all_tiles = rows * tiles, all_groups = rows * groups;
    unsigned *const done = a.tickets + 2, *const states = done + (tiles * across + 1) / 2 * 2;
    if (threadIdx.x == 0) {
        turn = atomicAdd(a.tickets, 1u);
    }
    __syncthreads();
    const int number = (int)turn, side = number % across, part = number / across, tile_of = part / ($SIDE_COLUMNS / 2);
    const $INDEX first = ($INDEX)part * $SIDE_ROWS, at = ($INDEX)side * $SIDE_COLUMNS + column, o = at < $KEPT_SIZE ? at : $KEPT_SIZE - 1;
    const bool inside = at < $KEPT_SIZE;
    $KEPT_POSITION
    $SIDE_RUNS
    __syncthreads();
    $SIDE_WARP
    const int row = side * $SIDE_COLUMNS + warp % $SIDE_COLUMNS, share = part * (16 / $SIDE_COLUMNS) + warp / $SIDE_COLUMNS;
    if (row < rows && share < shares) {
        $SIDE_LOOK_BACK
    }
    __syncthreads();
    // who comes here has read all states that it needs, as in scan_long.cu
    unsigned last = 0;
    if (threadIdx.x == 0) {
        if (tile_of % 32 == 31) {
            __threadfence();
        }
        const int left = parts - tile_of * ($SIDE_COLUMNS / 2), others = (left < $SIDE_COLUMNS / 2 ? left : $SIDE_COLUMNS / 2) - 1;
        if (atomicInc(done + tile_of * across + side, (unsigned)others) == (unsigned)others) {
            __threadfence(); // what others said before they counted is there for whoever counts last
            last = atomicInc(a.tickets + 1, (unsigned)(tiles * across - 1)) == (unsigned)(tiles * across - 1) ? 2 : 1;
        }
    }
    $SIDE_CARRY
    $SIDE_PREFIXES
    $SIDE_STORE
    if (threadIdx.x == 0) {
        turn = last;
    }
    __syncthreads();
    if (turn != 0) {
        __threadfence();
        #pragma unroll 1
        for (int i = threadIdx.x; i < 8 * $SIDE_COLUMNS * $SCAN_WORDS; i += 512) {
            const int cleared = side * $SIDE_COLUMNS + i / (8 * $SCAN_WORDS), word = tile_of * 8 * $SCAN_WORDS + i % (8 * $SCAN_WORDS);
            if (cleared < rows && word < shares * $SCAN_WORDS) {
                krf_forget(states + $SCAN_WORDS * ((long long)all_tiles + all_groups + cleared * shares) + word);
            }
        }
    }
    if (turn == 2) {
        #pragma unroll 1
        for (long long i = threadIdx.x; i < $SCAN_WORDS * ((long long)all_tiles + all_groups); i += 512) {
            krf_forget(states + i);
        }
        if (threadIdx.x == 0) {
            krf_forget(a.tickets);
        }
    }
}
