/* Makes a kernel ready for the interpreter (program.h): describes operands, finds how often values change and where
 * they are last used, gives out registers, and lists the steps. A step's destination is never one of its sources, so
 * the loops may be vectorised without a check. Stores that may overlap loads are put off to the end of the block. */
#include "backend/cpu/program.h"
#include "base/fail.h"
#include "base/mem.h"
#include <string.h>

/* ---- operands ---- */

static void set_dimensions(krf__program *p, const krf__kernel *k) {
    const int counts[2] = {k->n_kept, k->n_reduced};
    int d = 0;
    for (int g = 0; g < 2; g++) {
        for (int i = 0; i < counts[g]; i++, d++) {
            if (k->extents[d] == 1) {
                continue;
            }
            for (uint32_t o = 0; o < k->n_operands; o++) {
                p->accesses[o].strides[g][p->rank[g]] = k->operands[o].strides[d];
            }
            p->extents[g][p->rank[g]++] = k->extents[d];
        }
        if (p->rank[g] == 0) {
            p->extents[g][p->rank[g]++] = 1;
        }
    }
}

static void describe_layout(const krf__program *p, krf__access *a) {
    for (int g = 0; g < 2; g++) {
        int64_t gapless = 1;
        a->constant[g] = a->contiguous[g] = true;
        for (int d = p->rank[g] - 1; d >= 0; d--) {
            a->constant[g] &= a->strides[g][d] == 0;
            a->contiguous[g] &= a->strides[g][d] == gapless;
            gapless *= p->extents[g][d];
        }
    }
}

/* The addresses an operand can touch: [*low, *high). */
static void address_range(const krf__program *p, const krf__access *a, uintptr_t *low, uintptr_t *high) {
    *low = (uintptr_t)a->base, *high = *low + (uintptr_t)a->bytes;
    for (int g = 0; g < 2; g++) {
        for (int d = 0; d < p->rank[g]; d++) {
            int64_t reach = (p->extents[g][d] - 1) * a->strides[g][d] * a->bytes;
            *low += reach < 0 ? (uintptr_t)reach : 0;
            *high += reach > 0 ? (uintptr_t)reach : 0;
        }
    }
}

/* What is gathered never overlaps what is stored: exec.c sees to it. */
static bool gathered(const krf__program *p, uint32_t operand) { return p->k->operands[operand].gathered; }

/* Every pair of a store and a load is looked at: kernels store few arrays. */
static void find_aliases(krf__program *p) {
    for (uint32_t s = 0; s < p->k->n_operands; s++) {
        krf__access *store = &p->accesses[s];
        uintptr_t low, high;
        if (!store->store) {
            continue;
        }
        address_range(p, store, &low, &high);
        for (uint32_t l = 0; l < p->k->n_operands; l++) {
            krf__access *load = &p->accesses[l];
            uintptr_t load_low, load_high;
            if (load->store || load->counts || gathered(p, l)) {
                continue;
            }
            address_range(p, load, &load_low, &load_high);
            if (load_low < high && low < load_high) {
                load->aliased = store->aliased = true;
            }
        }
    }
}

static void describe_operands(krf__program *p, void *const *pointers) {
    const krf__kernel *k = p->k;
    set_dimensions(p, k);
    for (uint32_t o = 0; o < k->n_operands; o++) {
        krf__access *a = &p->accesses[o];
        a->base = pointers[o];
        a->store = k->operands[o].store;
        a->counts = k->operands[o].counts;
        a->bytes = a->counts ? 1 : krf__dtype(k->operands[o].dtype)->bytes;
        describe_layout(p, a);
    }
    find_aliases(p);
}

/* ---- values ---- */

static krf__loop *loop_of(const krf__program *p, const krf__instr *i) {
    return i->op == KRF__cast ? p->loops->cast[i->from][i->dtype] : p->loops->elementwise[i->from][i->op];
}

static krf_status broken(const krf__kernel *k, uint32_t i) {
    return krf__fail(KRF_E_INTERNAL, "kernel %s breaks its contract at instruction %u", k->name, (unsigned)i);
}

static int arity_of(const krf__instr *in) { return krf__op_info_of((krf__op)in->op)->arity; }

/* What an instruction's operand has to be; KRF__DTYPE_COUNT: anything. */
static int operand_dtype(const krf__instr *in, int arg) {
    return in->op == KRF__where && arg == 0 ? KRF__DTYPE_BOOL : in->from;
}

/* What the interpreter relies on: operands come first and have the right dtypes, and there is a loop. */
static bool instruction_valid(const krf__program *p, uint32_t i) {
    const krf__kernel *k = p->k;
    const krf__instr *in = &k->instrs[i];
    const bool reduction = i >= k->n_domain && i < k->n_domain + k->n_reductions;
    if (in->op >= KRF__OP_COUNT || in->dtype >= KRF__DTYPE_COUNT || in->from >= KRF__DTYPE_COUNT
        || reduction != krf__op_folds((krf__op)in->op)) {
        return false;
    }
    for (int a = 0; a < (reduction ? 1 : arity_of(in)); a++) {
        const uint32_t arg = in->args[a];
        const int dtype = reduction || in->op == KRF__store ? in->dtype : operand_dtype(in, a);
        if (arg >= i || (reduction && arg >= k->n_domain) || k->instrs[arg].dtype != dtype
            || k->instrs[arg].op == KRF__store) {
            return false;
        }
        if (i >= k->n_domain && !reduction && arg < k->n_domain && p->values[arg].level != KRF__FIXED) {
            return false;
        }
    }
    switch (in->op) {
    case KRF__constant: return true;
    case KRF__scalar: return in->slot < k->n_scalars;
    case KRF__load:
    case KRF__fetch:
    case KRF__store:
        return in->slot < k->n_operands && k->operands[in->slot].store == (in->op == KRF__store)
               && gathered(p, in->slot) == (in->op == KRF__fetch) && k->operands[in->slot].dtype == in->dtype;
    default: return reduction ? p->loops->combine[in->dtype][krf__op_reduction((krf__op)in->op)] != NULL : loop_of(p, in) != NULL;
    }
}

static uint8_t level_of(const krf__program *p, uint32_t i) {
    const krf__kernel *k = p->k;
    const krf__instr *in = &k->instrs[i];
    const bool in_domain = i < k->n_domain;
    if (in->op == KRF__store || (!in_domain && i < k->n_domain + k->n_reductions)) {
        return KRF__PER_ELEMENT;
    }
    uint8_t level = KRF__FIXED;
    if (in->op == KRF__load || in->op == KRF__fetch) {
        const krf__access *a = &p->accesses[in->slot];
        if (a->aliased || (in_domain && k->reduced_size == 0)) {
            return KRF__PER_ELEMENT; /* to be read when its turn comes, or never */
        }
        if (!a->constant[KRF__KEPT] || !a->constant[KRF__REDUCED]) {
            bool rows = in_domain && !krf__is_map(k) && !p->tall;
            level = rows && a->constant[KRF__REDUCED] ? KRF__PER_RESULT : KRF__PER_ELEMENT;
        }
    }
    for (int a = 0; a < arity_of(in); a++) {
        level = p->values[in->args[a]].level > level ? p->values[in->args[a]].level : level;
    }
    return level;
}

/* Levels, last uses, and which values of lower levels blocks need. */
static krf_status find_values(krf__program *p) {
    const krf__kernel *k = p->k;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        krf__value *v = &p->values[i];
        const krf__instr *in = &k->instrs[i];
        if (!instruction_valid(p, i)) {
            return broken(k, i);
        }
        v->level = level_of(p, i);
        v->reg = KRF__NO_REGISTER;
        v->last_use = i;
        if (v->level < KRF__PER_ELEMENT) {
            p->low[v->level][p->n_low[v->level]++] = i;
        }
        const bool reduction = i >= k->n_domain && i < k->n_domain + k->n_reductions;
        for (int a = 0; a < (reduction ? 1 : arity_of(in)); a++) {
            krf__value *arg = &p->values[in->args[a]];
            arg->last_use = i > arg->last_use ? i : arg->last_use;
            arg->splatted |= arg->level < KRF__PER_ELEMENT && v->level == KRF__PER_ELEMENT;
            if (in->op == KRF__store) {
                arg->stored = true;
                if (p->accesses[in->slot].aliased) { /* put off to the end of the part */
                    arg->last_use = i < k->n_domain ? k->n_domain : k->n_instrs;
                }
            }
        }
    }
    return KRF_OK;
}

/* ---- steps and registers ---- */

typedef struct registers {
    uint32_t *free; /* a stack */
    uint32_t n_free, count;
} registers;

static void take_register(registers *r, krf__value *v) { v->reg = r->n_free > 0 ? r->free[--r->n_free] : r->count++; }

static void give_register(registers *r, const krf__value *v) { r->free[r->n_free++] = v->reg; }

/* A store of a value that is computed may go without a register. One store of a value only: others copy from there. */
static void find_direct(const krf__program *p, krf__part *part, uint32_t begin, const krf__instr *store) {
    const uint32_t source = store->args[0];
    bool direct = source >= begin && p->values[source].level == KRF__PER_ELEMENT && p->k->instrs[source].op != KRF__load
                  && !p->values[source].direct && !p->accesses[store->slot].aliased;
    if (direct) {
        p->values[source].direct = true;
        part->directs[part->n_directs++] = (krf__direct){source, store->slot};
    }
}

static void add_store(krf__part *part, uint32_t i, const krf__instr *store) {
    part->steps[part->n_steps++] =
        (krf__step){.args = {store->args[0]}, .out = i, .access = store->slot, .store = true};
}

/* Lists the steps of instructions [begin, end) and gives registers to their values. */
static void make_part(krf__program *p, krf__part *part, uint32_t begin, uint32_t end, registers *r) {
    const krf__kernel *k = p->k;
    for (uint32_t i = begin; i < end; i++) {
        const krf__instr *in = &k->instrs[i];
        krf__value *v = &p->values[i];
        if (v->level < KRF__PER_ELEMENT) {
            continue;
        }
        if (in->op == KRF__store) {
            find_direct(p, part, begin, in);
            if (!p->accesses[in->slot].aliased) {
                add_store(part, i, in);
            }
        } else {
            krf__step *step = &part->steps[part->n_steps++];
            *step = (krf__step){.out = i, .access = in->slot};
            take_register(r, v);
            if (in->op == KRF__load) {
                step->copy = v->stored && p->accesses[in->slot].aliased;
            } else {
                step->fetch = in->op == KRF__fetch;
                step->loop = step->fetch ? NULL : loop_of(p, in);
                memcpy(step->args, in->args, (size_t)arity_of(in) * sizeof *step->args);
            }
        }
        for (int a = 0; a < arity_of(in); a++) {
            krf__value *arg = &p->values[in->args[a]];
            if (arg->last_use == i && arg->level == KRF__PER_ELEMENT && in->args[a] >= begin) {
                arg->last_use = UINT32_MAX; /* it may be the other operand as well */
                give_register(r, arg);
            }
        }
    }
    for (uint32_t i = begin; i < end; i++) {
        const krf__instr *in = &k->instrs[i];
        if (in->op == KRF__store && p->accesses[in->slot].aliased) {
            add_store(part, i, in);
        }
    }
}

/* Values that outlive blocks come first, then those of the domain; the results' part uses the latter's again. */
static krf_status give_registers(krf__program *p, uint32_t *free_list) {
    const krf__kernel *k = p->k;
    const uint32_t body = k->n_domain + k->n_reductions, copies = p->tall ? KRF__TREE_LEVELS : 1;
    registers r = {.free = free_list};
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        krf__value *v = &p->values[i];
        if (v->splatted || (i >= k->n_domain && i < body)) {
            take_register(&r, v);
        }
    }
    const uint32_t accumulators = r.count;
    r.count += copies * k->n_reductions;
    const uint32_t first = r.count;
    if (k->reduced_size > 0) {
        make_part(p, &p->domain, 0, k->n_domain, &r);
    }
    for (r.n_free = 0; r.n_free < r.count - first;) {
        r.free[r.n_free] = first + r.n_free;
        r.n_free++;
    }
    make_part(p, &p->results, body, k->n_instrs, &r);

    p->register_memory = krf__malloc(((size_t)r.count + 1) * KRF__BLOCK_BYTES);
    if (p->register_memory == NULL) {
        return krf__fail_memory();
    }
    const size_t line = 64;
    char *base = (char *)p->register_memory + (line - (uintptr_t)p->register_memory % line) % line;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        krf__value *v = &p->values[i];
        v->home = v->reg == KRF__NO_REGISTER ? NULL : base + (size_t)v->reg * KRF__BLOCK_BYTES;
        v->at = v->home;
    }
    p->accumulators = base + (size_t)accumulators * KRF__BLOCK_BYTES;
    return KRF_OK;
}

/* ---- life ---- */

#define PREFETCH_FROM (1 << 15) /* elements of the domain; fewer stay in the caches */

/* Elements a register holds in the widest dtype of the kernel. */
static int64_t block_length(const krf__kernel *k) {
    int widest = 1;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        int bytes = krf__dtype(k->instrs[i].dtype)->bytes;
        widest = bytes > widest ? bytes : widest;
    }
    return KRF__BLOCK_BYTES / widest;
}

krf_status krf__program_open(krf__program *p, const krf__kernel *k, void *const *pointers, const uint64_t *scalars,
                             bool tall) {
    *p = (krf__program){.k = k, .loops = krf__loops_usable()[0], .tall = tall, .scalars = scalars};
    p->block = krf__is_map(k) ? block_length(k) : KRF__LANES;
    p->prefetch = !tall && (k->kept_size >= PREFETCH_FROM || k->reduced_size >= PREFETCH_FROM / k->kept_size);
    const size_t n = (size_t)k->n_instrs + 1;
    p->accesses = krf__calloc((size_t)k->n_operands + 1, sizeof *p->accesses);
    p->values = krf__calloc(n, sizeof *p->values);
    p->steps = krf__calloc(n, sizeof *p->steps);
    p->directs = krf__calloc((size_t)k->n_operands + 1, sizeof *p->directs);
    p->lists = krf__malloc(3 * n * sizeof *p->lists);
    if (!p->accesses || !p->values || !p->steps || !p->directs || !p->lists) {
        return krf__fail_memory();
    }
    p->low[KRF__FIXED] = p->lists;
    p->low[KRF__PER_RESULT] = p->lists + n;
    p->domain = (krf__part){.steps = p->steps, .directs = p->directs};
    p->results = (krf__part){.steps = p->steps + k->n_domain, .directs = p->directs};
    for (uint32_t i = 0; i < k->n_domain; i++) {
        p->results.directs += k->instrs[i].op == KRF__store;
    }
    describe_operands(p, pointers);
    krf_status status = find_values(p);
    if (status == KRF_OK) {
        status = give_registers(p, p->lists + 2 * n);
    }
    if (status == KRF_OK) {
        krf__program_refresh(p, KRF__FIXED, p->block);
    }
    return status;
}

void krf__program_close(krf__program *p) {
    krf__mem_free(p->accesses);
    krf__mem_free(p->values);
    krf__mem_free(p->steps);
    krf__mem_free(p->directs);
    krf__mem_free(p->lists);
    krf__mem_free(p->register_memory);
}
