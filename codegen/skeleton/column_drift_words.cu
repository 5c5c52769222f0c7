// As column_words.cu, by words that lie on borders, wherever a row begins.
{
    const int word = thread % 8, g = thread / 8 % 4, down = word / ($COLUMN_THREADS / 4) - (int)threadIdx.y % (32 / $COLUMN_THREADS);
    int beside;
    $COLUMN_WORD_BESIDE
    const $INDEX at = from - beside + word % ($COLUMN_THREADS / 4) * 4 * $VECTOR, i0 = at < until ? at : from - beside;
    #pragma unroll $AHEAD_UNROLL
    for (int u = 0; u < $AHEAD_STEPS; u++) {
        const $INDEX i1 = start + down + u * 256 + (g % 2 * 128 + g / 2 * 64);
        if (i1 < end) {
            $AHEAD_WORD
        }
    }
}
