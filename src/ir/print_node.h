/* The text of one node over the texts of its operands: what print.c puts together. Nobody else includes this. */
#ifndef KRF_IR_PRINT_NODE_H
#define KRF_IR_PRINT_NODE_H

#include "ir/graph.h"

/* How tightly a text binds, so that an operand is put in parentheses only where it must be. Binary operators have 1
 * to 7. */
enum { KRF__LEVEL_COMPARE = 1, KRF__LEVEL_UNARY = 8, KRF__LEVEL_POWER = 9, KRF__LEVEL_ATOM = 10 };

typedef struct krf__text {
    char *data; /* owned; NULL: none yet */
    size_t length;
    int level;
    int depth; /* nested brackets */
    bool cut;  /* the end is missing */
} krf__text;

/* Appends the text of a node that is no leaf. texts: of all nodes, by index; constants need none. Sets level and depth
 * of *facts. */
void krf__print_node(const krf_graph *g, uint32_t id, const krf__text *texts, krf__str *out, krf__text *facts);

/* Appends a constant that stands alone. */
void krf__print_constant(const krf_graph *g, uint32_t id, krf__str *out);

/* Constant c as operand i of a node; parent NULL: alone. */
void krf__print_literal(krf__str *out, const krf_graph *g, const krf__node *parent, int i, const krf__node *c);

/* The operand that is written for operand i: it lies behind a conversion that the builder makes again by itself. */
uint32_t krf__print_operand(const krf_graph *g, uint32_t id, int i);
int krf__print_arity(const krf_graph *g, uint32_t id); /* how many of them a node has */

#endif
