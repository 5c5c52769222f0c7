/* A kernel's body while it is built from a group: what stands in it by now, and the parts that add to it, each of which calls those before it. Nobody but build*.c includes this. */
#ifndef KRF_PLAN_BUILDING_H
#define KRF_PLAN_BUILDING_H

#include "plan/build.h"

typedef struct building {
    krf__planning *p;
    krf__kernel *k;
    const krf__group *group;
    uint32_t group_index;
    uint32_t head;            /* the first group of the kernel */
    uint32_t first;           /* instruction of the round */
    bool epilogue;            /* instructions are being added to the part over results */
    int result_rank;          /* there: of the values */
    int domain_rank;
    const int64_t *domain;    /* extents of the domain's axes */
    int dim_of_axis[KRF_MAX_RANK];
    int n_touched;
    size_t operands_capacity, scalars_capacity, instrs_capacity, ops_capacity;
} building;

/* build_operands.c: instructions and operands; UINT32_MAX when out of memory. */
bool krf__reduced_axis(const building *b, int axis);
void krf__set_strides(const building *b, krf__operand *o, const krf__layout *layout);
uint32_t krf__add_instr(building *b, krf__instr instr);
uint32_t krf__add_operand(building *b, const krf__operand *o);
void krf__use_buffer(building *b, uint32_t buffer);
uint32_t krf__add_read(building *b, uint32_t id, bool gathered);
uint32_t krf__add_inner(building *b, uint32_t id, bool store);
uint32_t krf__add_leaf(building *b, uint32_t id);
bool krf__loaded(const building *b, uint32_t id);
uint32_t krf__value_behind(const building *b, uint32_t id);

/* build_values.c: what a value needs, operands before users. */
krf_status krf__note(building *b, uint32_t id, uint32_t instr);
bool krf__keep_op(building *b, const krf_op *op);
krf_status krf__add_value(building *b, uint32_t root);

/* build_stores.c: what roots are made of, and their stores. */
krf_status krf__add_root(building *b, uint32_t id);
krf_status krf__store_root(building *b, uint32_t id);

#endif
