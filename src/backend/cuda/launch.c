/* The launch shape of a kernel on a CUDA device: 256 threads a block, as many blocks as the schedule has work for. No
 * driver is needed here. */
#include "backend/cuda/launch.h"

#include "backend/backend.h"
#include "pass/pass.h"
#include "plan/copies.h"
#include "plan/raw_call.h"

enum { WARPS = KRF__CUDA_BLOCK / 32, WAVES = 4, TEAM_WAVES = 20, TEAM_MANY_WAVES = 40 };

#define MAX_X INT64_C(2147483647)
#define MAX_Y INT64_C(65535)

static int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* At least 1 and at most `most`. */
static uint32_t clamp(int64_t n, int64_t most) { return (uint32_t)(n < 1 ? 1 : n > most ? most : n); }

/* Results that a warp has at once count as one. */
static int64_t groups_of(const krf__kernel *k) {
    if (k->lines <= 1) {
        return k->kept_size;
    }
    const int64_t along = k->extents[k->n_kept - 1];
    return k->kept_size / along * divide_up(along, k->lines);
}

/* Warps stride over the chunks of a result. Several blocks share one only while results alone do not fill the device: every block more is a partial result more to
 * combine, and blocks that do not run at once leave multiprocessors without work at the end. Teams of warps take so long for a chunk that the next one goes to whichever is done first. */
static int64_t blocks_per_result(const krf__kernel *k, int multiprocessors) {
    int64_t most = (int64_t)multiprocessors * (k->relay ? krf__relay_blocks(k) : k->team == 1 ? WAVES : krf__costly_domain(k) ? TEAM_WAVES : TEAM_MANY_WAVES) / (groups_of(k) > 1 ? groups_of(k) : 1);
    int64_t blocks = divide_up(k->chunks, WARPS / k->team);
    return blocks < most ? blocks : most; /* 0 counts as 1 */
}

/* Blocks among which the chunks of a column go: as many as lanes; where any order will do, not many more than run at once, of as many chunks each. */
static uint32_t column_blocks(const krf__kernel *k, int multiprocessors, int64_t beside) {
    if (k->flat || (k->drifts && !k->copied)) {
        return clamp(k->chunks, KRF__LANES);
    }
    if (k->copied) {
        return clamp(krf__copying_down(k, multiprocessors, beside), KRF__LANES);
    }
    const int64_t room = (int64_t)multiprocessors * (k->vector > 1 ? WAVES : 2 * WAVES) / (beside > 0 ? beside : 1);
    int64_t most = KRF__LANES;
    if (krf__any_order(k) && room < most) {
        most = room > 1 ? room : 1;
    }
    return clamp(krf__any_order(k) ? divide_up(k->chunks, divide_up(k->chunks, most)) : k->chunks, most);
}

/* Clusters of blocks, which reach each other's shared memory, are there from compute capability 9.0 on. */
uint32_t krf__cuda_row(int capability) { return capability >= 90 ? KRF__ROW_CLUSTER * KRF__ROW_BLOCK : KRF__ROW_BLOCK; }

/* A square of results a block, see skeleton/short_outer.cu. */
static void outer_grid(const krf__kernel *k, krf__grid *g) {
    const int64_t side = krf__outer_side(k), squares = divide_up(k->extents[k->n_kept - 1], side) * divide_up(k->extents[k->n_kept - 2], side), blocks = squares * (k->n_kept > 2 ? k->extents[0] : 1);
    g->x = clamp(blocks, MAX_X);
    g->too_large = blocks > MAX_X;
}

void krf__cuda_grid(const krf__kernel *k, int multiprocessors, krf__grid *g) {
    *g = (krf__grid){.x = 1, .y = 1, .z = 1, .block_x = KRF__CUDA_BLOCK, .block_y = 1, .block_z = 1};
    int64_t blocks;
    if (k->outer) {
        outer_grid(k, g);
        return;
    }
    switch (k->schedule) {
    case KRF__MAP: /* a tile a block */
        blocks = k->period > 0 ? divide_up(krf__period_threads(k), KRF__CUDA_BLOCK) : divide_up(k->kept_size, (int64_t)KRF__CUDA_BLOCK * k->vector * krf__map_each(k));
        g->x = clamp(blocks, MAX_X);
        g->too_large = blocks > MAX_X;
        break;
    case KRF__REDUCE_ROW: /* a warp a result, then on by the whole grid */
        g->x = clamp(divide_up(groups_of(k), WARPS), MAX_X);
        break;
    case KRF__REDUCE_SHORT:
    case KRF__ROW_SHORT: /* rows side by side in a warp; the kernel takes both numbers from the shape of the block. Reductions go on by the whole grid */
        g->block_x = (uint32_t)krf__short_threads(k);
        g->block_y = (uint32_t)krf__short_block(k) / g->block_x;
        blocks = divide_up(k->kept_size, k->staged ? (int64_t)g->block_y * krf__staged_turns(k) : (int64_t)g->block_y * (k->lines > 1 ? k->lines : 1));
        g->x = clamp(blocks, MAX_X);
        g->too_large = k->n_rounds > 0 && blocks > MAX_X;
        break;
    case KRF__REDUCE_ALL: /* results stride by gridDim.y, chunks by gridDim.x */
        g->y = clamp(groups_of(k), MAX_Y);
        g->x = clamp(blocks_per_result(k, multiprocessors), MAX_X);
        g->block_x *= k->relay ? KRF__RUNNERS : 1;
        while (g->block_x > 32 * (uint32_t)k->team && g->block_x / (64 * (uint32_t)k->team) >= k->chunks) { /* a block that has a result to itself needs no warps without a chunk */
            g->block_x /= 2;
        }
        break;
    case KRF__REDUCE_COL: /* see skeleton/reduce_col.cu; lanes of chunks by gridDim.y */
        g->block_x = (uint32_t)k->abreast;
        g->block_y = k->flat ? clamp(divide_up(k->chunks, KRF__LANES), (uint32_t)k->flat_teams) : (uint32_t)krf__column_groups(k);
        blocks = divide_up(k->kept_size, krf__column_tile(k));
        g->x = clamp(blocks, MAX_X);
        g->too_large = blocks > MAX_X;
        g->y = column_blocks(k, multiprocessors, blocks);
        break;
    case KRF__SCAN: /* a block a tile, or two; of rows of one tile or less, then on by the whole grid */
        blocks = krf__scans_alone(k) ? divide_up(k->kept_size, KRF__CUDA_BLOCK) : k->side ? divide_up(k->kept_size, k->columns) * k->chunks : divide_up(k->kept_size, KRF__LANES / krf__scan_runs(k)) * divide_up(k->chunks, krf__scan_tiles(k));
        g->block_x = krf__scans_alone(k) ? KRF__CUDA_BLOCK : k->side ? 32 * KRF__SIDE_COLUMNS : (uint32_t)(krf__scan_threads(k) * krf__scan_tiles(k));
        g->x = clamp(blocks, MAX_X);
        g->too_large = (k->chunks > 1 || k->side) && blocks > MAX_X;
        break;
    case KRF__ROW:
    case KRF__ROW_COL: /* see skeleton/row.cu */
        g->too_large = k->kept_size > MAX_X;
        blocks = divide_up(k->kept_size, krf__row_rows(k)) * (g->too_large ? 1 : k->cluster);
        g->too_large |= blocks > MAX_X;
        g->x = clamp(blocks, MAX_X);
        g->block_x = (uint32_t)krf__row_threads(k);
        if (k->schedule == KRF__ROW && krf__row_rows(k) == 1) { /* no warps without a chunk but for those of the last block */
            g->block_x = 32 * (uint32_t)divide_up(k->chunks, (int64_t)k->cluster * krf__row_share(k));
        }
        g->shared = 16 * krf__held_of_warp(k) * (g->block_x / 32);
        break;
    case KRF__TILE: /* a square a block */
        blocks = k->kept_size / k->extents[k->tile] / k->extents[k->n_kept - 1];
        blocks *= divide_up(k->extents[k->tile], krf__tile_down(k)) * divide_up(k->extents[k->n_kept - 1], krf__tile_side(k));
        if (k->layer > 0) {
            blocks = blocks / k->extents[k->layer - 1] * divide_up(k->extents[k->layer - 1], krf__tile_layers(k));
        }
        g->x = clamp(blocks, MAX_X);
        g->too_large = blocks > MAX_X;
        g->block_x = (uint32_t)krf__tile_threads(k);
        break;
    case KRF__RAW: {
        const krf__raw_launch *l = &k->raw->launch;
        *g = (krf__grid){.x = l->grid[0], .y = l->grid[1], .z = l->grid[2], .block_x = l->block[0], .block_y = l->block[1], .block_z = l->block[2], .shared = l->shared};
        break;
    }
    case KRF__SCHEDULE_COUNT: break;
    }
}
