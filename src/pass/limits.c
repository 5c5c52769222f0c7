/* The limits of fusion: what users get, and the text that sets others (KRF_FUSION, krf_context_options.fusion). */
#include "pass/pass.h"

#include <string.h>

#define COLUMN_BLOCK 1024 /* elements of rows side by side that a block, or a tile of the CPU, has: a chunk of the canonical tree */
#define MOST_UNROLLED 6 /* elements of a reduction, on a GPU */
#define MOST_LITERAL 128 /* on the CPU: longer rows are as fast without */
#define MANY_ROWS (1 << 19) /* elements of columns: sums of fewer have more blocks side by side */
#define MANY_BYTES (1 << 21) /* elements: fewer are computed in the time that one kernel more takes */
#define MANY_BYTES_CPU (1 << 16)
#define LARGE (1 << 20) /* elements: of fewer it takes longer to compile one more kernel than ever so many runs gain by it */

/* fields: of the 512 that 4,096 bytes of arguments hold; extents and scratch need some. reductions: beyond 8 the
 * device computes for longer than it reads, and to compile them takes more than twice as long for twice as many. repeated: see KRF__MOST_REPEATED in
 * lowering.h. row: what 8 blocks keep (KRF__ROW_BLOCK); devices may have less (krf__backend.row). unrolled: longer
 * rows go side by side as fast on the CPU; on a GPU, of more than 6, several threads share one. columns_unrolled: of longer columns compilers take longer than the user waits. */
const krf__limits krf__default_limits = {
    .operations = 512, .fields = 440, .results = 32, .reductions = 8, .repeated = 64, .row = 8 * KRF__ROW_BLOCK, .columns = 8 * COLUMN_BLOCK, .unrolled = 9, .columns_unrolled = 32, .chunk = 16384, .vectors = 1, .loose = 8, .whole = 1, .teams = 1, .held = 1, .strips = 1, .outer = 1, .spread = MANY_ROWS, .recur = 1 << 22, .flat = 48, .literal = 1024, .literal_from = LARGE, .narrow_from = 1024, .beside = KRF__ROW_BESIDE, .walk = 8192, .pairs = 4096, .relay = 4096, .again = 16384, .widen = 1 << 25, .blocks = 1024, .tables = MANY_BYTES, .early = 1, .prologue = 1, .epilogue = 1, .many_threads = 1};

static const struct {
    const char *name;
    size_t offset;
    uint32_t least;
} settings[] = {
    {"operations", offsetof(krf__limits, operations), 1}, {"fields", offsetof(krf__limits, fields), 1},
    {"results", offsetof(krf__limits, results), 1},       {"reductions", offsetof(krf__limits, reductions), 1},
    {"repeated", offsetof(krf__limits, repeated), 0},
    {"row", offsetof(krf__limits, row), 0},               {"columns", offsetof(krf__limits, columns), 0},
    {"unrolled", offsetof(krf__limits, unrolled), 0},     {"columns_unrolled", offsetof(krf__limits, columns_unrolled), 0},
    {"chunk", offsetof(krf__limits, chunk), 0},           {"vectors", offsetof(krf__limits, vectors), 0},
    {"loose", offsetof(krf__limits, loose), 0},           {"whole", offsetof(krf__limits, whole), 0},
    {"teams", offsetof(krf__limits, teams), 0},
    {"held", offsetof(krf__limits, held), 0},             {"strips", offsetof(krf__limits, strips), 0},
    {"outer", offsetof(krf__limits, outer), 0},           {"spread", offsetof(krf__limits, spread), 0},
    {"literal", offsetof(krf__limits, literal), 0},       {"literal_from", offsetof(krf__limits, literal_from), 0},
    {"beside", offsetof(krf__limits, beside), 0},         {"narrow_from", offsetof(krf__limits, narrow_from), 0},
    {"walk", offsetof(krf__limits, walk), 0},             {"pairs", offsetof(krf__limits, pairs), 0},
    {"relay", offsetof(krf__limits, relay), 0},           {"tables", offsetof(krf__limits, tables), 0},
    {"again", offsetof(krf__limits, again), 0},           {"blocks", offsetof(krf__limits, blocks), 0},
    {"widen", offsetof(krf__limits, widen), 0},           {"flat", offsetof(krf__limits, flat), 0},
    {"early", offsetof(krf__limits, early), 0},           {"recur", offsetof(krf__limits, recur), 0},
    {"prologue", offsetof(krf__limits, prologue), 0},     {"epilogue", offsetof(krf__limits, epilogue), 0},
};

/* One "name=number", *text moved behind it. More than the default is not allowed: arrays are made for that much. */
static bool parse_one(const char **text, krf__limits *limits) {
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        size_t length = strlen(settings[i].name);
        if (strncmp(*text, settings[i].name, length) != 0 || (*text)[length] != '=') {
            continue;
        }
        const char *digits = *text + length + 1;
        uint32_t value = 0, most;
        memcpy(&most, (const char *)&krf__default_limits + settings[i].offset, sizeof most);
        for (*text = digits; **text >= '0' && **text <= '9' && value <= most; ++*text) {
            value = 10 * value + (uint32_t)(**text - '0');
        }
        memcpy((char *)limits + settings[i].offset, &value, sizeof value);
        return *text > digits && value >= settings[i].least && value <= most;
    }
    return false;
}

bool krf__limits_parse(const char *text, krf__limits *limits) {
    *limits = krf__default_limits;
    if (text == NULL) {
        return true;
    }
    if (strcmp(text, "off") == 0) {
        *limits = (krf__limits){.operations = 1, .fields = krf__default_limits.fields, .results = 1, .reductions = 1, .vectors = krf__default_limits.vectors, .loose = krf__default_limits.loose, .narrow_from = krf__default_limits.narrow_from, .walk = krf__default_limits.walk, .pairs = krf__default_limits.pairs, .relay = krf__default_limits.relay, .widen = krf__default_limits.widen, .recur = krf__default_limits.recur, .early = krf__default_limits.early, .many_threads = 1};
        return true;
    }
    while (parse_one(&text, limits)) {
        if (*text == '\0') {
            return true;
        }
        if (*text++ != ',') {
            return false;
        }
    }
    return false;
}

void krf__limits_of_device(krf__limits *limits, uint32_t row, uint32_t blocks, bool many_threads) {
    const uint32_t columns = many_threads && row > KRF__ROW_BLOCK ? 8 * COLUMN_BLOCK : COLUMN_BLOCK;
    limits->many_threads = many_threads;
    limits->walk = many_threads ? limits->walk : 0;
    limits->pairs = many_threads ? limits->pairs : 0;
    limits->tables = many_threads || limits->tables < MANY_BYTES_CPU ? limits->tables : MANY_BYTES_CPU;
    limits->blocks = limits->blocks < blocks ? limits->blocks : blocks;
    limits->row = limits->row < row ? limits->row : row;
    limits->columns = limits->columns < columns ? limits->columns : columns;
    limits->unrolled = many_threads && limits->unrolled > MOST_UNROLLED ? MOST_UNROLLED : limits->unrolled;
    limits->columns_unrolled = many_threads ? 0 : limits->columns_unrolled;
    limits->vectors = many_threads ? limits->vectors : 0;
    limits->loose = many_threads ? limits->loose : 0;
    limits->whole = many_threads ? limits->whole : 0;
    limits->teams = many_threads ? limits->teams : 0;
    limits->strips = many_threads ? limits->strips : 0;
    limits->outer = many_threads ? limits->outer : 0;
    limits->spread = many_threads ? limits->spread : 0;
    limits->flat = many_threads ? limits->flat : 0;
    limits->held = many_threads ? limits->held : 0;
    limits->literal = many_threads || limits->literal < MOST_LITERAL ? limits->literal : MOST_LITERAL;
    limits->beside = many_threads ? 0 : limits->beside;
    limits->narrow_from = many_threads ? UINT32_MAX : limits->narrow_from;
    limits->early = many_threads ? limits->early : 0;
}
