/* Cuts a launch into pieces and runs them. A unit is what a kernel function's lo and hi count: an element of a map (or a tile of it), a
 * chunk of one result of a full or row reduction, a chunk of a tile of results of a column reduction, a tile of a row that is scanned and shared (`chained`). Where the cuts
 * lie depends on the kernel alone, so that results cannot depend on the number of threads. The threads share a launch
 * piece by piece, which also copes with one that is descheduled. */
#include "backend/cpu/launch.h"

#include "backend/cpu/interpret.h"
#include "backend/cpu/interpret_rows.h"
#include "backend/cpu/loader.h"
#include "base/fail.h"
#include "plan/raw_call.h"

#include <stdatomic.h>
#include <string.h>

#define MOST_ELEMENTS 65536 /* of a piece; 16K to 64K were measured best, 4K cost half as much again */
#define LEAST_ELEMENTS 16384
#define WANTED_PIECES 64     /* smaller pieces, down to the least, until there are so many */
#define MAP_GRAIN 4096       /* cuts of a map lie on multiples, whole blocks of the interpreter and whole cache lines */
#define CHEAP_INSTRS 32      /* bodies up to this length get full pieces */
#define ALONE_ELEMENTS 32768 /* below this many elements of 8 instructions, sharing costs more than it gains */

static int64_t at_least(int64_t value, int64_t least) { return value > least ? value : least; }

/* a * b, or the largest number: only compared with limits. */
static int64_t times(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Whether the chunks of a result are computed apart, and combined when all are there. */
static bool has_chunks(const krf__kernel *k) {
    return k->chunks > 1 && (k->schedule == KRF__REDUCE_ALL || k->schedule == KRF__REDUCE_ROW || k->schedule == KRF__REDUCE_COL);
}

static bool is_little(const krf__kernel *k, int64_t elements) {
    return times(elements, at_least(k->n_instrs, 8)) < (int64_t)ALONE_ELEMENTS * 8;
}

/* How many results side by side a unit of a reduction or a scan has. */
static int64_t unit_results(const krf__kernel *k) {
    return k->schedule == KRF__REDUCE_COL ? krf__column_side(k) : krf__scan_rows(k);
}

/* Elements that one unit of a reduction computes. */
static int64_t unit_elements(const krf__kernel *k, int64_t chunks) {
    const int64_t elements = chunks > 1 ? k->chunk : k->reduced_size, side_by_side = unit_results(k);
    return at_least(times(elements, k->kept_size < side_by_side ? k->kept_size : side_by_side), 1);
}

/* Elements of a piece when there are `elements` in all. */
static int64_t piece_elements(int64_t elements) {
    int64_t wanted = elements / WANTED_PIECES;
    return wanted < LEAST_ELEMENTS ? LEAST_ELEMENTS : wanted > MOST_ELEMENTS ? MOST_ELEMENTS : wanted;
}

krf__cut krf__cut_units(const krf__kernel *k) {
    int64_t chunks = has_chunks(k) || k->chained ? k->chunks : 1;
    if (k->schedule == KRF__RAW) {
        const int64_t units = k->raw->launch.units, each = at_least(krf__raw_elements(k->raw) / at_least(units, 1), 1);
        return (krf__cut){.units = units, .length = at_least(piece_elements(times(units, each)) / each, 1), .alone = is_little(k, times(units, each))};
    }
    if (krf__is_map(k)) {
        int64_t length = piece_elements(k->kept_size);
        if (k->n_instrs > CHEAP_INSTRS) {
            length = length * CHEAP_INSTRS / k->n_instrs;
        }
        if (k->schedule == KRF__TILE) {
            length = at_least(length / (KRF__TILE_ROWS * KRF__TILE_COLUMNS), 1);
            return (krf__cut){.units = krf__tile_units(k), .length = length, .alone = is_little(k, k->kept_size)};
        }
        length = at_least(length / MAP_GRAIN, 1) * MAP_GRAIN;
        return (krf__cut){.units = k->kept_size, .length = length, .alone = is_little(k, k->kept_size)};
    }
    int64_t side_by_side = unit_results(k), results = k->kept_size / side_by_side + (k->kept_size % side_by_side != 0);
    int64_t units = results * chunks, elements = unit_elements(k, chunks), all = times(units, elements);
    const int64_t together = k->schedule == KRF__ROW_COL ? k->columns : 1, length = at_least(piece_elements(all) / elements, 1);
    /* tiles wait for those before them, which a thread that has several would keep back */
    return (krf__cut){
        .units = units, .length = k->chained ? 1 : (length + together - 1) / together * together, .alone = is_little(k, all)};
}

krf__cut krf__cut_results(const krf__kernel *k) {
    int64_t partials = times(at_least(k->chunks, 1), at_least(k->n_reductions, 1));
    int64_t all = times(k->kept_size, partials);
    return (krf__cut){
        .units = k->kept_size, .length = at_least(piece_elements(all) / partials, 1), .alone = is_little(k, all)};
}

/* A range of units being computed by several threads. */
typedef struct work {
    const krf__launch *launch;
    krf__cut cut;
    bool finish;
    krf__kernel_function compiled; /* NULL: interpret */
    atomic_int failed;             /* set by the first piece that fails, which then writes the two below */
    krf_status status;
    char message[KRF__MESSAGE_SIZE];
} work;

static krf_status compute(const work *w, int64_t lo, int64_t hi) {
    const krf__launch *l = w->launch;
    if (w->compiled != NULL) {
        w->compiled(l->fields, lo, hi);
        return KRF_OK;
    }
    if (l->kernel->n_rounds > 0) {
        return krf__interpret_rows(l->kernel, l->pointers, l->scalars, l->scratch, lo, hi);
    }
    return (w->finish ? krf__interpret_finish : krf__interpret)(l->kernel, l->pointers, l->scalars, l->scratch, lo, hi);
}

static void run_piece(void *user, int64_t piece) {
    work *w = user;
    if (atomic_load_explicit(&w->failed, memory_order_relaxed) != 0) {
        return;
    }
    int64_t lo = piece * w->cut.length;
    int64_t hi = w->cut.units - lo < w->cut.length ? w->cut.units : lo + w->cut.length;
    krf_status status = compute(w, lo, hi);
    if (status != KRF_OK && atomic_exchange(&w->failed, 1) == 0) {
        w->status = status;
        /* The message belongs to the thread that failed, which need not be the caller's. */
        const char *message = krf_error_message();
        size_t length = strnlen(message, sizeof w->message - 1);
        memcpy(w->message, message, length);
        w->message[length] = '\0';
    }
}

static krf_status run_all(krf__threads *threads, const krf__launch *launch, bool finish) {
    work w;
    w.launch = launch;
    w.finish = finish;
    w.cut = finish ? krf__cut_results(launch->kernel) : krf__cut_units(launch->kernel);
    w.compiled = launch->module == NULL ? NULL : finish ? launch->module->finish : launch->module->run;
    w.status = KRF_OK;
    atomic_init(&w.failed, 0);
    if (w.cut.units <= 0) {
        return KRF_OK;
    }
    if (launch->module != NULL && w.compiled == NULL) {
        return krf__fail(KRF_E_INTERNAL, "%s: the compiled kernel has no function that folds chunks",
                         launch->kernel->name);
    }
    if (w.cut.alone) {
        return compute(&w, 0, w.cut.units);
    }
    int64_t pieces = (w.cut.units - 1) / w.cut.length + 1;
    krf__threads_run(threads, pieces, run_piece, &w);
    return w.status == KRF_OK ? KRF_OK : krf__fail(w.status, "%s", w.message);
}

krf_status krf__launch_run(krf__threads *threads, const krf__launch *launch) {
    if (launch->kernel->chained && launch->module != NULL) { /* nothing is known of any tile yet */
        memset(launch->scratch, 0, krf__scratch_bytes(launch->kernel));
    }
    krf_status status = run_all(threads, launch, false);
    if (status == KRF_OK && has_chunks(launch->kernel)) {
        status = run_all(threads, launch, true);
    }
    return status;
}
