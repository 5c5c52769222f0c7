/* What takes long and is made of one byte has 256 values at most: where there are elements enough, a kernel computes these once, and elements take theirs from such a table. The bits are the
 * same, as the same functions make them. On an H100, ms of 64M: gamma correction of u8 0.201 -> 0.055, sRGB decoding into f32 0.262 -> 0.119, a mean of powers 0.260 -> 0.037; of 8M on a CPU
 * 4.1 -> 1.2, 4.4 -> 1.0 and 3.9 -> 0.9. */
#include "base/fail.h"
#include "base/mem.h"
#include "ir/build.h"
#include "ir/build_composed.h"
#include "pass/pass.h"

enum { BYTES = 256, COSTLY = 20, POWER = 40, DIVISION = 4, MOST_COST = 1000 };
#define LEAST_GPU 22 /* what is computed, from which on a table is faster: more than a function there, which memory keeps waiting, and half as much again where vectors of functions are fast */
#define LEAST_CPU 30

/* Facts of a node, as bits. */
enum {
    FROM_MEMORY = 1, /* made of arrays and views of them, element by element: no kernel that goes over rows computes it, and none turns tiles of it */
    LOOKS_UP = 2,    /* whatever uses it may take it from a table */
    SETTLED = 4,     /* a reduction whose result nothing larger uses: none goes over its rows again */
    WANTED = 8,      /* a table of it, or of what is made of it, is made */
    LOOKED_UP = 16   /* elements come from its own */
};

typedef struct making {
    const krf_graph *in;
    krf_graph *out;
    const krf__limits *limits;
    uint32_t *map, *table; /* what became of a node, and of its values for all bytes; 0: not made */
    uint32_t *byte;        /* the one node of bytes that it is made of, element by element; 0: of others as well, or of none */
    uint16_t *cost;        /* from there */
    uint8_t *facts;
} making;

static bool is_byte(krf_dtype dtype) { return dtype == KRF_U8 || dtype == KRF_I8; }

/* Complex numbers are made of two real ones when this pass sees them, and of nothing else. */
static bool each_element(const krf__node *n) { return !krf__is_complex((krf_dtype)n->dtype) && ((krf__op_info_of((krf__op)n->op)->class_ == KRF__CLASS_ELEMENTWISE && n->op != KRF__call) || n->op == KRF__cast); }

static int64_t size_of(const krf_graph *g, uint32_t id) { return krf__shape_size(krf__node_of(g, id)->rank, krf__shape_of(g, id)); }

static int own_cost(const krf_graph *g, const krf__node *n) {
    const krf_dtype from = krf__dtype_of(g, n->args[0]);
    const int f64 = krf__is_real(from) && krf_dtype_size(from) == 8 ? 2 : 1;
    if (n->op == KRF__power && krf__is_real(from)) {
        return f64 * POWER;
    }
    if (krf__op_is_costly((krf__op)n->op, krf__dtype(from)->kind)) {
        return f64 * COSTLY;
    }
    return n->op == KRF__cast ? 0 : n->op == KRF__divide || n->op == KRF__sqrt || n->op == KRF__floor_divide || n->op == KRF__remainder ? f64 * DIVISION : 1;
}

/* What a node is made of, from what its operands are. */
static void trace(making *m, uint32_t id) {
    const krf__node *n = krf__node_of(m->in, id);
    const int arity = krf__op_info_of((krf__op)n->op)->arity;
    const krf__op_class class_ = krf__op_info_of((krf__op)n->op)->class_;
    bool memory = class_ != KRF__CLASS_REDUCE && class_ != KRF__CLASS_SCAN && n->op != KRF__raw_kernel && n->op != KRF__call && n->op != KRF__transpose, one = each_element(n) && n->rank > 0;
    uint32_t byte = 0;
    int cost = own_cost(m->in, n);
    for (int k = 0; k < arity; k++) {
        const uint32_t x = n->args[k];
        memory &= (m->facts[x] & FROM_MEMORY) != 0;
        if (krf__node_of(m->in, krf__unbroadcast(m->in, x))->rank > 0) {
            one &= m->byte[x] != 0 && (byte == 0 || byte == m->byte[x]) && krf__same_shape(m->in, x, id);
            byte = m->byte[x];
            cost += m->cost[x];
        }
    }
    m->facts[id] |= memory ? FROM_MEMORY : 0;
    if (one && byte != 0) {
        m->byte[id] = byte;
        m->cost[id] = (uint16_t)(cost < MOST_COST ? cost : MOST_COST);
    } else if (memory && is_byte((krf_dtype)n->dtype) && n->rank > 0) {
        m->byte[id] = id;
    }
}

/* Whether a user takes an operand element by element, or some of its elements, or adds them up for good. */
static bool takes_from_table(const making *m, uint32_t user, uint32_t x) {
    const krf__node *n = krf__node_of(m->in, user);
    if (krf__op_info_of((krf__op)n->op)->class_ == KRF__CLASS_REDUCE) {
        return n->op != KRF__fold && (m->facts[user] & SETTLED) != 0;
    }
    if (n->op == KRF__slice || n->op == KRF__reshape) {
        return (m->facts[user] & LOOKS_UP) != 0;
    }
    return each_element(n) && krf__same_shape(m->in, user, x) && (m->facts[user] & LOOKS_UP) != 0;
}

/* From the users to what they use: what may come from a table, and, among that, what others than its own kind use. */
static void choose(making *m, int n_outputs, const uint32_t *outputs) {
    const krf_graph *g = m->in;
    for (uint32_t id = 1; id < g->n_nodes; id++) {
        m->facts[id] |= LOOKS_UP | SETTLED;
    }
    for (int k = 0; k < n_outputs; k++) {
        m->facts[outputs[k]] |= LOOKED_UP;
    }
    for (uint32_t id = (uint32_t)g->n_nodes - 1; id > 0; id--) {
        const krf__node *n = krf__node_of(g, id);
        const int64_t size = size_of(g, id);
        for (int k = 0; k < krf__op_info_of((krf__op)n->op)->arity; k++) {
            const uint32_t x = n->args[k];
            m->facts[x] &= (uint8_t)(takes_from_table(m, id, x) ? UINT8_MAX : ~LOOKS_UP);
            m->facts[x] &= (uint8_t)((m->facts[id] & SETTLED) != 0 && size <= size_of(g, x) ? UINT8_MAX : ~SETTLED);
            m->facts[x] |= m->byte[x] != m->byte[id] ? LOOKED_UP : 0;
        }
        const int least = m->limits->many_threads ? LEAST_GPU : LEAST_CPU;
        const bool table = m->byte[id] != 0 && m->byte[id] != id && (m->facts[id] & LOOKS_UP) != 0 && m->cost[id] >= least && size >= (int64_t)m->limits->tables;
        m->facts[id] &= (uint8_t)(table ? UINT8_MAX : ~LOOKED_UP);
        m->facts[id] |= (m->facts[id] & LOOKED_UP) != 0 ? WANTED : 0;
        for (int k = 0; k < 3 && (m->facts[id] & WANTED) != 0 && m->byte[id] != id; k++) {
            m->facts[n->args[k]] |= WANTED;
        }
    }
}

static uint32_t all_bytes(krf_graph *g, krf_dtype dtype) {
    const uint32_t bytes = krf__build_cast(g, krf__build_arange(g, 0, BYTES, 1), KRF_U8);
    return dtype == KRF_U8 ? bytes : krf__build_cast(g, bytes, dtype);
}

/* The node's values for all bytes. */
static uint32_t table_of(const making *m, uint32_t id) {
    krf__node node = *krf__node_of(m->in, id);
    const int64_t shape = BYTES;
    if (m->byte[id] == id) {
        return all_bytes(m->out, (krf_dtype)node.dtype);
    }
    for (int k = 0; k < krf__op_info_of((krf__op)node.op)->arity; k++) {
        const uint32_t x = node.args[k], value = krf__unbroadcast(m->in, x);
        node.args[k] = krf__node_of(m->in, value)->rank == 0 ? m->map[value] : m->table[x];
        if (node.args[k] == 0) {
            return 0;
        }
    }
    node.rank = 1;
    return krf__graph_add(m->out, &node, &shape, krf__ints_of(m->in, id));
}

static uint32_t taken(const making *m, uint32_t id) {
    const uint32_t byte = m->map[m->byte[id]];
    return krf__build_take(m->out, m->table[id], krf__build_cast(m->out, byte, KRF_U8), 0);
}

static bool make(making *m, uint32_t id) {
    krf__node node = *krf__node_of(m->in, id);
    if ((m->facts[id] & WANTED) != 0 && m->byte[id] != 0) {
        m->table[id] = table_of(m, id);
        if (m->table[id] == 0) {
            return false;
        }
    }
    if (krf__copy_leaf(m->in, id, m->out, &m->map[id])) {
        return m->map[id] != 0;
    }
    if ((m->facts[id] & LOOKED_UP) != 0) {
        m->map[id] = taken(m, id);
        return m->map[id] != 0;
    }
    for (int k = 0; k < 3; k++) {
        node.args[k] = m->map[node.args[k]];
    }
    m->map[id] = krf__graph_add(m->out, &node, krf__shape_of(m->in, id), krf__ints_of(m->in, id));
    return m->map[id] != 0;
}

bool krf__has_bytes(const krf_graph *g, const krf__limits *limits) {
    bool any = false;
    for (uint32_t id = 1; id < g->n_nodes && !any && limits->tables > 0; id++) {
        any = is_byte(krf__dtype_of(g, id)) && size_of(g, id) >= (int64_t)limits->tables;
    }
    return any;
}

krf_status krf__tables(const krf_graph *in, const krf__limits *limits, int n, uint32_t *outputs, krf_graph *out) {
    krf_status status = krf__canon(in, 0, NULL, out);
    if (status != KRF_OK) {
        return status;
    }
    const size_t nodes = in->n_nodes;
    uint32_t *ids = krf__calloc(3 * nodes, sizeof *ids);
    uint16_t *cost = krf__calloc(nodes, sizeof *cost);
    uint8_t *facts = krf__calloc(nodes, sizeof *facts);
    making m = {in, out, limits, ids, ids + nodes, ids + 2 * nodes, cost, facts};
    status = ids == NULL || cost == NULL || facts == NULL ? krf__fail_memory() : KRF_OK;
    for (uint32_t id = 1; id < nodes && status == KRF_OK; id++) {
        trace(&m, id);
    }
    if (status == KRF_OK) {
        choose(&m, n, outputs);
    }
    for (uint32_t id = 1; id < nodes && status == KRF_OK; id++) {
        status = make(&m, id) ? KRF_OK : out->status;
    }
    for (int k = 0; k < n && status == KRF_OK; k++) {
        outputs[k] = m.map[outputs[k]];
    }
    krf__mem_free(ids);
    krf__mem_free(cost);
    krf__mem_free(facts);
    if (status != KRF_OK) {
        krf__graph_free(out);
    }
    return status;
}
