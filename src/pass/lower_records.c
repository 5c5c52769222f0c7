/* Results with an axis of a few fields. Where it is the last one, and they are made of what all fields of a record share (`x[:, None] >> arange(8)`, colours times their alpha) or of planes, a processor computes them field
 * by field, each by vectors of records, and stores them together: else what is shared would be laid out once more for each field. Where it is another, as of colours that become planes, it reads records once for all fields. */
#include "pass/lower_records.h"

#include "pass/under.h"

enum { LEAST_RECORDS = 32 /* that follow one another along an axis */, MOST_COMPUTED = 128 /* operations on all fields */, COSTLY = 32 /* operations that a costly one counts as */, FEW_FIELDS = 3 /* colours; the rest are powers of two */, FEW_BYTES = 8 /* of a record of which a GPU's thread has several in words */ };

/* What is known of the elements that a result is made of. */
typedef struct reading {
    bool shared;  /* of some a record has one, which all its fields read */
    bool whole;   /* of some it has as many as fields, and nothing lies between records */
    bool strided; /* of some something does, and they are taken apart by vectors all the same */
    bool planes;  /* of some each field lies by itself */
    bool backwards; /* some goes against the order of records */
    bool gathered; /* places are computed for some */
    bool turned;  /* the result's fields lie by themselves, those of some operand of bytes or halves do not, or two or three of four bytes (an H200: pairs of f32 0.0727 -> 0.0644 ms, colours 0.0672 -> 0.0644, but fours 0.0647 -> 0.0664) */
    uint32_t computed;
} reading;

/* Whether compilers take records of so many elements apart, and put them together, by vectors of any dtype. */
static bool parts(int64_t elements) { return elements == 2 || elements == 3 || elements == 4 || elements == 8; }

/* A leaf under a result whose fields are along an axis that lies `behind` axes before the last one. */
static void note_leaf(const krf_graph *g, uint32_t leaf, int behind, int64_t fields, reading *r) {
    const krf__layout layout = krf__memory_layout(g, leaf);
    const int last = layout.rank - 1, axis = last - behind, beside = behind > 0 ? last : last - 1;
    const size_t bytes = krf_dtype_size(krf__dtype_of(g, leaf));
    const bool narrow = bytes <= 2;
    if (axis < 0 || beside < 0 || layout.shape[beside] < LEAST_RECORDS || layout.strides[beside] == 0) {
        return;
    }
    r->backwards |= layout.strides[beside] < 0;
    if (layout.shape[axis] != fields || layout.strides[axis] == 0) {
        r->shared = true;
    } else if (behind > 0) {
        r->turned |= (narrow || (bytes == 4 && fields <= FEW_FIELDS)) && layout.strides[axis] == 1 && layout.strides[beside] == fields;
    } else if (layout.strides[beside] == fields * layout.strides[axis]) {
        r->whole = true;
    } else {
        r->planes |= layout.strides[beside] == 1;
        r->strided |= narrow || parts(layout.strides[beside]);
    }
}

/* As measured (an Intel Xeon, two threads): whole records are read as they lie in memory, faster than taken apart, but for few fields of which a vector has many; of elements of 4 bytes and more, what is shared is laid
 * out as fast. */
static bool processor_gains(const reading *r, int64_t fields, size_t bytes) {
    if ((r->planes && !r->whole && bytes <= 2) || !r->shared) {
        return r->planes && !r->whole && bytes <= 2;
    }
    if (r->whole) {
        return fields <= FEW_FIELDS && bytes <= 2;
    }
    return r->strided || r->gathered || bytes == 2 || (bytes == 1 && (fields == FEW_FIELDS || r->computed > 1));
}

/* As measured (an H200): planes become fields of records by words (four of u8 0.0860 -> 0.0647 ms, two of f16 0.0892 -> 0.0643); as measured (an H100): three narrow fields go out by words (plan/record_vector.c), elements of theirs one by one; others have vectors of memory, and so has what goes backwards (plan/flat.c). */
static bool gpu_gains(const reading *r, int64_t fields, size_t bytes) {
    const bool interleaves = r->planes && !r->whole && fields * (int64_t)bytes <= FEW_BYTES;
    return bytes <= 2 && !r->backwards && (interleaves || (fields == FEW_FIELDS && (r->shared || r->strided || r->planes)));
}

/* Whether fields that are something else each are worth it on a GPU, where a thread would compute each of them for one: of three, whose vectors mix them, those of up to four bytes (an H200: three f32 of three 0.116 -> 0.097 ms, of sines and cosines 0.210 -> 0.102; three f64 0.139 -> 0.168),
 * of others those of which a thread has several records in words. */
static bool gpu_chooses(int64_t fields, size_t bytes) { return fields == FEW_FIELDS ? bytes <= 4 : fields * (int64_t)bytes <= FEW_BYTES; }

static bool gains(const reading *r, bool gpu, bool chosen, int behind, int64_t fields, size_t bytes) {
    if (chosen && behind == 0) {
        return !gpu || gpu_chooses(fields, bytes);
    }
    if (r->computed * (uint32_t)fields > MOST_COMPUTED) {
        return false;
    }
    return behind > 0 ? r->turned : gpu ? gpu_gains(r, fields, bytes) : processor_gains(r, fields, bytes);
}

static bool are_fields(const krf__lowering *l, uint32_t root, int axis, bool chosen) {
    const krf_graph *g = l->out;
    const krf__node *n = krf__node_of(g, root);
    const int64_t *shape = krf__shape_of(g, root);
    const int behind = n->rank - 1 - axis;
    reading r = {0};
    krf__under under;
    if (!krf__find_under(g, 1, &root, KRF__MOST_REPEATED, &under)) {
        return false;
    }
    for (uint32_t i = 0; i < under.n_computed; i++) {
        const krf__node *node = krf__node_of(g, under.computed[i]);
        r.gathered |= node->op == KRF__gather;
        r.computed += node->op == KRF__cast ? 0 : krf__op_is_costly((krf__op)node->op, krf__dtype((krf_dtype)node->dtype)->kind) ? COSTLY : 1;
    }
    for (uint32_t i = 0; i < under.n_leaves; i++) {
        note_leaf(g, under.leaves[i], behind, shape[axis], &r);
    }
    return gains(&r, l->many_threads, chosen, behind, shape[axis], krf_dtype_size((krf_dtype)n->dtype));
}

int krf__lower_fields(const krf__lowering *l, uint32_t root, int chosen) {
    const krf__node *n = krf__node_of(l->out, root);
    const int64_t *shape = krf__shape_of(l->out, root);
    int found = -1;
    for (int axis = n->rank - 1; axis >= 0 && found < 0 && n->rank > 1; axis--) {
        const int beside = axis == n->rank - 1 ? axis - 1 : n->rank - 1;
        found = parts(shape[axis]) && shape[beside] >= LEAST_RECORDS && are_fields(l, root, axis, axis == chosen) ? axis : -1;
    }
    return found;
}
