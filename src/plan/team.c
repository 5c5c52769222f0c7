/* Which reductions of a GPU have chunks that several warps share, and how their threads find their elements. */
#include "plan/schedule.h"
#include "plan/vector.h"

#include <string.h>

#define MANY_CHUNKS 256
#define LONG_CHUNK 16384 /* 64 KiB of f32 are under way on a multiprocessor by one block */
#define MANY_SPREAD 2048
#define MOST_SPREAD 40 /* bytes of accumulators */
#define NEAR 1024 /* elements: what the caches of a multiprocessor have for each warp; */
#define FAR (1 << 20) /* and what that of the whole GPU has of chunks under way */
#define MANY_DOUBLES 3 /* functions of f64: arithmetic, not memory, is the limit then however little is loaded at once */
#define MOST_STEPPED 3 /* loads of an element: with more, what the caches deliver is the limit, and one place that depends on another takes longer */

static bool has_places(const krf__kernel *k, uint32_t operand) {
    const krf__operand *o = &k->operands[operand];
    return krf__loads(k, operand) && !o->store && !o->gathered && !o->counts;
}

/* Whether views of one array lie some rows apart, so that what a warp reads it reads again later in its chunk. As all chunks are under way at once, it is in no cache any more by then; of chunks that warps share
 * fewer are, one after the other. */
static bool reads_again(const krf__kernel *k) {
    bool found = false;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        for (uint32_t j = 0; j < i && !found; j++) {
            const krf__operand *a = &k->operands[i], *b = &k->operands[j];
            const int64_t apart = a->offset > b->offset ? a->offset - b->offset : b->offset - a->offset;
            found = has_places(k, i) && has_places(k, j) && a->buffer == b->buffer && apart >= NEAR && apart <= FAR && memcmp(a->strides, b->strides, sizeof a->strides) == 0;
        }
    }
    return found;
}

/* What stores elements as well goes over memory in fewer places at once so: 1.03 times as fast with elements of 4 bytes, which threads then move one at a time. Shorter chunks than these take longer to meet than to
 * read (value and sum of 4M f32 0.0206 ms of an H200, 0.0085 by a warp a chunk; of 8M 0.0254 and 0.0190); so do those of 32M elements or less of which caches keep what is read again (squares of differences of rows of 4M 0.0176 and 0.0048,
 * of 16M 0.0281 and 0.0178, of 32M 0.0454 and 0.0329, but of 64M 0.0762 and 0.1179). */
bool krf__shares_chunks(const krf__kernel *k, const krf__limits *limits) {
    if (k->chunks < MANY_CHUNKS || krf__costly_domain(k)) {
        return false;
    }
    return krf__stores_elements(k) ? krf__narrowest(k) >= 4 && k->chunk >= limits->relay : k->chunk >= limits->again && reads_again(k);
}

/* Whether there are chunks enough for blocks, of what was spread. A lane of each result takes fewer registers than eight (means of columns of f32 1.02 to 1.2 times as fast, of bf16 1.1 to 1.4; var, whose accumulators are more, 0.88). */
static bool shares_spread(const krf__kernel *k) { return k->spread && k->vector == 1 && k->chunks > MANY_SPREAD && krf__accumulator_bytes(k) <= MOST_SPREAD && !krf__costly_domain(k); }

/* Functions of f64 an element. */
static int doubles_of(const krf__kernel *k) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        n += krf__costly(&k->instrs[i]) && krf_dtype_size((krf_dtype)k->instrs[i].dtype) == 8;
    }
    return n;
}

bool krf__takes_long(const krf__kernel *k) { return k->chunks >= MANY_CHUNKS && doubles_of(k) >= MANY_DOUBLES; }

/* Where an element takes long, as functions of f64 do, another lane of a thread is more text and no speed: warps share the lanes of a chunk. So they do where that keeps memory in the caches. */
int krf__team_of(const krf__kernel *k, const krf__limits *limits) {
    return k->schedule == KRF__REDUCE_ALL && (doubles_of(k) > 0 || krf__shares_chunks(k, limits) || shares_spread(k)) && !krf__any_order(k) ? krf__lane_vectors(k) : 1;
}

/* Of what a thread of a relay loads at once; what is computed of 8 bytes needs twice as many registers (sums and sums of squares of f64 spill). */
static int64_t relay_bytes(const krf__kernel *k) {
    const int64_t each = k->chunk / (KRF__RUNNERS * KRF__LANES);
    int64_t bytes = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const int64_t size = (int64_t)krf_dtype_size((krf_dtype)k->operands[i].dtype);
        bytes += krf__loads(k, i) ? each * size * (size > 4 ? 2 : 1) : 0;
    }
    return bytes;
}

/* Elements that are stored each time. */
static int stores_of(const krf__kernel *k) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        n += k->instrs[i].op == KRF__store;
    }
    return n;
}

int krf__relay_blocks(const krf__kernel *k) {
    enum { MOST_BYTES = 64, MOST_LANES = 8, LONG_BODY = 12 }; /* in 32 registers */
    const bool small = relay_bytes(k) * stores_of(k) <= MOST_BYTES && krf__accumulator_bytes(k) <= MOST_LANES && k->n_domain <= LONG_BODY;
    return k->chunk < LONG_CHUNK && small ? 2 : 1;
}

/* Whether a block has a chunk at once, and takes the next one that no other has: what is read and written at a time is one stretch of memory then, which it goes over as it does of a map (a map of 64M f32 by blocks that each go on along 64 KiB
 * of their own has 0.90 of a copy's speed, by such that have them at once 0.99, and by those that have a vector a thread 1.01, which the canonical tree does not allow here). Value, mean and maximum of 64M f32 0.1404 -> 0.1354 ms
 * of an H200, of 256M 0.559 -> 0.525. Not of many results, which blocks would not share evenly; nor of what computes long, looks elements up or finds places by dividing, for while one team does that three wait. */
bool krf__goes_by_relay(const krf__kernel *k, const krf__limits *limits) {
    enum { MOST_BYTES = 128, LONG_BODY = 32, MOST_LANES = 40, MOST_RESULTS = 16, MANY = 3 }; /* in registers, of which 1,024 threads have 64 each */
    const bool shares = k->schedule == KRF__REDUCE_ALL && 32 * k->team == KRF__LANES && k->vector == 1 && krf__stores_elements(k) && k->kept_size <= MOST_RESULTS;
    const bool is_short = k->n_domain <= LONG_BODY && !krf__costly_domain(k) && krf__fetches(k) == 0 && k->n_reduced == 1 && !k->spread;
    return shares && is_short && krf__accumulator_bytes(k) <= MOST_LANES && k->chunk >= limits->relay && relay_bytes(k) <= (stores_of(k) < MANY ? MOST_BYTES : MOST_BYTES / 2);
}

static int loads_of(const krf__kernel *k) {
    int n = 0;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        n += has_places(k, i);
    }
    return n;
}

/* Bytes have loops of their own. Rows that are longer than a step end once in it at most. */
void krf__mark_steps(krf__kernel *k) {
    const int last = k->n_kept + k->n_reduced - 1;
    const bool shared = k->team > 1 && k->vector == 1 && !krf__costly_domain(k) && !krf__stores_elements(k);
    k->tiles = shared && krf__narrowest(k) > 1 && !k->whole && k->chunk >= 32 * (int64_t)k->team * krf__reduce_vectors(k);
    k->steps = k->tiles && k->n_reduced == 2 && k->extents[last] >= KRF__LANES && loads_of(k) <= MOST_STEPPED;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        k->operands[i].places_of = 0;
        for (uint32_t j = 0; j < i && k->steps && has_places(k, i) && k->operands[i].places_of == 0; j++) {
            const bool same = has_places(k, j) && k->operands[j].places_of == 0 && memcmp(k->operands[i].strides, k->operands[j].strides, sizeof k->operands[i].strides) == 0;
            k->operands[i].places_of = (uint16_t)(same ? j + 1 : 0);
        }
    }
}
