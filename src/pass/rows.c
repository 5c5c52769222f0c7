/* The last part of fuse. Maps move into reductions over the same elements, which then store these as well. And groups over the rows of one domain, of which
 * one reads the results of another, become the rounds of one kernel (softmax: largest, sum, quotient), which reads the row once and hands results from
 * round to round without memory.
 *
 * A group joins the kernel of the group that it reads where nothing stands between them: all else that it reads was there before that kernel. So kernels of
 * several rounds run where their first one did. */
#include "base/fail.h"
#include "base/mem.h"
#include "pass/pass.h"

#include <string.h>

#define MOST_LOADS 16
#define BESIDE_LEAST 32 /* rows beside one another on the CPU: of fewer, vectors would be half empty */
#define BESIDE_LONG 256 /* elements of these, from which on results of tiles are short pieces of memory */
#define LINE_BYTES 64
#define MOST_SHARED 4 /* arrays of 4-byte elements of rows that blocks share: a thread keeps 32 elements of each */

/* What a group reads, as far as it matters here. */
typedef struct reading {
    uint32_t operations;
    uint32_t values[32];     /* roots of reducing groups, as they are */
    uint32_t n_values;
    uint32_t loads[MOST_LOADS]; /* arrays of the domain's size */
    uint32_t n_loads;
    uint32_t latest;         /* 1 + the latest step of a group whose results are read from memory, of another shape or through views */
    bool crowded, scattered; /* more than there is room for; rows whose elements do not lie side by side */
} reading;

typedef struct joining {
    const krf_graph *g;
    krf__fusion *f;
    const krf__limits *limits;
    uint32_t *head;        /* of each group: the first group of its kernel */
    reading *kernels;      /* of each group that is a head: what its rounds read */
    bool *output, *needed; /* of each node: a result of the graph; read from memory */
    bool *inner;           /* NULL: what is read is not noted by node yet */
    uint32_t *mark, stamp, *stack;
} joining;

static const krf__group *group_of(const joining *j, uint32_t id) {
    uint32_t own = j->f->group_of[id];
    return own != 0 ? &j->f->groups[own - 1] : NULL;
}

/* Whether a root of the group is a value of the domain, not one of its results. */
static bool is_element(const krf__group *owner, uint32_t id) {
    bool found = owner->mask == 0;
    for (uint32_t i = 0; i < owner->n_elements && !found; i++) {
        found = owner->elements[i] == id;
    }
    return found;
}

/* Elements of a row. */
static int64_t row_length(const joining *j, const krf__group *group) {
    const krf__node *d = krf__node_of(j->g, group->domain);
    int64_t n = 1;
    for (int i = 0; i < d->rank; i++) {
        n *= (group->mask >> i & 1) != 0 ? krf__shape_of(j->g, group->domain)[i] : 1;
    }
    return n;
}

/* How many rows lie beside one another where others than the last axes are reduced; 1: the last ones are. */
static int64_t rows_beside(const joining *j, const krf__group *group) {
    const int rank = krf__node_of(j->g, group->domain)->rank;
    const int64_t *shape = krf__shape_of(j->g, group->domain);
    int64_t beside = 1, behind = 1;
    for (int i = rank; i-- > 0;) {
        if ((group->mask >> i & 1) == 0) {
            behind *= shape[i];
        } else if (shape[i] != 1) {
            beside = beside == 1 ? behind : beside;
        }
    }
    return beside;
}

/* Elements that a row of a kernel that begins so may have; and of 4 bytes in all arrays. Of few rows, threads of a processor share the chunks, if they are long. */
static int64_t longest(const joining *j, const krf__group *first) {
    enum { FEW_ROWS = 64 };
    const krf__node *d = krf__node_of(j->g, first->domain);
    const int64_t most = rows_beside(j, first) > 1 && j->limits->columns < j->limits->row ? j->limits->columns : j->limits->row;
    const bool few = krf__shape_size(d->rank, krf__shape_of(j->g, first->domain)) < FEW_ROWS * row_length(j, first);
    return !j->limits->many_threads && few && most > KRF__ROW_BLOCK ? KRF__ROW_BLOCK : most;
}
static int64_t most_words(const joining *j, const krf__group *first) { return j->limits->many_threads || rows_beside(j, first) == 1 ? j->limits->row : 2 * longest(j, first); }

/* Whether the kernel can begin a row with this group: a reduction over the last axes, or over others where rows lie side by side. Axes of one element are neither. */
static bool starts_row(const joining *j, const krf__group *group) {
    const int rank = krf__node_of(j->g, group->domain)->rank;
    const int64_t *shape = krf__shape_of(j->g, group->domain);
    bool kept_last = false;
    for (int i = 0; i < rank; i++) {
        kept_last = shape[i] != 1 ? (group->mask >> i & 1) == 0 : kept_last;
    }
    const int64_t beside = rows_beside(j, group);
    return !group->scan && group->mask != 0 && (beside == 1 || (kept_last && (j->limits->many_threads || beside >= BESIDE_LEAST))) && krf__shape_size(rank, shape) > 0 &&
           row_length(j, group) <= longest(j, group);
}

/* Whether a value has one element for each row of the domain, and is the same all along it; of results, alone: `results`. */
static bool one_per_row(const joining *j, const krf__group *first, uint32_t id, bool results) {
    const krf__node *n = krf__node_of(j->g, id), *d = krf__node_of(j->g, first->domain);
    const int64_t *shape = krf__shape_of(j->g, id), *domain = krf__shape_of(j->g, first->domain);
    int64_t kept = 1;
    for (int i = 0; i < d->rank; i++) {
        kept *= (first->mask >> i & 1) != 0 ? 1 : domain[i];
    }
    for (int i = 0; i < n->rank && !results; i++) {
        int axis = i + d->rank - n->rank;
        if (axis < 0 || ((first->mask >> axis & 1) != 0 && shape[i] != 1)) {
            return false;
        }
    }
    return krf__shape_size(n->rank, shape) == kept;
}

static void note_load(const joining *j, const krf__group *group, uint32_t id, reading *r) {
    const krf__node *n = krf__node_of(j->g, id), *d = krf__node_of(j->g, group->domain);
    if (n->op == KRF__constant || n->op == KRF__scalar || n->op == KRF__part || n->op == KRF__iota || n->rank != d->rank ||
        krf__shape_size(n->rank, krf__shape_of(j->g, id)) != krf__shape_size(d->rank, krf__shape_of(j->g, group->domain))) {
        return;
    }
    krf__layout layout = krf__memory_layout(j->g, id);
    int last = layout.rank - 1;
    while (last > 0 && layout.shape[last] == 1) {
        last--;
    }
    r->scattered |= last >= 0 && (layout.strides[last] > 2 || layout.strides[last] < -2);
    for (uint32_t i = 0; i < r->n_loads; i++) {
        if (r->loads[i] == id) {
            return;
        }
    }
    r->crowded |= r->n_loads == MOST_LOADS;
    if (!r->crowded) {
        r->loads[r->n_loads++] = id;
    }
}

/* A value that `group` reads as it is. */
static void note_value(const joining *j, const krf__group *group, uint32_t id, reading *r) {
    if (j->inner != NULL) {
        bool own = j->head[group_of(j, id) - j->f->groups] == j->head[group - j->f->groups];
        *(own ? &j->inner[id] : &j->needed[id]) = true;
        return;
    }
    for (uint32_t i = 0; i < r->n_values; i++) {
        if (r->values[i] == id) {
            return;
        }
    }
    r->crowded |= r->n_values == sizeof r->values / sizeof *r->values;
    if (!r->crowded) {
        r->values[r->n_values++] = id;
    }
}

static void note_memory(const joining *j, uint32_t id, reading *r) {
    const krf__group *owner = group_of(j, id);
    j->needed[id] |= j->inner != NULL;
    if (owner != NULL && owner->step + 1 > r->latest) {
        r->latest = owner->step + 1;
    }
}

/* Walks down from `root`, a value of group `index` in its part over results or its domain part, as build.c does for a kernel whose step is `step`: roots of groups of
 * earlier steps are read, others (results of the graph) are computed again. */
static void walk(joining *j, uint32_t index, uint32_t root, uint32_t step, bool results, const krf__group *first, reading *r) {
    const krf__group *group = &j->f->groups[index];
    size_t depth = 0;
    if (j->mark[root] != j->stamp) {
        j->mark[root] = j->stamp;
        j->stack[depth++] = root;
    }
    while (depth > 0) {
        uint32_t id = j->stack[--depth];
        const krf__node *n = krf__node_of(j->g, id);
        const krf__group *owner = group_of(j, id);
        if (krf__op_is_leaf((krf__op)n->op)) {
            if (n->op == KRF__view) {
                note_memory(j, n->args[0], r);
            }
            note_load(j, group, id, r);
            continue;
        }
        const bool element = owner != NULL && is_element(owner, id);
        if (owner != NULL && owner != group && (!element || owner->raw || owner->step < step || !j->output[id])) {
            if (!element && !owner->scan && (first == NULL || one_per_row(j, first, id, results))) {
                note_value(j, group, id, r);
            } else {
                note_memory(j, id, r);
                note_load(j, group, id, r);
            }
            continue;
        }
        if (krf__op_folds((krf__op)n->op)) {
            continue; /* of this group */
        }
        r->operations += n->op != KRF__bind;
        for (int k = 0; k < krf__op_info_of(n->op)->arity; k++) {
            uint32_t arg = n->args[k];
            if (n->op == KRF__gather && k == 0) {
                note_memory(j, krf__node_of(j->g, arg)->op == KRF__view ? krf__node_of(j->g, arg)->args[0] : arg, r);
            } else if (j->mark[arg] != j->stamp) {
                j->mark[arg] = j->stamp;
                j->stack[depth++] = arg;
            }
        }
    }
}

static void walk_root(joining *j, uint32_t index, uint32_t root, uint32_t step, bool results, const krf__group *first, reading *r) {
    const krf__node *n = krf__node_of(j->g, root);
    if (n->op == KRF__complex_of || n->op == KRF__joined) {
        walk_root(j, index, n->args[0], step, results, first, r);
        walk_root(j, index, n->args[1], step, results, first, r);
    } else {
        walk(j, index, root, step, results, first, r);
    }
}

/* A raw kernel reads its operands from memory, and nothing joins it. */
static void read_raw(const joining *j, const krf__group *group, reading *r) {
    r->crowded = true;
    for (uint32_t id = krf__node_of(j->g, group->domain)->args[0]; krf__node_of(j->g, id)->op == KRF__raw_argument; id = krf__node_of(j->g, id)->args[0]) {
        const uint32_t x = krf__node_of(j->g, id)->args[1];
        note_memory(j, krf__node_of(j->g, x)->op == KRF__view ? krf__node_of(j->g, x)->args[0] : x, r);
    }
}

/* All that group `index` reads. first: where results of rows are told from others; may be NULL. */
static void read_group(joining *j, uint32_t index, uint32_t step, const krf__group *first, reading *r) {
    const krf__group *group = &j->f->groups[index];
    if (group->raw) {
        read_raw(j, group, r);
        return;
    }
    j->stamp++;
    for (uint32_t k = 0; k < group->n_reductions; k++) {
        r->operations++;
        walk(j, index, krf__node_of(j->g, group->reductions[k])->args[0], step, false, first, r);
    }
    for (uint32_t k = 0; k < group->n_elements; k++) {
        walk_root(j, index, group->elements[k], step, false, first, r);
    }
    j->stamp += group->mask != 0; /* the part over results loads for itself */
    for (uint32_t k = 0; k < group->n_roots; k++) {
        walk_root(j, index, group->roots[k], step, group->mask != 0, first, r);
    }
}

/* The bytes of a row in units of 4. */
static int64_t row_words(const joining *j, const krf__group *first, const reading *r) {
    int64_t words = 0;
    for (uint32_t i = 0; i < r->n_loads; i++) {
        size_t bytes = krf_dtype_size((krf_dtype)krf__node_of(j->g, r->loads[i])->dtype);
        words += row_length(j, first) * (bytes > 4 ? 2 : 1);
    }
    return words;
}

/* On the CPU, of rows side by side: whether a group that stores elements is better a kernel of its own, which goes along memory. It is where one round alone came before it, or where tiles are narrow and do not begin with whole lines. */
static bool better_along(const joining *j, const krf__group *first, const krf__group *group) {
    const int64_t beside = rows_beside(j, first), bytes = beside * (int64_t)krf_dtype_size((krf_dtype)krf__node_of(j->g, first->domain)->dtype);
    const bool stores = group->mask == 0 || group->n_elements > 0;
    return !j->limits->many_threads && beside > 1 && stores && (first->rounds < 2 || (row_length(j, first) > BESIDE_LONG && bytes % LINE_BYTES != 0));
}

/* Whether group `index` can be one more round of the kernel that begins with `head`; what the kernel then reads goes to *sum. */
static bool fits(joining *j, uint32_t index, uint32_t head, reading *sum) {
    const krf__group *group = &j->f->groups[index], *first = &j->f->groups[head];
    reading r = {0};
    if (group->scan || (group->mask != 0 && group->mask != first->mask) || !krf__same_shape(j->g, group->domain, first->domain) || first->rounds == KRF__MOST_ROUNDS ||
        !starts_row(j, first) || better_along(j, first, group)) {
        return false;
    }
    read_group(j, index, first->step, first, &r);
    *sum = j->kernels[head];
    bool joins = !r.crowded && !r.scattered && !sum->crowded && !sum->scattered && r.latest <= first->step;
    for (uint32_t i = 0; i < r.n_values; i++) {
        const krf__group *owner = group_of(j, r.values[i]);
        joins &= j->head[owner - j->f->groups] == head || owner->step < first->step;
    }
    for (uint32_t i = 0; i < r.n_loads; i++) {
        note_load(j, first, r.loads[i], sum);
    }
    sum->operations += r.operations;
    const int64_t words = row_words(j, first, sum); /* what is kept; how var is computed has a count of its own (ONCE in ir/build_composed.c) */
    joins &= words <= KRF__ROW_BLOCK || words <= MOST_SHARED * row_length(j, first);
    return joins && !sum->crowded && sum->operations <= j->limits->operations && first->fields + group->fields <= j->limits->fields &&
           words <= most_words(j, first);
}

/* Of the kernels whose results group `index` reads, the last. */
static void join(joining *j, uint32_t index) {
    krf__group *group = &j->f->groups[index];
    reading sum, below = {0};
    uint32_t last = index;
    j->head[index] = index;
    read_group(j, index, 0, NULL, &below); /* step 0: results of the graph are looked through */
    for (uint32_t i = 0; i < below.n_values; i++) {
        uint32_t head = j->head[group_of(j, below.values[i]) - j->f->groups];
        last = last == index || head > last ? head : last;
    }
    if (below.crowded || last == index || !fits(j, index, last, &sum)) {
        read_group(j, index, group->step, NULL, &j->kernels[index]);
        return;
    }
    krf__group *first = &j->f->groups[last];
    j->kernels[last] = sum;
    j->head[index] = last;
    first->rounds++;
    first->fields += group->fields;
    first->operations += group->operations;
    group->rounds = 0;
    group->step = first->step;
}

/* ---- maps beside reductions ---- */

#define NEIGHBOURS 16 /* reductions that are looked at for a map */

static bool share_a_load(const reading *a, const reading *b) {
    for (uint32_t i = 0; i < a->n_loads; i++) {
        for (uint32_t k = 0; k < b->n_loads; k++) {
            if (a->loads[i] == b->loads[k]) {
                return true;
            }
        }
    }
    return false;
}

/* A map moves into a reduction of the same step over the same elements that reads what the map reads. */
static void move_beside(joining *j, uint32_t map, uint32_t to) {
    krf__group *m = &j->f->groups[map], *r = &j->f->groups[to];
    reading a = {0}, b = {0};
    if (m->mask != 0 || m->rounds == 0 || r->mask == 0 || r->scan || r->n_elements > 0 || !krf__same_shape(j->g, m->domain, r->domain) ||
        r->n_roots + m->n_roots > j->limits->results || r->operations + m->operations > j->limits->operations ||
        r->fields + m->fields > j->limits->fields || strcmp(m->cut, "kernel size") == 0) {
        return;
    }
    read_group(j, map, m->step, NULL, &a);
    read_group(j, to, r->step, NULL, &b);
    if (share_a_load(&a, &b)) {
        r->elements = m->roots;
        r->n_elements = m->n_roots;
        r->operations += m->operations;
        r->fields += m->fields;
        m->roots = NULL;
        m->n_roots = m->rounds = 0;
    }
}

/* Groups are in the order of their steps. Those that have moved go. */
static void place_maps(joining *j) {
    krf__group *groups = j->f->groups;
    const uint32_t n = (uint32_t)j->f->n_groups;
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i > NEIGHBOURS ? i - NEIGHBOURS : 0; k < n && k <= i + NEIGHBOURS; k++) {
            if (groups[k].step == groups[i].step && groups[i].rounds != 0) {
                move_beside(j, i, k);
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (groups[i].rounds == 0) {
            krf__mem_free(groups[i].reductions);
            krf__mem_free(groups[i].roots);
        } else {
            groups[left++] = groups[i];
        }
    }
    j->f->n_groups = left;
    if (left < n) {
        krf__fusion_number(j->g, j->f);
    }
}

/* ---- where values lie, and the order of the groups ---- */

/* What is read only inside its kernel needs no memory. */
static void place_values(joining *j) {
    j->inner = j->f->inner;
    for (uint32_t i = 0; i < j->f->n_groups; i++) {
        const krf__group *first = &j->f->groups[j->head[i]];
        reading r = {0};
        read_group(j, i, j->f->groups[i].step, first->rounds > 1 ? first : NULL, &r);
    }
    for (uint32_t id = 1; id < j->g->n_nodes; id++) {
        const krf__group *owner = group_of(j, id);
        if (owner != NULL && !is_element(owner, id)) {
            j->f->stored[id] = j->needed[id] || j->output[id];
        }
    }
}

/* Later rounds move behind their first. */
static krf_status bring_together(joining *j) {
    const size_t n = j->f->n_groups;
    krf__group *sorted = krf__malloc(n * sizeof *sorted);
    uint32_t *next = krf__calloc(n, sizeof *next), *tail = krf__malloc(n * sizeof *tail); /* the kernel's next group; 0: none. Its last one so far */
    size_t at = 0;
    krf_status status = sorted == NULL || next == NULL || tail == NULL ? krf__fail_memory() : KRF_OK;
    for (uint32_t i = 0; status == KRF_OK && i < n; i++) {
        if (j->head[i] != i) {
            next[tail[j->head[i]]] = i;
        }
        tail[j->head[i]] = i;
    }
    for (uint32_t i = 0; status == KRF_OK && i < n; i++) {
        uint32_t member = i;
        while (j->head[i] == i && at < n) {
            sorted[at++] = j->f->groups[member];
            if (next[member] == 0) {
                break;
            }
            member = next[member];
        }
    }
    if (status == KRF_OK) {
        memcpy(j->f->groups, sorted, n * sizeof *sorted);
        krf__fusion_number(j->g, j->f);
    }
    krf__mem_free(sorted);
    krf__mem_free(next);
    krf__mem_free(tail);
    return status;
}

krf_status krf__fuse_rows(const krf_graph *g, int n, const uint32_t *outputs, const krf__limits *limits, krf__fusion *f) {
    krf_status status = KRF_OK;
    joining j = {.g = g, .f = f, .limits = limits};
    bool any = false;
    if (limits->row == 0 || f->n_groups < 2) {
        return KRF_OK;
    }
    j.head = krf__malloc(f->n_groups * sizeof *j.head);
    j.kernels = krf__calloc(f->n_groups, sizeof *j.kernels);
    j.output = krf__calloc(g->n_nodes, sizeof *j.output);
    j.needed = krf__calloc(g->n_nodes, sizeof *j.needed);
    j.mark = krf__calloc(g->n_nodes, sizeof *j.mark);
    j.stack = krf__malloc(g->n_nodes * sizeof *j.stack);
    if (!j.head || !j.kernels || !j.output || !j.needed || !j.mark || !j.stack) {
        status = krf__fail_memory();
    }
    for (int k = 0; status == KRF_OK && k < n; k++) {
        j.output[outputs[k]] = true;
    }
    if (status == KRF_OK) {
        place_maps(&j);
    }
    for (uint32_t i = 0; status == KRF_OK && i < f->n_groups; i++) {
        join(&j, i);
        any |= j.head[i] != i;
    }
    if (status == KRF_OK && any) {
        place_values(&j);
        status = bring_together(&j);
    }
    krf__mem_free(j.head);
    krf__mem_free(j.kernels);
    krf__mem_free(j.output);
    krf__mem_free(j.needed);
    krf__mem_free(j.mark);
    krf__mem_free(j.stack);
    return status;
}
