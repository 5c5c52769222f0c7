// Rows begin anywhere within a word of memory, those of a thread's lanes alike: it takes words on borders, whose columns are others than those of threads above and below it. A block has columns [from, until); what else lies in
// its first and last words is anything.
const $INDEX from = ($INDEX)blockIdx.x * $COLUMN_TILE, until = $KEPT_SIZE - from < $COLUMN_TILE ? $KEPT_SIZE : from + $COLUMN_TILE;
int beside;
$COLUMN_BESIDE
$INDEX at = from - beside + ($INDEX)threadIdx.x * $VECTOR;
bool inside = at < until;
