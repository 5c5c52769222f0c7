/* Cuts C into words. */
#include "ir/c_lex.h"

#include <string.h>

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

static const char *pass_space(const char *at, bool *open) {
    for (;;) {
        if (blank(*at)) {
            at++;
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            *open = end == NULL;
            if (end == NULL) {
                return at;
            }
            at = end + 2;
        } else {
            return at;
        }
    }
}

static const char *pass_quoted(const char *at, bool *open) {
    const char quote = *at++;
    while (*at != '\0' && *at != '\n' && *at != quote) {
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    }
    *open = *at != quote;
    return *open ? at : at + 1;
}

static const char *pass_number(const char *at) {
    const bool hexadecimal = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    while (letter(*at) || digit(*at) || *at == '.') {
        const bool exponent = hexadecimal ? *at == 'p' || *at == 'P' : *at == 'e' || *at == 'E';
        at += exponent && (at[1] == '+' || at[1] == '-') ? 2 : 1;
    }
    return at;
}

krf__c_token krf__c_lex(krf__c_lexer *lexer) {
    const char *start = lexer->at, *end;
    bool open = false;
    krf__c_token t = {.start = start, .line = lexer->line, .kind = KRF__C_SPACE};
    end = pass_space(start, &open);
    if (end == start && !open) {
        if (*start == '\0') {
            t.kind = KRF__C_END;
        } else if (letter(*start)) {
            t.kind = KRF__C_NAME;
            for (end = start; letter(*end) || digit(*end); end++) {
            }
        } else if (digit(*start) || (*start == '.' && digit(start[1]))) {
            t.kind = KRF__C_NUMBER;
            end = pass_number(start);
        } else if (*start == '"' || *start == '\'') {
            t.kind = KRF__C_STRING;
            end = pass_quoted(start, &open);
        } else {
            t.kind = (unsigned char)*start;
            end = start + 1;
        }
    }
    if (open && end == start) { /* a comment right here */
        t.kind = KRF__C_OPEN;
    } else if (open && t.kind == KRF__C_STRING) {
        t.kind = KRF__C_OPEN;
    }
    t.length = (size_t)(end - start);
    for (; start < end; start++) {
        lexer->line += *start == '\n';
    }
    lexer->at = end;
    return t;
}

krf__c_token krf__c_word(krf__c_lexer *lexer) {
    krf__c_token t;
    do {
        t = krf__c_lex(lexer);
    } while (t.kind == KRF__C_SPACE);
    return t;
}

bool krf__c_is(const krf__c_token *token, const char *text) {
    return token->kind == KRF__C_NAME && strlen(text) == token->length && memcmp(token->start, text, token->length) == 0;
}

bool krf__c_is_real(const krf__c_token *number) {
    const char *s = number->start, last = s[number->length - 1];
    const bool hexadecimal = number->length > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    bool real = false;
    for (size_t i = 0; i < number->length; i++) {
        real |= hexadecimal ? s[i] == 'p' || s[i] == 'P' : s[i] == '.' || s[i] == 'e' || s[i] == 'E';
    }
    return real && last != 'f' && last != 'F' && last != 'l' && last != 'L';
}

bool krf__c_is_name(const char *text, size_t length) {
    static const char *const words[] = {
        "auto",     "bool",     "break",   "case",     "catch",    "char",     "class",    "const",    "constexpr", "continue", "decltype", "default", "delete",
        "do",       "double",   "else",    "enum",     "extern",   "false",    "float",    "for",      "friend",    "goto",     "if",       "inline",  "int",
        "long",     "namespace", "new",    "nullptr",  "operator", "private",  "public",   "register", "restrict",  "return",   "short",    "signed",  "sizeof",
        "static",   "struct",   "switch",  "template", "this",     "throw",    "true",     "try",      "typedef",   "typename", "union",    "unsigned", "using",
        "virtual",  "void",     "volatile", "while",   "and",      "or",       "not",      "xor",      "asm",       "typeof",   "mutable",  "explicit", "protected",
        "alignas",  "alignof",  "and_eq",  "bitand",   "bitor",    "compl",    "not_eq",   "or_eq",    "xor_eq",    "noexcept", "static_assert", "thread_local", "typeid",
        "const_cast", "dynamic_cast", "reinterpret_cast", "static_cast", "wchar_t", "char16_t", "char32_t",
        "M_PI",     "M_E",      "M_LN2",   "M_SQRT2",  "INFINITY", "NAN",      "linux",    "unix"}; /* numbers of bodies (user_body.c), and what GNU compilers define */
    size_t n = 0;
    while (n < length && (letter(text[n]) || (n > 0 && digit(text[n])))) {
        n++;
    }
    bool valid = length > 0 && n == length && !(length >= 4 && memcmp(text, "krf_", 4) == 0) && !(length >= 2 && memcmp(text, "__", 2) == 0);
    for (size_t i = 0; valid && i < sizeof words / sizeof *words; i++) {
        valid = strlen(words[i]) != length || memcmp(words[i], text, length) != 0;
    }
    return valid;
}
