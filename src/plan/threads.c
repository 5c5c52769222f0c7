/* What threads of a GPU have of a map, of a reduction along rows and of short rows; and how many there are. */
#include "plan/kernel.h"
#include "plan/schedule.h"
#include "plan/vector.h"

#define TEAM_VECTORS 8 /* that a thread loads at once, where warps share a chunk and do little with it */
#define STORING_VECTORS 16 /* where it stores elements as well: the longer the runs, the less often memory turns from reading to writing (value, mean and maximum of f32 on an H200 0.913 of a copy's speed, with 32 0.921, of f64 0.931 and 0.911; but in two thirds of the time to compile) */
#define STORING_BYTES 256
#define PAIR_VECTORS 16 /* where it only reads, of two places of an array: 1.2 times as fast; of more, the caches that serve them twice overflow (five points 0.24) */
#define PAIR_BYTES 128
#define LONG_BODY 32 /* instructions of all rounds */
#define LONG_LOOK_UP 96 /* where a map looks elements up: most of these are of places (three-dimensional arrays with elements around 0.171 ms of an H200 with 64, 0.143 so) */
#define STAGED_AT_ONCE 16 /* elements of staged rows in vectors, that a thread has */
#define RECORD_TURNS 2 /* of vectors that are records of bytes; 4: 6 % faster, and twice as long to compile */

int krf__lane_vectors(const krf__kernel *k) { return k->vector < KRF__LANES / 32 ? KRF__LANES / 32 / k->vector : 1; }

/* Whether it takes longer to add an element than to load it: to 64-bit accumulators, converted. More loads are under way then. */
static bool widens(const krf__kernel *k) {
    const bool narrow = 16 / k->vector < 8; /* elements in memory */
    bool any = false;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        const krf_dtype dtype = (krf_dtype)k->instrs[k->n_domain + r].dtype;
        any |= krf__dtype(dtype)->kind == KRF__KIND_REAL && krf_dtype_size(dtype) == 8;
    }
    return any && narrow && !krf__short_rows(k);
}

/* Whether threads load a byte or two at a time, of one operand. More loads are under way then, too. */
static bool is_narrow(const krf__kernel *k) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        bytes += krf__loads(k, i) && !k->operands[i].counts ? krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
    }
    return k->vector == 1 && bytes > 0 && bytes <= 2 && (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW) && !krf__costly_domain(k);
}

/* What a thread has of a staged row that is only reduced. Nothing is kept of an element, so that a thread that has the whole row needs no other's help. Longer ones are
 * shared by more threads where these only add them up: then it is shared memory that takes long, of whose banks they ask for other words. */
static int most_elements(const krf__kernel *k) {
    const uint32_t words = krf__accumulator_words_before(k, k->n_reductions);
    if (krf__costly_domain(k) || words > 4 || (k->reduced_size > 32 && k->n_domain + k->n_reductions <= 2)) {
        return 9;
    }
    return k->reduced_size <= 32 && words <= 2 ? 32 : 17;
}

/* Whether a row has so few vectors more than a power of two that threads with two each would have little to do, and half as many with three do. */
static bool three_vectors(const krf__kernel *k) {
    const int64_t vectors = k->reduced_size / k->vector;
    int64_t power = 1;
    while (2 * power < vectors) {
        power *= 2;
    }
    return vectors > power && 2 * vectors <= 3 * power && power > 1;
}

/* What a thread has of a row whose length is known, in vectors, at most: neighbours read more of a line of memory, the fewer those are. */
static int most_vectors(const krf__kernel *k) {
    if (k->lines > 1) {
        return KRF__LINE_ELEMENTS;
    }
    if (k->vector > 1) {
        return k->staged ? (k->fours ? 2 : 1) * STAGED_AT_ONCE / k->vector : three_vectors(k) ? 3 : 2;
    }
    return k->schedule == KRF__REDUCE_SHORT ? most_elements(k) : k->staged ? 9 : 8;
}

static int threads_of_literal(const krf__kernel *k) {
    int threads = 1;
    if (k->outer) {
        return krf__outer_threads(k);
    }
    while (threads < 32 && (int64_t)threads * most_vectors(k) * k->vector < k->reduced_size) {
        threads *= 2;
    }
    return threads;
}

/* Whether an operand has other elements in each row: what all rows share comes from caches, and is no load to be under way. */
static bool has_rows_of_its_own(const krf__kernel *k) {
    bool found = false;
    for (uint32_t i = 0; i < k->n_operands && k->kept_size > 1; i++) {
        found |= krf__along_rows(k, i) && !krf__same_for_rows(k, &k->operands[i]);
    }
    return found;
}

/* What a thread loads at once of a chunk that warps share; no more than its share of it. */
static int team_vectors(const krf__kernel *k, int share, int loads, int bytes) {
    const bool stores = krf__stores_elements(k), more = !krf__costly_domain(k) && (stores || (loads == 2 && !k->spread));
    int vectors = (krf__costly_domain(k) ? 1 : TEAM_VECTORS) * share;
    for (bool twice = more; twice;) {
        const int64_t turn = 2 * vectors * k->vector * (32 * (int64_t)k->team);
        const int most = stores ? STORING_VECTORS : PAIR_VECTORS;
        twice = 2 * vectors <= most && 2 * vectors * bytes <= (stores ? STORING_BYTES : PAIR_BYTES) && turn <= k->chunk;
        vectors *= twice ? 2 : 1;
    }
    return vectors;
}

/* A row of two or three times what the canonical tree's lanes are comes at once: nothing is asked then of what lies beyond its end. */
static int vectors_of_row(const krf__kernel *k, int share, int vectors) {
    enum { MOST_AT_ONCE = 3 };
    const int64_t times = k->reduced_size / KRF__LANES;
    const bool even = times * share % vectors == 0;
    return k->reduced_size % KRF__LANES == 0 && !even && times <= MOST_AT_ONCE ? (int)times * share : vectors;
}

/* Whether a tile could be longer than a chunk, whose elements are counted. */
static bool chunks_are_short(const krf__kernel *k) { return k->chunks > 1 && !k->drifts && (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW); }

int krf__reduce_vectors(const krf__kernel *k) {
    const int share = krf__lane_vectors(k) / k->team;
    int turns = widens(k) || is_narrow(k) || (k->schedule == KRF__REDUCE_ALL && k->vector == 16) ? 2 : 1;
    const bool streams = has_rows_of_its_own(k);
    int loads = 0, bytes = 0;
    if (krf__literal_rows(k)) {
        const int together = threads_of_literal(k) * k->vector;
        return ((int)k->reduced_size + together - 1) / together;
    }
    if (k->schedule == KRF__ROW_SHORT) { /* the same for all rounds; long bodies are not written out more often than need be */
        return share > 4 || k->n_instrs > LONG_BODY ? share : 4;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const bool load = !k->operands[i].counts && krf__loads(k, i) && !(streams && krf__same_for_rows(k, &k->operands[i]));
        loads += load;
        bytes += load ? (int)krf_dtype_size((krf_dtype)k->operands[i].dtype) * k->vector : 0;
    }
    loads = k->n_reductions > 1 && bytes / 16 > 0 && bytes / 16 < loads ? bytes / 16 : loads; /* of 16 bytes: masks beside what they choose from are little, where blocks are few */
    if (k->relay) {
        return (int)(k->chunk / (KRF__RUNNERS * KRF__LANES));
    }
    if (k->team > 1) {
        return team_vectors(k, share, loads, bytes);
    }
    turns = k->spread && k->vector > 1 && bytes == k->vector * loads ? RECORD_TURNS : turns;
    int vectors = turns * (k->vector == 1 || loads == 0 || loads * share >= 4 ? share : 4 / (loads * share) * share);
    while (k->drifts && vectors > share && vectors / 2 * 32 * k->vector >= k->reduced_size + k->vector) {
        vectors /= 2;
    }
    while (k->schedule == KRF__REDUCE_ROW && k->chunks == 1 && bytes <= 2 * k->vector * loads && vectors > share && vectors % 2 == 0 && (int64_t)vectors / 2 * 32 * k->vector >= k->reduced_size) {
        vectors /= 2;
    }
    while (chunks_are_short(k) && vectors > share && vectors * 32 * k->vector > k->chunk) {
        vectors /= 2;
    }
    return k->schedule == KRF__REDUCE_ROW && k->chunks == 1 && !k->drifts && k->vector <= 8 ? vectors_of_row(k, share, vectors) : vectors;
}

int krf__short_threads(const krf__kernel *k) {
    if (krf__literal_rows(k)) {
        return threads_of_literal(k);
    }
    const int most = krf__reduce_vectors(k), each = k->staged || most < 2 ? most : 2; /* neighbours read more of a line of memory, the fewer vectors they have */
    int threads = each * k->vector >= k->reduced_size ? 1 : 2;
    while (threads > 1 && threads < 32 && (int64_t)threads * each * k->vector < k->reduced_size) {
        threads *= 2;
    }
    return threads;
}

/* Small blocks, of which a multiprocessor has many: some load rows while others compute or store theirs. */
int krf__short_block(const krf__kernel *k) {
    const int block = k->staged ? 128 : 256;
    return krf__literal_rows(k) ? block / 2 : block;
}

int krf__staged_turns(const krf__kernel *k) {
    const int64_t elements = krf__short_block(k) / krf__short_threads(k) * k->reduced_size; /* of a turn */
    size_t widest = 1, narrowest = 16;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const size_t bytes = k->operands[i].staged ? krf_dtype_size((krf_dtype)k->operands[i].dtype) : 1;
        widest = bytes > widest ? bytes : widest;
        narrowest = k->operands[i].staged && bytes < narrowest ? bytes : narrowest;
    }
    if (!krf__literal_rows(k)) {
        return elements < KRF__STAGED_ELEMENTS ? (int)(KRF__STAGED_ELEMENTS / elements) : 1;
    }
    const int64_t most = KRF__STAGED_LITERAL_BYTES / (int64_t)widest, turns = most / elements, n = turns * elements * 5 < most * 4 ? turns + 1 : turns;
    const bool words = k->schedule == KRF__ROW_SHORT || narrowest <= 2; /* sums of f32 are up to a fourth slower so */
    int64_t whole = 1; /* so many are whole words of 16 bytes: else every other block moves element by element (softmax of rows of 255 f32 0.0891 -> 0.0795 ms) */
    while (words && whole < 16 && whole * elements * (int64_t)narrowest % 16 != 0) {
        whole *= 2;
    }
    return (int)(n < whole ? whole : (n + whole / 2) / whole * whole);
}

/* Blocks that threads side by side leave: as many beside each other, and under each other one a lane of chunks. */
static int64_t blocks_of_columns(const krf__kernel *k, int threads) {
    const int64_t lanes = k->chunks < KRF__LANES ? k->chunks : KRF__LANES, columns = (int64_t)threads * k->vector;
    return (k->kept_size + columns - 1) / columns * lanes;
}

/* Columns that would fit beside one another are left to two blocks, as far as each has a line of memory: while one is at a chunk's tree the others load. Columns of a few thousand elements leave few blocks where these are wide: half a line of memory beside each other is enough then (an H200 sums [4096, 1024] f32 in 0.0049 ms so, not 0.0104, exponentials of it in 0.0058, not 0.0174;
 * twice as many blocks are slower where rows begin within lines). */
int krf__column_threads(const krf__kernel *k, const krf__limits *limits) {
    enum { LINE = 8, MOST = 128, LEAST_BYTES = 64, ENOUGH = 256 }; /* threads whose vectors are a line of memory; columns of a block; blocks */
    const int64_t enough = limits->blocks < ENOUGH ? limits->blocks : ENOUGH;
    const int64_t bytes = (int64_t)k->vector * (int64_t)krf__narrowest(k);
    int threads = 1;
    while (threads < 32 && threads * k->vector < MOST && (int64_t)threads * k->vector * (k->vector > 1 && threads >= LINE ? 2 : 1) < k->kept_size) {
        threads *= 2;
    }
    while (threads > KRF__COLUMN_TOGETHER && threads * bytes >= 2 * LEAST_BYTES && blocks_of_columns(k, threads) < enough) {
        threads /= 2;
    }
    return threads;
}

int krf__column_levels(const krf__kernel *k) {
    int n = 0;
    for (int lanes = krf__column_each(k); lanes > KRF__COLUMN_TOGETHER; lanes /= 2) {
        n++;
    }
    return n;
}

/* What is computed for an element, but for what makes places of 64 bits narrow, and wide again. */
static uint32_t body_length(const krf__kernel *k) {
    uint32_t n = k->n_instrs;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        const krf__instr *s = &k->instrs[i];
        n -= s->op == KRF__cast && ((s->dtype == KRF_I32 && s->from == KRF_I64) || (s->dtype == KRF_I64 && s->from == KRF_I32));
    }
    return n;
}

int krf__fetches(const krf__kernel *k) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        n += k->instrs[i].op == KRF__fetch;
    }
    return n;
}

bool krf__looks_up(const krf__kernel *k) { return krf__map_each(k) > 1 && krf__fetches(k) > 0; }

int krf__map_each(const krf__kernel *k) {
    if (k->across) {
        return (int)k->extents[0];
    }
    if (k->schedule != KRF__MAP || (k->vector > 1 && !k->several)) {
        return 1;
    }
    const uint32_t length = body_length(k), most = krf__fetches(k) > 0 ? LONG_LOOK_UP : LONG_BODY;
    return length > most ? 1 : (length > most / 2 ? 2 : 4) / (k->vector > 2 ? 2 : 1);
}

/* Whether an accumulator takes two registers. Of such columns, in the canonical order, the registers hold all that is under way, and have no room for what two places to wait take. */
static bool accumulates_wide(const krf__kernel *k) {
    bool wide = false;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        wide |= krf_dtype_size((krf_dtype)k->instrs[k->n_domain + r].dtype) == 8;
    }
    return wide;
}

/* What stores elements as well has none under way before its loop, but where warps share chunks. */
bool krf__gains_ahead(const krf__kernel *k) {
    const bool reduces = k->schedule == KRF__REDUCE_ALL || (k->schedule == KRF__REDUCE_COL && (krf__any_order(k) || (!accumulates_wide(k) && !k->copied)));
    return (reduces && (!krf__stores_elements(k) || k->team > 1)) || (k->schedule == KRF__ROW && (k->cluster > 1 || krf__row_share(k) > 1)) || krf__map_each(k) > 1;
}
