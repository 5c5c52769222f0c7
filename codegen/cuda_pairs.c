/* The CUDA target's largest and smallest halves of rows, as they are loaded: a GPU compares two with two others. For these no order matters, so that a thread has but one pair for each of a vector. */
#include "codegen/cuda.h"

/* What compares pairs, and what both of one are to be where there is nothing yet. */
typedef struct pairs {
    krf__op op;
    krf_dtype dtype;
    const char *larger, *nothing;
} pairs;

static const pairs all[] = {
    {KRF__max, KRF_F16, "krf_max_f16x2", "0xfc00fc00u"},
    {KRF__min, KRF_F16, "krf_min_f16x2", "0x7c007c00u"},
    {KRF__max, KRF_BF16, "krf_max_bf16x2", "0xff80ff80u"},
    {KRF__min, KRF_BF16, "krf_min_bf16x2", "0x7f807f80u"},
};

/* What is loaded, for the reduction to compare. */
static const krf__instr *load_of(const krf__kernel *k, uint32_t r) {
    const krf__instr *i = &k->instrs[k->instrs[k->n_domain + r].args[0]];
    return i->op == KRF__cast && i->dtype == KRF_F32 ? &k->instrs[i->args[0]] : i;
}

static const pairs *pairs_of(const krf__emitter *e, uint32_t r) {
    const krf__kernel *k = e->k;
    const krf__instr *load = load_of(k, r);
    const bool vectors = k->schedule == KRF__ROW && k->vector % 2 == 0 && !k->words && !k->drifts;
    if (!vectors || load->op != KRF__load || load->from != load->dtype || k->operands[load->slot].inner != 0 || !krf__cuda_vectored(e, load->slot)) {
        return NULL;
    }
    for (size_t p = 0; p < sizeof all / sizeof *all; p++) {
        if (all[p].op == (krf__op)k->instrs[k->n_domain + r].op && all[p].dtype == (krf_dtype)load->dtype) {
            return &all[p];
        }
    }
    return NULL;
}

bool krf__cuda_compares_pairs(const krf__emitter *e, uint32_t r) { return pairs_of(e, r) != NULL; }
bool krf__cuda_has_pairs(const krf__emitter *e, uint32_t r) { return e->twos && krf__cuda_compares_pairs(e, r); }

void krf__cuda_put_pairs(const krf__emitter *e, uint32_t r, krf__str *out) {
    const int n = e->k->vector / 2;
    krf__str_printf(out, "unsigned pair%u[%d];\n#pragma unroll\nfor (int n = 0; n < %d; n++) {\n    pair%u[n] = %s;\n}\n", r, n, n, r, pairs_of(e, r)->nothing);
}

void krf__cuda_put_pair_compared(const krf__emitter *e, uint32_t r, krf__str *out) {
    krf__str_put(out, krf__cuda_guards(e) ? "" : "if (valid) {\n    ");
    krf__str_printf(out, "pair%u[k] = %s(pair%u[k], v_%s[q].pair[k]);\n", r, pairs_of(e, r)->larger, r, e->operand_names[load_of(e->k, r)->slot]);
    krf__str_put(out, krf__cuda_guards(e) ? "" : "}\n");
}

void krf__cuda_put_pairs_tree(const krf__emitter *e, uint32_t r, krf__str *out) {
    const char *larger = pairs_of(e, r)->larger, *dtype = krf_dtype_name((krf_dtype)load_of(e->k, r)->dtype);
    krf__str_printf(out, "#pragma unroll\nfor (int n = 1; n < %d; n++) {\n    pair%u[0] = %s(pair%u[0], pair%u[n]);\n}\n", e->k->vector / 2, r, larger, r, r);
    krf__str_printf(out, "#pragma unroll\nfor (int d = 16; d > 0; d /= 2) {\n    pair%u[0] = %s(pair%u[0], __shfl_down_sync(0xffffffffu, pair%u[0], d));\n}\n", r, larger, r, r);
    krf__str_printf(out, "%s r%u = red%u(krf_low_%s(pair%u[0]), krf_high_%s(pair%u[0]));\n", krf__reduction_type(e, r), r, e->reduction + r, dtype, r, dtype, r);
}
