// As column_copies.cu by words of 16 bytes: of each element of a lane, eight threads copy what their warp has of it, a row of its columns or several that lie under each other.
{
    const int word = thread % 8, g = thread / 8 % 4, down = word / ($COLUMN_THREADS / 4) - (int)threadIdx.y % (32 / $COLUMN_THREADS);
    const $INDEX o = (($INDEX)blockIdx.x * $COLUMN_THREADS + word % ($COLUMN_THREADS / 4) * 4) * $VECTOR, i0 = o + 4 * $VECTOR <= $KEPT_SIZE ? o : $KEPT_SIZE - 4 * $VECTOR;
    #pragma unroll $AHEAD_UNROLL
    for (int u = 0; u < $AHEAD_STEPS; u++) {
        const $INDEX place = start + down + u * 256 + (g % 2 * 128 + g / 2 * 64), i1 = place < end ? place : end - 1;
        $AHEAD_WORD
    }
}
