/* Facts that follow from a planned kernel: the canonical tree's chunks, stride classes, scratch, and the bytes it must move. */
#include "plan/kernel.h"

#include "base/mem.h"
#include "plan/raw_call.h"

#include <string.h>

#define LONG_BODY 32 /* instructions of all rounds */

int64_t krf__chunk_length(int64_t n) {
    int log2 = n <= 1 ? 0 : 64 - __builtin_clzll((unsigned long long)(n - 1));
    int chunk = log2 - 12;
    return (int64_t)1 << (chunk < 10 ? 10 : chunk > 14 ? 14 : chunk);
}

bool krf__any_order(const krf__kernel *k) {
    bool exact = k->n_reductions > 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        const krf__instr *i = &k->instrs[k->n_domain + r];
        exact &= krf__dtype((krf_dtype)i->dtype)->kind != KRF__KIND_REAL && i->op != KRF__fold;
    }
    return exact;
}

/* The byte that is loaded, cast and multiplied by itself; else NULL. */
static const krf__instr *squared_byte(const krf__kernel *k, const krf__instr *product) {
    const krf__instr *cast = &k->instrs[product->args[0]], *load = cast->op == KRF__cast ? &k->instrs[cast->args[0]] : cast;
    const bool squared = product->op == KRF__multiply && product->args[0] == product->args[1];
    return squared && load->op == KRF__load && krf_dtype_size((krf_dtype)load->dtype) == 1 ? load : NULL;
}

bool krf__narrow_sum(const krf__kernel *k, uint32_t r) {
    const krf__instr *i = &k->instrs[k->n_domain + r], *value = &k->instrs[i->args[0]];
    const bool integers = krf__dtype((krf_dtype)value->from)->kind != KRF__KIND_REAL && krf__dtype((krf_dtype)i->dtype)->kind != KRF__KIND_REAL;
    const bool narrow = krf_dtype_size((krf_dtype)value->from) < 4 || (value->op == KRF__cast && squared_byte(k, &k->instrs[value->args[0]]) != NULL);
    return k->schedule != KRF__SCAN && i->op == KRF__sum && value->op == KRF__cast && integers && narrow && krf_dtype_size((krf_dtype)value->dtype) == 8;
}

krf__bytes_fold krf__bytes_fold_of(const krf__kernel *k, uint32_t r, const krf__instr **load) {
    const krf__instr *i = &k->instrs[k->n_domain + r], *value = &k->instrs[i->args[0]], *inner = value->op == KRF__cast ? &k->instrs[value->args[0]] : value, *squared = squared_byte(k, inner);
    const bool found = i->op == KRF__max || i->op == KRF__min || i->op == KRF__any || i->op == KRF__all;
    *load = squared != NULL ? squared : inner;
    if ((*load)->op != KRF__load || krf_dtype_size((krf_dtype)(*load)->dtype) != 1 || k->operands[(*load)->slot].counts) {
        return KRF__BYTES_OTHER;
    }
    if (krf__narrow_sum(k, r)) {
        return squared != NULL ? KRF__BYTES_SQUARES : KRF__BYTES_SUM;
    }
    return found && value == *load && k->schedule != KRF__SCAN ? KRF__BYTES_TOP : KRF__BYTES_OTHER;
}

static bool loaded_in_domain(const krf__kernel *k, uint32_t operand) {
    for (uint32_t n = 0; n < k->n_domain; n++) {
        if ((k->instrs[n].op == KRF__load || k->instrs[n].op == KRF__fetch) && k->instrs[n].slot == operand) {
            return true;
        }
    }
    return false;
}

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
        bytes += loaded_in_domain(k, i) && !k->operands[i].counts ? krf_dtype_size((krf_dtype)k->operands[i].dtype) : 0;
    }
    return k->vector == 1 && bytes > 0 && bytes <= 2 && (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW) && !krf__costly_domain(k);
}

bool krf__literal_rows(const krf__kernel *k) { return krf__short_rows(k) && (k->literal >> k->n_kept & 1) != 0; }
bool krf__literal_chunk(const krf__kernel *k) { return (k->schedule == KRF__ROW || k->schedule == KRF__ROW_COL) && (k->literal >> k->n_kept & 1) != 0; }

bool krf__costly(const krf__instr *i) {
    if (i->op == KRF__call || i->op == KRF__fold_map) {
        return krf__result_of(i->value)->op->costly;
    }
    return krf__op_is_costly((krf__op)i->op, krf__dtype((krf_dtype)i->from)->kind);
}

bool krf__costly_domain(const krf__kernel *k) {
    bool any = false;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        any |= krf__costly(&k->instrs[i]);
    }
    return any;
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
    if (k->vector > 1) {
        return three_vectors(k) ? 3 : 2;
    }
    return k->schedule == KRF__REDUCE_SHORT ? most_elements(k) : k->staged ? 9 : 8;
}

static int threads_of_literal(const krf__kernel *k) {
    int threads = 1;
    while (threads < 32 && (int64_t)threads * most_vectors(k) * k->vector < k->reduced_size) {
        threads *= 2;
    }
    return threads;
}

int krf__reduce_vectors(const krf__kernel *k) {
    const int share = krf__lane_vectors(k) / k->team, turns = widens(k) || is_narrow(k) ? 2 : 1;
    int loads = 0;
    if (krf__literal_rows(k)) {
        const int together = threads_of_literal(k) * k->vector;
        return ((int)k->reduced_size + together - 1) / together;
    }
    if (k->schedule == KRF__ROW_SHORT) { /* the same for all rounds; long bodies are not written out more often than need be */
        return share > 4 || k->n_instrs > LONG_BODY ? share : 4;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        loads += !k->operands[i].counts && loaded_in_domain(k, i);
    }
    if (k->team > 1) {
        return share;
    }
    int vectors = turns * (k->vector == 1 || loads == 0 || loads * share >= 4 ? share : 4 / (loads * share) * share);
    while (k->drifts && vectors > share && vectors / 2 * 32 * k->vector >= k->reduced_size + k->vector) {
        vectors /= 2;
    }
    return vectors;
}

const char *krf__schedule_name(krf__schedule schedule) {
    static const char *const names[KRF__SCHEDULE_COUNT] = {"map", "reduce_all", "reduce_row", "reduce_short", "reduce_col", "scan", "row", "row_short", "row_col", "tile", "raw"};
    return (unsigned)schedule < KRF__SCHEDULE_COUNT ? names[schedule] : "?";
}

bool krf__short_rows(const krf__kernel *k) { return k->schedule == KRF__REDUCE_SHORT || k->schedule == KRF__ROW_SHORT; }

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
    size_t widest = 1;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const size_t bytes = k->operands[i].staged ? krf_dtype_size((krf_dtype)k->operands[i].dtype) : 1;
        widest = bytes > widest ? bytes : widest;
    }
    const int64_t most = krf__literal_rows(k) ? KRF__STAGED_LITERAL_BYTES / (int64_t)widest : KRF__STAGED_ELEMENTS, turns = most / elements;
    return turns < 1 ? 1 : krf__literal_rows(k) && turns * elements * 5 < most * 4 ? (int)turns + 1 : (int)turns;
}

/* 16 elements a thread, as long as there are threads for it. */
int krf__side_threads(const krf__kernel *k) { return k->length <= 16 ? 1 : k->length < 512 ? k->length / 16 : 32; }

int krf__side_elements(const krf__kernel *k) {
    const int threads = krf__side_threads(k);
    return krf__literal_chunk(k) ? ((int)k->reduced_size + threads - 1) / threads : k->length / threads;
}

int krf__side_lanes(const krf__kernel *k) {
    const int lanes = KRF__LANES / krf__side_threads(k), elements = krf__side_elements(k);
    return elements < lanes ? elements : lanes;
}

int krf__row_warps(const krf__kernel *k) {
    int warps = 1;
    while (warps < k->chunks) {
        warps *= 2;
    }
    return warps;
}

/* Small blocks: rows side by side wait for each other, and make room for others together. */
int krf__row_rows(const krf__kernel *k) {
    if (k->schedule == KRF__ROW_COL) {
        return k->columns;
    }
    return krf__row_warps(k) < 4 && k->cluster == 1 ? 4 / krf__row_warps(k) : 1;
}

int krf__row_threads(const krf__kernel *k) {
    const int of_row = k->schedule == KRF__ROW_COL ? krf__side_threads(k) : 32 * krf__row_warps(k) / k->cluster;
    return of_row * krf__row_rows(k);
}

bool krf__holds_rows(const krf__kernel *k) {
    bool any = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        any |= k->operands[i].held;
    }
    return any;
}

uint32_t krf__held_words(const krf__kernel *k, uint32_t operand) {
    const uint32_t elements = 16 / (uint32_t)krf_dtype_size((krf_dtype)k->operands[operand].dtype);
    return k->operands[operand].held ? (uint32_t)k->chunk / elements + (k->vector == 1) : 0;
}

uint32_t krf__held_of_warp(const krf__kernel *k) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        words += krf__held_words(k, i);
    }
    return words;
}

uint32_t krf__held_bytes(const krf__kernel *k) { return 16 * krf__held_of_warp(k) * (uint32_t)krf__row_threads(k) / 32; }

bool krf__scan_is_small(const krf__kernel *k) {
    enum { PLAIN = 16 /* instructions */ };
    return k->n_reductions == 1 && krf_dtype_size((krf_dtype)k->instrs[k->n_domain].dtype) <= 4 && krf__accumulator_words(k, 0) == 1 && k->n_instrs < PLAIN;
}

/* Blocks that wait for one another need others beside them: half the threads leave shared memory for more tiles. */
int krf__scan_threads(const krf__kernel *k) { return k->chunks > 1 && krf__scan_is_small(k) ? KRF__LANES / 2 : KRF__LANES; }

int krf__scan_runs(const krf__kernel *k) {
    int runs = k->chunks > 1 || k->side ? KRF__LANES : 1;
    while (runs < KRF__LANES && (int64_t)runs * KRF__SCAN_RUN < k->reduced_size) {
        runs *= 2;
    }
    return runs;
}

int krf__column_threads(const krf__kernel *k) {
    enum { LINE = 8, MOST = 128 }; /* threads whose vectors are a line of memory; columns of a block */
    int threads = 1;
    while (threads < 32 && threads * k->vector < MOST && (int64_t)threads * k->vector * (k->vector > 1 && threads >= LINE ? 2 : 1) < k->kept_size) {
        threads *= 2;
    }
    return threads;
}

bool krf__scans_columns(const krf__kernel *k) {
    bool along = false, across = false;
    for (uint32_t i = 0; i < k->n_operands && k->schedule == KRF__SCAN && k->n_kept > 0 && k->n_reduced > 0; i++) {
        along |= krf__stride_class(k, &k->operands[i], k->n_kept + k->n_reduced - 1) == 1;
        across |= krf__stride_class(k, &k->operands[i], k->n_kept - 1) == 1;
    }
    return across && !along;
}

bool krf__scans_alone(const krf__kernel *k) {
    enum { RUNS = 4 };
    return k->schedule == KRF__SCAN && k->side && k->reduced_size <= RUNS * KRF__SCAN_RUN;
}

uint32_t krf__chain_words(const krf__kernel *k) { return (1 + 2 * krf__accumulator_words_before(k, k->n_reductions) + 7) / 8 * 8; }

bool krf__scans_beside(const krf__kernel *k) { return k->schedule == KRF__SCAN && (k->side || k->columns > 0); }

int64_t krf__scan_rows(const krf__kernel *k) { return krf__scans_beside(k) ? KRF__SCAN_COLUMNS : krf__scans_columns(k) ? k->extents[k->n_kept - 1] : 1; }

bool krf__is_map(const krf__kernel *k) { return k->schedule == KRF__MAP || k->schedule == KRF__TILE; }

/* What is computed for an element, but for what makes places of 64 bits narrow, and wide again. */
static uint32_t body_length(const krf__kernel *k) {
    uint32_t n = k->n_instrs;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        const krf__instr *s = &k->instrs[i];
        n -= s->op == KRF__cast && ((s->dtype == KRF_I32 && s->from == KRF_I64) || (s->dtype == KRF_I64 && s->from == KRF_I32));
    }
    return n;
}

int krf__map_each(const krf__kernel *k) {
    if (k->across) {
        return (int)k->extents[0];
    }
    return k->schedule != KRF__MAP || k->vector > 1 || body_length(k) > LONG_BODY ? 1 : body_length(k) > LONG_BODY / 2 ? 2 : 4;
}

int krf__stride_class(const krf__kernel *k, const krf__operand *o, int dim) {
    (void)k;
    return o->strides[dim] == 0 ? 0 : o->strides[dim] == 1 ? 1 : o->half && o->strides[dim] == 2 ? 3 : 2;
}

uint32_t krf__kernel_rounds(const krf__kernel *k) { return k->n_rounds > 0 ? k->n_rounds : 1; }

krf__kernel krf__kernel_round(const krf__kernel *k, uint32_t r) {
    krf__kernel round = *k;
    if (k->n_rounds == 0) {
        return round;
    }
    const krf__round *from = &k->rounds[r];
    round.instrs = k->instrs + from->first;
    round.n_instrs = from->n_instrs;
    round.n_domain = from->n_domain;
    round.n_reductions = from->n_reductions;
    round.n_rounds = 0;
    return round;
}

bool krf__same_for_rows(const krf__kernel *k, const krf__operand *o) {
    bool same = true;
    for (int d = 0; d < k->n_kept; d++) {
        same &= o->strides[d] == 0;
    }
    return same;
}

int krf__rounds_with(const krf__kernel *k, uint32_t operand) {
    int n = 0;
    for (uint32_t r = 0; r < krf__kernel_rounds(k); r++) {
        const krf__kernel round = krf__kernel_round(k, r);
        n += loaded_in_domain(&round, operand);
    }
    return n;
}

uint32_t krf__accumulator_words(const krf__kernel *k, uint32_t r) {
    const krf__instr *i = &k->instrs[k->n_domain + r];
    if (!krf__op_is_fold((krf__op)i->op)) {
        return 1;
    }
    return (uint32_t)krf__result_of(i->value)->op->map->n_results; /* none takes more than 8 bytes */
}

uint32_t krf__accumulator_words_before(const krf__kernel *k, uint32_t r) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < r; i++) {
        words += krf__accumulator_words(k, i);
    }
    return words;
}

size_t krf__accumulator_bytes(const krf__kernel *k) {
    size_t bytes = 0;
    for (uint32_t r = 0; r < k->n_reductions; r++) {
        size_t size = krf__any_order(k) && krf__narrow_sum(k, r) ? 4 : krf_dtype_size((krf_dtype)k->instrs[k->n_domain + r].dtype);
        bytes += (size < 4 ? 4 : size) * krf__accumulator_words(k, r);
    }
    return bytes;
}

static bool has_few_accumulators(const krf__kernel *k) { return krf__accumulator_words_before(k, k->n_reductions) <= 4; }

int krf__column_most(const krf__kernel *k) { return has_few_accumulators(k) ? 4 * KRF__COLUMN_SIDE : KRF__COLUMN_SIDE; }

int krf__column_side(const krf__kernel *k) {
    const int most = krf__column_most(k);
    return k->kept_size <= most && k->chunks >= KRF__COLUMN_CHUNKS ? most : KRF__COLUMN_SIDE;
}

/* At least 10 times as many as a lane has results: the tree has 9 levels. */
int krf__column_held(const krf__kernel *k) { return has_few_accumulators(k) ? 16384 : 8192; }

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Of rounds: every row's values, then the partial results of the round that has most. */
static size_t rounds_scratch(const krf__kernel *k) {
    size_t most = 0;
    for (uint32_t r = 0; r < k->n_rounds; r++) {
        size_t partials = k->chunks > 1 ? (size_t)k->chunks * k->rounds[r].n_reductions : 0;
        most = partials > most ? partials : most;
    }
    return (size_t)k->kept_size * (k->n_inner + most) * 8;
}

size_t krf__scratch_bytes(const krf__kernel *k) {
    if (k->n_rounds > 0) {
        return rounds_scratch(k);
    }
    if (k->chained) {
        return (size_t)(k->kept_size * k->chunks) * krf__chain_words(k) * 8;
    }
    if (k->schedule == KRF__SCAN && k->columns == KRF__SCAN_COLUMNS) { /* of the CPU: columns of their own to the end */
        return 0;
    }
    if (k->schedule == KRF__SCAN && k->side && k->chunks > 1) {
        const int64_t words = 2 * divide_up(k->reduced_size, KRF__SCAN_TILE) + divide_up(k->reduced_size, KRF__SCAN_SHARE);
        return (size_t)(k->kept_size * words) * krf__accumulator_words_before(k, k->n_reductions) * 8;
    }
    const size_t each = k->schedule == KRF__SCAN ? 16 : 8; /* of scans, also what comes before */
    return k->n_reductions == 0 || k->chunks <= 1 || k->schedule == KRF__REDUCE_ROW ? 0 : (size_t)(k->kept_size * k->chunks) * krf__accumulator_words_before(k, k->n_reductions) * each;
}

size_t krf__ticket_count(const krf__kernel *k) {
    if (k->n_reductions == 0 || k->chunks <= 1 || (k->side && k->schedule != KRF__SCAN) || k->schedule == KRF__REDUCE_ROW) {
        return 0;
    }
    if (k->schedule == KRF__SCAN) {
        const int64_t tiles = divide_up(k->reduced_size, KRF__SCAN_TILE), groups = divide_up(tiles, KRF__SCAN_GROUP), shares = k->side ? divide_up(k->reduced_size, KRF__SCAN_SHARE) : 0;
        const int64_t done = k->side ? tiles * divide_up(k->kept_size, k->columns) : 0; /* by blocks, of their tiles */
        return 2 + (size_t)(done + done % 2) + 2 * (size_t)(k->kept_size * (shares + tiles + groups)); /* a word of each */
    }
    return (size_t)(k->schedule == KRF__REDUCE_COL ? (k->kept_size + 31) / 32 : k->kept_size);
}

/* The elements that an operand names, and the places between which they lie. */
static int64_t elements_of(const krf__kernel *k, const krf__operand *o, int64_t *low, int64_t *high) {
    int64_t n = 1;
    *low = *high = o->offset;
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        n *= o->strides[d] == 0 ? 1 : k->extents[d];
        *(o->strides[d] < 0 ? low : high) += o->strides[d] * (k->extents[d] - 1);
    }
    return n;
}

/* Of all operands in the memory of operand i, once, where i is the first of them. */
static int64_t elements_read(const krf__kernel *k, uint32_t i) {
    int64_t sum = 0, first = INT64_MAX, last = INT64_MIN, low, high;
    for (uint32_t j = 0; j < k->n_operands; j++) {
        const krf__operand *o = &k->operands[j];
        if (o->store || o->counts || o->inner != 0 || o->buffer != k->operands[i].buffer) {
            continue;
        }
        if (j < i) {
            return 0;
        }
        sum += elements_of(k, o, &low, &high);
        first = low < first ? low : first;
        last = high > last ? high : last;
    }
    return sum == 0 || sum < last - first + 1 ? sum : last - first + 1; /* windows overlap: an element is read once */
}

void krf__kernel_bytes(const krf__kernel *k, int64_t *read, int64_t *written) {
    int64_t low, high;
    *read = *written = 0;
    if (k->raw != NULL) {
        krf__raw_bytes(k->raw, read, written);
        return;
    }
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        int64_t bytes = (int64_t)krf_dtype_size((krf_dtype)o->dtype);
        if (o->inner != 0) {
            continue;
        }
        if (o->store) {
            *written += bytes * elements_of(k, o, &low, &high);
        } else if (!o->counts) {
            *read += bytes * elements_read(k, i);
        }
    }
}

const char *krf__kernel_symbol(const krf__kernel *k) { return k->raw != NULL ? k->raw->raw->name : k->name; }

void krf__kernel_free(krf__kernel *k) {
    krf__raw_call_free(k->raw);
    krf__mem_free(k->operands);
    krf__mem_free(k->scalars);
    krf__mem_free(k->instrs);
    for (uint32_t i = 0; i < k->n_ops; i++) {
        krf__op_release(k->ops[i]);
    }
    krf__mem_free((void *)k->ops);
    krf__mem_free(k->key);
    krf__mem_free(k->expression);
    memset(k, 0, sizeof *k);
}
