/* Cuts a program into tokens. The text is trusted in nothing but its final NUL: any byte may occur. Characters are
 * classified by hand and numbers read in the "C" locale, so that a program means the same wherever it is read. Called
 * by the parser. */
#include "ir/lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

static int hex_digit(char c) {
    if (is_digit(c)) {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Blanks, comments, continued lines; newlines too while a bracket is open. */
static const char *skip_blanks(const char *at, bool newlines) {
    for (;; at++) {
        if (*at == '#') {
            at += strcspn(at, "\n");
        } else if (*at == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
            at += at[1] == '\r' ? 2 : 1;
            continue;
        }
        if (*at != ' ' && *at != '\t' && *at != '\r' && *at != '\f' && (*at != '\n' || !newlines)) {
            return at;
        }
    }
}

static krf__token finish(krf__lexer *lexer, int kind, const char *end) {
    krf__token token = {.kind = kind, .start = lexer->at, .length = (size_t)(end - lexer->at)};
    lexer->at = end;
    return token;
}

static krf__token refuse(krf__lexer *lexer, const char *end, const char *why) {
    lexer->error = why;
    return finish(lexer, KRF__TOKEN_ERROR, end);
}

/* Digits in base 10 or 16 up to 64 bits; false beyond. */
static bool read_integer(const char *at, const char *end, unsigned base, uint64_t *value) {
    *value = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)hex_digit(*at);
        if (*value > (UINT64_MAX - digit) / base) {
            return false;
        }
        *value = *value * base + digit;
    }
    return true;
}

static krf__token lex_number(krf__lexer *lexer) {
    const char *start = lexer->at, *end = start;
    bool real = false, hex = start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
    if (hex) {
        for (end += 2; hex_digit(*end) >= 0; end++) {
        }
        hex = end > start + 2;
        real = !hex; /* "0x" alone: refused below, where it runs into a name */
        end = hex ? end : start + 1;
    } else {
        end += strspn(end, "0123456789");
        if (*end == '.') {
            real = true;
            end += 1 + strspn(end + 1, "0123456789");
        }
        size_t sign = *end == 'e' || *end == 'E' ? 1 : 0;
        sign += sign > 0 && (end[1] == '+' || end[1] == '-') ? 1 : 0;
        if (sign > 0 && is_digit(end[sign])) {
            real = true;
            end += sign + strspn(end + sign, "0123456789");
        }
    }
    bool imaginary = !hex && (*end == 'j' || *end == 'J') && !is_name(end[1]);
    if (imaginary) {
        double value = strtod_l(start, NULL, lexer->locale);
        krf__token token = finish(lexer, KRF__TOKEN_IMAGINARY, end + 1);
        token.real = value;
        return token;
    }
    if (is_name(*end)) {
        for (; is_name(*end); end++) {
        }
        return refuse(lexer, end, "a number runs into a name");
    }
    if (real) {
        double value = strtod_l(start, NULL, lexer->locale);
        krf__token token = finish(lexer, KRF__TOKEN_REAL, end);
        token.real = value;
        return token;
    }
    uint64_t value;
    if (!hex && start[0] == '0' && end > start + 1) {
        return refuse(lexer, end, "an integer does not start with 0");
    }
    if (!read_integer(hex ? start + 2 : start, end, hex ? 16 : 10, &value)) {
        return refuse(lexer, end, "an integer beyond 64 bits");
    }
    krf__token token = finish(lexer, KRF__TOKEN_INT, end);
    token.integer = value;
    return token;
}

/* What other languages have and this one has not. */
static const char *foreign(const char *at) {
    static const char *const rows[][2] = {{"&&", "'&&' is not supported: use & or logical_and, with comparisons in parentheses"},
                                          {"||", "'||' is not supported: use | or logical_or, with comparisons in parentheses"},
                                          {"!", "'!' is not supported: use ~ or logical_not"},
                                          {"?", "'?' is not supported: use where(condition, x, y)"},
                                          {"@", "matrix products are not supported yet"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strncmp(at, rows[i][0], strlen(rows[i][0])) == 0) {
            return rows[i][1];
        }
    }
    return NULL;
}

/* The character of UTF-8 at `at`, and its bytes; 0 and 1 where there is none. */
static uint32_t code_point(const char *at, int *bytes) {
    const unsigned char first = (unsigned char)*at;
    const int more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    uint32_t code = more == 0 ? first : first & (0x3fu >> more);
    *bytes = 1;
    for (int i = 1; i <= more; i++) {
        if (((unsigned char)at[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    }
    *bytes = 1 + more;
    return more == 0 && first >= 0x80 ? 0 : code;
}

/* Many a character that means nothing cannot be seen, or looks like one that means something: its number tells. */
static krf__token refuse_character(krf__lexer *lexer) {
    int bytes;
    const uint32_t code = code_point(lexer->at, &bytes);
    const bool seen = code >= 0x20 && code < 0x7f;
    krf__token token = refuse(lexer, lexer->at + bytes, seen ? "a character that means nothing here" : code == 0 ? "text that is no UTF-8" : "a character that means nothing here:");
    token.integer = seen ? 0 : code;
    return token;
}

static krf__token lex_punctuation(krf__lexer *lexer) {
    static const struct {
        char text[4];
        int kind;
    } longer[] = {{"...", KRF__TOKEN_ELLIPSIS},  {"**", KRF__TOKEN_POWER},       {"//", KRF__TOKEN_FLOOR_DIVIDE},
                  {"<<", KRF__TOKEN_LEFT_SHIFT}, {">>", KRF__TOKEN_RIGHT_SHIFT}, {"==", KRF__TOKEN_EQUAL},
                  {"!=", KRF__TOKEN_NOT_EQUAL},  {"<=", KRF__TOKEN_LESS_EQUAL},  {">=", KRF__TOKEN_GREATER_EQUAL}};
    const char *at = lexer->at;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        size_t length = strlen(longer[i].text);
        if (strncmp(at, longer[i].text, length) == 0) {
            return finish(lexer, longer[i].kind, at + length);
        }
    }
    if (*at == '(' || *at == '[') {
        lexer->brackets++;
    } else if ((*at == ')' || *at == ']') && lexer->brackets > 0) {
        lexer->brackets--;
    } else if (foreign(at) != NULL) {
        return refuse(lexer, at + 1, foreign(at));
    } else if (strchr("+-*/%<>=&|^~,.:)]", *at) == NULL) {
        return refuse_character(lexer);
    }
    return finish(lexer, *at, at + 1);
}

krf__token krf__lex(krf__lexer *lexer) {
    lexer->at = skip_blanks(lexer->at, lexer->brackets > 0);
    const char *at = lexer->at;
    if (*at == '\0') {
        return finish(lexer, KRF__TOKEN_END, at);
    }
    if (*at == '\n' || *at == ';') {
        return finish(lexer, KRF__TOKEN_NEWLINE, at + 1);
    }
    if (is_digit(*at) || (*at == '.' && is_digit(at[1]))) {
        return lex_number(lexer);
    }
    if (is_name(*at)) {
        const char *end = at;
        for (; is_name(*end); end++) {
        }
        return finish(lexer, KRF__TOKEN_NAME, end);
    }
    if (*at == '\'' || *at == '"') {
        const char *end = at + 1;
        for (; is_name(*end); end++) {
        }
        if (*end != *at) {
            return refuse(lexer, end, "a string is a single word, such as 'edge'");
        }
        krf__token token = finish(lexer, KRF__TOKEN_STRING, end + 1);
        token.start++;
        token.length -= 2;
        return token;
    }
    return lex_punctuation(lexer);
}

bool krf__token_is(const krf__token *token, const char *name) {
    return token->kind == KRF__TOKEN_NAME && strlen(name) == token->length
           && memcmp(token->start, name, token->length) == 0;
}
