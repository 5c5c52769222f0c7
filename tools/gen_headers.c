/* Prints the public headers that come from the tables: `gen_headers enums` gives include/kerfuse/enums.h, `gen_headers ops` gives
 * include/kerfuse/ops.h. Both are committed, so that editors and grep find them; a test compares them with this program's output. */
#include <stdio.h>
#include <string.h>

static void print_enums(void) {
    puts("/* Status codes and dtypes. Generated from src/ir/status.def and src/ir/dtypes.def: change those. */");
    puts("#ifndef KERFUSE_ENUMS_H\n#define KERFUSE_ENUMS_H\n");
    puts("typedef enum krf_status {");
#define STATUS(name, text) printf("    KRF_%s, /* %s */\n", #name, text);
#include "ir/status.def"
#undef STATUS
    puts("} krf_status;\n");
    puts("typedef enum krf_dtype {");
#define DTYPE(NAME, name, numpy, KIND, bytes, c_type, suffix) printf("    KRF_%s, /* %d-byte %s */\n", #NAME, bytes, #c_type);
#include "ir/dtypes.def"
#undef DTYPE
    puts("} krf_dtype;\n\n#endif");
}

static const char *elementwise_arguments(int arity, const char *rule) {
    static const char *const lists[] = {"void", "krf_expr x", "krf_expr x, krf_expr y", "krf_expr x, krf_expr y, krf_expr z"};
    return strcmp(rule, "WHERE") == 0 ? "krf_expr condition, krf_expr y, krf_expr z" : lists[arity];
}

static void print_op(const char *name, int arity, const char *rule, const char *doc) {
    printf("/* %s */\nKRF_API krf_expr krf_%s(%s);\n\n", doc, name, elementwise_arguments(arity, rule));
}

static void print_reduction(const char *name, const char *doc) {
    printf("/* %s */\nKRF_API krf_expr krf_%s(krf_expr x, int n_axes, const int *axes, bool keepdims);\n\n", doc, name);
}

static void print_ops(void) {
    puts("/* The operations. Generated from src/ir/ops.def: change that.\n"
         " *\n"
         " * Every function appends a node to the graph of its operands and returns it; none evaluates anything, and none fails loudly: poison in, poison\n"
         " * out, and krf_graph_error tells why. Operands broadcast as in NumPy and are promoted as docs/semantics.md says; all must be of one graph.\n"
         " *\n"
         " * Reductions: axes: n_axes distinct axes, negative ones counted from the end; NULL for all axes. keepdims: reduced axes stay with extent 1.\n"
         " * Sums and products of floats are taken in one fixed order, the same on every device. */");
    puts("#ifndef KERFUSE_OPS_H\n#define KERFUSE_OPS_H\n\n#include <kerfuse/expr.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
#define NODE(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define COMBINE(...)
#define ALIAS(...)
#define OP(name, arity, rule, infix, doc) print_op(#name, arity, #rule, doc);
#define REDUCE(name, rule, doc) print_reduction(#name, doc);
#include "ir/ops.def"
#include "ir/ops_undef.h"
    puts("#ifdef __cplusplus\n}\n#endif\n\n#endif");
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "enums") == 0) {
        print_enums();
    } else if (argc == 2 && strcmp(argv[1], "ops") == 0) {
        print_ops();
    } else {
        fputs("usage: gen_headers enums|ops\n", stderr);
        return 2;
    }
    return 0;
}
