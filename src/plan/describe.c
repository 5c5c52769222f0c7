/* What a kernel computes, in the words of its graph: its expression, and the dtype that stands for what users accumulate in. */
#include "plan/describe.h"

#include "base/fail.h"
#include "ir/print.h"

uint8_t krf__accumulator_dtype(const krf_graph *g, uint32_t id) {
    const krf_op *map = krf__result_of(krf__node_of(g, id)->value)->op->map;
    uint32_t operands[KRF__MOST_DEFINED];
    uint8_t dtypes[KRF__MOST_DEFINED], letters[26];
    for (int i = krf__operands(g, id, operands) - 1; i >= 0; i--) {
        dtypes[i] = krf__node_of(g, operands[i])->dtype;
    }
    krf__op_letters(map, dtypes, letters);
    const krf_dtype dtype = krf__variable_dtype(&map->variables[0], letters);
    return (uint8_t)(map->n_results > 1 ? KRF_F64 : krf__is_half(dtype) ? KRF_F32 : dtype);
}

krf_status krf__kernel_describe(const krf__planning *p, uint32_t index, krf__kernel *k) {
    krf__str text = {0};
    const uint32_t rounds = p->fusion->groups[index].rounds;
    for (uint32_t i = index; i < index + rounds; i++) {
        const krf__group *group = &p->fusion->groups[i];
        for (uint32_t r = 0; r < group->n_elements && text.length < 200; r++) {
            krf__str_put(&text, text.length > 0 ? ", " : "");
            krf__print_expression(p->g, group->elements[r], 200 - text.length, &text);
        }
        for (uint32_t r = 0; r < group->n_roots && text.length < 200; r++) {
            if (rounds == 1 || p->fusion->stored[group->roots[r]]) {
                krf__str_put(&text, text.length > 0 ? ", " : "");
                krf__print_expression(p->g, group->roots[r], 200 - text.length, &text);
            }
        }
    }
    k->expression = krf__str_take(&text);
    return k->expression != NULL ? KRF_OK : krf__fail_memory();
}
