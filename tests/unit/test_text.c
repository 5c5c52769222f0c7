/* The text form: what parses to what. Precedence is tested against fully parenthesised text, other things against
 * another way to write them. */
#include "ir/compose.h"
#include "text.h"

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
    static const char *const pairs[][2] = {{"x + y * x", "x + (y * x)"},
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
                                           {"x - (y - x)", "x - ((y - x))"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        same(pairs[i][0], pairs[i][1]);
    }
}

static void operators_print_minimal(void **state) {
    (void)state;
    static const char *const fixed[] = {"x + y",
                                        "x - y",
                                        "x * y",
                                        "x / y",
                                        "x // y",
                                        "x % y",
                                        "x ** y",
                                        "-x",
                                        "~i",
                                        "x == y",
                                        "x != y",
                                        "x < y",
                                        "x <= y",
                                        "x > y",
                                        "x >= y",
                                        "b & c",
                                        "b | c",
                                        "b ^ c",
                                        "i64(i) << j[:1]",
                                        "x - (y - x)",
                                        "x - y - x",
                                        "(x + y) * x",
                                        "x + y * x",
                                        "-(x + y)",
                                        "(-x) ** y",
                                        "-x ** y",
                                        "x ** -y",
                                        "(x ** y) ** x",
                                        "(x < y) == (y < x)",
                                        "2.0 ** x",
                                        "(-2.0) ** x",
                                        "-2.0 ** x",
                                        "x * -2.0",
                                        "--x",
                                        "i + 1",
                                        "i ** i32(3)",
                                        "i ** 9",
                                        "z + 1",
                                        "z + 0.1",
                                        "z + f64(0.1)",
                                        "x + 0.1",
                                        "f32(0.1)",
                                        "i32(7)",
                                        "1",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "u64(i) + 9223372036854775808",
                                        "1.0",
                                        "inf",
                                        "-inf",
                                        "nan",
                                        "True",
                                        "negative(1)",
                                        "mu * 2",
                                        "mu + k",
                                        "k / 2",
                                        "exp(k)",
                                        "mu * x",
                                        "where(b, 1.0, z[:1])",
                                        "where(b, f32(1.0), f32(0.0))",
                                        "1e-45 * x",
                                        "f32(-0.0)",
                                        "f64(-0.0) + z",
                                        "f64(2.5) - z",
                                        "x.T",
                                        "(x + y).T",
                                        "transpose(reshape(x, (4, 2, 4)), (0, 2, 1))",
                                        "x[1:3]",
                                        "x[:, ::2]",
                                        "x[::-1]",
                                        "x[2:0:-1, 1:5:3]",
                                        "x[0:0]",
                                        "x[:1].T",
                                        "broadcast_to(y, (4, 8))",
                                        "sum(x)",
                                        "sum(x, axis=0)",
                                        "sum(x, axis=1, keepdims=True)",
                                        "sum(x, keepdims=True)",
                                        "mean(reshape(x, (2, 2, 8)), axis=(0, 2))",
                                        "max(y)",
                                        "any(b)",
                                        "sum(i64(b))",
                                        "f64(x)",
                                        "bool(x)"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        expect(fixed[i], fixed[i]);
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
        if (info->hidden) {
            assert_int_equal(krf__op_from_name(info->name, strlen(info->name)), KRF__poison);
            continue;
        }
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
        if (!krf__is_composed((krf__op)op)) { /* else the text stands for several nodes */
            assert_int_equal(krf__node_of(&r.g, r.results[0])->op, op);
        }
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
    same("x.astype(float)", "f64(x)");
    same("x.astype(int)", "i64(x)");
    same("sum(x, dtype=float)", "sum(x, dtype=f64)");
    same("x.astype('float32') + x.astype(dtype=complex)", "x + c128(x)");
    same("clip(x, 0, None)", "maximum(x, 0)");
    same("x.clip(0)", "maximum(x, 0)");
    same("clip(x, None, y)", "minimum(x, y)");
    same("x.clip(max=3)", "minimum(x, 3)");
    same("np.clip(x, a_min=0, a_max=y)", "clip(x, 0, y)");
    same("x.clip(min=y, max=1)", "clip(x, y, 1)");
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
    same("np.linalg.norm(x)", "norm(x)");
    same("x.transpose(1, 0)", "x.T");
    same("permute_dims(x, axes=(-1, 0))", "x.T");
    same("x.mT", "x.T");
    same("x.shape[0] * x", "4 * x");
    same("x.shape[-1] * x", "8 * x");
    same("sum(x) / x.size", "sum(x) / 32");
    same("(x + 1).ndim * y", "2 * y");
    same("x[x.shape[0] - 2:, :x.shape[1] // 2]", "x[2:, :4]");
    same("x.reshape(x.shape[1], -1)", "reshape(x, (8, 4))");
    same("sum(x, axis=x.ndim - 1)", "sum(x, axis=1)");
    same("y[y.shape[0] // 2:]", "y[4:]");
    same("x.real", "real(x)");
    same("(x * 2).imag", "imag(x * 2)");
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
    same("x[-9223372036854775808:9223372036854775807]", "x");
    same("x[:-9223372036854775808]", "x[:0]");
    same("x[::-9223372036854775808]", "x[3:4]");
    same("slice(x, (-9223372036854775808,), (-9223372036854775808,))", "x[:0]");
    same("t = 7; x[t // 2 - 3:t % 4 + 0 * t, :2 * 3]", "x[:3, :6]");
    same("t = 3; u = t - 1; x[-u:, u:u + t:u]", "x[2:, 2:5:2]");
    same("q: f64[n]; n = 2; x[n, :n]", "x[2, :2]"); /* a value hides the size */
    same("q: f64[n]; n = i * 0; x[n]", "x[i * 0]");
    same("q: f64[h]; x[:h // 2, (h - 2) // 2:-(-h // 8)]", "x[:4, 3:1]");
    same("top(u, n) = u[:n]; top(x, 3) + top(x, 2 + 1)", "x[:3] + x[:3]");
    same("q: f64[h]; x.reshape(h // 2, -1)", "reshape(x, (4, 8))");
    same("q: f64[h]; reshape(x, ((h + 8) // 4, h))", "reshape(x, (4, 8))");
    same("q: f64[h]; reshape(x, (h - 4) * 2, 4)", "reshape(x, (8, 4))");
    same("q: f64[h]; arange(h - 1) + zeros((2 * h) // 2 - 1)", "arange(7) + zeros(7)");
    same("x[-7 // 2:, -7 % 4:]", "x[-4:, 1:]");
}

static void programs(void **state) {
    (void)state;
    same("# a comment\nt = x * 2 # more\n\nreturn t + t;", "t = x * 2; return t + t");
    same("x + y, x", "return x + y, x,");
    same("t = (x +\n  y # inside\n )\nreturn t", "x + y");
    same("x + \\\n y", "x + y");
    same("x = x + 1\nx = x * 2\nreturn x", "(x + 1) * 2");
    same("\r\nt = x\r\nt\r\n", "x");
    same("def = x; lambda = def; lambda", "x");
    char *unmarked = canonical("\xef\xbb\xbfx: f64[3]\r\nx + 1\r\n");
    assert_string_equal(unmarked, "x: f64[3]\nreturn x + 1\n");
    krf__mem_free(unmarked);
    parsed r;
    parse(&r, "x: f64[n]\nmu: float\ns: f64\nz = (x - mu) / s\nreturn -sum(-0.5 * z * z - log(s))");
    assert_int_equal(r.status, KRF_OK);
    assert_int_equal(r.g.n_placeholders, 3);
    assert_true(krf__node_of(&r.g, r.g.placeholders[1].node)->weak);
    assert_int_equal(krf__shape_of(&r.g, r.g.placeholders[0].node)[0], 'n' - 'a' + 1);
    char *text = print(&r);
    assert_string_equal(text,
                        "x: f64[14]\nmu: float\ns: f64\nt1 = (x - mu) / s\nreturn -sum(-0.5 * t1 * t1 - log(s))\n");
    krf__mem_free(text);
    krf__graph_free(&r.g);
}

static void extents(void **state) {
    (void)state;
    char *text = canonical("x: f32[m, n]; y: f32[n]; return reshape(x, (n, m)) + m / n + y[:1]");
    assert_string_equal(text, "x: f32[13, 14]\ny: f32[14]\nreturn reshape(x, (14, 13)) + 13 / 14 + y[:1]\n");
    krf__mem_free(text);
}

static void expect_bound(krf_dtype dtype, const char *text, const char *printed) {
    bound b;
    bind(&b, dtype, 2, (int64_t[]){3, 5}, NULL);
    parse_with(&b.r, text, b.names, 6);
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
    expect_bound(KRF_F32, "w: f32[width]; x: f32[rows, width]; w + x", "w: f32[5]\nx0: f32[3, 5]\nreturn w + x0\n");
    expect_bound(KRF_F32, "lr: f32; count: float; x * lr - count",
                 "x0: f32[3, 5]\ns0: float\ns1: float\nreturn x0 * s0 - s1\n");
    expect_bound(KRF_F64, "x: f32[3, 5]; x",
                 "line 1, column 4: x is declared f32 and bound to f64\nx: f32[3, 5]; x\n   ^");
    expect_bound(
        KRF_F32, "x: f32[rows, rows]; x",
        "line 1, column 1: x is declared with shape (3, 3) and bound to shape (3, 5)\nx: f32[rows, rows]; x\n^");
    expect_bound(KRF_F32, "x: f32[15]; x",
                 "line 1, column 1: x is declared with shape (15,) and bound to shape (3, 5)\nx: f32[15]; x\n^");
    expect_bound(
        KRF_F32, "x: f32[3, 5] strides (1, 3); x",
        "line 1, column 1: x is declared with other strides than it is bound with\nx: f32[3, 5] strides (1, 3); x\n^");
    expect_bound(KRF_F32, "large: u8; large", "line 1, column 8: large is declared u8, whose range has no 300\nlarge: u8; large\n       ^");
    expect_bound(KRF_F32, "x[:count, -count]", "x0: f32[3, 5]\nreturn reshape(x0[:2, 3:4], (2,))\n");
    expect_bound(KRF_F32, "large: i16; large", "s0: int\nreturn i16(s0)\n");
    expect_bound(KRF_F32, "large: bool; large", "line 1, column 8: large is declared bool and bound to int\nlarge: bool; large\n       ^");
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
    assert_string_equal(
        text,
        "x0: f32[4]\nx1: f32[4]\nx2: f32[4]\nx3: f32[4]\nt1: f32[4]\nt2 = x0 + x1 + x2 + x3 + t1\nreturn t2 * t2\n");
    krf__mem_free(text);
    krf__graph_free(&r.g);
}

/* A call is what the body is with the arguments in it. */
static void functions(void **state) {
    (void)state;
    same("f(u, v) = u * v + 1\nf(x, y)", "x * y + 1");
    same("f(u, v,) = u * v + 1; x.f(y)", "x * y + 1");
    same("f(x) = x * y\nf(2 * z[0]) + x", "2 * z[0] * y + x");              /* a parameter hides a value, for the body alone */
    same("f(x) = x * y\ng(y) = f(y) + y\ng(z[0])", "z[0] * y + z[0]");      /* a body sees the program, not who calls it */
    same("q = 1.5; f(u) = u * q; q = 2.5; f(x)", "x * 2.5");                 /* as it is at the call */
    same("f(n) = x.reshape(4, 2, -1) * n; f(s)", "x.reshape(4, 2, 4) * s");
    same("exp(u) = u * 2; exp(x) + np.exp(x)", "x * 2 + np.exp(x)");
    same("f(u) = sum(u, axis=0,\n keepdims=True); f(x)", "sum(x, axis=0, keepdims=True)");
    same("f(u) = (u + 1) * (u, 2)[0]; x", "x");                              /* never called: no fault */
    same("p(u, v) = u + v, u - v\na1, a2 = p(x, y)\na2 / a1", "(x - y) / (x + y)");
    same("p(u, v) = (u + v, u - v)\na1, a2 = p(x, y)\na2 / a1", "(x - y) / (x + y)");
    same("p(u, v) = (u + v, (u - v))\nreturn p(x, y)", "x + y, x - y");
    same("p(u, v) = (u + v, u - v)\nt(u) = p(u, 1), u\nreturn x, t(y)", "x, y + 1, y - 1, y");
    same("p(u, v) = (u) + (v)\np(x, y)", "x + y");
    same("u, v = x, y; u, v = v, u; u - v", "y - x");
    same("f(u) = grad(sum(u * u), u)\nf(y)", "grad(sum(y * y), y)");
    same("grad(sum(y * y), y)", "y + y");
    same("v, d = value_and_grad(sum(2 * y), y); d", "broadcast_to(f32(2), (8,))");
    same("p, q = grad(sum(x * y), x, y); p", "broadcast_to(y, (4, 8))");
    same("jvp(x * y, x, y)", "broadcast_to(y * y, (4, 8))");
    same("stop_gradient(x) + 1", "x.stop_gradient() + 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),   cmocka_unit_test(operators_print_minimal),
        cmocka_unit_test(literals),     cmocka_unit_test(every_function),
        cmocka_unit_test(casts),        cmocka_unit_test(reductions),
        cmocka_unit_test(views),        cmocka_unit_test(programs),
        cmocka_unit_test(extents),      cmocka_unit_test(bindings),
        cmocka_unit_test(placeholders), cmocka_unit_test(functions),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
