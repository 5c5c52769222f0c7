/* The text form: printing and parsing undo each other, for programs that use everything, for long ones, and for 40,000
 * mutated or random texts, which must never do worse than fail. */
#include "text.h"

#include "ir/print.h"

#include <locale.h>

/* Whether node a of one graph is node b of another, numbering aside; inputs and scalars come back as placeholders. */
static bool same_node(const krf_graph *ga, uint32_t a, const krf_graph *gb, uint32_t b, uint32_t *twin) {
    if (a == 0 || b == 0 || twin[a] != 0) {
        return a == 0 || b == 0 ? a == b : twin[a] == b;
    }
    const krf__node *x = krf__node_of(ga, a), *y = krf__node_of(gb, b);
    bool leaf = x->op == KRF__input || x->op == KRF__scalar || x->op == KRF__placeholder;
    bool equal =
        (leaf ? y->op == KRF__placeholder : x->op == y->op) && x->dtype == y->dtype
        && (x->weak == y->weak || x->op == KRF__constant) && x->keepdims == y->keepdims && x->n_ints == y->n_ints
        && (leaf || x->value == y->value)
        && krf__shape_equal(x->rank, krf__shape_of(ga, a), y->rank, krf__shape_of(gb, b))
        && (x->n_ints == 0 || memcmp(krf__ints_of(ga, a), krf__ints_of(gb, b), x->n_ints * sizeof(int64_t)) == 0);
    for (int i = 0; equal && i < 3; i++) {
        equal = same_node(ga, x->args[i], gb, y->args[i], twin);
    }
    twin[a] = equal ? b : 0;
    return equal;
}

/* (A constant's own weakness, which nothing can see, is not compared: a literal of the operation's dtype stays weak,
 * others do not.) */
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
    "x + y",
    "maximum(x, 0) + log1p(exp(-abs(x)))",
    "-sum(-0.5 * z * z - log(s))",
    "(z - mu) / s",
    "x - x.mean(axis=1, keepdims=True)",
    "exp(x - max(x, axis=-1, keepdims=True)) / sum(exp(x - max(x, axis=-1, keepdims=True)), axis=-1, keepdims=True)",
    "t = x * x; t = t + t; t = t * t; return t, t.T, sum(t)",
    "x[1:-1, ::2]",
    "x[::-1].T",
    "x[0, 1:5] * 2",
    "x[None, ..., None] + 1",
    "x[0:0] + 1",
    "reshape(x, (2, -1)).T",
    "broadcast_to(y, (3, 4, 8)).sum(axis=(0, 2))",
    "i // 3 % 2 << 1 | 4 ^ j & ~i",
    "i ** 3",
    "i ** -2",
    "i ** 12",
    "i ** i32(3)",
    "j ** i64(3)",
    "z ** f64(3)",
    "z ** 3.0",
    "z ** 9",
    "x ** 0.5",
    "x ** -1",
    "2 ** x",
    "2.0 ** x",
    "(-2) ** x",
    "-2 ** x",
    "z + 2",
    "z + 2.0",
    "z + f64(2)",
    "z + f64(0.1)",
    "z + 0.1",
    "x + 0.1",
    "x + f32(0.1)",
    "x * 3",
    "j * 2",
    "j * i64(2)",
    "i + 2.5",
    "b + 1",
    "b * 1.5",
    "mu + k",
    "mu * 2",
    "k / 2",
    "k * 2.5",
    "1 / k",
    "mu * 0x7fffffffffffffff",
    "exp(k) * x",
    "(mu + k) * x",
    "where(k < mu, k, mu)",
    "k < 2.5",
    "mu < 2",
    "where(b, i, 1.5)",
    "where(x < 0, 0.1 * x, x)",
    "where(b, f32(1), f32(2))",
    "logical_and(x[:, 0], k) | ~b",
    "logical_or(b, 1)",
    "True & b",
    "negative(1.0) * x",
    "- -1 * x",
    "-(2 * mu)",
    "f32(-0.0) * x",
    "z * f64(-0.0)",
    "-0.0 * z",
    "z - nan",
    "x * inf - -inf",
    "f32(nan) + x",
    "1e-45 * x",
    "f32(3.4028235e38) + x",
    "f64(1e308) + z",
    "z + 9007199254740993",
    "z * 1e300",
    "pi * x",
    "1",
    "-1.5",
    "True",
    "f32(1)",
    "x, y, x",
    "mu",
    "k, mu, s",
    "bool(x) == True",
    "x == x.astype(i32)",
    "sum(i), prod(j), mean(i), any(b), all(x), min(z), max(k * x, axis=0)",
    "sum(s)",
    "sum(k)",
    "mu[None]",
    "sum(x, keepdims=True)",
    "sum(x, axis=())",
    "atan2(x, y) + hypot(x, 1)",
    "x.T.reshape(4, 8)[::2, 7:2:-3]",
    "flip(x)[1:, :-1]",
    "x[3:1:-1]",
    "x[::3]",
    "y[7:2:-2] + y[:3]",
    "x[100:, 2]",
    "x.reshape(4, 2, 2, 2).transpose(3, 1, 0, 2)",
    "((((((((((x + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1)",
    "sin(cos(sin(cos(sin(cos(sin(cos(sin(cos(sin(cos(sin(cos(sin(cos(x))))))))))))))))",
    "round(x) + ceil(x) - floor(x) + sign(x)"};

static void fixpoint(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[1024];
        snprintf(text, sizeof text, DECLARATIONS "w: f32[4, 8] strides (1, 4); v: f32[8] strides (-2,)\nu = w + v\n%s",
                 bodies[i]);
        round_trip(text);
    }
    round_trip("x: f32[4, 8] strides (1, 4); y: f32[8] strides (0,); a_long_name_of_an_array: bool[4, 1]\n"
               "where(a_long_name_of_an_array, x, y)");
    round_trip("x: f32[8]; i: i32[8]; z: c64[8]; a: complex; c64(x) * z, x * z, exp(c64(x)), i32(1) + c64(complex(1, 0)), i + a, c64(i) + a, c128(x) + z, i32(1) + z, z ** i64(-2), z ** i32(3), z ** c64(3), stack((x, z)), lerp(x, z, i)");
    round_trip("x: c128[8]; c: c64[8]; a: complex; x ** c128(5), c ** c64(1), x ** c128(9), x ** a, x ** c128(-3), x ** c128(2.5), x * c128(5), x ** 9, x ** c128(i64(5)), a ** 9");
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
    char *text = canonical("x: f32[4]; x * 1.5e3 + 0.1");
    assert_string_equal(text, "x: f32[4]\nreturn x * 1500.0 + 0.1\n");
    krf__mem_free(text);
    setlocale(LC_ALL, "C");
}

static void long_chains(void **state) {
    (void)state;
    enum { TERMS = VERY_OFTEN };
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
    parse(&r, "x: f32[4]; x = x + x; x = x * x; x = x + x; x = x * x; x = x + x; x = x * x; x = x + x; x = x * x; x = "
              "x + x; x");
    krf__print_expression(&r.g, r.results[0], 50, &out);
    assert_string_equal(out.data, "((((x0 + x0) * (x0 + x0) + (x0 + x0) * (x0 + x0)) ...");
    krf__str_free(&out);
    krf__graph_free(&r.g);
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
    static const char *const words[] = {"x",       "y",
                                        "(",       ")",
                                        "[",       "]",
                                        ",",       ":",
                                        "=",       ".",
                                        "-",       "**",
                                        "//",      "...",
                                        "None",    "sum",
                                        "axis",    ".T",
                                        "1",       "0",
                                        "-1",      "f32",
                                        "np.",     "return",
                                        "\n",      ";",
                                        "#",       "1e",
                                        "0x",      "inf",
                                        "~",       "<",
                                        "==",      "keepdims=True",
                                        "reshape", "int",
                                        "True",    "\xff",
                                        "\\",      "k",
                                        "mu",      "f64(2)",
                                        "**2",     "[0]"};
    uint64_t seed = 0x9e3779b97f4a7c15u;
    int good = 0;
    for (int round = 0; round < 20000; round++) {
        char text[1400];
        size_t n_bodies = sizeof bodies / sizeof *bodies;
        snprintf(text, 1024, DECLARATIONS "%s", bodies[next_random(&seed) % n_bodies]);
        size_t length = strlen(text);
        for (uint64_t edits = 1 + next_random(&seed) % 3; edits > 0; edits--) {
            size_t at = next_random(&seed) % 4 == 0 ? next_random(&seed) % length
                                                    : length - 1 - next_random(&seed) % (length - 100);
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
        cmocka_unit_test(fixpoint),
        cmocka_unit_test(fixpoint_of_built_graphs),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(expressions),
        cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests_name("text: printing", tests, NULL, NULL);
}
