/* The canonical tree and the order of scans (docs/architecture.md) over accumulators: tests/ops/tree.h has them of single numbers. */
#include "fuzz/user.h"

accumulator row_none(const row_rule *rule) {
    accumulator none = {{{0}}};
    for (int k = 0; k < rule->fields; k++) {
        none.f[k] = kept(rule->dtypes[k], convert((value){.dtype = KRF_F64, .f = rule->fold->none[k]}, rule->dtypes[k]));
    }
    return none;
}

static accumulator both(const row_rule *rule, const accumulator *a, const accumulator *b) {
    accumulator y = {{{0}}};
    for (int k = 0; k < rule->fields; k++) {
        y.f[k].dtype = a->f[k].dtype;
    }
    rule->fold->both(rule->narrow, a->f, b->f, y.f);
    for (int k = 0; k < rule->fields; k++) {
        y.f[k] = kept(rule->dtypes[k], y.f[k]);
    }
    return y;
}

/* 256 lanes, each over every 256th element from the identity on; then halves. Lanes that have no element change nothing. */
static accumulator chunk(const row_rule *rule, const accumulator *x, int64_t n) {
    accumulator lanes[256];
    int used = 256;
    while (used > 1 && used / 2 >= n) {
        used /= 2;
    }
    for (int lane = 0; lane < used; lane++) {
        lanes[lane] = row_none(rule);
        for (int64_t i = lane; i < n; i += 256) {
            lanes[lane] = both(rule, &lanes[lane], &x[i]);
        }
    }
    for (int half = used / 2; half > 0; half /= 2) {
        for (int lane = 0; lane < half; lane++) {
            lanes[lane] = both(rule, &lanes[lane], &lanes[lane + half]);
        }
    }
    return lanes[0];
}

accumulator row_reduce(const row_rule *rule, const accumulator *x, int64_t n) {
    int64_t length = 1024; /* 4096 chunks or fewer, where 1,024 to 16,384 elements make that possible */
    while (length < 16384 && length * 4096 < n) {
        length *= 2;
    }
    const int64_t chunks = (n + length - 1) / length;
    if (n == 0) {
        return row_none(rule);
    }
    accumulator *partial = malloc((size_t)chunks * sizeof *partial);
    assert_non_null(partial);
    for (int64_t c = 0; c < chunks; c++) {
        partial[c] = chunk(rule, x + c * length, n - c * length < length ? n - c * length : length);
    }
    accumulator y = chunks == 1 ? partial[0] : chunk(rule, partial, chunks);
    free(partial);
    return y;
}

/* Tiles of 8 warps of 32 runs of 16; 32 tiles are a group. */
void row_scan(const row_rule *rule, const accumulator *x, int64_t n, accumulator *y) {
    const accumulator none = row_none(rule);
    accumulator groups = none, tiles = none;
    for (int64_t first = 0; first < n; first += 4096) {
        const accumulator before_tile = both(rule, &groups, &tiles);
        accumulator warps = none;
        for (int warp = 0; warp < 8; warp++) {
            accumulator total[32], next[32];
            for (int k = 0; k < 32; k++) {
                total[k] = none;
                for (int64_t i = 0, at = first + 512 * warp + 16 * k; i < 16 && at < n; i++, at++) {
                    total[k] = y[at] = i == 0 ? x[at] : both(rule, &total[k], &x[at]);
                }
            }
            for (int step = 1; step < 32; step *= 2) {
                for (int k = 0; k < 32; k++) {
                    next[k] = k >= step ? both(rule, &total[k - step], &total[k]) : total[k];
                }
                memcpy(total, next, sizeof total);
            }
            for (int k = 0; k < 32; k++) {
                const accumulator own = both(rule, &warps, k > 0 ? &total[k - 1] : &none), before = both(rule, &before_tile, &own);
                for (int64_t i = 0, at = first + 512 * warp + 16 * k; i < 16 && at < n; i++, at++) {
                    y[at] = both(rule, &before, &y[at]);
                }
            }
            warps = both(rule, &warps, &total[31]);
        }
        tiles = both(rule, &tiles, &warps);
        if (first / 4096 % 32 == 31) {
            groups = both(rule, &groups, &tiles);
            tiles = none;
        }
    }
}
