/* What the CUDA target asks of an operand before it prints anything: whether the domain part reads or writes it, and whether it moves by whole vectors. */
#include "codegen/cuda.h"

#define MOST_ROWS 4 /* whose addresses have registers of their own */

bool krf__cuda_in_domain(const krf__emitter *e, uint32_t operand, krf__op op) {
    for (uint32_t n = 0; n < e->k->n_domain; n++) {
        krf__op is = e->k->instrs[n].op == KRF__fetch ? KRF__load : (krf__op)e->k->instrs[n].op;
        if (is == op && e->k->instrs[n].slot == operand) {
            return true;
        }
    }
    return false;
}

bool krf__cuda_vectored(const krf__emitter *e, uint32_t operand) { return (e->k->operands[operand].aligned || e->k->period > 0) && !e->k->operands[operand].counts; }

bool krf__cuda_reads_again(const krf__emitter *e, uint32_t operand) {
    const krf__kernel *k = e->k;
    bool again = false;
    for (int d = 0; d < k->n_kept + k->n_reduced - 1; d++) {
        for (uint32_t i = 0; i < k->n_operands && krf__stride_class(k, &k->operands[operand], d) == 0; i++) {
            again |= krf__stride_class(k, &k->operands[i], d) != 0;
        }
    }
    return again;
}

/* Of rows that come at once, for each of their loads has a condition, under which compilers compute it anew, out of constants that are loaded there. In loops over long rows it does harm (sums of 4,096 i32 0.0319 -> 0.0344 ms), and where rows drift (means of 1,001 bf16 0.0319 -> 0.0336; places gain). */
bool krf__cuda_has_row(const krf__emitter *e, uint32_t operand) {
    const krf__operand *o = &e->k->operands[operand];
    int loads = 0;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        loads += krf__cuda_in_domain(e, i, KRF__load);
    }
    return e->k->once && (!e->k->drifts || e->k->places) && loads <= MOST_ROWS && !o->counts && !o->gathered && o->beside == 0 && o->record == 0;
}

void krf__cuda_put_base(const krf__emitter *e, uint32_t operand, krf__str *out) {
    krf__str_printf(out, krf__cuda_has_row(e, operand) ? "from_%s" : "a.%s", e->operand_names[operand]);
}

const char *krf__cuda_vector_type(int bytes) {
    switch (bytes) {
    case 16: return "uint4";
    case 8: return "uint2";
    case 4: return "unsigned";
    case 2: return "unsigned short";
    default: return "unsigned char";
    }
}

static int bytes_of(const krf__emitter *e, uint32_t operand) { return (int)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype) * e->k->vector; }

int krf__cuda_words(const krf__emitter *e, uint32_t operand) { return (e->k->schedule == KRF__MAP || e->k->strip > 0) && bytes_of(e, operand) > 16 ? bytes_of(e, operand) / 16 : 1; }
const char *krf__cuda_word_type(const krf__emitter *e, uint32_t operand) { return krf__cuda_vector_type(bytes_of(e, operand) / krf__cuda_words(e, operand)); }

bool krf__cuda_has_tail(const krf__kernel *k) { return k->vector > 1 && (k->n_kept == 1 || k->flat); }

bool krf__cuda_goes_by(const krf__emitter *e) { return e->k->team > 1 && krf__stores_elements(e->k) && !e->k->relay; }

const char *krf__cuda_as_word(const krf__emitter *e, uint32_t operand) { return krf__cuda_vectored(e, operand) ? ".word" : ""; }
