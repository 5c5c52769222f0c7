/* Prints what comes from the tables: `gen_headers enums` gives include/kerfuse/enums.h, `gen_headers ops` gives include/kerfuse/ops.h,
 * `gen_headers functions` docs/functions.md. All are committed, so that editors and grep find them; a test compares them with this program's
 * output. */
#include <stdbool.h>
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
#define DTYPE(NAME, name, numpy, KIND, bytes, storage, ...) printf("    KRF_%s, /* in memory: %s */\n", #NAME, #storage);
#define COMPLEX(NAME, name, numpy, bytes, PART) printf("    KRF_%s, /* in memory: two %s, the real part first */\n", #NAME, #PART);
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

static void print_scan(const char *name, const char *doc) {
    printf("/* %s */\nKRF_API krf_expr krf_%s(krf_expr x, int axis);\n\n", doc, name);
}

static void print_ops(void) {
    puts("/* The operations. Generated from src/ir/ops.def: change that.\n"
         " *\n"
         " * Every function appends a node to the graph of its operands and returns it; none evaluates anything, and none fails loudly: poison in, poison\n"
         " * out, and krf_graph_error tells why. Operands broadcast as in NumPy and are promoted as docs/semantics.md says; all must be of one graph.\n"
         " *\n"
         " * Reductions: axes: n_axes distinct axes, negative ones counted from the end; NULL for all axes. keepdims: reduced axes stay with extent 1.\n"
         " * Sums and products of floats are taken in one fixed order, the same on every device.\n"
         " *\n"
         " * Scans: the result has the shape of x; axis counts from the end where it is negative. x of rank 0 is an error. */");
    puts("#ifndef KERFUSE_OPS_H\n#define KERFUSE_OPS_H\n\n#include <kerfuse/expr.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
#define NODE(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define COMBINE(...)
#define ALIAS(...)
#define OP(name, arity, rule, infix, doc) print_op(#name, arity, #rule, doc);
#define JOIN OP
#define REDUCE(name, rule, doc) print_reduction(#name, doc);
#define SCAN(name, reduction, doc) print_scan(#name, doc);
#include "ir/ops.def"
#include "ir/ops_undef.h"
    puts("/* Reductions that are expressions over those above. ddof: what is subtracted from the count; 1 for samples. */");
#define COMPOSED(name, doc) print_reduction(#name, doc);
#define DDOF(name, doc) \
    printf("/* %s */\nKRF_API krf_expr krf_%s(krf_expr x, double ddof, int n_axes, const int *axes, bool keepdims);\n\n", doc, #name);
#include "ir/composed.def"
    puts("#ifdef __cplusplus\n}\n#endif\n\n#endif");
}

/* ---- docs/functions.md ---- */

typedef struct gradient {
    const char *name, *by[3];
} gradient;

static const gradient gradients[] = {
#define NODE(...)
#define OP(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(name, ...) GRAD_(name, __VA_ARGS__, NONE, NONE, NONE)
#define GRAD_(name, dA, dB, dC, ...) {#name, {#dA, #dB, #dC}},
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
};

static const struct {
    const char *other, *name;
} aliases[] = {
#define NODE(...)
#define OP(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(other, name) {#other, #name},
#include "ir/ops.def"
#include "ir/ops_undef.h"
};

static const char *composed(const char *name) {
#define COMPOSE(name_, ...) \
    if (strcmp(name, #name_) == 0) { \
        return #__VA_ARGS__; \
    }
#include "ir/compose.def"
#undef COMPOSE
    return NULL;
}

static bool takes_complex(const char *name) {
#define COMPLEX(name_, ...) \
    if (strcmp(name, #name_) == 0) { \
        return true; \
    }
#define COMPOSED(name_) COMPLEX(name_, )
#include "ir/complex.def"
    return false;
}

static const char *measured(const char *ulp) { return ulp[0] != '\0' ? ulp : "-"; }

/* The largest errors found on the CPU and on a GPU, in ULP, "-" where none was measured; nothing for what is exact or rounds correctly. */
static void print_measured(const char *name) {
#define MEASURED(name_, cpu32, cpu64, cuda32, cuda64) \
    if (strcmp(name, #name_) == 0) { \
        printf("%s, %s | %s, %s", measured(cpu32), measured(cpu64), measured(cuda32), measured(cuda64)); \
        return; \
    }
#include "tests/math/measured.def"
#undef MEASURED
    fputs("| ", stdout);
}

/* "-INF" as "-inf", "0.0" as "0". */
static void print_number(const char *text) {
    for (const char *at = text; *at != '\0';) {
        static const char *const other[][2] = {{"INF", "inf"}, {"NAN", "nan"}, {"PI", "pi"}, {"0.0", "0"}};
        size_t i = 0;
        while (i < 4 && (strncmp(at, other[i][0], strlen(other[i][0])) != 0 || (i == 3 && at[3] != '\0'))) {
            i++;
        }
        if (i < 4) {
            fputs(other[i][1], stdout);
            at += strlen(other[i][0]);
        } else {
            putchar(*at++);
        }
    }
}

static void print_case(bool first, const char *x, const char *y, const char *result) {
    fputs(first ? "" : "; ", stdout);
    print_number(x);
    if (y != NULL) {
        fputs(", ", stdout);
        print_number(y);
    }
    fputs(": ", stdout);
    print_number(result);
}

static void print_special_cases(const char *name) {
    bool first = true;
#define ONE(name_, x, result) \
    if (strcmp(name, #name_) == 0) { \
        print_case(first, #x, NULL, #result); \
        first = false; \
    }
#define TWO(name_, x, y, result) \
    if (strcmp(name, #name_) == 0) { \
        print_case(first, #x, #y, #result); \
        first = false; \
    }
#include "tests/ops/special_cases.def"
#undef ONE
#undef TWO
}

static bool takes_bools(const char *name) {
    static const char *const names[] = {
#define NODE(...)
#define OP(...)
#define CODE(name, kind, ...) CODE_##kind(name)
#define CODE_BOOL(name) #name,
#define CODE_INT(name)
#define CODE_UINT(name)
#define CODE_SINT(name)
#define CODE_REAL(name)
#define CUDA(...)
#define GRAD(...)
#define REDUCE(...)
#define COMBINE(...)
#define ALIAS(...)
#include "ir/ops.def"
#include "ir/ops_undef.h"
    };
    bool takes = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        takes |= strcmp(names[i], name) == 0;
    }
    return takes;
}

/* What its rule admits, and what comes out. */
static const char *dtypes_of(const char *name, int arity, const char *rule) {
    const char *const known[][2] = {
        {"NUMBER", "numbers"},
        {"REAL", "real; integers and bools as floats"},
        {"COMPARE", "any; gives bool"},
        {"TEST", "any; gives bool"},
        {"LOGIC", "any, as bools; gives bool"},
        {"BITS", takes_bools(name) ? "bools and integers" : arity == 1 ? "integers" : "integers; bools beside them"},
        {"WHERE", "bool, then two of any"},
        {"ANY", "any"},
        {"ORDER", "real; gives i32, or i64 of f64"},
        {"PARTS", "two of real; gives complex"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(rule, known[i][0]) == 0) {
            return known[i][1];
        }
    }
    return rule;
}

/* By which operands there is a derivative. */
static void print_gradient(const char *name, int arity) {
    static const char *const operands[] = {"x", "y", "z"};
    const char *expression = composed(name);
    bool any = false, unknown = false;
    for (size_t i = 0; expression == NULL && i < sizeof gradients / sizeof *gradients; i++) {
        for (int k = 0; k < arity && strcmp(gradients[i].name, name) == 0; k++) {
            unknown |= strcmp(gradients[i].by[k], "UNKNOWN") == 0;
            if (strcmp(gradients[i].by[k], "NONE") != 0 && !unknown) {
                printf("%s%s", any ? ", " : "", operands[k]);
                any = true;
            }
        }
    }
    if (strcmp(name, "complex_of") == 0) {
        fputs("x, y", stdout);
    } else {
        fputs(expression != NULL ? "its parts'" : any ? "" : unknown ? "no" : "0", stdout);
    }
}

static void print_function(const char *name, int arity, const char *rule, const char *infix, const char *doc) {
    bool other = false;
    printf("| `%s`", name);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strcmp(aliases[i].name, name) == 0) {
            printf("%s`%s`", other ? ", " : " (", aliases[i].other);
            other = true;
        }
    }
    printf("%s | %s%s%s | %d | %s | %s | ", other ? ")" : "", infix[0] != '\0' ? "`" : "", strcmp(infix, "|") == 0 ? "\\|" : infix,
           infix[0] != '\0' ? "`" : "", arity, dtypes_of(name, arity, rule), takes_complex(name) || strcmp(rule, "LOGIC") == 0 ? "yes" : "");
    print_gradient(name, arity);
    fputs(" | ", stdout);
    print_measured(name);
    printf(" | %s", doc);
    if (composed(name) != NULL) {
        fputs(" A composition.", stdout);
    }
    fputs(" | ", stdout);
    print_special_cases(name);
    puts(" |");
}

static void print_functions(void) {
    puts("# Functions\n\n"
         "Generated from `src/ir/ops.def`, `src/ir/ops_real.def`, `src/ir/compose.def` and `src/ir/complex.def`: change those.\n\n"
         "In C each is `krf_<name>`; in the text form it goes by its name or by the names in brackets, and by its operator. Operands are promoted and\n"
         "broadcast as [semantics.md](semantics.md) says. Results on special values are those of the Array API standard and of IEEE 754;\n"
         "[accuracy.md](accuracy.md) says how errors were measured: the largest found stand in the table, for f32 and f64, where results are not\n"
         "rounded correctly anyway. Gradient: the operands by which there is a derivative; 0: there is none but 0; no: it is not known\n"
         "([gradients.md](gradients.md)). Special values, of f32 and f64: operands and result, from `tests/ops/special_cases.def`, which the tests hold\n"
         "every device to.\n\n"
         "## Elementwise\n\n"
         "| name | operator | operands | dtypes | complex | gradient | ULP, CPU | ULP, CUDA | what it computes | special values |\n|---|---|---|---|---|---|---|---|---|---|");
#define NODE(...)
#define CODE(...)
#define CUDA(...)
#define GRAD(...)
#define COMBINE(...)
#define ALIAS(...)
#define OP(name, arity, rule, infix, doc) print_function(#name, arity, #rule, infix, doc);
#define JOIN OP
#define REDUCE(...)
#include "ir/ops.def"
#undef OP
#undef JOIN
#undef REDUCE
#undef SCAN
    puts("\n## Reductions\n\n| name | what it computes |\n|---|---|");
#define OP(...)
#define REDUCE(name, rule, doc) printf("| `%s` | %s |\n", #name, doc);
#define SCAN(name, reduction, doc)
#include "ir/ops.def"
#undef REDUCE
#undef SCAN
    puts("\n## Scans\n\n| name | what it computes |\n|---|---|");
#define REDUCE(...)
#define SCAN(name, reduction, doc) printf("| `%s` | %s |\n", #name, doc);
#include "ir/ops.def"
#include "ir/ops_undef.h"
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "enums") == 0) {
        print_enums();
    } else if (argc == 2 && strcmp(argv[1], "ops") == 0) {
        print_ops();
    } else if (argc == 2 && strcmp(argv[1], "functions") == 0) {
        print_functions();
    } else {
        fputs("usage: gen_headers enums|ops|functions\n", stderr);
        return 2;
    }
    return 0;
}
