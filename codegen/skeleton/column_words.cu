// As column_copies.cu by words of 16 bytes: of each element of a lane, eight threads copy a row of their warp's columns, whose 32 threads are of one place under each other.
{
    const int g = (int)threadIdx.x / 8;
    const $INDEX o = (($INDEX)blockIdx.x * 32 + (int)threadIdx.x % 8 * 4) * $VECTOR, i0 = o + 4 * $VECTOR <= $KEPT_SIZE ? o : $KEPT_SIZE - 4 * $VECTOR;
    #pragma unroll $AHEAD_UNROLL
    for (int u = 0; u < $AHEAD_STEPS; u++) {
        const $INDEX place = start + u * 256 + (g % 2 * 128 + g / 2 * 64), i1 = place < end ? place : end - 1;
        $AHEAD_WORD
    }
}
