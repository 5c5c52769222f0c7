/* The text form: what is refused, with which message at which place; also nesting without end and memory running out.
 */
#include "text.h"

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
            "line 1, column 15: add: not defined for bool and bool; cast to a number, or use logical and bitwise "
            "operations\n"
            "b: bool[3]; b + b\n              ^");
    refused(KRF_E_SHAPE, "x: f32[7]; y: f32[5]; maximum(x, y)",
            "line 1, column 23: maximum: shapes (7,) and (5,) do not broadcast\nx: f32[7]; y: f32[5]; maximum(x, y)\n  "
            "                    ^");
    refused(P, "x: f32[3]; x < x < x",
            "line 1, column 18: comparisons do not chain: write (a < b) & (b < c)\nx: f32[3]; x < x < x\n              "
            "   ^");
    refused(P, "alpha: f32[3]\nalhpa + 1", "line 2, column 1: alhpa is not defined; did you mean alpha?\nalhpa + 1\n^");
    refused(P, "qqq", "line 1, column 1: qqq is not defined\nqqq\n^");
    refused(P, "true", "line 1, column 1: true is not defined; did you mean True?\ntrue\n^");
    refused(P, "x: f32[3]; flor(x)",
            "line 1, column 12: flor is not a function; did you mean floor?\nx: f32[3]; flor(x)\n           ^");
    refused(P, "x: f32[3]; x and x",
            "line 1, column 14: 'and' is not supported: use & or logical_and, with comparisons in parentheses\n"
            "x: f32[3]; x and x\n             ^");
    refused(P, "x: f32[3]; not x",
            "line 1, column 12: 'not' is not supported: use ~ or logical_not\nx: f32[3]; not x\n           ^");
    refused(P, "0x2j", "line 1, column 1: a number runs into a name\n0x2j\n^");
    refused(P, "2jj", "line 1, column 1: a number runs into a name\n2jj\n^");
    refused(KRF_E_DTYPE, "x: c64[3]; x < 2j",
            "line 1, column 14: less: not defined for c64 and c128; complex numbers have no order: compare abs(x), real(x) or imag(x)\n"
            "x: c64[3]; x < 2j\n             ^");
    refused(P, "x: complex[3]; x",
            "line 1, column 11: complex is the type of a weak scalar; arrays have a dtype such as c128\nx: complex[3]; x\n          ^");
    refused(P, "18446744073709551616", "line 1, column 1: an integer beyond 64 bits\n18446744073709551616\n^");
    refused(P, "-9223372036854775809", "line 1, column 2: an integer beyond 64 bits\n-9223372036854775809\n ^");
    refused(P, "99999999999999999999", "line 1, column 1: an integer beyond 64 bits\n99999999999999999999\n^");
    refused(P, "x: f32[3]; x[:9223372036854775808]",
            "line 1, column 15: an integer outside -2**63 to 2**63 - 1\nx: f32[3]; x[:9223372036854775808]\n              ^");
    refused(P, "x: f32[3]; x[2:9223372036854775807 * 2]",
            "line 1, column 36: an integer outside -2**63 to 2**63 - 1\nx: f32[3]; x[2:9223372036854775807 * 2]\n                                   ^");
    refused(P, "x: f32[3]; x[:2 // 0]", "line 1, column 17: division by 0\nx: f32[3]; x[:2 // 0]\n                ^");
    refused(P, "x: f32[3]; x[:3 / 2]", "line 1, column 17: '/' gives no integer: use //\nx: f32[3]; x[:3 / 2]\n                ^");
    refused(P, "x: f32[3]; x[:x]",
            "line 1, column 15: x is no integer that is known when the text is read: literals, sizes and what is made of them are\nx: f32[3]; x[:x]\n              ^");
    refused(P, "x: f32[3]; t = 18446744073709551615; x[t]",
            "line 1, column 40: an integer outside -2**63 to 2**63 - 1\nx: f32[3]; t = 18446744073709551615; x[t]\n                                       ^");
    refused(P, "x: f32[3]; t = 9223372036854775807 + 1; x[:t]",
            "line 1, column 44: t is no integer that is known when the text is read: literals, sizes and what is made of them are\nx: f32[3]; t = 9223372036854775807 + 1; x[:t]\n                                           ^");
    refused(P, "x: f32[3]; x[]", "line 1, column 14: expected an integer or a slice, found ']'\nx: f32[3]; x[]\n             ^");
    refused(P, "(1 + 2", "line 1, column 1: this '(' is never closed\n(1 + 2\n^");
    refused(P, "1 + ", "line 1, column 5: expected an expression, found the end of the text\n1 + \n    ^");
    refused(P, "1 +\n2", "line 1, column 4: expected an expression, found the end of the line\n1 +\n   ^");
    refused(P, "\t1 $ 2", "line 1, column 4: a character that means nothing here\n\t1 $ 2\n\t  ^");
    refused(P, "1 2", "line 1, column 3: expected an operator or the end of the statement, found '2'\n1 2\n  ^");
    refused(P, "x: f32[3]; x @ x",
            "line 1, column 14: matrix products are not supported yet\nx: f32[3]; x @ x\n             ^");
    refused(P, "x = 1", "line 1, column 6: the program gives no result: end it with return\nx = 1\n     ^");
    refused(P, "", "line 1, column 1: the program gives no result: end it with return\n\n^");
    refused(P, "1\n2", "line 1, column 1: this value is not used: give it a name, or return it at the end\n1\n^");
    refused(P, "return 1\n2", "line 2, column 1: nothing may follow return\n2\n^");
    refused(P, "return", "line 1, column 7: expected a result, found the end of the text\nreturn\n      ^");
    refused(P, "x: f32[nn]; x",
            "line 1, column 8: the size nn is not known: bind it, or an array that has it\nx: f32[nn]; x\n       ^");
    refused(P, "x: f32[3]; x: f32[3]; x",
            "line 1, column 12: x is declared or assigned already\nx: f32[3]; x: f32[3]; x\n           ^");
    refused(P, "x: float[3]; x",
            "line 1, column 9: float is the type of a weak scalar; arrays have a dtype such as f64\nx: float[3]; x\n   "
            "     ^");
    refused(P, "x: f32[3]; clip(x)", "line 1, column 12: clip takes an array and a bound or two: clip(x, low, high), clip(x, low, None)\nx: f32[3]; clip(x)\n           ^");
    refused(P, "x: f32[3]; clip(x, None, None)", "line 1, column 12: clip takes an array and a bound or two: clip(x, low, high), clip(x, low, None)\nx: f32[3]; clip(x, None, None)\n           ^");
    refused(P, "x: f32[3]; clip(x, 1, 2, 3)", "line 1, column 26: clip takes 3 operands, not more\nx: f32[3]; clip(x, 1, 2, 3)\n                         ^");
    refused(P, "x: f32[3]; clip(x, 1, min=2)", "line 1, column 23: clip: a_min is given twice\nx: f32[3]; clip(x, 1, min=2)\n                      ^");
    refused(P, "x: f32[3]; x.astype('f23')", "line 1, column 22: f23 is not a dtype\nx: f32[3]; x.astype('f23')\n                     ^");
    refused(P, "x: f32[3]; x.vstack()", "line 1, column 14: vstack is no method\nx: f32[3]; x.vstack()\n             ^");
    refused(P, "x: f23; x", "line 1, column 4: f23 is not a dtype\nx: f23; x\n   ^");
    refused(P, "return = 1", "line 1, column 1: return is a word of the language and cannot be a name\nreturn = 1\n^");
    refused(P, "a, b = 1, 2", "line 1, column 12: the program gives no result: end it with return\na, b = 1, 2\n           ^");
    refused(P, "f(u) = u + oops; 1", "line 1, column 12: oops is not defined\nf(u) = u + oops; 1\n           ^");
    refused(P, "f(u) = g(u); g(u) = u; f(1)", "line 1, column 8: g is not a function\nf(u) = g(u); g(u) = u; f(1)\n       ^");
    refused(P, "fac(n) = n * fac(n - 1); fac(3)",
            "line 1, column 14: fac calls itself: functions are inlined, and none can be recursive\nfac(n) = n * fac(n - 1); fac(3)\n             ^");
    refused(P, "f(u, u) = 1; f(1, 2)", "line 1, column 6: f has two parameters named u\nf(u, u) = 1; f(1, 2)\n     ^");
    refused(P, "f() = 1; f()", "line 1, column 3: a function needs a parameter: f = ... gives a value a name\nf() = 1; f()\n  ^");
    refused(P, "f(1) = 1; f(1)", "line 1, column 3: expected the name of a parameter, found '1'\nf(1) = 1; f(1)\n  ^");
    refused(P, "f(u) = u; f(u) = 2; f(1)", "line 1, column 11: the function f is defined already\nf(u) = u; f(u) = 2; f(1)\n          ^");
    refused(P, "f = 1; f(u) = 2; f(1)", "line 1, column 8: f is a value already, and cannot be a function too\nf = 1; f(u) = 2; f(1)\n       ^");
    refused(P, "f(u) = u; f(1, 2)", "line 1, column 16: f takes 1 operand, not more\nf(u) = u; f(1, 2)\n               ^");
    refused(P, "f(u, v) = u; f(1)", "line 1, column 14: f takes 2 operands, not 1\nf(u, v) = u; f(1)\n             ^");
    refused(P, "eye(3 dtype=f32)", "line 1, column 7: expected ')', found 'dtype'\neye(3 dtype=f32)\n      ^");
    refused(P, "x: f32[3]; linspace(0, x, 5)", "line 1, column 22: linspace: the bounds are numbers\nx: f32[3]; linspace(0, x, 5)\n                     ^");
    refused(P, "f(u) = u; f(u=1)", "line 1, column 13: f takes no keywords: its operands go by their places\nf(u) = u; f(u=1)\n            ^");
    refused(P, "f(u) = u +\nf(1)", "line 1, column 11: expected an expression, found the end of the line (in f, called in line 2)\nf(u) = u +\n          ^");
    refused(P, "f(u) =\nf(1)", "line 1, column 7: expected an expression, found the end of the line\nf(u) =\n      ^");
    refused(KRF_E_SHAPE, "x: f32[7]; y: f32[5]\ng(u) = u + y\nf(u) = g(u)\nf(x)",
            "line 2, column 10: add: shapes (7,) and (5,) do not broadcast (in g, called in line 3) (in f, called in line 4)\ng(u) = u + y\n         ^");
    refused(P, "p(u) = u, 2; 1 + p(1)", "line 1, column 18: p gives 2 values: give them names first, as in a, b = p(...)\np(u) = u, 2; 1 + p(1)\n                 ^");
    refused(P, "p(u) = u, 2; p(1) + 1", "line 1, column 14: p gives 2 values: give them names first, as in a, b = p(...)\np(u) = u, 2; p(1) + 1\n             ^");
    refused(P, "p(u) = u, 2; a = p(1)", "line 1, column 14: 1 name for 2 values\np(u) = u, 2; a = p(1)\n             ^");
    refused(P, "a, b = 1", "line 1, column 1: 2 names for 1 value\na, b = 1\n^");
    refused(P, "b = 2; a = b = 1", "line 1, column 14: one value is assigned at a time\nb = 2; a = b = 1\n             ^");
    refused(P, "a, True = 1, 2", "line 1, column 4: True is a word of the language and cannot be a name\na, True = 1, 2\n   ^");
    refused(P, "f(u) = u; f + 1", "line 1, column 11: f is a function: it needs its operands in parentheses\nf(u) = u; f + 1\n          ^");
    refused(P, "gaus(u) = u; gauss(1)", "line 1, column 14: gauss is not a function; did you mean gaus?\ngaus(u) = u; gauss(1)\n             ^");
    refused(P, "(1, 2)", "line 1, column 3: a tuple is not a value\n(1, 2)\n  ^");
    refused(P, "[1, 2]", "line 1, column 1: a list is not a value: bind an array to a name\n[1, 2]\n^");
    refused(P, "x: f32[3]; sum(x, axes=0)",
            "line 1, column 19: sum takes no keyword axes here\nx: f32[3]; sum(x, axes=0)\n                  ^");
    static const char *const calls[][3] = {
        {"sum(x, axis=0, axis=0)", "axis=0)", "sum: axis is given twice"},
        {"sum(x, 0, axis=0)", "axis", "sum: axis is given twice"},
        {"x.sum(0, keepdims=True, keepdims=True)", "keepdims=True)", "sum: keepdims is given twice"},
        {"mean(x, dtype=f64, dtype=f64)", "dtype=f64)", "mean: dtype is given twice"},
        {"var(x, ddof=1, correction=1)", "correction", "var: correction is given twice"},
        {"sum(axis=0, x=x)", "axis", "sum takes its operand first, without a keyword"},
        {"sum(x=x)", "x=x", "sum takes its operand first, without a keyword"},
        {"f32(x=x)", "x=x", "f32 takes its operand first, without a keyword"},
        {"transpose(x, axis=0)", "axis", "transpose takes no keyword axis here"},
        {"reshape(x, 3, shape=3)", "shape=", "reshape: shape is given twice"},
        {"slice(x, starts=1)", "starts", "slice takes no keyword starts here"},
        {"cast(x, f32, dtype=f32)", "dtype", "cast: dtype is given twice"},
        {"cast(x, to=f32)", "to=", "cast takes no keyword to here"},
        {"f64(x, dtype=f32)", "dtype", "f64 takes no keyword dtype here"},
        {"zeros(3, dtype=f32, dtype=f32)", "dtype=f32)", "zeros: dtype is given twice"},
        {"zeros(3, shape=3)", "shape=", "zeros: shape is given twice"},
        {"roll(x, 1, shift=1)", "shift=", "roll: shift is given twice"},
        {"take(x, x=x)", "x=x", "take: x is given twice"},
        {"grad(y=x, x)", "y=", "grad takes no keyword y here"},
        {"random_uniform(3, 1, key=1)", "key", "random_uniform: key is given twice"},
        {"hypot.reduce(x, axis=0, axis=0)", "axis=0)", "hypot: axis is given twice"},
        {"hypot.outer(x, x, axis=0)", "axis", "outer takes no keyword axis"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char text[100], message[300];
        snprintf(text, sizeof text, "x: f32[3]\n%s", calls[i][0]);
        const int column = (int)(strstr(calls[i][0], calls[i][1]) - calls[i][0]);
        snprintf(message, sizeof message, "line 2, column %d: %s\n%s\n%*s^", column + 1, calls[i][2], calls[i][0], column, "");
        refused(P, text, message);
    }
    refused(P, "x: f32[3]; max(x, x)",
            "line 1, column 19: max reduces over axes: the larger or smaller of two is maximum\nx: f32[3]; max(x, x)\n "
            "                 ^");
    refused(P, "x: f32[3]; sqrt(x, x)",
            "line 1, column 20: sqrt takes 1 operand, not more\nx: f32[3]; sqrt(x, x)\n                   ^");
    refused(P, "x: f32[3]; maximum(x)",
            "line 1, column 12: maximum takes 2 operands, not 1\nx: f32[3]; maximum(x)\n           ^");
    refused(P, "exp + 1", "line 1, column 1: exp is a function: it needs its operands in parentheses\nexp + 1\n^");
    refused(P, "exp = 1; exp(1)",
            "line 1, column 10: exp is a value here and cannot be called\nexp = 1; exp(1)\n         ^");
    refused(KRF_E_ARGUMENT, "x: f32[3]; sum(x, axis=1)",
            "line 1, column 12: sum: axis 1 is out of range for rank 1\nx: f32[3]; sum(x, axis=1)\n           ^");
    refused(KRF_E_SHAPE, "x: f32[3]; x[3]",
            "line 1, column 14: index 3 is out of range for axis 0 of extent 3\nx: f32[3]; x[3]\n             ^");
    refused(KRF_E_SHAPE, "x: f32[3]; x[0, 0]",
            "line 1, column 13: 2 indices for rank 1\nx: f32[3]; x[0, 0]\n            ^");
    refused(
        KRF_E_DTYPE, "x: f32[3]; x[x]",
        "line 1, column 14: a subscript is made of integers, slices, None, ... and arrays of integers; this is f32\nx: f32[3]; x[x]\n             ^");
    refused(P, "x: f32[3]; x.dtype",
            "line 1, column 14: dtype is no attribute: there are T, mT, real, imag, shape, size and ndim, and methods\nx: f32[3]; x.dtype\n           "
            "  ^");
    refused(P, "x: f32[3]; x.shape", "line 1, column 14: shape is no value: its extents are, as x.shape[0]\nx: f32[3]; x.shape\n             ^");
    refused(KRF_E_SHAPE, "x: f32[3]; x.shape[1]", "line 1, column 14: shape[1] is out of range for rank 1\nx: f32[3]; x.shape[1]\n             ^");
    refused(KRF_E_SHAPE, "x: f32[3]; x.shape[-2]", "line 1, column 14: shape[-2] is out of range for rank 1\nx: f32[3]; x.shape[-2]\n             ^");
    refused(P, "x: f32[3]; x[:x.T]",
            "line 1, column 17: T is no integer that is known when the text is read: shape[i], size and ndim are\nx: f32[3]; x[:x.T]\n                ^");
    refused(P, "x: f32[3]; copy(x)", "line 1, column 12: copy is not a function\nx: f32[3]; copy(x)\n           ^");
    refused(P, "007", "line 1, column 1: an integer does not start with 0\n007\n^");
    refused(P, "3x", "line 1, column 1: a number runs into a name\n3x\n^");
    refused(P, "# \xc3\xa4\xc3\xb6\n1 + \xc3\xa4",
            "line 2, column 5: a character that means nothing here: U+00E4\n1 + \xc3\xa4\n    ^");
    refused(P, "1\xc2\xa0+ 2", "line 1, column 2: a character that means nothing here: U+00A0\n1\xc2\xa0+ 2\n ^");
    refused(P, "1 \xe2\x88\x92 2", "line 1, column 3: a character that means nothing here: U+2212\n1 \xe2\x88\x92 2\n  ^");
    refused(P, "1 + \xf0\x9d\x9c\x8b", "line 1, column 5: a character that means nothing here: U+1D70B\n1 + \xf0\x9d\x9c\x8b\n    ^");
    refused(P, "1 + \x01", "line 1, column 5: a character that means nothing here: U+0001\n1 + ?\n    ^");
    refused(P, "1 + \xff", "line 1, column 5: text that is no UTF-8\n1 + \xff\n    ^");
    refused(P, "1 + \xc3", "line 1, column 5: text that is no UTF-8\n1 + \xc3\n    ^");
    refused(P, "\xef\xbb\xbfqqq", "line 1, column 1: qqq is not defined\nqqq\n^");
    refused(P, "1 +\xef\xbb\xbf 2", "line 1, column 4: a character that means nothing here: U+FEFF\n1 +\xef\xbb\xbf 2\n   ^");
    refused(P, "x: f32[3]; x && x",
            "line 1, column 14: '&&' is not supported: use & or logical_and, with comparisons in parentheses\nx: f32[3]; x && x\n             ^");
    refused(P, "x: f32[3]; x || x",
            "line 1, column 14: '||' is not supported: use | or logical_or, with comparisons in parentheses\nx: f32[3]; x || x\n             ^");
    refused(P, "x: f32[3]; !x", "line 1, column 12: '!' is not supported: use ~ or logical_not\nx: f32[3]; !x\n           ^");
    refused(P, "x: f32[3]; x ? 1 : 2", "line 1, column 14: '?' is not supported: use where(condition, x, y)\nx: f32[3]; x ? 1 : 2\n             ^");
    refused(P, "a = 1\na += 1\na", "line 2, column 3: '+=' is not supported: write a = a + ...\na += 1\n  ^");
    refused(P, "a //= 2; a", "line 1, column 3: '//=' is not supported: write a = a // ...\na //= 2; a\n  ^");
    refused(P, "a = b = 1; a", "line 1, column 7: one value is assigned at a time\na = b = 1; a\n      ^");
    refused(P, "(a, b) = 1, 2; a", "line 1, column 1: names that get values stand without brackets: a, b = ...\n(a, b) = 1, 2; a\n^");
    refused(P, "[a, b] = 1, 2; a", "line 1, column 1: names that get values stand without brackets: a, b = ...\n[a, b] = 1, 2; a\n^");
    refused(P, "def f(x): return x", "line 1, column 1: 'def' is not supported: write f(x) = ...\ndef f(x): return x\n^");
    refused(P, "f = lambda x: x; f", "line 1, column 5: 'lambda' is not supported: write f(x) = ..., a statement of its own\nf = lambda x: x; f\n    ^");
    refused(P, "import numpy as np\n1", "line 1, column 1: 'import' is not supported: all functions are there, with np. or without\nimport numpy as np\n^");
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

static void repeat(krf__str *s, const char *text, int n) {
    for (int i = 0; i < n; i++) {
        krf__str_put(s, text);
    }
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    static const char *const openings[] = {
        "(", "-", "~", "sin(", "2 ** ", "sum(x, axis=", "maximum(x, ", "x[", "1 + (", "x[:-", "x[:(", "reshape(x, ("};
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        krf__str text = {0};
        krf__str_put(&text, "x: f32[4]\n");
        repeat(&text, openings[i], VERY_OFTEN);
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

/* Allocation number n fails, for every n: an error each time, and nothing leaks. */
static void out_of_memory(void **state) {
    (void)state;
    for (long n = 1;; n++) {
        parsed r;
        krf__str out = {0};
        assert_int_equal(krf__graph_init(&r.g, NULL), KRF_OK);
        krf__mem_fail_at(n);
        r.status = krf__parse(
            &r.g, DECLARATIONS "w: f32[3, 8] strides (1, 3)\nt = sin(w) + 1.5\np(u, v) = u * v, u[0]; q, r = p(y, y)\nd, e = grad(sum(prod(x * y, axis=0) * cumsum(y)), y, s)\n"
                               "t.sum(axis=0)[1:] * t[:, 1:], oops",
            NULL, 0, extent_of_letter, NULL, MOST, r.results, &r.n);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests_name("text: errors", tests, NULL, NULL);
}
