/* A planned kernel: one loop nest over collapsed dimensions, a straight-line body, and where its operands lie. What codegen prints, what the
 * interpreter runs, and what launch packs arguments for. Holds no pointer into the graph.
 *
 * The domain has n_kept dimensions (those of the results), then n_reduced ones; a map has no reduced ones. Both groups are collapsed jointly over
 * all operands; each group has at least one dimension where it exists (extent 1 if need be). Reduced dimensions keep the order as written.
 *
 * The body is in three parts: instructions [0, n_domain) run for every element of the domain; [n_domain, n_domain + n_reductions) are the
 * reductions; the rest runs once for every element of the result, on reduced values and on operands that have kept strides only.
 * A load stands in the part it belongs to. A map has the first part only.
 *
 * A kernel of several rounds (schedules KRF__ROW, KRF__ROW_SHORT and KRF__ROW_COL, whose rows lie side by side in memory as columns do) goes over each row again and again: each round is such a body, its instructions numbered from its own first
 * one, and either reduces or, as a map, stores elements of the domain. What a round computes for a row reaches later ones through operands that are `inner`.
 *
 * A map whose operands do not agree on the dimension in which they are contiguous (a sum of an array and a transposed one) is of schedule KRF__TILE: it is
 * computed square by square of the two dimensions.
 *
 * A kernel of schedule KRF__RAW is the user's own: it has operands, in no order, and neither dimensions nor a body.
 *
 * A scan is a kernel whose reductions are scans along its one reduced dimension: the rest runs for every element of the domain then. */
#ifndef KRF_PLAN_KERNEL_H
#define KRF_PLAN_KERNEL_H

#include "ir/defined.h"
#include "base/strbuf.h"

typedef enum krf__schedule {
    KRF__MAP,
    KRF__REDUCE_ALL,
    KRF__REDUCE_ROW,
    KRF__REDUCE_SHORT,
    KRF__REDUCE_COL,
    KRF__SCAN,
    KRF__ROW,
    KRF__ROW_SHORT,
    KRF__ROW_COL,
    KRF__TILE,
    KRF__RAW,
    KRF__SCHEDULE_COUNT
} krf__schedule;
const char *krf__schedule_name(krf__schedule schedule);

#define KRF__MAX_KERNEL_DIMS (KRF_MAX_RANK + 1)

/* One array argument; or, `counts`, an array that lies in no memory: an element's value is its own place, offset + index . strides, as i64. */
typedef struct krf__operand {
    uint8_t dtype;
    bool store;
    bool counts;
    bool numbers;     /* CUDA, maps: counts the fields of a record from 0, whose number is text: compilers know which field a vector's element is */
    bool gathered;    /* read by fetch instructions: a place of it is offset + index . strides + what the instruction says */
    bool half;        /* the real or the imaginary parts of complex elements: every second element of memory */
    uint16_t inner;   /* 0; else 1 + the number of a value that the kernel keeps for each row: an element of no memory. Strides: as of an array in C order */
    bool aligned;     /* the element at offset lies on a 16-byte border, and so does every vector of it (see krf__kernel.vector). Counting: the first place
                       * of every vector is a multiple of its length; only known where numbers are drawn. Flat columns: it lies as their rows do, whatever its vectors' length */
    bool loose;       /* CUDA, maps and columns: vectors of it begin anywhere: narrow ones are taken out of the two in which they lie, others, and of columns that drift all, are loaded element by element */
    bool turned;      /* CUDA, krf__kernel.flat: such vectors lie backwards */
    uint16_t record;  /* maps, and reductions that were spread: 1 + the operand that has the first of the fields that lie side by side in memory, of which this has one; 0: none do. There are as many as that one's stride. On the CPU of what is stored alone */
    uint16_t rows_of, row; /* strips: 1 + the operand whose rows it reads too, `row` of them further on; 0: its own */
    int16_t element;  /* strips by words, and taps of windows: where its first element lies behind the beginning of the word in which the first of those rows' operand lies */
    uint8_t fixed;    /* maps: 1 + the dimension along which its stride, of a few elements, is text: compilers see records */
    uint16_t beside; int16_t apart; /* CUDA's reductions, the CPU's maps: 1 + an operand that lies in memory as it does, `apart` elements before it; 0: none */
    uint16_t places_of; /* krf__kernel.steps: 1 + an operand whose elements lie as far from its first one; 0: none before it does */
    bool held;        /* CUDA: blocks have rows, or their parts of one, in shared memory */
    bool staged;      /* a row that passes through shared memory: rows follow one another without a gap */
    uint32_t buffer;  /* index into the plan's buffers */
    int64_t offset;   /* elements from the buffer's element (0, ..., 0) */
    int64_t strides[KRF__MAX_KERNEL_DIMS]; /* elements, per kernel dimension; 0 on reduced dimensions of what lives in the third part */
} krf__operand;

/* One by-value argument. */
typedef struct krf__kernel_scalar {
    uint8_t dtype;
    uint32_t source;  /* index into the plan's scalars */
} krf__kernel_scalar;

typedef struct krf__instr {
    uint16_t op;       /* krf__op: load, fetch, store, constant, scalar, cast, an elementwise function, or a reduction */
    uint8_t dtype;     /* of the result; store: of the operand */
    uint8_t from;      /* the dtype it computes in: of the operands (where: of B and C); cast: of the operand */
    uint32_t args[3];  /* instructions */
    uint32_t slot;     /* load, fetch, store: operand; scalar: scalar */
    uint64_t value;    /* constant: raw bits; call: the krf__result; fetch: how places follow one another (plan/runs.c), or 0 */
} krf__instr;

enum { KRF__FETCH_STEPS = 1, KRF__FETCH_ROWS = 2, KRF__FETCH_WINDOWS = 3, KRF__FETCH_REPEATS = 256 }; /* places that follow one another; one from which a row goes on; places that follow one another from anywhere on, but at ends, on a GPU; and, with the number added, each so many times, on the CPU */

/* A round: its instructions are instrs + first, n_instrs of them. */
typedef struct krf__round {
    uint32_t first, n_instrs, n_domain, n_reductions;
} krf__round;

#define KRF__MAX_ROUNDS 8

typedef struct krf__kernel {
    krf__schedule schedule;
    int n_kept, n_reduced;
    int64_t extents[KRF__MAX_KERNEL_DIMS]; /* kept, then reduced */
    int64_t kept_size, reduced_size;       /* products; reduced_size 1 for a map */

    uint32_t n_operands, n_scalars, n_instrs;
    uint32_t n_domain, n_reductions; /* of the only round; 0 where there are several */
    uint32_t n_rounds, n_inner;      /* 0 where there is only one */
    krf__round rounds[KRF__MAX_ROUNDS];
    krf__operand *operands;
    krf__kernel_scalar *scalars;
    krf__instr *instrs;
    uint32_t n_ops;
    const krf_op **ops;              /* what users define and this kernel calls; retained */

    /* The canonical tree (docs/architecture.md): elements of a reduction are taken in chunks of `chunk`, `chunks` of them. */
    int64_t chunk, chunks;

    /* Shape class: what the text depends on besides the body. */
    int vector;    /* elements a 16-byte access moves along the fast dimension; of tiles, a word of 4 bytes along each of both; of strips, a word of up to 16; 1: none */
    bool rest;     /* reductions by vectors: elements may be left after the last whole one; always so with one chunk */
    bool drifts;   /* CUDA, reductions: rows begin anywhere within a vector of memory, and end within one; threads take the vectors of memory, and of them what belongs to the row, or to their columns (plan/column_drift.c) */
    bool words;    /* CUDA, KRF__ROW: rows that begin anywhere, as above. A warp's vectors are the words of memory that end in its chunk; what is left of that behind the last whole one goes element by element */
    bool whole;    /* reductions on a GPU: no element of a tile, or of a row's chunk, is beyond the last; of flat columns, none of a vector */
    bool early;    /* CUDA: it may begin before the one that it depends on has ended, and waits for that */
    bool ahead;    /* then: its argument `apart` says that the one before writes nothing that it reads; it loads first then, and waits before it writes */
    bool backwards; /* KRF__MAP on a GPU: blocks go over memory from its end, where the kernel before them in the plan has just been */
    bool wide;     /* indices need 64 bits */
    bool fast;     /* KRF_MATH_FAST */
    int chunks_each; /* KRF__ROW on a GPU, rows that lie in shared memory: chunks of a warp, which follow one another; a power of two. Elsewhere 1, or not set */
    int cluster;   /* KRF__ROW and KRF__ROW_COL on a GPU: how many blocks share a row; of KRF__ROW a power of two */
    int team;      /* KRF__REDUCE_ALL on a GPU: how many warps share a chunk, each with as many of the 256 lanes; 1: a warp has 8 lanes a thread */
    bool spread;   /* KRF__REDUCE_ALL on a GPU: its reductions are those of a handful of results (plan/spread.c) */
    bool copied;   /* CUDA, KRF__REDUCE_COL: elements are copied to shared memory ahead of the sums (plan/copies.c); */
    bool copied_words; /* and by words of 16 bytes */
    bool relay;    /* then: a block has a chunk at once, its teams KRF__RUNNERS tiles of it, and the 256 lanes go from one to the next */
    bool tiles;    /* such a chunk is gone over by whole tiles, and what is left of it element by element */
    bool steps;    /* then: threads go on from an element to their next by a step, along rows of two dimensions, rather than find each place by dividing */
    bool several;  /* CUDA, a map that looks elements up: a thread has several vectors of two or four, as maps have several elements that come one by one */
    bool once;     /* CUDA: of KRF__REDUCE_ROW a row is no longer than what a warp loads at once; so the tile of a team with `relay` */
    bool places;   /* CUDA, KRF__REDUCE_ROW: what it finds is the place of the largest or smallest element of each row (plan/place.c) */
    bool along;    /* reductions over several dimensions on a GPU, by whole tiles: each lies in one row of the last dimension, whose place is found once for all elements of the tile */
    uint32_t literal; /* a bit for each dimension whose extent is text */
    int columns, length; /* KRF__ROW_COL: rows that a block (CPU: a tile) has side by side, and elements of each that it has room for (CPU: in a chunk); powers of two. `columns` of KRF__SCAN with `side` likewise, and on the CPU, where that many columns go row by row; 0: others */
    int each;      /* KRF__ROW_COL on a GPU: elements that a thread has of a row, where that has fewer than 32 threads */
    int abreast;   /* CUDA, KRF__REDUCE_COL: threads of a block that lie side by side, with a vector of columns each; 1 to 32, and but for those that drift a power of two. With `flat`, those among which 256 rows go */
    int groups;    /* those that drift: threads of a block under each other, each of which has as many of the 256 lanes; a power of two */
    int flat_steps, flat_teams; bool flat_alone; /* then: how many times 256 rows a thread loads at once; teams of threads of a block, each of which has a chunk; whether a multiprocessor has one such block, not two */
    bool outer;    /* CUDA, KRF__REDUCE_SHORT and KRF__REDUCE_ROW: threads that share a row share several results, as operands are each the same along one of the last two dimensions of these */
    int lines;     /* CUDA, reductions along rows: results that a warp has at once, or, of KRF__REDUCE_SHORT, threads one after the other, as operands are each the same along the last dimension of these, or along the row; 1: one */
    bool staged;   /* CUDA: short rows that pass through shared memory */
    bool fours;    /* CUDA: short rows of bytes, which are folded by words of four as they come; */
    bool parted;   /* then: staged rows of any length, whose words lie in two of shared memory, and the last of which need not be whole */
    bool side;     /* KRF__SCAN on a GPU: blocks have columns that lie side by side, and go down them where `chunks` is 1; short rows on the CPU, scanned ones too: they stand side by side */
    bool pairs;    /* KRF__SCAN on a GPU: a block has two tiles of a row, which follow one another */
    bool chained;  /* KRF__SCAN along few long rows on the CPU: threads share a row, tile by tile */
    bool spans;    /* KRF__MAP on a GPU: operands are taps of windows (plan/span.c), those of one of which are of one krf__operand.record */
    bool flat;     /* KRF__MAP and KRF__REDUCE_COL on a GPU: vectors go on over the ends of rows (plan/flat.c, plan/flat_columns.c) */
    int64_t period; int periods; /* then, of a map: after how many vectors the elements of one have the same columns again, and how many periods a thread goes on (plan/period.c); 0: it has one vector */
    bool across;   /* KRF__MAP on a GPU: threads have all elements along the first dimension, whose extent is text */
    bool narrow;   /* the CPU's maps, columns and short rows side by side: the last dimension of the results is short, and strips go on over its end */
    int strip;     /* KRF__TILE on a GPU: elements that follow one another along `tile`, of a thread that keeps the rows they share; 0: squares */
    int layer;     /* strips: 1 + another dimension along which views of one array lie a step apart, so that a block has strips of two places along it; 0: none */
    int tile;      /* KRF__TILE: the dimension along which some loads are contiguous, while the stores are along the last one */

    struct krf__raw_call *raw; /* KRF__RAW: what the user wrote, and how it is launched (plan/raw_call.h); NULL else. Owned */

    uint8_t *key;  /* canonical bytes: dtypes, body, stride and alignment classes; equal keys have equal text */
    size_t key_bytes;
    char name[32]; /* "krf_map_0123456789abcdef": from the key */
    char *expression; /* the canonical expression, at most 200 characters */
    const char *cut;  /* why it is a kernel of its own; static text, "" for the first */
} krf__kernel;

#define KRF__LANES 256
#define KRF__RUNNERS 4 /* teams of such a block whose chunk goes from one to the next */
#define KRF__LINE_ELEMENTS 8 /* of short rows of such, that a thread has */
#define KRF__OUTER_LEAST 4 /* threads that share a short row of krf__kernel.outer; */
#define KRF__OUTER_MOST 8 /* with more a thread would have more results than registers */

/* The most that an extent may be to stand in the text of a map: divisions by it are multiplications then. */
#define KRF__LITERAL_MOST 8

/* The most fields that a record has, which compilers take apart and put together by vectors. */
#define KRF__RECORD_MOST 8

/* Rows that are staged: the elements of an operand that a block has at once, at most, and what they may take of its shared memory; and where a row's length stands in
 * the text, about how many bytes of the widest. */
#define KRF__STAGED_ELEMENTS 4096
#define KRF__STAGED_MOST_BYTES 49152
#define KRF__STAGED_LITERAL_BYTES 5120

/* Maps by tiles: the least extent of both dimensions, and the most bytes that a block may hold. */
#define KRF__TILE_LEAST 16
#define KRF__TILE_MOST_BYTES 49152

/* The CPU's tiles: what lies across is read by pieces of a row's length that are whole cache lines, more or less. Those that follow one another in dimension
 * `tile` are neighbours: what lies across is then read from one end to the other. */
#define KRF__TILE_ROWS 32
#define KRF__TILE_COLUMNS 256

/* The CPU's columns: results that a unit has side by side; where all are few, and there are chunks enough for the threads, all of them: rows that follow one another
 * without a gap are read as one. Accumulators of a reduction that it holds, those of the tree's levels among them: they lie on the thread's stack. */
#define KRF__COLUMN_SIDE 256
#define KRF__COLUMN_CHUNKS 64
int krf__column_most(const krf__kernel *k); /* results that may stay together */
int krf__column_side(const krf__kernel *k);
int krf__column_held(const krf__kernel *k);

/* Scans fold tiles of 256 runs of 16 elements from left to right (docs/architecture.md). */
#define KRF__SCAN_RUN 16
#define KRF__SCAN_TILE (KRF__LANES * KRF__SCAN_RUN)
#define KRF__SCAN_SHARE (32 * KRF__SCAN_RUN) /* of a tile, that a warp has */
#define KRF__SCAN_GROUP 32 /* tiles */
#define KRF__SIDE_COLUMNS 16 /* and warps, of a block that scans columns */
#define KRF__SCAN_COLUMNS 64 /* that a unit of krf__scans_beside has */
#define KRF__SCAN_AHEAD 8 /* rows of these, that are fetched before they are wanted */

/* Whether what lies side by side in memory is another dimension than the scanned one. Where there are enough of them, columns then go side by side (krf__kernel.side on a GPU, `columns` on the CPU). */
bool krf__scans_columns(const krf__kernel *k);

/* On the CPU: whether rows of a scan go side by side, as columns (krf__kernel.columns) or because they are short (krf__kernel.side). How many rows of a scan a unit has: those, or as many as share lines of memory and go together tile by tile; of what is no scan 1. */
bool krf__scans_beside(const krf__kernel *k);
int64_t krf__scan_rows(const krf__kernel *k);
#define KRF__SCAN_ROWS_MOST 15
#define KRF__SCAN_BESIDE 128 /* elements of such a short row, at most: a tile of KRF__SCAN_COLUMNS of them lies on the thread's stack */

/* The canonical chunk length of a reduction over n elements: a power of two between 1024 and 16384. */
int64_t krf__chunk_length(int64_t n);

/* Whether the elements of a reduction are combined in any order, as no accumulator rounds. Those that store elements as well keep the canonical tree, whose chunks the warps of a block share (team.c): integers of 4 bytes
 * 1.1 times as fast on a GPU. Of columns the largest and smallest of any dtype (f64 1.2 to 1.3 times as fast, f16 and bf16 1.03 to 1.6), but not of exponentials and the like, which are 4 % slower so. */
bool krf__any_order(const krf__kernel *k);
/* Whether it makes no difference which elements of a reduction meet first: of whole numbers, and of the largest or smallest; and whether that is so of all of a kernel. */
bool krf__order_free(const krf__instr *reduction);
bool krf__all_order_free(const krf__kernel *k);
size_t krf__narrowest(const krf__kernel *k); /* bytes of the narrowest operand's elements, 16 at most */

/* Whether reduction r adds up integers of 8 or 16 bits, or products of bytes, whose sum over a chunk fits 32 of the 64 bits of the result. */
bool krf__narrow_sum(const krf__kernel *k, uint32_t r);

/* Whether reduction r takes bytes as they are loaded, by `loads`: adds them up, or products of two of them (which may be one), or finds the largest or smallest of them (of bools, whether any is true, or all are). A GPU takes four of them at once. */
typedef enum krf__bytes_fold { KRF__BYTES_OTHER, KRF__BYTES_SUM, KRF__BYTES_PRODUCTS, KRF__BYTES_TOP } krf__bytes_fold;
krf__bytes_fold krf__bytes_fold_of(const krf__kernel *k, uint32_t r, const krf__instr *loads[2]);
bool krf__folds_bytes(const krf__kernel *k); /* whether that is all it does */

/* Whether a kernel's only reduction finds the place of the largest or smallest element that it loads, by which instruction; and whether threads may count vectors for it rather than have a key for each element. */
typedef struct krf__place {
    bool found, smallest;
    uint32_t load;
} krf__place;
krf__place krf__place_of(const krf__kernel *k);
bool krf__finds_place(const krf__kernel *k);

/* How often a block that stages rows goes on to the next ones of those that it has. */
int krf__staged_turns(const krf__kernel *k);

/* CUDA: a thread's share of the 256 lanes, 8, in vectors. One of 16 elements goes over them twice: integers, for which no order matters. */
int krf__lane_vectors(const krf__kernel *k);

/* CUDA: how many vectors of an operand a thread loads before it combines them, where rows are reduced. About four are under way then, or eight, and a warp's accumulators
 * hold the 256 lanes of the canonical tree at least once. Not for KRF__ROW, whose threads hold a chunk. */
int krf__reduce_vectors(const krf__kernel *k);

/* Whether several rows share a warp on CUDA: those of no more elements than the canonical tree has lanes. Threads of a row: a power of two, by its length. */
bool krf__short_rows(const krf__kernel *k);
int krf__short_threads(const krf__kernel *k);
int krf__short_block(const krf__kernel *k); /* threads of a block */
bool krf__literal_rows(const krf__kernel *k); /* whether their length stands in the text */
bool krf__literal_chunk(const krf__kernel *k); /* the same of KRF__ROW, whose row is one chunk then */

/* Of KRF__ROW_COL: threads among which a chunk of a row goes, element by element, a power of two; and elements of one. A block has those of krf__kernel.columns rows. */
int krf__side_threads(const krf__kernel *k);
int krf__side_elements(const krf__kernel *k);
int krf__side_lanes(const krf__kernel *k); /* of the canonical tree, that a thread has */

/* Warps that share a row in a kernel of several rounds, or of KRF__ROW_COL blocks: a chunk of the canonical tree each; a power of two. */
int krf__row_warps(const krf__kernel *k);
int krf__row_share(const krf__kernel *k); /* chunks of a warp */
int krf__row_rows(const krf__kernel *k); /* rows of a block, side by side */

/* Of KRF__ROW_COL on the CPU: whether an operand is copied into tiles of krf__kernel.columns rows, as several rounds read it. */
bool krf__copied_beside(const krf__kernel *k, uint32_t operand);
int krf__row_threads(const krf__kernel *k); /* of a block */
bool krf__holds_rows(const krf__kernel *k); /* whether an operand is held */
uint32_t krf__held_words(const krf__kernel *k, uint32_t operand); /* of 16 bytes, that a warp has of the operand in shared memory: room for a chunk that begins anywhere, where vectors do not begin with it */
uint32_t krf__held_of_warp(const krf__kernel *k); /* of all operands */
uint32_t krf__held_bytes(const krf__kernel *k); /* of a block that has all its warps */
int krf__scan_runs(const krf__kernel *k); /* of a tile of such a scan, that a row has: a power of two; fewer than a tile has: several rows share one */
int krf__scan_threads(const krf__kernel *k); /* likewise, of scans along rows on a GPU: those of a tile */
int krf__scan_tiles(const krf__kernel *k); /* that a block of such has */
int krf__scan_words(const krf__kernel *k); /* CUDA: of 32 bits, for what blocks say to one another of a tile: 2 of a value of up to 4 bytes beside its state, 4 of 8 bytes; 1 where the state says that values are in scratch memory */
uint32_t krf__chain_words(const krf__kernel *k); /* of a tile in scratch memory, where rows are `chained`: whole cache lines */
bool krf__scans_alone(const krf__kernel *k); /* of scans by columns on a GPU: whether a thread has one */
bool krf__scan_is_small(const krf__kernel *k); /* whether 32 registers hold a run of such a scan */

#define KRF__ROW_THREADS 1024 /* the most of a block */
#define KRF__REGISTERS 65536 /* of 4 bytes, of a multiprocessor and of a block */

/* The most blocks that share a row: what every device of compute capability 9.0 has room for. */
#define KRF__ROW_CLUSTER 8

int krf__relay_blocks(const krf__kernel *k); /* of krf__kernel.relay, that a multiprocessor has at once */

#define KRF__COLUMN_TOGETHER 4 /* lanes of a column that a thread visits together, where it has as many and their order counts */
int krf__column_levels(const krf__kernel *k); /* how often these halve those of a thread */
int krf__column_groups(const krf__kernel *k); /* threads that lie under each other, */
int krf__column_each(const krf__kernel *k);   /* of the 256 lanes of a column that each of them has, */
int64_t krf__column_tile(const krf__kernel *k); /* and columns that a block has */

/* Of krf__kernel.drifts, columns: whether an operand is one by whose words threads go; elements of a word; and vectors side by side in shared memory, wherever rows begin. */
bool krf__column_drifts(const krf__kernel *k, uint32_t operand);
int krf__column_word(const krf__kernel *k);
int krf__column_edge(const krf__kernel *k);
int krf__drifting_blocks(const krf__kernel *k, int threads); /* of so many threads, that a multiprocessor has at once */

/* Of krf__kernel.flat, columns: vectors that a thread has of 256 rows; bytes of an element, of all operands that lie so; and elements of a reduction that a team has in shared memory, where all of a vector lie in different banks. */
int krf__flat_vectors(const krf__kernel *k);
int krf__flat_bytes(const krf__kernel *k);
int krf__flat_shared(const krf__kernel *k);

#define KRF__SPREAD_RESULTS 9 /* the most that become reductions of one result each (plan/spread.c) */

/* On CUDA, bytes of the words, at most 16, in which a thread moves so many of records. */
int krf__record_word(int bytes);

/* Of krf__kernel.flat: whether some elements are no vectors of memory, and each is loaded from its own place. */
bool krf__flat_apart(const krf__kernel *k);

/* On CUDA, elements of a map that each thread computes where they do not come in vectors, or vectors, of krf__kernel.several. */
int krf__map_each(const krf__kernel *k);

/* Of krf__kernel.period: what an operand is the same for, all of a row, or all rows; and the threads of all blocks. */
typedef enum krf__in_period { KRF__OF_ELEMENT, KRF__OF_ROW, KRF__OF_COLUMN, KRF__COUNTS } krf__in_period;
krf__in_period krf__period_of(const krf__kernel *k, const krf__operand *o);
int64_t krf__period_threads(const krf__kernel *k);
int krf__fetches(const krf__kernel *k);   /* at how many places elements are looked up */
bool krf__looks_up(const krf__kernel *k); /* whether these are several, and computed of what they look up */

/* Whether there is something to gain by krf__kernel.ahead: kernels whose blocks all begin at once and read for long, and those whose threads have much to load and little to do. */
bool krf__gains_ahead(const krf__kernel *k);

bool krf__is_map(const krf__kernel *k); /* KRF__MAP or KRF__TILE */

/* Of krf__kernel.narrow: where the elements of an operand lie that follow one another in the dimensions of the results. */
typedef enum krf__narrow_place {
    KRF__NARROW_FLAT,     /* one stride apart, over the ends of rows too */
    KRF__NARROW_CONSTANT, /* all in one place */
    KRF__NARROW_PERIOD,   /* all rows in one place */
    KRF__NARROW_SPREAD,   /* each row in one place */
    KRF__NARROW_ROWS,     /* anywhere */
} krf__narrow_place;
krf__narrow_place krf__narrow_place_of(const krf__kernel *k, const krf__operand *o);
#define KRF__NARROW_SLACK 64 /* elements before and behind a strip in which rows may lie that it begins or ends within: more than a row has */

/* Maps by tiles, element by element or, with vectors, word by word: elements of a side of the square, and threads; whether the operand crosses it by way of shared memory, elements of such a tile from one row
 * to the next (so many that a column lies in different banks), and the bytes of all of them. */
int krf__tile_side(const krf__kernel *k);
int krf__widest_element(const krf__kernel *k); /* bytes, of what lies in memory */
int krf__tile_down(const krf__kernel *k); /* elements along dimension `tile`: a side, but of strips */
int krf__tile_layers(const krf__kernel *k); /* places of a block along the dimension that `layer` names; 1 without one */
int krf__strip_span(const krf__kernel *k, uint32_t operand); /* of strips: how many rows of it an element needs beyond the first, for operands that share them */
int krf__strip_vector(const krf__kernel *k, const krf__operand *o); /* elements of a word of it: 1 where it is the same along the last dimension */
bool krf__strip_apart(const krf__kernel *k, const krf__operand *o); /* whether the elements of its words do not lie side by side */
bool krf__strip_by_words(const krf__kernel *k, uint32_t operand); /* whether its rows are loaded by words */
int krf__strip_first(const krf__kernel *k, uint32_t operand); /* the first word of a row that is needed for operands that share it, from that in which its own first element lies on */
int krf__strip_words(const krf__kernel *k, uint32_t operand); /* how many are, from there */
int krf__strip_reach(const krf__kernel *k, uint32_t operand, int row, int word, int each); /* the last row, of those of an element, for which that word of memory, `each` of which are one of the strip, is needed of that row; -1: none */
int krf__tile_threads(const krf__kernel *k);
bool krf__tile_crosses(const krf__kernel *k, const krf__operand *o);
int krf__tile_pitch(const krf__kernel *k, const krf__operand *o);
int64_t krf__tile_bytes(const krf__kernel *k);
int64_t krf__tile_units(const krf__kernel *k); /* on the CPU */

/* Stride class of an operand on a dimension: 0, 1, 3 for the 2 of neighbours in complex memory, or 2 for any other. */
int krf__stride_class(const krf__kernel *k, const krf__operand *o, int dim);

/* A scan's chunks are the tiles of a row. Bytes of scratch (0 when chunks is 1) and number of tickets the kernel needs on a device that splits reductions over blocks. */
size_t krf__scratch_bytes(const krf__kernel *k);

/* 8-byte words of a reduction's accumulator in scratch: 1, or more where it has several fields. before: of all reductions before reduction r. */
uint32_t krf__accumulator_words(const krf__kernel *k, uint32_t r);
uint32_t krf__accumulator_words_before(const krf__kernel *k, uint32_t r);
size_t krf__accumulator_size(const krf__kernel *k, uint32_t r); /* of one reduction, as it is stored */
size_t krf__accumulator_bytes(const krf__kernel *k); /* of all reductions, in registers, while the elements of a chunk are taken */
int krf__lane_bytes(const krf__kernel *k); /* the same by lanes, whatever order serves: sums of small integers have no narrow ones there (krf__sums_narrow) */
/* Of what is many dependent operations: krf__op_is_costly, and what users define of such functions. */
bool krf__costly(const krf__instr *i);
bool krf__costly_domain(const krf__kernel *k); /* any of the domain part */
bool krf__stores_elements(const krf__kernel *k); /* whether a reduction stores elements of its domain as well */
size_t krf__ticket_count(const krf__kernel *k);

/* Round r of that many as a kernel of its own: the same operands, part of the instructions; a kernel without rounds is its only one. Owns nothing. */
uint32_t krf__kernel_rounds(const krf__kernel *k);
krf__kernel krf__kernel_round(const krf__kernel *k, uint32_t r);
int krf__outer_side(const krf__kernel *k);    /* of the square of results that a block takes then */
int krf__outer_threads(const krf__kernel *k); /* that share a row then; */
int krf__outer_results(const krf__kernel *k); /* and so many results: 2 lines of them */
bool krf__outer_first(const krf__kernel *k, uint32_t operand); /* whether an operand is the same along the last dimension of the results then; else it is so along the one before */
bool krf__in_lines(const krf__kernel *k, uint32_t operand); /* whether an operand is the same along the row */
bool krf__loads(const krf__kernel *k, uint32_t operand); /* whether the domain part loads it */
bool krf__shared_by_rows(const krf__kernel *k, const krf__operand *o); /* whether some rows have an operand's elements in common */
bool krf__same_for_rows(const krf__kernel *k, const krf__operand *o); /* whether an operand is at the same place for all rows */
bool krf__along_rows(const krf__kernel *k, uint32_t operand); /* whether the domain part loads other elements of it along a row */
int krf__rounds_with(const krf__kernel *k, uint32_t operand); /* how many rounds load the operand in their domain part */

/* The least bytes it must move: of what is gathered, one element wherever the places decide which. */
void krf__kernel_bytes(const krf__kernel *k, int64_t *read, int64_t *written);

/* The name of the function that is launched on CUDA: the user's own, or the kernel's. */
const char *krf__kernel_symbol(const krf__kernel *k);

void krf__kernel_free(krf__kernel *k); /* the arrays it owns */

#endif
