// Narrow elements, by words. A thread reads words of as many rows as a word has elements, and so holds small squares; their columns are the words that it puts into
// shared memory. There word c of row r lies in place c ^ r / $VECTOR: threads that write a column, and those that read a row, are at different banks.
$WORD_SHARED
const int x = threadIdx.x % $WORDS, y = threadIdx.x / $WORDS;
$TILE_POSITION
$WORD_LOADS
$WORD_FILL
__syncthreads();
$WORD_START
#pragma unroll
for (int q = 0; q < $WORD_TURNS; q++) {
    if (q * $WORD_ROWS < left) {
        $WORD_VECTORS
        $MAP_BODY
        $WORD_STORES
    }
    $WORD_NEXT
}
