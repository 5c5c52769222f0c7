/* A recursive descent over the lexer of the text form. Every step goes down one level at most MOST times, so that no text overflows the stack. */
#include "ir/extent.h"

#include "base/fail.h"
#include "ir/lex.h"

#include <ctype.h>
#include <string.h>

enum { MOST = 64 };

typedef struct reader {
    krf__lexer lexer;
    krf__token token;
    const char *end;
    krf__span text;
    krf__extent_find *find;
    void *user;
    int depth;
    bool failed;
} reader;

bool krf__span_is(krf__span span, const char *text) { return span.length == strlen(text) && memcmp(span.at, text, span.length) == 0; }

bool krf__span_same(krf__span a, krf__span b) { return a.length == b.length && memcmp(a.at, b.at, a.length) == 0; }

static int64_t fail(reader *r, const char *why) {
    if (!r->failed) {
        krf__fail(KRF_E_ARGUMENT, "the expression '%.*s' %s", (int)r->text.length, r->text.at, why);
    }
    r->failed = true;
    return 0;
}

/* Real numbers have no place here, and the lexer would want a locale to read one. */
static bool at_real(const char *at) {
    at += strspn(at, " \t\r\f\n");
    const char *end = at + strspn(at, "0123456789");
    return *at == '.' ? at[1] >= '0' && at[1] <= '9' : end > at && strchr(".eEjJ", *end) != NULL && *end != '\0';
}

static void next(reader *r) {
    if (at_real(r->lexer.at)) {
        r->token = (krf__token){.kind = KRF__TOKEN_ERROR, .start = r->lexer.at};
        return;
    }
    r->token = krf__lex(&r->lexer);
    if (r->token.kind == KRF__TOKEN_END || r->token.start >= r->end) {
        r->token.kind = KRF__TOKEN_END;
    }
}

static bool take(reader *r, int kind) {
    const bool is = r->token.kind == kind;
    if (is) {
        next(r);
    }
    return is;
}

static void want(reader *r, int kind, const char *otherwise) {
    if (!take(r, kind)) {
        fail(r, otherwise);
    }
}

static int64_t sum(reader *r);

/* min(a, b), max(a, b). */
static int64_t choice(reader *r, bool largest) {
    int64_t a = sum(r);
    want(r, ',', "lacks a comma: min and max take two values");
    const int64_t b = sum(r);
    want(r, ')', "lacks a ')'");
    return (a > b) == largest ? a : b;
}

static int64_t named(reader *r, krf__span name) {
    krf__span fact = {NULL, 0};
    int64_t axis = 0, value = 1;
    if (take(r, '.')) {
        fact = (krf__span){r->token.start, r->token.length};
        const bool axes = krf__span_is(fact, "shape") || krf__span_is(fact, "strides");
        if (r->token.kind != KRF__TOKEN_NAME || !(axes || krf__span_is(fact, "size") || krf__span_is(fact, "rank"))) {
            return fail(r, "asks for what arrays have not: .size, .rank, .shape[0] and .strides[0] are there");
        }
        next(r);
        if (axes) {
            want(r, '[', "lacks the axis: x.shape[0]");
            axis = sum(r);
            want(r, ']', "lacks a ']'");
        }
    }
    int rank = -1;
    if (!r->failed && r->find != NULL && !r->find(r->user, name, fact, axis, &value, &rank)) {
        const int text = (int)r->text.length, named = (int)name.length;
        if (rank >= 0) {
            krf__fail(KRF_E_ARGUMENT, "in '%.*s', axis %lld is out of range: %.*s has rank %d", text, r->text.at, (long long)axis, named, name.at, rank);
        } else if (fact.at != NULL) {
            krf__fail(KRF_E_ARGUMENT, "in '%.*s', %.*s is no array whose shape is known there: those of operands are, and of results before it", text, r->text.at, named, name.at);
        } else {
            krf__fail(KRF_E_ARGUMENT, "in '%.*s', %.*s is no size that is known: names that stand alone in the brackets of a parameter are", text, r->text.at, named, name.at);
        }
        r->failed = true;
    }
    return value;
}

static int64_t value_of(reader *r) {
    const krf__token token = r->token;
    if (++r->depth > MOST) {
        return fail(r, "is nested too deeply");
    }
    int64_t value = 0;
    if (take(r, '-')) {
        value = -value_of(r);
    } else if (take(r, '(')) {
        value = sum(r);
        want(r, ')', "lacks a ')'");
    } else if (token.kind == KRF__TOKEN_INT && token.integer <= INT64_MAX) {
        next(r);
        value = (int64_t)token.integer;
    } else if (token.kind == KRF__TOKEN_NAME) {
        const krf__span name = {token.start, token.length};
        const bool most = krf__span_is(name, "max");
        next(r);
        value = (most || krf__span_is(name, "min")) && take(r, '(') ? choice(r, most) : named(r, name);
    } else {
        fail(r, "is not made of integers, sizes, + - * / % and brackets");
    }
    r->depth--;
    return value;
}

static int64_t divided(reader *r, int64_t a, int64_t b, bool rest) {
    if (r->failed || b == 0 || (b == -1 && a == INT64_MIN)) {
        return r->find == NULL || r->failed ? 1 : fail(r, "divides by zero");
    }
    const int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return rest ? a - quotient * b : quotient;
}

static int64_t product(reader *r) {
    int64_t a = value_of(r);
    while (!r->failed) {
        if (take(r, '*')) {
            if (__builtin_mul_overflow(a, value_of(r), &a)) {
                return fail(r, "is out of the range of 64 bits");
            }
        } else if (take(r, '/') || take(r, KRF__TOKEN_FLOOR_DIVIDE)) {
            a = divided(r, a, value_of(r), false);
        } else if (take(r, '%')) {
            a = divided(r, a, value_of(r), true);
        } else {
            break;
        }
    }
    return a;
}

static int64_t sum(reader *r) {
    int64_t a = product(r);
    while (!r->failed) {
        const bool minus = r->token.kind == '-';
        if (!take(r, '+') && !take(r, '-')) {
            break;
        }
        const int64_t b = product(r);
        if (minus ? __builtin_sub_overflow(a, b, &a) : __builtin_add_overflow(a, b, &a)) {
            return fail(r, "is out of the range of 64 bits");
        }
    }
    return a;
}

krf_status krf__extent_eval(krf__span text, krf__extent_find *find, void *user, int64_t *value) {
    reader r = {.lexer = {.at = text.at, .brackets = 1}, .end = text.at + text.length, .text = text, .find = find, .user = user};
    next(&r);
    *value = sum(&r);
    if (!r.failed && r.token.kind != KRF__TOKEN_END) {
        fail(&r, "goes on behind its end");
    }
    return r.failed ? KRF_E_ARGUMENT : KRF_OK;
}

bool krf__span_next(krf__span *rest, krf__span *piece) {
    int depth = 0;
    if (rest->at == NULL || rest->length == 0) {
        return false;
    }
    const char *at = rest->at, *end = rest->at + rest->length;
    while (at < end && (depth > 0 || *at != ',')) {
        depth += *at == '(' || *at == '[';
        depth -= *at == ')' || *at == ']';
        at++;
    }
    *piece = (krf__span){rest->at, (size_t)(at - rest->at)};
    at += at < end;
    *rest = (krf__span){at, (size_t)(end - at)};
    while (piece->length > 0 && isspace((unsigned char)*piece->at)) {
        piece->at++;
        piece->length--;
    }
    while (piece->length > 0 && isspace((unsigned char)piece->at[piece->length - 1])) {
        piece->length--;
    }
    return piece->length > 0 || rest->length > 0;
}
