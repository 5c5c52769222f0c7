/* Results whose last axis is of a few fields, made of what all fields of a record share (`x[:, None] >> arange(8)`, colours times their alpha). A processor computes them field by field, each by vectors of records, and
 * stores them together: else what is shared would be laid out once more for each field. */
#include "pass/lower_records.h"

#include "pass/lower_under.h"

enum { LEAST_RECORDS = 32 /* that follow one another along an axis */, MOST_COMPUTED = 128 /* operations on all fields */, COSTLY = 32 /* operations that a costly one counts as */, FEW_FIELDS = 3 };

/* What is known of the elements that a result is made of. */
typedef struct reading {
    bool shared;  /* of some a record has one, which all its fields read */
    bool whole;   /* of some it has as many as fields, and nothing lies between records */
    bool strided; /* of some something does, and they are taken apart by vectors all the same */
    uint32_t computed;
} reading;

/* Whether compilers take records of so many elements apart, and put them together, by vectors of any dtype. */
static bool parts(int64_t elements) { return elements == 2 || elements == 3 || elements == 4 || elements == 8; }

static void note_leaf(const krf_graph *g, uint32_t leaf, int64_t fields, reading *r) {
    const krf__layout layout = krf__memory_layout(g, leaf);
    const int last = layout.rank - 1;
    if (last <= 0 || layout.shape[last - 1] < LEAST_RECORDS || layout.strides[last - 1] == 0) {
        return;
    }
    if (layout.shape[last] != fields || layout.strides[last] == 0) {
        r->shared = true;
    } else if (layout.strides[last - 1] == fields * layout.strides[last]) {
        r->whole = true;
    } else {
        r->strided |= krf_dtype_size(krf__dtype_of(g, leaf)) <= 2 || parts(layout.strides[last - 1]);
    }
}

/* As measured (an Intel Xeon, two threads): whole records are read as they lie in memory, faster than taken apart, but for few fields of which a vector has many; of elements of 4 bytes and more, what is shared is laid
 * out as fast. */
static bool gains(const reading *r, int64_t fields, size_t bytes) {
    if (!r->shared || r->computed * (uint32_t)fields > MOST_COMPUTED) {
        return false;
    }
    if (r->whole) {
        return fields <= FEW_FIELDS && bytes <= 2;
    }
    return r->strided || bytes == 2 || (bytes == 1 && (fields == FEW_FIELDS || r->computed > 1));
}

int krf__lower_fields(const krf__lowering *l, uint32_t root) {
    const krf_graph *g = l->out;
    const krf__node *n = krf__node_of(g, root);
    uint32_t ids[KRF__MOST_REPEATED + 1] = {root}, n_ids = 1;
    const int64_t fields = n->rank > 1 ? krf__shape_of(g, root)[n->rank - 1] : 0;
    reading r = {0};
    if (l->many_threads || !parts(fields) || krf__shape_of(g, root)[n->rank - 2] < LEAST_RECORDS) {
        return 0;
    }
    for (uint32_t done = 0; done < n_ids; done++) {
        const krf__node *node = krf__node_of(g, ids[done]);
        r.computed += node->op == KRF__cast ? 0 : krf__op_is_costly((krf__op)node->op, krf__dtype((krf_dtype)node->dtype)->kind) ? COSTLY : 1;
        for (int k = 0; k < 3; k++) {
            const uint32_t arg = node->args[k];
            bool known = arg == 0;
            if (!known && krf__op_is_leaf((krf__op)krf__node_of(g, arg)->op)) {
                note_leaf(g, arg, fields, &r);
                known = true;
            }
            for (uint32_t i = 0; i < n_ids && !known; i++) {
                known = ids[i] == arg;
            }
            if (!known && n_ids > KRF__MOST_REPEATED) {
                return 0;
            }
            if (!known) {
                ids[n_ids++] = arg;
            }
        }
    }
    return gains(&r, fields, krf_dtype_size((krf_dtype)n->dtype)) ? (int)fields : 0;
}
