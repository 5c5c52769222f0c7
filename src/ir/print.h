/* Printing one expression; krf__print, which prints a whole program, is declared in text.h. */
#ifndef KRF_IR_PRINT_H
#define KRF_IR_PRINT_H

#include "ir/graph.h"

/* One nested expression, its leaves called x0, x1, ... in order of appearance (scalars s0, ...), cut at about `limit`
 * characters with "..."; of a large graph the operation alone. For comments: names that users chose never appear. */
void krf__print_expression(const krf_graph *g, uint32_t node, size_t limit, krf__str *out);

#endif
