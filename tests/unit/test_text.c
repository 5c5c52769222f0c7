/* The text form: what parses to what, what is refused with which message, and that printing and parsing undo each other. Precedence is tested against
 * fully parenthesised text. The last tests feed long, deep, mutated and random programs, which must never do worse than fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "base/mem.h"
#include "ir/build.h"
#include "ir/print.h"
#include "ir/text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arrays have no storage here. Weak, so that the test also links with the whole library. */
__attribute__((weak)) krf_array *krf_array_retain(krf_array *array) { return array; }
__attribute__((weak)) void krf_array_release(krf_array *array) { (void)array; }
__attribute__((weak)) krf_context *krf_array_context(const krf_array *array) { (void)array; return NULL; }

enum { MOST = 16 };

typedef struct parsed {
    krf_graph g;
    krf_status status;
    int n;
    uint32_t results[MOST];
} parsed;

static int64_t extent_of_letter(void *user, const char *name) {
    (void)user;
    return name[0] >= 'a' && name[0] <= 'z' && name[1] == '\0' ? name[0] - 'a' + 1 : -1;
}

static void parse_with(parsed *r, const char *text, const krf__name *names, int n_names) {
    r->status = krf__parse(&r->g, text, names, n_names, extent_of_letter, NULL, MOST, r->results, &r->n);
    assert_int_equal(r->status, r->g.status);
    assert_true((r->status == KRF_OK) == (r->n > 0));
    if (r->status == KRF_OK) {
        assert_null(krf__graph_check(&r->g));
    }
}

static void parse(parsed *r, const char *text) {
    assert_int_equal(krf__graph_init(&r->g, NULL), KRF_OK);
    parse_with(r, text, NULL, 0);
}

static char *print(const parsed *r) {
    krf__str out = {0};
    krf__print(&r->g, r->n, r->results, &out);
    char *text = krf__str_take(&out);
    assert_non_null(text);
    return text;
}

/* The printed form of a program that must parse. */
static char *canonical(const char *text) {
    parsed r;
    parse(&r, text);
    if (r.status != KRF_OK) {
        fail_msg("%s\n%s", text, r.g.error);
    }
    char *printed = print(&r);
    krf__graph_free(&r.g);
    return printed;
}

#define DECLARATIONS "x: f32[4, 8]; y: f32[8]; z: f64[3]; i: i32[4]; j: i64[4]; b: bool[4]; c: bool[4]; s: f64; mu: float; k: int\n"

static void expect(const char *expression, const char *printed) {
    char text[512];
    snprintf(text, sizeof text, DECLARATIONS "return %s", expression);
    char *all = canonical(text);
    char *line = strstr(all, "return ");
    assert_non_null(line);
    line[strlen(line) - 1] = '\0';
    assert_string_equal(line + strlen("return "), printed);
    krf__mem_free(all);
}

/* Both mean the same. */
static void same(const char *a, const char *b) {
    char text[2][512];
    char *printed[2];
    for (int i = 0; i < 2; i++) {
        snprintf(text[i], sizeof text[i], DECLARATIONS "%s", i == 0 ? a : b);
        printed[i] = canonical(text[i]);
    }
    assert_string_equal(printed[0], printed[1]);
    krf__mem_free(printed[0]);
    krf__mem_free(printed[1]);
}

static void precedence(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"x + y * x", "x + (y * x)"},
        {"x - y - x", "(x - y) - x"},
        {"x / y / x * y", "((x / y) / x) * y"},
        {"x // y % x", "(x // y) % x"},
        {"x ** y ** x", "x ** (y ** x)"},
        {"-x ** y", "-(x ** y)"},
        {"x ** -y", "x ** (-y)"},
        {"x ** -y ** x", "x ** (-(y ** x))"},
        {"-2 ** mu", "-(2 ** mu)"},
        {"(-2) ** mu", "(-2) ** mu"},
        {"-x * y", "(-x) * y"},
        {"x * -y", "x * (-y)"},
        {"~i & i", "(~i) & i"},
        {"i | i ^ 3 & i << 2 + 1", "i | (i ^ (3 & (i << (2 + 1))))"},
        {"i << 1 >> 2", "(i << 1) >> 2"},
        {"i & 7 == i", "(i & 7) == i"},
        {"x + 1 < y * 2", "(x + 1) < (y * 2)"},
        {"x < 1 ", "(x) < (1)"},
        {"-x.T", "-(x.T)"},
        {"-x[0]", "-(x[0])"},
        {"x[0] ** y", "(x[0]) ** y"},
        {"x.T ** 2", "(x.T) ** 2"},
        {"+x", "x"},
        {"+-+x", "-x"},
        {"--x", "-(-x)"},
        {"b & c | b", "(b & c) | b"},
        {"x - (y - x)", "x - ((y - x))"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        same(pairs[i][0], pairs[i][1]);
    }
}

static void operators_print_minimal(void **state) {
    (void)state;
    static const char *const fixed[] = {
        "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** y", "-x", "~i", "x == y", "x != y", "x < y", "x <= y", "x > y",
        "x >= y", "b & c", "b | c", "b ^ c", "i << j[0:1]", "x - (y - x)", "x - y - x", "(x + y) * x", "x + y * x", "-(x + y)",
        "(-x) ** y", "-x ** y", "x ** -y", "(x ** y) ** x", "(x < y) == (y < x)", "2.0 ** x", "(-2.0) ** x", "-2.0 ** x",
        "x * -2.0", "- -x", "i + 1", "i ** i32(3)", "i ** 9", "z + 1", "z + 0.1", "z + f64(0.1)", "x + 0.1", "f32(0.1)", "i32(7)",
        "1", "-9223372036854775808", "1.0", "inf", "-inf", "nan", "True", "negative(1)", "mu * 2", "mu + k", "k / 2", "exp(k)", "mu * x",
        "where(b, 1.0, z[0:1])", "where(b, f32(1.0), f32(0.0))", "1e-45 * x", "f32(-0.0)", "f64(-0.0) + z", "f64(2.5) - z",
        "x.T", "(x + y).T", "transpose(reshape(x, (4, 2, 4)), (0, 2, 1))", "x[1:3]", "x[:, ::2]", "x[::-1]", "x[2:0:-1, 1:7:3]",
        "x[0:0]", "x[-0:1].T", "broadcast_to(y, (4, 8))", "sum(x)", "sum(x, axis=0)", "sum(x, axis=1, keepdims=True)",
        "sum(x, keepdims=True)", "mean(reshape(x, (2, 2, 8)), axis=(0, 2))", "max(y)", "any(b)", "sum(i64(b))", "f64(x)", "bool(x)",
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const char *printed = fixed[i];
        printed = strcmp(printed, "x[-0:1].T") == 0 ? "x[:1].T" : printed;
        printed = strcmp(printed, "i << j[0:1]") == 0 ? "i64(i) << j[:1]" : printed;
        printed = strcmp(printed, "- -x") == 0 ? "--x" : printed;
        printed = strcmp(printed, "where(b, 1.0, z[0:1])") == 0 ? "where(b, 1.0, z[:1])" : printed;
        printed = strcmp(printed, "x[2:0:-1, 1:7:3]") == 0 ? "x[2:0:-1, 1:5:3]" : printed;
        expect(fixed[i], printed);
    }
}

static void literals(void **state) {
    (void)state;
    expect("0x1F + k", "31 + k");
    expect("1.", "1.0");
    expect(".5", "0.5");
    expect("1e3", "1000.0");
    expect("1E-3", "0.001");
    expect("1e999", "inf");
    expect("pi", "3.141592653589793");
    expect("-e", "-2.718281828459045");
    expect("np.pi", "3.141592653589793");
    expect("-nan", "nan");
    expect("9223372036854775807", "9223372036854775807");
    expect("x + 16777217", "x + 16777216.0");
    expect("-5 + k", "-5 + k");
    same("pi = 3.0; return pi", "return 3.0");
    same("e = x; return e + np.e", "return x + 2.718281828459045");
    same("sum = x * 2; return sum.sum() + np.sum(sum)", "t = x * 2; return sum(t) + sum(t)");
}

/* Every function of ops.def by its name, with operands that it takes. */
static void every_function(void **state) {
    (void)state;
    for (unsigned op = 0; op < KRF__OP_COUNT; op++) {
        const krf__op_info *info = krf__op_info_of((krf__op)op);
        char text[256];
        const char *operand = info->rule == KRF__RULE_BITS ? "i" : "x";
        if (info->class_ == KRF__CLASS_REDUCE) {
            snprintf(text, sizeof text, DECLARATIONS "np.%s(%s, axis=-1, keepdims=False)", info->name, operand);
        } else if (info->class_ == KRF__CLASS_ELEMENTWISE && info->arity == 3) {
            snprintf(text, sizeof text, DECLARATIONS "%s(x < y, x, y)", info->name);
        } else if (info->class_ == KRF__CLASS_ELEMENTWISE) {
            snprintf(text, sizeof text, DECLARATIONS "%s(%s%s%s)", info->name, operand, info->arity == 2 ? ", " : "",
                     info->arity == 2 ? operand : "");
        } else {
            continue;
        }
        parsed r;
        parse(&r, text);
        if (r.status != KRF_OK) {
            fail_msg("%s\n%s", text, r.g.error);
        }
        assert_int_equal(krf__node_of(&r.g, r.results[0])->op, op);
        krf__graph_free(&r.g);
    }
    same("absolute(x) + mod(x, y) + np.amax(x) + pow(x, y)", "abs(x) + x % y + max(x) + x ** y");
    same("bitwise_not(i)", "~i");
    same("x.maximum(y)", "maximum(x, y)");
    same("maximum(x, y,)", "maximum(x, y)");
}

static void casts(void **state) {
    (void)state;
    same("cast(x, f64)", "f64(x)");
    same("astype(x, dtype=f64)", "f64(x)");
    same("x.astype(np.float64)", "f64(x)");
    same("sum(i, dtype=f32)", "sum(f32(i))");
    same("x.mean(axis=0, dtype=f64, keepdims=True)", "mean(f64(x), axis=0, keepdims=True)");
}

static void reductions(void **state) {
    (void)state;
    same("sum(x, 0)", "sum(x, axis=0)");
    same("x.sum(1)", "sum(x, axis=1)");
    same("x.sum(axis=-1)", "sum(x, axis=1)");
    same("sum(x, axis=[0, 1])", "sum(x)");
    same("sum(x, axis=None)", "sum(x)");
    same("sum(x, (0, -1), keepdims=True)", "sum(x, keepdims=True)");
    same("sum(x, axis=())", "x");
}

static void views(void **state) {
    (void)state;
    same("transpose(x)", "x.T");
    same("x.transpose(1, 0)", "x.T");
    same("permute_dims(x, axes=(-1, 0))", "x.T");
    same("x.mT", "x.T");
    same("reshape(x, 2, -1)", "reshape(x, (2, 16))");
    same("x.reshape(-1)", "reshape(x, shape=(32,))");
    same("x.reshape((2, 16),)", "reshape(x, [2, 16])");
    same("expand_dims(y, 0)", "y[None]");
    same("expand_dims(y, axis=-1)", "y[:, None]");
    same("y[None, ..., None].squeeze()", "reshape(y[None, ..., None], (8,))");
    same("squeeze(y[None, :, None], (0, -1))", "reshape(y[None, ..., None], (8,))");
    same("squeeze(y[None, :, None], 0)", "reshape(y[None, :, None], (8, 1))");
    same("flip(x)", "x[::-1, ::-1]");
    same("flip(x, 1)", "x[:, ::-1]");
    same("x.flip(axis=(0, 1))", "x[::-1, ::-1]");
    same("slice(x, (1, 0), (None, 4))", "x[1:, :4]");
    same("slice(x, (None,), None, (-1,))", "x[::-1]");
    same("x[...]", "x");
    same("x[:]", "x");
    same("x[1]", "reshape(x[1:2], (8,))");
    same("x[-1]", "x[3]");
    same("x[..., 3]", "x[:, 3]");
    same("x[0, -8]", "reshape(x[0:1, 0:1], ())");
    same("x[1:-1, ::2, None, ...]", "reshape(x[1:3, 0:8:2], (2, 4, 1))");
    same("x[None:None:None]", "x");
    same("x[np.newaxis]", "x[None]");
    same("x[100:]", "x[0:0]");
    same("x[-100:2]", "x[:2]");
    same("x[10::-3, 6:2:-2]", "x[3::-3, 6:2:-2]");
    same("(x + 1)[0].T", "(x + 1.0)[0]");
}

static void programs(void **state) {
    (void)state;
    same("# a comment\nt = x * 2 # more\n\nreturn t + t;", "t = x * 2; return t + t");
    same("x + y, x", "return x + y, x,");
    same("t = (x +\n  y # inside\n )\nreturn t", "x + y");
    same("x + \\\n y", "x + y");
    same("x = x + 1\nx = x * 2\nreturn x", "(x + 1) * 2");
    same("\r\nt = x\r\nt\r\n", "x");
    parsed r;
    parse(&r, "x: f64[n]\nmu: float\ns: f64\nz = (x - mu) / s\nreturn -sum(-0.5 * z * z - log(s))");
    assert_int_equal(r.status, KRF_OK);
    assert_int_equal(r.g.n_placeholders, 3);
    assert_true(krf__node_of(&r.g, r.g.placeholders[1].node)->weak);
    assert_int_equal(krf__shape_of(&r.g, r.g.placeholders[0].node)[0], 'n' - 'a' + 1);
    char *text = print(&r);
    assert_string_equal(text, "x: f64[14]\nmu: float\ns: f64\nt1 = (x - mu) / s\nreturn -sum(-0.5 * t1 * t1 - log(s))\n");
    krf__mem_free(text);
    krf__graph_free(&r.g);
}

static void extents(void **state) {
    (void)state;
    char *text = canonical("x: f32[m, n]; y: f32[n]; return reshape(x, (n, m)) + m / n + y[:1]");
    assert_string_equal(text, "x: f32[13, 14]\ny: f32[14]\nreturn reshape(x, (14, 13)) + 13 / 14 + y[:1]\n");
    krf__mem_free(text);
}

typedef struct bound {
    parsed r;
    krf_array array;
    krf__name names[4];
} bound;

static void bind(bound *b, krf_dtype dtype, int rank, const int64_t *shape, const int64_t *strides) {
    memset(b, 0, sizeof *b);
    assert_int_equal(krf__graph_init(&b->r.g, NULL), KRF_OK);
    b->array = (krf_array){.dtype = dtype, .rank = rank, .size = krf__shape_size(rank, shape)};
    memcpy(b->array.shape, shape, (size_t)rank * sizeof *shape);
    krf__shape_c_strides(rank, shape, b->array.strides);
    if (strides != NULL) {
        memcpy(b->array.strides, strides, (size_t)rank * sizeof *strides);
    }
    b->names[0] = (krf__name){.name = "x", .id = krf__build_input(&b->r.g, &b->array)};
    b->names[1] = (krf__name){.name = "rows", .extent = 3};
    b->names[2] = (krf__name){.name = "lr", .id = krf__build_real(&b->r.g, 0.1, false)};
    b->names[3] = (krf__name){.name = "count", .id = krf__build_int(&b->r.g, 7, false)};
}

static void expect_bound(krf_dtype dtype, const char *text, const char *printed) {
    bound b;
    bind(&b, dtype, 2, (int64_t[]){3, 5}, NULL);
    parse_with(&b.r, text, b.names, 4);
    if (b.r.status != KRF_OK) {
        assert_string_equal(b.r.g.error, printed);
    } else {
        char *found = print(&b.r);
        assert_string_equal(found, printed);
        krf__mem_free(found);
    }
    krf__graph_free(&b.r.g);
}

static void bindings(void **state) {
    (void)state;
    expect_bound(KRF_F32, "x * lr + count", "x0: f32[3, 5]\ns0: float\ns1: int\nreturn x0 * s0 + s1\n");
    expect_bound(KRF_F32, "x: f32[3, width]; x", "x0: f32[3, 5]\nreturn x0\n");
    /* what a bound array tells is known before its declaration */
    expect_bound(KRF_F32, "w: f32[width]; x: f32[rows, width]; w + x",
                 "w: f32[5]\nx0: f32[3, 5]\nreturn w + x0\n");
    expect_bound(KRF_F32, "lr: f32; count: float; x * lr - count",
                 "x0: f32[3, 5]\ns0: float\ns1: float\nreturn x0 * s0 - s1\n");
    expect_bound(KRF_F64, "x: f32[3, 5]; x", "line 1, column 4: x is declared f32 and bound to f64\nx: f32[3, 5]; x\n   ^");
    expect_bound(KRF_F32, "x: f32[rows, rows]; x",
                 "line 1, column 1: x is declared with shape (3, 3) and bound to shape (3, 5)\nx: f32[rows, rows]; x\n^");
    expect_bound(KRF_F32, "x: f32[15]; x", "line 1, column 1: x is declared with shape (15,) and bound to shape (3, 5)\nx: f32[15]; x\n^");
    expect_bound(KRF_F32, "x: f32[3, 5] strides (1, 3); x",
                 "line 1, column 1: x is declared with other strides than it is bound with\nx: f32[3, 5] strides (1, 3); x\n^");
    expect_bound(KRF_F32, "lr: int; lr", "line 1, column 5: lr is declared int and bound to float\nlr: int; lr\n    ^");
    expect_bound(KRF_F32, "x: float; x", "line 1, column 4: x is declared float and bound to f32\nx: float; x\n   ^");
    bound b;
    bind(&b, KRF_F32, 2, (int64_t[]){3, 5}, (int64_t[]){1, 3});
    parse_with(&b.r, "x: f32[3, 5] strides (1, 3)\nx.T + 1", b.names, 4);
    assert_int_equal(b.r.status, KRF_OK);
    char *text = print(&b.r);
    assert_string_equal(text, "x0: f32[3, 5] strides (1, 3)\nreturn x0.T + 1.0\n");
    krf__mem_free(text);
    krf__graph_free(&b.r.g);
}

/* A placeholder that the graph has is the one that a declaration means. */
static void placeholders(void **state) {
    (void)state;
    parsed r;
    parse(&r, "x: f32[4]; mu: float; x + mu");
    uint32_t first = r.results[0];
    parse_with(&r, "x: f32[4]\nmu: float\nx + mu", NULL, 0);
    assert_int_equal(r.status, KRF_OK);
    assert_int_equal(r.results[0], first);
    parse_with(&r, "x: f32[5]\nx", NULL, 0);
    assert_int_equal(r.status, KRF_E_SHAPE);
    krf__graph_free(&r.g);

    /* names that cannot be used, clash, or are missing */
    assert_int_equal(krf__graph_init(&r.g, NULL), KRF_OK);
    static const char *const names[] = {"sum", "x1", NULL, "a b", "t1"};
    uint32_t sum = 0;
    for (int i = 0; i < 5; i++) {
        uint32_t x = krf__build_placeholder(&r.g, names[i], KRF_F32, false, 1, (int64_t[]){4}, NULL);
        sum = i == 0 ? x : krf__build(&r.g, KRF__add, 2, (uint32_t[]){sum, x});
    }
    sum = krf__build(&r.g, KRF__multiply, 2, (uint32_t[]){sum, sum});
    r.results[0] = sum;
    r.n = 1;
    char *text = print(&r);
    assert_string_equal(text, "x0: f32[4]\nx1: f32[4]\nx2: f32[4]\nx3: f32[4]\nt1: f32[4]\nt2 = x0 + x1 + x2 + x3 + t1\nreturn t2 * t2\n");
    krf__mem_free(text);
    krf__graph_free(&r.g);
}

static void refused(krf_status status, const char *text, const char *message) {
    parsed r;
    parse(&r, text);
    if (r.status == KRF_OK) {
        fail_msg("parsed: %s", text);
    }
    assert_string_equal(r.g.error, message);
    assert_int_equal(r.status, status);
    krf__graph_free(&r.g);
}

static void errors(void **state) {
    (void)state;
    const krf_status P = KRF_E_PARSE;
    refused(KRF_E_SHAPE, "x: f32[7]; y: f32[1024]\nz = 2 * x + y\nz",
            "line 2, column 11: add: shapes (7,) and (1024,) do not broadcast\nz = 2 * x + y\n          ^");
    refused(KRF_E_DTYPE, "b: bool[3]; b + b",
            "line 1, column 15: add: not defined for bool and bool; cast to a number, or use logical and bitwise operations\n"
            "b: bool[3]; b + b\n              ^");
    refused(KRF_E_SHAPE, "x: f32[7]; y: f32[5]; maximum(x, y)",
            "line 1, column 23: maximum: shapes (7,) and (5,) do not broadcast\nx: f32[7]; y: f32[5]; maximum(x, y)\n                      ^");
    refused(P, "x: f32[3]; x < x < x",
            "line 1, column 18: comparisons do not chain: write (a < b) & (b < c)\nx: f32[3]; x < x < x\n                 ^");
    refused(P, "alpha: f32[3]\nalhpa + 1",
            "line 2, column 1: alhpa is not defined; did you mean alpha?\nalhpa + 1\n^");
    refused(P, "qqq", "line 1, column 1: qqq is not defined\nqqq\n^");
    refused(P, "true", "line 1, column 1: true is not defined; did you mean True?\ntrue\n^");
    refused(P, "x: f32[3]; flor(x)", "line 1, column 12: flor is not a function; did you mean floor?\nx: f32[3]; flor(x)\n           ^");
    refused(P, "x: f32[3]; x and x",
            "line 1, column 14: 'and' is not supported: use & or logical_and, with comparisons in parentheses\n"
            "x: f32[3]; x and x\n             ^");
    refused(P, "x: f32[3]; not x", "line 1, column 12: 'not' is not supported: use ~ or logical_not\nx: f32[3]; not x\n           ^");
    refused(P, "2j", "line 1, column 1: complex is not supported yet\n2j\n^");
    refused(P, "x: c64[3]; x", "line 1, column 4: complex is not supported yet\nx: c64[3]; x\n   ^");
    refused(P, "9223372036854775808", "line 1, column 1: an integer beyond 64 bits\n9223372036854775808\n^");
    refused(P, "99999999999999999999", "line 1, column 1: an integer beyond 64 bits\n99999999999999999999\n^");
    refused(P, "(1 + 2", "line 1, column 1: this '(' is never closed\n(1 + 2\n^");
    refused(P, "1 + ", "line 1, column 5: expected an expression, found the end of the text\n1 + \n    ^");
    refused(P, "1 +\n2", "line 1, column 4: expected an expression, found the end of the line\n1 +\n   ^");
    refused(P, "\t1 $ 2", "line 1, column 4: a character that means nothing here\n\t1 $ 2\n\t  ^");
    refused(P, "1 2", "line 1, column 3: expected an operator or the end of the statement, found '2'\n1 2\n  ^");
    refused(P, "x: f32[3]; x @ x", "line 1, column 14: matrix products are not supported yet\nx: f32[3]; x @ x\n             ^");
    refused(P, "x = 1", "line 1, column 6: the program gives no result: end it with return\nx = 1\n     ^");
    refused(P, "", "line 1, column 1: the program gives no result: end it with return\n\n^");
    refused(P, "1\n2", "line 1, column 1: this value is not used: give it a name, or return it at the end\n1\n^");
    refused(P, "return 1\n2", "line 2, column 1: nothing may follow return\n2\n^");
    refused(P, "return", "line 1, column 7: expected a result, found the end of the text\nreturn\n      ^");
    refused(P, "x: f32[nn]; x", "line 1, column 8: the size nn is not known: bind it, or an array that has it\nx: f32[nn]; x\n       ^");
    refused(P, "x: f32[3]; x: f32[3]; x", "line 1, column 12: x is declared or assigned already\nx: f32[3]; x: f32[3]; x\n           ^");
    refused(P, "x: float[3]; x", "line 1, column 9: float is the type of a weak scalar; arrays have a dtype such as f64\nx: float[3]; x\n        ^");
    refused(P, "x: f23; x", "line 1, column 4: f23 is not a dtype\nx: f23; x\n   ^");
    refused(P, "return = 1", "line 1, column 1: return is a word of the language and cannot be a name\nreturn = 1\n^");
    refused(P, "a, b = 1, 2", "line 1, column 1: a is not defined\na, b = 1, 2\n^");
    refused(P, "(1, 2)", "line 1, column 3: a tuple is not a value\n(1, 2)\n  ^");
    refused(P, "[1, 2]", "line 1, column 1: a list is not a value: bind an array to a name\n[1, 2]\n^");
    refused(P, "x: f32[3]; sum(x, axes=0)", "line 1, column 19: sum takes no keyword axes here\nx: f32[3]; sum(x, axes=0)\n                  ^");
    refused(P, "x: f32[3]; max(x, x)",
            "line 1, column 19: max reduces over axes: the larger or smaller of two is maximum\nx: f32[3]; max(x, x)\n                  ^");
    refused(P, "x: f32[3]; sqrt(x, x)", "line 1, column 20: sqrt takes 1 operand, not more\nx: f32[3]; sqrt(x, x)\n                   ^");
    refused(P, "x: f32[3]; maximum(x)", "line 1, column 12: maximum takes 2 operands, not 1\nx: f32[3]; maximum(x)\n           ^");
    refused(P, "exp + 1", "line 1, column 1: exp is a function: it needs its operands in parentheses\nexp + 1\n^");
    refused(P, "exp = 1; exp(1)", "line 1, column 10: exp is a value here and cannot be called\nexp = 1; exp(1)\n         ^");
    refused(KRF_E_ARGUMENT, "x: f32[3]; sum(x, axis=1)",
            "line 1, column 12: sum: axis 1 is out of range for rank 1\nx: f32[3]; sum(x, axis=1)\n           ^");
    refused(KRF_E_SHAPE, "x: f32[3]; x[3]", "line 1, column 14: index 3 is out of range for axis 0 of extent 3\nx: f32[3]; x[3]\n             ^");
    refused(KRF_E_SHAPE, "x: f32[3]; x[0, 0]", "line 1, column 13: 2 indices for rank 1\nx: f32[3]; x[0, 0]\n            ^");
    refused(P, "x: f32[3]; x[x]", "line 1, column 14: a subscript is made of integers, slices, None and ...\nx: f32[3]; x[x]\n             ^");
    refused(P, "x: f32[3]; x.shape", "line 1, column 14: shape is no attribute: there are T and mT, and methods\nx: f32[3]; x.shape\n             ^");
    refused(P, "007", "line 1, column 1: an integer does not start with 0\n007\n^");
    refused(P, "3x", "line 1, column 1: a number runs into a name\n3x\n^");
    refused(P, "# \xc3\xa4\xc3\xb6\n1 + \xc3\xa4", "line 2, column 5: a character that means nothing here\n1 + \xc3\xa4\n    ^");
}

static void long_lines_are_cut(void **state) {
    (void)state;
    krf__str text = {0};
    for (int i = 0; i < 300; i++) {
        krf__str_put(&text, "1 + ");
    }
    krf__str_put(&text, "$");
    for (int i = 0; i < 300; i++) {
        krf__str_put(&text, " + 1");
    }
    parsed r;
    parse(&r, text.data);
    assert_int_equal(r.status, KRF_E_PARSE);
    assert_non_null(strstr(r.g.error, "line 1, column 1201: "));
    assert_true(strlen(r.g.error) < 400);
    const char *line = strchr(r.g.error, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_int_equal(line[strlen(caret) - 1], '$');
    krf__graph_free(&r.g);
    krf__str_free(&text);
}

/* Whether node a of one graph is node b of another, numbering aside; inputs and scalars come back as placeholders. */
static bool same_node(const krf_graph *ga, uint32_t a, const krf_graph *gb, uint32_t b, uint32_t *twin) {
    if (a == 0 || b == 0 || twin[a] != 0) {
        return a == 0 || b == 0 ? a == b : twin[a] == b;
    }
    const krf__node *x = krf__node_of(ga, a), *y = krf__node_of(gb, b);
    bool leaf = x->op == KRF__input || x->op == KRF__scalar || x->op == KRF__placeholder;
    bool equal = (leaf ? y->op == KRF__placeholder : x->op == y->op) && x->dtype == y->dtype && (x->weak == y->weak || x->op == KRF__constant) &&
                 x->keepdims == y->keepdims && x->n_ints == y->n_ints && (leaf || x->value == y->value) &&
                 krf__shape_equal(x->rank, krf__shape_of(ga, a), y->rank, krf__shape_of(gb, b)) &&
                 (x->n_ints == 0 || memcmp(krf__ints_of(ga, a), krf__ints_of(gb, b), x->n_ints * sizeof(int64_t)) == 0);
    for (int i = 0; equal && i < 3; i++) {
        equal = same_node(ga, x->args[i], gb, y->args[i], twin);
    }
    twin[a] = equal ? b : 0;
    return equal;
}

/* (A constant's own weakness, which nothing can see, is not compared: a literal of the operation's dtype stays weak, others do not.) */
static void same_graph(const parsed *a, const parsed *b, const char *text) {
    uint32_t *twin = krf__calloc(a->g.n_nodes, sizeof *twin);
    assert_non_null(twin);
    assert_int_equal(a->n, b->n);
    for (int i = 0; i < a->n; i++) {
        if (!same_node(&a->g, a->results[i], &b->g, b->results[i], twin)) {
            fail_msg("another graph came back from:\n%s", text);
        }
    }
    krf__mem_free(twin);
}

/* parse -> print -> parse gives the same graph, and print gives the same text again. */
static void round_trip(const char *text) {
    parsed a, b;
    parse(&a, text);
    if (a.status != KRF_OK) {
        fail_msg("%s\n%s", text, a.g.error);
    }
    char *first = print(&a);
    parse(&b, first);
    if (b.status != KRF_OK) {
        fail_msg("%s\n%s", first, b.g.error);
    }
    char *second = print(&b);
    assert_string_equal(first, second);
    same_graph(&a, &b, first);
    krf__mem_free(first);
    krf__mem_free(second);
    krf__graph_free(&a.g);
    krf__graph_free(&b.g);
}

static const char *const bodies[] = {
    "x + y", "maximum(x, 0) + log1p(exp(-abs(x)))", "-sum(-0.5 * z * z - log(s))", "(z - mu) / s", "x - x.mean(axis=1, keepdims=True)",
    "exp(x - max(x, axis=-1, keepdims=True)) / sum(exp(x - max(x, axis=-1, keepdims=True)), axis=-1, keepdims=True)",
    "t = x * x; t = t + t; t = t * t; return t, t.T, sum(t)", "x[1:-1, ::2]", "x[::-1].T", "x[0, 1:5] * 2", "x[None, ..., None] + 1",
    "x[0:0] + 1", "reshape(x, (2, -1)).T", "broadcast_to(y, (3, 4, 8)).sum(axis=(0, 2))", "i // 3 % 2 << 1 | 4 ^ j & ~i", "i ** 3",
    "i ** -2", "i ** 12", "i ** i32(3)", "j ** i64(3)", "z ** f64(3)", "z ** 3.0", "z ** 9", "x ** 0.5", "x ** -1", "2 ** x", "2.0 ** x",
    "(-2) ** x", "-2 ** x", "z + 2", "z + 2.0", "z + f64(2)", "z + f64(0.1)", "z + 0.1", "x + 0.1", "x + f32(0.1)", "x * 3", "j * 2",
    "j * i64(2)", "i + 2.5", "b + 1", "b * 1.5", "mu + k", "mu * 2", "k / 2", "k * 2.5", "1 / k", "mu * 0x7fffffffffffffff", "exp(k) * x",
    "(mu + k) * x", "where(k < mu, k, mu)", "k < 2.5", "mu < 2", "where(b, i, 1.5)", "where(x < 0, 0.1 * x, x)", "where(b, f32(1), f32(2))",
    "logical_and(x[:, 0], k) | ~b", "logical_or(b, 1)", "True & b", "negative(1.0) * x", "- -1 * x", "-(2 * mu)", "f32(-0.0) * x",
    "z * f64(-0.0)", "-0.0 * z", "z - nan", "x * inf - -inf", "f32(nan) + x", "1e-45 * x", "f32(3.4028235e38) + x", "f64(1e308) + z",
    "z + 9007199254740993", "z * 1e300", "pi * x", "1", "-1.5", "True", "f32(1)", "x, y, x", "mu", "k, mu, s", "bool(x) == True",
    "x == x.astype(i32)", "sum(i), prod(j), mean(i), any(b), all(x), min(z), max(k * x, axis=0)", "sum(s)", "sum(k)", "mu[None]",
    "sum(x, keepdims=True)", "sum(x, axis=())", "atan2(x, y) + hypot(x, 1)", "x.T.reshape(4, 8)[::2, 7:2:-3]",
    "flip(x)[1:, :-1]", "x[3:1:-1]", "x[::3]", "y[7:2:-2] + y[:3]", "x[100:, 2]", "x.reshape(4, 2, 2, 2).transpose(3, 1, 0, 2)",
    "((((((((((x + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1)",
    "sin(cos(sin(cos(sin(cos(sin(cos(sin(cos(sin(cos(sin(cos(sin(cos(x))))))))))))))))", "round(x) + ceil(x) - floor(x) + sign(x)",
};

static void fixpoint(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[1024];
        snprintf(text, sizeof text, DECLARATIONS "w: f32[4, 8] strides (1, 4); v: f32[8] strides (-2,)\nu = w + v\n%s", bodies[i]);
        round_trip(text);
    }
    round_trip("x: f32[4, 8] strides (1, 4); y: f32[8] strides (0,); a_long_name_of_an_array: bool[4, 1]\n"
               "where(a_long_name_of_an_array, x, y)");
    round_trip("x: f32[0, 3]; y: i32[1, 1, 1, 2]; x.sum(axis=0), y[0, 0]");
}

/* Inputs and scalars, and graphs that text alone does not give. */
static void fixpoint_of_built_graphs(void **state) {
    (void)state;
    bound b;
    bind(&b, KRF_F32, 2, (int64_t[]){3, 5}, (int64_t[]){5, 1});
    parse_with(&b.r, "s0: f32[5]; x * lr + s0 * count - lr, lr * count", b.names, 4);
    assert_int_equal(b.r.status, KRF_OK);
    char *text = print(&b.r);
    parsed r;
    parse(&r, text);
    assert_int_equal(r.status, KRF_OK);
    same_graph(&b.r, &r, text);
    char *again = print(&r);
    assert_string_equal(text, again);
    krf__mem_free(text);
    krf__mem_free(again);
    krf__graph_free(&r.g);
    krf__graph_free(&b.r.g);
}

static void numbers_ignore_the_locale(void **state) {
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < sizeof locales / sizeof *locales && !found; i++) {
        found = setlocale(LC_ALL, locales[i]) != NULL;
    }
    if (!found) {
        skip();
    }
    expect("x + 0.1", "x + 0.1");
    expect("1.5e3 * x", "1500.0 * x");
    setlocale(LC_ALL, "C");
}

static void long_chains(void **state) {
    (void)state;
    enum { TERMS = 100000 };
    krf__str text = {0};
    krf__str_put(&text, "x: f32[4]\n");
    for (int i = 0; i < TERMS; i++) {
        krf__str_put(&text, i == 0 ? "x" : i % 3 == 0 ? " * x" : " + x");
    }
    parsed r;
    parse(&r, text.data);
    assert_int_equal(r.status, KRF_OK);
    assert_true(r.g.n_nodes > TERMS / 2);
    char *printed = print(&r);
    krf__graph_free(&r.g);
    for (const char *line = printed; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") <= 120);
    }
    parse(&r, printed);
    assert_int_equal(r.status, KRF_OK);
    char *again = print(&r);
    assert_string_equal(printed, again);
    krf__graph_free(&r.g);
    krf__mem_free(printed);
    krf__mem_free(again);
    krf__str_clear(&text);
    krf__str_put(&text, "x: f32[4]\ny = x\n");
    for (int i = 0; i < TERMS; i++) {
        krf__str_put(&text, i % 2 == 0 ? "y = sin(y).T # next\n" : "y = (y + x)[...]\n");
    }
    krf__str_put(&text, "return y");
    parse(&r, text.data);
    assert_int_equal(r.status, KRF_OK);
    printed = print(&r);
    krf__mem_free(printed);
    krf__str expression = {0};
    krf__print_expression(&r.g, r.results[0], 200, &expression);
    assert_true(expression.length <= 210);
    krf__str_free(&expression);
    krf__graph_free(&r.g);
    krf__str_free(&text);
}

static void repeat(krf__str *s, const char *text, int n) {
    for (int i = 0; i < n; i++) {
        krf__str_put(s, text);
    }
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    static const char *const openings[] = {"(", "-", "~", "sin(", "2 ** ", "sum(x, axis=", "maximum(x, ", "x[", "1 + ("};
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        krf__str text = {0};
        krf__str_put(&text, "x: f32[4]\n");
        repeat(&text, openings[i], 100000);
        parsed r;
        parse(&r, text.data);
        assert_int_equal(r.status, KRF_E_PARSE);
        krf__graph_free(&r.g);
        krf__str_free(&text);
    }
    krf__str text = {0};
    repeat(&text, "(", 150);
    krf__str_put(&text, "1");
    repeat(&text, ")", 150);
    parsed r;
    parse(&r, text.data);
    assert_int_equal(r.status, KRF_OK);
    krf__graph_free(&r.g);
    krf__str_clear(&text);
    repeat(&text, "(", 250);
    parse(&r, text.data);
    assert_string_equal(strchr(r.g.error, ':') + 2, strstr(r.g.error, "nested deeper than 200 levels"));
    krf__graph_free(&r.g);
    krf__str_free(&text);
}

static void expressions(void **state) {
    (void)state;
    parsed r;
    parse(&r, DECLARATIONS "maximum(z, 0) + s * z - mu");
    krf__str out = {0};
    krf__print_expression(&r.g, r.results[0], 200, &out);
    assert_string_equal(out.data, "maximum(x0, 0) + x1 * x0 - x2");
    krf__str_clear(&out);
    krf__print_expression(&r.g, r.results[0], 20, &out);
    assert_string_equal(out.data, "maximum(x0, 0) + x1 ...");
    krf__str_free(&out);
    krf__graph_free(&r.g);
    parse(&r, "x: f32[4]; x = x + x; x = x * x; x = x + x; x = x * x; x = x + x; x = x * x; x = x + x; x = x * x; x = x + x; x");
    krf__print_expression(&r.g, r.results[0], 50, &out);
    assert_string_equal(out.data, "((((x0 + x0) * (x0 + x0) + (x0 + x0) * (x0 + x0)) ...");
    krf__str_free(&out);
    krf__graph_free(&r.g);
}

/* Allocation number n fails, for every n: an error each time, and nothing leaks. */
static void out_of_memory(void **state) {
    (void)state;
    for (long n = 1;; n++) {
        parsed r;
        krf__str out = {0};
        assert_int_equal(krf__graph_init(&r.g, NULL), KRF_OK);
        krf__mem_fail_at(n);
        r.status = krf__parse(&r.g, DECLARATIONS "w: f32[3, 8] strides (1, 3)\nt = sin(w) + 1.5\nt.sum(axis=0)[1:] * t[:, 1:], oops", NULL, 0,
                              extent_of_letter, NULL, MOST, r.results, &r.n);
        krf__mem_fail_at(0);
        assert_int_not_equal(r.status, KRF_OK);
        assert_int_equal(r.status, r.g.status);
        krf_status status = r.status;
        krf__graph_free(&r.g);
        parse(&r, "x: f32[3]; y = sin(x); y * y + 2.5");
        krf__mem_fail_at(n);
        krf__print(&r.g, r.n, r.results, &out);
        krf__mem_fail_at(0);
        bool failed = out.failed;
        krf__str_free(&out);
        krf__graph_free(&r.g);
        if (status == KRF_E_PARSE && !failed) {
            break;
        }
        assert_true(n < 10000);
    }
}

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Whatever parses must print to what parses to the same. */
static void try_text(const char *text) {
    parsed r;
    parse(&r, text);
    if (r.status == KRF_OK) {
        round_trip(text);
    } else {
        assert_non_null(r.g.error);
    }
    krf__graph_free(&r.g);
}

static void mutations(void **state) {
    (void)state;
    static const char *const words[] = {"x", "y", "(", ")", "[", "]", ",", ":", "=", ".", "-", "**", "//", "...", "None", "sum", "axis",
                                        ".T", "1", "0", "-1", "f32", "np.", "return", "\n", ";", "#", "1e", "0x", "inf", "~", "<", "==",
                                        "keepdims=True", "reshape", "int", "True", "\xff", "\\", "k", "mu", "f64(2)", "**2", "[0]"};
    uint64_t seed = 0x9e3779b97f4a7c15u;
    int good = 0;
    for (int round = 0; round < 20000; round++) {
        char text[1400];
        size_t n_bodies = sizeof bodies / sizeof *bodies;
        snprintf(text, 1024, DECLARATIONS "%s", bodies[next_random(&seed) % n_bodies]);
        size_t length = strlen(text);
        for (uint64_t edits = 1 + next_random(&seed) % 3; edits > 0; edits--) {
            size_t at = next_random(&seed) % 4 == 0 ? next_random(&seed) % length : length - 1 - next_random(&seed) % (length - 100);
            const char *word = words[next_random(&seed) % (sizeof words / sizeof *words)];
            size_t cut = next_random(&seed) % 4, add = next_random(&seed) % 4 == 0 ? 0 : strlen(word);
            cut = cut > length - at ? length - at : cut;
            memmove(text + at + add, text + at + cut, length - at - cut + 1);
            memcpy(text + at, word, add);
            length = length - cut + add;
        }
        parsed r;
        parse(&r, text);
        good += r.status == KRF_OK;
        krf__graph_free(&r.g);
        try_text(text);
    }
    assert_true(good > 1000);
    for (int round = 0; round < 20000; round++) {
        char text[64];
        size_t length = next_random(&seed) % sizeof text;
        for (size_t i = 0; i < length; i++) {
            text[i] = (char)(next_random(&seed) % 3 == 0 ? next_random(&seed) : 32 + next_random(&seed) % 96);
        }
        text[length] = '\0';
        try_text(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),
        cmocka_unit_test(operators_print_minimal),
        cmocka_unit_test(literals),
        cmocka_unit_test(every_function),
        cmocka_unit_test(casts),
        cmocka_unit_test(reductions),
        cmocka_unit_test(views),
        cmocka_unit_test(programs),
        cmocka_unit_test(extents),
        cmocka_unit_test(bindings),
        cmocka_unit_test(placeholders),
        cmocka_unit_test(errors),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(fixpoint),
        cmocka_unit_test(fixpoint_of_built_graphs),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(expressions),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
