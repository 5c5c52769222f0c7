$TILE_SHARED
const int x = threadIdx.x % $TILE_SIDE, y = threadIdx.x / $TILE_SIDE;
$TILE_POSITION
$TILE_LOADS
$TILE_FILL
__syncthreads();
$TILE_START
$TILE_UNROLL
for (int q = 0; q < $TILE_TURNS; q++) {
    $TILE_ELEMENT
    if (inside) {
        $MAP_BODY
        $MAP_STORES
    }
    $TILE_NEXT
}
